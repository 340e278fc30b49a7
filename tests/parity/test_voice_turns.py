"""The user's turn-taking against 100 recorded sessions of the reference, call by call."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.capabilities.voice.talk.turns import Patience, Spoken, UserTurns
from pytest_tau.models import ToolMessage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

STATE = ("since_self", "since_other", "run_self", "run_other", "waiting")


@pytest.fixture(scope="module")
def sessions(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(shared / "conformance" / "voice_vectors.jsonl.gz", "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [each for each in found if each["kind"] == "session"]


def split(text: str, ticks: int) -> list[str]:
    chunks = [""] * ticks
    for number, character in enumerate(text):
        chunks[int(number * (ticks / len(text)))] += character
    return chunks


class Recorded:
    """Says and decides what the session has."""

    def __init__(self, session: dict[str, Any]) -> None:
        self._turns, self._decisions = iter(session["turns"]), session["decisions"]
        self._config, self._asked, self._listened = session["config"], [0, 0], 0

    async def reply(self, heard: str, results: Any) -> Spoken:
        del heard, results
        turn = next(self._turns, "###STOP###")
        if isinstance(turn, str) or "text" not in turn:
            return Spoken(stop=turn) if isinstance(turn, str) else Spoken(calls=turn["calls"])
        return Spoken(chunks=split(turn["text"], turn["ticks"])) if "ticks" in turn else Spoken(stop=turn["text"])

    async def decide(self, heard: str) -> tuple[bool, bool]:
        del heard
        return self._decide(0, "enable_interruptions"), self._decide(1, "use_llm_backchannel")

    def _decide(self, which: int, switch: str) -> bool:
        if not self._config[switch]:
            return False
        self._asked[which] += 1
        return bool(self._decisions[(self._asked[which] - 1) % 400][which])

    def backchannel(self) -> Sequence[str]:
        self._listened += 1
        number = self._listened - 1
        return split("mm-hmm" if number % 2 else "uh-huh", 1 + number % 3)


async def first_difference(session: dict[str, Any]) -> Any:
    config = session["config"]
    names = ("wait_to_respond_threshold_other", "wait_to_respond_threshold_self")
    names += ("yield_threshold_when_interrupted", "yield_threshold_when_interrupting", "interruption_check_interval")
    user = UserTurns(Recorded(session), Patience(*(config[name] for name in names)))
    called = False
    for number, (incoming, expected) in enumerate(zip(session["incoming"], session["expected"], strict=False)):
        chunk, results = incoming or {}, ToolMessage(id="1", requestor="user") if called else None
        done = await user.tick(chunk.get("content") or "", bool(chunk.get("contains_speech")), results)
        called = bool(done.calls)
        found = {name: getattr(user, name) for name in STATE}
        found |= {"action": done.action, "info": done.info, "contains_speech": done.speech}
        found |= {"queue": len(user.queue), "buffer": len(user.buffer), "content": done.text}
        wanted = {name: expected[name] for name in found} | {"content": expected["content"] or ""}
        if found != wanted:
            return number, found, wanted
    return None


def test_every_call_of_every_session_is_the_same(sessions: list[dict[str, Any]]) -> None:
    found = {each["id"]: asyncio.run(first_difference(each["turn_taking"])) for each in sessions}
    assert len(found) == 100
    assert {name: difference for name, difference in found.items() if difference} == {}
