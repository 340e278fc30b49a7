"""The speed and the memory of ``tau regrade``."""

from __future__ import annotations

import asyncio
import itertools
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_tau import asimulate, load_domain

from .figures import Figure
from .measuring import REPOSITORY, alternating, process
from .simulations import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .figures import Options
    from .measuring import Ended

_DOMAINS = ("airline", "retail", "telecom")
_REGRADE = "import sys; from pytest_tau.cli import main; sys.exit(main(['regrade', sys.argv[1]]))"
_READ = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
#: MB by which the peak may be higher for a file of four times the size, and for each MB more of its text.
_SLACK, _OF_TEXT = 10.0, 2.2


def regrade(options: Options) -> Iterator[Figure]:
    """Measure ``tau regrade`` with one process, on τ²-bench files with conversations of the rule-based agent.

    The data is bundled. The conversations of a part of the tasks are repeated until the file has its size. The
    baseline, which alternates with it, only reads the same file, with ``json.load``. Rates are simulations per second
    of CPU time of the whole process, its start included. The peak of memory is that of a process, for a file and for
    one of four times its size, whose text is in memory as a whole, and whose entries are not.
    """
    number = options.count(10_000, 8)
    with tempfile.TemporaryDirectory() as folder:
        for name in _DOMAINS[: options.count(len(_DOMAINS), 1)]:
            parts = asyncio.run(_conversations(name, options.count(40, 2)))
            file, large = Path(folder, "results.json"), Path(folder, "large.json")
            _write(file, parts, number)
            graded, read = alternating([partial(_run, _REGRADE, file), partial(_run, _READ, file)], options.count(3, 1))
            yield _rate(f"{name}, {number:,} simulations", graded, number, 400.0)
            yield _rate(f"{name}, baseline: json.load", read, number)
            _write(large, parts, number * 4)
            again = _run(_REGRADE, large)
            peak = min(one.peak for one in graded)
            yield Figure(f"{name}, peak of {number:,}", "MB", [peak])
            more = (large.stat().st_size - file.stat().st_size) / 1e6
            target = peak + _SLACK + _OF_TEXT * more
            yield Figure(f"{name}, peak of {number * 4:,}", "MB", [again.peak], target=target)


async def _conversations(name: str, number: int) -> dict[str, Any]:
    """Return a result file with a conversation of each of a number of tasks."""
    domain = load_domain(name)
    tasks = domain.tasks()[:number]
    found = [await asimulate(task, domain=domain, agent="rules", user="scripted", settings=SETTINGS) for task in tasks]
    return {
        "timestamp": "",
        "info": {"environment_info": {"domain_name": name}},
        "tasks": [task.model_dump(mode="json", exclude_none=True) for task in tasks],
        "simulations": [each.model_dump(mode="json", exclude_none=True) for each in found],
    }


def _write(file: Path, parts: dict[str, Any], number: int) -> None:
    """Write a result file with so many simulations, each with an id of its own."""
    simulations: Sequence[dict[str, Any]] = parts["simulations"]
    head = json.dumps({name: value for name, value in parts.items() if name != "simulations"})
    with file.open("w", encoding="utf-8") as out:
        out.write(f'{head[:-1]}, "simulations": [')
        for place, simulation in enumerate(itertools.islice(itertools.cycle(simulations), number)):
            own = {**simulation, "id": f"simulation-{place}", "trial": place // len(simulations)}
            out.write(f"{', ' if place else ''}{json.dumps(own)}")
        out.write("]}\n")


def _run(program: str, file: Path) -> Ended:
    return process("-c", program, str(file), folder=REPOSITORY)


def _rate(name: str, ended: list[Ended], number: int, target: float | None = None) -> Figure:
    return Figure(name, "1/s", [number / one.cpu for one in ended], target=target, at_least=True)
