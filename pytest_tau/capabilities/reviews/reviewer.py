"""Reviewers: the protocol, the one that asks a model, and how one is found by its specification."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ...chat import NoAnswerError, Question, usable_answer
from ...errors import ConfigurationError, unknown_name
from ...files import digest
from ...models import Review, ReviewJudge
from ...participants import load_object
from .answer import answer_form, read_answer, reminder
from .material import material

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...chat import TrialModel
    from ...models import ReviewMode
    from .case import ReviewCase

#: The answer of a reviewer: an object, or a text with one.
Answer: TypeAlias = Mapping[str, Any] | str


class Reviewer(Protocol):
    """A reviewer of conversations.

    Attributes:
        name: Its name in reports.
    """

    name: str

    def review(self, case: ReviewCase) -> Answer | Awaitable[Answer]:
        """Return the review of a conversation; sync or async.

        Args:
            case: The conversation, and what a reviewer may know of it.

        Returns:
            ``errors``, a list of objects with ``source``, ``severity``, ``turn_idx``, ``error_tags``, ``error_type``,
            ``reasoning`` and ``correct_behavior``; ``summary``; and in the mode ``full`` ``fault_owner`` and
            ``fault_type``. As an object, or as JSON text.
        """
        ...


class ModelReviewer:
    """A reviewer that asks the model of a review, and asks it again twice after an answer that cannot be used.

    Args:
        name: The reviewer's name in reports: that of its model.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    async def ask(self, model: TrialModel, case: ReviewCase) -> Review:
        """Return the review of a conversation; one that is unusable if no answer could be read.

        Raises:
            ModelError: The model or its provider failed.
            ReplayError: The recording has no such request.
        """
        case_text = material(case)
        request = [{"role": "system", "content": prompt(case.mode)}, {"role": "user", "content": case_text}]
        question = Question(request, answer_form(case.mode), reminder(case.mode))
        try:
            return await usable_answer(model, question, lambda text: read_answer(text, case, case_text))
        except NoAnswerError as error:
            return Review(mode=case.mode, status="unusable", error=error.problem, answer=error.answer[:2000])


def prompt(mode: ReviewMode) -> str:
    """Return the prompt of a mode."""
    return resources.files(__package__).joinpath(f"prompt_{mode}.md").read_text(encoding="utf-8").strip()


def judge_of(reviewer: Reviewer | ModelReviewer, model: str | None, mode: ReviewMode) -> ReviewJudge:
    """Return how a review names its reviewer.

    Args:
        reviewer: It.
        model: The name of its model; None without one.
        mode: The mode, which has a prompt of its own.
    """
    built_in = isinstance(reviewer, ModelReviewer)
    return ReviewJudge(name=reviewer.name, model=model, prompt_hash=digest(prompt(mode)) if built_in else None)


def load_reviewer(spec: str | None, folder: Path, model: str | None, option: str) -> Reviewer | ModelReviewer:
    """Return the reviewer that is named.

    Args:
        spec: ``llm``, ``module:attribute`` or ``path/to/file.py:attribute``: a function of a ``ReviewCase``, an object
            with a method ``review``, or a class of such, which is built. None for ``llm``.
        folder: What relative paths and modules are looked up in.
        model: The name of the reviewer's model; None if there is none.
        option: The options that name a model, or a reviewer, for errors: ``--judge-llm MODEL or --judge``.

    Raises:
        ConfigurationError: There is no reviewer of this name, it cannot be created, or it is not a reviewer.
    """
    if spec in (None, "llm"):
        if model is None:
            raise ConfigurationError(f"a review needs a reviewer: add {option} SPEC")
        return ModelReviewer(model)
    assert spec is not None
    if ":" not in spec:
        raise ConfigurationError(unknown_name("reviewer", spec, ["llm", "module:attribute"]))
    loaded = load_object(spec, "reviewer", folder)
    try:
        reviewer = loaded() if isinstance(loaded, type) else loaded
    except Exception as error:
        # A foreign reviewer's constructor may raise anything.
        raise ConfigurationError(f"reviewer {spec!r} cannot be created: {type(error).__name__}: {error}") from error
    if callable(getattr(reviewer, "review", None)):
        return _Named(getattr(reviewer, "name", None) or spec, reviewer.review)
    if callable(reviewer):
        return _Named(spec, reviewer)
    raise ConfigurationError(
        f"reviewer {spec!r}: expected a function of a case, or an object with a method review(case)"
    )


class _Named:
    """A reviewer of one's own, with a name."""

    def __init__(self, name: str, review: Callable[[Any], Any]) -> None:
        self.name, self.review = name, review
