"""A trial's tools for Pydantic AI (package ``pydantic-ai-slim``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``pydantic_ai.Tool``; arguments that do not fit reach the environment, which refuses them.

    Raises:
        ConfigurationError: pydantic-ai-slim is not installed.
    """
    tool_class = load_framework("pydantic_ai", "pydantic-ai-slim").Tool
    return [
        tool_class.from_schema(tool.acall, name=tool.name, description=tool.description, json_schema=tool.parameters)
        for tool in trial_tools
    ]
