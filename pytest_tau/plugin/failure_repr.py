"""The representation of an explained failure in pytest's reports: lines with a kind, coloured at a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from ..diagnosis import plain_text
from ..evaluation import Line
from ..terminal import MARKUP
from ..text import printable
from .compat import ReprFileLocation, TerminalRepr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .compat import TerminalWriter


#: The start of a message, a tool call or its result in an explanation without kinds.
_MESSAGE = re.compile(r"  (?:agent|user) |         (?:> |= )")


class CrashLine(ReprFileLocation):
    """The one line of a failure, with the node id as its place: a task has no line of its own."""

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the line."""
        tw.write(self.path, bold=True, red=True)
        tw.line(f": {_first_line(self.message)}")


class FailureRepr(TerminalRepr):
    """An explained failure, made in this process or received from an xdist worker.

    Args:
        message: The failure in one line.
        lines: The explanation.
        nodeid: The test.
        style: The value of ``--tb``.
        is_error: Whether pytest shows the failure among the errors, for which it has no style ``line``.
    """

    def __init__(
        self, message: str, lines: Sequence[Line], nodeid: str, style: str = "auto", *, is_error: bool = False
    ) -> None:
        self.lines, self.style, self.is_error = [Line(kind, printable(text)) for kind, text in lines], style, is_error
        # pytest takes the one-line summary from here, and writes it with --tb=line.
        self.reprcrash = CrashLine(nodeid, 0, printable(message))

    def toterminal(self, tw: TerminalWriter) -> None:
        """Write the lines, wrapped to the terminal's width; at most two screen lines of a message."""
        if self.style == "line":
            if self.is_error:
                tw.line(_first_line(self.reprcrash.message), red=True)
            return
        for kind, text in self.lines:
            if kind in ("command", "error"):  # to be copied, or searched, in one piece
                tw.line(text, **MARKUP[kind])
                continue
            for line in _wrapped(text, tw.fullwidth - 1, brief=kind in ("agent", "user", "tool")):
                tw.line(printable(line), **MARKUP[kind])  # a long word may go on in the next line

    def __str__(self) -> str:
        return plain_text(self.lines)

    def _value(self) -> tuple[object, ...]:
        return (self.reprcrash.path, self.reprcrash.message, *self.lines)

    def __eq__(self, other: object) -> bool:
        # All workers collect the same files: pytest-xdist reports an error of collection once if it is equal.
        return isinstance(other, FailureRepr) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash(self._value())


def message_repr(message: str, nodeid: str) -> FailureRepr:
    """Return the representation of an error that is its message alone, without a traceback."""
    return FailureRepr(message, [Line("error", line) for line in message.splitlines()], nodeid)


def wrapped_section(text: str, width: int) -> str:
    """Return the text of a section about a simulation as an explained failure is shown, for the terminal.

    Args:
        text: Lines of an explanation.
        width: Of the terminal, in characters.
    """
    lines = (_wrapped(line, width - 1, brief=_MESSAGE.match(line) is not None) for line in text.split("\n"))
    return printable("\n".join(part for parts in lines for part in parts or [""]))


def _wrapped(text: str, width: int, *, brief: bool) -> list[str]:
    """Return the screen lines of a line; at most two if it is a message."""
    indent, most = " " * (len(text) - len(text.lstrip()) + 4), 2 if brief else None
    return textwrap.wrap(
        text, width, subsequent_indent=indent, max_lines=most, placeholder=" …", break_on_hyphens=False
    )


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
