"""A trial's tools for Google's Agent Development Kit (package ``google-adk``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``google.adk.tools.base_tool.BaseTool``.

    The kit gives a result to the model as ``{"result": TEXT}``, as it does with the text of any function.

    Raises:
        ConfigurationError: google-adk is not installed.
    """
    base: Any = load_framework("google.adk.tools.base_tool", "google-adk").BaseTool
    types = load_framework("google.genai.types", "google-adk")

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial with its JSON schema, which a function's signature could not give."""

        def __init__(self, tool: TrialTool) -> None:
            super().__init__(name=tool.name, description=tool.description)
            self._tool = tool

        def _get_declaration(self) -> Any:
            return types.FunctionDeclaration(
                name=self.name, description=self.description, parameters_json_schema=self._tool.parameters
            )

        async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> dict[str, str]:
            """Call the tool."""
            return {"result": await self._tool.acall(**args)}

    return [TrialBaseTool(tool) for tool in trial_tools]
