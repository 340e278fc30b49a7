"""Dialogs as generators: they yield a text or a tool call, and are sent the customer's words or the tool's result."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

R = TypeVar("R")


class ToolUse(NamedTuple):
    """A tool that the agent calls."""

    tool: str
    arguments: dict[str, Any]


#: A stretch of conversation that returns ``R``.
Dialog: TypeAlias = Generator[str | ToolUse, str, R]
