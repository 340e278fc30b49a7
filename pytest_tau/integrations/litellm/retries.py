"""The one owner of retries: which faults are worth another attempt, and when."""

from __future__ import annotations

import logging
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tenacity import RetryCallState

    from ...chat import ChatReply

_LOGGER = logging.getLogger("pytest_tau")


@dataclass(frozen=True)
class Patience:
    """How often a call is attempted, and how long is waited in between.

    Attributes:
        attempts: At most so many, the first one included.
        first_wait: Seconds before the second attempt; each further wait is up to twice as long.
        longest_wait: Seconds that no wait exceeds, not even one that the server asks for.
    """

    attempts: int = 8
    first_wait: float = 0.5
    longest_wait: float = 60.0

    def wait(self, attempt: int, asked: float | None) -> float:
        """Seconds to wait after an attempt, counted from 1; ``asked`` is what the server would like."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 60))
        # A generator of its own: the global one belongs to the code under test. Spread out, many trials that were
        # refused together do not come back together.
        spread = random.Random().uniform(longest / 2, longest)  # noqa: S311
        return max(spread, min(asked or 0.0, self.longest_wait))


async def answered(attempt: Callable[[], Awaitable[ChatReply]], patience: Patience, model: str) -> ChatReply:
    """The first answer that an attempt gives.

    Raises:
        ModelError: A fault that will not pass, or the last attempt's, which then says how many there were.
    """
    from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

    began = time.monotonic()
    retrying = AsyncRetrying(
        stop=stop_after_attempt(patience.attempts),
        wait=lambda state: patience.wait(state.attempt_number, _fault(state).retry_after),
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.passing),
        before_sleep=lambda state: _tell(state, patience, model),
        reraise=True,
    )
    try:
        return await retrying(attempt)
    except ModelError as error:
        if not error.passing:
            raise
        made, seconds = retrying.statistics["attempt_number"], time.monotonic() - began
        first, _, rest = str(error).partition("\n")
        problem = f"{first} ({made} attempt{'s' * (made != 1)} over {seconds:.3g} s)"
        exhausted = ModelError(
            f"{problem}\n{rest}" if rest else problem, kind=error.kind, retry_after=error.retry_after
        )
    raise exhausted


def _fault(state: RetryCallState) -> ModelError:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, ModelError)
    return error


def _tell(state: RetryCallState, patience: Patience, model: str) -> None:
    _LOGGER.info(
        "%s: %s; attempt %d of %d in %.3g s",
        model,
        _fault(state).kind,
        state.attempt_number + 1,
        patience.attempts,
        state.upcoming_sleep,
    )
