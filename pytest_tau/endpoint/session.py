"""The parts of a trial that the endpoint needs, and the addresses under which it is reached."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from ..chat import ChatReply
    from .formats import EndpointRequest

#: The beginning of every token; other programs that mask keys know the first part of it, too.
TOKEN_PREFIX = "sk-tau-"  # noqa: S105 - no secret, but what all of them begin with
_TOKEN = re.compile(rf"{TOKEN_PREFIX}[\w-]+")


class ToolOutcome(NamedTuple):
    """The result of a tool call.

    Attributes:
        text: The result's text; it begins with ``Error:`` if the call failed.
        is_error: The call failed.
        value: What the tool returned: JSON data, or what a function of one's own returned; None if the call failed.
        error: What the tool raised; None if it is not known, or the call did not fail.
    """

    text: str
    is_error: bool
    value: Any = None
    error: Exception | None = None


class ToolSession(Protocol):
    """Tools that are called over MCP."""

    def tools(self) -> Sequence[Any]:
        """Return the tools, each with ``name``, ``description`` and ``parameters``."""
        ...

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        """Call a tool."""
        ...


class TrialSession(ToolSession, Protocol):
    """A trial whose agent is on its own loop.

    Attributes:
        loop: The event loop on which the methods are awaited; raises ``RuntimeError`` if the trial cannot answer.
    """

    @property
    def loop(self) -> asyncio.AbstractEventLoop: ...  # noqa: D102

    async def complete(self, request: EndpointRequest) -> ChatReply:
        """Return the answer of the trial's chat model.

        Raises:
            TauError: The call ends the trial: the model failed, a replay differs, a limit is reached.
        """
        ...


class Address(NamedTuple):
    """The addresses of a trial. All contain its token, which is a secret while the trial runs.

    Attributes:
        base_url: For clients of OpenAI's: ``http://127.0.0.1:PORT/t/TOKEN/v1``.
        api_key: The token.
        mcp_url: The trial's tools over MCP.
        anthropic_base_url: For clients of Anthropic's, which append ``/v1`` themselves.
    """

    base_url: str
    api_key: str
    mcp_url: str
    anthropic_base_url: str

    def __repr__(self) -> str:
        return f"Address({mask_tokens(self.base_url)!r})"


def is_of_trial(text: str) -> bool:
    """Return whether a text, such as an address, has the token of a trial."""
    return TOKEN_PREFIX in text


def mask_tokens(text: str) -> str:
    """Return a text without the tokens of trials in it, such as an error of a client that names the address."""
    return _TOKEN.sub(f"{TOKEN_PREFIX}***", text)
