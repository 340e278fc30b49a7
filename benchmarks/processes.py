"""The cost of pytest as a whole: collecting, starting in an unrelated project, running in several processes."""

from __future__ import annotations

import contextlib
import importlib.util
import tempfile
from functools import partial
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from .figures import Figure
from .measuring import alternating, in_unit, process, timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options
    from .measuring import Ended

#: Well-known plugins with which the tax is compared, if they are installed, by their entry points.
_YARDSTICKS = ("xdist", "asyncio")
_VERSION = "from pytest_tau.cli import main; main(['--version'])"


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


#: The simulations of the tasks, one after the other, without pytest.
_SIMULATIONS = """
import asyncio, itertools, sys
from pathlib import Path
from pytest_tau import asimulate, load_domain

async def main(number, data=None):
    domain = load_domain("telecom", Path(data) if data else None)
    for task in itertools.islice(domain.tasks(None), int(number)):
        await asimulate(task, domain=domain, agent="gold")

asyncio.run(main(*sys.argv[1:]))
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

    All times are processor time. Runs alternate, and a tax is the difference to the baseline within each round. Other
    plugins that are installed are switched off, as they only add noise; the taxes of well-known ones are yardsticks,
    with which the speed of the machine cancels out. pytest reads the list of installed files of each plugin whether or
    not it is switched off, so that this is no part of the tax. In the folder of the repository the list is that of its
    sources, which is about as long as that of an installed wheel.
    """
    installed = {entry.name for entry in entry_points(group="pytest11")}
    plugins = [name for name in _YARDSTICKS if name in installed]
    arms = [(), ("tau",), *map(_parts, plugins)]
    with _project() as folder:
        none, us, *others = alternating(
            [partial(_pytest, folder, *_without(installed - set(on))) for on in arms], options.count(40, 1)
        )
        version, python = alternating(
            [partial(process, "-c", code, folder=folder) for code in (_VERSION, "pass")], options.count(10, 1)
        )
    yield _processor("tax", _differences(us, none), target=10.0)
    yield Figure("to the baseline", "", [a.cpu / b.cpu for a, b in zip(us, none, strict=True)])
    for name, other in zip(plugins, others, strict=True):
        yield _processor(f"yardstick: pytest-{name}", _differences(other, none))
    yield Figure("tax in memory", "MB", [a.peak - b.peak for a, b in zip(us, none, strict=True)], target=3.0)
    yield _processor("with the plugin", [a.cpu * 1e3 for a in us])
    yield _processor("baseline: -p no:tau", [a.cpu * 1e3 for a in none])
    found = distribution("pytest-tau")
    listing = in_unit(timings(lambda: list(map(str, found.files or ())), options.count(10, 1)), 1e3)
    yield Figure(f"list of installed files ({len(found.files or ())})", "ms", *listing)
    yield _processor("tau --version", [a.cpu * 1e3 for a in version])
    yield _processor("baseline: python -c pass", [a.cpu * 1e3 for a in python])


def _parts(plugin: str) -> tuple[str, ...]:
    """Return the entry points of a plugin."""
    return tuple(entry.name for entry in entry_points(group="pytest11") if entry.name.partition(".")[0] == plugin)


def _without(plugins: set[str]) -> list[str]:
    """Return the arguments that switch plugins off."""
    return [argument for name in sorted(plugins) for argument in ("-p", f"no:{name}")]


def _processor(name: str, milliseconds: list[float], target: float | None = None) -> Figure:
    return Figure(name, "ms", milliseconds, milliseconds, target)


def _differences(ended: list[Ended], baseline: list[Ended]) -> list[float]:
    """Return what each run has used more of the processor than the baseline in the same round, in ms."""
    return [(a.cpu - b.cpu) * 1e3 for a, b in zip(ended, baseline, strict=True)]


def items(options: Options) -> Iterator[Figure]:
    """Measure running every telecom task with ``gold``, with results kept: a whole process of pytest.

    The baseline, which alternates with it, runs as many empty parametrised items with two fixtures. Both include
    Python, pytest and collection. Both are also only collected, for the memory of it. The simulations alone are run by
    a loop without pytest, as often, with none but the first task subtracted: empty items and these simulations are what
    a run costs at least, whatever the plugin does.
    """
    number = 2 if options.quick else _number_of_tasks(options)
    arguments = [*_telecom(options), "--tau-agent", "gold", "-q", "--tau-num-tasks", str(number)]
    # Other plugins take most of the time of a quick run.
    off = _without({entry.name for entry in entry_points(group="pytest11")} - {"tau"}) if options.quick else []
    with _project() as folder:
        (folder / "test_empty.py").write_text(_EMPTY.format(number=number), encoding="utf-8")
        data = [str(options.data)] if options.data else []
        tasks, collected, empty, empty_collected, simulated, first = alternating(
            [
                partial(_pytest, folder, *off, *arguments),
                partial(_pytest, folder, *off, *arguments, "--collect-only"),
                partial(_pytest, folder, *off, "-q", "test_empty.py"),
                partial(_pytest, folder, *off, "-q", "test_empty.py", "--collect-only"),
                *(partial(process, "-c", _SIMULATIONS, each, *data, folder=folder) for each in (str(number), "1")),
            ],
            options.count(5, 1),
        )
    ratios = [a.cpu / b.cpu for a, b in zip(tasks, empty, strict=True)]
    yield Figure("tasks to empty items, processor", "", ratios, target=3.5)
    simulations = [a.cpu - b.cpu for a, b in zip(simulated, first, strict=True)]
    least = [(a.cpu + seconds) / a.cpu for a, seconds in zip(empty, simulations, strict=True)]
    yield Figure("empty items and simulations to empty items", "", least)
    peaks = [a.peak / b.peak for a, b in zip(collected, empty_collected, strict=True)]
    yield Figure("collected tasks to empty items, memory", "", peaks, target=1.5)
    yield Figure(f"{number} tasks, collected only", "MB", [one.peak for one in collected])
    yield Figure(f"baseline: {number} empty items, collected only", "MB", [one.peak for one in empty_collected])
    yield _seconds(f"{number} tasks", tasks)
    yield _seconds(f"{number} tasks, collected only", collected)
    yield _seconds(f"baseline: {number} empty items", empty)
    yield Figure(f"baseline: {number} simulations alone", "s", simulations, simulations)


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
    tasks = 20 if options.quick else _number_of_tasks(options)
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
