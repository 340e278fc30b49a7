"""The declaration of a domain over a tool server."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...environment import Database, Domain, DomainSpec, Tool, ToolInfo, Toolkit
from ...environment.functions import check_tool_name, files_of, folder_of_caller, kinds_of
from ...environment.functions.session_state import FirstState, SessionState
from ...environment.functions.sessions import Memo
from ...environment.jsonable import state_data
from ...errors import ConfigurationError, ToolServerError, hides_frames, unknown_name
from .connection import Launch
from .results import ResultSchema, result_text, result_value
from .server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ...environment import KnowledgeSpec
    from ...environment.toolkit import ToolKind

#: pytest omits the frames of this module from the traceback of a wrong declaration.
__tracebackhide__ = hides_frames

_ADVICE = (
    "if the state outlives the server, give each one its own by {trial} in command= or env=, or set it back by reset=; "
    "state= must not have what differs each time"
)


def mcp_domain(  # noqa: PLR0913 - the public call; everything but name and command has a default
    name: str,
    *,
    command: Sequence[str],
    state: str | None = None,
    reads: Collection[str] = (),
    writes: Collection[str] = (),
    generic: Collection[str] = (),
    functions: Collection[str] = (),
    policy: str | Path = "",
    tasks: str | Path = "tasks",
    env: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    timeout: float = 30.0,
    reset: str | Sequence[str] | None = None,
    knowledge: KnowledgeSpec | None = None,
    rules: Sequence[Any] | str = (),
) -> DomainSpec:
    """Declare a domain over a tool server that speaks MCP over standard input and output.

    The command is run for each simulation, in ``folder``. Nothing is started before the domain is used. In the
    arguments of a command, and in the values of ``env``, ``{trial}`` is replaced by an id that each server has alone.

    Args:
        name: The name for ``--tau-domain``.
        command: The program and its arguments, such as ``[sys.executable, "server.py"]``; no shell is involved.
        state: The name of a tool without arguments, or the URI of a resource, that gives the state as JSON; needed by
            ``DB``. The tool is not offered to the agent, unless one of the next three names it.
        reads: Tools that change nothing, in addition to those that the server marks with ``readOnlyHint``.
        writes: Tools that change something although the server marks them. A tool without a mark is one, too.
        generic: Tools that neither read nor change anything, such as a transfer to a person.
        functions: Tools that are not offered, but that ``initialization_actions`` and ``env_assertions`` can name.
        policy: The text of the policy, or the path of its file.
        tasks: A task file, or a folder of task files.
        env: Environment variables for the server. It inherits a few only, such as ``PATH`` and ``HOME``.
        folder: The server's working directory, which paths are relative to; by default that of the calling file.
        timeout: Seconds for the start of a server, and for each answer.
        reset: Sets back a state that outlives the server: the name of a tool without arguments, which is called after
            each start, or a command, which is run before it. The tool is not offered to the agent.
        knowledge: Documents that the agent can search, such as ``Knowledge("documents")`` of ``pytest_tau.knowledge``.
        rules: The rules of the policy that are checked in conversations, as for a ``DomainSpec``.

    Raises:
        ConfigurationError: The command is not a list.
    """
    folder = folder_of_caller() if folder is None else Path(folder)
    by_command = [] if reset is None or isinstance(reset, str) else _program(name, reset, "reset")
    launch = Launch(name, _program(name, command, "command"), folder, env, timeout, by_command)
    return MCPDomainSpec(
        name=name,
        agent_db=Database,
        agent_tools=Toolkit,
        server=Server(launch, state, reset if isinstance(reset, str) else None),
        kinds={"reads": reads, "writes": writes, "generic": generic},
        functions=functions,
        knowledge=knowledge,
        rules=rules,
        **files_of(folder, tasks, policy),
    )


def _program(domain: str, command: Sequence[str], keyword: str) -> list[str]:
    if isinstance(command, str) or not command:
        raise ConfigurationError(f"domain {domain!r}: {keyword}: expected a list such as ['python', 'server.py']")
    return [os.fspath(part) for part in command]


@dataclass(frozen=True)
class MCPDomainSpec(DomainSpec):
    """The declaration of a domain over a tool server, whose tools are listed when it is loaded.

    Attributes:
        server: Starts servers.
        kinds: The names of tools by ``reads``, ``writes`` and ``generic``.
        functions: The names of tools that are not offered to the agent.
    """

    server: Server | None = None
    kinds: Mapping[str, Collection[str]] | None = None
    functions: Collection[str] = ()

    def load(self, data_dir: Path | str | None = None) -> Domain:
        """Start the server once to list its tools and read the untouched state.

        Raises:
            ConfigurationError: The server cannot be used.
        """
        assert self.server is not None, "mcp_domain gives it"
        memo, comparable, first = Memo(), self.server.state is not None, FirstState(self.name, _ADVICE)
        members = {"source": self.server, "memo": memo, "comparable": comparable, "first": first}
        members["one_at_a_time"] = self.server.is_shared
        try:
            with contextlib.closing(self.server.open()) as session:
                toolkit = self._toolkit(session.tools())
                if comparable:
                    state = state_data(session.snapshot())
                    first.check(state)
                    memo.note_state((), state)
        except ToolServerError as error:
            raise ConfigurationError(str(error)) from None
        described = replace(self, agent_tools=toolkit, agent_db=type(f"State of {self.name}", (_ServerState,), members))
        plain = DomainSpec(**{each.name: getattr(described, each.name) for each in fields(DomainSpec)})
        return plain.load(data_dir)

    def _toolkit(self, listed: list[dict[str, Any]]) -> type[Toolkit[Any]]:
        """Return a toolkit of the server's tools."""
        by_name = {each["name"]: each for each in listed}
        own = {self.server.state, self.server.reset} if self.server else set()
        for name in self.functions:
            if name not in by_name:
                raise ConfigurationError(f"domain {self.name!r}: functions: {unknown_name('tool', name, by_name)}")

        def marked(name: str) -> ToolKind:
            return "read" if by_name[name].get("annotations", {}).get("readOnlyHint") else "write"

        given = self.kinds or {}
        kinds = kinds_of(self.name, by_name, default=marked, **given)
        hidden = set(self.functions) | (own - {name for names in given.values() for name in names})
        tools: dict[str, Tool] = {}
        members: dict[str, Any] = {}
        for name, each in by_name.items():
            check_tool_name(self.name, name)
            mutates = kinds[name] == "write"
            members[name] = _method(each, mutates=mutates, offered=name not in hidden)
            if name not in hidden:
                tools[name] = Tool(name, each.get("description", ""), each["inputSchema"], kinds[name], mutates)
        members["listed"] = {**tools, **self.agent_tools.tools()}
        members["tool_infos"] = {name: ToolInfo(tool.kind, tool.mutates) for name, tool in tools.items()}
        return type(f"Tools of {self.name}", (_ServerToolkit, self.agent_tools), members)


class _ServerState(SessionState):
    """The state of a server process."""

    cheap_to_fork: ClassVar[bool] = False
    waits: ClassVar[bool] = True


class _ServerToolkit(Toolkit[Any]):
    """The tools that a server lists."""

    listed: ClassVar[dict[str, Tool]] = {}

    @classmethod
    def tools(cls) -> dict[str, Tool]:  # type: ignore[override]
        """Return the tools by name, in the server's order."""
        return cls.listed


def _method(listed: dict[str, Any], *, mutates: bool, offered: bool) -> Callable[..., Any]:
    name, results = listed["name"], ResultSchema(listed["name"], listed.get("outputSchema"))

    def method(self: Toolkit[Any], **arguments: Any) -> Any:
        result = self.db.call(name, arguments, mutates=mutates)
        results.check(result)
        return result_text(result) if offered else result_value(result)

    vars(method).update(tau_parameters=listed["inputSchema"], tau_converts=True)
    return method
