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
    from collections.abc import Callable

_ADVICE = "build new containers in __init__, or let make= return a copy.deepcopy"
_OF_CLASS = "; begin the name with an underscore if it is not part of the state, such as a cache"


class Isolation:
    """Compares new objects with the first one, before anything was done to it.

    Args:
        domain: The name of the domain, for messages.
        make: Returns a new object.
        snapshot: Returns the state of an object.

    Attributes:
        writes: Whether a tool may change the state.
    """

    def __init__(self, domain: str, make: Callable[[], Any], snapshot: Callable[[Any], Any]) -> None:
        self._domain, self._make, self._snapshot = domain, make, snapshot
        self._first: dict[str, Any] | None = None
        self._lock = threading.Lock()
        self.writes = True

    def note_first(self, target: Any) -> None:
        """Remember the state of the first object; call it with each one, before it is used."""
        with self._lock:
            if self._first is None:
                with contextlib.suppress(Exception):  # the snapshot raises it again where states are compared
                    self._first = self._state(target)

    def problem(self) -> str | None:
        """Return what a new object has that the first one did not have; None if both are in the same state.

        What also differs between two new objects, such as a number that is counted, is not shared.
        """
        try:
            with PlainErrors():
                target = self._make()
            if self.writes and self._snapshot is vars and not vars(target):
                problem = "an object of make= has no attributes, so that snapshot=vars shows nothing"
                return f"domain {self._domain!r}: {problem}: {_ADVICE}"
            self.note_first(target)
            found = self._changes(self._first, self._state(target))
            if found:
                drawn = self._changes(self._state(self._make()), self._state(self._make()))
                containers = {path.partition("/")[0] for path in drawn}  # of a class, such as a list of its objects
                found = {
                    path: change
                    for path, change in found.items()
                    if path not in drawn
                    and not ("." in path.partition("/")[0] and path.partition("/")[0] in containers)
                }
        except Exception:  # noqa: BLE001 - the domain's code; a trial reports what it raises
            return None
        if not found:
            return None
        path, change = next(iter(found.items()))
        before, after = (
            "nothing" if change.missing == side else json_text(getattr(change, side)) for side in ("expected", "got")
        )
        of_class = "." in path.partition("/")[0]
        return (
            f"domain {self._domain!r}: objects that make= returns share {path or 'the state'}: in a new one, expected "
            f"{before}, got {after}: {_ADVICE}{_OF_CLASS if of_class else ''}"
        )

    @staticmethod
    def _changes(first: Any, second: Any) -> dict[str, Any]:
        return {change.path.lstrip("/"): change for change in value_changes("", first, second)}

    def _state(self, target: Any) -> Any:
        """Return the snapshot, and the containers of the object's class, which are not in its attributes."""
        with PlainErrors():
            found = jsonable(self._snapshot(target))
        own = getattr(target, "__dict__", {})
        for each in type(target).__mro__:
            for name, value in vars(each).items():
                if isinstance(value, dict | list | set) and not name.startswith("_") and name not in own:
                    with contextlib.suppress(ValueError):
                        found = {"": found} if not isinstance(found, dict) else found
                        found = {**found, f"{each.__name__}.{name}": jsonable(value)}
        return found
