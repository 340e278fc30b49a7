"""The timeline of a conversation in ticks in the HTML report; ``timeline.js`` draws it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...capability import PageBlock
from .facts import clock
from .stored import read_ticks
from .talk.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Simulation
    from .facts import VoiceFacts


_SCRIPT = Path(__file__).with_name("timeline.js")


def page(facts: VoiceFacts, simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the timeline of a trial."""
    timeline = facts.timeline
    if timeline is None and simulation.duplex is not None:
        timeline = Timeline.of_ticks(read_ticks(simulation.duplex), facts.tick_seconds)
    if timeline is None or not timeline.ticks:
        return
    sound = "with" if facts.with_sound else "without"
    simulated = f", simulated {sound} sound" if facts.timeline is not None else ""
    known = f", conditions {facts.complexity}" if facts.complexity else ""
    note = f"{clock(timeline.ticks * timeline.tick_seconds)} of talk{simulated}{known}"
    data = _data(facts, timeline, _numbers(timeline, simulation))
    media = Path(facts.sound) if facts.sound else None
    yield PageBlock("Timeline", note=note, place="box", data=data, script=_SCRIPT, media=media)


def _numbers(timeline: Timeline, simulation: Simulation) -> list[int | None]:
    """Return the number of the message of each utterance: the known one, else that of the next message of its text."""
    numbers_by_text: dict[tuple[str, str], list[int]] = {}
    for number, message in enumerate(simulation.messages):
        if message.role in ("assistant", "user"):
            side = "agent" if message.role == "assistant" else "user"
            numbers_by_text.setdefault((side, (message.content or "").strip()), []).append(number)
    numbers = []
    for utterance in timeline.utterances:
        known = utterance.message_idx
        same = numbers_by_text.get((utterance.side, utterance.text.strip())) if known is None else None
        numbers.append(same.pop(0) if same else known)
    return numbers


def _data(facts: VoiceFacts, timeline: Timeline, numbers: list[int | None]) -> dict[str, Any]:
    return {
        "tick": timeline.tick_seconds,
        "ticks": timeline.ticks,
        "utterances": [
            {
                "side": utterance.side,
                "start": utterance.start,
                "end": utterance.end,
                "text": utterance.text,
                "rest": utterance.rest,
                "heard": utterance.heard,
                "listens": utterance.action == "backchannel",
                "message": number,
            }
            for utterance, number in zip(timeline.utterances, numbers, strict=True)
        ],
        "calls": [
            {"start": call.start, "end": call.end, "name": call.name, "error": call.error, "message": call.message_idx}
            for call in timeline.calls
        ],
        "sounds": [{"start": sound.start, "end": sound.end, "text": sound.text} for sound in timeline.sounds],
        "drops": timeline.drops,
        "faults": [{"at": fault.at, "text": fault.text} for fault in facts.faults],
    }
