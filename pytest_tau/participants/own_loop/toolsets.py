"""The tools of a trial as objects of a framework."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .tools import TrialTool

#: The frameworks with an integration, with the function that makes their tools.
FRAMEWORKS = {
    "agent_framework": "tools",
    "google_adk": "tools",
    "langchain": "tools",
    "mcp": "mcp_tools",
    "openai_agents": "tools",
    "pydantic_ai": "tools",
    "smolagents": "tools",
}


def tools_for(
    name: str, tools: Sequence[TrialTool], make: Callable[[str, Sequence[TrialTool]], Any] | None = None
) -> Any:
    """Return tools as objects of a framework.

    Args:
        name: The framework's name.
        tools: The tools.
        make: Asks the plugins of the run; it returns None if none knows the name.

    Raises:
        ConfigurationError: The name is unknown, or the framework is not installed.
    """
    made = make(name, tools) if make else None
    if made is not None:
        return made
    if name not in FRAMEWORKS:
        raise ConfigurationError(f"tools_for: {unknown_name('framework', name, FRAMEWORKS)}")
    # By name: integrations are imported when they are used, and may use what stands above this package.
    module = importlib.import_module(f"pytest_tau.integrations.{name}")
    return getattr(module, FRAMEWORKS[name])(tools)
