"""Tools that fail on purpose: the rules by which they do, and the results that a participant sees instead.

A fault changes what a side sees of a call. ``error`` and ``timeout`` come before the tool, which is not executed; the
other kinds change the result of a tool that was. Grading replays the calls that were executed, without any fault.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from ..documents import DocumentError, parse_json
from ..errors import unknown_name
from ..models import TOOL_FAULTS, ToolMessage, paired_calls
from ..text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..environment import Environment
    from ..models import Message, Requestor, Simulation, ToolCall

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
    found: dict[str, float] = {}
    delay = DELAY
    for part in rates.split(","):
        name, equals, value = (each.strip() for each in part.partition("="))
        kind, value = (name, value) if equals else ("error", name)
        if kind not in KINDS:
            raise ValueError(f"{text!r}: {unknown_name('kind', kind, KINDS)}")
        if kind in found:
            raise ValueError(f"{text!r}: {kind} is given twice")
        if kind == "delay" and "@" in value:
            value, _, seconds = value.partition("@")
            delay = _number(text, f"delay@{seconds}", seconds, _LONGEST_DELAY, "seconds")
        found[kind] = _number(text, part.strip(), value, 1.0, "a rate")
    if sum(found.values()) > 1 + 1e-9:
        raise ValueError(f"{text!r}: the rates add up to {sum(found.values()):g}, expected at most 1")
    return FaultRule(text.strip(), "user" if head.startswith(_USER) else "assistant", pattern, found, delay)


def _number(text: str, part: str, value: str, most: float, what: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise ValueError(f"{text!r}: expected {what} from 0 to {most:g}, got {part!r}")
    return found


def check_rules(rules: Iterable[FaultRule], tools: Iterable[tuple[Requestor, str]]) -> str | None:
    """Return the problem of the first rule that is about none of the tools; None if there is none.

    Args:
        rules: The rules.
        tools: The tools of the run, each by the side that has it and its name.
    """
    known = list(dict.fromkeys(tools))
    for rule in rules:
        names = [name for side, name in known if side == rule.requestor]
        if not any(map(rule.matches, names)):
            side = "user" if rule.requestor == "user" else "agent"
            if not names:
                return f"{rule.text!r}: the {side} has no tools"
            return f"{rule.text!r}: {unknown_name(f'tool of the {side}', rule.pattern, names)}"
    return None


class ToolFaults:
    """The faults of one conversation.

    Args:
        rules: The rules; the first one that is about a tool decides.
        seed: What the draws depend on: the trial's seed and its task. The n-th call of a tool meets the same fault in
            every run with this seed, whatever other tools are called.
        environment: The environment of the conversation.
    """

    def __init__(self, rules: Sequence[FaultRule], seed: str, environment: Environment) -> None:
        self._rules, self._seed, self._environment = rules, seed, environment
        self._calls: Counter[tuple[str, str]] = Counter()
        self._first: dict[str, str | None] = {}

    def continue_from(self, messages: Sequence[Message]) -> None:
        """Count the calls of a conversation that is continued, so that later ones meet the faults of their numbers."""
        for made in paired_calls(messages):
            _, rule = self.before(made.call)
            result = made.result
            if rule is None or result is None or result.error or result.fault == "partial":
                continue
            if not self._environment.mutates(made.call.name, made.call.requestor):
                self._first.setdefault(_key(made.call), result.content)

    def before(self, call: ToolCall) -> tuple[str | None, FaultRule | None]:
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

    def refusal(self, call: ToolCall, kind: str) -> ToolMessage:
        """Return what a call results in that is not executed."""
        problem = (
            f"{call.name} timed out, no answer was received" if kind == "timeout" else f"{call.name} is unavailable"
        )
        return _result(call, f"Error: {problem}. Try again later.", kind, failed=True)

    def after(self, call: ToolCall, result: ToolMessage, kind: str | None) -> ToolMessage:
        """Return what a side sees of a call that was executed: the result, or what the fault makes of it."""
        if result.error or self._rule(call) is None:
            return result
        content = result.content
        if not self._environment.mutates(call.name, call.requestor):
            before = self._first.setdefault(_key(call), content)
            content = before if kind == "stale" else content
        if kind == "partial":
            content = shortened(content)
        if kind == "delay" or content != result.content:
            return _result(call, content, kind, failed=False)
        return result

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


def record_faults(simulation: Simulation, rules: Sequence[FaultRule]) -> None:
    """Record which calls of a conversation met a fault; nothing without rules."""
    if not rules:
        return
    calls = simulation.calls
    faults = [
        {"message_idx": made.message_idx, "tool": made.call.name, "requestor": made.call.requestor, "kind": fault}
        for made in calls
        if made.result is not None and (fault := made.result.fault)
    ]
    found = {"rules": [rule.text for rule in rules], "calls": len(calls), "faults": faults}
    simulation.info = (simulation.info or {}) | {TOOL_FAULTS: found}


def _key(call: ToolCall) -> str:
    return json.dumps([call.requestor, call.name, call.arguments], sort_keys=True, default=str)


def _result(call: ToolCall, content: str | None, kind: str | None, *, failed: bool) -> ToolMessage:
    return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=failed, fault=kind)
