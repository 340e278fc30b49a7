"""Sessions of a tool server: one process for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ...environment.functions.sessions import Session
from ...errors import ConfigurationError, ToolError, ToolServerError
from .connection import Connection, require_sdk
from .results import result_text, result_value

if TYPE_CHECKING:
    from .connection import Launch


class Server:
    """Starts servers of a domain.

    Args:
        launch: How.
        state: A tool or the URI of a resource that gives the state; None if there is none.
        reset: A tool that sets the state back; None if there is none.
    """

    keyword = "state"

    def __init__(self, launch: Launch, state: str | None, reset: str | None = None) -> None:
        self.launch, self.state, self.reset = launch, state, reset

    @property
    def is_shared(self) -> bool:
        """Return whether all servers set back one state, so that only one may be in use."""
        return (self.reset is not None or bool(self.launch.reset)) and self.launch.is_shared

    def open(self) -> ServerSession:
        """Start a server in the untouched state and return a session with it.

        Raises:
            ToolServerError: It does not start, or cannot be reset.
        """
        launch = self.launch.of_trial()
        require_sdk()
        launch.run_reset()
        session = ServerSession(launch, self.state)
        if self.reset is not None:
            try:
                session.call(self.reset, {})
            except ToolError as error:
                session.close()
                raise ToolServerError(
                    f"the tool server of domain {launch.name!r} was not reset: {self.reset}: {error}"
                ) from None
        return session


class ServerSession(Session):
    """A session with a server process of its own."""

    def __init__(self, launch: Launch, state: str | None) -> None:
        self._launch, self._state = launch, state
        self._connection = Connection(launch)

    def tools(self) -> list[dict[str, Any]]:
        """Return the server's tools, as the protocol describes them."""
        tools: list[dict[str, Any]] = self._connection.request(_list_tools)
        return tools

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a call.

        Raises:
            ToolError: The tool reports an error.
        """
        result = _json(self._connection.request(lambda session: session.call_tool(name, arguments)))
        if result.get("isError"):
            raise ToolError(result_text(result))
        return result

    def snapshot(self) -> Any:
        """Return the state, as the tool or the resource gives it.

        Raises:
            ConfigurationError: There is no such tool or resource, or it gives no JSON, or null: every state would be
                equal.
        """
        try:
            found = self._state_value()
        except ToolError as error:
            raise self._no_state(str(error)) from None
        except DocumentError as error:
            raise self._no_state(f"expected the state as JSON: {error}") from None
        if found is None:
            raise self._no_state("expected the state as JSON, got null")
        return found

    def _state_value(self) -> Any:
        state = self._state
        assert state is not None, "a state that is not given is not compared"
        if "://" not in state:
            result = self.call(state, {})
            return result_value(result) if "structuredContent" in result else parse_json(result_text(result))
        found = _json(self._connection.request(lambda session: session.read_resource(state)))
        values = [parse_json(part.get("text", part.get("blob", ""))) for part in found["contents"]]
        return values[0] if len(values) == 1 else values or None

    def _no_state(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"the state of domain {self._launch.name!r}: {self._state}: {problem}")

    def close(self) -> None:
        """End the server."""
        self._connection.close()


async def _list_tools(session: Any) -> list[dict[str, Any]]:
    listed = _json(await session.list_tools())
    tools: list[dict[str, Any]] = listed["tools"]
    while cursor := listed.get("nextCursor"):
        from mcp.types import PaginatedRequestParams

        listed = _json(await session.list_tools(params=PaginatedRequestParams(cursor=cursor)))
        tools += listed["tools"]
    return tools


def _json(result: Any) -> dict[str, Any]:
    """Return an answer of the SDK as JSON in the protocol's own names."""
    document: dict[str, Any] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return document
