"""Calls that a policy allows only with the approval of a person: where it says so, and the rules about such calls.

A comment after a sentence of the policy names the tool, and conditions on its arguments if there are any::

    A refund above 100 dollars needs an approval. <!-- approval: refund(amount > 100) -->

The agent asks by the tool ``request_approval``, whose result is the decision.
"""

from __future__ import annotations

import functools
import operator
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias, cast, get_args

from ..documents import DocumentError, json_or_none, parse_json, read_text
from ..environment import Toolkit, tool
from ..errors import ConfigurationError, unknown_name
from ..models import call_as_text
from .editions import fingerprint
from .marked import marks_in
from .rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..environment import DomainSpec, Tool, Values
    from .parts import Breach, MadeCall
    from .trajectory import Trajectory

#: The tool by which an agent asks for an approval.
REQUEST = "request_approval"
#: The names of the rules about approvals.
RULES = ("approval", "rejection", "approved-arguments")
#: What the approver of a request decides; ``not_needed`` if no approval is needed for the call.
DecisionKind: TypeAlias = Literal["approved", "rejected", "question", "not_needed"]

_MARK = re.compile(r"[ \t]*<!-- approval:(.*?)-->", re.DOTALL)
_CALL = re.compile(r"\s*(?P<tool>[\w.-]+)\s*(?:\((?P<conditions>.*)\))?\s*", re.DOTALL)
_CONDITION = re.compile(
    r'\s*(?P<argument>\w+)\s*(?P<comparison>!=|>=|<=|=|>|<)\s*(?P<value>"(?:[^"\\]|\\.)*"|[^\s,"()]+)\s*(?:,|$)'
)
_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_FORM = 'expected TOOL or TOOL(ARGUMENT > 100, ARGUMENT = "text"), with =, !=, <, <=, > or >= and JSON values'


class Condition(NamedTuple):
    """A condition on an argument of a call.

    Attributes:
        argument: The name of the argument.
        comparison: One of ``=``, ``!=``, ``<``, ``<=``, ``>`` and ``>=``.
        value: What it is compared with.
    """

    argument: str
    comparison: str
    value: Any

    def holds(self, arguments: Mapping[str, Any]) -> bool:
        """Return whether arguments fulfil it; a value that is missing or cannot be compared counts as one that does."""
        try:
            return _COMPARISONS[self.comparison](arguments[self.argument], self.value)
        except (KeyError, TypeError):
            return True


@dataclass(frozen=True)
class Approval:
    """A kind of calls that needs an approval.

    Attributes:
        tool: The name of the tool.
        conditions: The conditions, all of which must hold; none for every call of the tool.
        sentence: The sentence of the policy.
        text: The mark.
        source: The mark and the sentence with their placeholders for values of the domain.
    """

    tool: str
    conditions: tuple[Condition, ...] = ()
    sentence: str = ""
    text: str = ""
    source: tuple[str, str] = ("", "")

    def with_values(self, values: Values) -> Approval:
        """Return the kind of calls with values of the domain in its mark and its sentence.

        Raises:
            ConfigurationError: A placeholder names a value that is not declared, or cannot be calculated.
            ValueError: The mark has another form.
        """
        mark, sentence = (values.fill(text, "policy") for text in self.source)
        return replace(parse_approval(mark, sentence), source=self.source)

    def covers(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call needs the approval."""
        return name == self.tool and all(condition.holds(arguments) for condition in self.conditions)


def parse_approval(text: str, sentence: str = "") -> Approval:
    """Return what a mark declares: ``refund(amount > 100)``.

    Raises:
        ValueError: It has another form; says which part.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        raise ValueError(f"{_FORM}, got {text.strip()!r}")
    conditions, rest = [], call["conditions"] or ""
    while rest.strip():
        part = _CONDITION.match(rest)
        if part is None:
            raise ValueError(f"{_FORM}, got the condition {rest.strip()!r}")
        try:
            value = parse_json(part["value"], is_line=True)
        except DocumentError:
            raise ValueError(f"{part['argument']}: expected a JSON value, got {part['value']}") from None
        conditions.append(Condition(part["argument"], part["comparison"], value))
        rest = rest[part.end() :]
    return Approval(call["tool"], tuple(conditions), sentence, text.strip(), (text, sentence))


def approvals_of(spec: DomainSpec) -> tuple[Approval, ...]:
    """Return the kinds of calls that need an approval in a domain; none if it was not made by ``with_approvals``."""
    return getattr(spec.agent_tools, "tau_approvals", ())


def with_approvals(spec: DomainSpec, addition: str = "") -> DomainSpec:
    """Return a domain whose agent needs the approvals that its default policy marks.

    It has the tool ``request_approval`` and the rules ``approval``, ``rejection`` and ``approved-arguments``, which are
    a factor of the reward.

    Args:
        spec: The domain.
        addition: A text with marks that is added to the policy.

    Raises:
        ConfigurationError: No call is marked, a mark has another form, or names an unknown tool or argument.
    """

    def joined(texts: list[str]) -> str:
        return str(spec.policy_text(texts)) + (f"\n{addition}" if addition else "")

    approvals = _marked(spec, joined)
    toolkit = _with_tool(spec.agent_tools, approvals)
    counting = spec.rules_count if spec.rules_count is True else (*(spec.rules_count or ()), *RULES)
    declared = [spec.rules] if isinstance(spec.rules, str) else spec.rules
    return replace(
        spec,
        agent_tools=toolkit,
        policy_text=lambda texts: _MARK.sub("", joined(texts)),
        rules=(*declared, *approval_rules(approvals)),
        rules_count=counting,
    )


def _marked(spec: DomainSpec, joined: Callable[[list[str]], str]) -> tuple[Approval, ...]:
    files = next(iter(spec.policies.values())).normal if spec.policies else ()
    try:
        text = joined([read_text(Path(spec.folder) / file) for file in files])
    except (OSError, DocumentError) as error:
        raise ConfigurationError(f"domain {spec.name!r}: policy: cannot be read: {error}") from None
    approvals = []
    for mark, sentence in marks_in(text, _MARK):
        try:
            approval = Approval("", source=(mark[1], sentence)).with_values(spec.values)
            if tools := spec.agent_tools.tools():  # those of a server are not known yet
                check_approval(approval, tools)
        except ValueError as error:
            raise ConfigurationError(f"domain {spec.name!r}: policy: {mark[0].strip()}: {error}") from None
        approvals.append(approval)
    if not approvals:
        problem = "its policy marks no call that needs one: add <!-- approval: TOOL --> after the sentence"
        raise ConfigurationError(f"domain {spec.name!r}: with_approvals: {problem}")
    return tuple(approvals)


def check_approval(approval: Approval, tools: Mapping[str, Tool]) -> None:
    """Check that an approval is about a tool of the agent and arguments of it.

    Raises:
        ValueError: It is not.
    """
    if approval.tool not in tools:
        raise ValueError(unknown_name("tool of the agent", approval.tool, tools))
    known = tools[approval.tool].parameters.get("properties", {})
    for condition in approval.conditions:
        if condition.argument not in known:
            raise ValueError(unknown_name(f"argument of {approval.tool}", condition.argument, known))


class _Asks(Toolkit[Any]):
    """The tool by which an agent asks for an approval."""

    tau_approvals: ClassVar[tuple[Approval, ...]] = ()

    @classmethod
    @functools.cache
    def with_values(cls, values: Values) -> type[Toolkit[Any]]:
        """Return the toolkit with other values of its domain, which the approvals have, too."""
        approvals = tuple(approval.with_values(values) for approval in cls.tau_approvals)
        return _with_tool(super().with_values(values), approvals)

    @tool("generic")
    def request_approval(self, tool: str, arguments: dict[str, Any], note: str = "") -> dict[str, str]:
        """Ask the person who approves whether you may make a call that needs an approval, and wait for the answer.

        The answer has the decision: approved, rejected with the reason as its text, question with what the person wants
        to know first, or not_needed. An approval is for one call with exactly these arguments.

        Args:
            tool: The name of the tool that you want to call.
            arguments: The arguments of that call.
            note: What the person should know, or your answer to their question.
        """
        return {"decision": "approved"}


def _with_tool(toolkit: type[Toolkit[Any]], approvals: tuple[Approval, ...]) -> type[Toolkit[Any]]:
    members = {"tau_approvals": approvals, "__module__": toolkit.__module__, "__doc__": toolkit.__doc__}
    bases = (_Asks,) if toolkit is Toolkit else (toolkit,) if issubclass(toolkit, _Asks) else (toolkit, _Asks)
    return type(toolkit.__name__, bases, members)


class Request(NamedTuple):
    """A request for an approval in a conversation, and its answer.

    Attributes:
        made: The call of ``request_approval``.
        tool: The tool that the agent wanted to call.
        arguments: The arguments of that call.
        decision: The decision; None if there was none.
        text: The reason or the question.
    """

    made: MadeCall
    tool: str
    arguments: dict[str, Any]
    decision: DecisionKind | None
    text: str

    @property
    def call_text(self) -> str:
        """Return the call that the agent wanted to make as text."""
        return call_as_text(self.tool, self.arguments)


def requests_in(calls: Sequence[MadeCall]) -> list[Request]:
    """Return the requests for approvals among calls, in order."""
    return [_request(call) for call in calls if call.name == REQUEST]


def _request(call: MadeCall) -> Request:
    answer: Any = {} if call.failed else call.value
    answer = answer if isinstance(answer, dict) else {}
    decision = answer.get("decision")
    known = cast("DecisionKind", decision) if decision in get_args(DecisionKind) else None
    arguments = requested_arguments(call.arguments) or {}
    return Request(call, str(call.arguments.get("tool")), arguments, known, str(answer.get("text") or ""))


def requested_arguments(request: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of the call that a request is about, which some models write as a text; None if wrong."""
    arguments = request.get("arguments")
    arguments = json_or_none(arguments) if isinstance(arguments, str) else arguments
    return arguments if isinstance(arguments, dict) else None


class Act(NamedTuple):
    """A call that needs an approval.

    Attributes:
        call: The call.
        breach: The rule that it breaks; None if it was approved.
        evidence: What it lacks.
        request: The request that it follows or departs from.
    """

    call: MadeCall
    breach: str | None
    evidence: str = ""
    request: Request | None = None


def acts_in(calls: Sequence[MadeCall], approvals: Sequence[Approval]) -> list[Act]:
    """Return the agent's calls that need an approval, in order, each with the rule that it breaks.

    An approval is for one call. One that has failed does not use it up.

    Args:
        calls: The agent's calls, oldest first.
        approvals: Which calls need one.
    """
    acts: list[Act] = []
    used: list[Request] = []
    for call in calls:
        if not any(approval.covers(call.name, call.arguments) for approval in approvals):
            continue
        before = [earlier for earlier in calls if earlier.turn_number < call.turn_number]
        act = _act(call, [request for request in requests_in(before) if request not in used])
        if act.breach is None and act.request is not None and not call.failed:
            used.append(act.request)
        acts.append(act)
    return acts


def _act(call: MadeCall, requests: Sequence[Request]) -> Act:
    about = [request for request in requests if request.tool == call.name]
    exact = [request for request in about if _same(request.arguments, call.arguments)]
    latest = exact[-1] if exact else None
    if latest is not None and latest.decision == "approved":
        return Act(call, None, request=latest)
    if latest is not None and latest.decision == "rejected":
        reason = f": {latest.text}" if latest.text else ""
        return Act(call, "rejection", f"rejected in message {latest.made.message_idx}{reason}", latest)
    if latest is not None:
        return Act(call, "approval", f"asked in message {latest.made.message_idx}, and not approved yet", latest)
    approved = [request for request in about if request.decision == "approved"]
    if approved:
        other = call_as_text(call.name, approved[-1].arguments)
        return Act(
            call, "approved-arguments", f"message {approved[-1].made.message_idx} approved {other}", approved[-1]
        )
    return Act(call, "approval", "no approval was asked for")


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Return whether arguments are equal; one that is null is like one that is not given."""
    return _given(first) == _given(second)


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def approval_rules(approvals: Sequence[Approval]) -> list[Rule]:
    """Return the rules about calls that need an approval: each was asked for, not rejected, and made as approved."""
    sentences = [approval.source[1] for approval in approvals if approval.source[1]]
    stated = (tuple(fingerprint(sentence) for sentence in sentences),) if len(sentences) > 1 else ()
    sentence = sentences[0] if sentences else "Ask for an approval first."
    return [Rule(name, sentence, _check_of(name, approvals), bounded=True, editions=stated) for name in RULES]


def _check_of(name: str, approvals: Sequence[Approval]) -> Callable[[Trajectory], Iterator[Breach]]:
    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for act in acts_in(trajectory.calls, _in_force(approvals, trajectory)):
            if act.breach == name:
                yield trajectory.breach(act.call, act.evidence)

    return check


def _in_force(approvals: Sequence[Approval], trajectory: Trajectory) -> Sequence[Approval]:
    """Return the approvals with the values of the domain in which a conversation took place."""
    marked = {approval.tool for approval in approvals if "{" in approval.source[0]}
    first = next((call for call in trajectory.calls if call.name in marked), None)
    state = first and trajectory.shared_state_before(first)
    return [approval.with_values(state.values) for approval in approvals] if state else approvals
