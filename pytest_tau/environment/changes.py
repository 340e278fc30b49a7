"""Differences of two JSON values, each at the path of the innermost place that differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..models.problems import json_text
from .records import canonical, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Change(NamedTuple):
    """One place where two states differ; ``missing`` is the state that lacks it: ``expected`` or ``got``."""

    path: str
    expected: Any
    got: Any
    missing: str | None = None


def place_text(change: Change) -> str:
    """Return where two states differ, and both values."""
    before, after = (
        "nothing" if change.missing == side else json_text(getattr(change, side)) for side in ("expected", "got")
    )
    return f"{change.path.lstrip('/') or 'the state'}: {before} at first, now {after}"


def value_changes(path: str, expected: Any, got: Any) -> Iterator[Change]:
    """Yield the places where two JSON values differ; none if and only if they are equal.

    Values are compared in order of lists and in type of JSON value. The place of an element is its position. In lists
    of different lengths, elements are missing or additional after the equal beginning and before the equal end.

    Args:
        path: The place of the values.
        expected: One value.
        got: The other.
    """
    if not same(expected, got):
        yield from known_changes(path, expected, got)


def known_changes(path: str, expected: Any, got: Any) -> Iterator[Change]:
    """Yield the places where two values differ that are known to differ; one that is missing is ``...``."""
    if got is ...:
        yield Change(path, expected, None, "got")
    elif expected is ...:
        yield Change(path, None, got, "expected")
    elif isinstance(expected, dict) and isinstance(got, dict):
        for key in dict.fromkeys([*expected, *got]):
            mine, theirs = expected.get(key, ...), got.get(key, ...)
            if mine is ... or theirs is ... or not same(mine, theirs):
                yield from known_changes(f"{path}/{key}", mine, theirs)
    elif isinstance(expected, list) and isinstance(got, list) and expected and got:
        start, end = (0, 0) if len(expected) == len(got) else _equal_ends(expected, got)
        for position in range(start, max(len(expected), len(got)) - end):
            mine = expected[position] if position < len(expected) - end else ...
            theirs = got[position] if position < len(got) - end else ...
            if mine is ... or theirs is ... or not same(mine, theirs):
                yield from known_changes(f"{path}/{position}", mine, theirs)
    else:
        yield Change(path, expected, got)


def _equal_ends(one: Sequence[Any], other: Sequence[Any]) -> tuple[int, int]:
    """Return the number of elements that two lists share at the beginning, and at the end of what remains."""
    texts = [canonical(each) for each in one], [canonical(each) for each in other]
    shortest = min(len(one), len(other))
    start = _equal_beginning(texts[0], texts[1])
    return start, _equal_beginning(texts[0][::-1][: shortest - start], texts[1][::-1][: shortest - start])


def _equal_beginning(one: Sequence[str], other: Sequence[str]) -> int:
    different = (place for place, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs)
    return next(different, min(len(one), len(other)))
