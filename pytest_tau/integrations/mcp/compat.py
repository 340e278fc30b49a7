"""The MCP SDK: the only module that imports it. Results cross as JSON in the protocol's own names.

The names of the SDK's attributes differ between its major versions, the protocol's do not.
"""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...errors import ConfigurationError, install_extra
from ...text import shorten

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path
    from typing import TextIO

#: The thread of a connection: its name begins with this, and ends with the name of the domain.
THREAD = "tau-mcp-"


def require_sdk() -> None:
    """Import the SDK, which takes long, before anything is timed.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        import mcp.client.session
        import mcp.client.stdio  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"mcp_domain needs the extra 'mcp': {install_extra('mcp')} ({error})") from None


def environment(env: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment variables of a server: a few of this process's, and those that are given."""
    from mcp.client.stdio import get_default_environment

    return {**get_default_environment(), **(env or {})}


@contextlib.asynccontextmanager
async def connected(
    command: Sequence[str], folder: Path, env: Mapping[str, str] | None, stderr: TextIO
) -> AsyncIterator[Any]:
    """Start a server and yield a session with it; the server and its children end with the block.

    The SDK starts the server in a process group of its own. It closes the server's input, waits two seconds, and then
    ends the group.

    Raises:
        OSError: The command cannot be started.
    """
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    logging.getLogger("mcp.client.stdio").addFilter(_name_printed)
    given = dict(env) if env is not None else None
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=given, cwd=folder)
    async with stdio_client(parameters, errlog=stderr) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


def _name_printed(record: logging.LogRecord) -> bool:
    """Name the domain and the line if a server has printed between its messages: the SDK logs a traceback of itself."""
    error = record.exc_info[1] if record.exc_info else None
    thread = record.threadName or ""
    if isinstance(error, ValidationError) and thread.startswith(THREAD):
        record.msg = (
            "domain %r: its tool server printed to its standard output, which is for messages of MCP: %r was ignored; "
            "print to standard error"
        )
        record.args = thread.removeprefix(THREAD), shorten(str(error.errors()[0]["input"]))
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


async def list_tools(session: Any) -> list[dict[str, Any]]:
    """Return the server's tools: ``name``, ``description``, ``inputSchema``, ``annotations``."""
    listed = _json(await session.list_tools())
    tools: list[dict[str, Any]] = listed["tools"]
    while cursor := listed.get("nextCursor"):
        from mcp.types import PaginatedRequestParams

        listed = _json(await session.list_tools(params=PaginatedRequestParams(cursor=cursor)))
        tools += listed["tools"]
    return tools


async def call_tool(session: Any, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call: ``content``, ``structuredContent``, ``isError``."""
    return _json(await session.call_tool(name, arguments))


async def read_resource(session: Any, uri: str) -> list[dict[str, Any]]:
    """Return the contents of a resource, each with ``text`` or ``blob``."""
    contents: list[dict[str, Any]] = _json(await session.read_resource(uri))["contents"]
    return contents


def require_types() -> None:
    """Import the SDK's types.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        import mcp.types  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"tools_for('mcp') needs the package 'mcp': pip install mcp ({error})") from None


def tools_result(tools: list[dict[str, Any]]) -> Any:
    """Return a ``ListToolsResult``."""
    from mcp.types import ListToolsResult

    return ListToolsResult.model_validate({"tools": tools})


def call_result(text: str, *, failed: bool) -> Any:
    """Return a ``CallToolResult`` with a text."""
    from mcp.types import CallToolResult

    return CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": failed})


def is_protocol_error(error: BaseException) -> bool:
    """Return whether a server answered a request with an error, such as one about the arguments."""
    from mcp.shared import exceptions

    kinds = tuple(getattr(exceptions, name) for name in ("MCPError", "McpError") if hasattr(exceptions, name))
    code = getattr(error, "code", None) or getattr(getattr(error, "error", None), "code", None)
    return isinstance(error, kinds) and code != _CONNECTION_CLOSED


#: The code with which the SDK reports that the server is gone.
_CONNECTION_CLOSED = -32000


def _json(result: Any) -> dict[str, Any]:
    document: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return document
