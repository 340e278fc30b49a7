"""Tools that fail on purpose: the rules by which they do, and the results that a participant sees instead.

A fault changes what a side sees of a call. ``error`` and ``timeout`` come before the tool, which is not executed; the
other kinds change the result of a tool that was. Grading replays the calls that were executed, without any fault.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from ...capability import TrialStages
from ...documents import DocumentError, parse_json
from ...errors import unknown_name
from ...models import ToolMessage, calls_in
from ...plain import json
from ...text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...capability import RunView, TrialView
    from ...models import Message, Requestor, Simulation, ToolCall
    from . import ToolFaultSettings
    from .facts import ToolFaultFacts

#: The kinds of faults, in the order in which a draw is compared with their rates.
KINDS: Final = ("error", "timeout", "delay", "stale", "partial")
#: Seconds by which ``delay`` holds a result back, unless the rule has another number.
DELAY: Final = 1.0
_LONGEST_DELAY: Final = 600.0
_USER: Final = "user:"
_FORM: Final = "PATTERN:RATE or PATTERN:KIND=RATE,…, such as 'get_*:0.1,timeout=0.02'"


@dataclass(frozen=True)
class FaultRule:
    """How often calls of some tools fail.

    Attributes:
        text: The rule as it was written.
        requestor: The side whose calls fail.
        pattern: The names of the tools, with ``*`` and ``?``.
        rates: The probability of each kind, 0 to 1; together at most 1.
        delay: Seconds of a delay.
    """

    text: str
    requestor: Requestor
    pattern: str
    rates: dict[str, float]
    delay: float = DELAY

    def __str__(self) -> str:
        return self.text

    def matches(self, name: str) -> bool:
        """Return whether the rule is about a tool."""
        return fnmatchcase(name, self.pattern)


def parse_rule(text: str) -> FaultRule:
    """Return the rule ``PATTERN:RATE[,KIND=RATE…]``; a rate without a kind is one of errors.

    ``user:`` before the pattern makes it a rule about the tools of the user; ``delay=RATE@SECONDS`` has the length of
    the delay.

    Raises:
        ValueError: A part cannot be read; names it.
    """
    head, colon, rates = text.strip().rpartition(":")
    pattern = head.removeprefix(_USER).strip()
    if not colon or not pattern or not rates.strip():
        raise ValueError(f"expected {_FORM}, got {shorten(text)!r}")
    rate_of_kind: dict[str, float] = {}
    delay = DELAY
    for part in rates.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        kind, value = (name, value) if equals else ("error", name)
        if kind not in KINDS:
            raise ValueError(f"{text!r}: {unknown_name('kind', kind, KINDS)}")
        if kind in rate_of_kind:
            raise ValueError(f"{text!r}: {kind} is given twice")
        if kind == "delay" and "@" in value:
            value, _, seconds = value.partition("@")
            delay = _number(text, f"delay@{seconds}", seconds, _LONGEST_DELAY, "seconds")
        rate_of_kind[kind] = _number(text, part.strip(), value, 1.0, "a rate")
    if sum(rate_of_kind.values()) > 1 + 1e-9:
        raise ValueError(f"{text!r}: the rates add up to {sum(rate_of_kind.values()):g}, expected at most 1")
    return FaultRule(text.strip(), "user" if head.startswith(_USER) else "assistant", pattern, rate_of_kind, delay)


def _number(text: str, part: str, value: str, most: float, expected: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= most:
        raise ValueError(f"{text!r}: expected {expected} from 0 to {most:g}, got {part!r}")
    return number


def check_rules(settings: ToolFaultSettings, run: RunView) -> None:
    """Check that each rule is about a tool of the run.

    Raises:
        ValueError: A rule is about none of the tools; names it.
    """
    for rule in settings.tool_faults:
        names = [name for side, name in run.tools if side == rule.requestor]
        if not any(map(rule.matches, names)):
            side = "user" if rule.requestor == "user" else "agent"
            problem = unknown_name(f"tool of the {side}", rule.pattern, names) if names else f"the {side} has no tools"
            raise ValueError(f"{rule.text!r}: {problem}")


class ToolFaults(TrialStages):
    """The faults of one trial.

    The n-th call of a tool meets the same fault in every run with this seed, whatever other tools are called.
    """

    def __init__(self, view: TrialView) -> None:
        self._rules: Sequence[FaultRule] = view.settings.tool_faults
        self._seed, self._environment = f"{view.seed} {view.task.id}", view.environment
        self._calls: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, str | None] = {}
        self._kind: str | None = None

    def begin(self, messages: Sequence[Message]) -> None:
        """Count the calls of a conversation that is continued, so that later ones meet the faults of their numbers."""
        for call in calls_in(messages):
            rule = self._draw(call.call)[1]
            result = call.result
            if rule is None or result is None or result.error or result.fault == "partial":
                continue
            if not self._environment.mutates(call.call.name, call.call.requestor):
                self._first.setdefault(_key(call.call), result.content)

    async def call(self, call: ToolCall) -> ToolMessage | None:
        """Return what a call results in that is not executed; wait before one that is delayed."""
        self._kind, rule = self._draw(call)
        if self._kind in ("error", "timeout"):
            timed_out = self._kind == "timeout"
            problem = f"{call.name} " + ("timed out, no answer was received" if timed_out else "is unavailable")
            return _result(call, f"Error: {problem}. Try again later.", self._kind, failed=True)
        if self._kind == "delay" and rule is not None:
            await asyncio.sleep(rule.delay)
        return None

    async def result(self, call: ToolCall, result: ToolMessage) -> ToolMessage:
        """Return what a side sees of a call that was executed: the result, or what the fault makes of it."""
        if result.error or self._rule(call) is None:
            return result
        content, kind = result.content, self._kind
        if not self._environment.mutates(call.name, call.requestor):
            before = self._first.setdefault(_key(call), content)
            content = before if kind == "stale" else content
        if kind == "partial":
            content = shortened(content)
        if kind == "delay" or content != result.content:
            return _result(call, content, kind, failed=False)
        return result

    def graded(self, simulation: Simulation) -> ToolFaultFacts:
        """Return the calls that met a fault."""
        from .facts import Struck, ToolFaultFacts

        calls = simulation.calls
        struck = [
            Struck(message_idx=call.message_idx, tool=call.call.name, requestor=call.call.requestor, kind=fault)
            for call in calls
            if call.result is not None and (fault := call.result.fault)
        ]
        return ToolFaultFacts(rules=[rule.text for rule in self._rules], calls=len(calls), faults=struck)

    def _draw(self, call: ToolCall) -> tuple[str | None, FaultRule | None]:
        """Draw the kind of fault of a call that is about to be made; None for no fault."""
        rule = self._rule(call)
        if rule is None:
            return None, None
        key = (call.requestor, call.name)
        self._calls[key] += 1
        draw = random.Random(f"{self._seed} fault {call.requestor} {call.name} {self._calls[key]}").random()  # noqa: S311 - not for secrets
        for kind in KINDS:
            draw -= rule.rates.get(kind, 0.0)
            if draw < 0:
                return kind, rule
        return None, rule

    def _rule(self, call: ToolCall) -> FaultRule | None:
        if call.malformed is not None or not self._environment.has_tool(call.name, call.requestor):
            return None
        of_side = (rule for rule in self._rules if rule.requestor == call.requestor)
        return next((rule for rule in of_side if rule.matches(call.name)), None)


def shortened(content: str | None) -> str | None:
    """Return the first half of a JSON list or object; any other text as it is."""
    try:
        value: Any = parse_json(content or "")
    except DocumentError:
        return content
    half: Any = value
    if isinstance(value, list):
        half = value[: len(value) // 2]
    elif isinstance(value, dict):
        half = dict(list(value.items())[: len(value) // 2])
    return json.dumps(half) if half != value else content


def _key(call: ToolCall) -> str:
    return json.dumps([call.requestor, call.name, call.arguments], sort_keys=True, default=str)


def _result(call: ToolCall, content: str | None, kind: str | None, *, failed: bool) -> ToolMessage:
    return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=failed, fault=kind)
