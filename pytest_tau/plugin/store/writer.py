"""Finished simulations of a run, on the disk as soon as they end: a JSON line each, for ``tau regrade``.

Each xdist worker writes a file of its own; the controller makes one file of them.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from .manifest import build_manifest, write_manifest
from .paths import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

    from ...models import Simulation
    from ...runner import RunConfig
    from ..items import TaskSpec
    from .paths import RunPaths
    from .run_counts import RunCounts

#: The file of a run that no worker writes.
WHOLE = "simulations.jsonl"
_PARTS = "simulations-*.jsonl"
_LONGEST = 1 << 16


class SimulationFile:
    """A file of simulations in a run's folder, which is made with the first line.

    Args:
        folder: The run's.
        worker: The xdist worker that writes the file; empty in a single process.
    """

    def __init__(self, folder: Path, worker: str = "") -> None:
        self.path = folder / f"simulations{'-' if worker else ''}{worker}.jsonl"
        self._made = False

    def append(self, line: str) -> str | None:
        """Append a line, flushed; return why that failed, if it did."""
        try:
            if not self._made:
                make_folder(self.path.parent)
                self._made = True
            with self.path.open("ab", buffering=0) as file:
                _append(file, line.encode())
        except OSError as error:
            return f"simulations cannot be kept in {self.path}: {error.strerror}"
        return None


class ResultWriter:
    """Stores the simulations of this process in the run's folder.

    Args:
        paths: The folders of the run.
        counts: How many trials are planned.
        worker: The xdist worker's name; empty in a single process.
    """

    def __init__(self, paths: RunPaths, counts: RunCounts, worker: str = "") -> None:
        self._paths, self._counts = paths, counts
        self._file = SimulationFile(paths.results, worker) if paths.results else None
        self._started = False

    @property
    def file(self) -> Path | None:
        """Return the file of this process; None if it stores nothing itself."""
        return self._file.path if self._file else None

    def start(self, session: pytest.Session, run: RunConfig) -> None:
        """Describe the run in its folder, before the first simulation of this process."""
        if not self._started:
            self._started = True
            self._describe(session, run)

    def _describe(self, session: pytest.Session, run: RunConfig) -> None:
        if self._file is not None:
            folder = self._file.path.parent
            # What cannot be written here cannot be written later either, and is reported then.
            with contextlib.suppress(OSError):
                make_folder(folder)
                manifest = build_manifest(session, run, self._paths, self._counts)
                write_manifest(folder, manifest, resumes=self._paths.resumes)

    def write(self, test: str, spec: TaskSpec, simulation: Simulation) -> str | None:
        """Store a simulation; return why that failed, if it did.

        Args:
            test: The node id of its test.
            spec: Its task and domain.
            simulation: The simulation with its messages and its verdict, if there is one.
        """
        if self._file is None:
            return None
        try:
            return self._file.append(_line(test, spec, simulation))
        except ValueError as error:
            return f"a simulation cannot be kept in {self._file.path}: {str(error).splitlines()[0]}"


class BufferedResultWriter(ResultWriter):
    """Buffers simulations for the controller on another machine."""

    def __init__(self, paths: RunPaths, counts: RunCounts) -> None:
        super().__init__(paths, counts)
        self._lines: dict[str, str] = {}
        self._manifest: dict[str, Any] | None = None

    def _describe(self, session: pytest.Session, run: RunConfig) -> None:
        self._manifest = build_manifest(session, run, self._paths, self._counts)

    def write(self, test: str, spec: TaskSpec, simulation: Simulation) -> str | None:
        """Buffer a simulation; return why it cannot be stored, if so."""
        try:
            self._lines[test] = _line(test, spec, simulation)
        except ValueError as error:
            return f"a simulation cannot be kept: {str(error).splitlines()[0]}"
        return None

    def attachments(self, test: str) -> dict[str, Any]:
        """Return the line of a test's simulation, and the run's manifest; each once."""
        line, manifest, self._manifest = self._lines.pop(test, None), self._manifest, None
        return ({"line": line} if line is not None else {}) | ({"run": manifest} if manifest is not None else {})


def _append(file: Any, line: bytes) -> None:
    """Write a line in one piece, all of it or nothing, so that a killed process leaves no half of it in a buffer.

    Raises:
        OSError: There is no room for it.
    """
    start = file.seek(0, os.SEEK_END)
    try:
        # A disk that is almost full takes a part, and raises only for the rest.
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(start)  # what is appended to half a line is lost with it
        raise


def _line(test: str, spec: TaskSpec, simulation: Simulation) -> str:
    """Return the simulation as a line with all that grading it again takes: its test, its domain and its task.

    Raises:
        ValueError: It holds something that is no JSON value.
    """
    from ...runs.jsonl import TEST
    from ...runs.manifest import model_text, task_text

    head = f'{TEST}{json.dumps(test)}, "domain": {json.dumps(spec.domain.name)}'
    return f'{head}, {model_text(simulation)[1:-1]}, "task": {task_text(spec.domain, spec.task)}}}\n'


def repair_tail(folder: Path) -> str | None:
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
    return merge_worker_files(folder, {})


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


def merge_worker_files(folder: Path, reported: Mapping[str, str]) -> str | None:
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
