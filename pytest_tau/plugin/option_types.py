"""Values of TOML files, and the types of options that only the plugin reads (see ``pytest_tau.run_settings.types``)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..run_settings.types import difficulty, json_object, model_arguments, persona, provider_limits
from ..settings import flag, names, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


_OUTCOMES = ("failed", "error")


def as_written(value: Any, kind: Callable[[Any], Any], *, repeat: bool, bare: str | None) -> Any:
    """Return a native value of a TOML file in the form in which the command line has it.

    Args:
        value: A text, number, truth value, list or table.
        kind: The type of the option.
        repeat: Whether the option may be repeated, so that its value is a list.
        bare: The text that stands for the option without a value, for which ``true`` is written.

    Raises:
        ValueError: The option does not take such a value.
    """
    if kind is flag:
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, got {value!r}")
        return value
    if repeat:
        return [_written(each, kind) for each in (value if isinstance(value, list) else [value])]
    if isinstance(value, bool) and bare is not None:
        return bare if value else None
    return _written(value, kind)


def _written(value: Any, kind: Callable[[Any], Any]) -> str:
    """Return one value as text.

    Raises:
        ValueError: It has none.
    """
    if isinstance(value, dict) and kind in (model_arguments, json_object, persona):
        return json.dumps(value, default=str)
    if isinstance(value, dict) and kind in (difficulty, provider_limits):
        return ",".join(f"{name}={number}" for name, number in value.items())
    if isinstance(value, list) and kind is outcome_names:
        return ",".join(map(str, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        kinds = {bool: "a boolean", list: "a list", dict: "a table"}
        # Not a TypeError: a usage error shows the text.
        raise ValueError(f"expected a string or a number, got {kinds.get(type(value), type(value).__name__)}")  # noqa: TRY004
    return str(value)


def group_names(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names of what trials can be grouped by, in comma-separated lists."""
    from ..errors import unknown_name
    from ..runs.record import GROUPS

    found = names(values)
    for name in found:
        if name not in GROUPS:
            raise ValueError(unknown_name("group", name, GROUPS))
    return found


def outcome_names(value: str) -> frozenset[str]:
    """Return the outcomes in a comma-separated list."""
    found = names([value])
    for name in found:
        if name not in _OUTCOMES:
            raise ValueError(f"expected 'failed', 'error' or 'failed,error', got {name!r}")
    return frozenset(found)


def run_name(value: str) -> str:
    """Return the name of a run's folder."""
    from ..files import file_name_of

    if not value or file_name_of(value) != value:
        raise ValueError(f"expected letters, digits and _.+-[], got {quoted(value)}")
    return value
