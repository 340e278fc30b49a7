"""The simulations of one run for the page: facts stay in memory, conversations are packed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...diagnosis import in_brief
from ...models import calls_in
from ...runs.make_record import make_record
from ..blamed import Blamer
from .conversation import conversation, fingerprints
from .environment_changes import StateHistories

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability.calls import TasksShown
    from ...models import Call
    from ...regrade.recognition import DomainSource
    from ...runs.reader import Run, StoredTrial
    from ...runs.record import TrialRecord
    from .blocks import ConversationBlocks
    from .capability_blocks import ShownBlocks


class Facts(NamedTuple):
    """A simulation without its conversation.

    Attributes:
        record: Its record.
        fingerprints: Those of its messages.
        brief: What went wrong, in a few words; None if it passed, or if that is not known.
        simulation: The id of the simulation.
    """

    record: TrialRecord
    fingerprints: bytes
    brief: str | None = None
    simulation: str = ""


class Gatherer:
    """Gathers the simulations of a run.

    Args:
        run: The run.
        domains: The source of domains, for the changes of environments.
        compared: Whether the messages of the run are compared with those of another one.
        shown_blocks: The blocks of capabilities in the page.
        tasks: What capabilities show of the tasks; each simulation is added.
    """

    def __init__(
        self,
        run: Run,
        domains: DomainSource,
        shown_blocks: ShownBlocks,
        *,
        compared: bool,
        tasks: TasksShown,
    ) -> None:
        self.run, self._compared, self._shown = run, compared, shown_blocks
        self._blamer = Blamer(run, domains)
        self._histories, self._tasks = StateHistories(), tasks

    def gather(self, blocks: ConversationBlocks) -> Iterator[Facts]:
        """Yield the facts of the run's simulations, in order.

        Raises:
            ConfigurationError: The run cannot be read.
            OSError: A file cannot be opened, or a block cannot be written.
        """
        for trial in self.run.trials():
            name, calls = self._blamer.domain_name(trial), calls_in(trial.simulation.messages)
            task, domain = trial.task, self._blamer.domain(name)
            self._blamer.annotate(trial)
            yield self._facts(trial, calls, name)
            document = conversation(trial.simulation, calls, task, domain, self._histories, self._shown)
            blocks.add({**document, "test": trial.test} if trial.test else document)
            self._tasks.add(self.run, trial, name)
        blocks.end()

    def _facts(self, trial: StoredTrial, calls: Sequence[Call], domain: str) -> Facts:
        simulation = trial.simulation
        record = make_record(simulation, trial.task, domain, trial.test, calls=calls)
        brief = None if record.outcome == "passed" else in_brief(simulation)
        return Facts(record, fingerprints(simulation.messages) if self._compared else b"", brief, simulation.id)
