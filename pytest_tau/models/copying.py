"""Independent copies of models and containers."""

from __future__ import annotations

import copy as shallow
import functools
from collections import deque
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)

#: Types of most values, which need no copy.
_LEAVES = frozenset({str, int, float, bool, type(None)})


def clone(value: T) -> T:
    """Return a deep copy of a model, a dataclass or a container; a value of any other type is returned as it is."""
    kind: Any = type(value)  # which mypy does not take for hashable
    return value if kind in _LEAVES else _copier(kind)(value)


@functools.lru_cache(maxsize=4096)
def _copier(kind: type) -> Callable[[Any], Any]:
    return next((copier for base, copier in _COPIERS if issubclass(kind, base)), _clone_other)


def _clone_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    copy = value.copy() if type(value) is dict else shallow.copy(value)  # it may be a ``defaultdict``
    for name, member in value.items():
        kind: Any = type(member)
        if kind not in _LEAVES:
            dict.__setitem__(copy, name, _copier(kind)(member))
    return copy


def _clone_list(value: list[Any]) -> list[Any]:
    return [clone(element) for element in value]


def _clone_other(value: Any) -> Any:
    """Return a copy of a dataclass, also of a frozen one; any other value as it is."""
    if not is_dataclass(value) or isinstance(value, type):
        return value
    copy = shallow.copy(value)
    for field in fields(value):
        object.__setattr__(copy, field.name, clone(getattr(value, field.name)))
    return copy


def _clone_model(model: BaseModel) -> BaseModel:
    return with_values(model, _clone_dict(model.__dict__))


def with_values(model: M, values: dict[str, Any]) -> M:
    """Return a copy of a model that has these values of fields; everything else of it is cloned.

    It does what ``model_copy`` does, without its generic copies, which take most of the time of a copy.
    """
    copy, set_attribute = type(model).__new__(type(model)), object.__setattr__
    extra, private = model.__pydantic_extra__, model.__pydantic_private__
    set_attribute(copy, "__dict__", values)
    set_attribute(copy, "__pydantic_fields_set__", model.__pydantic_fields_set__.copy())
    set_attribute(copy, "__pydantic_extra__", None if extra is None else _clone_dict(extra))
    set_attribute(copy, "__pydantic_private__", None if private is None else _clone_dict(private))
    return copy


def assign(model: BaseModel, **values: Any) -> None:
    """Assign to fields of a model, in a fourth of the time that an assignment to each takes."""
    model.__dict__.update(values)
    model.__pydantic_fields_set__.update(values)


#: What copies the values of a type and its subclasses; what is in a set or a bytearray cannot change.
_COPIERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (dict, _clone_dict),
    (list, _clone_list),
    (BaseModel, _clone_model),
    # A named tuple keeps its type.
    (tuple, lambda value: tuple.__new__(type(value), [clone(element) for element in value])),
    (deque, lambda value: type(value)([clone(element) for element in value], value.maxlen)),
    (set, shallow.copy),
    (bytearray, shallow.copy),
)
