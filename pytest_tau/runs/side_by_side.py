"""The records of several runs, read at the same time by a process for each where they are large."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigurationError
from .layout import simulation_files
from .reader import Run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from .record import TrialRecord

#: The bytes of simulations from which on reading them takes longer than starting a process.
LARGE = 64 << 20


class _Found(NamedTuple):
    """The records of a run, and what reading it has set in its other attributes."""

    records: list[TrialRecord]
    info: dict[str, Any]
    kind: str
    problems: list[str]


def read_records(runs: Sequence[Run]) -> list[list[TrialRecord]]:
    """Return the records of each run, as ``Run.records`` does.

    Raises:
        ConfigurationError: A line is not a record, or a process was killed.
        OSError: A file cannot be opened.
    """
    large = [run for run in runs if _size(run.path) >= LARGE]
    # This process reads the first one.
    others = large[1:] if (os.cpu_count() or 1) > 1 else []
    if not others:
        return [run.records() for run in runs]
    # Ctrl-C is for this process.
    ignoring = (signal.SIGINT, signal.SIG_IGN)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(len(others), (os.cpu_count() or 1) - 1), context, signal.signal, ignoring) as pool:
        started = {id(run): pool.submit(_found, run.path) for run in others}
        return [_taken(run, started[id(run)]) if id(run) in started else run.records() for run in runs]


def _taken(run: Run, future: Future[_Found]) -> list[TrialRecord]:
    try:
        content = future.result()
    except BrokenProcessPool as error:
        raise ConfigurationError(f"{run.path}: the process that has read it was ended: {error}") from error
    records, run.info, run.kind, run.problems = content
    return records


def _found(path: Path) -> _Found:
    """Return what is found in a run, in a process of the pool."""
    run = Run(path)
    return _Found(run.records(), run.info, run.kind, run.problems)


def _size(path: Path) -> int:
    """Return the bytes of what the records of a run are made of."""
    return sum(file.stat().st_size for file in ([path] if path.is_file() else simulation_files(path)))
