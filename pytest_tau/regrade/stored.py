"""The trials of stored runs, each with its task and its domain: of a run's folder, or of a result file of others."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..environment import canonical
from ..errors import ConfigurationError, TauError
from ..files import digest
from .recognition import recognise_domain, worked_alone
from .replay_diff import call_on_other_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Simulation, Task
    from ..runs.reader import Run, StoredTrial
    from .recognition import DomainSource


class PlacedTrial(NamedTuple):
    """A stored trial, and where it belongs.

    Attributes:
        simulation: The conversation, with the stored verdict.
        task: Its task: one object for all equal tasks, whose reference state is then made once.
        domain: Its domain.
        content: The digest of the task without its id, in which tasks of several editions differ.
    """

    simulation: Simulation
    task: Task
    domain: Domain
    content: str


class StoredTrials:
    """Places the trials of stored runs.

    Args:
        domains: The source of domains.
        domain: The domain of every file; None for the one that a file names, or whose tools it calls.
        bundled: The domains that have their bundled data, on which others' runs may not have been made.

    Attributes:
        problems: Why a simulation cannot be placed, with the number of such simulations.
    """

    def __init__(self, domains: DomainSource, domain: str | None, bundled: frozenset[str]) -> None:
        self._domains, self._domain, self._bundled = domains, domain, bundled
        self.problems: Counter[str] = Counter()
        #: The runs and domains of which a simulation was played again on the bundled data.
        self._checked: set[tuple[str, str]] = set()
        #: Each task object with the first equal one; in most files, all simulations of a task share it.
        self._known: dict[int, tuple[Task, Task, str]] = {}
        self._tasks: dict[tuple[str, str, str], Task] = {}

    def of(self, run: Run) -> Iterator[PlacedTrial]:
        """Yield the trials of a run.

        Raises:
            ConfigurationError: The run has no conversations, or was made on other data than its domain has.
            OSError: A file cannot be opened.
        """
        run.recognise = partial(recognise_domain, domains=self._domains)
        for trial in run.trials():
            placed = self.place(run, trial, self._domain or trial.domain)
            if placed is not None:
                yield placed
        for problem in run.problems:
            self.problems[f"{run.name}: {problem}"] += 1

    def place(self, run: Run, trial: StoredTrial, name: str) -> PlacedTrial | None:
        """Return a trial with its task and domain; None, with a problem noted, if it has no task.

        Args:
            run: Its run.
            trial: The trial.
            name: The name of its domain.

        Raises:
            ConfigurationError: The run was made on other data than the domain has, or there is no such domain.
        """
        try:
            domain = self._load(name, run)
            task, content = self._task(trial, domain)
            if name in self._bundled and not trial.test and (run.shown, name) not in self._checked:
                self._checked.add((run.shown, name))
                _check_data(run, trial.simulation, task, domain)
        except ConfigurationError:
            raise
        except (TauError, RecursionError) as error:
            self.note(run, error)
            return None
        return PlacedTrial(trial.simulation, task, domain, content)

    def note(self, run: Run, error: Exception) -> None:
        """Note that a simulation of a run cannot be used."""
        self.problems[f"{run.name}: {str(error).splitlines()[0]}"] += 1

    def _load(self, name: str, run: Run) -> Domain:
        if not name:
            raise ConfigurationError(
                "the file names no domain and its calls do not identify one; add --domain NAME "
                f"(known: {', '.join(self._domains.names())})"
            )
        return self._domains.load(name, run.info)

    def _task(self, trial: StoredTrial, domain: Domain) -> tuple[Task, str]:
        task = trial.task
        if task is None:
            task = domain.tasks_by_id().get(trial.simulation.task_id)
        if task is None:
            raise TauError(f"{domain.name} has no task {trial.simulation.task_id!r}, and the file has none either")
        if id(task) not in self._known:
            content = digest(canonical(task.model_dump(mode="json", exclude={"id", "description"}, exclude_none=True)))
            first = self._tasks.setdefault((domain.name, task.id, content), task)
            self._known[id(task)] = task, first, content
        _, first, content = self._known[id(task)]
        return first, content


def _check_data(run: Run, simulation: Simulation, task: Task, domain: Domain) -> None:
    environment = domain.environment(task, solo=worked_alone(simulation, domain), replay_history=False)
    call = call_on_other_data(simulation, environment)
    if call is not None:
        raise ConfigurationError(
            f"{run.shown}: the run was not made on the bundled data of {domain.name}: add --data DIR, the data that it "
            f"was made on ({simulation.id}: {call})"
        )
