"""Toolkits: the tools of one side of a domain."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from ..errors import ConfigurationError, unknown_name
from ..models import clone
from .database import Database
from .schemas import describe

if TYPE_CHECKING:
    from collections.abc import Callable

ToolKind: TypeAlias = Literal["read", "write", "think", "generic"]
D = TypeVar("D", bound=Database)
F = TypeVar("F", bound="Callable[..., Any]")


class ToolInfo(NamedTuple):
    """The declaration of a tool."""

    kind: ToolKind
    mutates: bool


def tool(kind: ToolKind, *, mutates: bool | None = None) -> Callable[[F], F]:
    """Mark a method of a toolkit as a tool.

    Args:
        kind: The kind of the tool.
        mutates: Whether it changes a database, and so is executed when a trajectory is replayed; by default
            exactly the ``write`` tools do.

    Raises:
        ConfigurationError: No kind or an unknown one, no docstring, or a parameter without a type.
    """
    if callable(kind):
        raise ConfigurationError(f"tool {kind.__qualname__}: expected a kind: {_KINDS}")

    def mark(method: F) -> F:
        _check_declaration(method, kind)
        method.tau_tool = ToolInfo(kind, kind == "write" if mutates is None else mutates)  # type: ignore[attr-defined]
        return method

    return mark


_KINDS = "one of " + ", ".join(f'@tool("{kind}")' for kind in get_args(ToolKind))


def _check_declaration(method: Callable[..., Any], kind: str) -> None:
    name = f"tool {getattr(method, '__qualname__', method)}"
    if kind not in get_args(ToolKind):
        raise ConfigurationError(f"{name}: {unknown_name('kind', str(kind), get_args(ToolKind))}")
    if not (method.__doc__ or "").strip():
        raise ConfigurationError(f"{name} has no docstring: add one, it is the description that the agent reads")
    for parameter in inspect.signature(method).parameters.values():
        if parameter.name != "self" and parameter.annotation is parameter.empty:
            problem = (
                f"parameter {parameter.name!r} has no type annotation: add one, for example '{parameter.name}: str'"
            )
            raise ConfigurationError(f"{name}: {problem}")


class Tool(NamedTuple):
    """A tool as an agent or a user sees it.

    Attributes:
        parameters: JSON schema of the arguments, an object.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: ToolKind
    mutates: bool

    def copy(self) -> Tool:
        """Return the tool with a schema of its own."""
        return self._replace(parameters=clone(self.parameters))

    @property
    def openai_schema(self) -> dict[str, Any]:
        """The tool in the format of OpenAI's chat API, a copy."""
        function = {"name": self.name, "description": self.description, "parameters": clone(self.parameters)}
        return {"type": "function", "function": function}


class Toolkit(Generic[D]):
    """Base of a domain's toolkits.

    Methods marked with ``tool`` can be called in a conversation. Other public methods can be named by a task's
    initialization actions and assertions. A method refuses by raising ``ToolError``.
    """

    tool_infos: ClassVar[dict[str, ToolInfo]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = {name: method.tau_tool for name, method in vars(cls).items() if hasattr(method, "tau_tool")}
        cls.tool_infos = cls.tool_infos | own

    def __init__(self, db: D) -> None:
        self.db = db

    @classmethod
    @functools.cache
    def tools(cls) -> dict[str, Tool]:
        """Return the toolkit's tools by name, in order of definition."""
        described = {name: describe(getattr(cls, name)) for name in cls.tool_infos}
        return {name: Tool(name, *described[name], info.kind, info.mutates) for name, info in cls.tool_infos.items()}

    @classmethod
    def function(cls, name: str) -> Callable[..., Any] | None:
        """Return a public method of the toolkit by name, tool or not; None if there is none."""
        method = getattr(cls, name, None)
        inherited = name in vars(Toolkit)
        return None if name.startswith("_") or inherited or not callable(method) else method
