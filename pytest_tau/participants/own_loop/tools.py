"""The tools of a trial as an agent that runs its own loop calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...models import clone

if TYPE_CHECKING:
    from ...endpoint import ToolOutcome
    from ...environment import Tool
    from .bridge import Bridge


class TrialTool:
    """A tool of one trial.

    A call is carried out and recorded like that of any other agent. It does not raise if the tool fails: the result is
    then a text that begins with ``Error:``.

    Attributes:
        name: The tool's name.
        description: The description for the model.
        parameters: JSON schema of the arguments, an object.
    """

    def __init__(self, tool: Tool, bridge: Bridge) -> None:
        self.name, self.description, self.parameters = tool.name, tool.description, clone(tool.parameters)
        self._bridge = bridge

    def __repr__(self) -> str:
        return f"<TrialTool {self.name}>"

    @property
    def openai_schema(self) -> dict[str, Any]:
        """The tool in the format of OpenAI's chat API, a copy."""
        function = {"name": self.name, "description": self.description, "parameters": clone(self.parameters)}
        return {"type": "function", "function": function}

    def call(self, /, **arguments: Any) -> str:
        """Call the tool from blocking code and return the text of the result.

        Raises:
            RuntimeError: It is called on the event loop that must answer it, or while no message is being answered.
            concurrent.futures.CancelledError: The conversation ended before the call was answered.
        """
        return self.call_result(arguments).text

    async def acall(self, /, **arguments: Any) -> str:
        """Call the tool and return the text of the result, on any event loop.

        Raises:
            RuntimeError: No message is being answered.
            asyncio.CancelledError: The conversation ended before the call was answered.
        """
        return (await self.acall_result(arguments)).text

    def call_result(self, arguments: Any) -> ToolOutcome:
        """Call the tool from blocking code and return the result.

        Args:
            arguments: The arguments as a JSON object; for anything else, the result is an error.

        Raises:
            RuntimeError: As for ``call``.
            concurrent.futures.CancelledError: As for ``call``.
        """
        return self._bridge.call(self.name, arguments)

    async def acall_result(self, arguments: Any) -> ToolOutcome:
        """Call the tool and return the result, on any event loop.

        Args:
            arguments: The arguments as a JSON object; for anything else, the result is an error.

        Raises:
            RuntimeError: As for ``acall``.
            asyncio.CancelledError: As for ``acall``.
        """
        return await self._bridge.acall(self.name, arguments)
