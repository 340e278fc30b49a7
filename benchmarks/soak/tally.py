"""The limits of a part of the soak, and its counts."""

from __future__ import annotations

import contextlib
import itertools
import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The most examples of each figure that must be 0 that are shown.
_MOST_EXAMPLES = 5


@dataclass(frozen=True)
class Limits:
    """The settings of a part.

    Attributes:
        seconds: The time after which no further case begins.
        count: The most cases; None for as many as fit in the time.
        seed: The seed of all random choices. The order of events in other processes does not follow from it.
        data: Official data; None for the bundled data.
    """

    seconds: float
    count: int | None = None
    seed: int = 0
    data: Path | None = None

    def cases(self, part: str) -> Iterator[random.Random]:
        """Yield a source of random choices for each case, until the limit is reached, or Ctrl-C is pressed."""
        end = time.monotonic() + self.seconds
        numbers = itertools.count() if self.count is None else iter(range(self.count))
        with _interrupts() as received:
            for number in numbers:
                if received or (number and time.monotonic() >= end):
                    return
                yield random.Random(f"{self.seed}:{part}:{number}")  # noqa: S311 - repeatability is wanted, not secrecy


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Yield a list to which Ctrl-C adds, so that what was counted is not lost; the second one ends the process."""
    received: list[int] = []

    def interrupted(number: int, frame: object) -> None:
        del frame
        received.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class Tally:
    """The counts of a part.

    Attributes:
        names: The counts that are printed also if they are 0, in order.
        forbidden: The counts that must be 0.
        counts: The counts by name.
        examples: What was found of the forbidden ones, a text each.
    """

    names: tuple[str, ...]
    forbidden: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, name: str, number: int = 1) -> None:
        """Count something."""
        self.counts[name] += number

    def find(self, name: str, example: str, number: int = 1) -> None:
        """Count something that must not happen, with an example."""
        self.counts[name] += number
        if number and sum(known.startswith(f"{name}: ") for known in self.examples) < _MOST_EXAMPLES:
            self.examples.append(f"{name}: {example}")

    @property
    def passed(self) -> bool:
        """Return whether everything that must be 0 is 0."""
        return not any(self.counts[name] for name in self.forbidden)

    def rows(self) -> Iterator[tuple[int, str, str]]:
        """Yield each figure: its number, its name, and for one that must be 0 whether it is."""
        others = sorted(self.counts.keys() - {*self.names, *self.forbidden})
        for name in (*self.names, *others, *self.forbidden):
            number = self.counts[name]
            must = "" if name not in self.forbidden else "must be 0: " + ("MISSED" if number else "reached")
            yield number, name, must
