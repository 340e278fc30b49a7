"""Facts that a capability has returned: checked before they are stored, since gates and reports read them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..models.json_values import json_copy, not_json
from ..models.problems import problem_text
from ..text import shorten
from . import TypedFacts, bundled, stored_facts
from .calls import columns_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from . import Capability


def checked_facts(capability: Capability, facts: Any) -> dict[str, Any]:
    """Return facts in their stored form.

    Raises:
        TypeError: They cannot be stored.
        ValueError: They are not of the class that the capability declares, or the value of a metric is not a number.
    """
    if capability in bundled():
        return stored_facts(facts)
    try:
        stored = stored_facts(facts)
    except (TypeError, ValueError):
        raise TypeError(f"graded: expected a model or a mapping, got {type(facts).__name__}") from None
    if (problem := not_json(stored)) is not None:
        raise TypeError(f"graded: {problem}")
    copied: dict[str, Any] = json_copy(stored)
    checked = copied if capability.facts is None else TypedFacts(copied, _typed(capability.facts, copied))
    _check_metrics(capability, checked)
    return checked


def _typed(kind: Callable[..., Any], facts: dict[str, Any]) -> Any:
    try:
        return kind(**facts)
    except ValueError as error:
        raise ValueError(f"graded: {problem_text(error)}") from None


def _check_metrics(capability: Capability, facts: dict[str, Any]) -> None:
    for named in columns_of([capability]):
        column, of_all = named.column, {capability.name: facts}
        field = column.field or column.name
        if named.is_of_keys:
            field = column.field or column.name.removesuffix(".*")
            keyed = facts.get(field)
            values = [*keyed.values()] if isinstance(keyed, dict) else [keyed]
        elif column.metric or column.events:
            values = [named.value(of_all)]
        else:
            continue
        events = named.events(of_all) if column.events else None
        values += events if isinstance(events, list) else [events]
        wrong = next((value for value in values if not _is_number(value)), None)
        if wrong is not None:
            raise ValueError(f"graded: {field} is {shorten(repr(wrong))}, and {column.name} needs a number")


def _is_number(value: Any) -> bool:
    try:
        return value is None or (isinstance(value, int | float) and math.isfinite(float(value)))
    except OverflowError:
        return False
