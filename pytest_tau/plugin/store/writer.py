"""The writer of simulations: each is stored as a JSON line as soon as it has finished.

Each xdist worker writes a file of its own; the controller makes one file of them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...runs.layout import SIMULATIONS, worker_file
from .manifest import build_manifest, store_plan, write_manifest
from .paths import make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

    from ...models import Simulation
    from ...runner import RunConfig
    from ..items import TaskSpec
    from .paths import RunPaths
    from .run_counts import RunCounts


class SimulationFile:
    """A file of simulations in a run's folder, which is made with the first line.

    Args:
        folder: The run's folder.
        worker: The xdist worker that writes the file; empty in a single process.
    """

    def __init__(self, folder: Path, worker: str = "") -> None:
        self.path = folder / worker_file(worker)
        self._made = False
        self._fallback: Path | None = None

    def append(self, line: str) -> str | None:
        """Append a line, flushed; return why that failed, if it did, and where the line is instead."""
        try:
            if not self._made:
                make_folder(self.path.parent)
                self._made = True
            with self.path.open("ab", buffering=0) as file:
                _append(file, line.encode())
        except OSError as error:
            return f"simulations cannot be stored in {self.path}: {error.strerror}; {self._append_elsewhere(line)}"
        return None

    def _append_elsewhere(self, line: str) -> str:
        """Append a line to a file in the folder for temporary files; return a text that says where it is.

        What a simulation has cost is lost only if this fails too.
        """
        try:
            if self._fallback is None:
                self._fallback = Path(tempfile.mkdtemp(prefix="tau-simulations-")) / self.path.name
            with self._fallback.open("ab", buffering=0) as file:
                _append(file, line.encode())
        except OSError as error:
            where = self._fallback or tempfile.gettempdir()
            return f"nor in {where}: {error.strerror}; the conversations are lost, the verdicts are shown above"
        return f"they are in {self._fallback}, which tau merge can join with other files"


class ResultWriter:
    """Stores the simulations of this process in the run's folder.

    Args:
        paths: The folders of the run.
        counts: The numbers of planned trials.
        worker: The xdist worker's name; empty in a single process.
    """

    def __init__(self, paths: RunPaths, counts: RunCounts, worker: str = "") -> None:
        self._paths, self._counts, self._worker = paths, counts, worker
        self._file = SimulationFile(paths.results, worker) if paths.results else None
        self._started = False

    @property
    def file(self) -> Path | None:
        """Return the file of this process; None if it stores nothing itself."""
        return self._file.path if self._file else None

    def start(self, session: pytest.Session, run: RunConfig) -> None:
        """Write the manifest, before the first simulation of this process."""
        if not self._started:
            self._write_manifest(session, run)
            self._started = True

    def _write_manifest(self, session: pytest.Session, run: RunConfig) -> None:
        if self._file is not None:
            folder = self._file.path.parent
            # If this fails, writing the simulation fails too, and reports it.
            with contextlib.suppress(OSError):
                make_folder(folder)
                self._paths.use()
                manifest = build_manifest(session, run, self._paths, self._counts)
                write_manifest(folder, manifest, resumes=self._paths.resumes)
                store_plan(self._paths, manifest, self._counts)

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
            line = _line(test, spec, simulation)
            if self._paths.publisher is not None:
                self._paths.publisher.send_line(self._worker, line)
            return self._file.append(line)
        except ValueError as error:
            return f"a simulation cannot be stored in {self._file.path}: {str(error).splitlines()[0]}"


class BufferedResultWriter(ResultWriter):
    """Buffers simulations for the controller on another machine."""

    def __init__(self, paths: RunPaths, counts: RunCounts) -> None:
        super().__init__(paths, counts)
        self._lines: dict[str, str] = {}
        self._manifest: dict[str, Any] | None = None

    def _write_manifest(self, session: pytest.Session, run: RunConfig) -> None:
        self._manifest = build_manifest(session, run, self._paths, self._counts)

    def write(self, test: str, spec: TaskSpec, simulation: Simulation) -> str | None:
        """Buffer a simulation; return why it cannot be stored, if so."""
        try:
            self._lines[test] = _line(test, spec, simulation)
        except ValueError as error:
            return f"a simulation cannot be stored: {str(error).splitlines()[0]}"
        return None

    def attachments(self, test: str) -> dict[str, Any]:
        """Return the line of a test's simulation, and the run's manifest and all of its trials; each once."""
        line, manifest, self._manifest = self._lines.pop(test, None), self._manifest, None
        found: dict[str, Any] = {"line": line} if line is not None else {}
        if manifest is not None:
            found |= {"run": manifest, "whole": {each: tuple(group) for each, group in self._counts.whole.items()}}
        return found


def _append(file: Any, line: bytes) -> None:
    """Write a line without a buffer, all of it or nothing, so that a killed process leaves no part of it.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    start = file.seek(0, os.SEEK_END)
    try:
        # An almost full disk accepts a part, and fails only for the rest.
        while line:
            line = line[file.write(line) :]
    except OSError:
        file.truncate(start)  # else the next line would be appended to a part of this one
        raise


def _line(test: str, spec: TaskSpec, simulation: Simulation) -> str:
    from ...runs.jsonl import simulation_line

    return simulation_line(test, spec.domain, spec.task, simulation)


def repair_tail(folder: Path) -> str | None:
    """Prepare an interrupted run for its continuation: one file, without an incomplete last line.

    Returns:
        Why that failed, if it did.
    """
    from ...runs import jsonl

    whole = folder / SIMULATIONS
    try:
        if whole.is_file():
            jsonl.repair_tail(whole)
    except OSError as error:
        return f"{whole} cannot be written: {error.strerror}"
    return merge_worker_files(folder, {})


def merge_worker_files(folder: Path, reported: Mapping[str, str]) -> str | None:
    """Join the files of the workers into one; return why that failed, if it did.

    Args:
        folder: The run's.
        reported: By node id, the worker whose report of the test counted.
    """
    from ...runs import jsonl

    try:
        jsonl.merge_worker_files(folder, reported)
    except OSError as error:
        return f"the simulations in {folder} cannot be joined into one file: {error.strerror}"
    return None
