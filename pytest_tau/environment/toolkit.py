"""Toolkits: the tools of one side of a domain."""

from __future__ import annotations

import functools
import inspect
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, NoReturn, TypeAlias, TypeVar, get_args

from ..errors import ConfigurationError, hides_frames, unknown_name
from ..models import clone, json_copy
from ..text import relative_path
from .database import Database
from .schemas import check_docstring, describe
from .values import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..models import Requestor, Task

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames


#: Why a tool cannot be a generator, and what to write instead.
GENERATOR = "is a generator, whose code a call does not run: return the result instead of yielding it"

ToolKind: TypeAlias = Literal["read", "write", "think", "generic"]
D = TypeVar("D", bound=Database)
F = TypeVar("F", bound="Callable[..., Any]")


class ToolInfo(NamedTuple):
    """The declaration of a tool.

    Attributes:
        hidden: Whether the tool can be called, but is not among those that an agent or a user is offered.
        uncounted: Whether it is declared that the tool's changes of the state do not count.
    """

    kind: ToolKind
    mutates: bool
    hidden: bool = False
    uncounted: bool = False


def tool(kind: ToolKind, *, mutates: bool | None = None, hidden: bool = False) -> Callable[[F], F]:
    """Mark a method of a toolkit as a tool.

    Args:
        kind: The kind of the tool.
        mutates: Whether it changes a database, and so is executed when a trajectory is replayed; by default
            exactly the ``write`` tools do. False also declares that changes by this tool do not count.
        hidden: Whether it can be called but is not offered, so that its name must be found out.

    Raises:
        ConfigurationError: No kind or an unknown one, no docstring or one with an unknown parameter, a parameter
            without a type, or a generator.
    """
    if callable(kind):
        raise ConfigurationError(f"tool {kind.__qualname__}: expected a kind: {_KINDS}")

    def mark(method: F) -> F:
        _check_declaration(method, kind)
        changes = kind == "write" if mutates is None else mutates
        method.tau_tool = ToolInfo(kind, changes, hidden, uncounted=mutates is False)  # type: ignore[attr-defined]
        return method

    return mark


_KINDS = "one of " + ", ".join(f'@tool("{kind}")' for kind in get_args(ToolKind))


def _check_declaration(method: Callable[..., Any], kind: str) -> None:
    name = f"tool {getattr(method, '__qualname__', method)}"
    if inspect.isgeneratorfunction(method) or inspect.isasyncgenfunction(method):
        raise ConfigurationError(f"{name} {GENERATOR}")
    if kind not in get_args(ToolKind):
        raise ConfigurationError(f"{name}: {unknown_name('kind', str(kind), get_args(ToolKind))}")
    if not (method.__doc__ or "").strip():
        problem = "has no docstring: add one, it is the description that the agent reads"
        raise ConfigurationError(f"{name} {problem}{place_of(method)}")
    for parameter in inspect.signature(method).parameters.values():
        if parameter.name != "self" and parameter.annotation is parameter.empty:
            problem = (
                f"parameter {parameter.name!r} has no type annotation: add one, for example '{parameter.name}: str'"
            )
            raise ConfigurationError(f"{name}: {problem}{place_of(method)}")
    if not hasattr(method, "tau_parameters"):
        check_docstring(method)


def place_of(function: Callable[..., Any]) -> str:
    """Return where a function is, in brackets; nothing for one without source."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f" ({relative_path(Path(code.co_filename), Path.cwd())}:{code.co_firstlineno})" if code is not None else ""


def _check_self(method: Callable[..., Any]) -> None:
    """Refuse a plain function that no call can reach; one with a signature of its own is made by a domain.

    Raises:
        ConfigurationError: Its first parameter is not ``self``.
    """
    if not inspect.isfunction(method) or "__signature__" in vars(method):
        return
    parameters = list(inspect.signature(method).parameters)
    if parameters[:1] != ["self"]:
        first = ", ".join(["self", *parameters])
        problem = f"the first parameter is not self: write def {method.__name__}({first})"
        raise ConfigurationError(f"tool {method.__qualname__}: {problem}")


def _refuse_async(method: Callable[..., Any]) -> NoReturn:
    """Refuse a method that would never be awaited, so that its call would change nothing.

    Raises:
        ConfigurationError: Always.
    """
    problem = f"methods of a toolkit are not awaited: write 'def {method.__name__}'"
    raise ConfigurationError(
        f"{method.__qualname__} is async: {problem}, or use domain_of, whose functions may be async"
    )


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


#: Texts of tools that are shown instead of the domain's own: description and schema, by side and name.
ToolTexts: TypeAlias = "Mapping[Requestor, Mapping[str, tuple[str, dict[str, Any]]]]"


def argument_names(toolkits: Iterable[type[Toolkit[Any]]]) -> dict[str, frozenset[str] | None]:
    """Return the names of the arguments of each tool, hidden ones included; None if others are allowed as well."""
    found: dict[str, frozenset[str] | None] = {}
    for tool in (each for kit in toolkits for each in (*kit.tools().values(), *kit.hidden_tools().values())):
        names, others = tool.parameters.get("properties", {}), tool.parameters.get("additionalProperties")
        known = found.get(tool.name, frozenset())  # both sides may have a tool of this name
        found[tool.name] = None if others or known is None else known.union(names)
    return found


def shared_name(agent: type[Toolkit[Any]], user: type[Toolkit[Any]] | None) -> str | None:
    """Return why an agent with the tools of both sides could not call all of them; None if it could."""
    shared = agent.tools().keys() & user.tools().keys() if user else ()
    return (
        f"both sides have the tool {min(shared)!r}, and a call does not name its side: rename one" if shared else None
    )


class Toolkit(Generic[D]):
    """Base of a domain's toolkits.

    Methods marked with ``tool`` can be called in a conversation. Other public methods can be named by a task's
    initialization actions and assertions. A method refuses by raising ``ToolError``.
    """

    tool_infos: ClassVar[dict[str, ToolInfo]] = {}
    #: The values of the domain; placeholders in docstrings of tools name them.
    tau_values: ClassVar[Values] = Values()
    #: Descriptions instead of those of the docstrings: of tools by name, of parameters by ``tool.parameter``.
    tau_descriptions: ClassVar[Mapping[str, str]] = {}
    #: Functions by names that no attribute could have, such as ``db`` or ``get-order``.
    tau_named: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    #: The time that has passed since the beginning of the task: between the sessions of one that has several.
    tau_elapsed: timedelta = timedelta(0)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        members = {**vars(cls), **vars(cls).get("tau_named", {})}
        own = {name: method.tau_tool for name, method in members.items() if hasattr(method, "tau_tool")}
        for name in own:
            _check_self(members[name])
        for name, member in vars(cls).items():
            if not name.startswith("_") and inspect.iscoroutinefunction(member):
                _refuse_async(member)
        declared = [vars(cls).get("tool_infos", {}), *(getattr(base, "tool_infos", {}) for base in cls.__bases__)]
        inherited: dict[str, ToolInfo] = {}
        for infos in declared:
            inherited |= {name: info for name, info in infos.items() if name not in inherited}
        cls.tool_infos = inherited | own

    def __init__(self, db: D) -> None:
        self.db = db

    @classmethod
    @functools.cache
    def tools(cls) -> dict[str, Tool]:
        """Return the tools that are offered by name, in order of definition."""
        return cls._described(hidden=False)

    @classmethod
    @functools.cache
    def hidden_tools(cls) -> dict[str, Tool]:
        """Return the tools that can be called but are not offered by name, in order of definition."""
        return cls._described(hidden=True)

    @classmethod
    def with_texts(cls, texts: Mapping[str, Any]) -> type[Toolkit[D]]:  # noqa: ARG003 - for subclasses
        """Return the toolkit with other texts of hidden tools; by default itself, as no answer of a tool shows them.

        Args:
            texts: ``tools``, a list of objects with ``name``, ``requestor``, ``description`` and ``parameters``; these
                are objects with ``name``, ``type``, ``description`` and ``required``.
        """
        return cls

    @classmethod
    def tool_named(cls, name: str) -> Tool | None:
        """Return a tool, offered or not, by name; None if there is none."""
        return cls.tools().get(name) or cls.hidden_tools().get(name)

    def begin_task(self, task: Task) -> None:
        """Prepare for a task, before its initial state is applied; nothing by default.

        It is called in each environment of the task: of the conversation, the reference actions and the replay.
        """

    @classmethod
    def _described(cls, *, hidden: bool) -> dict[str, Tool]:
        infos = {name: info for name, info in cls.tool_infos.items() if info.hidden == hidden}
        described = {name: describe(cls.tau_named.get(name) or getattr(cls, name)) for name in infos}
        if cls.tau_values:
            described = {name: tuple(cls.tau_values.fill_all([*texts], name)) for name, texts in described.items()}
        tools = {name: Tool(name, *described[name], info.kind, info.mutates) for name, info in infos.items()}
        return {name: _with_descriptions(tool, cls.tau_descriptions) for name, tool in tools.items()}

    @classmethod
    @functools.cache
    def with_values(cls, values: Values) -> type[Toolkit[D]]:
        """Return the toolkit with other values of its domain."""
        return cls._changed(tau_values=values)

    @classmethod
    def with_descriptions(cls, descriptions: Mapping[str, str]) -> type[Toolkit[D]]:
        """Return the toolkit with other descriptions (``tau_descriptions``)."""
        return cls._changed(tau_descriptions=descriptions)

    @classmethod
    def _changed(cls, **attributes: Any) -> type[Toolkit[D]]:
        return type(cls.__name__, (cls,), {**attributes, "__module__": cls.__module__, "__doc__": cls.__doc__})

    @classmethod
    def function(cls, name: str) -> Callable[..., Any] | None:
        """Return a public method of the toolkit by name, tool or not; None if there is none."""
        if name in cls.tau_named:
            return cls.tau_named[name]
        method = getattr(cls, name, None)
        inherited = name in vars(Toolkit)
        return None if name.startswith("_") or inherited or not callable(method) else method


def _with_descriptions(tool: Tool, descriptions: Mapping[str, str]) -> Tool:
    own = {key: text for key, text in descriptions.items() if key.partition(".")[0] == tool.name}
    if not own:
        return tool
    parameters = json_copy(tool.parameters)
    for key, text in own.items():
        _, _, parameter = key.partition(".")
        if parameter:
            parameters["properties"][parameter]["description"] = text
    return tool._replace(description=own.get(tool.name, tool.description), parameters=parameters)
