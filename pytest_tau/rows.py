"""Rows: immutable objects with named values, for the modules that every run of pytest imports.

A dataclass and a named tuple generate their methods when their class is made, which takes a millisecond at each start.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass_transform(frozen_default=True)
class Row:
    """An immutable object whose fields are the annotations of its class, with their defaults.

    Args:
        values: The values of the first fields.
        named: The values of further fields, by name.

    Raises:
        TypeError: A field is missing, given twice, or not known.
    """

    _required: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        cls._required = frozenset(name for name in cls.__annotations__ if name not in vars(cls))

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = type(self).__annotations__
        given = dict(zip(fields, values, strict=False)) | named
        if len(given) < len(values) + len(named) or not self._required <= given.keys() <= fields.keys():
            raise TypeError(f"{type(self).__name__}: {_problem(fields, values, named, self._required)}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), *self.values().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"

    def values(self) -> dict[str, Any]:
        """Return the values of all fields, by name."""
        return {name: getattr(self, name) for name in type(self).__annotations__}

    def replaced(self, **changes: Any) -> Self:
        """Return a row with other values of some fields."""
        return type(self)(**vars(self) | changes)


def _problem(fields: Collection[str], values: tuple[Any, ...], named: dict[str, Any], required: frozenset[str]) -> str:
    given = list(fields)[: len(values)]
    if len(values) > len(given):
        return f"expected at most {len(given)} values, got {len(values)}"
    if twice := [name for name in given if name in named]:
        return f"given twice: {', '.join(twice)}"
    if unknown := [name for name in named if name not in fields]:
        return f"unknown: {', '.join(unknown)} (known: {', '.join(fields)})"
    return f"missing: {', '.join(name for name in fields if name in required.difference(given, named))}"
