"""The databases of a conversation for a person: what is at a path, and what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import unknown_name
from ..evaluation.component_reports import short_json
from ..plain import json
from ..text import plural, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Environment

#: Characters of a value, and names of its parts, that are shown.
_LONGEST, _MOST = 4000, 40


class NoSuchPathError(Exception):
    """There is nothing at a path of a database."""


def value_at(environment: Environment, path: str) -> str:
    """Return what is at a path of either database, as text.

    Args:
        environment: The environment.
        path: Names and positions, separated by slashes, with the side before them if both have the name:
            ``orders/#W1/status``, ``user/phone``. Empty for the tables.

    Raises:
        NoSuchPathError: There is nothing; says what there is.
    """
    value = found_at(_sides(environment), path)
    text = json.dumps(value, indent=1, ensure_ascii=False)
    if len(text) <= _LONGEST:
        return text
    if isinstance(value, dict):
        more = f"\n… and {len(value) - _MOST} more" if len(value) > _MOST else ""
        return "\n".join(f"{key}: {_summary(value[key])}" for key in list(value)[:_MOST]) + more
    return shorten(text, _LONGEST)


def found_at(sides: dict[str, Any], path: str) -> Any:
    """Return the value at a path of the databases by side.

    Raises:
        NoSuchPathError: There is nothing; says what there is.
    """
    parts = [part for part in path.split("/") if part]
    if not parts:
        return {side: {name: _summary(part) for name, part in state.items()} for side, state in sides.items()}
    if parts[0] not in sides:
        having = [side for side, state in sides.items() if parts[0] in state]
        if not having:
            raise NoSuchPathError(unknown_name("path", parts[0], words_at(sides, "")))
        parts.insert(0, having[0])
    value: Any = sides
    for number, part in enumerate(parts):
        inside = _parts(value)
        if part not in inside:
            where = "/".join(parts[:number])
            raise NoSuchPathError(f"{where}: {unknown_name('path', part, list(inside)[:_MOST])}")
        value = inside[part]
    return value


def words_at(sides: dict[str, Any], path: str) -> list[str]:
    """Return the paths that the beginning of one can be completed to."""
    before, slash, _ = path.rpartition("/")
    if not slash:
        return [*sides, *(name for state in sides.values() for name in state)]
    try:
        value = found_at(sides, before)
    except NoSuchPathError:
        return []
    return [f"{before}/{name}" for name in _parts(value)]


def completions_at(environment: Environment, path: str) -> list[str]:
    """Return the paths of an environment's databases that the beginning of one can be completed to."""
    return words_at(_sides(environment), path)


def change_lines(before: Environment, now: Environment) -> Iterator[str]:
    """Yield a line for each place at which the databases of two environments differ."""
    pairs = [("agent", before.agent_db, now.agent_db)]
    if before.user_db is not None and now.user_db is not None:
        pairs.append(("user", before.user_db, now.user_db))
    for side, old, new in pairs:
        for change in old.changes(new):
            was = "nothing" if change.missing == "expected" else short_json(change.expected)
            here = "nothing" if change.missing == "got" else short_json(change.got)
            yield f"  {side}: {change.path}: {was} -> {here}"


def _sides(environment: Environment) -> dict[str, Any]:
    return {side: state for side, state in environment.dump().items() if state is not None}


def _parts(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    return {str(number): part for number, part in enumerate(value)} if isinstance(value, list) else {}


def _summary(value: Any) -> str:
    if isinstance(value, dict | list):
        return plural(len(value), "entry").replace("entrys", "entries")
    return short_json(value)
