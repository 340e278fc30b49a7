"""Carrying out a review: whatever a reviewer does, the result says whether there is a review."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...chat import AnswerError
from ...errors import TauError
from ...models import Review
from ...participants import BlockingCaller
from .answer import check_answer, read_answer
from .reviewer import ModelReviewer, judge_of

if TYPE_CHECKING:
    from ...chat import Role, TrialModels
    from .case import ReviewCase
    from .reviewer import Reviewer

_ROLE: Role = "reviewer"


async def review_trial(
    case: ReviewCase,
    reviewer: Reviewer | ModelReviewer,
    models: TrialModels,
    seconds: float | None = None,
) -> Review:
    """Review a conversation.

    Args:
        case: The conversation.
        reviewer: The reviewer.
        models: The models of the review, with that of the role ``reviewer`` if there is one. Its recording is ended.
        seconds: Seconds that the review may take; None for no limit.

    Returns:
        The review. It is ``failed`` if the reviewer raised an exception or did not answer in time, and ``unusable`` if
        its answer cannot be read.
    """
    model = models.get(_ROLE)
    judge = judge_of(reviewer, model.name if model else None, case.mode)
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            review = await _ask(case, reviewer, models)
    except AnswerError as error:
        review = Review(mode=case.mode, status="unusable", error=str(error))
    except Exception as error:  # noqa: BLE001 - whatever a foreign reviewer raises, or a model
        late = f"no answer within {seconds:g} s" if limit.expired() else ""
        review = _failed(case, late or f"{type(error).__name__}: {error}")
    except BaseException:
        if models.tape is not None:
            models.tape.abandon()
        raise
    if problem := _end_tape(models, review):
        review = _failed(case, problem)
    usage = models.ledger.usage.get(_ROLE)
    return review.model_copy(update={"judge": judge, "cost": usage.cost if usage else None})


async def _ask(case: ReviewCase, reviewer: Reviewer | ModelReviewer, models: TrialModels) -> Review:
    """Return the review of a reviewer."""
    if isinstance(reviewer, ModelReviewer):
        model = models.get(_ROLE)
        assert model is not None, "the command and the plugin give it one"
        return await reviewer.ask(model, case)
    caller = BlockingCaller(models, _ROLE)
    try:
        answer: Any = await caller.call(reviewer.review, case)
    finally:
        caller.close()
    if isinstance(answer, Review):
        return answer
    if isinstance(answer, str):
        return read_answer(answer, case)
    if not isinstance(answer, Mapping):
        raise AnswerError(f"expected an object or a text, got {type(answer).__name__}")
    return check_answer(answer, case)


def _failed(case: ReviewCase, problem: str) -> Review:
    return Review(mode=case.mode, status="failed", error=problem)


def _end_tape(models: TrialModels, review: Review) -> str | None:
    """End the recording; calls of a review that failed are kept for the next attempt. Return why it cannot be ended."""
    if models.tape is None:
        return None
    if review.status == "failed":
        models.tape.abandon()
        return None
    try:
        models.tape.finish("agent_stop", None, [])
    except (TauError, OSError) as error:
        return f"{type(error).__name__}: {error}"
    return None
