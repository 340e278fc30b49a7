"""Costs of calls by litellm's price list; an unknown price is None, not 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat.call_arguments import OWN_PRICES, own_cost
from .client import load

if TYPE_CHECKING:
    from ...chat import ChatRequest, Usage

#: The beginnings of fields of price lists with the price of tokens or time.
_FIELDS = ("input_cost", "output_cost", "cost_per", "tiered_pricing")


def has_price(model: str) -> bool:
    """Return whether the price list has a price of a model, be it 0.

    For a model that it does not list litellm may return a price of 0, guessed from the name's family; so the list's
    own entry decides.
    """
    litellm = load()
    try:
        key = litellm.get_model_info(model)["key"]
    except Exception:  # noqa: BLE001
        # litellm raises various classes, a plain Exception among them, for a model that it does not list.
        return False
    return any(field.startswith(_FIELDS) for field in litellm.model_cost.get(key) or {})


def cost(response: Any, request: ChatRequest, usage: Usage) -> float | None:
    """Return the cost of an answer of litellm in USD; None if the price is unknown."""
    if any(name in request.args for name in OWN_PRICES):
        return own_cost(request.args, usage)
    if not has_price(request.model):
        return None
    try:
        return float(load().completion_cost(response, model=request.model))
    except Exception:  # noqa: BLE001
        # A price may depend on facts that the answer lacks. The answer is more important than its price.
        return None
