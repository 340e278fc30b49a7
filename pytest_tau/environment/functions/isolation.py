"""The check that objects of a domain share no state: what a simulation changes in one must not be seen in the next."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

from ...errors import PlainErrors
from ...models.problems import json_text
from ..changes import value_changes
from .jsonable import jsonable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..changes import Change

_ADVICE = "build new containers in __init__, or let make= return a copy.deepcopy"
_OF_CLASS = "; begin the name with an underscore if it is not part of the state, such as a cache"


class Isolation:
    """Compares new objects with the first one, before anything was done to it.

    Args:
        make: Returns a new object.
        snapshot: Returns the state of an object.
        writes: Whether a tool may change the state.
    """

    def __init__(self, make: Callable[[], Any], snapshot: Callable[[Any], Any], *, writes: bool) -> None:
        self._make, self._snapshot, self._writes = make, snapshot, writes
        self._first: dict[str, Any] = {}
        self._lock = threading.Lock()

    def note_first(self, target: Any) -> None:
        """Remember the state of the first object; call it with each one, before it is used."""
        with self._lock:
            if not self._first:
                with contextlib.suppress(Exception):  # the snapshot raises it again where states are compared
                    self._first = self._parts(target)

    def problem(self) -> str | None:
        """Return what a new object has that the first one did not have; None if both are in the same state."""
        try:
            with PlainErrors():
                return self._problem(self._make())
        except Exception:  # noqa: BLE001 - the domain's code; a trial reports what it raises
            return None

    def _problem(self, target: Any) -> str | None:
        if self._writes and self._snapshot is vars and not vars(target):
            return f"an object of make= has no attributes, so that snapshot=vars shows nothing: {_ADVICE}"
        self.note_first(target)
        found = list(_changes(self._first, self._parts(target)))
        part, change = next(self._shared(found), ("", None)) if found else ("", None)
        if change is None:
            return None
        before, after = (
            "nothing" if change.missing == side else json_text(getattr(change, side)) for side in ("expected", "got")
        )
        return (
            f"objects that make= returns share {change.path.lstrip('/') or 'the state'}: in a new one, expected "
            f"{before}, got {after}: {_ADVICE}{_OF_CLASS if part else ''}"
        )

    def _shared(self, found: list[tuple[str, Change]]) -> Iterator[tuple[str, Change]]:
        """Yield the changes but those that any two objects have, such as a number that is counted.

        Of a container of the class, such as a list of its objects, any change is enough.
        """
        drawn = list(_changes(self._parts(self._make()), self._parts(self._make())))
        expected = {part or change.path for part, change in drawn}
        return ((part, change) for part, change in found if (part or change.path) not in expected)

    def _parts(self, target: Any) -> dict[str, Any]:
        """Return the snapshot without a name, and the containers of the object's class, which are not in it."""
        with PlainErrors():
            found = {"": jsonable(self._snapshot(target))}
        own = getattr(target, "__dict__", {})
        for each in type(target).__mro__:
            for name, value in vars(each).items():
                if isinstance(value, dict | list | set) and not name.startswith("_") and name not in own:
                    with contextlib.suppress(ValueError):
                        found[f"{each.__name__}.{name}"] = jsonable(value)
        return found


def _changes(first: dict[str, Any], second: dict[str, Any]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of each part, with its name."""
    for part, value in second.items():
        for change in value_changes(part, first.get(part), value):
            yield part, change
