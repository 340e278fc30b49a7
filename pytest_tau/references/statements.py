"""Where required statements come from, and whether the reference brings about the amounts that they state."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import json_or_none
from ..language import sentences
from ..language.numbers import quantity_of
from ..language.scenarios import asks_for_sum
from ..models import strings_in
from .amounts import MOST, amounts_in, groups_in, is_same, sum_of
from .sides import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..environment import Domain
    from ..models import Task

_COUNT = 2


class NotBroughtAbout(NamedTuple):
    """A required statement about an amount that the writes of the reference do not bring about.

    Attributes:
        statement: The statement.
        addends: The amounts of a record whose sum it is.
        source: The tool that reads the record.
        asked: The sentence of the scenario that asks for the amount.
    """

    statement: str
    addends: tuple[float, ...]
    source: str
    asked: str


class _Carried(NamedTuple):
    """What the reference does.

    Attributes:
        read: What its actions read, each with the name of the tool.
        moved: Groups of amounts that its writes move or are about, or that a record lists for later.
    """

    read: tuple[tuple[str, str], ...]
    moved: tuple[tuple[float, ...], ...]


def not_brought_about(task: Task, domain: Domain) -> Iterator[NotBroughtAbout]:
    """Yield the required amounts that the user is to get or pay, and that no write of the reference moves.

    Such an amount is the sum of some amounts of a record that a reference action reads, and neither an amount of its
    own nor a sum of what the writes change or are about.
    """
    asked = _asks_for_money(task)
    if asked is None:
        return
    carried: _Carried | None = None
    for statement in task.criteria.communicate_info or []:
        amount = amount_of(statement)
        if amount is None or "." not in statement:
            continue
        carried = carried or _carry_out(task, domain)
        source = _summed(amount, carried)
        if source is not None:
            yield NotBroughtAbout(statement, source[1], source[0], asked)


def amount_of(statement: str) -> float | None:
    """Return the amount that a statement is; None for other texts, and for up to two digits, as counts have."""
    text = statement.strip()
    quantity = quantity_of(text) if len(text) > _COUNT and text[-1].isdecimal() else None
    return abs(quantity.value) if quantity else None


def may_be_moved(amount: float, task: Task, domain: Domain) -> bool:
    """Return whether the writes of the reference may move an amount, be about it, or be compared with others by it.

    What is compared are amounts of one kind in two records, such as the prices of an item and of another version.
    """
    carried = _carry_out(task, domain)
    moved = any(_may_give(values, amount) for values in carried.moved)
    return moved or _may_be_saved(amount, carried) or _may_be_total(amount, carried)


def _may_be_saved(amount: float, carried: _Carried) -> bool:
    """Return whether an amount is a difference between two records that were read, or the sum of two of them."""
    differences = {
        round(abs(one.value - other.value), 2)
        for (_, first), (_, second) in itertools.combinations(carried.read, 2)
        for one in amounts_in(first)
        for other in amounts_in(second)
        if one.kind and one.kind == other.kind
    }
    return round(amount, 2) in differences or any(round(amount - each, 2) in differences for each in differences)


def _may_be_total(amount: float, carried: _Carried) -> bool:
    """Return whether an amount is a sum of amounts of one kind in several records that the same tool has read."""
    groups: dict[tuple[str, str], list[float]] = {}
    for name, text in carried.read:
        for each in amounts_in(text):
            groups.setdefault((name, each.kind), []).append(each.value)
    return any(len(values) > MOST or sum_of(values, amount) is not None for values in groups.values())


def _asks_for_money(task: Task) -> str | None:
    return next(filter(asks_for_sum, sentences(task.scenario_text)), None)


def _summed(amount: float, carried: _Carried) -> tuple[str, tuple[float, ...]] | None:
    """Return the reading and its amounts whose sum this is; None if it is stated, or moved by a write."""
    if any(is_same(abs(each.value), amount) for _, text in carried.read for each in amounts_in(text)):
        return None
    moved = [abs(value) for values in carried.moved for value in values]
    if any(is_same(value, amount) for value in moved) or any(_may_give(each, amount) for each in carried.moved):
        return None
    for source, text in carried.read:
        for group in groups_in(text):
            if addends := sum_of(group, amount):
                return source, addends
    return None


def _may_give(values: tuple[float, ...], amount: float) -> bool:
    """Return whether a sum or a difference of some values is this amount, or there are too many to say."""
    distinct = tuple(dict.fromkeys(abs(value) for value in values if value))
    differ = any(is_same(abs(one - other), amount) for one in distinct for other in distinct)
    return len(distinct) > MOST or differ or sum_of(distinct, amount) is not None


def _carry_out(task: Task, domain: Domain) -> _Carried:
    """Carry out the reference; return what it reads, and what its writes move."""
    environment = domain.environment(task)
    read: list[tuple[str, str]] = []
    moved: list[tuple[float, ...]] = []
    for action in task.criteria.actions or []:
        result = environment.call(action.name, action.arguments, action.requestor)
        tool = tools_of(domain, action.requestor).get(action.name)
        text = result.content or ""
        if tool is None or result.error:
            continue
        if not tool.mutates:
            read.append((action.name, text))
            record = json_or_none(text)
            moved.append(tuple(_about(record, set(_listed(record)))))
            continue
        ids = set(strings_in(action.arguments))
        about = [each for _, seen in [*read, ("", text)] for each in _about(json_or_none(seen), ids)]
        moved.append(tuple([each.value for each in amounts_in(text)]))
        moved.append(tuple(about))
    return _Carried(tuple(read), (*moved, tuple(value for values in moved for value in values)))


def _about(value: Any, ids: set[str]) -> Iterator[float]:
    """Yield the amounts of the records that arguments of a write name, as values or as keys."""
    if isinstance(value, list):
        for part in value:
            yield from _about(part, ids)
    elif isinstance(value, dict):
        if any(isinstance(part, str) and part in ids for part in value.values()):
            yield from _numbers(value)
        for key, part in value.items():
            if key in ids and isinstance(part, dict):
                yield from _numbers(part)
            yield from _about(part, ids)


def _listed(value: Any) -> Iterator[str]:
    """Yield the texts of lists, by which a record names other ones, such as the items that are to be returned."""
    if isinstance(value, list):
        yield from (part for part in value if isinstance(part, str))
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _listed(part)


def _numbers(record: Mapping[str, Any]) -> Iterator[float]:
    for part in record.values():
        if isinstance(part, int | float) and not isinstance(part, bool):
            yield float(part)
