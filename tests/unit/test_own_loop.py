"""Agents that run their own loop: their conversations equal those of other agents, and which calls share a message."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.chat import LLM, ChatReply
from pytest_tau.diagnosis import explain
from pytest_tau.endpoint import EndpointRequest
from pytest_tau.integrations import default_model
from pytest_tau.models import MultiToolMessage, ToolMessage, UserMessage
from pytest_tau.participants.loading import domain_agent
from pytest_tau.participants.own_loop.answers import read_answer
from pytest_tau.participants.replies import as_message
from pytest_tau.testing import ModelServer
from pytest_tau.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau import AgentTrial, Domain, Simulation
    from pytest_tau.chat import ChatRequest

RETAIL = pytest_tau.load_domain("retail")


# The same conversations.


def said(simulation: Simulation) -> list[tuple[Any, ...]]:
    """The messages of a conversation without times and ids."""
    return [
        (
            message.role,
            message.content,
            [(call.name, call.arguments) for call in getattr(message, "tool_calls", 0) or []],
        )
        for message in simulation.messages
    ]


def results(calls: Any, outcomes: Any) -> Any:
    """The message by which another agent would get these results."""
    messages = [
        ToolMessage(id=call.id, content=outcome.text, error=outcome.is_error)
        for call, outcome in zip(calls, outcomes, strict=True)
    ]
    return messages[0] if len(messages) == 1 else MultiToolMessage(tool_messages=messages)


def rules_on_its_own_loop(domain: Domain, *, blocking: bool) -> Any:
    """The domain's agent of rules as one that runs its own loop."""
    kind = domain_agent("rules", domain.spec.agents)

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Callable[[str], Any]:
        agent = kind(tools=trial.tools, policy=trial.policy)
        tools = {tool.name: tool for tool in trial.tools}

        async def call(name: str, arguments: dict[str, Any]) -> Any:
            tool = tools[name]
            return tool.call_result(arguments) if blocking else await tool.acall_result(arguments)

        async def run(text: str) -> str | None:
            reply = as_message(await agent.respond(UserMessage(content=text)), "agent")
            while reply.tool_calls:
                outcomes = [await call(one.name, one.arguments) for one in reply.tool_calls]
                reply = as_message(await agent.respond(results(reply.tool_calls, outcomes)), "agent")
            return reply.content

        return (lambda text: asyncio.run(run(text))) if blocking else run

    return factory


@pytest.mark.parametrize("blocking", [False, True], ids=["async", "blocking"])
@pytest.mark.parametrize(
    "name", ["retail", *(pytest.param(name, marks=pytest.mark.exhaustive) for name in ("airline", "telecom"))]
)
def test_conversations_equal_those_of_the_same_agent_without_its_own_loop(name: str, blocking: bool) -> None:
    domain = pytest_tau.load_domain(name)
    for task in domain.tasks(split="small"):
        one = pytest_tau.simulate(task, domain=domain, agent="rules")
        other = pytest_tau.simulate(task, domain=domain, agent=rules_on_its_own_loop(domain, blocking=blocking))
        assert said(one) == said(other)
        assert one.reward_info == other.reward_info


def test_many_conversations_at_once() -> None:
    agent = rules_on_its_own_loop(RETAIL, blocking=False)
    tasks = RETAIL.tasks(split="small")

    async def all_of_them() -> list[Simulation]:
        runs = [pytest_tau.asimulate(tasks[n % len(tasks)], domain=RETAIL, agent=agent) for n in range(30)]
        return await asyncio.gather(*runs)

    assert {simulation.termination_reason for simulation in asyncio.run(all_of_them())} == {"user_stop"}


# Which calls share a message.

LOOKS = [("call_a", {"user_id": "a"}), ("call_b", {"user_id": "b"}), ("call_c", {"user_id": "c"})]


def answer(*looks: tuple[str, dict[str, Any]], text: str | None = None) -> dict[str, Any]:
    calls = [
        {"id": key, "type": "function", "function": {"name": "get_user_details", "arguments": json.dumps(arguments)}}
        for key, arguments in looks
    ]
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


class Chat:
    """Answers with messages in their order, and then with a text."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._messages = [*messages]

    async def complete(self, request: ChatRequest) -> ChatReply:
        del request
        return ChatReply(message=self._messages.pop(0) if self._messages else answer(text="That is all."))


def played(run: Callable[[AgentTrial], Any], *messages: dict[str, Any], **limits: int) -> Simulation:
    """A simulation whose agent calls ``run(trial)`` once its model has answered, and then says good-bye."""

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        async def turn(text: str) -> str:
            asked = EndpointRequest("tau", [{"role": "user", "content": text}], [], None, None, {})
            await trial.session.complete(asked)
            await run(trial)
            return "Good-bye."

        return turn

    settings = SimulationSettings(
        llms={"agent": LLM("fake/agent", Chat(*messages))}, limits=pytest_tau.Limits(**limits)
    )
    task = RETAIL.tasks(split="small")[0]
    return pytest_tau.simulate(task, domain=RETAIL, agent=factory, settings=settings)


def called(simulation: Simulation) -> list[list[str]]:
    """The ids of the calls of each message of the agent that has calls."""
    return [
        [call.id for call in message.tool_calls]
        for message in simulation.messages
        if message.role == "assistant" and message.tool_calls
    ]


def look(trial: AgentTrial) -> Any:
    return next(tool for tool in trial.tools if tool.name == "get_user_details")


def test_calls_of_one_answer_share_a_message_in_the_model_s_order_however_late_they_come() -> None:
    async def run(trial: AgentTrial) -> None:
        async def one(number: int) -> str:
            await asyncio.sleep(0.05 * (3 - number))
            result: str = await look(trial).acall(**LOOKS[number][1])
            return result

        await asyncio.gather(*map(one, range(3)))

    simulation = played(run, answer(*LOOKS, text="Let me look."))
    assert called(simulation)[0] == ["call_a", "call_b", "call_c"]
    first = next(message for message in simulation.messages if getattr(message, "tool_calls", None))
    assert first.content == "Let me look."


def test_calls_in_threads_share_a_message() -> None:
    async def run(trial: AgentTrial) -> None:
        await asyncio.gather(*(asyncio.to_thread(look(trial).call, **arguments) for _, arguments in LOOKS))

    assert called(played(run, answer(*LOOKS)))[0] == ["call_a", "call_b", "call_c"]


def test_calls_one_after_the_other_have_a_message_each_and_the_model_s_ids() -> None:
    async def run(trial: AgentTrial) -> None:
        for _, arguments in LOOKS:
            await look(trial).acall(**arguments)

    simulation = played(run, answer(*LOOKS, text="Let me look."))
    assert called(simulation)[:3] == [["call_a"], ["call_b"], ["call_c"]]
    texts = [message.content for message in simulation.messages if getattr(message, "tool_calls", None)]
    assert texts[:3] == ["Let me look.", None, None]


def test_calls_one_after_the_other_in_tasks_are_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_tau.participants.own_loop.bridge._PATIENCE", 1.0)
    seconds: list[float] = []

    async def run(trial: AgentTrial) -> None:
        loop = asyncio.get_running_loop()
        for _, arguments in LOOKS:
            start = loop.time()
            await asyncio.create_task(look(trial).acall(**arguments))
            seconds.append(loop.time() - start)

    simulation = played(run, answer(*LOOKS))
    assert called(simulation)[:3] == [["call_a"], ["call_b"], ["call_c"]]
    assert seconds[0] >= 0.99
    assert seconds[2] < 0.99


def test_a_call_that_the_framework_refuses_makes_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_tau.participants.own_loop.bridge._PATIENCE", 0.2)

    async def run(trial: AgentTrial) -> None:
        await asyncio.gather(*(look(trial).acall(**arguments) for _, arguments in LOOKS[:2]))

    assert called(played(run, answer(*LOOKS)))[0] == ["call_a", "call_b"]


def test_other_calls_do_not_wait_for_those_of_the_answer() -> None:
    async def run(trial: AgentTrial) -> None:
        async def second() -> None:
            await look(trial).acall(user_id="other")
            await look(trial).acall(**LOOKS[1][1])

        await asyncio.gather(look(trial).acall(**LOOKS[0][1]), second())

    assert called(played(run, answer(*LOOKS[:2])))[:2] == [["tau_call_1"], ["call_a", "call_b"]]


def test_an_abandoned_call_makes_no_message() -> None:
    async def run(trial: AgentTrial) -> None:
        first = asyncio.ensure_future(look(trial).acall(user_id="abandoned"))
        await asyncio.sleep(0)
        first.cancel()
        await look(trial).acall(user_id="other")

    simulation = played(run, answer(text="Yes."))
    arguments = [call.arguments for message in simulation.messages for call in getattr(message, "tool_calls", 0) or []]
    assert {"user_id": "other"} in arguments
    assert {"user_id": "abandoned"} not in arguments


@pytest.mark.parametrize(
    ("arguments", "found"),
    [({"user_id": "a"}, "call_a"), ({"user_id": "x"}, None), ({"user_id": "b"}, "call_b")],
)
def test_a_call_is_found_in_the_answer_by_name_and_arguments(arguments: dict[str, Any], found: str | None) -> None:
    claimed = read_answer(answer(*LOOKS), {"get_user_details"}).claim("get_user_details", arguments)
    assert (claimed and claimed.id) == found


def test_a_call_is_found_with_arguments_that_were_added() -> None:
    """A framework may have added defaults."""
    read = read_answer(answer(LOOKS[0]), {"get_user_details"})
    claimed = read.claim("get_user_details", {"user_id": "a", "verbose": False})
    assert claimed is not None
    assert not read.missing
    assert read.claim("get_user_details", {"user_id": "a"}) is None


def test_what_cannot_arrive_is_counted() -> None:
    message = answer(LOOKS[0])
    for name, arguments in [("hand_off", "{}"), ("get_user_details", "[1]"), ("get_user_details", "{")]:
        message["tool_calls"].append({"id": "x", "function": {"name": name, "arguments": arguments}})
    read = read_answer(message, {"get_user_details"})
    assert ([call.id for call in read.calls], read.unknown, read.malformed) == (["call_a"], 1, 2)


def test_a_tool_of_the_framework_s_own_is_not_unknown() -> None:
    message = answer(LOOKS[0])
    message["tool_calls"].append({"id": "x", "function": {"name": "hand_off", "arguments": "{}"}})
    read = read_answer(message, {"get_user_details"}, {"get_user_details", "hand_off"})
    assert ([call.id for call in read.calls], read.unknown) == (["call_a"], 0)


async def _call(trial: AgentTrial, *users: str) -> None:
    for user in users:
        await look(trial).acall(user_id=user)


async def _call_two_late(trial: AgentTrial) -> None:
    await _call(trial, "a")
    await trial.session.complete(EndpointRequest(model="tau", messages=[{"role": "user", "content": "next"}]))
    await _call(trial, "b", "c")


@pytest.mark.parametrize(
    ("run", "unmade"),
    [
        (lambda trial: _call(trial, "a", "b", "c"), 0),
        (lambda trial: _call(trial, "a", "c"), 1),
        (lambda trial: _call(trial, "a", "b", "coerced"), 0),
        (_call_two_late, 0),
        (lambda trial: _call(trial), 3),
    ],
    ids=["all", "one refused", "another argument", "after the next answer", "none"],
)
def test_calls_that_the_agent_did_not_make_are_counted(run: Any, unmade: int) -> None:
    usage = played(run, answer(*LOOKS)).model_usage["agent"]
    assert (usage.unmade_calls, usage.unknown_tools, usage.malformed_calls) == (unmade, 0, 0)


def test_calls_that_the_end_of_the_conversation_prevented_are_not_counted() -> None:
    async def run(trial: AgentTrial) -> None:
        for _, arguments in LOOKS:
            await look(trial).acall(**arguments)

    simulation = played(run, answer(*LOOKS), max_steps=3)
    assert simulation.termination_reason == "max_steps"
    assert simulation.model_usage["agent"].unmade_calls == 0


def test_an_answer_that_is_not_a_message_has_no_calls() -> None:
    assert read_answer({"role": "assistant", "content": None}, {"get_user_details"}).calls == []


# Without models of the trial's own.


def asking(model: str) -> Any:
    """An agent that asks a model for each of its texts."""

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        async def run(text: str) -> str:
            asked = EndpointRequest(model=model, messages=[{"role": "user", "content": text}])
            return str((await trial.session.complete(asked)).message["content"])

        return run

    return factory


def test_an_agent_outside_of_a_run_calls_models_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_model, "has_litellm", lambda: False)  # whose import takes seconds
    monkeypatch.setattr(default_model, "shared_model", default_model.shared_model.__wrapped__)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with ModelServer(lambda _: "No.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        simulation = pytest_tau.simulate(RETAIL.tasks(split="small")[0], domain=RETAIL, agent=asking("openai/gpt-x"))
    assert simulation.termination_reason == "user_stop"
    assert server.requests[0]["model"] == "gpt-x"
    assert simulation.model_usage["agent"].calls == len(server.requests) > 0


def test_the_model_tau_outside_of_a_run_names_the_setting() -> None:
    simulation = pytest_tau.simulate(RETAIL.tasks(split="small")[0], domain=RETAIL, agent=asking("tau"))
    assert simulation.outcome == "error"
    assert "for simulate() llms={'agent': LLM(…)} in its settings" in (simulation.error or "")


# Ends.


def test_threads_that_wait_are_released_when_the_conversation_ends() -> None:
    ended: list[str] = []
    released = threading.Event()

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        def run(text: str) -> str:
            del text
            try:
                while True:
                    look(trial).call(user_id="a")
            except BaseException as error:
                ended.append(type(error).__name__)
                released.set()
                raise

        return run

    task = RETAIL.tasks(split="small")[0]
    settings = SimulationSettings(limits=pytest_tau.Limits(max_steps=9, max_errors=100))
    simulation = pytest_tau.simulate(task, domain=RETAIL, agent=factory, settings=settings)
    assert simulation.termination_reason == "max_steps"
    assert released.wait(10)
    assert ended == ["CancelledError"]


def test_a_call_after_the_conversation_is_refused() -> None:
    tools: list[Any] = []

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        tools.append(look(trial))
        return lambda text: "Good-bye."

    task = RETAIL.tasks(split="small")[0]
    simulation = pytest_tau.simulate(task, domain=RETAIL, agent=factory)
    with pytest.raises(RuntimeError, match="tool 'get_user_details' was called after run"):
        tools[0].call(user_id="a")
    assert not simulation.info.late_calls


@pytest.mark.parametrize("blocking", [True, False], ids=["thread", "task"])
def test_a_call_after_the_conversation_is_noted_in_the_trial(blocking: bool) -> None:
    errors: list[str] = []

    class Agent:
        def __init__(self, trial: AgentTrial) -> None:
            self.tool = look(trial)

        def run(self, text: str) -> str:
            return "Good-bye."

        def close(self) -> None:
            try:
                self.tool.call(user_id="a") if blocking else asyncio.run(self.tool.acall(user_id="a"))
            except RuntimeError as error:
                errors.append(str(error))

    task = RETAIL.tasks(split="small")[0]
    simulation = pytest_tau.simulate(task, domain=RETAIL, agent=pytest_tau.own_loop(Agent))
    assert errors == [
        "tool 'get_user_details' was called after run() had returned: await all calls, and join all threads, in run()"
    ]
    assert simulation.termination_reason == "user_stop"
    assert simulation.info.late_calls == {"get_user_details": 1}
    assert [message for message in simulation.messages if message.role == "tool"] == []
    line = "after the conversation, the agent called get_user_details: not executed"
    assert line in [line.text for line in explain(simulation)]


def test_calls_of_a_task_that_is_not_awaited_count_until_the_answer_is_passed_on() -> None:
    """The second call is made once the first has its result, when the text that run has returned is passed on."""
    tasks: list[asyncio.Task[None]] = []

    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        async def both() -> None:
            await look(trial).acall(user_id="a")
            await look(trial).acall(user_id="b")

        async def run(text: str) -> str:
            tasks.append(asyncio.create_task(both()))
            return "Good-bye."

        return run

    simulation = pytest_tau.simulate(RETAIL.tasks(split="small")[0], domain=RETAIL, agent=factory)
    assert said(simulation)[2:-1] == [
        ("assistant", None, [("get_user_details", {"user_id": "a"})]),
        ("tool", "Error: User not found", []),
        ("assistant", "Good-bye.", []),
    ]
    with pytest.raises(RuntimeError, match="tool 'get_user_details' was called after run"):
        tasks[0].result()
    assert simulation.termination_reason == "user_stop"
    assert simulation.info.late_calls == {"get_user_details": 1}


def test_a_call_before_the_conversation_is_not_one_after_it() -> None:
    @pytest_tau.own_loop
    def factory(trial: AgentTrial) -> Any:
        look(trial).call(user_id="a")

    simulation = pytest_tau.simulate(RETAIL.tasks(split="small")[0], domain=RETAIL, agent=factory)
    assert simulation.termination_reason == "agent_error"
    assert not simulation.info.late_calls


def test_numbers_of_names_are_written_where_there_are_several() -> None:
    assert counted({"b": 3, "a": 1}) == "a, b (3 times)"
