from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import ToolMessage
from pytest_tau.participants import load_source
from pytest_tau.participants.agents import load_recordings
from pytest_tau.runner import SimulationSettings, TrialRunner, prepare_trial
from pytest_tau.testing import ScriptedParticipant

from .tiny import STOP, action, agent, call, run, task, user

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB", "ACTION"]})
LAMP = '{"item_id": "lamp", "name": "Light", "price": 10.0, "tags": ["red"], "meta": {"sizes": [1, 2]}}'


def talk(*results: ToolMessage) -> list[Any]:
    """A conversation with a call of each side's."""
    renamed, switched = results or (
        ToolMessage(id="1", content=LAMP),
        ToolMessage(id="2", content="on", requestor="user"),
    )
    return [
        agent("Good morning."),
        user("Rename the lamp, please."),
        agent(call("rename", item_id="lamp", name="Light").model_copy(update={"id": "1"})),
        renamed,
        agent("Done. Switch it on."),
        user(call("switch").model_copy(update={"id": "2"})),
        switched,
        user("Thanks. ###STOP###"),
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.json"


def entry(messages: list[Any], **fields: Any) -> dict[str, Any]:
    dumped = [message.model_dump(mode="json", exclude_none=True) for message in messages]
    return {"task_id": "t", "termination_reason": "user_stop", "messages": dumped} | fields


def replayed(domain: Domain, file: Path, document: Any, wanted: Any = WANTED, **options: Any) -> Simulation:
    file.write_text(json.dumps(document), encoding="utf-8")
    options = {"agent": f"replay:{file}"} | options
    return pytest_tau.simulate(wanted, domain=domain, **options)


def essence(messages: list[Any]) -> list[Any]:
    return [(m.role, m.content, [c.name for c in getattr(m, "tool_calls", None) or []]) for m in messages]


# Files


@pytest.mark.parametrize(
    "wrap", [lambda e: e, lambda e: [e], lambda e: {"simulations": [e], "info": {}}], ids=["one", "array", "results"]
)
@pytest.mark.parametrize("zipped", [False, True])
def test_recordings_are_read_from_files_of_three_shapes(file: Path, wrap: Any, zipped: bool) -> None:
    content = json.dumps(wrap(entry(talk(), trial=2, termination_reason="max_steps"))).encode()
    file.write_bytes(gzip.compress(content) if zipped else content)
    (only,) = load_recordings(file)
    assert (only.task_id, only.trial, only.termination_reason) == ("t", 2, "max_steps")
    assert essence(only.messages) == essence(talk())


def test_optional_fields_of_an_entry(file: Path) -> None:
    file.write_text(json.dumps({"task_id": "t", "messages": [], "trial": None}), encoding="utf-8")
    (only,) = load_recordings(file)
    assert (only.trial, only.termination_reason) == (0, "user_stop")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "recording .*run.json: "),
        (b"5", "expected a conversation or an array"),
        (b"\x1f\x8bnot gzip", "recording .*run.json: "),
        (gzip.compress(b"{}" * 100, mtime=0)[:-20], "recording .*run.json: "),
        (b"\xff\xfe", "recording .*run.json: "),
        (b"{}", "entry 0: not a conversation: missing 'messages'"),
        (b"[5]", "entry 0: not a conversation"),
        (b'[{"messages": []}]', "entry 0: not a conversation: missing 'task_id'"),
        (b'[{"task_id": "t", "messages": []}, {"messages": null}]', "entry 1: not a conversation"),
        (b'{"task_id": "t", "messages": [{"role": "x"}]}', "entry 0: messages.0"),
        (b'{"simulations": {}}', "expected a conversation or an array"),
    ],
    ids=[  # which the bytes would else be part of
        "cut off",
        "a number",
        "no gzip",
        "gzip that is cut off",
        "no UTF-8",
        "an empty object",
        "an array of numbers",
        "no task",
        "no messages in the second",
        "an unknown role",
        "an object of simulations",
    ],
)
def test_what_is_no_recording(file: Path, content: bytes, told: str) -> None:
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=told):
        load_recordings(file)


def test_a_recording_that_is_not_there(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"recording .*run\.json: "):
        load_recordings(file)


# Conversations


def test_both_sides_say_and_call_what_was_recorded(domain: Domain, file: Path) -> None:
    simulation = replayed(domain, file, entry(talk()))
    assert essence(simulation.messages) == essence(talk())
    assert (simulation.termination_reason, simulation.stop_token) == ("user_stop", "###STOP###")
    assert simulation.replay_differences == []
    assert simulation.calls[1].call.requestor == "user"


def test_the_verdict_is_found_anew(domain: Domain, file: Path) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="Light"), action("switch", "user")]})
    assert replayed(domain, file, entry(talk(), reward=0.0), wanted).reward == 1.0
    assert replayed(domain, file, entry(talk(), reward=1.0), WANTED).reward == 0.0


def test_different_results_are_reported_by_side(domain: Domain, file: Path) -> None:
    other = (
        ToolMessage(id="1", content=LAMP.replace("10.0", "12.0")),
        ToolMessage(id="2", content="off", requestor="user"),
    )
    differences = replayed(domain, file, entry(talk(*other))).replay_differences
    assert len(differences) == 2
    assert "12.0" in differences[0]
    assert "10.0" in differences[0]
    assert differences[1] == "recorded 'off', got 'on'"


def test_an_error_flag_that_differs_is_a_difference(domain: Domain, file: Path) -> None:
    other = (
        ToolMessage(id="1", content=LAMP, error=True),
        ToolMessage(id="2", content="on", requestor="user"),
    )
    assert len(replayed(domain, file, entry(talk(*other))).replay_differences) == 1


def test_results_are_compared_as_json(domain: Domain, file: Path) -> None:
    other = (
        ToolMessage(id="1", content=json.dumps(json.loads(LAMP), sort_keys=True, indent=1)),
        ToolMessage(id="2", content="on", requestor="user"),
    )
    assert replayed(domain, file, entry(talk(*other))).replay_differences == []


def test_several_results_at_once_are_compared_in_order(domain: Domain, file: Path) -> None:
    messages = [
        agent("Hi"),
        user("Go"),
        agent(call("count"), call("count")),
        ToolMessage(content='"1"'),
        ToolMessage(content='"3"'),
        STOP,
    ]
    assert replayed(domain, file, entry(messages)).replay_differences == ["recorded '\"3\"', got '\"2\"'"]


@pytest.mark.parametrize("reason", ["max_steps", "agent_error", "timeout", "user_stop"])
def test_a_recording_that_breaks_off_ends_as_the_recorded_one_did(domain: Domain, file: Path, reason: Any) -> None:
    simulation = replayed(domain, file, entry(talk()[:5], termination_reason=reason))
    assert simulation.termination_reason == reason
    assert essence(simulation.messages) == essence(talk()[:5])


def test_a_recorded_stop_of_the_agent_s_is_one(domain: Domain, file: Path) -> None:
    simulation = replayed(domain, file, entry(talk()[:5], termination_reason="agent_stop"))
    assert (simulation.termination_reason, len(simulation.messages)) == ("agent_stop", 5)


def test_without_a_recorded_greeting_the_usual_one_is_said(domain: Domain, file: Path) -> None:
    messages = [user("Go"), agent("Done"), STOP]
    simulation = replayed(domain, file, entry(messages))
    assert [m.content for m in simulation.messages] == ["Hi! How can I help you today?", "Go", "Done", "###STOP###"]


def test_a_history_is_not_said_again(domain: Domain, file: Path) -> None:
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Yes?"}]
    wanted = task({"actions": []}, state={"message_history": history})
    messages = [user("Hello"), agent("Yes?"), user("Nothing."), agent("Bye"), STOP]
    simulation = replayed(domain, file, entry(messages), wanted)
    assert essence(simulation.messages) == essence(messages)
    assert simulation.reward == 1.0


def test_trials_of_a_recording_are_matched(domain: Domain, file: Path) -> None:
    document = [entry([agent("Hi"), user(f"trial {n} ###STOP###")], trial=n) for n in (1, 0)]
    for trial, said in ((0, "trial 0 ###STOP###"), (1, "trial 1 ###STOP###"), (5, "trial 1 ###STOP###")):
        assert replayed(domain, file, document, trial=trial).messages[-1].content == said


def test_a_task_that_the_recording_lacks_is_the_harness_s_fault(domain: Domain, file: Path) -> None:
    simulation = replayed(domain, file, entry(talk(), task_id="other"))
    assert simulation.termination_reason == "unexpected_error"
    assert simulation.outcome == "error"
    assert "no conversation of task 't'" in (simulation.error or "")


def test_one_side_alone_may_be_replayed(domain: Domain, file: Path) -> None:
    mine = ScriptedParticipant(["Go", "###STOP###"])
    simulation = replayed(domain, file, entry(talk()), user=mine)
    assert [m.content for m in simulation.messages if m.role == "user"] == ["Go", "###STOP###"]
    assert simulation.called("rename")


def test_a_recording_serves_many_simulations(domain: Domain, file: Path) -> None:
    """The messages of one simulation are not those of the next: their turns and times are their own."""
    file.write_text(json.dumps(entry(talk())), encoding="utf-8")
    agents, users = (load_source(f"replay:{file}", side) for side in ("agent", "user"))  # type: ignore[arg-type]

    async def again() -> Simulation:
        return await TrialRunner(prepare_trial(WANTED, domain, SimulationSettings()), agents, users).run()

    first, second = run(again()), run(again())
    assert essence(first.messages) == essence(second.messages) == essence(talk())
    assert [m.turn_idx for m in first.messages] == list(range(8))
    assert all(one is not two for one, two in zip(first.messages, second.messages, strict=True))
