"""The world that tools see in addition to their arguments: the time, environment variables, patched functions.

A fixture of a test can change it for the whole process. What is computed once a process, such as the state after a
task's reference actions, is computed once in each world.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


class World:
    """A world that the fixtures which are set up have made; without any, that of the process."""

    def __init__(self) -> None:
        self._values: dict[int, object] = {}

    def value(self, key: int, make: Callable[[], object]) -> object:
        """Return a value of this world, made when it is asked for first."""
        if key not in self._values:
            self._values[key] = make()
        return self._values[key]


class Worlds:
    """The worlds of this process, by the fixtures that were set up one after the other."""

    def __init__(self) -> None:
        self._entered: list[tuple[object, bool, World]] = []
        #: None for that of the process.
        self.current: World | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether the current world lasts until the run ends."""
        return all(lasts for _, lasts, _ in self._entered)

    def enter(self, cause: object, *, lasts: bool = False) -> None:
        """Begin a world.

        Args:
            cause: The fixture that makes it.
            lasts: Whether it lasts until the run ends.
        """
        self._entered.append((cause, lasts, World()))
        self.current = self._entered[-1][2]

    def leave(self, cause: object) -> None:
        """End the world of a cause; those that began after it are not what they were. Nothing if it has ended."""
        causes = [entered[0] for entered in self._entered]
        if cause not in causes:
            return
        at = causes.index(cause)
        self._entered[at:] = [(later, lasts, World()) for later, lasts, _ in self._entered[at + 1 :]]
        self.current = self._entered[-1][2] if self._entered else None

    @contextlib.contextmanager
    def another(self) -> Iterator[None]:
        """Have a world for a while, as the code of a test may have changed that of its fixtures."""
        cause = object()
        self.enter(cause)
        try:
            yield
        finally:
            self.leave(cause)


#: What fixtures patch belongs to the process, and so does this.
WORLDS = Worlds()
_NUMBERS = itertools.count()


class InWorld(Generic[T]):
    """A value that each world has for itself, such as a cache.

    Args:
        make: Makes it, when it is asked for first in a world.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make, self._number = make, next(_NUMBERS)

    @functools.cached_property
    def _of_process(self) -> T:
        return self._make()

    @property
    def value(self) -> T:
        """The value in the current world."""
        world = WORLDS.current
        if world is None:
            return self._of_process
        value: T = world.value(self._number, self._make)  # type: ignore[assignment]
        return value
