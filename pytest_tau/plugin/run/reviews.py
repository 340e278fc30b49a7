"""The review of a trial after its verdict, with a cassette of its own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...chat import Identity, Player, Recorder, TrialModels
from ...models import Review
from ...reviews import LazyReviewer, add_review, judge_of, review_case, review_trial
from ..context.run_state import require_context
from ..rerun_command import rerun_command
from .models import MissingTape, cassette_path

if TYPE_CHECKING:
    import pytest

    from ...chat import LLM, Tape
    from ...models import Simulation
    from ...reviews import ReviewCase, Reviewer
    from ...runner import ReviewSettings
    from ..context.run_context import RunContext
    from ..items import TaskSpec


class TrialReview(NamedTuple):
    """The review of one trial, before its conversation has ended.

    Attributes:
        context: The context of the run.
        spec: Task, domain and settings.
        number: The number of the trial, from 0.
        reviewer: The reviewer.
        settings: What is reviewed, and how.
        llm: The reviewer's model; None without one.
        cassette: The path of the cassette.
        commands: The commands that record it, by what they record.
    """

    context: RunContext
    spec: TaskSpec
    number: int
    reviewer: Reviewer | LazyReviewer
    settings: ReviewSettings
    llm: LLM | None
    cassette: Path
    commands: dict[str, str]

    @classmethod
    def of(cls, item: pytest.Item, spec: TaskSpec, number: int) -> TrialReview | None:
        """Return the review of a trial; None if none is asked for. Called in the thread that pytest runs in.

        Raises:
            ConfigurationError: A plugin made something that is not a model.
        """
        context = require_context(item.config)
        if context.reviewer is None or spec.config.review is None:
            return None
        cassette = Path(os.path.relpath(cassette_path(item, spec, number)))
        mode = "review" if spec.config.review.mode == "full" else "user-review"
        return cls(
            context,
            spec,
            number,
            context.reviewer,
            spec.config.review,
            context.llm("reviewer", item, spec.config),
            cassette.with_name(f"{cassette.name.removesuffix('.cassette')}.{mode}.cassette"),
            {what: rerun_command(item, record=what) for what in ("missing", "all")},
        )

    async def run(self, simulation: Simulation, models: TrialModels) -> None:
        """Review a conversation with a verdict, and count the calls of the reviewer's model.

        Args:
            simulation: The conversation; the review is added to its ``info``.
            models: The models of the trial.
        """
        outcome = simulation.outcome
        if outcome == "error" or (self.settings.only == "failed" and outcome != "failed"):
            return
        own = TrialModels({"reviewer": self.llm} if self.llm else {})
        own.budget, own.live_cost = models.budget, models.live_cost
        own.budget_problem, own.on_cost, own.on_call = models.budget_problem, models.on_cost, models.on_call
        try:
            own.tape = self._tape() if self.llm else None
            review = await review_trial(self._case(simulation), self.reviewer, own, self._seconds)
        except Exception as error:  # noqa: BLE001 - a cassette, or the domain's own code; the verdict stands
            judge = judge_of(self.reviewer, self.llm.name if self.llm else None, self.settings.mode)
            problem = f"{type(error).__name__}: {error}"
            review = Review(mode=self.settings.mode, status="failed", error=problem, judge=judge)
        add_review(simulation, review)
        if (used := own.usage.get("reviewer")) is not None:
            models.usage["reviewer"] = simulation.model_usage["reviewer"] = used

    def _case(self, simulation: Simulation) -> ReviewCase:
        settings = self.spec.config.simulation
        return review_case(
            simulation,
            self.spec.task,
            self.spec.domain,
            self.settings.mode,
            policy=settings.policy,
            retrieval=settings.retrieval,
        )

    @property
    def _seconds(self) -> float | None:
        """Return the seconds that the review may take: calls of a model have limits of their own."""
        settings = self.spec.config.simulation
        own = None if isinstance(self.reviewer, LazyReviewer) else settings.own_timeout
        return settings.limits.timeout if settings.limits.timeout is not None else own

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
