"""Menus in the terminal: numbered rows, a page at a time, with a search word."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..participants.human import LeftError, Screen
from ..terminal import terminal_width
from ..text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Rows of a page, and characters of the text of a row at least.
_PAGE, _NARROWEST = 15, 20


def choose(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Return the name of the row that a person chooses.

    Args:
        title: What is chosen.
        rows: Names, and a line of text for each.

    Raises:
        LeftError: The person has left.
    """
    screen, found, start = Screen(), list(rows), 0
    while True:
        _show(screen, title, found, start)
        answer = _answer(screen, title, more=start + _PAGE < len(found))
        exact = [name for name, _ in rows if name == answer]
        if exact:
            return exact[0]
        if answer.isdecimal() and 1 <= int(answer) <= len(found):
            return found[int(answer) - 1][0]
        if not answer:
            start = start + _PAGE if start + _PAGE < len(found) else 0
            continue
        matching = [row for row in rows if answer.casefold() in " ".join(row).casefold()]
        if not matching or answer.isdecimal():
            screen.line(f"no {title} has the text {answer!r}", "bad")
        else:
            found, start = matching, 0


def _show(screen: Screen, title: str, rows: Sequence[tuple[str, str]], start: int) -> None:
    screen.line(f"{title}s", "head")
    page = rows[start : start + _PAGE]
    column = max(len(name) for name, _ in page)
    for number, (name, text) in enumerate(page, start + 1):
        shown = one_line(text, max(terminal_width() - column - 8, _NARROWEST))
        screen.line(f"{number:>4}  {name:<{column}}  {shown}".rstrip())


def _answer(screen: Screen, title: str, *, more: bool) -> str:
    """Return what the person writes.

    Raises:
        LeftError: The input has ended.
    """
    further = ", nothing for the next page" if more else ""
    screen.line(f"a number, a {title}'s name, or a text to search for{further}", "note")
    try:
        answer = input(f"{title}> ").strip()
    except EOFError:
        screen.line()
        raise LeftError from None
    if not sys.stdin.isatty():
        screen.line(answer)
    return answer
