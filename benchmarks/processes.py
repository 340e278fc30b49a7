"""The cost of pytest as a whole: collecting, starting in an unrelated project, running in several processes."""

from __future__ import annotations

import contextlib
import importlib.util
import tempfile
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Figure
from .measuring import alternating, process

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options
    from .measuring import Ended


#: As many items as tasks, each with two fixtures and nothing to do.
_EMPTY = """
import pytest

@pytest.fixture
def first():
    yield 1

@pytest.fixture
def second():
    return 2

@pytest.mark.parametrize("number", range({number}))
def test_empty(number, first, second):
    pass
"""


def collection(options: Options) -> Iterator[Figure]:
    """Measure collecting every telecom task four times: a whole process of ``pytest --collect-only``.

    The difference to the same with one trial is what further items cost; the rest is Python, pytest, and reading and
    checking the tasks. Runs alternate.
    """
    arguments = ["--collect-only", "-qqq", *_telecom(options)]
    with _project() as folder:
        four, one = alternating(
            [partial(_pytest, folder, *arguments, "--tau-trials", trials) for trials in ("4", "1")],
            options.count(5, 1),
        )
    tasks = _number_of_tasks(options)
    yield _seconds(f"{tasks * 4} items", four, target=3.0)
    yield _seconds(f"{tasks} items", one)
    extra = tasks * 3 / 1e6
    yield Figure(
        "each further item",
        "µs",
        [(a.wall - b.wall) / extra for a, b in zip(four, one, strict=True)],
        [(a.cpu - b.cpu) / extra for a, b in zip(four, one, strict=True)],
    )


def start_up(options: Options) -> Iterator[Figure]:
    """Measure what an unrelated project pays: pytest on an empty one, with and without the plugin.

    Runs alternate, and the tax is the difference within each pair. Other plugins that are installed are switched off,
    as they only add noise. What else the machine does shows in the spread of the wall clock; where that is wider than
    the tax, the processor time is to be believed.
    """
    others = {entry.name for entry in entry_points(group="pytest11")} - {"tau"}
    off = [argument for name in sorted(others) for argument in ("-p", f"no:{name}")]
    with _project() as folder:
        us, none = alternating(
            [partial(_pytest, folder, *off, *ours) for ours in ((), ("-p", "no:tau"))], options.count(40, 1)
        )
    pairs = list(zip(us, none, strict=True))
    yield Figure(
        "tax", "ms", [(a.wall - b.wall) * 1e3 for a, b in pairs], [(a.cpu - b.cpu) * 1e3 for a, b in pairs], 20
    )
    yield Figure("tax in memory", "MB", [a.peak - b.peak for a, b in pairs], target=3.0)
    yield Figure("with the plugin", "ms", [a.wall * 1e3 for a in us], [a.cpu * 1e3 for a in us])
    yield Figure("baseline: -p no:tau", "ms", [a.wall * 1e3 for a in none], [a.cpu * 1e3 for a in none])


def items(options: Options) -> Iterator[Figure]:
    """Measure running every telecom task with ``gold``, with results kept: a whole process of pytest.

    The baseline, which alternates with it, runs as many empty parametrised items with two fixtures. Both include
    Python, pytest and collection.
    """
    number = min(_number_of_tasks(options), 20) if options.quick else _number_of_tasks(options)
    arguments = [*_telecom(options), "--tau-agent", "gold", "-q", "--tau-num-tasks", str(number)]
    with _project() as folder:
        (folder / "test_empty.py").write_text(_EMPTY.format(number=number), encoding="utf-8")
        tasks, collected, empty = alternating(
            [
                partial(_pytest, folder, *arguments),
                partial(_pytest, folder, *arguments, "--collect-only"),
                partial(_pytest, folder, "-q", "test_empty.py"),
            ],
            options.count(5, 1),
        )
    ratios = [a.cpu / b.cpu for a, b in zip(tasks, empty, strict=True)]
    yield Figure("tasks to empty items, processor", "", ratios, target=3.0)
    yield _seconds(f"{number} tasks", tasks)
    yield _seconds(f"{number} tasks, collected only", collected)
    yield _seconds(f"baseline: {number} empty items", empty)


def scaling(options: Options) -> Iterator[Figure]:
    """Measure running every telecom task with ``gold``, in one process and on two workers of pytest-xdist, in turn.

    The ratio is that of each pair. Gold waits for nothing, so this is all work: with fewer than two idle cores the
    ratio cannot be good. What two workers spend more of the processor is their own start and collection, and the
    controller.
    """
    if importlib.util.find_spec("xdist") is None:
        return
    arguments = [*_telecom(options), "--tau-agent", "gold", "-q", *(["--tau-num-tasks", "20"] if options.quick else [])]
    with _project() as folder:
        alone, two = alternating(
            [partial(_pytest, folder, *arguments, "-n", workers) for workers in ("0", "2")], options.count(5, 1)
        )
    tasks = _number_of_tasks(options)
    tasks = min(tasks, 20) if options.quick else tasks
    yield _seconds(f"{tasks} items, -n 0", alone, target=12.0)
    yield _seconds(f"{tasks} items, -n 2", two)
    yield Figure("-n 2 to -n 0", "", [b.wall / a.wall for a, b in zip(alone, two, strict=True)], target=0.65)
    yield Figure("an item, -n 0", "ms", [a.wall / tasks * 1e3 for a in alone], [a.cpu / tasks * 1e3 for a in alone])


def _telecom(options: Options) -> list[str]:
    return [*options.pytest_arguments, "--tau-domain", "telecom", "--tau-split", "full"]


def _number_of_tasks(options: Options) -> int:
    from pytest_tau import load_domain

    return len(load_domain("telecom", options.data).tasks(None))


def _seconds(name: str, ended: list[Ended], target: float | None = None) -> Figure:
    return Figure(name, "s", [one.wall for one in ended], [one.cpu for one in ended], target)


@contextlib.contextmanager
def _project() -> Iterator[Path]:
    """Make an empty project."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
        yield Path(folder)


def _pytest(folder: Path, *arguments: str) -> Ended:
    # An empty project ends with the status that says so.
    return process("-m", "pytest", *arguments, folder=folder, good=(0, 5))
