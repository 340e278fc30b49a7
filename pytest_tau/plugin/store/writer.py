"""The writer of simulations: each is stored as a JSON line as soon as it has finished.

Each xdist worker writes a file of its own; the controller makes one file of them.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from ...runs.layout import SIMULATIONS, worker_file
from .manifest import build_manifest, store_plan, write_manifest
from .paths import make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

    from ...models import Simulation
    from ...runner import RunConfig
    from ..items import TaskSpec
    from ..wire import Attachments
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
        self._spare: Path | None = None
        #: Lines that there was no room for anywhere.
        self._left: list[bytes] = []
        #: Trials end in several threads, and a signal may end one while another one is stored.
        self._lock = threading.RLock()

    def append(self, line: str) -> str | None:
        """Append a line, flushed; return why that failed, if it did, and where the line is instead."""
        with self._lock:
            self._left.append(line.encode())
            try:
                self._store_in(self.path.parent)
            except OSError as error:
                return f"simulations cannot be stored in {self.path}: {error.strerror}; {self._append_elsewhere()}"
        return None

    def close(self) -> None:
        """Store the lines that there was no room for, if there is some now."""
        if self._left:
            with contextlib.suppress(OSError):
                self._store_in(self.path.parent)
            self._append_elsewhere()

    def keep_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Store the manifest in the folder for temporary files, so that the run can be resumed."""
        from ...runs.manifest import write_manifest as write_file

        with contextlib.suppress(OSError):
            write_file(self._made_spare(), manifest)

    def _store_in(self, folder: Path) -> None:
        if folder == self.path.parent and not self._made:
            make_folder(folder)
            self._made = True
        from ...runs.jsonl import append_lines  # imports the models, which the controller of workers does without

        lines, self._left = self._left, []
        try:
            append_lines(folder / self.path.name, b"".join(lines))
        except OSError:
            self._left = lines + self._left
            raise

    def _made_spare(self) -> Path:
        if self._spare is None:
            from .spare import make_spare

            self._spare = make_spare(self.path.parent)
        return self._spare

    def _append_elsewhere(self) -> str:
        """Append what is left to a file in the folder for temporary files; return a text that says where it is.

        What a simulation has cost is lost only if there is no room there, nor anywhere until the run ends.
        """
        try:
            self._store_in(self._made_spare())
        except OSError as error:
            where = self._spare or "a folder for temporary files"
            lost = "the conversations are lost unless there is room before the run ends, the verdicts are shown above"
            return f"nor in {where}: {error.strerror}; {lost}"
        file = self._made_spare() / self.path.name
        return f"they are in {file}, which tau merge can join with other files, and which --tau-resume takes from there"


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
            manifest = build_manifest(session, run, self._paths, self._counts)
            # If this fails, writing the simulation fails too, and reports it.
            try:
                self._paths.use()
                write_manifest(self._file.path.parent, manifest, resumes=self._paths.resumes)
            except OSError:
                self._file.keep_manifest(manifest)
            with contextlib.suppress(OSError):
                store_plan(self._paths, manifest, self._counts)

    def close(self) -> None:
        """Store what could not be stored before, if that is possible now."""
        if self._file is not None:
            self._file.close()

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

    def attachments(self, test: str) -> Attachments:
        """Return the line of a test's simulation, and the run's manifest and all of its trials; each once."""
        line, manifest, self._manifest = self._lines.pop(test, None), self._manifest, None
        attached: Attachments = {"line": line} if line is not None else {}
        if manifest is not None:
            attached["run"] = manifest
            attached["whole"] = {node_id: tuple(group) for node_id, group in self._counts.whole.items()}
        return attached


def _line(test: str, spec: TaskSpec, simulation: Simulation) -> str:
    from ...runs.jsonl import simulation_line

    return simulation_line(test, spec.domain, spec.task, simulation)


def repair_tail(folder: Path) -> str | None:
    """Prepare an interrupted run for its continuation: one file, without an incomplete last line.

    Returns:
        Why that failed, if it did.
    """
    from ...runs import jsonl

    file = folder / SIMULATIONS
    try:
        if file.is_file():
            jsonl.repair_tail(file)
    except OSError as error:
        return f"{file} cannot be written: {error.strerror}"
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
