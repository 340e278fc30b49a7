"""Stored runs as evidence: each simulation is read, graded again where needed, and left."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ...diagnosis import annotate_failure
from ...environment import canonical
from ...errors import ConfigurationError, TauError
from ...evaluation import evaluate
from ...files import digest
from ...lint import lint_domain
from ...regrade.recognition import recognise_domain, worked_alone
from ...regrade.replay_diff import call_on_other_data
from ...runs.manifest import agent_name
from . import capability
from .ends import end_of
from .evidence import Evidence, TaskKey, is_spoilt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Domain
    from ...models import Simulation, Task
    from ...regrade.recognition import DomainSource
    from ...runs.reader import Run, StoredTrial
    from .ends import EndFacts
    from .evidence import Doubt


class StoredEvidence:
    """The evidence of stored runs.

    Args:
        domains: The source of domains.
        domain: The domain of every file; None for the one that a file names, or whose tools it calls.
        bundled: The domains that have their bundled data, on which others' runs may not have been made.

    Attributes:
        evidence: What the trials say.
        tasks: The tasks that trials were about, each with its domain.
        problems: Why a simulation is not counted, with the number of such simulations.
        left_out: How many trials say nothing about their tasks, by the reason.
    """

    def __init__(self, domains: DomainSource, domain: str | None, bundled: frozenset[str]) -> None:
        self._domains, self._domain, self._bundled = domains, domain, bundled
        self.evidence = Evidence()
        self.tasks: dict[TaskKey, tuple[Task, Domain]] = {}
        self.problems: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        #: The key of each task object; in most files, all simulations of a task share it.
        self._keys: dict[int, tuple[Task, TaskKey]] = {}
        #: The runs and domains of which a simulation was played again on the bundled data.
        self._checked: set[tuple[str, str]] = set()

    def read(self, run: Run) -> None:
        """Add the simulations of a run.

        Raises:
            ConfigurationError: The run has no conversations, or was made on other data than its domain has.
            OSError: A file cannot be opened.
        """
        run.recognise = partial(recognise_domain, domains=self._domains)
        for trial in run.trials():
            self.add(run, trial, self._domain or trial.domain)
        for problem in run.problems:
            self.problems[f"{run.name}: {problem}"] += 1

    def add(self, run: Run, trial: StoredTrial, name: str) -> None:
        """Add a simulation of a run.

        Args:
            run: The run.
            trial: The simulation; its verdict is made where it does not say how the trial ended.
            name: The name of its domain.

        Raises:
            ConfigurationError: The run was made on other data than the domain has, or there is no such domain.
        """
        if trial.simulation.outcome == "error":
            self.left_out["no verdict"] += 1
            return
        domain = self._load(name)
        try:
            task = self._task(trial, domain)
            if name in self._bundled and not trial.test and (run.shown, name) not in self._checked:
                self._checked.add((run.shown, name))
                _check_data(run, trial.simulation, task, domain)
            self._add(trial.simulation, task, domain, agent_name(run.info, ()) or run.name)
        except ConfigurationError:
            raise
        except (TauError, RecursionError) as error:
            self.problems[f"{run.name}: {str(error).splitlines()[0]}"] += 1

    def findings(self, doubt: Doubt) -> list[str]:
        """Return the errors and warnings of ``tau lint`` about a task in doubt."""
        task, domain = self.tasks[doubt.task]
        report = asyncio.run(lint_domain(domain, None, [task]))
        return [
            f"{finding.rule}: {finding.text}"
            for finding in report.findings
            if finding.task_id == task.id and finding.severity in ("error", "warning")
        ]

    def _load(self, name: str) -> Domain:
        if not name:
            raise ConfigurationError(
                "the file names no domain and its calls do not identify one; add --domain NAME "
                f"(known: {', '.join(self._domains.names())})"
            )
        return self._domains.load(name)

    def _task(self, trial: StoredTrial, domain: Domain) -> Task:
        """Return the task of a trial: one object for all equal tasks, whose reference state is then made once."""
        task = trial.task
        if task is None:
            task = next((each for each in domain.tasks(split=None) if each.id == trial.simulation.task_id), None)
        if task is None:
            raise TauError(f"{domain.name} has no task {trial.simulation.task_id!r}, and the file has none either")
        known = self._keys.get(id(task))
        if known is None:
            content = task.model_dump(mode="json", exclude={"id", "description"}, exclude_none=True)
            key = TaskKey(domain.name, task.id, digest(canonical(content)))
            self.tasks.setdefault(key, (task, domain))
            known = self._keys[id(task)] = task, key
        return self.tasks[known[1]][0]

    def _add(self, simulation: Simulation, task: Task, domain: Domain, agent: str) -> None:
        key = self._keys[id(task)][1]
        verdict = simulation.reward_info
        passed, end = verdict is not None and verdict.passed, capability.read(simulation.facts)
        if not passed and end is None:
            passed, end = _graded(simulation, task, domain)
        if not passed and is_spoilt((simulation.info or {}).get("blame")):
            self.left_out["the user's fault"] += 1
            return
        if not passed and end is not None and end.says_nothing:
            self.left_out[end.says_nothing] += 1
        self.evidence.add(key, agent, end, passed=passed, example=simulation.id)

    def editions(self, keys: Sequence[TaskKey]) -> list[str]:
        """Return the ids of tasks that have several contents, which are different tasks."""
        of_id = Counter((key.domain, key.task_id) for key in keys)
        return [task_id for (_, task_id), number in of_id.items() if number > 1]


def _graded(simulation: Simulation, task: Task, domain: Domain) -> tuple[bool, EndFacts | None]:
    """Grade a simulation again, and return whether it passed and how it ended; its party at fault is noted in it."""
    solo = worked_alone(simulation, domain)
    simulation.reward_info = evaluate(
        task, simulation.messages, termination_reason=simulation.termination_reason, domain=domain, solo=solo
    )
    annotate_failure(simulation, task, domain, solo=solo)
    return simulation.reward_info.passed, end_of(simulation, task, domain)


def _check_data(run: Run, simulation: Simulation, task: Task, domain: Domain) -> None:
    environment = domain.environment(task, solo=worked_alone(simulation, domain), replay_history=False)
    call = call_on_other_data(simulation, environment)
    if call is not None:
        raise ConfigurationError(
            f"{run.shown}: the run was not made on the bundled data of {domain.name}: add --data DIR, the data that it "
            f"was made on ({simulation.id}: {call})"
        )
