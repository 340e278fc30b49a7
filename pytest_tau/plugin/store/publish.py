"""The results of a run in a store that is a URL: copies of what this process writes into the run's folder here.

Simulations are collected into pieces, each an object that is written again with every simulation that it gets, until it
is large. So there is at most one request for each trial, readers see whole lines only, and a killed process loses
at most what is on its way. What a store has refused is sent again, and is in the folder here.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from ...documents import parse_json
from ...plain import json
from ...runs.layout import MANIFEST, PLAN, worker_file
from ...runs.store import TimedStore
from ..seams import SummaryLine
from ..wire import give_output, output_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...runs.store import Store

#: Bytes after which a piece is closed.
PIECE = 256 << 10
#: Seconds after which what the store has refused is sent again.
_AGAIN = 1.0
#: Seconds in which the store must have taken the last piece at the end of the run, and which are left after Ctrl-C.
PATIENCE, HURRY = 60.0, 5.0


class Pieces:
    """Sends the lines of one file of simulations, from a thread of its own.

    Args:
        store: The store of the run.
        name: The name of the file, after the part of the run: ``PART/simulations.jsonl``.

    Attributes:
        problem: Why the store has not taken the last lines; None if it has.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._name = store, name.removesuffix(".jsonl")
        self.problem: str | None = None
        #: The lines that are to be sent, and None at the end; a line is done once the store has it.
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._piece, self._number, self._unsent = b"", 1, 0
        self._thread = threading.Thread(target=self._send_all, name="tau-store", daemon=True)
        self._thread.start()

    def add(self, line: str) -> None:
        """Have a line sent."""
        self._lines.put(line.encode())

    def close(self, patience: float = PATIENCE) -> str | None:
        """Wait until the store has all lines, so many seconds at most; return why it has not."""
        self._lines.put(None)
        self._thread.join(patience)
        if self._thread.is_alive():
            return self.problem or f"not all simulations are in the store: {self._store.shown}: no answer"
        return self.problem

    @property
    def is_settled(self) -> bool:
        """Return whether the store has all lines so far."""
        return not self._lines.unfinished_tasks

    def _send_all(self) -> None:
        lines: list[bytes | None] = []
        while None not in lines:
            lines = []
            with contextlib.suppress(queue.Empty):
                lines.append(self._lines.get(timeout=None if self.problem is None else _AGAIN))
                while True:
                    lines.append(self._lines.get_nowait())
            self._send([line for line in lines if line is not None])

    def _send(self, lines: list[bytes]) -> None:
        self._piece += b"".join(lines)
        self._unsent += len(lines)
        if not self._unsent:
            return
        try:
            self._store.write(f"{self._name}-{self._number:04d}.jsonl", self._piece)
        except OSError as error:
            self.problem = f"not all simulations are in the store: {error}"
            return
        self.problem = None
        for _ in range(self._unsent):
            self._lines.task_done()
        self._unsent = 0
        if len(self._piece) >= PIECE:
            self._piece, self._number = b"", self._number + 1


class Publisher:
    """Sends the plan, the manifest and the simulations of this process; a plugin that waits for the store at the end.

    Args:
        store: The store of the run.
        part: The name of this machine's part of the run.
        folder: The run's folder here.

    Attributes:
        problems: Why something is not in the store; the values have no meaning.
    """

    def __init__(self, store: Store, part: str, folder: Path) -> None:
        self.store, self.part, self._folder = store, part, folder
        self._pieces: dict[str, Pieces] = {}
        self.problems: dict[str, None] = {}
        self._end: float | None = None
        self._timed = TimedStore(store, lambda: self.patience)

    def send_plan(self, plan: str, *, extend: bool = False) -> None:
        """Store which trials the whole run has, unless another machine has done so.

        Args:
            plan: The content of ``plan.json``.
            extend: Whether trials are added to those of a plan that is there.
        """
        try:
            if self._timed.create(PLAN, plan.encode("utf-8", "backslashreplace")):
                return
            ((_, there),) = self._timed.read([PLAN])
            known, mine = parse_json(there), parse_json(plan)["trials"]
            others = mine.keys() - known["trials"].keys()
            if others and extend:
                known["trials"] |= mine
                self._timed.write(PLAN, json.dumps(known, ensure_ascii=False).encode("utf-8", "backslashreplace"))
            elif others:
                self.add_problem(
                    f"{self.store.shown}: its plan has no trial {min(others)}: use the settings of the plan"
                )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self.add_problem(f"the plan is not in the store: {error}")

    def send_manifest(self, folder: Path) -> None:
        """Store the manifest as it is in the run's folder."""
        try:
            self._timed.write(f"{self.part}/{MANIFEST}", (folder / MANIFEST).read_bytes())
        except OSError as error:
            self.add_problem(f"{MANIFEST} is not in the store: {error}")

    def send_line(self, worker: str, line: str) -> None:
        """Have a simulation sent."""
        if worker not in self._pieces:
            self._pieces[worker] = Pieces(self.store, f"{self.part}/{worker_file(worker)}")
        self._pieces[worker].add(line)

    def add_problem(self, problem: str | None) -> None:
        """Note why something is not in the store."""
        if problem is not None:
            self.problems[problem] = None

    @property
    def is_settled(self) -> bool:
        """Return whether the store has all simulations so far."""
        return all(pieces.is_settled for pieces in self._pieces.values())

    @property
    def patience(self) -> float:
        """Return the seconds in which the store must answer."""
        return PATIENCE if self._end is None else max(0.0, self._end - time.monotonic())

    def hurry(self) -> None:
        """Let the rest of the run wait little for the store."""
        self._end = self._end or time.monotonic() + HURRY

    def wait(self) -> None:
        """Wait until the store has all simulations, for a while."""
        end = time.monotonic() + self.patience
        while not self.is_settled and time.monotonic() < end:
            time.sleep(0.01)

    def close(self) -> None:
        """Wait until the store has all simulations."""
        for pieces in self._pieces.values():
            self.add_problem(pieces.close(self.patience))
        self._pieces = {}

    def pytest_keyboard_interrupt(self) -> None:
        """Let Ctrl-C end the run soon."""
        self.hurry()

    def pytest_report_header(self) -> str:
        """Show where the run is stored."""
        return f"tau: store: {self.store.shown}"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Wait for the store; a worker leaves the report to its controller."""
        self.close()
        give_output(session.config, store_problems=list(self.problems))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the problems of a worker."""
        for problem in output_of(node).get("store_problems", []):
            self.add_problem(problem)

    def pytest_tau_summary_lines(self) -> Iterator[SummaryLine]:
        """Return what the store has not taken, and where it is."""
        for text in [*self.problems, *([self.remedy] if self.problems else [])]:
            yield SummaryLine(f"tau: {text}", {"red": True})

    @property
    def remedy(self) -> str:
        """Return where everything is, and how it is joined with what other machines have stored."""
        command = f"tau merge {self.store.shown} {self._folder} --last -o DIR"
        return f"all of them are in {self._folder}; to join them with what is in the store: {command}"

    def pytest_tau_exit_verdict(self) -> str | None:
        """Let the run fail if its results could not be stored."""
        return "results not stored" if self.problems else None

    def pytest_unconfigure(self) -> None:
        """Send what an interrupted session has left."""
        with contextlib.suppress(OSError):
            self.close()
