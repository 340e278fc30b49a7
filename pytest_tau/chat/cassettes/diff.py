"""Differences of two requests, in lines for people."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from ...plain import json
from ...text import plural, visible
from .codec import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Limits: lines of all differences, of one difference, and of one side of a replaced part.
_MOST_LINES, _MOST_OF_ONE, _MOST_OF_SIDE = 28, 14, 5
#: Characters shown of a line, and of them those before the first difference.
_WIDTH, _BEFORE = 110, 40
#: Lines of a text that are compared, from the first difference on.
_COMPARED = 400


class _Absent:
    """Marks a value that one of the requests does not have."""


_ABSENT = _Absent()


class _Difference(NamedTuple):
    where: str
    recorded: Any
    now: Any


def diff_requests(recorded: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Compare a request with a recorded one.

    Args:
        recorded: ``model``, ``args``, ``tool_choice``, ``response_format``, ``tools``, ``messages``.
        now: Likewise.

    Returns:
        About 30 lines at most, none of them longer than a wide terminal.
    """
    lines: list[str] = []
    places = list(_compare_requests(recorded, now))
    for number, place in enumerate(places):
        shown = _format(place)
        if len(shown) > _MOST_OF_ONE:
            shown = [*shown[:_MOST_OF_ONE], f"  … {len(shown) - _MOST_OF_ONE} more lines"]
        if number and len(lines) + len(shown) > _MOST_LINES:
            left = len(places) - number
            return [*lines, f"… and {plural(left, 'more difference')}"]
        lines += shown
    return lines


def last_message(request: dict[str, Any]) -> list[str]:
    """Return the last message of a request as a line; no line if it has none."""
    messages = request["messages"]
    return [f"messages[{len(messages) - 1}]: {_cut(_json(messages[-1]))}"] if messages else []


# Finding


def _compare_requests(recorded: dict[str, Any], now: dict[str, Any]) -> Iterator[_Difference]:
    for name in ("model", "args", "tool_choice", "response_format"):
        yield from _compare(name, recorded[name], now[name])
    yield from _compare_lists("tools", recorded["tools"], now["tools"])
    yield from _compare_lists("messages", recorded["messages"], now["messages"])


def _compare(where: str, recorded: Any, now: Any) -> Iterator[_Difference]:
    if canonical(recorded) == canonical(now):
        return
    if isinstance(recorded, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*recorded, *now]):
            both = recorded.get(key, _ABSENT), now.get(key, _ABSENT)
            if _ABSENT in both:
                yield _Difference(f"{where}.{key}", *both)
            else:
                yield from _compare(f"{where}.{key}", *both)
    elif isinstance(recorded, list) and isinstance(now, list):
        yield from _compare_lists(where, recorded, now)
    else:
        yield _Difference(where, recorded, now)


def _compare_lists(where: str, recorded: list[Any], now: list[Any]) -> Iterator[_Difference]:
    """Yield the differences of two lists; an item without a counterpart was added or removed."""
    texts = [canonical(item) for item in recorded], [canonical(item) for item in now]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        pairs = min(i2 - i1, j2 - j1)
        for a, b in zip(range(i1, i1 + pairs), range(j1, j1 + pairs), strict=True):
            yield from _compare_items(where, a, recorded[a], b, now[b])
        for a in range(i1 + pairs, i2):
            yield _Difference(_named(where, a, recorded[a]), recorded[a], _ABSENT)
        for b in range(j1 + pairs, j2):
            yield _Difference(_named(where, b, now[b]), _ABSENT, now[b])


def _compare_items(where: str, a: int, recorded: Any, b: int, now: Any) -> Iterator[_Difference]:
    if _tool(recorded) == _tool(now):
        yield from _compare(_named(where, b, now), recorded, now)
    else:  # two tools, not one that has changed
        yield _Difference(_named(where, a, recorded), recorded, _ABSENT)
        yield _Difference(_named(where, b, now), _ABSENT, now)


def _named(where: str, position: int, item: Any) -> str:
    name = _tool(item) if where == "tools" else None
    return f"{where}[{position}]" + (f": {name}" if name else "")


def _tool(item: Any) -> str | None:
    function = item.get("function") if isinstance(item, dict) else None
    name = function.get("name") if isinstance(function, dict) and item.get("type") == "function" else None
    return name if isinstance(name, str) else None


# Showing


def _format(place: _Difference) -> list[str]:
    where, recorded, now = place
    if isinstance(recorded, str) and isinstance(now, str) and "\n" in recorded + now:
        return [f"{where}:", *_text(recorded.split("\n"), now.split("\n"))]
    if recorded is _ABSENT:
        return [f"{where}: not recorded, now {_cut(_json(now))}"]
    if now is _ABSENT:
        return [f"{where}: recorded {_cut(_json(recorded))}, not in the request now"]
    was, is_ = _pair(_json(recorded), _json(now))
    if len(was) + len(is_) + len(where) < _WIDTH:
        return [f"{where}: recorded {was}, now {is_}"]
    return [f"{where}:", f"  recorded  {was}", f"  now       {is_}"]


def _text(recorded: list[str], now: list[str]) -> Iterator[str]:
    """Yield a unified diff of two texts, with a line of context if it is not empty."""
    same = _common(recorded, now)
    start = max(same - 1, 0)
    recorded, now = recorded[start : start + _COMPARED], now[start : start + _COMPARED]
    for group in SequenceMatcher(None, recorded, now, autojunk=False).get_grouped_opcodes(1):
        shown = [code for code in group if code[0] != "equal" or any(recorded[code[1] : code[2]])]
        yield f"  @@ line {start + shown[0][1] + 1} @@"
        for tag, i1, i2, j1, j2 in shown:
            if tag == "equal":
                yield from (f"    {_cut(_lines(line)[0])}" for line in recorded[i1:i2] if line)
            elif i2 - i1 == j2 - j1:
                both = [_pair(*_lines(a, b)) for a, b in zip(recorded[i1:i2], now[j1:j2], strict=True)]
                yield from _first_lines("-", [a for a, _ in both])
                yield from _first_lines("+", [b for _, b in both])
            else:
                yield from _first_lines("-", [_cut(_lines(line)[0]) for line in recorded[i1:i2]])
                yield from _first_lines("+", [_cut(_lines(line)[0]) for line in now[j1:j2]])


def _first_lines(sign: str, lines: list[str]) -> Iterator[str]:
    """Yield the first lines, so that there is room for the other side of the difference."""
    yield from (f"  {sign} {line}" for line in lines[:_MOST_OF_SIDE])
    if len(lines) > _MOST_OF_SIDE:
        yield f"  {sign} … {len(lines) - _MOST_OF_SIDE} more lines"


def _pair(recorded: str, now: str) -> tuple[str, str]:
    """Return both texts around their first difference."""
    start = max(_common(recorded, now) - _BEFORE, 0)
    if max(len(recorded), len(now)) <= _WIDTH:
        start = 0
    return _cut(recorded, start), _cut(now, start)


def _cut(text: str, start: int = 0) -> str:
    end = start + _WIDTH
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


def _common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Count the items that both begin with."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _json(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False))


def _lines(*lines: str) -> list[str]:
    """Return lines of texts; in quotes if one is empty or has blanks at its end, which would not be seen."""
    seen = all(line and line == line.rstrip() for line in lines)
    return [visible(line.replace("\t", "\\t")) if seen else _json(line) for line in lines]
