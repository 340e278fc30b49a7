"""The simulations of one run for the page: facts stay in memory, conversations are packed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...diagnosis.attribution import annotate_failure
from ...errors import ConfigurationError
from ...models import calls_in
from ...regrade.recognition import recognise_domain, worked_alone
from ...runs.make_record import make_record
from ...runs.results.files import ResultFile
from .conversation import conversation, fingerprints
from .environment_changes import StateHistories

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ...capability import Capability
    from ...environment import Domain
    from ...models import Call, Simulation, Task
    from ...regrade.recognition import DomainSource
    from ...runs.reader import Run, StoredTrial
    from ...runs.record import TrialRecord
    from .blocks import ConversationBlocks


class Facts(NamedTuple):
    """A simulation without its conversation, but with the fingerprints of its messages."""

    record: TrialRecord
    fingerprints: bytes


class Gatherer:
    """Gathers the simulations of a run.

    Args:
        run: The run.
        domains: The source of domains, for the changes of environments.
        compared: Whether the messages of the run are compared with those of another one.
        capabilities: The capabilities whose blocks are shown.
        folder: The folder of the page.
    """

    def __init__(
        self, run: Run, domains: DomainSource, capabilities: Sequence[Capability], folder: Path, *, compared: bool
    ) -> None:
        self.run, self._compared, self._capabilities = run, compared, capabilities
        self._domains, self._folder = domains, folder
        self._loaded: dict[str, Domain | str] = {}
        self._recognised: str | None = None
        self._histories = StateHistories()

    def gather(self, blocks: ConversationBlocks) -> Iterator[Facts]:
        """Yield the facts of the run's simulations, in order.

        Raises:
            ConfigurationError: The run cannot be read.
            OSError: A file cannot be opened, or a block cannot be written.
        """
        for trial in self.run.trials():
            name, calls = self._domain_name(trial), calls_in(trial.simulation.messages)
            task, domain = trial.task, self._domain(name)
            _annotate(trial.simulation, task, domain)
            yield self._facts(trial, calls, name)
            shown = conversation(
                trial.simulation, calls, task, domain, self._histories, self._folder, self._capabilities
            )
            blocks.add({**shown, "test": trial.test} if trial.test else shown)
        blocks.end()

    def _facts(self, trial: StoredTrial, calls: Sequence[Call], domain: str) -> Facts:
        simulation = trial.simulation
        record = make_record(simulation, trial.task, domain, trial.test, calls=calls)
        return Facts(record, fingerprints(simulation.messages) if self._compared else b"")

    def _domain_name(self, trial: StoredTrial) -> str:
        if trial.domain or not self.run.path.is_file():
            return trial.domain
        if self._recognised is None:
            self._recognised = recognise_domain(ResultFile.scan(self.run.path).called, self._domains) or ""
        return self._recognised

    def _domain(self, name: str) -> Domain | str:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Domain | str:
        if not name:
            return "the domain is not known"
        try:
            return self._domains.load(name)
        except ConfigurationError as error:
            return str(error)


def _annotate(simulation: Simulation, task: Task | None, domain: Domain | str) -> None:
    """Have a failure's turning point and fault, also where whoever ran it did not look for them."""
    known = "blame" in (simulation.info or {})
    if simulation.outcome != "passed" and not known and task is not None and not isinstance(domain, str):
        annotate_failure(simulation, task, domain, solo=worked_alone(simulation, domain))
