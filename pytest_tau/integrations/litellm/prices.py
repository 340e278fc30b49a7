"""What calls cost, by litellm's price list; unknown is not nothing."""

from __future__ import annotations

from typing import Any

from .loading import load

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


def cost(response: Any, model: str) -> float | None:
    """USD that an answer of litellm's has cost; None where the price is unknown."""
    if not listed(model):
        return None
    try:
        return float(load().completion_cost(response, model=model))
    except Exception:  # noqa: BLE001
        # A price list may price what no answer tells. The answer is worth more than its price.
        return None
