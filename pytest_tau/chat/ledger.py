"""What the model calls of one trial have used, by role: calls, tokens, costs, time, and which of them have failed."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from ..actors import current_actor
from ..models import ModelUsage
from .retries import CallClock, RetryClock, count_retries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..errors import BudgetError, TauError
    from .requests import ChatReply, ChatRequest, Role


class CallLedger:
    """The account of a trial's model calls, for reading by everybody; ``TrialModels`` writes it.

    Args:
        usage: What calls have used before, such as those of a trial that was lost.
        spent: USD that calls have cost before.

    Attributes:
        usage: The calls, tokens and costs so far, by role.
        asked: The roles that have made a request, answered or not.
    """

    def __init__(self, usage: Mapping[Role, ModelUsage] | None = None, spent: float = 0.0) -> None:
        self.usage: Final[dict[Role, ModelUsage]] = dict(usage or {})
        self.asked: Final[set[Role]] = set()
        self._spent = spent
        self._refusal: BudgetError | None = None
        self._client_error: TauError | None = None
        self._failures: list[BaseException] = []
        # Of the roles that have made a call.
        self._retries: dict[Role, RetryClock] = {}
        self._calling: dict[Role, CallClock] = {}

    @property
    def spent(self) -> float:
        """USD of the calls that were made, without those that a recording has answered."""
        return self._spent

    @property
    def out_of_budget(self) -> BudgetError | None:
        """The first refusal of a call because of a budget."""
        return self._refusal

    @property
    def client_error(self) -> TauError | None:
        """Why the last call of a participant with a client of its own has failed; None if it was answered.

        A request that was wrong does not count.
        """
        return self._client_error

    def seconds(self, role: Role) -> float:
        """Return the time that the calls of a role took."""
        return self._calling[role].seconds if role in self._calling else 0.0

    def retry_seconds(self, role: Role) -> float:
        """Return the time that the calls of a role spent on retries."""
        return self._retries[role].seconds if role in self._retries else 0.0

    def has_raised(self, error: BaseException) -> bool:
        """Return whether a model call of the trial raised this very exception."""
        return any(error is failure for failure in self._failures)

    @contextlib.contextmanager
    def timing(self, role: Role, request: ChatRequest) -> Iterator[None]:
        """Count the time, the retries and the timeouts of a call that is made meanwhile."""
        retries = self._retries.setdefault(role, RetryClock())
        calling = self._calling.setdefault(role, CallClock())
        try:
            with count_retries(retries), calling.counting():
                yield
        finally:
            if retries.timeouts:
                self._usage(role, request).timeouts = retries.timeouts

    def count(self, role: Role, request: ChatRequest, reply: ChatReply) -> None:
        """Count an answered call: for its role, and for its actor if the calling code has named one."""
        usage = self._usage(role, request)
        _count(usage, reply)
        if role == "agent" and (actor := current_actor()) is not None:
            _count(_with_model(usage.actors.setdefault(actor, ModelUsage()), request.model), reply)

    def spend(self, cost: float) -> None:
        """Count the USD of a call."""
        self._spent += cost

    def note_failure(self, error: BaseException) -> None:
        """Note what a call has raised."""
        self._failures.append(error)

    def note_refusal(self, error: BudgetError) -> None:
        """Note that a call was refused because of a budget."""
        self._refusal = self._refusal or error

    def note_client(self, error: TauError | None) -> None:
        """Note how a call of a participant with a client of its own has ended; None if it was answered."""
        self._client_error = error

    def _usage(self, role: Role, request: ChatRequest) -> ModelUsage:
        """Return the usage of a role, with the name of the requested model in it."""
        return _with_model(self.usage.setdefault(role, ModelUsage()), request.model)


def _with_model(usage: ModelUsage, model: str) -> ModelUsage:
    names = usage.model.split(", ") if usage.model else []
    usage.model = ", ".join([*names, *([model] if model not in names else [])])
    return usage


def _count(usage: ModelUsage, reply: ChatReply) -> None:
    usage.calls += 1
    usage.seconds += reply.seconds
    if reply.usage is not None:
        usage.prompt_tokens += reply.usage.prompt_tokens
        usage.completion_tokens += reply.usage.completion_tokens
        usage.cached_tokens += reply.usage.cached_tokens
    usage.cut_replies += reply.finish_reason == "length"
    usage.filtered_replies += reply.finish_reason == "content_filter"
    if reply.cost is None:
        usage.unpriced_calls += 1
    else:
        usage.known_cost += reply.cost
