"""The result of one executed trial: all that is known of it but its conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from .notes import NO_NOTES, NotesField
from .rewards import RewardInfo

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
        lost_results: Results of tools that an agent on its own loop has not given to its model in its last turn.
        lost_texts: Messages of the user that it has not given to its model there.
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
    lost_results: int = 0
    lost_texts: int = 0
    actors: dict[str, ModelUsage] = Field(default_factory=dict, exclude_if=_is_empty)

    @property
    def cost(self) -> float | None:
        """The cost in USD; None if the price of any call is unknown."""
        return None if self.unpriced_calls else self.known_cost


class TrialResult(BaseModel):
    """The result of a trial, which its simulation has with the conversation, and its record without it.

    Attributes:
        duration: Seconds.
        stop_token: The token of the user that ended the conversation, if one did.
        error: What went wrong, if anything did.
        model_usage: Calls, tokens and costs of models, by role: ``agent``, ``user``, ``judge``.
        reward_info: The verdict; None if there is none.
        info: What is known of it besides its conversation and its verdict.
        conditions: The conditions under which it was run, such as participants, prompts and limits; None for results of
            others.
        excluded: Why it is excluded from rates although it has a verdict; None if it is not.
        attempts: The number of attempts that were run, those that were discarded included.
        first_reward: The reward of the first of several attempts; None if there was one.
        facts: What capabilities know of it, by the name of the capability. Those of one that is not there are kept.
    """

    model_config = ConfigDict(extra="ignore")

    task_id: str
    trial: int = 0
    seed: int | None = None
    duration: float = 0.0
    termination_reason: TerminationReason
    stop_token: str | None = None
    error: str | None = None
    model_usage: dict[str, ModelUsage] = Field(default_factory=dict)
    reward_info: RewardInfo | None = None
    info: NotesField = Field(default_factory=lambda: NO_NOTES)
    conditions: dict[str, Any] | None = None
    excluded: str | None = None
    attempts: int = 1
    first_reward: float | None = None
    facts: dict[str, Any] = Field(default_factory=dict)

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

    @property
    def agent_name(self) -> str | None:
        """The name of the agent that was chosen; None if it is not known."""
        name = (self.conditions or {}).get("agent")
        return name if isinstance(name, str) else None

    def called_model(self, role: str) -> str | None:
        """Return the name of the model that a role has called: ``agent``, ``user``, ``judge``; None for none."""
        models: dict[str, dict[str, Any]] = (self.conditions or {}).get("models", {})
        return models.get(role, {}).get("name")

    def note_reference_seen(self, side: Literal["agent", "user"]) -> None:
        """Record that a side was given the task's reference actions."""
        self.info = replace(self.info, saw_reference=(*self.info.saw_reference, side))

    def note_error_kind(self, kind: str) -> None:
        """Record what is behind ``error``."""
        self.info = replace(self.info, error_kind=kind)
