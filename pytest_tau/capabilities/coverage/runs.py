"""The conversations of stored runs, by domain."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import ConfigurationError, TauError
from ...regrade import call_on_other_data, recognise_domain, worked_alone
from ...runs import open_run
from .measure import Played

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...environment import Domain
    from ...models import Simulation, Task
    from ...regrade import DomainSource
    from ...runs import Run, StoredTrial


class StoredConversations:
    """The conversations of stored runs.

    Attributes:
        by_domain: For each domain, as a run had it, the conversations of its simulations.
        problems: Why a simulation is not among them, with the number of such simulations.
    """

    def __init__(self, domains: DomainSource, domain: str | None) -> None:
        self._domains, self._domain = domains, domain
        self.by_domain: dict[Domain, list[Played]] = {}
        self.problems: Counter[str] = Counter()
        #: For each run and domain, a conversation that shows which data the run was made on.
        self._samples: dict[tuple[str, Domain], tuple[Simulation, Task]] = {}

    def read(self, specs: Sequence[str]) -> None:
        """Add the simulations of runs.

        Raises:
            ConfigurationError: A run has no conversations, or its domain is not known.
            OSError: A file cannot be opened.
        """
        for run in (open_run(spec, Path()) for spec in specs):
            run.recognise = partial(recognise_domain, domains=self._domains)
            for trial in run.trials():
                try:
                    self._add(run, trial)
                except ConfigurationError:
                    raise
                except (TauError, RecursionError) as error:
                    self.problems[f"{run.name}: {str(error).splitlines()[0]}"] += 1
            for problem in run.problems:
                self.problems[f"{run.name}: {problem}"] += 1

    def _add(self, run: Run, trial: StoredTrial) -> None:
        name = self._domain or trial.domain
        if not name:
            known = ", ".join(self._domains.names())
            raise ConfigurationError(
                f"{run.shown}: the file names no domain and its calls do not identify one; add --domain NAME "
                f"(known: {known})"
            )
        domain = self._domains.load(name, run.info)
        task = trial.task or _named(trial, domain)
        self._samples.setdefault((run.shown, domain), (trial.simulation, task))
        played = Played(task, trial.simulation.messages, _documents(trial.simulation))
        self.by_domain.setdefault(domain, []).append(played)

    def check_data(self) -> None:
        """Check that the runs were made on the data that their domains have here; calls of tools are made for it.

        Raises:
            ConfigurationError: One was made on other data.
        """
        for (run, domain), (simulation, task) in self._samples.items():
            alone = worked_alone(simulation, domain)
            call = call_on_other_data(simulation, domain.environment(task, solo=alone, replay_history=False))
            if call is not None:
                raise ConfigurationError(
                    f"{run}: the run was not made on the data that {domain.name} has here: add --data DIR, the data "
                    f"that it was made on ({simulation.id}: {call})"
                )

    def notes(self) -> Iterator[str]:
        """Yield why simulations are not among the conversations."""
        for problem, number in self.problems.items():
            yield f"excluded: {problem}" + (f" ({number} times)" if number > 1 else "")


def _documents(simulation: Simulation) -> frozenset[str] | None:
    """Return the documents that a conversation has found or read; None if no capability has measured its searches."""
    facts = [
        capability_facts
        for capability_facts in simulation.facts.values()
        if isinstance(capability_facts, dict) and "searches" in capability_facts
    ]
    searches = [search for capability_facts in facts for search in capability_facts["searches"]]
    documents = {name for search in searches for name in search.get("found", ())}
    return (
        frozenset(documents.union(*(capability_facts.get("read", ()) for capability_facts in facts))) if facts else None
    )


def _named(trial: StoredTrial, domain: Domain) -> Task:
    task_id = trial.simulation.task_id
    own_task = domain.tasks_by_id().get(task_id)
    if own_task is None:
        raise TauError(f"{domain.name} has no task {task_id!r}, and the file has none either")
    return own_task
