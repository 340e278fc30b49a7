"""Trajectories as text that is readable in a diff: one call on a line, in a stable order, nothing volatile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import parse_json
from ...environment import canonical
from ...files import digest
from ...models import AssistantMessage, UserMessage, session_break, writable
from ...plain import json
from .volatile import Volatile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...environment import Change
    from ...models import Call, Simulation
    from .parts import Selection

_SIDES = {"assistant": "agent", "user": "user"}
#: Hexadecimal digits of a result's digest.
_DIGEST = 8
#: Characters up to which a result stays on one line.
_ONE_LINE = 100


def as_text(simulation: Simulation, selection: Selection) -> str:
    """Return the selected parts of a simulation.

    Raises:
        ConfigurationError: The databases' changes are selected but unknown.
    """
    writer = _Writer(simulation, selection)
    return "\n".join(map(_plain, writer.lines()))


class _Writer:
    def __init__(self, simulation: Simulation, selection: Selection) -> None:
        self._simulation, self._selection, self._parts = simulation, selection, selection.parts
        self._volatile = Volatile(simulation, selection.is_given)

    def lines(self) -> Iterator[str]:
        if self._parts & {"messages", "calls", "results"}:
            conversation = list(self._conversation())
            yield "conversation"
            yield from conversation or ["  no calls"]
        if "database" in self._parts:
            yield "database"
            # Sorted as text, so that generated ids do not change the order.
            changes = self._selection.changes(self._simulation)
            yield from sorted(self._change(side, change) for side, change in changes) or ["  no changes"]
        if "verdict" in self._parts:
            yield "verdict"
            yield from self._verdict()

    def _conversation(self) -> Iterator[str]:
        calls: dict[int, list[Call]] = {}
        for call in self._simulation.calls:
            calls.setdefault(call.message_idx, []).append(call)
        for number, message in enumerate(self._simulation.messages):
            if not isinstance(message, AssistantMessage | UserMessage):
                continue
            if (text := session_break(message)) is not None:
                yield f"  --- {text} ---"
                continue
            if "messages" in self._parts and message.content:
                yield from _indented(self._stable(message.content), f"  {_SIDES[message.role]}: ", "    ")
            for call in calls.get(number, []):
                yield from self._call(call)

    def _call(self, made: Call) -> Iterator[str]:
        head = f"  {_SIDES[made.call.requestor]} calls {made.call.name}"
        if "calls" in self._parts:
            call = made.call
            arguments = [f"{name}={_json(call.arguments[name])}" for name in sorted(call.arguments)]
            inside = (
                f"not a JSON object: {_json(call.malformed)}" if call.malformed is not None else ", ".join(arguments)
            )
            head += f"({self._stable(inside)})"
        if "results" not in self._parts:
            if "calls" in self._parts:
                yield head
            return
        content = self._stable((made.result.content if made.result else None) or "")
        if made.result is None:
            yield f"{head} -> no result"
        elif made.result.error:
            yield from _indented(content, f"{head} -> ", "    ")
        elif "messages" in self._parts:
            yield head
            yield from _indented(_wrapped(content), "    -> ", "       ")
        else:
            yield f"{head} -> {digest(content)[:_DIGEST]}"

    def _change(self, side: str, change: Change) -> str:
        before, after = (self._stable(_json(json.loads(canonical(value)))) for value in (change.expected, change.got))
        how = {"expected": f"added {after}", "got": f"removed {before}"}.get(
            change.missing or "", f"{before} -> {after}"
        )
        return self._stable(f"  {side} {change.path}: ") + how

    def _verdict(self) -> Iterator[str]:
        simulation = self._simulation
        info = simulation.reward_info
        factors = " x ".join(f"{name} {value:g}" for name, value in ((info and info.reward_breakdown) or {}).items())
        reward = f"reward {info.reward:g}" if info else "not graded"
        yield f"  {reward} = {factors}" if factors else f"  {reward}"
        token = f" {simulation.stop_token}" if simulation.stop_token else ""
        yield f"  ended by {simulation.termination_reason}{token}"

    def _stable(self, text: str) -> str:
        return self._volatile.replaced(writable(text))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _wrapped(content: str) -> str:
    """Return a result's text; JSON that is too long for one line on several."""
    if len(content) <= _ONE_LINE:
        return content
    try:
        return json.dumps(parse_json(content), ensure_ascii=False, indent=1)
    except (ValueError, RecursionError):
        return content


def _indented(text: str, first: str, rest: str) -> Iterator[str]:
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        yield f"{rest if number else first}{line}"


def _plain(line: str) -> str:
    """Return a line without line breaks, and without trailing spaces, which editors and hooks remove."""
    visible = line if line.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)
    return visible.rstrip()
