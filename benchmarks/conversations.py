"""Conversations whose models follow a script, so that only the harness is measured."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

from pytest_tau import Evaluation, SimulationSettings, asimulate
from pytest_tau.chat import LLM, ChatReply
from pytest_tau.evaluation import BUILT_IN_JUDGES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from pytest_tau import Domain, Simulation
    from pytest_tau.chat import ChatModel, ChatRequest, Role

AGENT, USER = "openai/agent", "openai/user"
#: In a round the user asks, the agent calls a tool, reads its result, and answers.
ROUNDS = 3
#: Of a conversation: three in each round, and one in which the user says that it is over. They wait for one another.
MODEL_CALLS = 3 * ROUNDS + 1
_CALL = {"name": "calculate", "arguments": '{"expression": "(1 + 2) * 3"}'}


def said(model: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the next message of a model, which follows from the messages so far."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if model in USER:
        asked = sum(message["role"] == "assistant" for message in messages)
        return message | {"content": "And what is that times three?" if asked < ROUNDS else "###STOP###"}
    if messages[-1]["role"] == "tool":
        return message | {"content": f"That is {messages[-1]['content']}. Is there anything else?"}
    return message | {"tool_calls": [{"id": f"call_{len(messages)}", "type": "function", "function": _CALL}]}


class Scripted:
    """Answers at once, or once something has happened.

    Args:
        before: Awaited before each answer.
    """

    def __init__(self, before: Callable[[ChatRequest], Awaitable[None]] | None = None) -> None:
        self._before = before

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the message of the script."""
        if self._before is not None:
            await self._before(request)
        return ChatReply(message=said(request.model, request.messages))


async def run_conversations(
    number: int, domain: Domain, chat: ChatModel, at_once: int, args: Mapping[str, Any] | None = None
) -> list[Simulation]:
    """Run conversations, over the domain's tasks in turn.

    Args:
        number: How many.
        domain: Where; airline, as the script calls one of its tools.
        chat: Plays both sides.
        at_once: How many run at the same time.
        args: Arguments of each model call.

    Raises:
        RuntimeError: A conversation did not go by the script.
    """
    llms: dict[Role, LLM] = {"agent": LLM(AGENT, chat, args or {}), "user": LLM(USER, chat, args or {})}
    settings = SimulationSettings(llms=llms, evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
    tasks = itertools.cycle(domain.tasks())
    places = asyncio.Semaphore(at_once)

    async def one() -> Simulation:
        async with places:
            return await asimulate(next(tasks), domain=domain, agent="llm", user="llm", settings=settings)

    simulations = await asyncio.gather(*(one() for _ in range(number)))
    for simulation in simulations:
        calls = sum(used.calls for used in simulation.model_usage.values())
        if simulation.termination_reason != "user_stop" or calls != MODEL_CALLS:
            raise RuntimeError(f"{simulation.termination_reason} after {calls} calls: {simulation.error}")
    return simulations
