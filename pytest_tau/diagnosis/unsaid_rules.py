"""Rules of attribution about what the agent should have said: a tool had shown it, or would have shown it."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

from ..language.mentions import mentions_any, short_names
from ..models import Attribution
from .evidence import scalars, value_of
from .facts import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .facts import Facts

_MAX_PARTS = 6  # Each more doubles the sums.


def said_other(facts: Facts) -> Attribution | None:
    """Apply if a tool had shown the number that the agent should have said, and it said another one, or none."""
    evidence, unsaid = facts.evidence, _unsaid(facts)
    for text in unsaid:
        number = _number(text)
        for at, result in evidence.results if number is not None and number == int(number) else ():
            if not _counts(result, int(number or 0)):
                continue
            following = evidence.texts("assistant", after=at)[:1]
            if following and any(map(str.isdigit, following[0][1])):
                reason = "it said another number than its tool had shown"
                return Attribution("agent", reason, following[0][0], f"never said: {text}; {quoted(following[0][1])}")
    for text in unsaid if not _are_parts(facts, unsaid) else ():
        shown = next((at for at, result in evidence.results if _has(result, text)), None)
        following = evidence.texts("assistant", after=shown)[:1] if shown is not None else []
        if following:
            return Attribution("agent", "it did not say what a tool had shown", following[0][0], f"never said: {text}")
    return None


def never_read(facts: Facts) -> Attribution | None:
    """Apply if a read of the reference shows what was not said, and the agent never made it for who asked about it."""
    for text in _unsaid(facts):
        number = _number(text)
        for name, result in facts.unmade_reads:
            value = value_of(result)
            counted = number is not None and number == int(number) and _counts(value, int(number))
            asked = [at for at, said in facts.evidence.texts("user") if mentions_any(said, [*_names_in(value)])]
            if (counted or _has(value, text)) and asked:
                reason = "it never read what the user had asked about"
                return Attribution("agent", reason, facts.forgotten_at(), f"never said: {text}; {name}")
    return None


def _unsaid(facts: Facts) -> list[str]:
    """Return what was to be said and was not, if nothing else is wrong."""
    info = facts.simulation.reward_info
    checks = (info and info.communicate_checks) or ()
    return [check.info for check in checks if not check.met] if facts.divergence is None else []


def _are_parts(facts: Facts, unsaid: list[str]) -> bool:
    """Return whether the amounts that were not said make up one that was: who asks for the total may need no more."""
    info = facts.simulation.reward_info
    said = [_number(check.info) for check in (info and info.communicate_checks) or () if check.met]
    parts = [number for number in map(_number, unsaid) if number is not None]
    if not 1 < len(parts) <= _MAX_PARTS:
        return False
    sums = [sum(map(math.prod, zip(parts, signs, strict=True))) for signs in product((1, -1), repeat=len(parts))]
    return any(number is not None and math.isclose(number, total, abs_tol=0.005) for number in said for total in sums)


def _names_in(value: Any) -> Iterator[str]:
    """Yield how people name a record."""
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        yield from short_names(value["name"])


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "").replace("$", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _has(result: Any, text: str) -> bool:
    number = _number(text)
    values = [value.lower() for value in scalars(result)]
    # What was refunded is a negative payment.
    return text.lower() in values or (number is not None and any(_number(value) == -number for value in values))


def _counts(result: Any, number: int) -> bool:
    """Return whether a result has so many records of a kind, or so many of them for which a field is true."""
    inner = list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else []
    records = [record for record in inner if isinstance(record, dict)]
    if len(records) > 1 and len(records) == len(inner):
        true = [sum(record.get(field) is True for record in records) for field in records[0]]
        if number in (len(records), *true):
            return True
    return any(_counts(value, number) for value in inner if isinstance(value, dict | list))
