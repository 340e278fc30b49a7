"""Costs of calls by litellm's price list; an unknown price is None, not 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...chat import Usage
from ...chat.prices import OWN_PRICES, cost_of_call, first_listed
from .client import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...chat import ChatRequest
    from ...chat.prices import Price

#: The beginnings of fields of price lists with the price of tokens or time.
_FIELDS = ("input_cost", "output_cost", "cost_per", "tiered_pricing")
#: Providers that report the cost of each call.
_REPORTING = frozenset({"openrouter"})


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


def will_be_priced(model: str, provider: str, args: Mapping[str, Any], prices: Mapping[str, Price]) -> bool:
    """Return whether the price of a model's calls is known, or its provider reports it."""
    return set(args) >= set(OWN_PRICES) or provider in _REPORTING or model in prices or has_price(model)


def cost(response: Any, request: ChatRequest, usage: Usage, prices: Mapping[str, Price]) -> float | None:
    """Return the cost of an answer of litellm in USD; None if the price is unknown.

    The model that has answered decides, which may be a version of the requested one, or what a router has chosen; if
    its name is not listed, the requested model.

    Args:
        response: litellm's ``ModelResponse``.
        request: The request.
        usage: The tokens of the call.
        prices: The user's price list.
    """
    answering = _answering(response, request)
    reported = getattr(getattr(response, "usage", None), "cost", None)

    def listed() -> float | None:
        name = next((name for name in (answering, request.model) if name and has_price(name)), None)
        return listed_cost(name, response.usage) if name else None

    price = first_listed(prices, answering, getattr(response, "model", None), request.model)
    return cost_of_call(request.args, usage, reported, price, listed)


def _answering(response: Any, request: ChatRequest) -> str | None:
    """Return the name of the model that has answered, with its provider; None if the provider does not name it."""
    name = getattr(response, "model", None)
    if not name:
        return None
    try:
        provider = load().get_llm_provider(
            request.model,
            custom_llm_provider=request.args.get("custom_llm_provider"),
            api_base=request.args.get("api_base") or request.args.get("base_url"),
        )[1]
    except Exception:  # noqa: BLE001
        # The call was made, so this cannot be worth an error.
        return None
    return str(name) if str(name).startswith(f"{provider}/") else f"{provider}/{name}"


def listed_cost(name: str, usage: Any) -> float | None:
    """Return the cost in USD of a call by the price of a model in the list; None if it is not known.

    Args:
        name: The name of the model.
        usage: The tokens: a :class:`~pytest_tau.chat.Usage`, or as litellm has them.
    """
    litellm = load()
    try:
        if isinstance(usage, Usage):
            sent, received, cached = usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens
            usage = litellm.Usage(
                prompt_tokens=sent, completion_tokens=received, prompt_tokens_details={"cached_tokens": cached}
            )
        prices = litellm.cost_per_token(model=name, usage_object=usage)
        return sum(map(float, prices))
    except Exception:  # noqa: BLE001
        # A price may depend on facts that the answer lacks. The answer is more important than its price.
        return None
