"""Taking times: of calls, and of whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

#: Where ``python -m benchmarks…`` can be run.
REPOSITORY = Path(__file__).resolve().parent.parent
_LAUNCH = Path(__file__).resolve().with_name("launch.py")


class Timing(NamedTuple):
    """The time that something took, in seconds."""

    wall: float
    cpu: float


class Ended(NamedTuple):
    """A process that has ended: seconds by the wall clock and of the processor, and the peak of its memory in MB."""

    wall: float
    cpu: float
    peak: float


def timing(work: Callable[[], Any]) -> Timing:
    """Measure how long one call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Timing(time.perf_counter() - wall, time.process_time() - cpu)


def timings(work: Callable[[], Any], runs: int, calls: int = 1) -> list[Timing]:
    """Measure how long a call takes, several times, each the mean of a number of calls in a row."""

    def several() -> None:
        for _ in range(calls):
            work()

    found = [timing(several) for _ in range(runs)]
    return [Timing(one.wall / calls, one.cpu / calls) for one in found]


def in_unit(found: list[Timing], per_second: float) -> tuple[list[float], list[float]]:
    """Convert timings to a unit of which a second has ``per_second``."""
    return [one.wall * per_second for one in found], [one.cpu * per_second for one in found]


def alternating(works: list[Callable[[], T]], rounds: int) -> list[list[T]]:
    """Return the results of the calls, made in turn and every other round backwards, so that drift affects all alike.

    The first call of each, which may compile or cache something, is not counted, unless there is one round only.
    """
    found: list[list[T]] = [[] for _ in works]
    for work in works if rounds > 1 else ():
        work()
    for number in range(rounds):
        order = list(range(len(works)))
        for position in reversed(order) if number % 2 else order:
            found[position].append(works[position]())
    return found


def process(*arguments: str, folder: Path, good: tuple[int, ...] = (0,)) -> Ended:
    """Run Python to its end.

    Args:
        arguments: Of the interpreter.
        folder: Where.
        good: Exit statuses that mean success.

    Raises:
        RuntimeError: It failed; with the end of what it said.
    """
    with tempfile.TemporaryDirectory() as own:
        said = Path(own, "said")
        launch = [sys.executable, "-I", "-S", str(_LAUNCH), str(said), sys.executable, *arguments]
        measured = json.loads(
            subprocess.run(launch, cwd=folder, env=_environment(), stdout=subprocess.PIPE, check=True).stdout
        )
        status = measured.pop("status")
        if status not in good:
            end = said.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(arguments)} ended with status {status}:\n{end}")
    return Ended(**measured)


def _environment() -> dict[str, str]:
    """Return the environment of a process, in which compiled modules are cached even if that is turned off here.

    Otherwise, pytest's modules and those of pytest-tau would be compiled at each start.
    """
    environment = dict(os.environ)
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir(), "pytest-tau-benchmarks"))
    return environment
