"""Conversations by model whose provider fails in a fifth of the calls."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from typing import TYPE_CHECKING, Any

from pytest_tau import Evaluation, SimulationSettings, asimulate, load_domain, simulate, testing
from pytest_tau.chat import LLM
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.models import AssistantMessage, UserMessage
from pytest_tau.testing import Faults, ModelServer

from .tally import Tally

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau import Domain, Simulation
    from pytest_tau.chat import Role
    from pytest_tau.models import Task

    from .tally import Limits

_KINDS = {
    "rate limits": testing.RateLimited(retry_after=0.01),
    "errors of the server": testing.ServerError(),
    "reset connections": testing.ConnectionReset(),
    "stalls": testing.Stall(),
    "bodies that are no JSON": testing.MalformedBody(),
    "truncated JSON": testing.TruncatedJSON(),
    "answers of another schema": testing.WrongSchema(),
}
_RATE, _NUMBER, _AT_ONCE = 0.2, 8, 4
#: The most tasks of a domain.
_TASKS = 40
_LOCK = threading.Lock()
_VERDICT, _WORDS, _ENDED = "verdicts changed", "conversations changed", "conversations that did not end as scripted"


def faults(limits: Limits) -> Tally:
    """Run conversations of an LLM agent and an LLM user over litellm, with faults in a fifth of the model calls.

    A case is 8 conversations, 4 at a time, on tasks of all domains, with one kind of fault; the kinds take turns. The
    models say what gold says; on every second task the agent's calls are replaced by words, so that it fails. Each
    conversation is compared with one on the same task without faults: reward, termination reason, and messages.
    """
    tally = Tally(("conversations", "of them with reward 1", "model calls", "faults"), (_VERDICT, _WORDS, _ENDED))
    if importlib.util.find_spec("litellm") is None:
        tally.find(_ENDED, "litellm is not installed: pip install 'pytest-tau[llm]'")
        return tally
    script = Script(limits.data)
    calm: dict[int, Any] = {}
    for number, random in enumerate(limits.cases("faults")):
        kind = list(_KINDS)[number % len(_KINDS)]
        chosen = random.sample(range(len(script.tasks)), _NUMBER)
        missing = [one for one in chosen if one not in calm]
        with ModelServer(script) as server:
            calm |= dict(zip(missing, _conversations(script, missing, server, 30.0), strict=True))
        with ModelServer(script, faults=Faults(_RATE, (_KINDS[kind],), limits.seed * 1000 + number)) as server:
            # A stalled attempt is given up after the timeout.
            found = _conversations(script, chosen, server, 2.0 if kind == "stalls" else 30.0)
            _count(server, kind, tally)
        for one, got in zip(chosen, found, strict=True):
            _compare(f"{kind}: task {script.tasks[one][1].id!r}", calm[one], got, tally)
    return tally


def _conversations(script: Script, tasks: list[int], server: ModelServer, timeout: float) -> list[Simulation]:
    """Run a conversation on each task, some at a time."""
    from pytest_tau.integrations.litellm import LiteLLM

    chat, places = (
        LiteLLM(timeout=timeout, attempts=12, first_wait=0.01, longest_wait=0.05),
        asyncio.Semaphore(_AT_ONCE),
    )

    async def one(number: int) -> Simulation:
        domain, task = script.tasks[number]
        args = {"api_base": server.base_url, "api_key": "none", "temperature": 0.0}
        llms: dict[Role, LLM] = {
            role: LLM("openai/scripted", chat, args | {"extra_body": {"user": f"{number}/{role}"}})
            for role in ("agent", "user")
        }
        settings = SimulationSettings(llms=llms, evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))
        async with places:
            return await asimulate(task, domain=domain, agent="llm", user="llm", settings=settings)

    async def several() -> list[Simulation]:
        return await asyncio.gather(*map(one, tasks))

    return asyncio.run(several())


def _count(server: ModelServer, kind: str, tally: Tally) -> None:
    tally.add("model calls", server.served)
    for name in ("faults", f"faults: {kind}"):
        tally.add(name, len(server.requests) - server.served)


def _compare(case: str, calm: Simulation, got: Simulation, tally: Tally) -> None:
    tally.add("conversations")
    tally.add("of them with reward 1", got.reward == 1)
    verdict, expected = ((one.reward, one.termination_reason) for one in (got, calm))
    if calm.termination_reason != "user_stop":
        tally.find(_ENDED, f"{case}: {calm.termination_reason} without faults: {calm.error}")
    elif verdict != expected:
        tally.find(_VERDICT, f"{case}: {verdict}, expected {expected}: {got.error}")
    elif _words(got) != _words(calm):
        tally.find(_WORDS, case)


def _words(simulation: Simulation) -> list[tuple[Any, ...]]:
    """Return what was said and called."""
    return [
        (
            message.role,
            message.content,
            [(call.name, call.arguments) for call in getattr(message, "tool_calls", None) or ()],
        )
        for message in simulation.messages
    ]


class Script:
    """Answers model calls whose ``user`` is the number of a task and a role.

    Attributes:
        tasks: The tasks, each with its domain.
    """

    def __init__(self, data: Path | None) -> None:
        self.tasks: list[tuple[Domain, Task]] = []
        for name in ("mock", "airline", "retail", "telecom"):
            domain = load_domain(name, data)
            self.tasks += [(domain, task) for task in domain.tasks()[:_TASKS] if not task.message_history]
        self._lines: dict[str, list[dict[str, Any]]] = {}

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the next message of the side that is asked."""
        number, _, role = request["user"].partition("/")
        with _LOCK:
            if request["user"] not in self._lines:
                self._learn(int(number))
        said: int = sum(message["role"] == "assistant" for message in request["messages"])
        opening = 1 if role == "agent" else 0  # The agent's greeting, which no model said.
        return self._lines[request["user"]][said - opening]

    def _learn(self, number: int) -> None:
        """Note what either side says and calls when gold plays a task."""
        domain, task = self.tasks[number]
        simulation = simulate(task, domain=domain, agent="gold", user="gold")
        for role, kind in (("agent", AssistantMessage), ("user", UserMessage)):
            own = [message for message in simulation.messages if isinstance(message, kind)]
            lines = [_chat(message) for message in (own[1:] if role == "agent" else own)]
            self._lines[f"{number}/{role}"] = lines
        if number % 2:
            texts = [line for line in self._lines[f"{number}/agent"] if not line.get("tool_calls")]
            self._lines[f"{number}/agent"] = texts


def _chat(message: Any) -> dict[str, Any]:
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": json.dumps(call.arguments)}}
        for call in message.tool_calls or []
    ]
    return {"role": "assistant", "content": message.content, **({"tool_calls": calls} if calls else {})}
