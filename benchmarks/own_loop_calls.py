"""The cost of a tool call of an agent that runs its own loop."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from pytest_tau import Limits, SimulationSettings, asimulate, load_domain, own_loop

from .figures import Figure
from .measuring import alternating, in_unit, timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau import AgentTrial, Simulation

    from .figures import Options
    from .measuring import Timing

#: The call that is measured: a tool that reads no record.
_TOOL, _ARGUMENTS = "calculate", {"expression": "(1 + 2) * 3"}


def own_loop_calls(options: Options) -> Iterator[Figure]:
    """Measure a tool call in ``run()``, in a call of ``respond()``, and directly on the environment.

    The first two are hops of a conversation and contain the third. The target is for the processor time of ``run()``,
    async or in a thread of its own. Then a hundred conversations at the same time, with ten calls each: the time for
    one of them.
    """
    domain = load_domain("airline")
    calls = options.count(400, 10)
    environment = domain.environment()

    def direct() -> Timing:
        return _each(timing(lambda: [environment.call(_TOOL, _ARGUMENTS) for _ in range(calls)]), calls)

    def conversation(agent: Any) -> Timing:
        return _each(timing(lambda: asyncio.run(_simulate(agent, calls))), calls)

    agents = [_responding(calls), _looping(calls, blocking=False), _looping(calls, blocking=True)]
    works = [direct, *(lambda agent=agent: conversation(agent) for agent in agents)]
    names = ["a direct call", "a call of respond()", "a call in async run()", "a call in blocking run()"]
    found = alternating(works, options.count(15, 1))
    for name, times in zip(names, found, strict=True):
        yield Figure(name, "ms", *in_unit(times, 1e3))
    for name, times in zip(names[2:], found[2:], strict=True):
        yield Figure(f"{name}, processor time", "ms", in_unit(times, 1e3)[1], target=0.3)
    at_once = options.count(100, 5)
    for name, blocking in (("conversation, async run()", False), ("conversation, blocking run()", True)):
        agent = _looping(10, blocking=blocking)
        times = [
            _each(timing(lambda agent=agent: asyncio.run(_at_once(agent, at_once))), at_once)  # type: ignore[misc]
            for _ in range(options.count(10, 1))
        ]
        yield Figure(f"{name}, {at_once} at once", "ms", *in_unit(times, 1e3))


def _each(whole: Timing, number: int) -> Timing:
    return type(whole)(whole.wall / number, whole.cpu / number)


async def _at_once(agent: Any, number: int) -> None:
    await asyncio.gather(*(_simulate(agent, 10) for _ in range(number)))


async def _simulate(agent: Any, calls: int) -> Simulation:
    """Run a conversation of an agent that makes a number of calls, and then speaks to a user who leaves."""
    domain = load_domain("airline")
    settings = SimulationSettings(limits=Limits(max_steps=2 * calls + 100))
    user = ["Hello.", "###STOP###"]

    def leave(messages: list[Any], tools: list[Any]) -> str:
        del messages, tools
        return user.pop(0)

    simulation = await asimulate(domain.tasks()[0], domain=domain, agent=agent, user=leave, settings=settings)
    if len(simulation.calls) != calls:
        raise RuntimeError(f"{len(simulation.calls)} of {calls} calls: {simulation.error}")
    return simulation


def _responding(calls: int) -> Any:
    class Agent:
        def __init__(self) -> None:
            self._left = itertools.count(calls, -1)

        async def respond(self, message: Any) -> Any:
            del message
            call = {"name": _TOOL, "arguments": _ARGUMENTS}
            return {"tool_calls": [call]} if next(self._left) > 0 else "Done."

    return Agent


def _looping(calls: int, *, blocking: bool) -> Any:
    @own_loop
    def factory(trial: AgentTrial) -> Any:
        tool = next(tool for tool in trial.tools if tool.name == _TOOL)

        def run(text: str) -> str:
            del text
            for _ in range(calls):
                tool.call(**_ARGUMENTS)
            return "Done."

        async def arun(text: str) -> str:
            del text
            for _ in range(calls):
                await tool.acall(**_ARGUMENTS)
            return "Done."

        return run if blocking else arun

    return factory
