"""What applies to each call of a model: its arguments, and the budgets and prices of a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .prices import Price, PriceCheck
    from .requests import ChatModel


@dataclass(frozen=True)
class LLM:
    """A model and the arguments of its calls.

    Attributes:
        name: Its name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        chat: The chat model that makes the calls.
        args: Arguments of each call: ``temperature``, ``max_tokens`` …
    """

    name: str
    chat: ChatModel
    args: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, kw_only=True)
class CallPolicy:
    """What applies to each model call of a trial.

    Attributes:
        chat: Makes the run's own chat model, for calls of models that no role was given; None for any.
        embeddings: Returns the run's embedding model, which answers a request with a JSON array that has a list of
            numbers for each message; None if there is none.
        budget: USD that the trial may spend; None for no limit.
        budget_problem: Returns, before each call of a model, why the run may spend no more; None if it may.
        price_check: Refuses calls of unknown price; None without a budget.
        prices: The user's price list.
        on_cost: Called with the USD of each answer of a model.
    """

    chat: Callable[[], ChatModel] | None = None
    embeddings: Callable[[], ChatModel] | None = None
    budget: float | None = None
    budget_problem: Callable[[], str | None] | None = None
    price_check: PriceCheck | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    on_cost: Callable[[float], None] | None = None
