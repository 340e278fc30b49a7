"""Retries of model calls: the faults that get another attempt, and the waits between attempts."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...chat.retries import current_retry_clock
from ...errors import ModelError
from ...text import plural

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

    from ...chat import ChatReply

_LOGGER = logging.getLogger("pytest_tau")


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
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

    began, clock, call = time.monotonic(), current_retry_clock(), object()
    answered_in = 0.0

    def note(state: RetryCallState) -> None:
        clock.note_failure(call, began)
        _log_retry(state, policy, model)

    retrying = AsyncRetrying(
        stop=stop_after_attempt(policy.attempts),
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
        made, seconds = retrying.statistics["attempt_number"], time.monotonic() - began
        first, _, rest = str(error).partition("\n")
        problem = f"{first} ({plural(made, 'attempt')} over {seconds:.3g} s)"
        exhausted = ModelError(
            f"{problem}\n{rest}" if rest else problem, kind=error.kind, retry_after=error.retry_after
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
        policy.attempts,
        state.upcoming_sleep,
    )
