"""Agents and users that are one object for several trials, and the attributes that trials change in them.

Values are compared without a call of foreign code: plain values by value, containers by their length and their first
elements, generators by the place at which they wait, all others by identity.
"""

from __future__ import annotations

import weakref
from collections import Counter, deque
from inspect import isclass, isroutine
from itertools import islice
from types import GeneratorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..participants.base import Adapter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models import Simulation
    from ..participants import Participant, Side

#: Elements of a container that are compared.
_MOST = 100
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS: tuple[Any, ...] = (list, tuple, dict, set, frozenset, deque, bytearray)


class _Mark(NamedTuple):
    """A value of an attribute, for a comparison with a later one.

    Attributes:
        content: Equal for equal values.
        length: The number of elements of a container; None for other values.
        waits: It is a generator, which has a state of its own.
    """

    content: object
    length: int | None = None
    waits: bool = False

    def has_grown_to(self, later: _Mark) -> bool:
        """Return whether a later value of the attribute has more in it, so that it remembers something."""
        if self.waits and later.waits:
            return self != later
        return self.length is not None and later.length is not None and later.length > self.length


class _Shared:
    """An object, and what its trials have changed.

    Attributes:
        begun: The number of trials that it was used in.
        running: Those that have not ended.
    """

    def __init__(self, target: Any) -> None:
        self.begun = self.running = 0
        self._at_first: Mapping[str, _Mark] = _marks_of(target)
        self._last = self._at_first
        self._changes: Counter[str] = Counter()
        self._grown: set[str] = set()
        self._carried: set[str] = set()

    def begin(self, target: Any) -> None:
        """Note the attributes at the beginning of a trial: what was changed before is there in it."""
        # What the creation of a participant has changed, such as a seed, is not counted.
        self._last = _marks_of(target)
        self._carried |= _changed(self._at_first, self._last)
        self.begun += 1
        self.running += 1

    def end(self, target: Any, *, overlapped: bool) -> list[str]:
        """Return the attributes that trials change, so that one trial has those of another; sorted.

        One that is set once, such as a client that is made at its first use, is not among them.
        """
        marks = _marks_of(target)
        changed = _changed(self._last, marks)
        self._changes.update(changed)
        self._grown |= {
            name for name in changed & self._last.keys() & marks.keys() if self._last[name].has_grown_to(marks[name])
        }
        self._last = marks
        self.running -= 1
        found = self._grown | {name for name, times in self._changes.items() if times > 1}
        return sorted(found if overlapped else found & self._carried)


class SharedObjects:
    """The objects that are agents or users of the trials of a process; they are not kept alive, if that is possible."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, _Shared]] = {}

    def begin(self, target: Any) -> _Shared:
        """Note that a trial uses an object; return what its trials have changed."""
        key = id(target)
        if key not in self._found:
            self._found[key] = self._reference(target, key), _Shared(target)
        shared = self._found[key][1]
        shared.begin(target)
        return shared

    def _reference(self, target: Any, key: int) -> Any:
        """Return what keeps the number of an object from being another one's."""
        try:
            return weakref.ref(target, lambda _: self._found.pop(key, None))
        except TypeError:  # it has slots, and none for references
            return target


class _Use(NamedTuple):
    """The use of an object in a conversation.

    Attributes:
        side: The side that it plays.
        name: Its name in reports.
        target: The object.
        shared: What its trials have changed.
        number: The number of the conversation among those that use it, from 1.
        overlaps: Another one had not ended when this one began.
    """

    side: Side
    name: str
    target: Any
    shared: _Shared
    number: int
    overlaps: bool


class Uses:
    """The objects that one trial uses, in each of its conversations.

    Args:
        objects: The objects of all of them.
    """

    def __init__(self, objects: SharedObjects) -> None:
        self._objects = objects
        self._begun: list[_Use] = []

    def begin(self, side: Side, name: str, participant: Participant) -> None:
        """Note that a side uses a participant, if that can be an object with a state of its own."""
        target = participant.target if isinstance(participant, Adapter) else None
        if target is not None and not isclass(target) and not isroutine(target):
            shared = self._objects.begin(target)
            self._begun.append(_Use(side, name, target, shared, shared.begun, shared.running > 1))

    def end(self, simulation: Simulation) -> None:
        """Record, at the end of a conversation, the attributes by which it and others depend on each other."""
        for use in self._begun:
            overlapped = use.overlaps or use.shared.begun > use.number
            if attributes := use.shared.end(use.target, overlapped=overlapped):
                simulation.note_shared_object(use.side, use.name, attributes)
        self._begun = []


def _marks_of(target: Any) -> dict[str, _Mark]:
    try:
        values = dict(object.__getattribute__(target, "__dict__"))
    except AttributeError:
        values = {}
    for kind in type(target).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, MemberDescriptorType) and not name.startswith("__"):
                try:
                    values[name] = slot.__get__(target)
                except AttributeError:  # not set
                    continue
    return {name: _mark(value) for name, value in values.items()}


def _mark(value: Any) -> _Mark:
    kind = type(value)
    if issubclass(kind, GeneratorType):
        return _Mark(_place(value), waits=True)
    base = next((each for each in _CONTAINERS if issubclass(kind, each)), None)
    if base is None:
        return _Mark(_brief(value))
    try:
        # The methods of the built-in type: a subclass may have replaced them.
        content: Any = list(map(_brief, islice(base.__iter__(value), _MOST)))
        content += map(_brief, islice(dict.values(value), _MOST)) if base is dict else ()
    except RuntimeError:  # another trial changes it now
        content = []
    content = frozenset(content) if base in (set, frozenset) else tuple(content)
    return _Mark((base, content), base.__len__(value))


def _brief(value: object) -> object:
    """Return what an element is compared by; of a container the length."""
    kind = type(value)
    if kind in _PLAIN:
        return kind, value
    base = next((each for each in _CONTAINERS if issubclass(kind, each)), None)
    return id(value) if base is None else (base, base.__len__(value))


def _place(generator: Any) -> tuple[int | None, ...]:
    """Return where a generator waits, and those that it has called; empty after its end."""
    places = []
    while isinstance(generator, GeneratorType):
        places.append(generator.gi_frame.f_lasti if generator.gi_frame else None)
        generator = generator.gi_yieldfrom
    return tuple(places)


def _changed(before: Mapping[str, _Mark], after: Mapping[str, _Mark]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
