"""A trial's tools for Microsoft's Agent Framework (package ``agent-framework-core``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``agent_framework.FunctionTool``, which need no approval.

    Raises:
        ConfigurationError: agent-framework-core is not installed.
    """
    tool_class = load_framework("agent_framework", "agent-framework-core").FunctionTool
    return [
        tool_class(
            name=tool.name,
            description=tool.description,
            func=tool.acall,
            input_model=tool.parameters,
            approval_mode="never_require",
        )
        for tool in trial_tools
    ]
