"""An agent behind a server of the Realtime API: its session, its calls, and what it is told when it is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.participants import realtime_agent
from pytest_tau.testing import ScriptedParticipant as Script

from .tiny import action, task

pytest.importorskip("aiohttp", reason="the extra endpoint is not installed")

from .realtime_server import RealtimeServer, serving

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
RENAME = {"name": "rename", "arguments": '{"item_id": "lamp", "name": "Light"}'}
LONG = "Do you want it? It costs " + "a great deal of money and " * 8 + "that is all."


def talk(
    domain: Domain,
    server: RealtimeServer,
    user: list[str],
    mode: str = "regular",
    *,
    sound: bool = False,
    **options: Any,
) -> Simulation:
    active = capability.with_settings(mode="voice", voice_conditions=mode, voice_sound="a.onnx,b" if sound else "")
    settings = SimulationSettings(capabilities=(active,))
    with serving(server) as url:
        agent = realtime_agent(url, **options)
        return pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=Script(user), seed=3, settings=settings)


def messages_of(server: RealtimeServer) -> list[tuple[str, str]]:
    found = [item for item in server.items.values() if item["type"] == "message"]
    return [(item["role"], item["content"][0]["text"]) for item in found]


@pytest.mark.parametrize("modality", ["text", "audio"])
def test_a_server_answers_calls_functions_and_is_graded(domain: Domain, modality: Any) -> None:
    server = RealtimeServer([RENAME, "It is renamed."])
    found = talk(domain, server, ["Rename the lamp.", "Thanks. ###STOP###"], "control", modality=modality)
    assert (found.reward, found.termination_reason) == (1.0, "user_stop")
    assert [each.content for each in found.messages if each.role == "assistant" and each.content] == [
        "Hi! How can I help you today?",
        "It is renamed.",
    ]
    assert messages_of(server) == [
        ("assistant", "Hi! How can I help you today?"),
        ("user", "Rename the lamp."),
        ("assistant", "It is renamed."),
    ]
    (call,) = (item for item in server.items.values() if item["type"] == "function_call")
    (result,) = (item for item in server.items.values() if item["type"] == "function_call_output")
    assert result["call_id"] == call["call_id"]
    assert server.session["instructions"]
    assert server.session["audio"]["input"]["turn_detection"] is None
    assert {tool["type"] for tool in server.session["tools"]} == {"function"}
    assert "rename" in {tool["name"] for tool in server.session["tools"]}


def test_several_results_go_to_their_calls(domain: Domain) -> None:
    look = {"name": "look", "arguments": '{"item_id": "lamp"}'}
    server = RealtimeServer([[RENAME, look], "It is renamed."])
    found = talk(domain, server, ["Rename the lamp.", "Thanks. ###STOP###"], "control")
    assert [made.call.name for made in found.calls] == ["rename", "look"]
    called = [item["call_id"] for item in server.items.values() if item["type"] == "function_call"]
    given = [item["call_id"] for item in server.items.values() if item["type"] == "function_call_output"]
    assert called == given
    assert len(set(called)) == 2


def test_what_was_heard_takes_the_place_of_an_interrupted_text(domain: Domain) -> None:
    server = RealtimeServer([LONG, "Fine."])
    found = talk(domain, server, ["Tell me about it.", "Yes, I do.", "###STOP###"])
    cut = found.messages[2].content
    assert cut != LONG
    assert LONG.startswith(cut or "")
    assert messages_of(server)[2:4] == [("assistant", cut), ("user", "Yes, I do.")]


def test_interrupted_sound_is_truncated_to_what_was_played(domain: Domain) -> None:
    server = RealtimeServer([LONG, "Fine."])
    found = talk(domain, server, ["Tell me about it.", "Yes, I do.", "###STOP###"], modality="audio")
    facts = capability.read(found.facts)
    cut = facts.timeline.utterances[2]
    (event,) = (each for each in server.received if each["type"] == "conversation.item.truncate")
    assert event["audio_end_ms"] == round((cut.end - cut.start) * 200)
    assert facts.metrics["yield_rate"] == 1.0


def test_sound_of_the_user_is_sent_in_place_of_text(
    domain: Domain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The server gets all of a turn and nothing else, and is told when it is over."""
    np = pytest.importorskip("numpy")
    from pytest_tau.capabilities.voice.audio import hearing, line

    said = {"Rename the lamp.": np.full(7000, 0.25), "Thanks.": np.full(4000, -0.5)}

    def hear(text: str, *_: Any, **__: Any) -> hearing.HeardText:
        return hearing.HeardText(text, text, 1.0, said[text])

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pytest_tau.capabilities.voice.audio.ears.hear", hear)
    server = RealtimeServer([RENAME, "It is renamed.", "Good-bye. ###STOP###"])
    user = ["Rename the lamp.", "Thanks.", "###STOP###"]
    found = talk(domain, server, user, "control", modality="audio", sound=True)
    assert found.reward == 1.0
    assert server.sounds == [line.encoded(each).tobytes() for each in said.values()]
    kinds = [item["content"][0]["type"] for item in server.items.values() if item.get("role") == "user"]
    assert kinds == ["input_audio", "input_audio"]


@pytest.mark.parametrize(
    ("answers", "problem"),
    [([{"error": "no such model"}], "the server's error: no such model")],
)
def test_an_error_of_the_server_is_the_failure_of_the_agent(domain: Domain, answers: list[Any], problem: str) -> None:
    found = talk(domain, RealtimeServer(answers), ["Rename the lamp."], "control")
    assert found.termination_reason == "agent_error"
    assert problem in (found.error or "")


def test_a_server_that_is_not_there_is_the_failure_of_the_agent(domain: Domain) -> None:
    with serving(RealtimeServer([])) as url:
        gone = url
    found = pytest_tau.simulate(WANTED, domain=domain, agent=realtime_agent(gone), user=Script(["Hello."]), seed=3)
    assert found.termination_reason == "agent_error"
    assert "ws://127.0.0.1:" in (found.error or "")
    assert "model=mine" not in (found.error or "")


def test_the_key_comes_from_the_environment_and_is_sent_as_a_header(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = RealtimeServer(["Good."])
    monkeypatch.setenv("VOICE_KEY", "secret-1")
    talk(domain, server, ["Hello.", "###STOP###"], "control", key="VOICE_KEY")
    assert server.headers["Authorization"] == "Bearer secret-1"
    monkeypatch.delenv("VOICE_KEY")
    found = talk(domain, RealtimeServer([]), ["Hello."], "control", key="VOICE_KEY")
    assert "VOICE_KEY" in (found.error or "")
