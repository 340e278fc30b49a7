"""One executed trial."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from ..errors import ReplayError, TauError, unknown_name
from ..files import digest
from .messages import Message, ToolCall, ToolMessage
from .notes import NO_NOTES, NotesField
from .rewards import RewardInfo

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

TerminationReason: TypeAlias = Literal[
    "user_stop",
    "agent_stop",
    "max_steps",
    "timeout",
    "too_many_errors",
    "capability_limit",
    "agent_error",
    "user_error",
    "infrastructure_error",
    "context_window_exceeded",
    "unexpected_error",
]

#: Reasons that can earn more than 0. Source: τ²-bench v1.0.1, evaluator.
STOPS: frozenset[str] = frozenset({"user_stop", "agent_stop"})
#: Reasons that cut a conversation off after a step.
LIMITS: frozenset[str] = frozenset({"max_steps", "too_many_errors"})
#: The conversation was ended by the stage ``limit`` of a capability, which the error names.
CAPABILITY_LIMIT: TerminationReason = "capability_limit"
#: Reasons without a verdict on the agent: the user, a provider or the harness failed.
FAULTS: frozenset[str] = frozenset({"user_error", "infrastructure_error", "unexpected_error"})


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


def _is_empty(value: object) -> bool:
    """Return whether a field is not written: usage without actors is stored as it always was."""
    return not value


class ModelUsage(BaseModel):
    """The calls, tokens and costs of the models of one role in one simulation.

    Attributes:
        model: The model's name; if a participant called several, their names joined by commas.
        calls: The number of answers.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens received.
        known_cost: USD of the calls whose price is known.
        unpriced_calls: The number of calls without a known price.
        seconds: Time spent waiting for answers.
        cached_tokens: Tokens sent that the provider has read from its cache; they are part of ``prompt_tokens``.
        cut_replies: Answers that were cut off by the limit of their length.
        filtered_replies: Answers that a content filter of the provider has cut off.
        timeouts: Attempts of calls that reached their time limit.
        malformed_calls: Tool calls whose arguments were no JSON object.
        unknown_tools: Calls of tools that were not offered to the model.
        unmade_calls: Calls of the trial's tools in the model's answers that an agent on its own loop did not make, such
            as calls whose arguments its framework refuses.
        actors: Of an agent that consists of several actors: what the calls of each took that named theirs.
    """

    model: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    known_cost: float = 0.0
    unpriced_calls: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0
    cut_replies: int = 0
    filtered_replies: int = 0
    timeouts: int = 0
    malformed_calls: int = 0
    unknown_tools: int = 0
    unmade_calls: int = 0
    actors: dict[str, ModelUsage] = Field(default_factory=dict, exclude_if=_is_empty)

    @property
    def cost(self) -> float | None:
        """The cost in USD; None if the price of any call is unknown."""
        return None if self.unpriced_calls else self.known_cost


@dataclass(slots=True)
class Call:
    """A tool call with its result; ``message_idx`` is the number of the calling message, from 0."""

    message_idx: int
    call: ToolCall
    result: ToolMessage | None = None


def calls_in(messages: Iterable[Message]) -> list[Call]:
    """Return all tool calls of both sides with their results, in order."""
    found: list[Call] = []
    waiting: list[Call] = []
    for number, message in enumerate(messages):
        # The class of a model takes longer to ask for than its role.
        if message.role == "tool":
            if waiting:
                waiting.pop(0).result = message
        elif message.role != "system":
            waiting = [Call(number, call) for call in message.tool_calls or ()]
            found += waiting
    return found


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


class Simulation(BaseModel):
    """One executed trial: its messages, how it ended, its reward.

    Attributes:
        messages: The trajectory, oldest first.
        stop_token: The token of the user that ended the conversation, if one did.
        error: What went wrong, if anything did.
        duration: Seconds.
        model_usage: Calls, tokens and costs of models, by role: ``agent``, ``user``, ``judge``.
        replay_differences: The differences of a replayed conversation from its recording.
        info: What is known of it besides its conversation and its verdict.
        conditions: The conditions under which it was run, such as participants, prompts and limits; None for results of
            others.
        excluded: Why it is excluded from rates although it has a verdict; None if it is not.
        attempts: The number of attempts that were run, those that were discarded included.
        first_reward: The reward of the first of several attempts; None if there was one.
        facts: What capabilities know of it, by the name of the capability. Those of one that is not there are kept.
        duplex: What τ²-bench stores of a conversation in which both sides can speak at once, by its fields
            (``DUPLEX``); ``messages`` were made of it. None for one in turns.
    """

    model_config = ConfigDict(extra="ignore")

    id: str
    task_id: str
    trial: int = 0
    seed: int | None = None
    start_time: str = ""
    end_time: str = ""
    duration: float = 0.0
    termination_reason: TerminationReason
    stop_token: str | None = None
    error: str | None = None
    mode: str = "half_duplex"
    agent_cost: float | None = None
    user_cost: float | None = None
    model_usage: dict[str, ModelUsage] = Field(default_factory=dict)
    reward_info: RewardInfo | None = None
    messages: list[Message] = Field(default_factory=list)
    replay_differences: list[str] = Field(default_factory=list)
    info: NotesField = Field(default_factory=lambda: NO_NOTES)
    conditions: dict[str, Any] | None = None
    excluded: str | None = None
    attempts: int = 1
    first_reward: float | None = None
    facts: dict[str, Any] = Field(default_factory=dict)
    duplex: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.task_id} trial {self.trial}: reward {self.reward:g}, {self.termination_reason}, "
            f"{len(self.messages)} messages>"
        )

    @property
    def reward(self) -> float:
        """The reward; 0 if the simulation was not graded."""
        return self.reward_info.reward if self.reward_info else 0.0

    @property
    def outcome(self) -> Literal["passed", "failed", "error"]:
        """The outcome: ``error`` if the user, a provider, the judge or the harness failed; else by the reward."""
        if self.termination_reason in FAULTS or self.reward_info is None:
            return "error"
        return "passed" if self.reward_info.passed else "failed"

    def note_reference_seen(self, side: Literal["agent", "user"]) -> None:
        """Record that a side was given the task's reference actions."""
        self.info = replace(self.info, saw_reference=(*self.info.saw_reference, side))

    def note_error_kind(self, kind: str) -> None:
        """Record what is behind ``error``."""
        self.info = replace(self.info, error_kind=kind)

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
        found = any(
            made.call.name == name
            and all(key in made.call.arguments and made.call.arguments[key] == arguments[key] for key in arguments)
            for made in self.calls
        )
        if not found:
            self._check_names(name, arguments)
        return found

    def _check_names(self, name: str, arguments: Iterable[str]) -> None:
        """Refuse the name of a tool or of an argument that no call has and that the domain does not know."""
        known = vars(self).get(_KNOWN_TOOLS)
        made = [each.call for each in self.calls if each.call.name == name]
        if known is None:
            return
        if name not in known and not made:
            raise ValueError(unknown_name("tool", name, known))
        expected = known.get(name)
        for argument in arguments:
            if expected is not None and argument not in expected and all(argument not in one.arguments for one in made):
                raise ValueError(f"tool {name!r}: {unknown_name('argument', argument, expected)}")

    def know_tools(self, arguments: Mapping[str, Collection[str] | None]) -> None:
        """Keep the names of the domain's tools and of their arguments for ``called``; they are not stored.

        Args:
            arguments: By tool; None if they are not known.
        """
        # As functools.cached_property does: no field, and no part of a comparison.
        vars(self)[_KNOWN_TOOLS] = arguments
