"""Reviews of the conversations of a run: several at a time, each stored as soon as it is made."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...chat import CallPolicy, TrialModels
from ...diagnosis import annotate_failure
from ...errors import ConfigurationError, TauError
from ...models import add_review, review_of
from ...regrade import recognise_domain, worked_alone
from .case import review_case
from .reviewer import judge_of
from .run import review_trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...chat import LLM
    from ...commands import Project
    from ...environment import Domain
    from ...models import Review, ReviewJudge, ReviewMode, Simulation
    from ...runs import FactWriter, Run, StoredTrial
    from .case import ReviewCase
    from .reviewer import ModelReviewer, Reviewer


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """How a run is reviewed.

    Attributes:
        reviewer: The reviewer.
        llm: Its model; None without one.
        mode: ``full``, or ``user`` for the user alone.
        only: ``failed`` or ``all``.
        limit: The most conversations that are reviewed; None for all.
        budget: USD after which no further review is begun; None for no limit.
        concurrency: How many reviews are made at a time.
        seconds: Seconds that a review may take.
        domain: The only domain; None for all.
    """

    reviewer: Reviewer | ModelReviewer
    llm: LLM | None
    mode: ReviewMode
    only: str
    limit: int | None
    budget: float | None
    concurrency: int
    seconds: float
    domain: str | None


@dataclass
class Reviewed:
    """What was reviewed.

    Attributes:
        file: The file or the URL of the reviews.
        reviewer: The name of the reviewer.
        mode: The mode.
        reviews: The new reviews, each with ``domain``, ``task_id`` and ``trial``, in the order in which they were made.
        skipped: The number of conversations that were not reviewed, by reason.
        stopped: Why not all were reviewed; None if all were.
        cost: USD of the model calls whose price is known.
        problems: What made reviews poorer, such as a domain that is not installed.
    """

    file: str
    reviewer: str
    mode: str
    reviews: list[dict[str, Any]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    stopped: str | None = None
    cost: float = 0.0
    problems: list[str] = field(default_factory=list)


async def review_run(
    run: Run, settings: ReviewSettings, project: Project, writer: FactWriter, show: Callable[[dict[str, Any]], None]
) -> Reviewed:
    """Review the conversations of a run that have no review yet.

    Raises:
        ConfigurationError: The run has no conversations.
        OSError: A review cannot be written.
    """
    reviewed = Reviewed(writer.shown, settings.reviewer.name, settings.mode)
    session = _Session(run, settings, project, reviewed)
    pending: set[asyncio.Task[tuple[StoredTrial, Review]]] = set()

    async def take(ready: set[asyncio.Task[tuple[StoredTrial, Review]]]) -> None:
        for task in ready:
            trial, review = await task
            if add_review(trial.simulation, review):
                writer.write(trial.test, trial.domain, trial.simulation, "reviews")
            reviewed.reviews.append(_names(trial) | review.as_info())
            show(reviewed.reviews[-1])

    try:
        for trial in session.chosen():
            if len(pending) >= settings.concurrency:
                ready, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                await take(ready)
            if session.stop():
                break
            pending.add(asyncio.ensure_future(session.review(trial)))
        while pending:
            ready, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            await take(ready)
    except BaseException:
        # Ctrl-C: reviews that are made are kept.
        await take({task for task in pending if task.done() and not task.cancelled() and not task.exception()})
        for task in pending:
            task.cancel()
        raise
    return reviewed


def _names(trial: StoredTrial) -> dict[str, Any]:
    simulation = trial.simulation
    return {
        "domain": trial.domain,
        "task_id": simulation.task_id,
        "trial": simulation.trial,
        "test": trial.test,
    }


def _has_review(simulation: Simulation, mode: ReviewMode, by: ReviewJudge) -> bool:
    """Return whether a simulation has a complete review of a mode by a reviewer with its prompt."""
    review = review_of(simulation, mode)
    judge = review.judge if review is not None and review.done else None
    return judge is not None and (judge.name, judge.prompt_hash) == (by.name, by.prompt_hash)


class _Session:
    """The reviews of one call of the command."""

    def __init__(self, run: Run, settings: ReviewSettings, project: Project, reviewed: Reviewed) -> None:
        self._run, self._settings, self._project, self._reviewed = run, settings, project, reviewed
        self._domains: dict[str, Domain | None] = {}
        run.recognise = lambda called: recognise_domain(called, project)
        model = settings.llm.name if settings.llm else None
        self._judge = judge_of(settings.reviewer, model, settings.mode)

    def chosen(self) -> Any:
        """Yield the conversations that are to be reviewed; count those that are skipped."""
        number, settings, skipped = 0, self._settings, self._reviewed.skipped
        for trial in self._run.trials():
            simulation = trial.simulation
            if settings.domain is not None and trial.domain != settings.domain:
                continue
            if simulation.outcome == "error":
                skipped["without a verdict"] += 1
            elif settings.only == "failed" and simulation.outcome == "passed":
                skipped["passed"] += 1
            elif _has_review(simulation, settings.mode, self._judge):
                skipped["reviewed before"] += 1
            elif settings.limit is not None and number >= settings.limit:
                skipped["beyond the limit"] += 1
            else:
                number += 1
                yield trial

    def stop(self) -> bool:
        """Return whether no further review may be begun."""
        budget, spent = self._settings.budget, self._reviewed.cost
        if budget is not None and spent >= budget:
            self._reviewed.stopped = f"the budget of ${budget:g} is spent (${spent:.4f})"
        return self._reviewed.stopped is not None

    async def review(self, trial: StoredTrial) -> tuple[StoredTrial, Review]:
        settings = self._settings
        policy = CallPolicy(on_cost=self._spend, budget_problem=self._spent)
        models = TrialModels({"reviewer": settings.llm} if settings.llm else {}, policy=policy)
        review = await review_trial(self._case(trial), settings.reviewer, models, settings.seconds)
        return trial, review

    def _spend(self, cost: float) -> None:
        self._reviewed.cost += cost

    def _spent(self) -> str | None:
        self.stop()
        return self._reviewed.stopped

    def _case(self, trial: StoredTrial) -> ReviewCase:
        """Return the material of a review; the turning point and the blame are found if the run has not done so."""
        domain, run_settings = self._domain(trial.domain), self._run.info.get("settings") or {}
        simulation, task = trial.simulation, trial.task
        if domain is not None and task is not None and simulation.info.blame is None:
            annotate_failure(simulation, task, domain, solo=worked_alone(simulation, domain))
        header = (self._run.info.get("environment_info") or {}).get("policy")
        return review_case(
            simulation,
            task,
            domain,
            self._settings.mode,
            domain_name=trial.domain,
            policy=_policy(domain, run_settings.get("policy_variant")),
            policy_text=header if isinstance(header, str) else None,
        )

    def _domain(self, name: str) -> Domain | None:
        if name not in self._domains:
            self._domains[name] = self._load(name)
        return self._domains[name]

    def _load(self, name: str) -> Domain | None:
        if not name:
            self._reviewed.problems.append("the domain is not known: reviewed without policy and tools")
            return None
        try:
            return self._project.load(name, self._run.info)
        except TauError as error:
            self._reviewed.problems.append(f"{error}: reviewed without its policy and tools")
            return None


def _policy(domain: Domain | None, name: object) -> str | None:
    """Return the variant of the policy that a run had, if the domain still has it."""
    if domain is None or not isinstance(name, str):
        return None
    try:
        domain.check_mode(solo=False, policy=name)
    except ConfigurationError:
        return None
    return name
