"""Domains over functions and objects that exist already: no toolkit, no records, no database file."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError, hides_frames, unknown_name
from ..domain import DomainSpec
from ..domain_files import PolicyFiles
from ..jsonable import Returned
from ..toolkit import Toolkit, tool
from ..values import Values
from .callables import by_name, has_own_schema
from .calling import FunctionCaller
from .patching import Patches
from .postgresql_state import PostgreSQL
from .session_state import FirstState, SessionState
from .source import FunctionSource
from .sqlite_state import SQLite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from ..retrieval import KnowledgeSpec
    from ..toolkit import ToolKind

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames


def domain_of(  # noqa: PLR0913 - the public call; everything but name and tools has a default
    name: str,
    *,
    tools: Sequence[Callable[..., Any]],
    make: Callable[[], Any] | None = None,
    snapshot: Callable[..., Any] | None = None,
    restore: Callable[..., Any] | None = None,
    state: SQLite | PostgreSQL | None = None,
    reads: Collection[str] = (),
    generic: Collection[str] = (),
    functions: Sequence[Callable[..., Any]] = (),
    patch: Sequence[str] = (),
    policy: str | Path = "",
    tasks: str | Path = "tasks",
    folder: str | Path | None = None,
    knowledge: KnowledgeSpec | None = None,
    rules: Sequence[Any] | str = (),
    rules_count: bool | Collection[str] = False,
    values: Values | None = None,
) -> DomainSpec:
    """Declare a domain over functions, or over methods of an object, that exist already.

    Args:
        name: The name for ``--tau-domain``.
        tools: What the agent can call. Signatures and docstrings are the schemas. Arguments are converted to the
            annotated types.
        make: Returns a new object in the untouched state, such as its class; called for each simulation. The object
            is the first argument of every tool and function, and of ``snapshot`` and ``restore``.
        snapshot: Returns the state as plain data: JSON values, dataclasses, pydantic models, dates. Without it, the
            reward component ``DB`` cannot be used.
        restore: Takes a copy of what ``snapshot`` returned and makes it the state. Required without ``make``, and for
            a task's ``initialization_data``.
        state: Instead of ``make``, ``snapshot`` and ``restore``: the database in which the functions keep their state,
            ``pytest_tau.sqlite("shop.db")`` or ``pytest_tau.postgresql(URL, connect="shop.db.engine")``.
        reads: The names of tools and functions that change nothing. All others are called again when a conversation
            is graded.
        generic: The names of tools that neither read nor change anything, such as a transfer to a person.
        functions: What the agent cannot call, but ``initialization_actions`` and ``env_assertions`` of tasks can name.
        patch: Where an agent that calls the tools itself finds them, by dotted names as for ``unittest.mock.patch``: a
            dict, a list, a module, an object, or the function. There, the tools are replaced by ones that make the
            call in the trial of the agent.
        policy: The text of the policy, or the path of its file.
        tasks: A task file, or a folder of task files.
        folder: The folder that paths are relative to; by default that of the file which calls this function.
        knowledge: Documents that the agent can search, such as ``Knowledge("documents")`` of ``pytest_tau.knowledge``.
        rules: The rules of the policy that are checked in conversations, as for a ``DomainSpec``.
        rules_count: Whether the rules are a factor of the reward, as for a ``DomainSpec``.
        values: The values of the policy, as for a ``DomainSpec``. A tool or function with the parameter ``values`` is
            given them as a dictionary by name; it is not part of the schema.

    Raises:
        ConfigurationError: A tool without a docstring or types, an unknown name, or a state that cannot be isolated.
    """
    named = by_name(name, [*tools, *functions], make)
    kinds = kinds_of(name, named, reads=reads, generic=generic)
    offered = {each.__name__ for each in tools}
    given = [each for each in (make, snapshot, restore) if each is not None]
    caller = FunctionCaller(name, [*tools, *functions, *given])
    patches = _patches(name, tools, named, patch, bound=make is not None)
    folder = folder_of_caller() if folder is None else Path(folder)
    database = _database(name, state, folder, given)
    source = FunctionSource(
        name,
        named,
        caller,
        offered=offered,
        make=make,
        snapshot=snapshot,
        restore=restore,
        patches=patches,
        database=database,
    )
    source.check(writes=sorted(each for each, kind in kinds.items() if kind == "write"))
    return DomainSpec(
        name=name,
        agent_db=_state_type(name, source),
        agent_tools=_toolkit(name, named, kinds, offered=offered, bound=make is not None, values=values or Values()),
        knowledge=knowledge,
        rules=rules,
        rules_count=rules_count,
        values=values or Values(),
        **files_of(folder, tasks, policy),
    )


def _database(
    domain: str, state: SQLite | PostgreSQL | None, folder: Path, given: Sequence[object]
) -> SQLite | PostgreSQL | None:
    if state is None:
        return None
    if not isinstance(state, SQLite | PostgreSQL):
        expected = "expected pytest_tau.sqlite(FILE) or pytest_tau.postgresql(URL, …)"
        raise ConfigurationError(f"domain {domain!r}: state: {expected}, got {state!r}")
    if given:
        raise ConfigurationError(f"domain {domain!r}: state= stands for make=, snapshot= and restore=: remove these")
    return state.within(folder)


def _patches(
    domain: str,
    tools: Sequence[Callable[..., Any]],
    named: dict[str, Callable[..., Any]],
    targets: Sequence[str],
    *,
    bound: bool,
) -> Patches | None:
    if isinstance(targets, str) or not all(isinstance(target, str) for target in targets):
        raise ConfigurationError(f"domain {domain!r}: patch: expected a list of dotted names, got {targets!r}")
    if not targets:
        return None
    by_their_name = {tool.__name__: tool for tool in tools}
    # The others are static methods, or methods of the class.
    of_object = [name for name, tool in by_their_name.items() if bound and named[name] is tool]
    return Patches(domain, targets, by_their_name, of_object)


#: What a state asks of its source if all sessions share the state of the functions.
_OF_SHARED = ("prepare", "put_back", "changes_by_others")


def _state_type(name: str, source: FunctionSource) -> type[SessionState]:
    first = FirstState(name, source.advice)
    members: dict[str, Any] = {"source": source, "comparable": source.compares, "first": first}
    members["waits"] = source.caller.on_loop and (source.make is not None or source.database is not None)
    if source.is_shared:
        members |= {name: staticmethod(getattr(source, name)) for name in _OF_SHARED}
    return type(f"State of {name}", (SessionState,), members)


def files_of(folder: Path, tasks: str | Path, policy: str | Path) -> dict[str, Any]:
    """Return the fields of a ``DomainSpec`` for its files.

    Args:
        folder: The folder that paths are relative to.
        tasks: A task file, or a folder of task files.
        policy: The text of the policy, or the path of its file.
    """
    files: dict[str, Any] = {"folder": folder, "tasks": folder / tasks}
    if isinstance(policy, Path):
        return {**files, "policies": {"default": PolicyFiles((str(policy),))}}
    return {**files, "policies": {"default": PolicyFiles(())}, "policy_text": lambda _texts: policy}


def folder_of_caller() -> Path:
    """Return the folder of the file that called the function that calls this one."""
    frame = inspect.currentframe()
    for _ in range(2):
        frame = frame.f_back if frame else None
    return Path(frame.f_code.co_filename).resolve().parent if frame else Path.cwd()


def kinds_of(
    domain: str,
    known: Iterable[str],
    *,
    reads: Collection[str] = (),
    writes: Collection[str] = (),
    generic: Collection[str] = (),
    default: Callable[[str], ToolKind] = lambda _name: "write",
) -> dict[str, ToolKind]:
    """Return the kind of each tool by name.

    Raises:
        ConfigurationError: A collection names an unknown tool, or two name the same one.
    """
    kinds: dict[str, ToolKind] = {name: default(name) for name in known}
    given: dict[str, str] = {}
    collections: list[tuple[str, ToolKind, Collection[str]]]
    collections = [("reads", "read", reads), ("writes", "write", writes), ("generic", "generic", generic)]
    for keyword, kind, names in collections:
        if isinstance(names, str):
            raise ConfigurationError(f"domain {domain!r}: {keyword}: expected a set of names, got {names!r}")
        for name in names:
            if name not in kinds:
                raise ConfigurationError(f"domain {domain!r}: {keyword}: {unknown_name('tool', name, kinds)}")
            if given.setdefault(name, keyword) != keyword:
                raise ConfigurationError(f"domain {domain!r}: {name!r} is in both {given[name]} and {keyword}")
            kinds[name] = kind
    return kinds


def _toolkit(
    domain: str,
    functions: dict[str, Callable[..., Any]],
    kinds: dict[str, ToolKind],
    *,
    offered: Collection[str],
    bound: bool,
    values: Values,
) -> type[Toolkit[Any]]:
    methods = {
        name: _method(function, kinds[name], offered=name in offered, bound=bound, valued=bool(values))
        for name, function in functions.items()
    }
    own = {name: method for name, method in methods.items() if has_own_schema(functions[name])}
    members = {name: method for name, method in methods.items() if name not in own}
    return type(f"Tools of {domain}", (Toolkit,), {**members, "tau_named": own, "tau_values": values})


def _method(
    function: Callable[..., Any], kind: ToolKind, *, offered: bool, bound: bool, valued: bool
) -> Callable[..., Any]:
    """Return a method of a toolkit that calls a function in the session of its state."""
    name, mutates = function.__name__, kind == "write"
    parameters = list(inspect.signature(function).parameters.values())[1 if bound else 0 :]
    given = [each for each in parameters if not (valued and each.name == _VALUES)]
    takes_values = len(given) < len(parameters)

    @functools.wraps(function)
    def method(self: Toolkit[Any], /, **arguments: Any) -> Any:
        if takes_values:  # as an argument, so that no call in another edition is taken for this one
            arguments[_VALUES] = self.tau_values.as_json()
        result = self.db.call(name, arguments, mutates=mutates)
        return Returned.of(result) if offered else result

    if offered and any(each.kind in _NOT_BY_NAME for each in parameters) and not has_own_schema(function):
        raise ConfigurationError(
            f"tool {function.__qualname__}: each parameter must be passed by its name: wrap it in a function"
        )
    vars(method)["__signature__"] = inspect.Signature(given)
    vars(method)["tau_converts"] = True
    return tool(kind)(method) if offered else method


#: The parameter that is given the values of the domain.
_VALUES = "values"
_NOT_BY_NAME = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)
