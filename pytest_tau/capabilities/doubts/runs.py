"""Stored runs as evidence: each simulation is read, graded again where needed, and left."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from ...diagnosis import annotate_failure
from ...errors import ConfigurationError, TauError
from ...evaluation import evaluate
from ...lint import lint_domain
from ...regrade import StoredTrials, worked_alone
from . import capability
from .ends import end_of
from .evidence import Evidence, TaskKey, is_spoilt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Domain
    from ...models import Simulation, Task
    from ...regrade import DomainSource, PlacedTrial
    from ...runs import Run, StoredTrial
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
        left_out: How many trials say nothing about their tasks, by the reason.
    """

    def __init__(self, domains: DomainSource, domain: str | None, bundled: frozenset[str]) -> None:
        self._trials = StoredTrials(domains, domain, bundled)
        self.evidence = Evidence()
        self.tasks: dict[TaskKey, tuple[Task, Domain]] = {}
        self.left_out: Counter[str] = Counter()

    @property
    def problems(self) -> Counter[str]:
        """Why a simulation is not counted, with the number of such simulations."""
        return self._trials.problems

    def read(self, run: Run) -> None:
        """Add the simulations of a run.

        Raises:
            ConfigurationError: The run has no conversations, or was made on other data than its domain has.
            OSError: A file cannot be opened.
        """
        for placed in self._trials.of(run):
            self._count(run, placed)

    def add(self, run: Run, trial: StoredTrial, name: str) -> None:
        """Add a simulation of a run.

        Args:
            run: The run.
            trial: The simulation; its verdict is made where it does not say how the trial ended.
            name: The name of its domain.

        Raises:
            ConfigurationError: The run was made on other data than the domain has, or there is no such domain.
        """
        placed = self._trials.place(run, trial, name)
        if placed is not None:
            self._count(run, placed)

    def findings(self, doubt: Doubt) -> list[str]:
        """Return the errors and warnings of ``tau lint`` about a task in doubt."""
        task, domain = self.tasks[doubt.task]
        report = asyncio.run(lint_domain(domain, None, [task]))
        return [
            f"{finding.rule}: {finding.text}"
            for finding in report.findings
            if finding.task_id == task.id and finding.severity in ("error", "warning")
        ]

    def _count(self, run: Run, placed: PlacedTrial) -> None:
        try:
            if placed.simulation.outcome == "error":
                self.left_out["no verdict"] += 1
            else:
                self._add(placed, run.agent or run.name)
        except ConfigurationError:
            raise
        except (TauError, RecursionError) as error:
            self._trials.note(run, error)

    def _add(self, placed: PlacedTrial, agent: str) -> None:
        simulation, task, domain, content = placed
        key = TaskKey(domain.name, task.id, content)
        self.tasks.setdefault(key, (task, domain))
        verdict = simulation.reward_info
        passed, end = verdict is not None and verdict.passed, capability.read(simulation.facts)
        if not passed and end is None:
            passed, end = _graded(simulation, task, domain)
        if not passed and is_spoilt(simulation.info.blame):
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
