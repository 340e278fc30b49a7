"""Faults of texts: what the user is told leaves a value of the right reference open, or speaks against it."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from pytest_tau.models import InitializationData, InitialState, Instructions

from .references import slots_of, values_for
from .right import Fault
from .values import argument_of, choices, leaves, replaced, schema_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from random import Random

    from pytest_tau import Task

    from .right import Right
    from .values import Group, Path

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(r"(?<=[,;:])\s+(?![^()]*\))")
_WORD = re.compile(r"[a-z0-9$#]+")
_FIELDS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
#: Words of names of arguments that say nothing of the value.
_NO_WORDS = frozenset(
    ("new", "total", "number", "name", "type", "user", "list", "the", "and", "not", "card", "get", "ids")
)
#: How people speak of arguments whose names say it otherwise: the beginnings of words.
_ALSO_SAID = {
    "payment": ("pay", "paid", "card", "certificat", "refund", "charg"),
    "baggages": ("bag", "luggage", "suitcase"),
    "nonfree": ("bag", "luggage", "suitcase"),
    "cabin": ("class", "econom", "seat"),
    "reason": ("because", "cause"),
    "expedited": ("express", "fast", "soon", "hurry", "standard", "shipp"),
    "shipping": ("deliver", "send"),
}
_NUMBERS = (
    *("no without none zero nothing", "one a single"),
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
)
#: Sentences with a limit of what the user pays.
_LIMITS = (
    "You will not pay more than ${} for it.",
    "Your budget is ${}.",
    "It must not cost more than ${}.",
    "You agree only if it costs at most ${}.",
)
_OF_PRICE = re.compile(r"\b(?:prices?|costs?|limit|budget|afford)\b|\$|\bdollars?\b", re.IGNORECASE)
_PRICE = re.compile(r"amount|price|cost|total|fee", re.IGNORECASE)


def dropped_choice(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield texts without the sentences about a value that is one of several: of a schema, or of one record."""
    for position, path, value in slots_of(right, chance):
        action = right.actions[position]
        group = right.records.group_of(value)
        allowed = choices(schema_at(action.name, action.arguments, path, right.tools), value)
        siblings = group.siblings(value, right.records.groups) if group else []
        if group is not None and siblings:
            others: list[Any] = siblings
            members = [text for key in (value, *siblings) for text in _described(group.records[key])]
        elif allowed:
            others = values_for(right, position, path, value)
            members = [*map(str, allowed), *_own_words(value, action.name)]
        elif isinstance(value, int) and any(_has_words(each)(right.text) for each in _numerals(value)):
            others, members = values_for(right, position, path, value), _numerals(value)
        else:
            continue
        names = _names_slot(path, action.arguments, members)
        task = _without(right, names, _others_stated(right, position, path, value))
        yield from _open(right, task, (position, path), others)


def dropped_value(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield texts without the sentences that state a value that only the user knows."""
    for position, path, value in slots_of(right, chance):
        text = str(value)
        if not isinstance(value, str) or len(text) < 3 or value not in right.text or value in right.shown:
            continue
        action = right.actions[position]
        if choices(schema_at(action.name, action.arguments, path, right.tools), value):
            continue
        task = _without(right, _has(text), _others_stated(right, position, path, value))
        yield from _open(right, task, (position, path), values_for(right, position, path, value))


def two_variants(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield tasks whose data have a second record that is like the one of the reference, except for its id.

    The reads of the reference show both.
    """
    named = {str(value) for each in right.actions for _, value in leaves(each.arguments)}
    for position, path, value in slots_of(right, chance):
        group = right.records.group_of(value)
        if group is None or group.is_list or value in right.text or _is_named(right, value, named):
            continue
        twin = _other_id(value, right, chance)
        if right.task.initial_state is not None or twin is None:
            continue
        data = _with_twin(right, group, value, twin)
        state = InitialState(initialization_data=InitializationData(agent_data=data))
        task = right.task.model_copy(update={"initial_state": state})
        if not any(twin in text for text in right.results(task)):
            continue
        for fault in _open(right, task, (position, path), [twin]):
            yield fault._replace(what=f"with {twin}, which is like {value}")


def budget(right: Right, chance: Random) -> Iterator[Fault]:
    """Yield texts that limit the price to less than what the reference pays."""
    paid = max(_paid(right), default=0)
    if paid < 5 or len(list(right.writes())) != 1:
        return
    limit = chance.choice(_LIMITS).format(int(paid * 0.8))
    ((position, action),) = right.writes()
    silent = _with_text(right, functools.partial(_cut, names=_speaks_of_price, separator=_CLAUSE))
    if silent is None or any(value not in _text_of(silent) for value in _others_stated(right, -1, (), None)):
        return
    task = _with_text(right, lambda text, field: f"{text} {limit}" if field == "task_instructions" else text, silent)
    without = [each for each in right.actions if each is not action]
    if task is not None and not right.passes(task, without):
        yield Fault(task, f"with {limit!r}, where {paid:g} is paid", position, "")


def _open(right: Right, task: Task | None, slot: tuple[int, Path], others: list[Any]) -> Iterator[Fault]:
    """Yield a text as a fault if another value of a slot can be carried out, and an agent that chooses it fails."""
    position, path = slot
    if task is None or task.message_history or not right.passes(task, right.actions):
        return
    for other in others:
        actions = right.with_argument(position, replaced(right.actions[position].arguments, path, other))
        if right.succeeds(actions, task) and not right.passes(task, actions) and not right.breaks_rule(actions, task):
            argument = argument_of(path)
            yield Fault(
                task,
                f"action {position} ({right.actions[position].name}): {argument} {other!r} would do as well",
                position,
                argument,
            )
            return


def _names_slot(path: Path, arguments: Mapping[str, Any], members: list[str]) -> Callable[[str], bool]:
    """Return whether a part of a text is about an argument, or names one of the values that it may have."""
    elsewhere = {
        word
        for inner, _ in leaves(arguments)
        for part in inner
        if part not in path and isinstance(part, str)
        for word in _words_of(part)
    }
    stems = {word for word in _words_of(argument_of(path)) if word not in elsewhere or word in _ALSO_SAID}
    stems |= {stem for word in stems for stem in _ALSO_SAID.get(word, ())}
    told = [_has_words(member) for member in members]

    def names(part: str) -> bool:
        said = _WORD.findall(part.lower())
        return any(word.startswith(stem) for word in said for stem in stems) or any(has(part) for has in told)

    return names


def _words_of(name: str) -> set[str]:
    return {word for word in re.split(r"[_\W]+", name.lower()) if word not in _NO_WORDS and len(word) > 2}


def _has(text: str) -> Callable[[str], bool]:
    return lambda part: text in part


def _has_words(text: str) -> Callable[[str], bool]:
    """Return whether a part of a text has these words in this order, whatever is between them in print."""
    wanted = f" {' '.join(_WORD.findall(text.lower()))} "
    return lambda part: wanted in f" {' '.join(_WORD.findall(part.lower()))} "


def _described(record: Any) -> Iterator[str]:
    """Yield the texts by which a record can be told from others; a short one with the name of its field."""
    for path, leaf in leaves(record):
        if path and not isinstance(leaf, bool):
            yield str(leaf) if isinstance(leaf, str) and len(leaf) > 2 else f"{path[-1]} {leaf}"


def _own_words(value: Any, tool: str) -> list[str]:
    """Return the long words of a value, but for those of what the tool does."""
    verbs = tool.split("_")
    return [
        word
        for word in _WORD.findall(str(value).lower())
        if len(word) > 5 and not any(word.startswith(verb) for verb in verbs)
    ]


def _numerals(value: int) -> list[str]:
    return [str(value), *(_NUMBERS[value].split() if 0 <= value < len(_NUMBERS) else [])]


def _others_stated(right: Right, position: int, path: Path, value: Any) -> set[str]:
    """Return the values of the reference that the text states, but for one slot."""
    found = set()
    for place, action in enumerate(right.actions):
        for inner, leaf in leaves(action.arguments):
            text = str(leaf)
            if (place, inner) != (position, path) and leaf != value and len(text) > 2 and text in right.text:
                found.add(text)
    return found


def _without(right: Right, names: Callable[[str], bool], kept: set[str]) -> Task | None:
    """Return the task without the clauses, or else the sentences, that a predicate holds for; None if that is no text.

    Values that other slots need are still stated, and something is left of each part of the text.
    """
    for separator in (_CLAUSE, _SENTENCE):
        task = _with_text(right, functools.partial(_cut, names=names, separator=separator))
        text = _text_of(task) if task else ""
        if (
            task
            and task.user_scenario != right.task.user_scenario
            and not names(text)
            and all(value in text for value in kept)
        ):
            return task
    return None


def _cut(text: str, _: str, *, names: Callable[[str], bool], separator: re.Pattern[str]) -> str:
    sentences = []
    for sentence in _SENTENCE.split(text):
        parts = [sentence] if separator is _SENTENCE else _CLAUSE.split(sentence)
        # What is left of a sentence without its beginning is none.
        left = "" if names(parts[0]) else " ".join(part for part in parts if not names(part)).strip()
        if left:
            sentences.append(left if left[-1] in ".!?" else f"{left.rstrip(',;:')}.")
    return " ".join(sentences)


def _speaks_of_price(part: str) -> bool:
    return _OF_PRICE.search(part) is not None


def _with_text(right: Right, change: Callable[[str, str], str], task: Task | None = None) -> Task | None:
    """Return the task with changed texts of the user, and without its persona; None if one is empty then."""
    task = task or right.task
    scenario = task.user_scenario
    instructions = scenario.instructions
    if isinstance(instructions, Instructions):
        texts = {field: getattr(instructions, field) for field in _FIELDS}
        changed = {field: text and change(text, field) for field, text in texts.items()}
        if not (changed["reason_for_call"] and changed["task_instructions"]):
            return None
        other: Any = instructions.model_copy(update={field: text or None for field, text in changed.items()})
    else:
        other = change(instructions, "task_instructions")
        if not other:
            return None
    return task.model_copy(
        update={"user_scenario": scenario.model_copy(update={"instructions": other, "persona": None})}
    )


def _text_of(task: Task) -> str:
    """Return the text of a user without the titles of its parts."""
    instructions = task.user_scenario.instructions
    if not isinstance(instructions, Instructions):
        return instructions
    return "\n".join(filter(None, (getattr(instructions, field) for field in _FIELDS)))


def _is_named(right: Right, value: str, named: set[str]) -> bool:
    """Return whether another record that the reference is about names a record, which tells it from its twin."""
    for key in named - {value}:
        group = right.records.group_of(key)
        record = group.records[key] if group else {}
        for path, leaf in leaves(record):
            # What is in the record itself is in its twin, and a list of ids gets that of the twin as well.
            if leaf == value and value not in path and not isinstance(path[-1], int):
                return True
    return False


def _other_id(value: str, right: Right, chance: Random) -> str | None:
    """Return an id of the same form that no record has."""
    for _ in range(20):
        other = re.sub(r"\d", lambda _: str(chance.randint(1, 9)), value)
        if other != value and other not in right.records.groups:
            return other
    return None


def _with_twin(right: Right, group: Group, value: str, twin: str) -> dict[str, Any]:
    """Return data in which a record has a twin, and lists of its id have that of the twin, too."""

    def renamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {twin if key == value else key: renamed(inner) for key, inner in part.items()}
        if isinstance(part, list):
            return [renamed(inner) for inner in part]
        return twin if part == value else part

    data: dict[str, Any] = {}
    _put(data, (*group.path, twin), renamed(group.records[value]))
    for groups in {id(groups[0]): groups for groups in right.records.groups.values()}.values():
        for owner in groups if groups[0].path != group.path else ():
            for key, record in owner.records.items():
                for field, ids in record.items() if isinstance(record, dict) and not owner.is_list else ():
                    if isinstance(ids, list) and value in ids:
                        _put(data, (*owner.path, key, field), [*ids, twin])
    return data


def _put(data: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    for part in path[:-1]:
        data = data.setdefault(part, {})
    data[path[-1]] = value


def _paid(right: Right) -> Iterator[float]:
    """Yield the amounts that are new in the state after the reference, nothing if one of them is given back."""
    environment = right.environment.fork()
    for action in right.actions:
        environment.call(action.name, action.arguments, action.requestor)
    changes = right.environment.agent_db.changes(environment.agent_db)
    new = [change.got for change in changes if change.missing == "expected"]
    if any("refund" in str(leaf).lower() or "refund" in str(path[-1:]) for part in new for path, leaf in leaves(part)):
        return
    for part in new:
        for path, leaf in leaves(part):
            if path and isinstance(leaf, int | float) and not isinstance(leaf, bool) and _PRICE.search(str(path[-1])):
                yield leaf
