"""What a person sees of a conversation: lines on standard output, coloured by who speaks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...models import AssistantMessage, MultiToolMessage, ToolMessage, UserMessage, call_as_text
from ...terminal import has_colours, print_paged, screen_lines, terminal_width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...models import Message
    from ..context import Incoming

_INDENT = 9


class Screen:
    """Writes lines to standard output."""

    def line(self, text: str = "", kind: str = "user") -> None:
        """Write a text, wrapped and coloured by its kind."""
        for line in screen_lines(kind, text, terminal_width(), colours=has_colours()):
            sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def paged(self, text: str, kind: str = "user") -> None:
        """Show a long text, by the pager at a terminal."""
        print_paged(screen_lines(kind, text, terminal_width(), colours=has_colours()))
        sys.stdout.flush()

    def message(self, message: Incoming | Message) -> None:
        """Write a message: what is said, calls, or the result of a call."""
        if isinstance(message, MultiToolMessage):
            self.messages(message.tool_messages)
        elif isinstance(message, ToolMessage):
            self.line(f"         = {_indented(message.content, 11)}", "bad" if message.error else "tool")
        elif isinstance(message, AssistantMessage | UserMessage):
            who = "agent" if message.role == "assistant" else "user"
            if message.content:
                self.line(f"  {who:<5}  {_indented(message.content, _INDENT)}", who)
            for call in message.tool_calls or ():
                self.line(f"  {who:<5}  > {call_as_text(call.name, call.arguments)}", who)

    def messages(self, messages: Iterable[Incoming | Message]) -> None:
        """Write messages, one after the other."""
        for message in messages:
            self.message(message)


def _indented(text: str | None, indent: int) -> str:
    return (text or "").strip().replace("\n", "\n" + " " * indent)
