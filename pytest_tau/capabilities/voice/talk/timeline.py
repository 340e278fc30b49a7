"""What happened in a conversation, and when: the stored form of its ticks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from ..ticks import TICK_SECONDS, Chunk, SpeechEffects, SpeechInsert, Tick, TurnTakingAction

if TYPE_CHECKING:
    from collections.abc import Sequence

Side: TypeAlias = Literal["agent", "user"]


class _Span(BaseModel):
    """Something from tick ``start`` to before tick ``end``."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    start: int
    end: int


class Utterance(_Span):
    """An utterance.

    Attributes:
        side: Who speaks.
        text: What was said.
        action: What the user decided: ``generate_message`` or ``backchannel``; None for the agent.
        rest: What was left unsaid, as the side stopped.
        heard: What arrived of the text, if words were lost; else empty.
        tic: The tic in it.
        message_idx: The number of its message in the trajectory; None if it has none.
    """

    side: Side
    text: str
    action: str | None = None
    rest: str = ""
    heard: str = ""
    tic: SpeechInsert | None = None
    message_idx: int | None = None


class Sound(_Span):
    """A tic, or words to others, while the user did not speak; ``type`` is that of the insert."""

    text: str
    type: str


class CallTime(_Span):
    """A tool call; the result is known in tick ``end``."""

    side: Side
    name: str
    error: bool = False
    message_idx: int | None = None


#: Ticks of a conversation of some weeks: each takes memory.
_MOST_TICKS = 10**7


class Timeline(BaseModel):
    """A conversation in ticks.

    Attributes:
        ticks: Their number.
        tick_seconds: The length of one.
        utterances: In order of their ends.
        sounds: What was heard of the user's surroundings.
        calls: The tool calls.
        drops: The ticks in which words of the user were lost on the line.
    """

    model_config = ConfigDict(extra="ignore")

    ticks: Annotated[int, Field(ge=0, le=_MOST_TICKS)] = 0
    tick_seconds: FiniteFloat = TICK_SECONDS
    utterances: list[Utterance] = []
    sounds: list[Sound] = []
    calls: list[CallTime] = []
    drops: list[int] = []

    def as_silent_ticks(self) -> list[Tick]:
        """Return the ticks without texts, for metrics: they share what they hold."""
        called = {call.start for call in self.calls if call.side == "agent"}
        agent: list[Chunk | None] = [None] * self.ticks
        user: list[Chunk | None] = [None] * self.ticks
        for utterance in self.utterances:
            lane = agent if utterance.side == "agent" else user
            lane[utterance.start : utterance.end] = _chunks(utterance)[: self.ticks - utterance.start]
        for sound in self.sounds:
            effects = SpeechEffects(speech_insert=SpeechInsert(text=sound.text, type=sound.type))
            if sound.start < self.ticks and user[sound.start] is None:
                user[sound.start] = Chunk(contains_speech=False, source_effects=effects)
        return [cast("Tick", _Light(*pair, at in called)) for at, pair in enumerate(zip(agent, user, strict=True))]

    @classmethod
    def of_ticks(cls, ticks: Sequence[Tick], tick_seconds: float) -> Timeline:
        """Return the timeline of ticks, such as those of the reference."""
        agent = _utterances("agent", [tick.agent_chunk for tick in ticks])
        user = _utterances("user", [tick.user_chunk for tick in ticks])
        sounds = [
            Sound(start=at, end=at + 1, text=insert.text, type=insert.type)
            for at, tick in enumerate(ticks)
            if (chunk := tick.user_chunk) is not None and not chunk.contains_speech
            if (effects := chunk.source_effects) is not None and (insert := effects.speech_insert) is not None
        ]
        calls = [
            CallTime(side="agent" if call.requestor == "assistant" else "user", start=at, end=at + 1, name=call.name)
            for at, tick in enumerate(ticks)
            for call in (*tick.agent_tool_calls, *tick.user_tool_calls)
        ]
        utterances = sorted([*agent, *user], key=lambda utterance: utterance.end)
        return cls(ticks=len(ticks), tick_seconds=tick_seconds, utterances=utterances, sounds=sounds, calls=calls)


class _Light(NamedTuple):
    """What metrics ask of a tick."""

    agent_chunk: Chunk | None
    user_chunk: Chunk | None
    agent_tool_calls: bool

    @property
    def agent_speaks(self) -> bool:
        return self.agent_chunk is not None

    @property
    def user_speaks(self) -> bool:
        return bool(self.user_chunk and self.user_chunk.contains_speech)


def _chunks(utterance: Utterance) -> list[Chunk]:
    """Return the chunks of an utterance without its text; those after the first are one."""
    actions = (utterance.action, "keep_talking") if utterance.action else (None, None)
    first, rest = (
        Chunk(
            turn_taking_action=TurnTakingAction(action=action) if action else None,
            speech_effects=SpeechEffects(speech_insert=utterance.tic) if utterance.tic else None,
        )
        for action in actions
    )
    return [first, *[rest] * (utterance.end - utterance.start - 1)]


def _utterances(side: Side, chunks: Sequence[Chunk | None]) -> list[Utterance]:
    utterances: list[dict[str, Any]] = []
    before: Chunk | None = None
    for at, chunk in enumerate(chunks):
        if chunk is None or not chunk.contains_speech:
            before = None
            continue
        if before is None:
            action, effects = chunk.turn_taking_action, chunk.speech_effects
            utterances.append(
                {
                    "side": side,
                    "start": at,
                    "text": "",
                    "action": action.action if action else None,
                    "tic": effects.speech_insert if effects else None,
                }
            )
        utterances[-1]["text"] += chunk.content or ""
        utterances[-1]["end"] = at + 1
        before = chunk
    return [Utterance(**fields) for fields in utterances]
