"""Who spoke: the actors of an agent in its messages, its model calls, the rules, the blame, and the traces of a run."""

from __future__ import annotations

import asyncio
import contextvars
import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.analysis.usage import UsageTotals
from pytest_tau.capabilities.traces.reading import Conversation, read_traces
from pytest_tau.capabilities.traces.reading.stored import Simulations
from pytest_tau.chat import LLM, ChatReply
from pytest_tau.chat.requests import Usage
from pytest_tau.diagnosis import explain
from pytest_tau.endpoint import EndpointRequest
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Simulation
from pytest_tau.policy import Trajectory, only_actors
from pytest_tau.reports.conversations import numbered_lines
from pytest_tau.reports.export_tau2 import trimmed
from pytest_tau.reports.html.conversation import _messages, _usage
from pytest_tau.runs.manifest import add_usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau import AgentTrial
    from pytest_tau.chat import ChatRequest

MOCK = pytest_tau.load_domain("mock")
(TASK,) = [task for task in MOCK.tasks(split=None) if task.id == "create-task"]
#: What the user of the task asks for, and something else.
RIGHT, WRONG = ({"user_id": "user_1", "title": title} for title in ("Order new chairs", "Order new tables"))


class Chat:
    """A model whose answers are given, in their order."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._messages = [*messages]

    async def complete(self, request: ChatRequest) -> ChatReply:
        message = self._messages.pop(0) if self._messages else {"content": "Done."}
        return ChatReply(message={"role": "assistant", **message}, usage=Usage(prompt_tokens=10, completion_tokens=1))


def simulated(agent: Any, *messages: dict[str, Any]) -> Simulation:
    settings = SimulationSettings(llms={"agent": LLM("fake/agent", Chat(*messages))})
    simulation = pytest_tau.simulate(TASK, domain=MOCK, agent=agent, settings=settings)
    # As it is stored.
    return Simulation.model_validate_json(simulation.model_dump_json())


def actors(simulation: Simulation) -> list[str | None]:
    """Who has written the agent's messages after its greeting."""
    return [message.actor for message in simulation.messages[1:] if message.role == "assistant"]


def looping(run: Callable[[AgentTrial], Any], **marks: Any) -> Any:
    """An agent on its own loop that answers each message by a function of the trial."""

    def factory(trial: AgentTrial) -> Any:
        async def turn(text: str) -> Any:
            return await run(trial)

        return turn

    return pytest_tau.own_loop(**marks)(factory) if marks else pytest_tau.own_loop(factory)


async def create(trial: AgentTrial, arguments: dict[str, str] = RIGHT) -> None:
    (tool,) = [tool for tool in trial.tools if tool.name == "create_task"]
    await tool.acall(**arguments)


async def ask(trial: AgentTrial, model: str = "tau") -> str:
    """Call the model as the endpoint does: in a context that knows nothing of the code that has sent the request."""
    asked = EndpointRequest(model=model, messages=[{"role": "user", "content": "next"}])
    coming = trial.session.complete(asked)
    reply = await asyncio.get_running_loop().create_task(coming, context=contextvars.Context())
    return str(reply.message.get("content"))


async def _in_blocks(trial: AgentTrial) -> str:
    with trial.speaking_as("triage"):
        await ask(trial)
        with trial.speaking_as("refunds"):
            await asyncio.create_task(create(trial))
            await ask(trial)
        await ask(trial)
    return "Done."


async def _one_after_the_other(trial: AgentTrial) -> str:
    trial.speaking_as("triage")
    await ask(trial)
    trial.speaking_as("refunds")
    await create(trial)
    return await ask(trial)


async def _at_once(trial: AgentTrial) -> dict[str, str]:
    both = asyncio.Barrier(2)

    async def one(actor: str, *, creates: bool) -> None:
        with trial.speaking_as(actor):
            await both.wait()
            await ask(trial)
            await both.wait()
            if creates:
                await create(trial)

    await asyncio.gather(one("triage", creates=False), one("refunds", creates=True))
    return {"role": "assistant", "name": "triage", "content": "Done."}


async def _by_models(trial: AgentTrial) -> str:
    await ask(trial, "tau:triage")
    await ask(trial, "tau:refunds")
    await create(trial)
    return await ask(trial, "tau:triage")


async def _by_nobody(trial: AgentTrial) -> str:
    await ask(trial)
    await create(trial)
    return "Done."


CALLS = {"tool_calls": [{"id": "c1", "function": {"name": "create_task", "arguments": json.dumps(RIGHT)}}]}


@pytest.mark.parametrize(
    ("run", "answers", "spoke", "calls"),
    [
        (_in_blocks, [], ["refunds", "triage"], {"triage": 2, "refunds": 1}),
        (_one_after_the_other, [], ["refunds", "refunds"], {"triage": 1, "refunds": 1}),
        # While two speak, nobody knows whose a request over HTTP is.
        (_at_once, [], ["refunds", "triage"], {}),
        (_by_models, [{"content": "To refunds."}, CALLS], ["refunds", "triage"], {"triage": 2, "refunds": 1}),
        (_by_nobody, [], [None, None], {}),
    ],
)
def test_messages_and_model_calls_have_their_actor(
    run: Any, answers: list[dict[str, Any]], spoke: list[str | None], calls: dict[str, int]
) -> None:
    simulation = simulated(looping(run), *answers)
    assert (simulation.reward, actors(simulation)) == (1, spoke)
    used = simulation.model_usage["agent"]
    assert {actor: own.calls for actor, own in used.actors.items()} == calls
    assert all(own.prompt_tokens == 10 * own.calls for own in used.actors.values())
    assert ('"actor' in simulation.model_dump_json()) == any([*spoke, *calls])


class Answering:
    tau_actors = ("triage",)

    def respond(self, message: Any) -> dict[str, str]:
        return {"role": "assistant", "name": "refnds", "content": "Done."}


def _mistyped() -> Any:
    async def run(trial: AgentTrial) -> str:
        with trial.speaking_as("refnds"):
            return "Done."

    return looping(run, actors=["refunds", "triage"])


def _model_of_nobody() -> Any:
    async def run(trial: AgentTrial) -> str:
        return await ask(trial, "tau:refnds")

    return looping(run, actors=["refunds", "triage"])


@pytest.mark.parametrize("agent", [Answering, _mistyped(), _model_of_nobody()])
def test_an_actor_that_is_not_declared_is_an_error_of_the_agent(agent: Any) -> None:
    simulation = simulated(agent)
    assert simulation.termination_reason == "agent_error"
    assert "unknown actor 'refnds'" in (simulation.error or "")
    assert "(known: " in (simulation.error or "")


@pytest.mark.parametrize("declared", ["refunds", [""], [1], {"refunds": 1}])
def test_declared_actors_are_a_list_of_names(declared: Any) -> None:
    with pytest.raises(ConfigurationError, match="actors: expected a list of names, got"):
        pytest_tau.own_loop(actors=declared)(lambda trial: None)
    kind = type("Agent", (), {"tau_actors": declared, "respond": lambda self, message: "x"})
    with pytest.raises(ConfigurationError, match="actors: expected a list of names, got"):
        pytest_tau.simulate(TASK, domain=MOCK, agent=kind)


def test_reports_name_the_actor() -> None:
    async def wrong(trial: AgentTrial) -> str:
        with trial.speaking_as("refunds"):
            await ask(trial)
            await create(trial, WRONG)
        return "Done."

    simulation = simulated(looping(wrong))
    text = "\n".join(line.text for line in explain(simulation))
    assert (
        "looks like the agent's fault: it used another value than the user had asked for (message 2 by refunds)" in text
    )
    assert simulation.info.blame is not None
    assert simulation.info.blame.actor == "refunds"
    (line,) = numbered_lines(2, simulation.messages[2])
    assert line.text == '    2  agent  [refunds] > create_task(user_id="user_1", title="Order new tables")'
    shown = _messages(simulation.messages)
    assert [message.get("actor") for message in shown if message["role"] == "assistant"] == [None, "refunds", "refunds"]
    assert [used["role"] for used in _usage(simulation)] == ["agent", "agent · refunds"]


def test_a_trimmed_export_has_no_actors() -> None:
    stored = json.loads(simulated(looping(_in_blocks)).model_dump_json())
    found = trimmed({"info": None, "reward_info": None, "messages": stored["messages"]})
    assert any("actor" in message for message in stored["messages"])
    assert not any("actor" in message for message in found["messages"])


def test_usage_is_added_by_actor() -> None:
    usage = simulated(looping(_in_blocks)).model_usage
    totals = UsageTotals()
    for _ in range(2):
        totals.add(usage)
    totals.add(simulated(looping(_by_nobody)).model_usage)
    (line,) = totals.lines()
    assert line.startswith("agent fake/agent: 7 calls, 70 tokens sent, 7 received")
    assert line.endswith(
        " (refunds 2 calls, 20 tokens sent, 2 received; triage 4 calls, 40 tokens sent, 4 received; without a name 1 call)"
    )
    stored = {role: used.model_dump(exclude_defaults=True) for role, used in usage.items()}
    assert add_usage(stored, stored)["agent"]["actors"]["triage"]["calls"] == 4


def test_a_rule_may_be_about_the_actor() -> None:
    rule = only_actors("Only refunds creates tasks.", actors=["refunds"])
    tools = MOCK.environment(TASK).tool_infos

    def breaches(run: Any) -> list[str]:
        trajectory = Trajectory.of(simulated(looping(run)).messages, tools)
        return [breach.evidence for breach in rule.check(trajectory)]

    async def by_triage(trial: AgentTrial) -> str:
        with trial.speaking_as("triage"):
            await create(trial)
        return "Done."

    assert breaches(_in_blocks) == breaches(_by_nobody) == []
    assert breaches(by_triage) == ["made by triage; only refunds may"]


def read(tmp_path: Path, text: str, name: str = "log.json") -> list[Conversation | str]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "folder").mkdir(exist_ok=True)
    return list(read_traces([tmp_path / name], tmp_path / "folder"))


WHO_AND_WHEN = {
    "question": "How many?",
    "question_ID": "q1",
    "mistake_agent": "WebSurfer",
    "mistake_step": "3",
    "mistake_reason": "It clicks on an advertisement.",
    "history": [
        {"role": "human", "content": "How many?"},
        {"role": "Orchestrator (thought)", "content": "Search."},
        {"role": "Orchestrator (-> WebSurfer)", "content": "Please search."},
        {"role": "WebSurfer", "content": "I have clicked."},
        {"role": "user", "name": "Computer_terminal", "content": "exitcode: 0"},
        {"role": "assistant", "content": "Two."},
    ],
}
AGENT_RX = {
    "trajectory_id": "t1",
    "instruction": "Book it.",
    "steps": [
        {"index": 1, "substeps": [{"sub_index": 1, "role": "Orchestrator", "content": "Book."}]},
        {"index": 2, "substeps": [{"sub_index": 1, "role": "WebSurfer", "content": "Booked."}]},
    ],
}


def test_logs_of_who_and_when_keep_the_names(tmp_path: Path) -> None:
    (found,) = read(tmp_path, json.dumps(WHO_AND_WHEN, indent=1))
    assert isinstance(found, Conversation)
    simulation = Simulations([]).simulation(found)
    assert (simulation.task_id, simulation.messages[0].role) == ("q1", "user")
    assert actors(simulation) == ["Orchestrator", "Orchestrator", "WebSurfer", "Computer_terminal", None]
    assert simulation.messages[2].content == "(-> WebSurfer) Please search."
    assert found.notes == ["message 3: the mistake of WebSurfer, by its label: It clicks on an advertisement."]


def test_logs_of_agentrx_keep_the_names(tmp_path: Path) -> None:
    lines = [json.dumps(AGENT_RX | {"trajectory_id": key}) for key in ("t1", "t2")]
    found = read(tmp_path, "\n".join(lines), "log.jsonl")
    made = [Simulations([]).simulation(one) for one in found if isinstance(one, Conversation)]
    assert [(one.task_id, actors(one)) for one in made] == [("t1", ["WebSurfer"]), ("t2", ["WebSurfer"])]
    assert made[0].messages[0].actor == "Orchestrator"  # type: ignore[union-attr]
    assert made[0].facts["traces"]["notes"] == ["the request, which the log does not repeat: Book it."]


@pytest.mark.parametrize("broken", [{"history": []}, {"history": [1]}, {"trajectory_id": "t", "steps": [{"index": 1}]}])
def test_a_log_without_messages_is_reported(tmp_path: Path, broken: Any) -> None:
    (problem, _) = read(tmp_path, json.dumps(broken))
    assert "no spans in a known format" in str(problem)
