"""A trial's tools for Python programs that call tools through a session of the MCP SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import compat

if TYPE_CHECKING:
    from collections.abc import Sequence


class TrialSession:
    """The part of ``mcp.ClientSession`` that agents use, without a server: the calls go to the trial.

    Results are the SDK's own objects. A program that connects by itself is given the trial's ``mcp_url`` instead.

    Raises:
        ConfigurationError: The SDK is not installed.
    """

    def __init__(self, trial_tools: Sequence[Any]) -> None:
        compat.require_types()
        self._tools = {tool.name: tool for tool in trial_tools}

    async def initialize(self) -> None:
        """Do nothing: there is no server to greet."""

    async def list_tools(self, *_args: Any, **_kwargs: Any) -> Any:
        """Return a ``ListToolsResult`` with all tools; there is one page."""
        return compat.tools_result(
            [
                {"name": tool.name, "description": tool.description, "inputSchema": tool.parameters}
                for tool in self._tools.values()
            ]
        )

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, **_kwargs: Any) -> Any:
        """Return a ``CallToolResult``; one of an unknown or a failed tool has the SDK's mark of an error."""
        if name not in self._tools:
            return compat.call_result(f"Error: unknown tool {name!r}", failed=True)
        text, failed = await self._tools[name].acall_result(arguments or {})
        return compat.call_result(text, failed=failed)


def mcp_tools(trial_tools: Sequence[Any]) -> TrialSession:
    """Return the tools as a session: ``list_tools()`` and ``call_tool(name, arguments)``.

    Raises:
        ConfigurationError: The SDK is not installed.
    """
    return TrialSession(trial_tools)
