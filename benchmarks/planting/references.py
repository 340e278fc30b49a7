"""Faults of references: each is a reference by which an agent fails that does what the right one has."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_tau.models import Action, call_as_text

from .right import Fault
from .values import argument_of, choices, leaves, replaced, schema_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from .right import Right
    from .values import Path

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_AMOUNT = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: As many writes of other tasks are tried.
_MOST = 80


def wrong_argument(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield references in which a value of a write is another one that the tool accepts, but no other record."""
    yield from _with_other_values(right, chance, records=False)


def other_record(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield references in which a write is made to another record of the same kind, of the same owner if it has one."""
    yield from _with_other_values(right, chance, records=True)


def refused_write(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield references with a write that its tool refuses because of one value."""
    for position, path, value in slots_of(right, chance):
        for other in [*values_for(right, position, path, value), *_records(right, value, chance)]:
            actions = right.with_argument(position, replaced(right.actions[position].arguments, path, other))
            task = right.with_actions(actions)
            before = right.succeeds(actions[:position])
            if before and not right.succeeds(actions[: position + 1]) and not right.passes(task, right.actions):
                yield _fault(right, task, position, path, value, other)


def dropped_write(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield references without one write, where the others can be carried out without it."""
    writes = list(right.writes())
    chance.shuffle(writes)
    for position, action in writes:
        actions = [*right.actions[:position], *right.actions[position + 1 :]]
        task = right.with_actions(actions)
        if right.succeeds(actions) and not right.passes(task, right.actions):
            yield Fault(task, f"without action {position} ({action.name})", None, "")


def forbidden_write(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield references with a write in a task whose right reference has none: what is asked for has to be refused.

    It is a write of another task, to the records that this task is about.
    """
    if next(right.writes(), None) is not None:
        return
    named = [str(value) for action in right.actions for _, value in leaves(action.arguments)]
    named += re.findall(r"[#\w-]*\w", right.text)
    own = right.records.near(named)
    pool = [each for each in right.pool if each.requestor == "assistant" and _is_asked_for(each.name, right.text)]
    for action in islice(iter(chance.sample(pool, len(pool))), _MOST):
        arguments = dict(action.arguments)
        for path, value in leaves(action.arguments):
            group = right.records.group_of(value)
            keys = own.get(group.place) if group else None
            if keys:
                nearest = [key for key in keys if key in named] or keys
                arguments = replaced(arguments, path, chance.choice(nearest))
        is_own = any(value in named for _, value in leaves(arguments) if right.records.group_of(value))
        actions = [*right.actions, Action(action_id="planted", name=action.name, arguments=arguments)]
        task = right.with_actions(actions)
        if not is_own or not right.succeeds(actions) or right.passes(task, right.actions):
            continue
        if any(position == len(right.actions) for position, _ in right.writes(actions)):
            yield Fault(task, f"with {call_as_text(action.name, arguments)}", len(right.actions))


def _is_asked_for(tool: str, text: str) -> bool:
    """Return whether a text has the verb of a tool's name: what is asked for, and has to be refused."""
    verb = tool.split("_", maxsplit=1)[0][:5]
    return re.search(rf"\b{re.escape(verb)}", text, re.IGNORECASE) is not None


def other_amount(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield tasks that require another number to be said."""
    phrases = right.phrases
    for place in chance.sample(range(len(phrases)), len(phrases)):
        number = _AMOUNT.search(phrases[place])
        if number is None:
            continue
        other = phrases[place][: number.start()] + _other_number(number[0], chance) + phrases[place][number.end() :]
        required = [*phrases[:place], other, *phrases[place + 1 :]]
        criteria = right.task.criteria.model_copy(update={"communicate_info": required})
        task = right.task.model_copy(update={"evaluation_criteria": criteria})
        if not right.passes(task, right.actions):
            yield Fault(task, f"requires {other!r}, not {phrases[place]!r}", None, other)


def _with_other_values(right: Right, chance: Random, *, records: bool) -> Iterator[Fault]:
    for position, path, value in slots_of(right, chance):
        is_record = right.records.group_of(value) is not None
        if is_record is not records:
            continue
        for other in _records(right, value, chance) if records else values_for(right, position, path, value):
            actions = right.with_argument(position, replaced(right.actions[position].arguments, path, other))
            task = right.with_actions(actions)
            if right.succeeds(actions) and not right.passes(task, right.actions):
                yield _fault(right, task, position, path, value, other)


def _fault(right: Right, task: Any, position: int, path: Path, value: Any, other: Any) -> Fault:
    argument = argument_of(path)
    what = f"action {position} ({right.actions[position].name}): {argument} {other!r}, not {value!r}"
    return Fault(task, what, position, argument)


def slots_of(right: Right, chance: Random) -> list[tuple[int, Path, Any]]:
    """Return the values of writes in an order of chance."""
    found = [(position, path, value) for position, each in right.writes() for path, value in leaves(each.arguments)]
    return chance.sample(found, len(found))


def _records(right: Right, value: Any, chance: Random) -> list[str]:
    group = right.records.group_of(value)
    others = group.siblings(value, right.records.groups) if group else []
    if group and not others:
        others = [each for each in group.records if each != value]
    return chance.sample(others, min(len(others), 8))


def values_for(right: Right, position: int, path: Path, value: Any) -> list[Any]:
    """Return other values of an argument: those of its schema, a near number or date, or those of other tasks."""
    action = right.actions[position]
    allowed = choices(schema_at(action.name, action.arguments, path, right.tools), value)
    if allowed:
        return [each for each in allowed if each != value]
    if isinstance(value, int | float):
        return [value + 1, value - 1] if value >= 1 else [value + 1]
    if _DATE.fullmatch(value):
        return [(date.fromisoformat(value) + timedelta(days)).isoformat() for days in (1, -1)]
    if right.records.group_of(value) is not None:
        return []
    there = {
        other: None
        for each in right.pool
        if each.name == action.name
        for place, other in leaves(each.arguments)
        if argument_of(place) == argument_of(path) and isinstance(other, str) and other not in (value, *right.tools)
    }
    return list(there)[:6] if value not in right.tools else []


def _other_number(text: str, chance: Random) -> str:
    """Return a number of the same form with another digit."""
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    # The last digit before the point: no long number gets a trifle of a fault.
    whole = [place for place in digits if place < (text.find(".") if "." in text else len(text))]
    place = whole[-1]
    other = (
        str((int(text[place]) + chance.randint(1, 8)) % 9 + 1) if len(whole) == 1 else str((int(text[place]) + 3) % 10)
    )
    return text[:place] + other + text[place + 1 :]


def wrong_assertion(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield tasks with a statement about the final state that the right end does not meet."""
    assertions = right.task.criteria.env_assertions or []
    for place in chance.sample(range(len(assertions)), len(assertions)):
        assertion = assertions[place]
        numbers = [(path, leaf) for path, leaf in leaves(assertion.arguments) if isinstance(leaf, int | float)]
        others = [{"arguments": replaced(assertion.arguments, path, _other_scalar(leaf))} for path, leaf in numbers]
        for update in [*others, {"assert_value": not assertion.assert_value}]:
            changed = [*assertions[:place], assertion.model_copy(update=update), *assertions[place + 1 :]]
            criteria = right.task.criteria.model_copy(update={"env_assertions": changed})
            task = right.task.model_copy(update={"evaluation_criteria": criteria})
            if not right.passes(task, right.actions):
                yield Fault(task, f"assertion {place} ({assertion.func_name}): {update}")


def _other_scalar(value: float) -> float:
    return not value if isinstance(value, bool) else value + 1
