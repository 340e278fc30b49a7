"""What the rules of a policy found in a conversation, as it is stored with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..models import call_as_text
from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What cannot be checked if no rule can.
POLICY = "policy"


@dataclass(frozen=True)
class RecordedBreach:
    """A breach in plain values.

    Attributes:
        rule: The rule's name.
        message_idx: The number of the message, from 0.
        evidence: What was done there.
        call: The call as ``name`` and ``arguments``; None for a text.
    """

    rule: str
    message_idx: int
    evidence: str
    call: Mapping[str, Any] | None = None

    @property
    def call_text(self) -> str | None:
        """Return the call as text; None for a text."""
        return call_as_text(self.call["name"], dict(self.call["arguments"])) if self.call else None

    def line(self, width: int = 200) -> str:
        """Return the breach in one line, without its rule."""
        called = f": {one_line(self.call_text, width // 2)}" if self.call_text else ""
        return one_line(f"message {self.message_idx}{called}: {self.evidence}", width)

    def as_dict(self) -> dict[str, Any]:
        """Return the breach as JSON values."""
        document: dict[str, Any] = {"rule": self.rule, "message_idx": self.message_idx}
        return document | {"call": dict(self.call) if self.call else None, "evidence": self.evidence}

    @classmethod
    def from_dict(cls, values: Any) -> RecordedBreach:
        """Return the breach that ``as_dict`` made this of.

        Raises:
            ValueError: The values are of another form.
        """
        call = values.get("call") if isinstance(values, dict) else None
        has_rule = isinstance(values, dict) and isinstance(values.get("rule"), str)
        numbered = has_rule and type(values.get("message_idx")) is int
        called = call is None or (
            isinstance(call, dict) and isinstance(call.get("name"), str) and isinstance(call.get("arguments"), dict)
        )
        if not numbered or not called:
            raise ValueError(f"a breach needs a rule and a message_idx, got {one_line(repr(values), 80)}")
        evidence = str(values.get("evidence") or "")
        return cls(values["rule"], values["message_idx"], evidence, call)


@dataclass(frozen=True)
class PolicyReport:
    """What the rules of a policy found in one conversation.

    Attributes:
        checked: The names of the rules that were checked.
        breaches: The breaches, in the order of messages.
        problems: Why a rule could not be checked, by its name.
    """

    checked: tuple[str, ...] = ()
    breaches: tuple[RecordedBreach, ...] = ()
    problems: Mapping[str, str] = field(default_factory=dict)

    @property
    def score(self) -> float | None:
        """Return 1 if no rule was breached, else 0; None if no rule was checked."""
        return None if not self.checked else float(not self.breaches)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of breaches of each rule that was breached, in the order of the rules."""
        if not self.breaches:
            return {}
        numbers = Counter(breach.rule for breach in self.breaches)
        return {name: numbers[name] for name in [*self.checked, *numbers] if name in numbers}

    def score_of(self, rule: str) -> float | None:
        """Return 1 if a rule was not breached, else 0; None if it was not checked."""
        return float(rule not in self.counts) if rule in self.checked else None

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        document: dict[str, Any] = {
            "score": self.score,
            "checked": list(self.checked),
            "breaches": [breach.as_dict() for breach in self.breaches],
        }
        return document | ({"problems": dict(self.problems)} if self.problems else {})

    @classmethod
    def read(cls, **values: Any) -> PolicyReport:
        """Return the report that ``as_dict`` made these of.

        Raises:
            ValueError: They are of another form.
        """
        checked, breaches, problems = values.get("checked"), values.get("breaches"), values.get("problems") or {}
        if not isinstance(checked, list) or set(map(type, checked)) - {str}:
            raise ValueError("'checked' is not a list of names")
        if not isinstance(breaches, list) or not isinstance(problems, dict):
            raise ValueError("'breaches' is not a list, or 'problems' is not an object")  # noqa: TRY004 - likewise
        recorded = tuple(RecordedBreach.from_dict(stored) for stored in breaches)
        return cls(tuple(checked), recorded, {str(name): str(why) for name, why in problems.items()})
