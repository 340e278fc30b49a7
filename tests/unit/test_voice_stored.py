"""Stored conversations in ticks: both forms of files, verdicts, facts, and the way back."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from trial_records import trial_record

import pytest_tau
from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.metrics import by_task
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.facts import VoiceFacts, summary, timing
from pytest_tau.capability import bundled
from pytest_tau.capability.calls import columns_of
from pytest_tau.capability.duplex import judged_messages
from pytest_tau.capability.views import Measured
from pytest_tau.cli import main
from pytest_tau.runs.reader import Run

from .voice_ticks import document, in_ticks, spoken, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def talk() -> list[dict[str, Any]]:
    """A conversation of the domain mock whose agent does and says what its task asks for."""
    call = {"id": "c1", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Renew the parking permit"}}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "Hi! How can I help you today?"},
        {"role": "user", "content": "Create a task for me: renew the parking permit."},
        {"role": "assistant", "content": None, "tool_calls": [call | {"requestor": "assistant"}]},
        {"role": "tool", "id": "c1", "content": "", "requestor": "assistant", "error": False},
        {"role": "assistant", "content": "I have created it. The new one is called task_3."},
        {"role": "user", "content": "###STOP###"},
    ]
    environment = pytest_tau.load_domain("mock").environment()
    messages[3]["content"] = environment.call("create_task", call["arguments"]).content
    return messages


def rewards(path: Path, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, float]]:
    """The rewards by task, graded from the ticks; 1 is stored for each."""
    status = main(["regrade", str(path), "--json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    found = [(each["task_id"], each["reward"]) for each in file["results"]]
    assert status == any(reward != 1 for _, reward in found)
    return found


@pytest.mark.parametrize("form", ["file", "folder"])
def test_both_forms_are_read_and_graded(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, document(in_ticks(talk())), form)

    assert rewards(path, capsys) == [("say-new-id", 1.0)]


def test_a_text_that_a_pause_cuts_was_not_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ticks = in_ticks(talk())
    (last,) = (number for number, tick in enumerate(ticks) if (tick["agent_chunk"]["content"] or "").endswith("_3."))
    ticks.insert(last, {"agent_chunk": {"content": None, "contains_speech": False}})

    assert rewards(written(tmp_path, document(ticks), "file"), capsys) == [("say-new-id", 0.0)]


def test_messages_are_those_of_the_conversation_in_turns(tmp_path: Path) -> None:
    path = written(tmp_path, document(in_ticks(talk())), "file")

    (trial,) = Run(path).trials()

    found = [(each.role, each.content) for each in trial.simulation.messages]
    assert found == [(each["role"], each["content"]) for each in talk()]
    assert trial.simulation.mode == "full_duplex"


def test_an_utterance_that_silence_cuts_is_two_texts() -> None:
    chunks = spoken("one two three four five six", "a")
    ticks = [{"agent_chunk": chunk} for chunk in chunks]
    ticks.insert(2, {"agent_chunk": {"content": None, "contains_speech": False}})
    (voice,) = (each for each in bundled() if each.name == "voice")
    assert voice.duplex is not None

    found = voice.duplex().trajectory({"ticks": ticks}, {})

    assert [each.content for each in found.messages] == ["one two thre", "e four five six"]


def test_the_judge_reads_speech_in_the_order_of_the_agent_s_view(tmp_path: Path) -> None:
    ticks = [{"agent_chunk": chunk} for chunk in spoken("I can do that for you now.", "a")]
    ticks[2]["user_chunk"] = spoken("mm-hmm", "u", "backchannel")[0]
    path = written(tmp_path, document(ticks), "file")

    (trial,) = Run(path).trials()

    texts = [each.content for each in trial.simulation.messages]
    read = [each.content for each in judged_messages(trial.simulation)]
    assert texts == ["I can do that for you now.", "mm-hmm"]
    assert read == ["I can do that for ", "mm-hmm", "you now."]


def test_facts_are_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, document(in_ticks(talk()), 0.5), "file")

    assert main(["export", str(path), "--format", "csv"]) == 0

    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    # One tick of silence and one of the call, of half a second each.
    assert (row["response_latency"], row["response_rate"], row["complexity"]) == ("1", "1", "regular")
    assert "yield_rate" not in row, "it has no value"


@pytest.mark.parametrize("form", ["tau2", "tau2-dir", "jsonl"])
def test_an_export_has_the_ticks_and_is_read_again(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ticks = in_ticks(talk())
    path = written(tmp_path, document(ticks), "file")
    out = tmp_path / {"tau2": "out.json", "tau2-dir": "out", "jsonl": "out.jsonl"}[form]

    assert main(["export", str(path), "--format", form, "--out", str(out)]) == 0

    (before,), (after,) = Run(path).trials(), Run(out).trials()
    assert after.simulation.duplex == {"ticks": ticks, "speech_environment": {"complexity": "regular", "voice_seed": 3}}
    assert after.simulation.facts == before.simulation.facts
    assert after.simulation.messages == before.simulation.messages
    if form == "tau2":
        (stored,) = json.loads(out.read_text())["simulations"]
        assert (stored["messages"], stored["mode"]) == (None, "full_duplex")


def test_a_comparison_has_the_metrics_that_both_runs_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    paths = []
    for name, seconds in (("before", 0.2), ("after", 0.4)):
        (tmp_path / name).mkdir()
        paths.append(str(written(tmp_path / name, document(in_ticks(talk()), seconds))))

    main(["compare", *paths])

    found = capsys.readouterr().out
    # A tick of silence, and one of the call.
    assert "response_latency 0.400 -> 0.800" in found
    assert "response_rate 1.000 -> 1.000" in found
    assert "yield_rate" not in found


def test_the_report_of_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", str(written(tmp_path, document(in_ticks(talk())), "file")), "--out", "page.html"]) == 0


def test_a_tick_that_does_not_follow_the_format_is_named(tmp_path: Path) -> None:
    ticks = in_ticks(talk())
    ticks[4]["agent_chunk"] = {"contains_speech": "perhaps"}
    run = Run(written(tmp_path, document(ticks), "file"))

    assert list(run.trials()) == []
    assert "ticks.4.agent_chunk.contains_speech" in run.problems[0]


@pytest.fixture
def facts() -> Callable[..., VoiceFacts]:
    def make(ticks: list[dict[str, Any]]) -> VoiceFacts:
        (voice,) = (each for each in bundled() if each.name == "voice")
        assert voice.duplex is not None
        found: VoiceFacts = voice.duplex().trajectory({"ticks": ticks}, {}).facts
        return found

    return make


def lanes(agent: str, user: str) -> list[dict[str, Any]]:
    """Ticks in which a side speaks where there is a letter: ``b`` is a backchannel of the user."""

    def chunk(letter: str) -> dict[str, Any]:
        action = {"b": "backchannel", "u": "generate_message"}.get(letter)
        return {"contains_speech": letter != ".", "turn_taking_action": {"action": action} if action else None}

    return [{"agent_chunk": chunk(a), "user_chunk": chunk(u)} for a, u in zip(agent, user, strict=True)]


@pytest.mark.parametrize(
    ("agent", "user", "text"),
    [
        ("....aaaa..........", "..uuuuu...........", "talked over the user for 0.6 s at 00:00"),
        ("aaaaaaaaaaaaaaaaaa", "..uuu.............", "did not stop when the user interrupted at 00:00"),
        ("aaaaaa............", "....b.............", "stopped for a backchannel at 00:00"),
        ("..................", "uu....uu..........", "left the user without an answer at 00:00"),
    ],
)
def test_the_report_of_a_failure_says_what_the_agent_did_and_when(
    facts: Callable[..., VoiceFacts], agent: str, user: str, text: str
) -> None:
    found = facts(lanes(agent, user)).faults

    assert [each.text for each in found] == [text]


def test_an_answer_is_late_from_three_and_a_half_seconds_on_unless_a_tool_was_called(
    facts: Callable[..., VoiceFacts],
) -> None:
    ticks = lanes("." * 20 + "aa", "uu" + "." * 20)
    called = lanes("." * 20 + "aa", "uu" + "." * 20)
    called[5]["agent_tool_calls"] = [{"id": "c", "name": "look", "arguments": {}}]

    assert [each.text for each in facts(ticks).faults] == ["answered late, after 3.6 s at 00:04"]
    assert facts(called).faults == []
    assert facts(called).after_calls == [0]


def test_answers_are_timed_well_in_the_ideal_range() -> None:
    assert [timing(each, False) for each in (0.0, 0.2, 0.35, 0.5, 2.0, 2.75, 3.5, 9.0)] == pytest.approx(
        [0.5, 0.7, 0.85, 1, 1, 0.5, 0, 0]
    )
    assert [timing(each, True) for each in (3.0, 4.0, 5.0)] == pytest.approx([1, 0.5, 0])


def test_the_summary_pools_events(facts: Callable[..., VoiceFacts]) -> None:
    one = facts(lanes("....aaaa..........", "uu......uu........"))
    other = facts(lanes("...aaa............", "uu......uu........"))

    lines = list(summary([Measured(None, one), Measured(None, other)]))

    assert lines == [
        "answered 2 of 2 after 0.30 s (p50 0.30 s, p95 0.39 s); interrupted 0.00 times a turn",
    ]


def test_gates_are_over_the_events_of_all_trials() -> None:
    """And not over the means of trials, one of which has one event and another nine."""
    short = VoiceFacts(tick_seconds=0.2, ticks=9, events={"response": (1, 1)}, agent_interruptions=1)
    long = VoiceFacts(
        tick_seconds=0.2,
        ticks=99,
        events={"response": (9, 0), "yield": (4, 1)},
        response_latencies=[0.1 * each for each in range(1, 10)],
        agent_interruptions=3,
    )
    records = [
        trial_record(task, facts={"voice": found.model_dump(mode="json")})
        for task, found in (("a", short), ("b", long), ("c", VoiceFacts(tick_seconds=0.2, ticks=1)))
    ]

    # A trial of a version that did not count its events.
    older = {"voice": {"response_rate": 0.0, "response_latency_p50": 9.0}}
    records.append(trial_record("d", facts=older))

    def value(name: str) -> Any:
        (verdict,) = Gate.parse(f"{name}>=0", columns_of([capability])).verdicts(by_task(records))
        return verdict

    assert value("response_rate").value == pytest.approx(0.9)
    assert value("yield_rate").value == pytest.approx(0.75)
    assert value("agent_interruption_rate").value == pytest.approx(0.4)
    assert value("response_latency").value == pytest.approx(0.5)
    assert value("response_latency_p50").value == pytest.approx(0.5)
    assert value("response_latency_p95").value == pytest.approx(0.86)
    assert value("entities_heard").why == "no trial has a value of 'voice'"
    assert value("response_rate").interval is not None
    gate = Gate.parse("yield_rate<=0.8", columns_of([capability]))
    assert gate.settled(by_task(records, {records[0].group: 2})) is None


def test_facts_are_the_same_after_being_stored(facts: Callable[..., VoiceFacts]) -> None:
    found = facts(lanes("....aaaa....aaaaa.", "uu......uu...b...."))

    assert VoiceFacts(**json.loads(found.model_dump_json(round_trip=False))) == found
