"""Finished simulations of a run, on the disk as soon as they have ended: a JSON line each, for ``tau regrade``.

Each xdist worker writes a file of its own; the controller makes one file of them.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from ..wire import results_folder, told_by_controller, worker_name
from .manifest import begin, describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

    from ...models import Simulation
    from ..context.run_context import Active, Case

#: The file of a run that no worker writes.
WHOLE = "simulations.jsonl"
_PARTS = "simulations-*.jsonl"
_LONGEST = 1 << 16


class RunLog:
    """Appends simulations to a file of this process.

    Args:
        folder: The run's own folder, made at the first simulation; None to keep nothing.
        worker: The xdist worker; empty where there is one process.
    """

    def __init__(self, folder: Path | None, worker: str = "") -> None:
        self.file = folder / f"simulations{'-' if worker else ''}{worker}.jsonl" if folder else None
        self._begun = self._made = False

    @classmethod
    def of(cls, config: pytest.Config) -> RunLog:
        """The log of this process."""
        if told_by_controller(config).get("remote"):
            return CarriedLog()
        return cls(results_folder(config), worker_name(config))

    def begin(self, session: pytest.Session, active: Active) -> None:
        """Tell of the run, before the first simulation of this process is held."""
        if self._begun:
            return
        self._begun = True
        self._tell(session, active)

    def _tell(self, session: pytest.Session, active: Active) -> None:
        if self.file is not None:
            # What cannot be written here cannot be written later either, and is told then.
            with contextlib.suppress(OSError):
                make_folder(self.file.parent)
                begin(session, active, self.file.parent)

    def keep(self, test: str, case: Case, simulation: Simulation) -> str | None:
        """Append a simulation, flushed; returns why that failed, if it did.

        Args:
            test: The node id of its test.
            case: Its task and domain.
            simulation: It, with its messages and its verdict, if there is one.
        """
        if self.file is None:
            return None
        try:
            return self.add(_line(test, case, simulation))
        except ValueError as error:
            return f"a simulation cannot be kept in {self.file}: {str(error).splitlines()[0]}"

    def add(self, line: str) -> str | None:
        """Append a line, likewise."""
        if self.file is None:
            return None
        try:
            if not self._made:
                make_folder(self.file.parent)
                self._made = True
            with self.file.open("ab", buffering=0) as file:
                _append(file, line.encode())
        except OSError as error:
            return f"simulations cannot be kept in {self.file}: {error.strerror}"
        return None


def _append(file: Any, line: bytes) -> None:
    """Write a line in one piece, so that nothing of it waits here when the process is killed; all of it or nothing.

    Raises:
        OSError: There is no room for it.
    """
    start = file.seek(0, os.SEEK_END)
    try:
        # A disk that is about to be full takes a part, and raises only when it is asked for the rest.
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(start)  # what is appended to half a line is lost with it
        raise


class CarriedLog(RunLog):
    """Holds simulations until the controller, on another machine, is given them."""

    def __init__(self) -> None:
        super().__init__(None)
        self._lines: dict[str, str] = {}
        self._info: dict[str, Any] | None = None

    def _tell(self, session: pytest.Session, active: Active) -> None:
        self._info = describe(session, active)

    def keep(self, test: str, case: Case, simulation: Simulation) -> str | None:
        """Hold a simulation; returns why it cannot be kept, if so."""
        try:
            self._lines[test] = _line(test, case, simulation)
        except ValueError as error:
            return f"a simulation cannot be kept: {str(error).splitlines()[0]}"
        return None

    def luggage(self, test: str) -> dict[str, Any]:
        """The line of a test's simulation, and what this worker tells of the run; each once."""
        line, info, self._info = self._lines.pop(test, None), self._info, None
        return ({"line": line} if line is not None else {}) | ({"run": info} if info is not None else {})


def _line(test: str, case: Case, simulation: Simulation) -> str:
    """The simulation with all that it takes to grade it again: its test, its domain and its task.

    Raises:
        ValueError: It holds something that is no JSON value.
    """
    from ...runs.jsonl import TEST
    from ...runs.manifest import model_text, task_text

    told = f'{TEST}{json.dumps(test)}, "domain": {json.dumps(case.domain.name)}'
    return f'{told}, {model_text(simulation)[1:-1]}, "task": {task_text(case.domain, case.task)}}}\n'


def make_folder(folder: Path) -> None:
    """Make the folder of a run, and keep what is under ``.tau`` out of git.

    Raises:
        OSError: It cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if (home := folder.parent.parent).name == ".tau" and not (home / ".gitignore").exists():
        (home / ".gitignore").write_text("*\n", encoding="utf-8")


def mend(folder: Path) -> str | None:
    """Make a run that was broken off fit to go on: one file, without a last line that was cut off.

    Returns:
        Why that failed, if it did.
    """
    whole = folder / WHOLE
    try:
        if whole.is_file():
            with whole.open("rb+") as file:
                file.truncate(_end_of_lines(file, file.seek(0, os.SEEK_END)))
    except OSError as error:
        return f"{whole} cannot be written: {error.strerror}"
    return join(folder, {})


def _end_of_lines(file: Any, end: int, step: int = 1 << 16) -> int:
    """Where the last complete line of so much of a file ends."""
    while end > 0:
        start = max(0, end - step)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return int(start + found + 1)
        end = start
    return 0


def join(folder: Path, reported: Mapping[str, str]) -> str | None:
    """Make one file of those of the workers, each test's simulation once; returns why that failed, if it did.

    A worker that was killed may have left simulations that were held again elsewhere, and a run that went on has the
    file that it began with.

    Args:
        folder: The run's.
        reported: By node id, the worker that has reported the test: its simulation is the one that was told of.
    """
    parts = sorted(folder.glob(_PARTS))
    if not parts:
        return None
    chosen: dict[str, tuple[bool, int, int]] = {}
    whole, draft = folder / WHOLE, folder / "simulations.draft"
    files = [whole, *parts] if whole.is_file() else parts
    try:
        for test, rank, _ in _entries(files, reported):
            chosen[test] = max(rank, chosen.get(test, rank))
        with draft.open("wb") as file:
            for test, rank, entry in _entries(files, reported):
                if chosen[test] == rank:
                    file.write(entry)
        draft.replace(whole)
        for part in parts:
            part.unlink()
    except OSError as error:
        draft.unlink(missing_ok=True)
        return f"the simulations in {folder} cannot be put into one file: {error.strerror}"
    return None


def _entries(files: list[Path], reported: Mapping[str, str]) -> Iterator[tuple[str, tuple[bool, int, int], bytes]]:
    """Each line: its test, how good a claim it has to be the test's simulation, and the line."""
    for number, part in enumerate(files):
        worker = part.stem.partition("-")[2]
        for position, (test, _, line) in enumerate(lines_of(part)):
            yield test, (bool(worker) and reported.get(test) == worker, number, position), line


def lines_of(file: Path) -> Iterator[tuple[str, int, bytes]]:
    """Each complete line of a file: its test, where it begins, and the line; what was cut off is passed over.

    Raises:
        OSError: The file cannot be read.
    """
    from ...runs.jsonl import TEST

    decoder, start = json.JSONDecoder(), 0
    with file.open("rb") as lines:
        for line in lines:
            begins, start = start, start + len(line)
            if not line.endswith(b"\n") or not line.startswith(TEST.encode()):
                continue  # cut off with its process, or none of ours
            # No more of it than can be a node id: the rest may be a long conversation.
            with contextlib.suppress(ValueError):
                test, _ = decoder.raw_decode(line[:_LONGEST].decode("utf-8", "ignore"), len(TEST))
                yield str(test), begins, line
