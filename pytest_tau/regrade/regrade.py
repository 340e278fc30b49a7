"""Regrading: stored conversations are replayed and judged again, stored and fresh verdicts side by side."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ..capability.duplex import judged_messages
from ..diagnosis.attribution import annotate_failure
from ..environment import canonical
from ..errors import ConfigurationError, JudgeError, TaskFormatError, TauError
from ..evaluation import OFFICIAL, Evaluation, Grading, Judged, ask_judge, grade
from ..evaluation.component import GradingInput
from ..evaluation.outside import check_domain, undeclared_in
from ..models import FAULTS, NO_NOTES
from ..policy import report_of
from ..policy.check import SILENT
from ..runs.groups import Group
from ..runs.jsonl import read_tests
from ..runs.layout import simulation_files
from ..runs.manifest import read_manifest
from ..runs.results.entries import StoredSimulation, Unreadable
from ..runs.results.files import ResultFile
from .comparing import TaskFinder, comparable_reward, other_criteria
from .recognition import recognise_domain, worked_alone
from .replay_diff import call_on_other_data, replay
from .result import ERRORS, EXCLUDED, REPLACED, FileReport, Regraded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain, Environment
    from ..evaluation import Evaluator, Judge
    from ..models import Attribution, RewardInfo, Simulation, Task
    from .recognition import DomainSource
    from .replay_diff import ReplayDifference

#: What a verdict is attributed to that no rule alone changes.
TOGETHER = "several rules together"


@dataclass(frozen=True)
class RegradeSettings:
    """The settings of regrading.

    Attributes:
        domain: The domain of every file; None for the one that a file names, or whose tools it calls.
        grading: The profile.
        judge: Judges NL assertions; None to grade without them.
        strict_replay: A simulation whose replay differs in any result is an error.
        fresh_tasks: The domain's tasks of today are taken, and not those in the file.
        evaluators: Components that plugins added.
        check_policy: Whether the rules of the domain's policy are checked.
        only_notable: Whether results that agree, and that no rule has changed, are only counted.
        blame: Whether the party at fault is looked for in what failed.
        bundled: The domains that have their bundled data, on which others' runs may not have been made.
    """

    domain: str | None = None
    grading: Grading = OFFICIAL
    judge: Judge | None = None
    strict_replay: bool = False
    fresh_tasks: bool = False
    evaluators: Sequence[Evaluator] = ()
    check_policy: bool = False
    only_notable: bool = False
    blame: bool = False
    bundled: frozenset[str] = frozenset()


class Part(NamedTuple):
    """A part of a file's simulations: consecutive ones, so that the parts after each other are the file.

    Attributes:
        number: The number of the part, from 0.
        of: The number of parts, of nearly equal size.
    """

    number: int = 0
    of: int = 1

    def positions(self, size: int) -> range:
        """Return the positions of its simulations in a file of so many."""
        return range(size * self.number // self.of, size * (self.number + 1) // self.of)


#: All simulations of a file.
WHOLE = Part()


async def regrade_file(path: Path, settings: RegradeSettings, domains: DomainSource, part: Part = WHOLE) -> FileReport:
    """Regrade the simulations of a file.

    Args:
        path: A result file, or the folder of one.
        settings: The settings.
        domains: The source of domains.
        part: The part of the file. What concerns the whole file is reported by the first one.

    Raises:
        OSError: The file cannot be opened.
    """
    file = ResultFile.scan(path)
    report = FileReport(path, file.kind, only_notable=settings.only_notable)
    problems = list(file.problems)
    domain: Domain | None = None
    run: dict[str, Any] = {}
    if not file.size:
        problems = problems or [Unreadable("the file", "has no simulations")]
    else:
        try:
            run = read_manifest(path.parent) if path in simulation_files(path.parent) else file.header
            report.domain, domain = _domain(file, settings, domains, run)
        except ConfigurationError as error:
            problems.append(Unreadable(f"all {file.size} simulations", str(error)))
    report.unreadable += problems if part.number == 0 else []
    if domain is not None:

        def load(name: str) -> Domain:
            return domain if name == report.domain else domains.load(name, run)

        await _regrade(file, load, settings, part, report)
    return report


async def _regrade(
    file: ResultFile, load: Callable[[str], Domain], settings: RegradeSettings, part: Part, report: FileReport
) -> None:
    # A run of several domains keeps their simulations in one file, each with its domain's name.
    regraders: dict[str, _Regrader] = {}
    positions, later = part.positions(file.size), _tests_of_later_files(file.path)
    for position, run in enumerate(file.simulations(positions), positions.start):
        if isinstance(run, Unreadable):
            report.unreadable.append(run)
            continue
        name = (None if settings.domain else run.domain) or report.domain or ""
        replaced = bool(run.test) and (run.test in later or file.last.get(run.test, position) != position)
        try:
            if name not in regraders:
                regraders[name] = _Regrader(load(name), settings, file.tasks, solo=file.solo)
            foreign = file.kind != ResultFile.kind and not run.test
            if foreign and name in settings.bundled and (call := regraders[name].call_on_other_data(run)):
                report.other_data = f"{run.entry}: {call}"
                return
            graded = await regraders[name].regrade(run, replaced=replaced)
            report.add(graded, strict_replay=settings.strict_replay)
        except ConfigurationError as error:
            report.add(Unreadable(run.entry, str(error)))


def _tests_of_later_files(path: Path) -> set[str]:
    """Return the tests in the later files of a run: a worker that was killed may have left a file."""
    files = simulation_files(path.parent)
    later = files[files.index(path) + 1 :] if path in files else []
    return {test for file in later for test, _, _ in read_tests(file)}


def _domain(
    file: ResultFile, settings: RegradeSettings, domains: DomainSource, run: Mapping[str, Any]
) -> tuple[str, Domain]:
    name = settings.domain or file.domain or recognise_domain(file.called, domains)
    if name is None:
        raise ConfigurationError(
            "the file names no domain and its calls do not identify one; --domain NAME grades all of its "
            f"simulations on that domain (known: {', '.join(domains.names())})"
        )
    try:
        return name, domains.load(name, run)
    except ConfigurationError as error:
        raise ConfigurationError(
            f"{error}; --domain NAME grades all of the file's simulations on that domain"
        ) from None


class _Regrader:
    """Regrades the simulations of one file."""

    def __init__(
        self, domain: Domain, settings: RegradeSettings, tasks: Mapping[str, Task | str], *, solo: bool
    ) -> None:
        self._domain, self._settings, self._solo = domain, settings, solo
        # Equal tasks become one object, so that each one's reference state is computed once.
        self._tasks: dict[str, Task] = {}
        #: The last task of each id, as it was read and as it is graded: in most files all simulations share it.
        self._latest: dict[str, tuple[Task, Task]] = {}
        self._of_file = tasks
        self._finder: TaskFinder | None = None

    async def regrade(self, run: StoredSimulation, *, replaced: bool) -> Regraded | Unreadable:
        """Replay and judge one simulation.

        Args:
            run: The simulation.
            replaced: Whether a later one of the same test is stored.
        """
        try:
            task = self._task(run)
            return await self._graded(run, task, _uncounted(run, replaced=replaced))
        except JudgeError as error:
            return Unreadable(run.entry, f"not judged: {error}")
        except TaskFormatError as error:
            return Unreadable(
                run.entry, f"not graded: its task does not match the domain: {error.field}: {error.problem}"
            )
        except (TauError, RecursionError) as error:
            return Unreadable(run.entry, f"not graded: {error}")

    def call_on_other_data(self, run: StoredSimulation) -> ReplayDifference | None:
        """Return the first call that had succeeded and fails on this domain's data; None if there is none."""
        try:
            task = self._task(run)
            solo = self._solo or worked_alone(run.simulation, self._domain)
            return call_on_other_data(run.simulation, self._domain.environment(task, solo=solo, replay_history=False))
        except (TauError, RecursionError):
            return None  # it cannot be graded either, which says why

    def _task(self, run: StoredSimulation) -> Task:
        task = run.task
        if self._settings.fresh_tasks or task is None:
            if run.simulation.task_id not in self._todays_tasks:
                raise ConfigurationError(f"{self._domain.name} has no task {run.simulation.task_id!r}")
            task = self._todays_tasks[run.simulation.task_id]
        if task.unknown_criteria:
            names = ", ".join(task.unknown_criteria)
            raise ConfigurationError(f"task {task.id!r} has unknown evaluation criteria: {names}")
        return self._unified(task)

    def _unified(self, task: Task) -> Task:
        """Return the first task of this content."""
        known = self._latest.get(task.id)
        if known is None or known[0] is not task:
            known = self._latest[task.id] = task, self._tasks.setdefault(canonical(task), task)
        return known[1]

    async def _graded(self, run: StoredSimulation, task: Task, uncounted: str) -> Regraded:
        simulation, settings = run.simulation, self._settings
        solo = self._solo or worked_alone(simulation, self._domain)
        final = self._domain.environment(task, solo=solo, replay_history=False)
        differences = replay(simulation, final)
        without_judge = task.needs_judge and settings.judge is None
        graded = self._without_statements(task) if without_judge else task
        silent = simulation.agent_name == SILENT
        evaluation = Evaluation(settings.grading, settings.judge, settings.evaluators, solo, silent=silent)
        judged = await ask_judge(graded, judged_messages(simulation), simulation.termination_reason, evaluation)
        last = simulation.messages[-1] if simulation.messages else None
        # A conversation that ends with calls was replayed with them, and is graded without them.
        replayed = None if getattr(last, "tool_calls", None) else final
        if replayed is not None:
            replayed.sync()
        fresh = self._grade(graded, simulation, evaluation, judged, replayed)
        if simulation.info.error_kind == "DomainError":  # in the run; the domain may have been corrected since
            conversation = GradingInput(graded, simulation.messages, self._domain, settings.grading, solo)
            check_domain(fresh, undeclared_in(conversation), graded, self._domain)
        expected, why = comparable_reward(simulation.reward_info, fresh, without_judge=without_judge)
        if not settings.fresh_tasks and (other := other_criteria(simulation.reward_info, task)):
            expected, why = None, self._with_owner(other, simulation)
        return Regraded(
            entry=run.entry,
            id=simulation.id,
            group=Group.of(run.test, run.domain or self._domain.name, simulation.task_id),
            task_id=simulation.task_id,
            trial=simulation.trial,
            termination_reason=simulation.termination_reason,
            solo=solo,
            stored=simulation.reward_info,
            fresh=fresh,
            expected=expected,
            not_compared=why,
            error=simulation.error or "",
            without_judge=without_judge,
            replay_differences=differences,
            rules=self._rules(graded, simulation, evaluation, Judged(judged.verdicts), fresh.reward),
            policy=report_of(simulation, task, self._domain, solo=solo) if settings.check_policy else None,
            uncounted=uncounted,
            blame=self._blame(simulation, fresh, task, solo=solo) if settings.blame else None,
        )

    def _blame(self, simulation: Simulation, fresh: RewardInfo, task: Task, *, solo: bool) -> Attribution | None:
        """Return the party at fault by the fresh verdict; None if it passed."""
        graded = simulation.model_copy(update={"reward_info": fresh, "info": NO_NOTES})
        annotate_failure(graded, task, self._domain, solo=solo)
        return graded.info.blame

    def _with_owner(self, other: str, simulation: Simulation) -> str:
        """Return that a stored verdict is about other criteria, with the task that has them."""
        if self._finder is None:
            known = (task for task in self._of_file.values() if not isinstance(task, str))
            self._finder = TaskFinder([*known, *self._todays_tasks.values()])
        owner = simulation.reward_info and self._finder.find(simulation.reward_info)
        return f"{other}, those of task {owner}" if owner else other

    @cached_property
    def _todays_tasks(self) -> dict[str, Task]:
        return self._domain.tasks_by_id()

    def _without_statements(self, task: Task) -> Task:
        basis = [name for name in task.criteria.reward_basis if name != "NL_ASSERTION"]
        criteria = task.criteria.model_copy(update={"reward_basis": basis})
        changed = task.model_copy(update={"evaluation_criteria": criteria})
        return self._tasks.setdefault(canonical(changed), changed)

    def _grade(
        self,
        task: Task,
        simulation: Simulation,
        evaluation: Evaluation,
        judged: Judged,
        replayed: Environment | None = None,
    ) -> RewardInfo:
        reason = simulation.termination_reason
        return grade(task, simulation.messages, reason, self._domain, evaluation, judged, replayed)

    def _rules(
        self,
        task: Task,
        simulation: Simulation,
        evaluation: Evaluation,
        judged: Judged,
        reward: float,
    ) -> list[str]:
        if evaluation.grading == OFFICIAL:
            return []

        def reward_under(profile: Grading) -> float:
            return self._grade(task, simulation, replace(evaluation, grading=profile), judged).reward

        official = reward_under(OFFICIAL)
        if reward == official:
            return []
        rules = differing_rules(evaluation.grading)
        alone = [name for name, profile in rules.items() if reward_under(profile) != official]
        return alone or [TOGETHER]


def differing_rules(grading: Grading) -> dict[str, Grading]:
    """Return the rules on which a profile differs from ``official``, each with the profile that differs in it alone."""
    rules = {rule.name: getattr(grading, rule.name) for rule in fields(Grading) if rule.name != "name"}
    return {
        name: replace(OFFICIAL, name=name, **{name: value})
        for name, value in rules.items()
        if value != getattr(OFFICIAL, name)
    }


def _uncounted(run: StoredSimulation, *, replaced: bool) -> str:
    """Return why the rates of its run exclude a simulation; empty if they count it, or if it is of no run of ours."""
    simulation = run.simulation
    if replaced:
        return REPLACED
    if simulation.excluded is not None:
        return EXCLUDED
    # Infrastructure errors are counted by themselves.
    is_error = simulation.termination_reason in FAULTS - {"infrastructure_error"}
    return ERRORS if run.test and is_error else ""
