"""The journal of a worker: the trials that it runs, written to a file in case it is killed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...files import atomic_write
from ..items import spec_of, trial_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

#: A test that has killed this many workers is not run again.
MAX_CRASHES = 2


class JournalEntry(NamedTuple):
    """An entry of the journal.

    Attributes:
        test: The node id of the test that runs.
        trial: Domain, task and number of its trial; empty if it runs none.
        running: Node ids of all trials that may be running, including this one.
    """

    test: str
    trial: tuple[str, str, int] | tuple[()]
    running: list[str]

    @classmethod
    def read(cls, file: Path) -> JournalEntry | None:
        """Return the entry in a file; None if there is none, or it is not complete."""
        try:
            test, trial, running = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return cls(test, tuple(trial), running)


class WorkerJournal:
    """The journals of the workers on this machine; those of killed workers have another suffix.

    Args:
        folder: The folder that the workers share.
        worker: The worker's name.
    """

    def __init__(self, folder: Path, worker: str) -> None:
        self._folder, self._file = folder, folder / f"{worker}.running"
        self._written: Sequence[pytest.Item] = []
        self._lost: dict[str, JournalEntry | None] = {}

    def write(self, queue: Sequence[pytest.Item]) -> None:
        """Write the item that runs now, and the items after it whose trials may run at the same time."""
        if queue == self._written:
            return
        self._written, item = queue, queue[0]
        spec = spec_of(item)
        trial = (spec.domain.name, spec.task.id, trial_of(item)) if spec else ()
        running = [each.nodeid for each in queue if spec_of(each) is not None]
        atomic_write(self._file, json.dumps(JournalEntry(item.nodeid, trial, running)))

    def is_cancelled(self, item: pytest.Item) -> bool:
        """Return whether a trial has killed so many workers that it was reported as an error."""
        return (
            spec_of(item) is not None
            and sum(entry.test == item.nodeid for entry in self._lost_entries()) >= MAX_CRASHES
        )

    def suspects(self) -> set[str]:
        """Return the trials that may have been running in a worker that was killed."""
        return {test for entry in self._lost_entries() for test in entry.running}

    def _lost_entries(self) -> Iterator[JournalEntry]:
        for file in os.scandir(self._folder):
            if file.name.endswith(".lost") and file.name not in self._lost:
                self._lost[file.name] = JournalEntry.read(Path(file.path))
        return (entry for entry in self._lost.values() if entry is not None)
