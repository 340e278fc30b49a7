"""Finished simulations of a run, on the disk as soon as they have ended: a JSON line each, for ``tau regrade``.

Each xdist worker writes a file of its own; the controller makes one file of them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .workers import results_folder, told_by_controller, worker_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pytest

    from ..models import Simulation
    from .active import Case

#: How a line begins: the node id follows, and then the simulation.
_TEST = '{"test": '


class RunLog:
    """Appends simulations to a file of this process.

    Args:
        folder: The run's own folder, made at the first simulation; None to keep nothing.
        worker: The xdist worker; empty where there is one process.
    """

    def __init__(self, folder: Path | None, worker: str = "") -> None:
        self.file = folder / f"simulations{'-' if worker else ''}{worker}.jsonl" if folder else None

    @classmethod
    def of(cls, config: pytest.Config) -> RunLog:
        """The log of this process."""
        if told_by_controller(config).get("remote"):
            return CarriedLog()
        return cls(results_folder(config), worker_name(config))

    def keep(self, test: str, case: Case, simulation: Simulation) -> str | None:
        """Append a simulation, flushed; returns why that failed, if it did.

        Args:
            test: The node id of its test.
            case: Its task and domain.
            simulation: It, with its messages and its verdict, if there is one.
        """
        if self.file is None:
            return None
        return self.add(_line(test, case, simulation))

    def add(self, line: str) -> str | None:
        """Append a line, likewise."""
        if self.file is None:
            return None
        try:
            if not self.file.exists():
                _make_folder(self.file.parent)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            return f"simulations cannot be kept in {self.file}: {error.strerror}"
        return None


class CarriedLog(RunLog):
    """Holds simulations until the controller, on another machine, is given them."""

    def __init__(self) -> None:
        super().__init__(None)
        self._lines: dict[str, str] = {}

    def keep(self, test: str, case: Case, simulation: Simulation) -> str | None:
        """Hold a simulation; never fails."""
        self._lines[test] = _line(test, case, simulation)
        return None

    def taken(self, test: str) -> str | None:
        """The line of a test's simulation, once."""
        return self._lines.pop(test, None)


def _line(test: str, case: Case, simulation: Simulation) -> str:
    """The simulation with all that it takes to grade it again: its test, its domain and its task."""
    task = case.task.model_dump(mode="json", exclude_none=True)
    entry = {"test": test, "domain": case.domain.name, **simulation.model_dump(mode="json"), "task": task}
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _make_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if (home := folder.parent.parent).name == ".tau":
        (home / ".gitignore").write_text("*\n", encoding="utf-8")


def join(folder: Path, reported: Mapping[str, str]) -> str | None:
    """Make one file of those of the workers, each test's simulation once; returns why that failed, if it did.

    A worker that was killed may have left simulations that were held again elsewhere.

    Args:
        folder: The run's.
        reported: By node id, the worker that has reported the test: its simulation is the one that was told of.
    """
    parts = sorted(folder.glob("simulations-*.jsonl"))
    if not parts:
        return None
    chosen: dict[str, tuple[bool, int, int]] = {}
    whole, draft = folder / "simulations.jsonl", folder / "simulations.draft"
    try:
        for test, rank, _ in _entries(parts, reported):
            chosen[test] = max(rank, chosen.get(test, rank))
        with draft.open("w", encoding="utf-8") as file:
            for test, rank, entry in _entries(parts, reported):
                if chosen[test] == rank:
                    file.write(entry)
        draft.replace(whole)
        for part in parts:
            part.unlink()
    except OSError as error:
        return f"the simulations in {folder} cannot be put into one file: {error.strerror}"
    return None


def _entries(parts: list[Path], reported: Mapping[str, str]) -> Iterator[tuple[str, tuple[bool, int, int], str]]:
    """Each line: its test, how good a claim it has to be the test's simulation, and the line."""
    decoder = json.JSONDecoder()
    for number, part in enumerate(parts):
        worker = part.stem.partition("-")[2]
        with part.open(encoding="utf-8") as file:
            for position, line in enumerate(file):
                if not line.endswith("\n"):
                    continue  # cut off with its worker
                test, _ = decoder.raw_decode(line, len(_TEST))
                yield test, (reported.get(test) == worker, number, position), line
