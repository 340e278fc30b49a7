"""Speed and memory of the harness, with models that answer at once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pytest_tau import load_domain

from .conversations import Scripted, run_conversations
from .figures import Figure
from .measuring import REPOSITORY, alternating, process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .figures import Options
    from .measuring import Ended


def turns(options: Options) -> Iterator[Figure]:
    """Measure the harness alone: an LLM agent and an LLM user whose models answer at once.

    A turn is a message of the agent or the user. It includes all parts of a trial: environment, participants, prompts,
    tool calls, verdict. The figure is turns per second, one conversation after the other and many on one event loop,
    alternately; nothing waits, so the difference between the two is the cost of concurrency.
    """
    domain, number = load_domain("airline", options.data), options.count(300, 5)

    def measured(at_once: int) -> Callable[[], tuple[float, float, int]]:
        def run() -> tuple[float, float, int]:
            wall, cpu = time.perf_counter(), time.process_time()
            simulations = asyncio.run(run_conversations(number, domain, Scripted(), at_once))
            spent = time.perf_counter() - wall, time.process_time() - cpu
            return *spent, sum(simulation.turns for simulation in simulations)

        return run

    sizes = (1, 100)
    for at_once, found in zip(sizes, alternating([measured(size) for size in sizes], options.count(7, 1)), strict=True):
        each = [made / wall for wall, _, made in found]
        yield Figure(
            f"turns, {at_once} at once", "1/s", each, [made / cpu for _, cpu, made in found], 3000.0, at_least=True
        )
        costs = [wall / number * 1e3 for wall, _, _ in found]
        yield Figure(f"a conversation, {at_once} at once", "ms", costs, [cpu / number * 1e3 for _, cpu, _ in found])


def memory(options: Options) -> Iterator[Figure]:
    """Measure the peak memory of a process that runs many airline conversations at once.

    All of them have reached the agent's last model call when the first is answered. Processes with many and with one
    alternate; the difference, divided by their number, is the memory of a conversation.
    """
    number = options.count(1000, 10)

    def under_way(count: int) -> Callable[[], Ended]:
        data = [str(options.data)] if options.data else []
        return lambda: process("-m", "benchmarks.under_way", str(count), *data, folder=REPOSITORY)

    many, one = alternating([under_way(number), under_way(1)], options.count(3, 1))
    yield Figure(f"{number:,} under way", "MB", [ended.peak for ended in many], target=250.0)
    yield Figure("baseline: one", "MB", [ended.peak for ended in one])
    each = [(a.peak - b.peak) * 1024 / (number - 1) for a, b in zip(many, one, strict=True)]
    yield Figure("each conversation", "kB", each)
