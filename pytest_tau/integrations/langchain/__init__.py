"""A trial's tools for LangChain and LangGraph (package ``langchain-core``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``langchain_core.tools.BaseTool``, which work with ``invoke`` and ``ainvoke``.

    Raises:
        ConfigurationError: langchain-core is not installed.
    """
    base: Any = load_framework("langchain_core.tools", "langchain-core").BaseTool

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial. StructuredTool would keep a parameter named ``config`` for itself."""

        _tool: Any

        def __init__(self, tool: TrialTool) -> None:
            super().__init__(name=tool.name, description=tool.description, args_schema=tool.parameters)
            self._tool = tool

        def _run(self, /, **arguments: Any) -> str:
            text: str = self._tool.call(**arguments)
            return text

        async def _arun(self, /, **arguments: Any) -> str:
            text: str = await self._tool.acall(**arguments)
            return text

    return [TrialBaseTool(tool) for tool in trial_tools]
