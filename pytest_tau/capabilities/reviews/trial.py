"""The review of a trial after its verdict, with a cassette of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from ...chat import Identity, ModelArguments, Player, Recorder, TrialModels
from ...chat.call_arguments import with_defaults
from ...errors import ConfigurationError
from ...models import Review, add_review
from ...plugin.context.run_state import require_context
from ...plugin.options import OptionValues
from ...plugin.rerun_command import rerun_command
from ...plugin.run.models import MissingTape, cassette_path
from ...runner import ModelChoice
from .case import review_case
from .reviewer import ModelReviewer, judge_of, load_reviewer
from .run import review_trial

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...chat import LLM, Role, Tape
    from ...models import ReviewMode, Simulation
    from ...plugin.context.run_context import RunContext
    from ...plugin.items import TaskSpec
    from ...runner import ModelSettings
    from . import ReviewSettings
    from .case import ReviewCase
    from .reviewer import Reviewer


def make_reviews(config: pytest.Config, settings: ReviewSettings) -> Reviews | None:
    """Return what reviews the trials of a run; None if none is reviewed.

    Raises:
        pytest.UsageError: The reviewer cannot be loaded, or lacks its model, or is named without ``--tau-review``.
    """
    values = OptionValues(config)
    if settings.review is None:
        for name in ("reviewer", "reviewer_llm"):
            if values.given(name) and not values.from_ini(name):
                raise pytest.UsageError(f"{values.label(name)}: is used with --tau-review only; add it")
        return None
    model = settings.reviewer_llm or values.get("judge_llm")
    try:
        reviewer = load_reviewer(
            settings.reviewer, values.folder("agent"), model, "--tau-reviewer-llm MODEL or --tau-reviewer"
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
        own = ModelArguments(with_defaults(name, settings.reviewer_llm_args))
        given = settings.reviewer_llm is not None or OptionValues(config).given("reviewer_llm_args")
        return {"reviewer": ModelChoice(name, own if given else models.args["judge"])}

    def pytest_tau_after_trial(
        self, item: pytest.Item, spec: TaskSpec, number: int, models: TrialModels
    ) -> Callable[[Simulation], Awaitable[None]]:
        """Return the review of a trial.

        Raises:
            ConfigurationError: A plugin made something that is not a model.
        """
        context = require_context(item.config)
        cassette = Path(os.path.relpath(cassette_path(item, spec, number)))
        suffix = "review" if self._settings.review_mode == "full" else "user-review"
        return _TrialReview(
            context,
            spec,
            number,
            models,
            self._reviewer,
            self._settings,
            context.llm("reviewer", item, spec.config),
            cassette.with_name(f"{cassette.name.removesuffix('.cassette')}.{suffix}.cassette"),
            {what: rerun_command(item, record=what) for what in ("missing", "all")},
        ).run


class _TrialReview(NamedTuple):
    """The review of one trial, with the commands that record its cassette."""

    context: RunContext
    spec: TaskSpec
    number: int
    models: TrialModels
    reviewer: Reviewer | ModelReviewer
    settings: ReviewSettings
    llm: LLM | None
    cassette: Path
    commands: dict[str, str]

    async def run(self, simulation: Simulation) -> None:
        """Review a conversation with a verdict, and count the calls of the reviewer's model."""
        outcome, models = simulation.outcome, self.models
        if outcome == "error" or (self.settings.review == "failed" and outcome != "failed"):
            return
        own = TrialModels({"reviewer": self.llm} if self.llm else {})
        own.budget, own.live_cost = models.budget, models.live_cost
        own.budget_problem, own.on_cost, own.on_call = models.budget_problem, models.on_cost, models.on_call
        try:
            own.tape = self._tape() if self.llm else None
            review = await review_trial(self._case(simulation), self.reviewer, own, self._seconds)
        except Exception as error:  # noqa: BLE001 - a cassette, or the domain's own code; the verdict stands
            judge = judge_of(self.reviewer, self.llm.name if self.llm else None, self._mode)
            problem = f"{type(error).__name__}: {error}"
            review = Review(mode=self._mode, status="failed", error=problem, judge=judge)
        add_review(simulation, review)
        if (used := own.usage.get("reviewer")) is not None:
            models.usage["reviewer"] = simulation.model_usage["reviewer"] = used

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
        return settings.limits.seconds if isinstance(self.reviewer, ModelReviewer) else settings.foreign_seconds

    def _tape(self) -> Tape | None:
        mode, path = self.spec.config.models.tape, self.cassette
        if mode is None:
            return None
        seed = self.context.seed(self.number)
        identity = Identity(self.spec.domain.name, self.spec.task.id, self.number, seed, {})
        if mode == "all" or (mode == "missing" and not path.is_file()):
            return Recorder(path, identity, fresh=mode == "all", rerun_command=self.commands["all"])
        if not path.is_file():
            return MissingTape(path, self.commands["missing"])
        return Player(path, identity, rerun_command=self.commands["all"])
