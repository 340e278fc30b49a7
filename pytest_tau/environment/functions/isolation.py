"""The check that objects of a domain share no state: what a simulation changes in one must not be seen in the next."""

from __future__ import annotations

import contextlib
import inspect
import threading
import time
from typing import TYPE_CHECKING, Any

from ...errors import PlainErrors
from ...models.problems import json_text
from ..changes import value_changes
from ..records import canonical
from .jsonable import state_data

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ..changes import Change

_ADVICE = "build new containers in __init__, or let make= return a copy.deepcopy"
_OF_CLASS = "; begin the name with an underscore if it is not part of the state, such as a cache"
#: Seconds until a clock of whole seconds has another time. They are waited before a domain is refused.
_TICK = 1.1
NO_STATE = "snapshot= returned None: return the state"
_OF_SOURCE = "make= reads what a tool has written: let tools change only the object"


class Isolation:
    """Finds what objects share: what calls on one object have changed in a new one.

    That a new object differs from an earlier one is not enough: it may take the time from a clock, count, or draw at
    random. A difference is shared if an object that is never used has changed there, too, or if a call has given
    another object this value there, as where a tool writes the file that ``make`` reads.

    Args:
        make: Returns a new object.
        snapshot: Returns the state of an object.
        writes: The names of the tools and functions that may change the state.
    """

    def __init__(self, make: Callable[[], Any], snapshot: Callable[[Any], Any], *, writes: Collection[str]) -> None:
        self._make, self._snapshot, self.writes = make, snapshot, writes
        self._unused: Any = None
        self._first: dict[str, Any] = {}
        self._written: set[tuple[str, str | None]] = set()
        self._drawn: set[str] = set()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Make the object that is never used; call it before another one is used."""
        with self._lock:
            if not self._first:
                with contextlib.suppress(Exception), PlainErrors():  # raised again where a trial needs an object
                    self._unused = self._make()
                    self._first = self._parts(self._unused)

    def before_call(self, target: Any) -> Any:
        """Return the state of an object as JSON data; None if it fails, which is reported where states are compared."""
        with contextlib.suppress(Exception), PlainErrors():
            return state_data(self._snapshot(target))
        return None

    def note_calls(self, before: Any, snapshot: Any) -> None:
        """Remember what calls have changed in an object: the values, by which they are recognised in new objects.

        Args:
            before: What ``before_call`` returned.
            snapshot: The snapshot of the object.
        """
        with contextlib.suppress(ValueError):
            self._written.update(map(_value_at, value_changes("", before, state_data(snapshot))))

    def problem(self) -> str | None:
        """Return what objects share; None if they share nothing."""
        try:
            with PlainErrors():
                return self._problem()
        except Exception:  # noqa: BLE001 - the domain's code; a trial reports what it raises
            return None

    def _problem(self) -> str | None:
        self.begin()
        if self._first and self._first[""] is None:
            return NO_STATE
        if self.writes and inspect.unwrap(self._snapshot) is vars and not vars(self._unused):
            return f"an object of make= has no attributes, so that snapshot=vars shows nothing: {_ADVICE}"
        part, change, advice = next(self._shared(), ("", None, ""))
        if change is None:
            return None
        before, after = (
            "nothing" if change.missing == side else json_text(getattr(change, side)) for side in ("expected", "got")
        )
        return (
            f"objects that make= returns share {change.path.lstrip('/') or 'the state'}: in a new one, expected "
            f"{before}, got {after}: {advice}{_OF_CLASS if part else ''}"
        )

    def _shared(self) -> Iterator[tuple[str, Change, str]]:
        """Yield the differences of a new object that are shared, each with its part and with advice."""
        unused = self._parts(self._unused)
        changed = _places(self._first, unused)
        if not changed and not self._written:
            return
        new = self._make()
        if new is self._unused:  # make= may have set its state back, also for a trial that has not ended
            state = unused
        else:
            state = self._parts(new)
            changed -= _places(unused, self._parts(self._unused))  # by make= itself, such as a list of all objects
        written = []
        for part, change in _changes(self._first, state):
            if (part or change.path) in changed:
                yield part, change, _ADVICE
            elif not part and change.path not in self._drawn and _value_at(change) in self._written:
                written.append(change)
        yield from (("", change, _OF_SOURCE) for change in self._lasting(written))

    def _lasting(self, found: list[Change]) -> list[Change]:
        """Return the differences that a new object has also later: tools and ``make`` may take the same time.

        The places of the others are not looked at again, so that a domain waits for its clock once.
        """
        if not found:
            return []
        time.sleep(_TICK)
        later = set(map(_value_at, value_changes("", self._first[""], state_data(self._snapshot(self._make())))))
        lasting = [change for change in found if _value_at(change) in later]
        self._drawn.update(change.path for change in found if change not in lasting)
        return lasting

    def _parts(self, target: Any) -> dict[str, Any]:
        """Return the snapshot without a name, and the containers of the object's class, which are not in it."""
        with PlainErrors():
            found = {"": state_data(self._snapshot(target))}
        own = getattr(target, "__dict__", {})
        for each in type(target).__mro__:
            for name, value in vars(each).items():
                if isinstance(value, dict | list | set) and not name.startswith("_") and name not in own:
                    with contextlib.suppress(ValueError):
                        found[f"{each.__name__}.{name}"] = state_data(value)
        return found


def _value_at(change: Change) -> tuple[str, str | None]:
    """Return the place of a change, and the value there afterwards as text; None if it is missing."""
    return change.path, None if change.missing == "got" else canonical(change.got)


def _changes(first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of each part, with its name."""
    for part, value in second.items():
        for change in value_changes(part, first.get(part), value):
            yield part, change


def _places(first: dict[str, Any], second: dict[str, Any]) -> set[str]:
    """Return the places of the changes; of a container of a class, any change is one of the whole."""
    return {part or change.path for part, change in _changes(first, second)}
