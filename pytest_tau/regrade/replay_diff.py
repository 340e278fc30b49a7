"""Replay of stored conversations: results of calls that are not what they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none
from ..environment import same_result
from ..environment.results import is_error
from ..models import calls_in
from ..plain import json
from ..text import shorten, shorten_both

if TYPE_CHECKING:
    from ..environment import Environment
    from ..models import Simulation, ToolCall

_MOST, _LONGEST = 3, 100
#: Tools of τ-bench, and of older versions of τ²-bench, that changed nothing.
_NO_LONGER_TOOLS = frozenset({"think"})


class ReplayDifference(NamedTuple):
    """A call that changes a database, with a result that differs, or any call that cannot be carried out again.

    Attributes:
        message_idx: Number of the calling message, from 0.
        flipped: The recorded call failed and the replayed one succeeds, or the reverse; a call that cannot be carried
            out again had succeeded.
        text: What differs, for people.
    """

    message_idx: int
    tool: str
    flipped: bool
    text: str

    def __str__(self) -> str:
        return f"message {self.message_idx}, {self.tool}: {self.text}"


def replay(simulation: Simulation, environment: Environment) -> list[ReplayDifference]:
    """Carry out the calls that change a database, and compare their results with the recorded ones.

    Args:
        simulation: The recording.
        environment: A fresh environment of its task; changed by this.

    Calls that a fault kept from their tool are skipped. So are malformed calls and calls of unknown tools, which are
    differences if they had succeeded.

    Source: τ²-bench v1.0.1, replay: unknown tools and tools that do not mutate are skipped.
    """
    found = []
    for made in calls_in(simulation.messages):
        call = made.call
        if made.result is not None and not made.result.executed:
            continue
        if why := _not_replayed(call, environment):
            if made.result is not None and not is_error(made.result) and call.name not in _NO_LONGER_TOOLS:
                found.append(ReplayDifference(made.message_idx, call.name, True, f"succeeded, not replayed: {why}"))
            continue
        if not environment.mutates(call.name, call.requestor):
            continue
        now = environment.call(call.name, call.arguments, call.requestor).content or ""
        # What a side saw of a call with a fault is not what the tool returned.
        then = made.result.content or "" if made.result and made.result.fault is None else now
        if not same_result(then, now):
            failed, fails = then.startswith("Error"), now.startswith("Error")
            text = _format_difference(then, now, failed, fails)
            found.append(ReplayDifference(made.message_idx, call.name, failed != fails, text))
    return found


def call_on_other_data(simulation: Simulation, environment: Environment) -> ReplayDifference | None:
    """Carry out every call until one fails that had succeeded, and return it; None if there is none.

    Args:
        simulation: The recording.
        environment: A fresh environment of its task; changed by this.
    """
    for made in calls_in(simulation.messages):
        call, result = made.call, made.result
        if result is None or not result.executed or _not_replayed(call, environment):
            continue
        now = environment.call(call.name, call.arguments, call.requestor)
        if is_error(now) and not is_error(result):
            text = _format_difference(result.content or "", now.content or "", failed=False, fails=True)
            return ReplayDifference(made.message_idx, call.name, True, text)
    return None


def _not_replayed(call: ToolCall, environment: Environment) -> str:
    """Return why a call cannot be carried out again; empty if it can be."""
    if call.malformed is not None:
        return f"its arguments are not a JSON object: {_short(call.malformed)}"
    if not environment.has_tool(call.name, call.requestor):
        return f"the {call.requestor} has no tool of this name"
    return ""


def _format_difference(then: str, now: str, failed: bool, fails: bool) -> str:
    if failed and not fails:
        return f"failed with {_short(then)!r}, now succeeds"
    if fails and not failed:
        return f"succeeded, now fails with {_short(now)!r}"
    return _difference(then, now)


def _difference(then: str, now: str) -> str:
    was, got = _fields(then), _fields(now)
    if was is None or got is None:
        recorded, replayed = shorten_both(" ".join(then.split()), " ".join(now.split()), _LONGEST)
        return f"recorded {recorded!r}, now {replayed!r}"
    differing = [key for key in dict.fromkeys([*was, *got]) if was.get(key, ...) != got.get(key, ...)]
    parts = [f"{key} recorded {_value(was, key)}, now {_value(got, key)}" for key in differing[:_MOST]]
    left = len(differing) - _MOST
    return "; ".join(parts) + (f"; and {left} more" if left > 0 else "")


def _fields(text: str) -> dict[str, Any] | None:
    value = json_or_none(text)
    return value if isinstance(value, dict) else None


def _value(fields: dict[str, Any], key: str) -> str:
    return _short(json.dumps(fields[key], ensure_ascii=False)) if key in fields else "nothing"


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), _LONGEST)
