"""The questions that reports ask a reward component, and the form of its answers.

All of it is presentation: no verdict depends on it.
"""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..documents import DocumentError, parse_json
from ..environment.records import json_default
from ..models import not_json
from ..plain import json
from ..text import one_line, shorten, shorten_both

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..models import Call, OutcomeCheck, RewardInfo
    from .evidence import Evidence

#: Characters of the reason why an outcome is right.
_WHY = 80

LineKind: TypeAlias = Literal["verdict", "passed", "head", "bad", "error", "note", "agent", "user", "tool", "command"]


#: The beginning of the line about the call next to an action that was not made; the number of its message follows.
NEAREST = "nearest call, message"
#: What is added to a call that the user was to make.
BY_USER = " (by the user)"


class Line(NamedTuple):
    """One line: its kind, which decides its colour, and its text."""

    kind: LineKind
    text: str


def more_line(items: Sequence[Any], shown_count: int) -> list[Line]:
    """Return the line that counts the items that are not shown; no line if all are."""
    left = len(items) - shown_count
    return [Line("note", f"  and {left} more")] if left > 0 else []


def outcome_text(outcome: OutcomeCheck) -> str:
    """Return another right outcome in words."""
    return f"outcome {outcome.position} ({one_line(outcome.why, _WHY)})"


def malformed_text(text: str) -> str:
    """Return that arguments are malformed; of text that is not JSON, where it breaks."""
    try:
        problem = not_json(parse_json(text, is_line=True))
    except DocumentError as error:
        problem = str(error)
    return f"malformed arguments, {problem}" if problem else "malformed arguments"


def short_json(value: Any, width: int = 60) -> str:
    """Return a value as JSON of limited length."""
    return shorten(_json(value), width)


def difference_texts(
    expected: Any, got: Any, missing: str | None, *, width: int = 60, whole: int = 60
) -> tuple[str, str]:
    """Return what was expected and what was found at one place, as JSON of limited length.

    Args:
        expected: The expected value.
        got: The value that was found.
        missing: The state that has no value there: ``expected``, ``got`` or None.
        width: Characters of each of two values; they are cut so that their first difference is shown.
        whole: Characters of a value that only one state has.
    """
    if missing == "got":
        return f"expected {short_json(expected, whole)}", "missing"
    if missing == "expected":
        return "not expected", f"got {short_json(got, whole)}"
    mine, theirs = shorten_both(_json(expected), _json(got), width)
    return f"expected {mine}", f"got {theirs}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=json_default)


class Check(NamedTuple):
    """One check of a component, in words.

    Attributes:
        text: What was checked, under the component's name.
        met: Whether it was met.
        name: What records add to the component's name; None if the component has one check only.
        label: What was checked, on its own.
        note: Why it was not met, or what else there is to say.
        call: Position among all calls of the call that decided it; None if none did.
        message_idx: Number of the message that decided it; None if none did.
        of_call: It asks for a call, and needs no further words next to that call.
    """

    text: str
    met: bool
    name: str | None
    label: str
    note: str = ""
    call: int | None = None
    message_idx: int | None = None
    of_call: bool = False

    def at_call(self, position: int | None, calls: Sequence[Call]) -> Check:
        """Return the check as decided by a call; unchanged if there is no such call."""
        if position is None or position >= len(calls):
            return self
        return self._replace(call=position, message_idx=calls[position].message_idx)


class Omission(NamedTuple):
    """What an agent did not do, as the reason for a failure."""

    reason: str
    evidence: str


class ComponentReports(abc.ABC):
    """The questions that reports ask a component. The answers are texts: none of them is a rule of grading.

    Attributes:
        name: The component's name in reward bases and reports.
    """

    name: str

    @abc.abstractmethod
    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return the component's checks in a verdict, in order."""

    @abc.abstractmethod
    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the lines of the failure report about checks that are not met.

        Args:
            verdict: The verdict on the simulation.
            calls: The calls of the simulation, in order.
        """

    def gates(self, verdict: RewardInfo) -> bool:
        """Return whether the reward depends on this component."""
        return self.name in (verdict.reward_basis or ())

    def failed_checks(self, verdict: RewardInfo) -> list[str]:
        """Return the unmet checks as records and exports name them, such as ``DB`` or ``ACTION cancel_order``."""
        unmet = [check for check in self.checks(verdict) if not check.met]
        return [self.name if check.name is None else f"{self.name} {check.name}" for check in unmet]

    def located(self, verdict: RewardInfo, evidence: Evidence) -> list[Check]:
        """Return the checks, each with the message that decided it, if a single one did."""
        del evidence
        return self.checks(verdict)

    def omission(self, verdict: RewardInfo) -> Omission | None:
        """Return what the agent did not do, if the unmet checks say so."""
        del verdict
        return None

    def details(self, verdict: RewardInfo) -> list[str]:
        """Return further lines for a comparison of verdicts about unmet checks."""
        del verdict
        return []

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return the outcome of each check, by a name for JSON reports."""
        return {self.name.lower(): [check.met for check in self.checks(verdict)]}
