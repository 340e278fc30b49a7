"""The runs of a matrix: each is a process of pytest with a folder of its own, below the folder of the matrix.

A cell is a process of its own because runs of one process would share plugins, models and event loops, and because a
run that ends badly then costs no other. What was finished is recorded in a file, so that a matrix can be continued.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, read_json
from ...errors import ConfigurationError, TauError
from ...files import atomic_write, digest
from ...runs.layout import MANIFEST, ignore_in_git
from ...runs.manifest import read_manifest
from ...runs.reader import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runs.record import TrialRecord
    from .matrix_file import Cell, Matrix

#: Where matrices lie, below the current folder.
HOME = Path(".tau", "matrix")
_STATE, _RUNS, _LOGS = "matrix.json", "runs", "logs"
_FORMAT = 1
#: Exit statuses of pytest after which a run is complete: all passed, or some failed.
_COMPLETE = (0, 1)
#: Processes that check cells at the same time, and lines of their output that are shown.
_CHECKS, _SHOWN = 4, 12


class Outcome(NamedTuple):
    """The result of a cell.

    Attributes:
        cell: The cell.
        status: ``done``, ``incomplete``, ``failed``, or ``not run``.
        exit: The exit status of pytest; None if it was not run.
        why: What is missing; empty for ``done``.
    """

    cell: Cell
    status: str
    exit: int | None
    why: str = ""


class CellRuns:
    """The runs of a matrix in its folder.

    Args:
        matrix: The matrix.
        extra: Further arguments of pytest.
        verbose: Show the output of pytest instead of writing it to a file.
    """

    def __init__(self, matrix: Matrix, extra: Sequence[str] = (), *, verbose: bool = False) -> None:
        self.matrix, self.folder = matrix, HOME / matrix.name
        self._extra, self._verbose = list(extra), verbose
        self._state = self._read_state()

    def path(self, cell: Cell) -> Path:
        """Return the folder of a cell's run."""
        return self.folder / _RUNS / cell.folder

    def log(self, cell: Cell) -> Path:
        """Return the file of what pytest has printed for a cell."""
        return self.folder / _LOGS / f"{cell.folder}.txt"

    def is_done(self, cell: Cell) -> bool:
        """Return whether a cell was completed with the same options."""
        known = self._state.get(cell.folder, {})
        return known.get("status") == "done" and known.get("options") == self._digest(cell) and self._has_run(cell)

    def recorded(self, cell: Cell) -> Outcome:
        """Return the result of a cell, as it was recorded."""
        known = self._state.get(cell.folder, {})
        return Outcome(cell, known.get("status", "not run"), known.get("exit"), known.get("why", ""))

    def check(self, cells: Sequence[Cell]) -> dict[Cell, str]:
        """Return the errors of cells that cannot be run, by a dry run of each; nothing is run."""
        with ThreadPoolExecutor(max(1, min(_CHECKS, os.cpu_count() or 1))) as pool:
            found = list(pool.map(self._check, cells))
        return {cell: problem for cell, problem in zip(cells, found, strict=True) if problem}

    def run(self, cell: Cell) -> Outcome:
        """Run what is missing of a cell, and record the result.

        Raises:
            KeyboardInterrupt: The run was interrupted; what has finished is stored.
            OSError: A file cannot be written.
        """
        arguments, left = self._arguments(cell, self.matrix.speed), self.budget_left()
        if left is not None and left <= 0 and (cell.model or cell.user_model or cell.agent is None):
            return self._record(Outcome(cell, "not run", None, "the budget is spent"))
        if left is not None:
            arguments.append(f"--tau-budget={max(left, 0)}")
        self.folder.mkdir(parents=True, exist_ok=True)
        ignore_in_git(self.folder.parent.parent)
        self.log(cell).parent.mkdir(exist_ok=True)
        # Until it has ended it is not done, whatever happens.
        self._record(Outcome(cell, "incomplete", None, "interrupted"))
        status = self._call(cell, arguments)
        return self._record(self._outcome(cell, status))

    def records(self, cell: Cell) -> list[TrialRecord]:
        """Return the trials of a cell; none if it has no run."""
        try:
            return Run(self.path(cell)).records() if self._has_run(cell) else []
        except TauError:
            return []

    def info(self, cell: Cell) -> dict[str, Any]:
        """Return the manifest of a cell's run; empty if it has none."""
        return read_manifest(self.path(cell)) if self._has_run(cell) else {}

    def spent(self) -> float:
        """Return the USD of all model calls of the cells, as far as their prices are known."""
        return sum(record.known_cost for cell in self.matrix.cells for record in self.records(cell))

    def budget_left(self) -> float | None:
        """Return the USD that are left; None without a budget."""
        return None if self.matrix.budget is None else self.matrix.budget - self.spent()

    def _has_run(self, cell: Cell) -> bool:
        return (self.path(cell) / MANIFEST).is_file()

    def _outcome(self, cell: Cell, status: int) -> Outcome:
        if status == int(signal.SIGINT) + 128 or status == 2:
            return Outcome(cell, "incomplete", status, "interrupted")
        if status not in _COMPLETE:
            return Outcome(cell, "failed", status, f"pytest ended with status {status}: {self.log(cell)}")
        info, records = self.info(cell), self.records(cell)
        planned = sum(sum(tasks.values()) for tasks in info.get("planned", {}).values())
        if info.get("finished") is None or len(records) < planned:
            missing = f"{len(records)} of {planned} trials were run"
            spent = ": the budget is spent" if (left := self.budget_left()) is not None and left <= 0 else ""
            return Outcome(cell, "incomplete", status, missing + spent)
        return Outcome(cell, "done", status)

    def _options(self, cell: Cell) -> list[str]:
        return [*cell.options(), *self.matrix.options, *self._extra]

    def _digest(self, cell: Cell) -> str:
        # Options may have keys of providers, which no file may have.
        return digest("\0".join(self._options(cell)))

    def _arguments(self, cell: Cell, speed: Sequence[str] = ()) -> list[str]:
        runs = self.folder / _RUNS
        stored = [f"--tau-results={runs}"]
        stored += [f"--tau-resume={self.path(cell)}"] if self._has_run(cell) else [f"--tau-run-name={cell.folder}"]
        return [sys.executable, "-m", "pytest", *self._options(cell), *speed, *stored]

    def _check(self, cell: Cell) -> str:
        command = [*self._arguments(cell), "--tau-dry-run", "-q", "-p", "no:cacheprovider"]
        ran = subprocess.run(  # noqa: S603 - a list of arguments, without a shell
            command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL
        )
        if ran.returncode == 0:
            return ""
        lines = [line for line in f"{ran.stderr}\n{ran.stdout}".splitlines() if line.strip()]
        return "\n".join(lines[:_SHOWN]) or f"pytest ended with status {ran.returncode}"

    def _call(self, cell: Cell, command: list[str]) -> int:
        with contextlib.ExitStack() as stack:
            output = None if self._verbose else stack.enter_context(self.log(cell).open("wb"))
            # In a session of its own, so that Ctrl-C reaches pytest once: from here.
            process = subprocess.Popen(  # noqa: S603 - a list of arguments, without a shell
                command,
                stdout=output,
                stderr=subprocess.STDOUT if output else None,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            try:
                return process.wait()
            except KeyboardInterrupt:
                with contextlib.suppress(OSError, ValueError):
                    process.send_signal(signal.SIGINT)
                try:
                    process.wait()
                except KeyboardInterrupt:
                    process.terminate()
                    process.wait()
                raise

    def _record(self, outcome: Outcome) -> Outcome:
        found = {
            "status": outcome.status,
            "exit": outcome.exit,
            "why": outcome.why,
            "options": self._digest(outcome.cell),
        }
        self._state[outcome.cell.folder] = found
        self.folder.mkdir(parents=True, exist_ok=True)
        document = {"format": _FORMAT, "file": str(self.matrix.file), "cells": self._state}
        atomic_write(self.folder / _STATE, json.dumps(document, indent=1) + "\n")
        return outcome

    def _read_state(self) -> dict[str, dict[str, Any]]:
        file = self.folder / _STATE
        try:
            document = read_json(file)
        except FileNotFoundError:
            return {}
        except (OSError, DocumentError) as error:
            raise ConfigurationError(f"{file}: cannot be read: {error}") from None
        cells = document.get("cells") if isinstance(document, dict) else None
        if not isinstance(cells, dict) or document.get("format") != _FORMAT:
            raise ConfigurationError(
                f"{file}: expected format {_FORMAT} with cells; remove the file to check every cell"
            )
        return {name: each for name, each in cells.items() if isinstance(each, dict)}
