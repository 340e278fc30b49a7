"""One executed trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from ..errors import ReplayError, TauError, unknown_name
from ..files import digest
from .messages import Message, ToolCall, ToolMessage
from .results import TrialResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .results import ModelUsage, TerminationReason

#: The fields of τ²-bench's simulations in which both sides can speak at once.
DUPLEX = ("ticks", "speech_environment", "effect_timeline", "agent_usage", "provider_session_id")
DUPLEX_MODE = "full_duplex"


class ConversationEnded(TauError):  # noqa: N818 - an event of the conversation, not a fault
    """A participant knows that the conversation ends here, and how.

    Attributes:
        termination_reason: How it ends.
        error: What went wrong, if anything did.
    """

    def __init__(self, reason: TerminationReason, error: str | None = None) -> None:
        self.termination_reason, self.error = reason, error
        super().__init__(f"the {self._what} ends here ({reason})")

    _what = "conversation"


class RecordingEnded(ConversationEnded, ReplayError):  # noqa: N818 - likewise
    """The recording has no more messages of this side; the conversation ends as the recorded one did."""

    _what = "recording"


#: The beginning of the error of a conversation that the clock has ended.
OUT_OF_TIME = "no end after "
#: The key of ``vars(simulation)`` for the names of the tools of its domain.
_KNOWN_TOOLS = "_known_tools"


@dataclass(slots=True)
class Call:
    """A tool call with its result; ``message_idx`` is the number of the calling message, from 0."""

    message_idx: int
    call: ToolCall
    result: ToolMessage | None = None


def calls_in(messages: Iterable[Message]) -> list[Call]:
    """Return all tool calls of both sides with their results, in order."""
    calls: list[Call] = []
    waiting: list[Call] = []
    for number, message in enumerate(messages):
        # The class of a model takes longer to ask for than its role.
        if message.role == "tool":
            if waiting:
                waiting.pop(0).result = message
        elif message.role != "system":
            waiting = [Call(number, call) for call in message.tool_calls or ()]
            calls += waiting
    return calls


def simulation_id(task_id: str, trial: int, seed: int | None, started: str, test: str = "") -> str:
    """Return the id of a simulation, which no other one of its run has.

    Variants of a task, and a trial that is run again, have the same task, trial and seed.

    Args:
        task_id: The task's id.
        trial: The number of the trial.
        seed: Its seed.
        started: When it began.
        test: The node id of its test; empty outside of a test run.
    """
    return f"{task_id}-{trial}-{seed}-{digest(f'{test} {started}')[:8]}"


class Simulation(TrialResult):
    """One executed trial: its messages, how it ended, its reward.

    Attributes:
        messages: The trajectory, oldest first.
        replay_differences: The differences of a replayed conversation from its recording.
        duplex: What τ²-bench stores of a conversation in which both sides can speak at once, by its fields
            (``DUPLEX``); ``messages`` were made of it. None for one in turns.
    """

    id: str
    start_time: str = ""
    end_time: str = ""
    mode: str = "half_duplex"
    agent_cost: float | None = None
    user_cost: float | None = None
    messages: list[Message] = Field(default_factory=list)
    replay_differences: list[str] = Field(default_factory=list)
    duplex: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.task_id} trial {self.trial}: reward {self.reward:g}, {self.termination_reason}, "
            f"{len(self.messages)} messages>"
        )

    def note_usage(self, usage: Mapping[Any, ModelUsage]) -> None:
        """Record the sums over model calls, by role."""
        self.model_usage = {str(role): used for role, used in usage.items()}
        self.agent_cost = usage["agent"].cost if "agent" in usage else None
        self.user_cost = usage["user"].cost if "user" in usage else None

    @property
    def turns(self) -> int:
        """The number of turns: messages of the agent or the user, with a text or with tool calls."""
        return sum(message.role in ("assistant", "user") for message in self.messages)

    @property
    def calls(self) -> list[Call]:
        """All tool calls of both sides with their results, in order."""
        return calls_in(self.messages)

    def called(self, name: str, /, **arguments: Any) -> bool:
        """Return whether either side called the tool, with at least these arguments.

        Raises:
            ValueError: The trial has just been run, and its domain has no such tool in any variant, or the tool has no
                such argument; suggests similar names.
        """
        was_called = any(
            call.call.name == name
            and all(key in call.call.arguments and call.call.arguments[key] == arguments[key] for key in arguments)
            for call in self.calls
        )
        if not was_called:
            self._check_names(name, arguments)
        return was_called

    def _check_names(self, name: str, arguments: Iterable[str]) -> None:
        """Refuse the name of a tool or of an argument that no call has and that the domain does not know."""
        known = vars(self).get(_KNOWN_TOOLS)
        calls = [call.call for call in self.calls if call.call.name == name]
        if known is None:
            return
        if name not in known and not calls:
            raise ValueError(unknown_name("tool", name, known))
        expected = known.get(name)
        for argument in arguments:
            if (
                expected is not None
                and argument not in expected
                and all(argument not in call.arguments for call in calls)
            ):
                raise ValueError(f"tool {name!r}: {unknown_name('argument', argument, expected)}")

    def know_tools(self, arguments: Mapping[str, Collection[str] | None]) -> None:
        """Keep the names of the domain's tools and of their arguments for ``called``; they are not stored.

        Args:
            arguments: By tool; None if they are not known.
        """
        # As functools.cached_property does: no field, and no part of a comparison.
        vars(self)[_KNOWN_TOOLS] = arguments
