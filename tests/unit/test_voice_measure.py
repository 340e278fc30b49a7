"""What is computed from ticks: examples of the definitions, at their edges. Recorded conversations are in parity."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tau.capabilities import voice
from pytest_tau.capabilities.voice.measure.linear import Heard, linearised
from pytest_tau.capabilities.voice.measure.metrics import overall
from pytest_tau.capabilities.voice.ticks import Chunk

SILENT = {"contains_speech": False}


def lanes(agent: str, user: str, inserts: dict[int, str] | None = None) -> list[voice.Tick]:
    """Ticks in which a side speaks where there is a letter; ``g`` begins a turn, and ``b`` is a backchannel."""
    found = []
    for at, (one, other) in enumerate(zip(agent, user, strict=True)):
        chunk: dict[str, Any] = {"contains_speech": other != "."}
        if action := {"g": "generate_message", "b": "backchannel", "k": "keep_talking"}.get(other):
            chunk["turn_taking_action"] = {"action": action}
        if kind := (inserts or {}).get(at):
            chunk["source_effects"] = {"speech_insert": {"text": "x", "type": kind}}
        found.append(voice.Tick.model_validate({"agent_chunk": {"contains_speech": one != "."}, "user_chunk": chunk}))
    return found


#: The example of the definitions: seven kinds of events in 23 ticks.
AGENT = ".....aaaaaa..aaaaaaa..."
USER = ".gk......gk.....b.....g"
INSERTS = {4: "vocal_tic", 14: "non_directed_phrase", 20: "vocal_tic"}


def test_the_example_of_the_definitions() -> None:
    ticks = lanes(AGENT, USER, INSERTS)

    assert voice.interaction_metrics(ticks, 0.2) == {
        "response_latency_mean": pytest.approx(0.4),
        "yield_latency_mean": pytest.approx(0.4),
        "response_rate": 1.0,
        "yield_rate": 1.0,
        "agent_interruption_rate": 0.0,
        "selectivity_backchannel": 0.0,
        "selectivity_vocal_tic": 0.5,
        "selectivity_non_directed": None,
        "counts": {
            "n_simulations": 1,
            "response_total": 2,
            "yield_total": 1,
            "backchannel_total": 1,
            "vocal_tic_total": 2,
            "non_directed_total": 0,
            "agent_interrupts_count": 0,
        },
    }
    assert voice.responsiveness(ticks) == {
        "total_user_turns": 4,
        "total_agent_turns": 2,
        "max_unresponded_user_turns": 1,
        "had_unresponsive_period": False,
    }


@pytest.mark.parametrize(("speaks", "rate"), [(9, 1.0), (10, 0.0)])
def test_falling_silent_at_the_end_of_the_window_is_too_late(speaks: int, rate: float) -> None:
    # The user interrupts in tick 1, and the agent goes on for so many ticks.
    agent = "a" * (1 + speaks) + "." * (19 - speaks)

    assert voice.interaction_metrics(lanes(agent, ".g" + "." * 18), 0.2)["yield_rate"] == rate


def test_an_agent_that_still_speaks_when_the_user_ends_has_not_answered() -> None:
    ticks = lanes("..aaaa....aa", "ggg..gg.....")

    assert voice.interaction_metrics(ticks, 0.2)["counts"]["response_total"] == 1


def test_metrics_of_several_conversations_are_over_all_events() -> None:
    one, other = lanes("..a...", "g....."), lanes("....a......a", "g....g......")
    pooled = voice.pooled_metrics([(one, 0.2), (other, 0.5)])

    assert pooled["counts"]["response_total"] == 3
    assert pooled["response_latency_mean"] == pytest.approx((0.2 + 1.5 + 2.5) / 3)


def test_nothing_that_is_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="no answer, no yield and no distraction in 1 conversations"):
        voice.interaction_metrics(lanes("aaa", "..."), 0.2)


def test_the_mean_over_domains_leaves_out_what_a_domain_does_not_have() -> None:
    first = voice.interaction_metrics(lanes("..a...", "g....."), 0.2)
    second = voice.interaction_metrics(lanes("aaaaaa", ".g...."), 0.2)

    found = overall({"airline": first, "retail": second})

    assert (found["response_rate"], found["yield_rate"]) == (1.0, 0.0)
    assert found["counts"]["n_simulations"] == 2


# One message after the other


def chunks(lane: str) -> list[Chunk | None]:
    return [None if each == "·" else Chunk(content=each) for each in lane.split()]


def shown(other: str, own: str, integration: int = 1, silence: int | None = None) -> str:
    history = [Heard(said=mine, heard=theirs) for mine, theirs in zip(chunks(own), chunks(other), strict=True)]
    return " | ".join(str(each.content) for each in linearised(history, "user", integration, silence, 0.2))


@pytest.mark.parametrize(
    ("other", "own", "integration", "result"),
    [
        ("a0 a1 a2 a3 a4 a5", "· · b1 b2 · ·", 1, "a0a1a2a3 | b1b2 | a4a5"),
        ("a0 a1 a2 · · ·", "· · b1 b2 b3 ·", 1, "a0a1a2 | b1b2b3"),
        ("a0 a1", "b0 b1", 1, "a0a1 | b0b1"),
        ("· a1 · ·", "b0 b1 b2 b3", 1, "b0b1 | a1 | b2b3"),
        ("a0 a1 a2 a3 a4 a5", "· b1 · · b4 ·", 1, "a0a1 | b1 | a2a3a4 | b4 | a5"),
        ("· · a2 a3 a4 a5 ·", "b0 b1 b2 · · b5 b6", 1, "b0b1b2 | a2a3a4a5 | b5b6"),
        ("· a1 · a3 · ·", "b0 b1 b2 b3 b4 b5", 1, "b0b1 | a1 | b2b3 | a3 | b4b5"),
        ("· a1 · a3 · ·", "b0 b1 b2 b3 b4 b5", 2, "b0b1b2b3 | a1a3 | b4b5"),
        ("· · · ·", "b0 · · b3", 2, "b0 | b3"),
        ("· · · ·", "b0 · · b3", 3, "b0b3"),
    ],
)
def test_speech_at_once_is_put_in_order(other: str, own: str, integration: int, result: str) -> None:
    assert shown(other, own, integration) == result


def test_a_long_silence_is_noted() -> None:
    assert shown("· · · · · a5 ·", "b0 · · · · · ·", 1, 3) == "b0 | [Both parties silent for 0.8 seconds] | a5"


def test_utterances_are_joined_by_a_space_and_chunks_of_one_by_nothing() -> None:
    ticks = [
        voice.Tick.model_validate({"agent_chunk": {"content": text, "utterance_ids": ids}})
        for text, ids in (("Good mor", ["a"]), ("ning.", ["a", "b"]), ("Sir", ["b"]), ("alone", None), ("end", ["b"]))
    ]

    # "b" follows "a, b", which it meets; "alone" has no ids, so that the next one is an utterance of its own.
    assert voice.communicate_texts(ticks) == ["Good morning.Sir", "alone", "end"]
    assert voice.transcript(ticks) == [{"role": "assistant", "content": "Good morning.Siraloneend"}]


def test_a_call_whose_id_is_used_again_is_lost() -> None:
    def tick(number: int, **results: Any) -> dict[str, Any]:
        call = {"id": "c", "name": f"tool_{number}", "requestor": "user"}
        return {"user_chunk": SILENT, "user_tool_calls": [call], **results}

    ticks = [tick(1), tick(2, user_tool_results=[{"id": "c", "content": "done", "requestor": "user"}]), {}]

    found = voice.user_context([voice.Tick.model_validate(each) for each in ticks], 0.2, 1, None)

    assert found == [
        {"role": "user", "content": None, "tool_calls": ["c"]},
        {"role": "tool", "content": "done", "id": "c"},
    ]


def test_a_chunk_speaks_unless_it_says_that_it_does_not() -> None:
    tick = voice.Tick.model_validate({"agent_chunk": {"content": None}, "user_chunk": {"contains_speech": False}})

    assert tick.agent_speaks
    assert not tick.user_speaks
    assert not voice.Tick().agent_speaks


def test_what_is_null_is_empty_and_unknown_fields_are_dropped() -> None:
    tick = voice.Tick.model_validate({"timestamp": None, "agent_tool_calls": None, "user_transcript": "x"})

    assert tick.agent_tool_calls == []
    assert "user_transcript" not in tick.model_dump()
