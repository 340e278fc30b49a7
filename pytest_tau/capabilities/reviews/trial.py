"""The review of a trial after its verdict, with a cassette of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from ...capability import run_of
from ...chat import ModelArguments, TrialModels, with_defaults
from ...errors import ConfigurationError
from ...models import Review, add_review
from ...runner import ModelChoice
from .case import review_case
from .reviewer import ModelReviewer, judge_of, load_reviewer
from .run import review_trial

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...capability import RunTask
    from ...chat import LLM, Role, Tape
    from ...models import ReviewMode, Simulation
    from ...runner import ModelSettings
    from . import ReviewSettings
    from .case import ReviewCase
    from .reviewer import Reviewer


def make_reviews(config: pytest.Config, settings: ReviewSettings) -> Reviews | None:
    """Return what reviews the trials of a run; None if none is reviewed.

    Raises:
        pytest.UsageError: The reviewer cannot be loaded, or lacks its model, or is named without ``--tau-review``.
    """
    run = run_of(config)
    if settings.review is None:
        for name in ("reviewer", "reviewer_llm"):
            if run.source(name) == "command line":
                raise pytest.UsageError(f"{run.label(name)}: is used with --tau-review only; add it")
        return None
    model = settings.reviewer_llm or run.option("judge_llm")
    try:
        reviewer = load_reviewer(
            settings.reviewer, run.folder_of("reviewer"), model, "--tau-reviewer-llm MODEL or --tau-reviewer"
        )
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from error
    return Reviews(settings, reviewer)


class Reviews:
    """Reviews the trials of a run.

    Args:
        settings: The settings.
        reviewer: The reviewer.
    """

    def __init__(self, settings: ReviewSettings, reviewer: Reviewer | ModelReviewer) -> None:
        self._settings, self._reviewer = settings, reviewer

    def pytest_tau_models(self, config: pytest.Config, models: ModelSettings) -> dict[Role, ModelChoice]:
        """Return the reviewer's model: the one that is named, else the judge's."""
        settings, judge = self._settings, models.names.get("judge")
        name = settings.reviewer_llm or judge
        if name is None or not isinstance(self._reviewer, ModelReviewer):
            return {}
        own_arguments = ModelArguments(with_defaults(name, settings.reviewer_llm_args))
        is_set = settings.reviewer_llm is not None or run_of(config).source("reviewer_llm_args") is not None
        return {"reviewer": ModelChoice(name, own_arguments if is_set else models.args["judge"])}

    def pytest_tau_after_trial(
        self, item: pytest.Item, spec: RunTask, models: TrialModels
    ) -> Callable[[Simulation], Awaitable[None]]:
        """Return the review of a trial.

        Raises:
            ConfigurationError: A plugin made something that is not a model.
        """
        trial = run_of(item.config).trial_of(item)
        assert trial is not None, "the item runs a trial"
        # Each kind of review has a cassette of its own.
        tape = trial.tape("review" if self._settings.review_mode == "full" else "user-review")
        return _TrialReview(spec, models, self._reviewer, self._settings, trial.model("reviewer"), tape).run


class _TrialReview(NamedTuple):
    """The review of one trial."""

    spec: RunTask
    models: TrialModels
    reviewer: Reviewer | ModelReviewer
    settings: ReviewSettings
    llm: LLM | None
    open_tape: Callable[[], Tape | None]

    async def run(self, simulation: Simulation) -> None:
        """Review a conversation with a verdict, and count the calls of the reviewer's model."""
        outcome, models = simulation.outcome, self.models
        if outcome == "error" or (self.settings.review == "failed" and outcome != "failed"):
            return
        review_models: TrialModels | None = None
        try:
            review_models = models.beside({"reviewer": self.llm}, self.open_tape()) if self.llm else models.beside({})
            review = await review_trial(self._case(simulation), self.reviewer, review_models, self._seconds)
        except Exception as error:  # noqa: BLE001 - a cassette, or the domain's own code; the verdict stands
            judge = judge_of(self.reviewer, self.llm.name if self.llm else None, self._mode)
            problem = f"{type(error).__name__}: {error}"
            review = Review(mode=self._mode, status="failed", error=problem, judge=judge)
        add_review(simulation, review)
        if review_models is not None and (used := review_models.ledger.usage.get("reviewer")) is not None:
            models.ledger.usage["reviewer"] = simulation.model_usage["reviewer"] = used

    @property
    def _mode(self) -> ReviewMode:
        return "user" if self.settings.review_mode == "user" else "full"

    def _case(self, simulation: Simulation) -> ReviewCase:
        settings = self.spec.config.simulation
        return review_case(
            simulation,
            self.spec.task,
            self.spec.domain,
            self._mode,
            policy=settings.policy,
            retrieval=settings.retrieval,
        )

    @property
    def _seconds(self) -> float | None:
        """Return the seconds that the review may take: calls of a model have limits of their own."""
        settings = self.spec.config.simulation
        of_model: float | None = settings.limits.seconds
        of_others: float | None = settings.foreign_seconds
        return of_model if isinstance(self.reviewer, ModelReviewer) else of_others
