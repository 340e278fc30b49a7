"""What a worker is about to run, written down in case it is killed."""

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

#: After so many killed workers a test is not run any more.
MAX_CRASHES = 2


class JournalEntry(NamedTuple):
    """What a worker was about to run.

    Attributes:
        test: The node id that it ran.
        trial: Domain, task and number of the trial that this is; empty if it is none.
        running: Node ids of the trials that may have been running, that one among them.
    """

    test: str
    trial: tuple[str, str, int] | tuple[()]
    running: list[str]

    @classmethod
    def read(cls, file: Path) -> JournalEntry | None:
        """Return the entry in a file; None if there is none, or it was not written to its end."""
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
        """Write down the item that runs now, and the items after it whose trials may run meanwhile."""
        if queue == self._written:
            return
        self._written, item = queue, queue[0]
        spec = spec_of(item)
        trial = (spec.domain.name, spec.task.id, trial_of(item)) if spec else ()
        running = [each.nodeid for each in queue if spec_of(each) is not None]
        atomic_write(self._file, json.dumps(JournalEntry(item.nodeid, trial, running)))

    def is_cancelled(self, item: pytest.Item) -> bool:
        """Return whether a trial has killed so many workers that it was reported as an error."""
        return spec_of(item) is not None and sum(entry.test == item.nodeid for entry in self._left()) >= MAX_CRASHES

    def suspects(self) -> set[str]:
        """Return the trials that may have been running in a worker that was killed."""
        return {test for entry in self._left() for test in entry.running}

    def _left(self) -> Iterator[JournalEntry]:
        for file in os.scandir(self._folder):
            if file.name.endswith(".lost") and file.name not in self._lost:
                self._lost[file.name] = JournalEntry.read(Path(file.path))
        return (entry for entry in self._lost.values() if entry is not None)
