"""Retries of model calls: the faults that get another attempt, the waits, and the time spent on them."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import random
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..clock import steady_time
from ..errors import ModelError
from ..text import plural

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from tenacity import RetryCallState

    from .requests import ChatReply

#: The most attempts of a call if no server is there, such as one that was not started.
_WITHOUT_SERVER = 3
_LOGGER = logging.getLogger("pytest_tau")


class RetryClock:
    """The time that model calls spend on retries: it is the provider's, not the participant's.

    Sums the time of attempts that failed, of the waits after them, and of attempts under way after them.

    Calls may overlap and may run in other threads.

    Attributes:
        timeouts: The number of attempts that reached their time limit.
    """

    def __init__(self) -> None:
        self._ended, self.timeouts = 0.0, 0
        self._since: dict[object, float] = {}

    @property
    def seconds(self) -> float:
        """Return the seconds so far."""
        now = steady_time()
        return self._ended + sum(now - since for since in list(self._since.values()))

    def note_failure(self, call: object, since: float) -> None:
        """Note that an attempt of a call has failed; ``since`` is when the first one began, by the monotonic clock."""
        self._since.setdefault(call, since)

    def note_end(self, call: object, answered_in: float = 0.0) -> None:
        """Note that a call is over; ``answered_in`` are the seconds of the attempt that succeeded."""
        since = self._since.pop(call, None)
        if since is not None:
            self._ended += max(0.0, steady_time() - since - answered_in)


class CallClock:
    """The time that model calls take, with waits and retries; calls at the same time count once.

    Calls may run in other threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running, self._since, self._ended = 0, 0.0, 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds so far."""
        with self._lock:
            return self._ended + (steady_time() - self._since if self._running else 0.0)

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Count the time meanwhile."""
        with self._lock:
            if not self._running:
                self._since = steady_time()
            self._running += 1
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1
                if not self._running:
                    self._ended += steady_time() - self._since


_CLOCK: contextvars.ContextVar[RetryClock | None] = contextvars.ContextVar("tau_retry_clock", default=None)


@contextlib.contextmanager
def count_retries(clock: RetryClock) -> Iterator[None]:
    """Count the retries of the calls that are made meanwhile, also on another loop."""
    token = _CLOCK.set(clock)
    try:
        yield
    finally:
        _CLOCK.reset(token)


def current_retry_clock() -> RetryClock:
    """Return the clock of the running call; outside of trials, one that is never read."""
    return _CLOCK.get() or RetryClock()


@dataclass(frozen=True)
class RetryPolicy:
    """The number of attempts of a call, and the waits between them.

    Attributes:
        attempts: The most attempts, the first one included.
        first_wait: Seconds before the second attempt; each further wait is up to twice as long.
        longest_wait: The longest wait in seconds, also if the server asks for a longer one.
    """

    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def most_attempts(self, fault: ModelError) -> int:
        """Return the most attempts of a call whose last one has met a temporary fault."""
        return min(self.attempts, _WITHOUT_SERVER) if fault.no_server else self.attempts

    def wait(self, attempt: int, retry_after: float | None) -> float:
        """Return the seconds to wait after an attempt, counted from 1; ``retry_after`` is the server's request."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        # A generator of its own: the global one belongs to the code under test. The jitter keeps trials that were
        # refused at the same time from retrying at the same time.
        spread = random.Random().uniform(longest / 2, longest)  # noqa: S311
        return max(spread, min(retry_after or 0.0, self.longest_wait))


async def call_with_retries(attempt: Callable[[], Awaitable[ChatReply]], policy: RetryPolicy, model: str) -> ChatReply:
    """Return the answer of the first attempt that succeeds.

    Raises:
        ModelError: A permanent fault, or that of the last attempt, with the number of attempts.
    """
    from tenacity import AsyncRetrying, retry_if_exception

    began, clock, call = steady_time(), current_retry_clock(), object()
    answered_in = 0.0

    def note(state: RetryCallState) -> None:
        clock.note_failure(call, began)
        clock.timeouts += _fault(state).kind == "timeout"
        _log_retry(state, policy, model)

    retrying = AsyncRetrying(
        stop=lambda state: state.attempt_number >= policy.most_attempts(_fault(state)),
        wait=lambda state: policy.wait(state.attempt_number, _fault(state).retry_after),
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.passing),
        before_sleep=note,
        reraise=True,
    )
    try:
        reply: ChatReply = await retrying(attempt)
        answered_in = reply.seconds
    except ModelError as error:
        if not error.passing:
            raise
        clock.timeouts += error.kind == "timeout"
        made, seconds = retrying.statistics["attempt_number"], steady_time() - began
        first, _, rest = str(error).partition("\n")
        problem = f"{first} ({plural(made, 'attempt')} over {seconds:.3g} s)"
        exhausted = ModelError(
            f"{problem}\n{rest}" if rest else problem,
            kind=error.kind,
            retry_after=error.retry_after,
            no_server=error.no_server,
        )
    else:
        return reply
    finally:
        clock.note_end(call, answered_in)
    raise exhausted


def _fault(state: RetryCallState) -> ModelError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, ModelError)
    return error


def _log_retry(state: RetryCallState, policy: RetryPolicy, model: str) -> None:
    _LOGGER.info(
        "%s: %s; attempt %d of %d in %.3g s",
        model,
        _fault(state).kind,
        state.attempt_number + 1,
        policy.most_attempts(_fault(state)),
        state.upcoming_sleep,
    )
