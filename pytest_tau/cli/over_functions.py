"""What ``tau init --tools`` writes: a project over functions that exist already, for an agent that calls them."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import domain_of, postgresql, sqlite
from ..environment.functions.database_state import column_of
from ..environment.functions.places import find_tools
from ..environment.functions.source import release_functions
from ..errors import ConfigurationError, is_interrupt, unknown_name
from ..participants.loading import load_object
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.functions.postgresql_state import PostgreSQL
    from ..environment.functions.sqlite_state import SQLite

#: The first words of names of functions that change nothing.
_READS = ("check", "count", "find", "get", "has", "is", "list", "lookup", "read", "search", "show")

#: Seconds between two calls: the smallest step of times in most databases, and a bit.
_TICK = 1.1

_UNSTABLE = (
    "the result of %s differs each time, so that a recording cannot be replayed: let a fixture in conftest.py stop the "
    "time, for example with freezegun or time-machine"
)

#: The classes of connections, of SQLAlchemy and of ``sqlite3``, in the order in which they are looked for.
_CONNECTIONS = ("scoped_session", "sessionmaker", "async_sessionmaker", "Engine", "AsyncEngine", "Connection")

#: The password in a URL, with the colon before it.
_PASSWORD = re.compile(r"(?<=://)([^/@:]*):[^/@]*(?=@)")
_WITHOUT = r"\1"
_SERVER = "the workflow needs a service with the database; a password is not written, that of the engine is used"


class Wanted(NamedTuple):
    """What the command line names.

    Attributes:
        tools: The functions, as ``module:name,name``.
        agent: The agent, as for ``--tau-agent``.
        state: The file of the database, or its URL.
        call: A call that works, as ``name(argument=value)``.
    """

    tools: str
    agent: str
    state: str
    call: str


def texts_of(wanted: Wanted, folder: Path) -> dict[str, str]:
    """Return what stands for the placeholders of the templates, ``tasks.json`` as ``tasks``, and a ``note`` to print.

    Args:
        wanted: What the command line names.
        folder: The folder of the project.

    Raises:
        ConfigurationError: The functions or the agent cannot be imported, the agent does not find the functions, or the
            call does not work.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    module, functions = _functions(wanted.tools)
    load_object(wanted.agent, "agent", Path.cwd())
    up = Path(os.path.relpath(Path.cwd(), folder.resolve())).as_posix()
    file, _, attribute = wanted.agent.rpartition(":")
    reads = sorted(name for name in functions if name.partition("_")[0] in _READS)
    connect = _connection(module)
    name, arguments, differing, is_unstable = _made(wanted, functions, reads, connect)
    return {
        "import": f"import {module}",
        "name": module.rpartition(".")[2],
        "tools": ", ".join(f"{module}.{name}" for name in functions),
        "reads": "{" + ", ".join(map(json.dumps, reads)) + "}" if reads else "()",
        "patch": json.dumps(_places(file, module, functions)),
        "state": _declaration(wanted.state, folder, connect, differing),
        "path": up,
        "agent": f"{(Path(up) / file).as_posix()}:{attribute}" if file.endswith(".py") else wanted.agent,
        "note": "\n  ".join(
            [
                _writes(functions, reads),
                *([_UNSTABLE % name] if is_unstable else []),
                *([_SERVER] if _is_url(wanted.state) else []),
            ]
        ),
        "tasks": _tasks(name, arguments, functions),
    }


def _functions(named: str) -> tuple[str, dict[str, Callable[..., Any]]]:
    """Return the module of the functions, and the functions by name."""
    module, _, names = named.partition(":")
    if not module or not names:
        raise ConfigurationError(f"--tools {named!r}: expected MODULE:NAME,NAME such as shop.store:find,rent")
    try:
        members = vars(importlib.import_module(module))
    except BaseException as error:
        if is_interrupt(error):
            raise
        # A foreign module may raise anything while it is imported.
        problem = f"cannot be imported: {type(error).__name__}: {error}"
        raise ConfigurationError(f"--tools {named!r}: {problem}") from error
    functions = {}
    for name in names.split(","):
        if not callable(members.get(name)):
            known = [member for member, value in members.items() if callable(value) and not member.startswith("_")]
            raise ConfigurationError(f"--tools {named!r}: {unknown_name('function', name, known)}")
        functions[name] = members[name]
    return module, functions


def _writes(functions: dict[str, Callable[..., Any]], reads: list[str]) -> str:
    """Return what to correct if a tool that changes nothing is not known by its name."""
    writing = ", ".join(name for name in functions if name not in reads)
    return f"taken for tools that change something: {writing}; move to reads= in conftest.py what changes nothing"


def _connection(module: str) -> str | None:
    """Return the dotted name of a connection that the functions of a module share; None if there is none."""
    by_type = {type(value).__name__: name for name, value in vars(sys.modules[module]).items()}
    name = next((by_type[kind] for kind in _CONNECTIONS if kind in by_type), None)
    return f"{module}.{name}" if name else None


def _places(agent: str, module: str, functions: dict[str, Callable[..., Any]]) -> list[str]:
    """Return where the agent finds the functions: its own module, and theirs for those that it takes from there."""
    of_agent = agent.removesuffix(".py").replace("/", ".").removeprefix("..") if agent.endswith(".py") else agent
    tools = {place.tool for place in find_tools(of_agent, functions)}
    return [*([of_agent] if tools else []), *([module] if tools != functions.keys() else [])]


def _made(
    wanted: Wanted, functions: dict[str, Callable[..., Any]], reads: list[str], connect: str | None
) -> tuple[str, dict[str, Any], list[str], bool]:
    """Make the call on two copies of the database.

    Returns:
        The call, the columns that differ, such as times, and whether the results differ.
    """
    name, arguments = _call(wanted.call, functions)
    state = _state(wanted.state, connect)
    spec = domain_of("new", tools=[*functions.values()], reads=set(reads), state=state, folder=Path.cwd())
    domain = spec.load()
    environments = [domain.environment(), domain.environment()]
    results = set()
    try:
        for environment in environments:
            result = environment.call(name, arguments)
            if result.error:
                raise ConfigurationError(f"--call {wanted.call!r}: it must work, but: {result.content}")
            results.add(result.content)
            environment.agent_db.dump()
            time.sleep(_TICK)
        first, second = environments
        changes = list(first.agent_db.changes(second.agent_db))
    finally:
        for environment in environments:
            environment.close()
        release_functions(spec)
    return name, arguments, list(dict.fromkeys(map(column_of, changes))), len(results) > 1


def _is_url(state: str) -> bool:
    """Return whether a state is not a file."""
    return "://" in state and not state.startswith("sqlite:")


def _state(named: str, connect: str | None) -> PostgreSQL | SQLite:
    """Return the state of the functions.

    Raises:
        ConfigurationError: The database cannot be copied, or its functions have no engine.
    """
    if not _is_url(named):
        return sqlite(Path(sqlite(named).path).resolve(), connect=connect)
    if connect is None:
        problem = "the module of the tools has no engine and no sessionmaker of SQLAlchemy, which reach a copy"
        raise ConfigurationError(f"--state {_PASSWORD.sub(_WITHOUT, named)}: {problem}: import it there")
    return postgresql(named, connect=connect)


def _declaration(named: str, folder: Path, connect: str | None, omit: list[str]) -> str:
    """Return the call that declares the state, without a password."""
    if _is_url(named):
        kind, database = "postgresql", _PASSWORD.sub(_WITHOUT, named)
    else:
        kind, database = "sqlite", Path(os.path.relpath(sqlite(named).path, folder.resolve())).as_posix()
    further = {"connect": connect, "omit": omit}
    keywords = [f"{key}={json.dumps(value)}" for key, value in further.items() if value]
    return f"{kind}({', '.join([json.dumps(database), *keywords])})"


def _tasks(name: str, arguments: dict[str, Any], functions: dict[str, Callable[..., Any]]) -> str:
    """Return a task file with one task, whose reference action is a call."""
    first = " ".join((functions[name].__doc__ or name.replace("_", " ")).strip().partition("\n")[0].split()).rstrip(".")
    details = " ".join(f"The {key.replace('_', ' ')} is {value}." for key, value in arguments.items())
    task = {
        "id": name.replace("_", "-"),
        "user_scenario": {"instructions": f"You want to {first[:1].lower()}{first[1:]}. {details}".strip()},
        "evaluation_criteria": {
            "actions": [{"action_id": name, "name": name, "arguments": arguments}],
            "reward_basis": ["DB"],
        },
    }
    return f"{json.dumps([task], indent=2, ensure_ascii=False)}\n"


def _call(text: str, functions: dict[str, Callable[..., Any]]) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of a call that is written as in Python, with literal arguments.

    Raises:
        ConfigurationError: It is not a call, or does not fit its function.
    """
    problem = f'--call {text!r}: expected a call such as rent(bike="b1", days=2)'
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ConfigurationError(problem)
        positional = [ast.literal_eval(argument) for argument in call.args]
        keywords = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
    except (SyntaxError, ValueError):
        raise ConfigurationError(problem) from None
    if call.func.id not in functions:
        raise ConfigurationError(f"--call {text!r}: {unknown_name('tool', call.func.id, functions)}")
    try:
        arguments = inspect.signature(functions[call.func.id]).bind(*positional, **keywords).arguments
    except TypeError as error:
        raise ConfigurationError(f"--call {text!r}: {error}") from None
    return call.func.id, arguments
