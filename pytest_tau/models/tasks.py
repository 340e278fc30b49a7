"""Tasks, in the JSON format of τ²-bench."""

from __future__ import annotations

import functools
import operator
import textwrap
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StrictBool,
    ValidationInfo,
    field_validator,
    model_validator,
)

from .messages import Message, Requestor
from .script import UserScript
from .sessions import expanded

RewardType: TypeAlias = Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]
REWARD_TYPES: tuple[str, ...] = ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION")


#: The annotation that names the cluster of a task.
CLUSTER = "tau.cluster"
#: The annotation that has what a person who approves calls knows and answers.
APPROVER = "tau.approver"
#: The sets of names of fields that parts of tasks have, each once: a set for each part takes half of a task's memory.
_FIELD_SETS: dict[frozenset[str], set[str]] = {}


class _TaskPart(BaseModel):
    # A number that JSON lacks, such as NaN, stays what it is: as null, two tasks would have one reference state.
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="constants")

    def model_post_init(self, context: Any) -> None:
        """Share the set of the fields that are given with other parts: as this part is frozen, none is added to it."""
        del context
        fields_set = self.__pydantic_fields_set__
        object.__setattr__(self, "__pydantic_fields_set__", _FIELD_SETS.setdefault(frozenset(fields_set), fields_set))


def _without(model: type[Any], value: Any, validate: Callable[[Any], Any], ignorable: Callable[[Any], bool]) -> Any:
    """Return a part of a task, validated without its unknown fields that can be ignored."""
    if not isinstance(value, dict):
        return validate(value)
    ignored = tuple(name for name, part in value.items() if name not in model.model_fields and ignorable(part))
    part = validate({name: inner for name, inner in value.items() if name not in ignored})
    if ignored:
        part._ignored = ignored  # noqa: SLF001 - of these models
    return part


class Description(_TaskPart):
    """Notes on a task for people."""

    purpose: str | None = None
    relevant_policies: str | None = None
    notes: str | None = None


@functools.lru_cache(maxsize=1024)
def _section(title: str, text: str) -> str:
    """Return a text under its title, indented by a tab; lines without text are not."""
    return f"{title}:\n" + textwrap.indent(text, "\t")


class Instructions(_TaskPart):
    """The user's side of the scenario, in parts."""

    domain: str | None = None
    reason_for_call: str
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str

    def __str__(self) -> str:
        """Return the parts that are given, each under its title."""
        parts = {
            "Reason for call": self.reason_for_call,
            "Known info": self.known_info,
            "Unknown info": self.unknown_info,
            "Task instructions": self.task_instructions,
        }
        domain = [] if self.domain is None else [f"Domain: {self.domain}"]
        return "\n".join(domain + [_section(title, text) for title, text in parts.items() if text is not None])


#: Values that say nothing.
_SAYS_NOTHING: tuple[Any, ...] = (None, "", [], {})


class UserScenario(_TaskPart):
    """The user and its requests. Unknown fields that say nothing are ignored: official data has a misspelt one.

    Attributes:
        script: The script of a user without a model; an extension of τ²-bench's format.
    """

    persona: str | None = None
    instructions: Instructions | str
    script: UserScript | None = None
    _ignored: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _ignore_empty(cls, value: Any, validate: ModelWrapValidatorHandler[Any]) -> Any:
        return _without(cls, value, validate, lambda part: part in _SAYS_NOTHING)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names of the fields that were ignored."""
        return self._ignored

    def __str__(self) -> str:
        """Return the scenario as the text for a model that plays the user, without the script.

        Source: τ²-bench v1.0.1: each level is indented by a tab, null parts are omitted.
        """
        parts = [] if self.persona is None else [("Persona", self.persona)]
        return "\n".join(_section(title, text) for title, text in [*parts, ("Instructions", str(self.instructions))])


class FunctionCall(_TaskPart):
    """A call of a toolkit function that is part of the initial state.

    Attributes:
        env_type: The side of the toolkit: ``assistant`` or ``user``.
    """

    env_type: Requestor
    func_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class EnvAssertion(FunctionCall):
    """A statement about the final environment: the function must return ``assert_value``."""

    assert_value: StrictBool = True
    message: str | None = None


class Action(_TaskPart):
    """A reference action.

    Attributes:
        compare_args: Names of the arguments that must be equal; None compares those of the actual call,
            an empty list compares none.
        fails: Whether the call is meant to fail, so that its effect is not expected; an extension of τ²-bench's format.
    """

    action_id: str
    requestor: Requestor = "assistant"
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    info: str | None = None
    compare_args: list[str] | None = None
    fails: StrictBool = Field(default=False, exclude_if=operator.not_)


class InitializationData(_TaskPart):
    """Data that is merged into the databases before the initial actions.

    Other objects are ignored: official data has tables next to ``agent_data``, where they belong inside.
    """

    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None
    _ignored: tuple[str, ...] = PrivateAttr(default=())

    @model_validator(mode="wrap")
    @classmethod
    def _ignore_objects(cls, value: Any, validate: ModelWrapValidatorHandler[Any]) -> Any:
        return _without(cls, value, validate, lambda part: isinstance(part, dict))

    @property
    def ignored(self) -> tuple[str, ...]:
        """The names of the objects that were ignored, which must be tables of the domain."""
        return self._ignored


class InitialState(_TaskPart):
    """The state at the start of the conversation."""

    initialization_data: InitializationData | None = None
    initialization_actions: list[FunctionCall] | None = None
    message_history: list[Message] | None = None


class Outcome(_TaskPart):
    """Another right way for a task to end, next to that of its reference actions.

    Attributes:
        actions: The actions that lead to its state; none if nothing changes.
        why: Why it is right as well, for people.
    """

    actions: list[Action]
    why: str


class EvaluationCriteria(_TaskPart):
    """The criteria that the evaluator checks.

    Attributes:
        outcomes: Other right ways to end; an extension of τ²-bench's format.
        reward_basis: The components that multiply into the reward.

    Source: τ²-bench v1.0.1; a missing basis is ``[DB, COMMUNICATE]``.
    """

    actions: list[Action] | None = None
    outcomes: list[Outcome] | None = Field(default=None, exclude_if=operator.not_)
    env_assertions: list[EnvAssertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: list[str] = ["DB", "COMMUNICATE"]

    @field_validator("reward_basis", mode="before")
    @classmethod
    def _missing(cls, value: Any) -> Any:
        return ["DB", "COMMUNICATE"] if value is None else value

    @field_validator("outcomes")
    @classmethod
    def _beside_actions(cls, value: list[Outcome] | None, info: ValidationInfo) -> list[Outcome] | None:
        if value and info.data.get("actions", ...) is None:
            raise ValueError("expected reference actions next to them, in the field actions (none: [])")
        return value

    @property
    def all_actions(self) -> list[Action]:
        """The reference actions, and those of other right outcomes."""
        return [*(self.actions or ()), *(action for outcome in self.outcomes or () for action in outcome.actions)]


class _Foreign(_TaskPart):
    """A part of a task with fields of another program; those that say nothing are dropped."""

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        fields = cls.model_fields
        return {name: part for name, part in value.items() if name in fields or part not in _SAYS_NOTHING}


class ForeignAction(_Foreign, Action, extra="allow"):
    """A reference action of another program's task."""


class ForeignAssertion(_Foreign, EnvAssertion, extra="allow"):
    """A statement about the final environment of another program's task."""


class ForeignOutcome(_Foreign, Outcome, extra="allow"):
    """Another right outcome of another program's task."""

    actions: list[ForeignAction]  # type: ignore[assignment]


class ForeignCriteria(_Foreign, EvaluationCriteria, extra="allow"):
    """Evaluation criteria with fields of another program, by which nothing can be graded here."""

    actions: list[ForeignAction] | None = None  # type: ignore[assignment]
    outcomes: list[ForeignOutcome] | None = Field(default=None, exclude_if=operator.not_)  # type: ignore[assignment]
    env_assertions: list[ForeignAssertion] | None = None  # type: ignore[assignment]

    @property
    def unknown(self) -> list[str]:
        """The names of the fields that are not known here, such as ``acceptable_outcomes`` and ``actions.weight``."""
        inside = {f"actions.{name}" for action in self.actions or [] for name in action.model_extra or {}}
        inside |= {f"outcomes.{name}" for outcome in self.outcomes or [] for name in outcome.model_extra or {}}
        inside |= {f"env_assertions.{name}" for check in self.env_assertions or [] for name in check.model_extra or {}}
        return sorted({*(self.model_extra or {}), *inside})


class Session(_TaskPart):
    """One of several conversations of a task, which take place one after the other over one database.

    Attributes:
        id: Its name, unique in the task.
        hours: Hours between the end of the session before and its beginning.
        caller: Who calls, for another person than in other sessions. A caller remembers its own sessions.
        user_scenario: The caller and its requests.
        initialization_data: What has changed in the databases in between.
        initialization_actions: Likewise, functions that are called after that.
        actions: The reference actions.
        communicate_info: Texts that the agent must say in this session.
        withheld_info: Texts that the agent must not say in this session.
        graded: Whether the state at its end must be that after the reference actions so far.
    """

    id: str = Field(min_length=1)
    hours: float = Field(default=0, ge=0, strict=True, allow_inf_nan=False)
    caller: str = ""
    user_scenario: UserScenario
    initialization_data: InitializationData | None = None
    initialization_actions: list[FunctionCall] | None = None
    actions: list[Action] = Field(default_factory=list)
    communicate_info: list[str] = Field(default_factory=list)
    withheld_info: list[str] = Field(default_factory=list)
    graded: StrictBool = False

    @property
    def facts(self) -> dict[str, str]:
        """The facts that the script of its caller has."""
        return self.user_scenario.script.facts if self.user_scenario.script else {}


class Task(_TaskPart):
    """One scenario: the user's requests, the initial state, and the evaluation criteria.

    Attributes:
        sessions: Several conversations instead of one; an extension of τ²-bench's format. The scenario is that of the
            first, and the reference actions are those of all, with a call of ``begin_session`` before those of each
            session but the first.
    """

    id: str
    description: Description | None = None
    user_scenario: UserScenario
    ticket: str | None = None
    initial_state: InitialState | None = None
    evaluation_criteria: EvaluationCriteria | None = None
    annotations: Any = None
    issues: list[dict[str, Any]] | None = None
    required_documents: list[str] | None = None
    user_tools: list[str] | None = None
    sessions: list[Session] | None = Field(default=None, exclude_if=operator.not_)

    @model_validator(mode="before")
    @classmethod
    def _expand_sessions(cls, value: Any) -> Any:
        return expanded(value) if isinstance(value, dict) and value.get("sessions") is not None else value

    def of_session(self, position: int) -> Task:
        """Return the task of one session, as its participants see it; the task itself if it has no sessions.

        The script of a caller has the facts of its earlier sessions, too.
        """
        if not self.sessions:
            return self
        session = self.sessions[position]
        scenario, facts = session.user_scenario, dict[str, str]()
        for earlier in self.sessions[:position]:
            facts |= earlier.facts if earlier.caller == session.caller else {}
        if scenario.script is not None and facts:
            script = scenario.script.model_copy(update={"facts": facts | session.facts})
            scenario = scenario.model_copy(update={"script": script})
        phrases = session.communicate_info or None
        criteria = self.criteria.model_copy(update={"actions": session.actions, "communicate_info": phrases})
        return self.model_copy(update={"user_scenario": scenario, "evaluation_criteria": criteria, "sessions": None})

    @property
    def scenarios(self) -> list[UserScenario]:
        """The scenarios of its sessions; its own if it has none."""
        return [session.user_scenario for session in self.sessions or ()] or [self.user_scenario]

    @property
    def scenario_text(self) -> str:
        """The text of what users are given, in all sessions."""
        if not self.sessions:
            return str(self.user_scenario)
        return "\n\n".join(f"Session {session.id}:\n{session.user_scenario}" for session in self.sessions)

    @property
    def message_history(self) -> list[Message]:
        """The conversation so far, oldest first; empty when the agent opens it."""
        return (self.initial_state and self.initial_state.message_history) or []

    @property
    def cluster(self) -> str:
        """The name that tasks have in common which pass or fail together; empty for a task by itself."""
        label = self.annotations.get(CLUSTER) if isinstance(self.annotations, dict) else None
        return label.strip() if isinstance(label, str) else ""

    @property
    def criteria(self) -> EvaluationCriteria:
        """The evaluation criteria; empty ones if the task has none."""
        return self.evaluation_criteria or EvaluationCriteria(reward_basis=[])

    def of_outcome(self, position: int | None) -> Task:
        """Return the task with the actions of another right outcome as its reference actions, and no other outcome.

        Args:
            position: The position among the outcomes; the task itself is returned for None, or if there is no such.
        """
        if position is None:
            return self
        outcomes = self.criteria.outcomes or ()
        if not 0 <= position < len(outcomes):
            return self
        criteria = self.criteria.model_copy(update={"actions": outcomes[position].actions, "outcomes": None})
        return self.model_copy(update={"evaluation_criteria": criteria})

    @property
    def unknown_criteria(self) -> list[str]:
        """The names of fields of the evaluation criteria that are not known here: only of tasks in result files."""
        criteria = self.evaluation_criteria
        return criteria.unknown if isinstance(criteria, ForeignCriteria) else []

    @property
    def needs_judge(self) -> bool:
        """Return whether the reward depends on a judge."""
        return "NL_ASSERTION" in self.criteria.reward_basis and bool(self.criteria.nl_assertions)
