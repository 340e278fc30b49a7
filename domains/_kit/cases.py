"""Cases of scenarios: people and things that were chosen, by the names that texts use, and the steps that choose."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Self

#: Makes further cases of cases.
Step: TypeAlias = "Callable[[Iterator[Any]], Iterator[Any]]"
Value: TypeAlias = "Callable[[Any], Any]"
C = TypeVar("C", bound="Case")


class Case(SimpleNamespace):
    """What a scenario is about, by the names that its texts use.

    Attributes:
        stated: The names that the scenario states itself; :func:`let` leaves them as they are.
    """

    stated: Collection[str] = ()

    def having(self, **things: Any) -> Self:
        """Return the case with further things."""
        return type(self)(**{**vars(self), **things})


def find_cases(cases: Iterator[C], steps: Iterable[Step]) -> Iterator[C]:
    """Yield the cases to which the steps lead."""
    for step in steps:
        cases = step(cases)
    return cases


def where(holds: Value) -> Step:
    """Return the step that keeps the cases for which something holds."""
    return lambda cases: filter(holds, cases)


def let(**values: Value) -> Step:
    """Return the step that names values, one after the other."""

    def step(cases: Iterator[Case]) -> Iterator[Case]:
        for case in cases:
            stated = case
            for name, value in values.items():
                stated = stated if name in case.stated else stated.having(**{name: value(stated)})
            yield stated

    return step


def each(**choices: Value) -> Step:
    """Return the step that makes a case of each of the things that its one value lists."""
    ((name, choice),) = choices.items()
    return lambda cases: (case.having(**{name: choice_value}) for case in cases for choice_value in choice(case))
