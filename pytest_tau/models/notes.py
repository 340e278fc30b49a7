"""Notes about a simulation: what pytest-tau knows of one besides its conversation and its verdict."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, StrictBool, TypeAdapter, ValidationError

from .rewards import Difference

if TYPE_CHECKING:
    from collections.abc import Mapping

Party: TypeAlias = Literal["agent", "user", "task", "domain", "provider", "harness", "undecided"]
#: The candidates of an undecided fault, unless others are named.
_EITHER: tuple[Party, ...] = ("agent", "user")
#: The ``error_kind`` of a trial that something outside of it has ended.
INTERRUPTED = "interrupted"
#: What has changed an environment without executing a tool on it, among ``outside_tools``.
OTHER_CODE = "other code"
#: Ends the reason of a user that asked for something else.
OTHER_WISH = "than its task has"


@dataclass(frozen=True)
class Attribution:
    """The party that a failure looks like the fault of.

    Attributes:
        party: ``agent``, ``user``, ``task`` (or its domain), ``domain``, ``provider`` or ``harness``; ``undecided`` if
            nothing is proved.
        reason: The fault, in words.
        message_idx: Number of the message that shows it, from 0; None if none does.
        evidence: The text or call there, or the error.
        candidates: The parties that an undecided fault may be of; empty for one that is decided.
        actor: Of a fault of the agent, who has written this message, if the agent consists of several actors.
    """

    party: Party
    reason: str = ""
    message_idx: int | None = None
    evidence: str = ""
    candidates: tuple[Party, ...] = ()
    actor: str | None = None

    def __post_init__(self) -> None:
        if self.party == "undecided" and not self.candidates:
            object.__setattr__(self, "candidates", _EITHER)

    @property
    def is_other_wish(self) -> bool:
        """Whether it is that the user has asked for something else than its task has, which the task may leave open."""
        return self.party == "user" and self.reason.endswith(OTHER_WISH)


def _checked_call(call: dict[str, Any]) -> dict[str, Any]:
    if not (isinstance(call.get("name"), str) and isinstance(call.get("arguments"), dict) and call.get("requestor")):
        raise ValueError("no name, arguments or requestor")
    return call


#: A call by its ``name``, its ``arguments`` and its ``requestor``.
NamedCall: TypeAlias = Annotated[dict[str, Any], AfterValidator(_checked_call)]


@dataclass(frozen=True)
class Divergence:
    """The place at which a final state went wrong.

    Attributes:
        message_idx: Number of the message that made the call, from 0; None if a write is missing.
        kind: ``diverged``: after the call the right state was out of reach. ``missing``: it still is within reach.
        call: The call, or the first of the missing writes: ``name``, ``arguments``, ``requestor``.
        text: The divergence in words.
        also_missing: The other missing writes.
    """

    message_idx: int | None
    kind: Literal["diverged", "missing"]
    call: NamedCall
    text: str
    also_missing: tuple[NamedCall, ...] = ()

    @property
    def missing(self) -> tuple[NamedCall, ...]:
        """Return the writes that are missing; none if the conversation diverged."""
        return (self.call, *self.also_missing) if self.kind == "missing" else ()


@dataclass(frozen=True)
class OutsideChanges:
    """Changes of the environment that no call of the conversation has made.

    Attributes:
        when: Whether the environment was changed during the conversation or before it.
        tools: The tools that were executed on the environment directly, with the number of executions.
        differences: Places of the state that differ from what the calls produce, the first of them.
        places: How many there are.
    """

    when: Literal["during", "before"]
    tools: dict[str, int]
    differences: list[Difference]
    places: int


@dataclass(frozen=True)
class ForeignAgent:
    """An agent that is not built in, if the run counts or records calls.

    Attributes:
        name: Its name.
        calls_seen: Whether model calls that it made were seen.
        clients: If not, the clients of models that its module imports.
    """

    name: str
    calls_seen: bool
    clients: list[str]


@dataclass(frozen=True)
class DiscardedAttempt:
    """An attempt that was run again, because of the protocol or of a capability.

    Attributes:
        error: What went wrong.
        messages: Its messages as JSON.
        termination_reason: How it ended; None if a reply could not be used.
        stop_token: The token of the user that ended it, if one did.
        reward: Its reward; None if it was not graded.
        facts: What capabilities know of it.
    """

    error: str | None
    messages: list[dict[str, Any]]
    termination_reason: str | None = None
    stop_token: str | None = None
    reward: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Played:
    """How a person has played a side.

    Attributes:
        side: The side.
        peeked: The places of the databases that the person has looked at.
        undone: Whether turns were taken back.
    """

    side: str
    peeked: list[str]
    undone: bool


@dataclass(frozen=True)
class Notes:
    """What is known of a simulation besides its conversation and its verdict.

    Attributes:
        solo: The agent worked alone.
        saw_reference: The sides that were given the reference actions.
        error_kind: The class of pytest-tau's exception behind ``error``, or ``interrupted``; None for other errors.
        blame: Whose fault a failure looks like; None if nothing failed.
        turning_point: Where the final state of a failure went wrong; None if that is not known.
        turning_point_problem: Why the turning point was not found.
        outside_changes: Changes of the environment that no call has made.
        late_calls: Calls of an agent on its own loop that came after the conversation and were refused: their number by
            tool.
        silent_agent: The name of an agent that is not built in and made no tool call.
        foreign_agent: An agent that is not built in, if the run counts or records calls.
        inputs: The parameters of its test that have no part in the trial, each with its value as a text.
        discarded_attempts: Attempts that do not count.
        played: How a person has played a side.
        others: What files of others have in ``info``, such as ``auth_classification`` of τ²-bench; an entry above that
            has another form is one of them.
    """

    # A text such as "yes" does not count.
    solo: StrictBool = False
    saw_reference: tuple[Literal["agent", "user"], ...] = ()
    error_kind: str | None = None
    blame: Attribution | None = None
    turning_point: Divergence | None = None
    turning_point_problem: str | None = None
    outside_changes: OutsideChanges | None = None
    late_calls: dict[str, int] = field(default_factory=dict)
    silent_agent: str | None = None
    foreign_agent: ForeignAgent | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    discarded_attempts: list[DiscardedAttempt] = field(default_factory=list)
    played: Played | None = None
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def interrupted(self) -> bool:
        """Whether something outside of the trial has ended it, so that it counts as one that was not run."""
        return self.error_kind == INTERRUPTED

    @property
    def outside_tools(self) -> tuple[str, ...]:
        """The tools that were executed on the environment outside of the calls of the conversation.

        ``OTHER_CODE`` if something else has changed it.
        """
        # A state that a test has changed before the conversation, on purpose, is in the reports of failures only.
        changes = self.outside_changes
        return () if changes is None or changes.when == "before" else tuple(changes.tools) or (OTHER_CODE,)

    @classmethod
    def read(cls, info: Mapping[str, Any]) -> Notes:
        """Return the notes in the ``info`` of a file."""
        known = {name: info[name] for name in info if name in _NAMES}
        others = {name: info[name] for name in info if name not in _NAMES}
        while True:
            try:
                return _adapter().validate_python({**known, "others": others})
            except ValidationError as error:
                for name in {str(problem["loc"][0]) for problem in error.errors()}:
                    others[name] = known.pop(name)

    def as_info(self) -> dict[str, Any] | None:
        """Return the notes as the ``info`` of a file has them, without those that are empty; None if all are."""
        if self == NO_NOTES:
            return None
        values: dict[str, Any] = _adapter().dump_python(self, mode="json", exclude_defaults=True)
        others: dict[str, Any] = values.pop("others", {})
        return others | values


#: The notes of a simulation of which nothing is known.
NO_NOTES = Notes()
_NAMES = frozenset(note.name for note in fields(Notes)) - {"others"}


@cache
def _adapter() -> TypeAdapter[Notes]:
    return TypeAdapter(Notes)


def _of_info(info: Any) -> Any:
    return Notes.read(info) if isinstance(info, dict) else NO_NOTES if info is None else info


#: The field of a simulation: ``info`` in files.
NotesField: TypeAlias = Annotated[Notes, BeforeValidator(_of_info), PlainSerializer(Notes.as_info)]
