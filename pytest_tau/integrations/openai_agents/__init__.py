"""A trial's tools for the OpenAI Agents SDK (package ``openai-agents``)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``agents.FunctionTool``, with the schemas as they are (not in strict mode).

    Raises:
        ConfigurationError: openai-agents is not installed.
    """
    tool_class = load_framework("agents", "openai-agents").FunctionTool
    return [
        tool_class(
            name=tool.name,
            description=tool.description,
            params_json_schema=tool.parameters,
            on_invoke_tool=partial(_invoke, tool),
            strict_json_schema=False,
        )
        for tool in trial_tools
    ]


async def _invoke(tool: TrialTool, _context: Any, text: str) -> str:
    """Call a tool with the JSON text that the model wrote."""
    try:
        arguments = parse_json(text) if text.strip() else {}
    except DocumentError:
        arguments = None
    if not isinstance(arguments, dict):
        return f"Error: arguments of '{tool.name}' must be a JSON object, got {text[:80]}"
    return await tool.acall(**arguments)
