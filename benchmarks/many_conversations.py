"""Runs of pytest with conversations that wait for a model: on workers compared with one process, and ten thousand."""

from __future__ import annotations

import contextlib
import importlib.util
import math
from functools import partial
from typing import TYPE_CHECKING, Any

from .conversation_runs import run_halves, run_pytest
from .conversations import MODEL_CALLS
from .figures import Figure
from .measuring import alternating
from .server import model_server
from .waiting import has_aiohttp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .conversation_runs import ConversationRun, Used
    from .figures import Options


def waiting_workers(options: Options) -> Iterator[Figure]:
    """Measure pytest with conversations that wait, 200 at once: in one process, and on two workers with 100 each.

    Each run has a baseline with fewer trials of the same tasks, whose models answer at once; all of them run in turn.
    The processor time of a process is the difference to its baseline, so that start, collection, imports and the
    manifest are not part of it. That of both workers together is compared with that of the one process, which also
    shows and keeps the reports; on workers the controller does. It is also compared with that of two processes
    without pytest-xdist that run one half each at the same time: there, three processes share the machine as well.
    The ideal is what the answers take; the wall clock includes the start.
    """
    if not _can_run():
        return
    at_once, tasks, latency = options.count(200, 4), 2 if options.quick else None, 0.01 if options.quick else 1.0
    # Of each load the seconds before an answer, and the trials; the last one is the baseline, which quick runs lack.
    loads = [(latency, 1)] if options.quick else [(latency, 6), (0.0, 1)]
    with contextlib.ExitStack() as servers:
        one, two = partial(run_pytest, options, at_once, tasks, 0), partial(run_pytest, options, at_once // 2, tasks, 2)
        halves = partial(run_halves, options, at_once // 2, tasks)
        urls = [servers.enter_context(model_server(seconds)) for seconds, _ in loads]
        works: list[Callable[[], Any]] = [
            partial(run, url, trials)
            for url, (_, trials) in zip(urls, loads, strict=True)
            for run in (one, two, halves)
        ]
        alone, workers, both, *few = alternating(works, options.count(3, 1))
    alone_few, workers_few, both_few = few or ([], [], [])
    number = alone[0].main.trials
    ideal = math.ceil(number / at_once) * MODEL_CALLS * latency
    one_process = _differences([[run.main] for run in alone], [[run.main] for run in alone_few])
    on_workers = _differences([run.workers for run in workers], [run.workers for run in workers_few])
    in_halves = _differences(
        [[run.main for run in pair] for pair in both], [[run.main for run in pair] for pair in both_few]
    )
    controller = _differences([[run.main] for run in workers], [[run.main] for run in workers_few])
    yield _ratio("workers to one process, processor", on_workers, one_process, 1.05)
    yield _ratio("workers to two processes at once", on_workers, in_halves)
    yield _ratio("two processes at once to one process", in_halves, one_process)
    yield _ratio("the controller to one process", controller, one_process)
    yield Figure(f"conversations of a worker, of {number}", "", [float(_most(run)) for run in workers])
    calls = (number - sum(run.main.trials for run in alone_few[:1])) * MODEL_CALLS
    yield Figure("a model call in one process, processor", "ms", [seconds / calls * 1e3 for seconds in one_process])
    yield Figure(f"one process to the ideal ({ideal:g} s)", "", [run.wall / ideal for run in alone])
    yield Figure("two workers to the ideal", "", [run.wall / ideal for run in workers])


def _differences(full: list[list[Used]], base: list[list[Used]]) -> list[float]:
    """Return what the processes of each run have used of the processor, less what those of a baseline have."""
    return [
        sum(each.running for each in used) - sum(each.running for each in base_used)
        for used, base_used in zip(full, base or [[]] * len(full), strict=True)
    ]


def _ratio(name: str, seconds: list[float], baseline: list[float], target: float | None = None) -> Figure:
    return Figure(name, "", [a / b for a, b in zip(seconds, baseline, strict=True)], target=target)


def many_conversations(options: Options) -> Iterator[Figure]:
    """Measure the peak memory of pytest with 10,000 conversations of 10 model calls, 200 at once.

    Results are stored, and failures are reported. Afterwards each simulation must be in the run's folder once, and
    readable. The baseline is a run with a tenth of the conversations: the difference is what a conversation leaves
    behind: its item, its reports and its record.
    """
    if not _can_run():
        return
    at_once, tasks = options.count(200, 4), 2 if options.quick else None
    trials, few = options.count(200, 1), options.count(20, 1)
    with model_server(0.05) as url:
        alone = run_pytest(options, at_once, tasks, 0, url, trials)
        base = run_pytest(options, at_once, tasks, 0, url, few) if few < trials else alone
        two = run_pytest(options, at_once // 2, tasks, 2, url, trials)
    number = alone.main.trials
    more = number - base.main.trials or 1
    yield Figure(f"{number} conversations, one process", "MB", [alone.main.peak], target=1024)
    together = two.main.peak + sum(worker.peak for worker in two.workers)
    yield Figure(f"{number} conversations, -n 2, all processes", "MB", [together], target=1024)
    yield Figure("each further conversation", "kB", [(alone.main.peak - base.main.peak) / more * 1024])
    per_call = 1e3 / MODEL_CALLS
    extra = alone.main.running - base.main.running
    yield Figure("each further model call, processor", "ms", [extra / more * per_call])
    yield Figure("a model call of the baseline, processor", "ms", [base.main.running / base.main.trials * per_call])
    yield Figure("one process", "s", [alone.wall], [alone.main.cpu])
    yield Figure("two workers", "s", [two.wall], [two.main.cpu + sum(worker.cpu for worker in two.workers)])


def _can_run() -> bool:
    return has_aiohttp() and importlib.util.find_spec("xdist") is not None


def _most(run: ConversationRun) -> int:
    return max(worker.trials for worker in run.workers)
