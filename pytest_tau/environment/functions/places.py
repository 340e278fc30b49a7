"""Places in which an agent finds functions: attributes of modules and objects, and entries of containers."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .callables import FUNCTION_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from importlib.machinery import ModuleSpec

_ABSENT = object()


@dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of a module, a class or an object."""

    owner: Any
    name: str

    def put(self, value: Any) -> Callable[[], Any]:
        """Set the attribute; return what puts the old value back."""
        old = vars(self.owner).get(self.name, _ABSENT) if hasattr(self.owner, "__dict__") else self.get()
        setattr(self.owner, self.name, staticmethod(value) if isinstance(old, staticmethod) else value)
        if old is _ABSENT:
            return lambda: delattr(self.owner, self.name)
        return lambda: setattr(self.owner, self.name, old)

    def get(self) -> Any:
        """Return the value."""
        return getattr(self.owner, self.name)


@dataclass(frozen=True, eq=False)
class Item:
    """An entry of a dict or a list."""

    owner: Any
    name: Any

    def put(self, value: Any) -> Callable[[], Any]:
        """Set the entry; return what puts the old value back."""
        old = self.owner[self.name]
        self.owner[self.name] = value
        return lambda: self.owner.__setitem__(self.name, old)


@dataclass(frozen=True, eq=False)
class TupleItem:
    """An entry of a tuple, which is replaced where it is."""

    owner: Any
    name: int

    def put(self, value: Any) -> Callable[[], Any]:
        """Replace the tuple by one with another entry; return what puts the old one back.

        Raises:
            TypeError: The tuple is in another tuple.
        """
        if not isinstance(self.owner, Attribute | Item):
            raise TypeError("a tuple in a tuple cannot be changed: use a list")
        old = self.owner.get() if isinstance(self.owner, Attribute) else self.owner.owner[self.owner.name]
        parts = [*old[: self.name], value, *old[self.name + 1 :]]
        return self.owner.put(old._make(parts) if hasattr(old, "_make") else tuple(parts))


Place: TypeAlias = Attribute | Item | TupleItem


class Found(NamedTuple):
    """A place with a tool.

    Attributes:
        path: How it is reached, for errors.
        place: The place.
        tool: The name of the tool.
        value: What is there: the tool, or a method or a decorated function of it.
    """

    path: str
    place: Place
    tool: str
    value: Any


def find_tools(target: str, tools: Mapping[str, Callable[..., Any]]) -> Iterator[Found]:
    """Yield the places at or below a dotted name that have one of some tools.

    Raises:
        Exception: Anything that a module raises which is imported.
    """
    for place, value in resolve(target):
        yield from _find(target, place, value, tools, set())


def resolve(target: str) -> Iterator[tuple[Attribute | None, Any]]:
    """Yield the place of a dotted name, None for a module, and its value.

    There are several if the file of a module was imported under several names, as that of ``--tau-agent FILE:NAME`` is.

    Raises:
        Exception: Anything that a module raises which is imported.
    """
    first, *names = target.split(".")
    name = first
    while names and (found := _spec_of(f"{name}.{names[0]}")):
        name = found.name
        names.pop(0)
    for module in _modules(name):
        owner = functools.reduce(getattr, names[:-1], module)
        value = getattr(owner, names[-1]) if names else module
        yield (None if not names or isinstance(value, ModuleType) else Attribute(owner, names[-1])), value


def _spec_of(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ModuleNotFoundError, ValueError):  # the module above has no modules, or was not imported from a file
        return None


def _modules(name: str) -> list[ModuleType]:
    """Return the modules of a name: that one, and those of the same file; it is imported if there are none."""
    spec = _spec_of(name)
    same = [
        module
        for module in list(sys.modules.values())
        if isinstance(module, ModuleType) and spec is not None and vars(module).get("__file__") == spec.origin
    ]
    return same or [importlib.import_module(name)]


def _find(
    path: str, place: Place | None, value: Any, tools: Mapping[str, Callable[..., Any]], seen: set[int]
) -> Iterator[Found]:
    tool = tool_of(value, tools)
    if tool is not None and place is not None:
        yield Found(path, place, tool, value)
    elif id(value) not in seen:
        seen.add(id(value))
        for inner, part in _parts(value, place, tools):
            name = f".{inner.name}" if isinstance(inner, Attribute) else f"[{inner.name!r}]"
            yield from _find(f"{path}{name}", inner, part, tools, seen)


def _parts(value: Any, place: Place | None, tools: Mapping[str, Callable[..., Any]]) -> Iterator[tuple[Place, Any]]:
    """Yield what may have a tool: entries, all of a module but classes and modules, attributes named as tools are."""
    if isinstance(value, dict):
        yield from ((Item(value, key), part) for key, part in list(value.items()))
    elif isinstance(value, list):
        yield from ((Item(value, number), part) for number, part in enumerate(value))
    elif isinstance(value, tuple):
        yield from ((TupleItem(place, number), part) for number, part in enumerate(value))
    elif isinstance(value, ModuleType):
        for name, part in list(vars(value).items()):
            if not isinstance(part, type | ModuleType) and not name.startswith("__"):
                yield Attribute(value, name), part
    else:
        for name in (*tools, *FUNCTION_IN):
            # Statically: a lookup may run code, such as a connection that is opened.
            if inspect.getattr_static(value, name, None) is not None:
                part = getattr(value, name, None)
                if tool_of(part, tools) is not None:
                    yield Attribute(value, name), part


def tool_of(value: Any, tools: Mapping[str, Callable[..., Any]]) -> str | None:
    """Return the name of the tool that a value is, also as a method of an object, or within a decorator."""
    for name, tool in tools.items():
        if value is tool or _is_method_of(value, tool):
            return name
    if inspect.isfunction(value) and hasattr(value, "__wrapped__"):
        return tool_of(value.__wrapped__, tools)
    return None


def _is_method_of(value: Any, tool: Any) -> bool:
    """Return whether a value is a method that a function of its class is named by, or an equal method."""
    if not inspect.ismethod(value):
        return False
    if inspect.ismethod(tool):
        return value.__func__ is tool.__func__ and value.__self__ is tool.__self__
    return value.__func__ is tool
