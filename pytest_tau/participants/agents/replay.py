"""Participants that repeat the messages of a recording, on a live environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from ...documents import DocumentError, read_json
from ...environment import same_result
from ...errors import ConfigurationError, ReplayError
from ...models import AssistantMessage, MultiToolMessage, RecordingEnded, ToolMessage, UserMessage, parse_messages
from ...models.sessions import openings
from ..base import BuiltIn

if TYPE_CHECKING:
    from pathlib import Path

    from ...models import Message, TerminationReason
    from ..context import Incoming, ParticipantContext, Reply


class Recording(NamedTuple):
    """A recorded conversation and its end."""

    task_id: str
    trial: int
    messages: list[Message]
    termination_reason: TerminationReason


def load_recordings(path: Path) -> list[Recording]:
    """Read the conversations in a file: one object, an array, or an object with ``simulations``; gzipped or not.

    Raises:
        ConfigurationError: The file cannot be read, or an entry is not a conversation.
    """
    try:
        document = read_json(path)
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"recording {path}: {error}") from None
    if isinstance(document, dict):
        document = document.get("simulations", [document])
    if not isinstance(document, list):
        raise ConfigurationError(f"recording {path}: expected a conversation or an array of them")
    return [_recording(entry, f"{path}, entry {position}") for position, entry in enumerate(document)]


def _recording(entry: Any, where: str) -> Recording:
    try:
        messages = parse_messages(entry["messages"])
        reason: TerminationReason = entry.get("termination_reason") or "user_stop"
        return Recording(entry["task_id"], entry.get("trial") or 0, messages, reason)
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"recording {where}: not a conversation: missing {error}") from None
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise ConfigurationError(f"recording {where}: messages.{place}: {problem['msg']}") from None


class Replay:
    """Makes the participants that replay a file.

    Args:
        path: The recording.

    Raises:
        ConfigurationError: The file is not a recording.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._recordings = load_recordings(path)

    @property
    def task_ids(self) -> set[str]:
        """The ids of the tasks that the file has conversations of."""
        return {recording.task_id for recording in self._recordings}

    def participant(self, context: ParticipantContext) -> ReplayParticipant:
        """Return the participant for one simulation.

        Raises:
            ReplayError: The file has no conversation of the task.
        """
        found = [recording for recording in self._recordings if recording.task_id == context.task.id]
        if not found:
            raise ReplayError(f"{self.path} has no conversation of task {context.task.id!r}")
        same_trial = [recording for recording in found if recording.trial == context.trial]
        return ReplayParticipant((same_trial or found)[0], context)


class ReplayParticipant(BuiltIn):
    """One side of a recording.

    Attributes:
        greeting: The agent's recorded greeting, if the recording begins with one.
        differences: A line for each tool result that differs from the recorded one.
    """

    def __init__(self, recording: Recording, context: ParticipantContext) -> None:
        self._reason, self._side = recording.termination_reason, context.side
        given = context.history if context.continues else []
        first = recording.messages[0] if recording.messages else None
        opens = not given and not context.solo and isinstance(first, AssistantMessage) and not first.tool_calls
        self.greeting = first.content if opens and isinstance(first, AssistantMessage) else None
        first_own, unsaid = len(given) or int(opens), openings(recording.messages)
        numbered = enumerate(recording.messages)
        self._script = [each for number, each in numbered if number >= first_own and number not in unsaid]
        self._position = 0
        self._expected: list[ToolMessage] = []
        self.differences: list[str] = []

    async def respond(self, message: Incoming) -> Reply:
        """Return the side's next recorded message.

        Raises:
            RecordingEnded: There is no further message.
        """
        self._compare(message)
        mine = AssistantMessage if self._side == "agent" else UserMessage
        for position in range(self._position, len(self._script)):
            found = self._script[position]
            if isinstance(found, mine):
                self._position = position + 1
                self._expected = self._results_after(position, len(found.tool_calls or []))
                return found.model_copy(update={"turn_idx": None, "timestamp": None})
        raise RecordingEnded(self._reason)

    def is_stop(self, message: Reply) -> bool:
        """Return whether a message has a user's stop token, or is the agent's last in a recording that it stopped."""
        if self._side == "user":
            return super().is_stop(message)
        last = not any(isinstance(m, AssistantMessage) for m in self._script[self._position :])
        return last and self._reason == "agent_stop"

    def _results_after(self, position: int, count: int) -> list[ToolMessage]:
        following = self._script[position + 1 : position + 1 + count]
        return [message for message in following if isinstance(message, ToolMessage)]

    def _compare(self, message: Incoming) -> None:
        if isinstance(message, MultiToolMessage):
            results = message.tool_messages
        else:
            results = [message] if isinstance(message, ToolMessage) else []
        for recorded, got in zip(self._expected, results, strict=False):
            if not same_result(recorded.content, got.content) or recorded.error != got.error:
                self.differences.append(f"recorded {recorded.content!r}, got {got.content!r}")
        self._expected = []
