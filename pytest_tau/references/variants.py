"""Replacements in a reference, such as a new item of an old one: what changes, and which words ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..language.scenarios import leaves_options_open, wants_similar
from ..language.tokens import stems_in
from .alternatives import is_replacement
from .slots import slots_of
from .wishes import options_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Domain
    from ..models import Task
    from .slots import Slot
    from .wishes import Wishes


class Replacement(NamedTuple):
    """A slot that takes the place of another value of its group."""

    slot: Slot
    old: str

    def changed(self) -> dict[str, tuple[str, str]]:
        """Return the options that differ, with what each was and is."""
        before, after = (options_in(self.slot.group.members.get(value)) for value in (self.old, self.slot.value))
        return {name: (before[name], value) for name, value in after.items() if before.get(name, value) != value}


def replacements(task: Task, domain: Domain) -> Iterator[Replacement]:
    """Yield the replacements in the agent's writes: two arguments with values of one group."""
    for slot in slots_of(task, domain):
        if slot.is_enumeration or not is_replacement(slot):
            continue
        name, _, place = slot.path.partition(".")
        names = list(slot.action.arguments)
        for other in names[: names.index(name)]:
            value: Any = slot.action.arguments[other]
            old = (
                value[int(place)] if isinstance(value, list) and place.isdigit() and int(place) < len(value) else value
            )
            if isinstance(old, str) and old in slot.group.members:
                yield Replacement(slot, old)


def unasked_changes(replacement: Replacement, wishes: Wishes) -> list[str]:
    """Return the options that change although no word is about them, or about any choice.

    One may follow from what is named.
    """
    changed, slot = replacement.changed(), replacement.slot
    product = stems_in(str(slot.group.owner.get("name", "")))
    about = [sentence for sentence in wishes.sentences if product & stems_in(sentence)] or wishes.sentences
    if len(changed) < 2 or slot.value.lower() in wishes.text or any(map(leaves_options_open, about)):
        return []
    silent = [name for name, values in changed.items() if not _is_named(name, values, wishes)]
    return silent if len(silent) > 1 else []


def similar(replacement: Replacement, wishes: Wishes) -> list[str]:
    """Return what fits besides the reference's, where the user asks for something similar."""
    product = stems_in(str(replacement.slot.group.owner.get("name", "")))
    vague = [sentence for sentence in wishes.sentences if wants_similar(sentence)]
    asking = any(product & stems_in(sentence) for sentence in vague)
    changed = replacement.changed().items()
    named = {name: values[1] for name, values in changed if _is_named(name, values, wishes)}
    return _fitting(replacement, named) if asking and named else []


def _fitting(replacement: Replacement, named: dict[str, str]) -> list[str]:
    """Return the available values with some options, except for those of the replacement."""
    return [
        value
        for value, member in replacement.slot.group.members.items()
        if value not in (replacement.slot.value, replacement.old)
        and all(part is not False for part in member.values())
        and named.items() <= options_in(member).items()
    ]


def _is_named(name: str, values: tuple[str, str], wishes: Wishes) -> bool:
    return any(stems_in(text) & wishes.words for text in (name, *values))
