"""What calls cost, by litellm's price list; unknown is not nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .loading import load

if TYPE_CHECKING:
    from ...chat import ChatRequest, Usage

#: Arguments by which a run gives its own prices: USD for a token sent, and for one received. litellm would keep them
#: for the model's name, also for the calls of others; so it is not told.
OWN_PRICES = ("input_cost_per_token", "output_cost_per_token")

#: How price lists call what tokens or time cost.
_FIELDS = ("input_cost", "output_cost", "cost_per", "tiered_pricing")


def listed(model: str) -> bool:
    """Whether the price list says what a model costs, were it nothing.

    For a model that it does not list litellm may answer with a price of 0, guessed from the name's family; so the
    list's own entry decides.
    """
    litellm = load()
    try:
        key = litellm.get_model_info(model)["key"]
    except Exception:  # noqa: BLE001
        # litellm raises whatever comes, a plain Exception among it, for a model that it does not list.
        return False
    return any(field.startswith(_FIELDS) for field in litellm.model_cost.get(key) or {})


def cost(response: Any, request: ChatRequest, usage: Usage) -> float | None:
    """USD that an answer of litellm's has cost; None where the price is unknown."""
    if any(name in request.args for name in OWN_PRICES):
        sent, received = (request.args.get(name) for name in OWN_PRICES)
        if sent is None or received is None:
            return None
        return usage.prompt_tokens * float(sent) + usage.completion_tokens * float(received)
    if not listed(request.model):
        return None
    try:
        return float(load().completion_cost(response, model=request.model))
    except Exception:  # noqa: BLE001
        # A price list may price what no answer tells. The answer is worth more than its price.
        return None
