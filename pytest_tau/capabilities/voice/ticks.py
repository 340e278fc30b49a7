"""A tick: what both sides say and call in one step of simulated time.

Source: τ²-bench v1.0.1, full-duplex simulations. Fields that nothing here reads are dropped, as its own loader does
with unknown ones.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict

from ...models import ToolCall, ToolMessage  # noqa: TC001 - pydantic reads it

#: The length of a tick in seconds, unless a run has another one.
TICK_SECONDS = 0.2
#: What a user decided to do in a tick.
Action: TypeAlias = Literal["generate_message", "keep_talking", "stop_talking", "wait", "backchannel"]

#: Sounds that are not words, as a text has them.
SOUNDS = re.compile(r"\.?(?:\[\w+\])+")
VOCAL_TIC = "vocal_tic"
NON_DIRECTED = "non_directed_phrase"


def _listed(value: Any) -> Any:
    return [] if value is None else value


def _text(value: Any) -> Any:
    return "" if value is None else value


class SpeechInsert(BaseModel):
    """A sound or words that are not for the agent: ``type`` is ``vocal_tic`` or ``non_directed_phrase``."""

    text: str
    type: str


class SpeechEffects(BaseModel):
    """Effects of an utterance, on each of its chunks; or of the surroundings, in the tick in which they begin."""

    speech_insert: SpeechInsert | None = None


class TurnTakingAction(BaseModel):
    """What the user decided to do. ``action`` is an ``Action``; merged messages of others have ``N/A``."""

    action: str


class Chunk(BaseModel):
    """The part of a side's speech in a tick.

    Attributes:
        content: The part of the text that is said in the tick.
        contains_speech: Whether the side speaks; who makes a silent chunk has to say so.
        timestamp: In ISO format; None for that of the tick.
        utterance_ids: The ids of the utterances that are heard in the tick.
        tool_calls: None in a stored chunk: calls are the tick's.
        turn_taking_action: What the user decided.
        speech_effects: Effects of the utterance.
        source_effects: Effects that begin in the tick.
    """

    model_config = ConfigDict(extra="ignore")

    content: str | None = None
    contains_speech: bool | None = True
    timestamp: str | None = None
    utterance_ids: list[str] | None = None
    tool_calls: list[ToolCall] | None = None
    turn_taking_action: TurnTakingAction | None = None
    speech_effects: SpeechEffects | None = None
    source_effects: SpeechEffects | None = None


class Tick(BaseModel):
    """One step of simulated time.

    Attributes:
        tick_id: Its position, from 0.
        timestamp: In ISO format.
        agent_chunk: What the agent says; None for nothing.
        user_chunk: What the user says; likewise.
        agent_tool_calls: The calls of the agent.
        user_tool_calls: The calls of the user.
        agent_tool_results: The results of the agent's calls, in their order.
        user_tool_results: The results of the user's calls, likewise.
        tick_duration_seconds: Its length, if it is known.
    """

    model_config = ConfigDict(extra="ignore")

    tick_id: int = 0
    timestamp: Annotated[str, BeforeValidator(_text)] = ""
    agent_chunk: Chunk | None = None
    user_chunk: Chunk | None = None
    agent_tool_calls: Annotated[list[ToolCall], BeforeValidator(_listed)] = []
    user_tool_calls: Annotated[list[ToolCall], BeforeValidator(_listed)] = []
    agent_tool_results: Annotated[list[ToolMessage], BeforeValidator(_listed)] = []
    user_tool_results: Annotated[list[ToolMessage], BeforeValidator(_listed)] = []
    tick_duration_seconds: float | None = None

    @property
    def agent_speaks(self) -> bool:
        """Return whether the agent speaks; text plays no part in it."""
        return self.agent_chunk is not None and bool(self.agent_chunk.contains_speech)

    @property
    def user_speaks(self) -> bool:
        """Return whether the user speaks; likewise."""
        return self.user_chunk is not None and bool(self.user_chunk.contains_speech)
