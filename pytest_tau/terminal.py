"""Lines for a terminal: colours by the kind of a line, wrapping, and a pager for long texts."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

from .text import printable, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "coloured",
    "has_colours",
    "print_paged",
    "screen_lines",
    "terminal_width",
]

#: How each kind of line is shown, in the words of pytest's terminal writer.
MARKUP: dict[str, dict[str, bool]] = {
    "verdict": {"bold": True, "red": True},
    "passed": {"bold": True, "green": True},
    "head": {"bold": True},
    "bad": {"red": True},
    "error": {"red": True},
    "note": {"yellow": True},
    "agent": {"cyan": True},
    "user": {},
    "tool": {"light": True},
    "command": {"green": True},
}
_CODES = {"bold": 1, "light": 2, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_NARROWEST, _WIDEST = 40, 120
#: What stands before the text of a message: its number, who says it, and the mark of a call or a result.
_SPEAKER = re.compile(r" *(?:\d+ +)?(?:(?:agent|user) +(?:> )?|= )")


def has_colours() -> bool:
    """Return whether standard output shows colours: a terminal does, unless ``NO_COLOR`` is set."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def terminal_width() -> int:
    """Return the number of characters of a line: those of the terminal, between 40 and 120."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST), _WIDEST)


def coloured(text: str, kind: str, *, colours: bool) -> str:
    """Return a text as its kind is shown; the text itself must have been made printable."""
    codes = ";".join(str(_CODES[name]) for name in MARKUP.get(kind, {}))
    return f"\x1b[{codes}m{text}\x1b[0m" if colours and codes and text else text


def screen_lines(kind: str, text: str, width: int, *, colours: bool) -> list[str]:
    """Return a line as it is shown: what others wrote cannot steer the terminal, and long lines are wrapped.

    Args:
        kind: The kind of the line, which decides its colour. A command is not wrapped, so that it can be copied.
        text: The line; each of its lines is wrapped by itself, and begins where its first text does.
        width: Characters of a line.
        colours: Whether the terminal shows colours.
    """
    found = []
    for line in visible(text).split("\n"):
        speaker = _SPEAKER.match(line)
        indent = speaker.end() if speaker else len(line) - len(line.lstrip())
        wrapped = [line] if kind == "command" else wrap(line, width, indent)
        found += [coloured(printable(part), kind, colours=colours) for part in wrapped]
    return found


def wrap(line: str, width: int, indent: int) -> list[str]:
    """Return a line in pieces of at most ``width`` characters, the later ones indented; a blank line stays one."""
    before = " " * min(indent, width // 2)
    pieces = textwrap.wrap(line, width, subsequent_indent=before, break_on_hyphens=False, replace_whitespace=False)
    return pieces or [""]


def print_paged(lines: Iterable[str]) -> None:
    """Print lines; at a terminal by a pager (``$PAGER``, else ``less``), unless they fit the screen.

    Args:
        lines: Lines that were made printable, with colours.
    """
    pager = _pager() if sys.stdout.isatty() else None
    if pager is None:
        for line in lines:
            sys.stdout.write(f"{line}\n")
        return
    # As git does: quit if it fits one screen, show colours, leave the text on the screen.
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    with subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment) as process:  # noqa: S603 - the user's pager
        assert process.stdin is not None
        try:
            for line in lines:
                process.stdin.write(f"{line}\n".encode("utf-8", "backslashreplace"))
            process.stdin.close()
        except BrokenPipeError:  # the reader has seen enough
            return
        finally:
            _wait(process)


def _pager() -> list[str] | None:
    """Return the command of the pager; None if there is none."""
    words = shlex.split(os.environ.get("PAGER") or "less")
    return words if words and shutil.which(words[0]) and words[0] != "cat" else None


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for the pager, for which Ctrl-C has a meaning of its own."""
    while process.returncode is None:
        with contextlib.suppress(KeyboardInterrupt):
            process.wait()
