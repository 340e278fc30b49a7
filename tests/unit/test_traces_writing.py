"""``tau export --format otlp``: a trial as a trace of OpenTelemetry."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.capabilities.traces.writing.otlp import request_of
from pytest_tau.models import AssistantMessage, ModelUsage, ToolCall, ToolMessage, UserMessage
from pytest_tau.runs.reader import Run
from pytest_tau.testing import ScriptedParticipant as Script, call

from .tiny import action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

    from .commands import Tau

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = call("rename", item_id="lamp", name="Light")
LOST = call("rename", item_id="nothing", name="Light")


def played(domain: Domain, *replies: Any) -> Simulation:
    agent, user = Script([*replies, "Done."]), Script(["Rename it", "###STOP###"])
    return pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, seed=5)


def spans(simulation: Simulation) -> list[dict[str, Any]]:
    (resource,) = request_of(simulation, "run", "tiny", "tiny::t[trial-0]")["resourceSpans"]
    found: list[dict[str, Any]] = resource["scopeSpans"][0]["spans"]
    return found


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {each["key"]: next(iter(each["value"].values())) for each in span["attributes"]}


def test_a_trace_has_the_turns_of_the_agent_and_their_calls(domain: Domain) -> None:
    found = spans(played(domain, RENAME))
    root, turn, made = found[0], *found[1:3]
    assert [each["name"].split()[0] for each in found[:3]] == ["invoke_workflow", "invoke_agent", "execute_tool"]
    assert (root.get("parentSpanId"), turn["parentSpanId"], made["parentSpanId"]) == (
        None,
        root["spanId"],
        turn["spanId"],
    )
    assert attributes(made)["gen_ai.tool.call.arguments"] == '{"item_id": "lamp", "name": "Light"}'
    assert attributes(turn)["input.value"] == "Rename it"
    assert attributes(turn)["output.value"] == "Done."
    own = attributes(root)
    assert (own["pytest_tau.test"], own["pytest_tau.task.id"], own["pytest_tau.trial"]) == (
        "tiny::t[trial-0]",
        WANTED.id,
        "0",
    )
    assert root["startTimeUnixNano"] <= made["startTimeUnixNano"] <= made["endTimeUnixNano"] <= root["endTimeUnixNano"]


@pytest.mark.parametrize(("replies", "label"), [((RENAME,), "pass"), ((), "fail")])
def test_the_verdict_and_each_component_are_evaluations(domain: Domain, replies: Any, label: str) -> None:
    root = spans(played(domain, *replies))[0]
    results = [attributes(each) for each in root["events"] if each["name"] == "gen_ai.evaluation.result"]
    assert [(each["gen_ai.evaluation.name"], each["gen_ai.evaluation.score.label"]) for each in results] == [
        ("reward", label),
        ("DB", label),
    ]
    assert ("gen_ai.evaluation.explanation" in results[0]) == (label == "fail")
    assert root["status"] == {}  # a failed task is no error


def test_a_failed_call_is_an_error(domain: Domain) -> None:
    (failed,) = [each for each in spans(played(domain, LOST)) if each["name"].startswith("execute_tool")]
    assert failed["status"]["code"] == 2
    assert failed["status"]["message"].startswith("Error")
    assert attributes(failed)["error.type"] == "tool_error"


def test_a_call_of_a_model_has_its_tokens_and_its_own_view(domain: Domain) -> None:
    base = played(domain, RENAME)
    usage = {"prompt_tokens": 31, "completion_tokens": 7}
    messages = [
        AssistantMessage(content="Hi!"),
        UserMessage(tool_calls=[ToolCall(id="u1", name="look", requestor="user")]),
        ToolMessage(id="u1", content="dark", requestor="user"),
        UserMessage(content="It is dark."),
        AssistantMessage(content="I see.", usage=usage, cost=0.5, generation_time_seconds=2.0, finish_reason="stop"),
    ]
    simulation = base.model_copy(
        update={"messages": messages, "model_usage": {"agent": ModelUsage(model="openai/gpt", calls=1)}}
    )
    (chat,) = [each for each in spans(simulation) if each["name"].startswith("chat")]
    found = attributes(chat)
    assert chat["name"] == "chat openai/gpt"
    assert (found["gen_ai.usage.input_tokens"], found["gen_ai.usage.output_tokens"]) == ("31", "7")
    assert "look" not in found["gen_ai.input.messages"]
    assert int(chat["endTimeUnixNano"]) - int(chat["startTimeUnixNano"]) == 2_000_000_000
    (looked,) = [each for each in spans(simulation) if each["name"] == "execute_tool look"]
    assert attributes(looked)["pytest_tau.role"] == "user"
    assert attributes(spans(simulation)[0])["pytest_tau.times"] == "estimated"


def test_the_same_run_gives_the_same_file_and_it_is_read_back(tau: Tau, tmp_path: Path, domain: Domain) -> None:
    simulation = played(domain, RENAME)
    entry = {"test": "tiny::t[trial-0]", "domain": "tiny", **simulation.model_dump(mode="json")}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "simulations.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    assert tau("export", "run", "--format", "otlp", "-o", "a.jsonl").status == 0
    assert tau("export", "run", "--format", "otlp", "-o", "b.jsonl").status == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert tau("import", "a.jsonl", "-o", "back").status == 0
    (trial,) = Run(tmp_path / "back").trials()
    assert [(m.role, m.content) for m in trial.simulation.messages] == [
        (m.role, m.content) for m in simulation.messages
    ]
    assert trial.domain == "tiny"
