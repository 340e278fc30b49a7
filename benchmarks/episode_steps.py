"""The cost of conversations that are stepped from outside."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from typing import TYPE_CHECKING

from pytest_tau import Episode, load_domain

from .figures import Figure
from .measuring import in_unit, timings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau import Domain, Task

    from .figures import Options

DOMAINS = ("retail", "telecom")
#: A text and a call of a tool, which alternate.
_ACTIONS = ("What can I do for you?", 'calculate(expression="(1 + 2) * 3")')
_STEPS, _AT_ONCE = 8, 300


def episodes(options: Options) -> Iterator[Figure]:
    """Measure episodes of the agent's side with the scripted user.

    A reset makes an episode, begins it, and cancels it. A step is a text, whose answer the user makes, or a tool call;
    the last one of an episode includes the verdict and is not counted. Then 300 episodes of eight steps at once: the
    time for one of them. The figures of Gymnasium include the change to the thread of its event loop and back.
    """
    loop = asyncio.new_event_loop()
    for name in DOMAINS:
        domain = load_domain(name, options.data)
        tasks = [task for task in domain.tasks() if not task.needs_judge][: options.count(100, 3)]
        reset = [found for task in tasks for found in timings(lambda: loop.run_until_complete(_reset(task, domain)), 3)]  # noqa: B023
        yield Figure(f"{name}, reset", "ms", *in_unit(reset[1:], 1e3), target=5.0)
        steps = [seconds for task in tasks for seconds in loop.run_until_complete(_step(task, domain))]
        yield Figure(f"{name}, step", "ms", [1e3 * seconds for seconds in steps], target=1.0)
        number = options.count(_AT_ONCE, 5)
        many = timings(lambda: loop.run_until_complete(_many(tasks, domain, number)), options.count(5, 1))  # noqa: B023
        wall, cpu = in_unit(many, 1e3 / number)
        yield Figure(f"{name}, episode, {number} at once", "ms", wall, cpu)
        if importlib.util.find_spec("gymnasium"):
            yield from _gymnasium(domain, options)
    loop.close()


async def _reset(task: Task, domain: Domain) -> None:
    episode = Episode(task, domain=domain, user="scripted")
    await episode.start()
    await episode.close()


async def _step(task: Task, domain: Domain) -> list[float]:
    """Return the seconds of each step after which the episode goes on."""
    found = []
    async with Episode(task, domain=domain, user="scripted") as episode:
        for number in range(_STEPS):
            start = time.perf_counter()
            if (await episode.step(_ACTIONS[number % 2])).done:
                break
            found.append(time.perf_counter() - start)
    return found


async def _many(tasks: list[Task], domain: Domain, number: int) -> None:
    await asyncio.gather(*(_step(tasks[place % len(tasks)], domain) for place in range(number)))


def _gymnasium(domain: Domain, options: Options) -> Iterator[Figure]:
    """Measure the resets and the steps of an environment."""
    from pytest_tau.integrations.gymnasium import TauAgentEnv

    env = TauAgentEnv(domain=domain, tasks=[task.id for task in domain.tasks() if not task.needs_judge])
    env.reset(seed=1)
    found = timings(env.reset, options.count(1000, 5))
    yield Figure(f"{domain.name}, reset of Gymnasium", "ms", *in_unit(found, 1e3), target=5.0)
    steps = []
    for _ in range(options.count(200, 3)):
        env.reset()
        for number in range(_STEPS):
            start = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(_ACTIONS[number % 2])
            if terminated or truncated:
                break
            steps.append(1e3 * (time.perf_counter() - start))
    env.close()
    yield Figure(f"{domain.name}, step of Gymnasium", "ms", steps, target=1.0)
