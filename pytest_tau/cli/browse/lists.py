"""Lists in the terminal: a name with a line of text, and a word to search for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...terminal import has_colours, print_paged, screen_lines, terminal_width
from ...text import one_line, plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

#: Characters of the column of names at most.
_WIDEST_NAME = 40
#: The help of the argument by which a list is searched.
WORD_HELP = "show only what contains this text, in upper or lower case"


class Row(NamedTuple):
    """A row of a list.

    Attributes:
        name: The first column.
        text: The line of text.
        searched: Further texts in which a word is searched.
    """

    name: str
    text: str
    searched: str = ""


def add_word(parser: argparse.ArgumentParser) -> None:
    """Declare the argument by which a list is searched."""
    parser.add_argument("word", nargs="?", metavar="WORD", help=WORD_HELP)


def matching(rows: Iterable[Row], word: str | None) -> list[Row]:
    """Return the rows that contain a text, in upper or lower case."""
    wanted = (word or "").casefold()
    return [row for row in rows if wanted in "\n".join(row).casefold()]


def show_matching(rows: list[Row], word: str | None, noun: str, more: str) -> None:
    """Print the rows that contain a text, and below them their number, that of all rows, and more."""
    found, number = matching(rows, word), plural(len(rows), noun)
    show_rows(found, (number if word is None else f"{len(found):,} of {number}") + more)


def show_rows(rows: list[Row], summary: str, *, below: bool = False) -> None:
    """Print a list, paged at a terminal, with a line below it.

    Args:
        rows: The rows.
        summary: The last line.
        below: Whether the texts have lines of their own; they have if the names are long.
    """
    print_paged(_lines(rows, summary, below=below))


def _lines(rows: list[Row], summary: str, *, below: bool) -> Iterator[str]:
    width, colours = terminal_width(), has_colours()
    column = max((len(row.name) for row in rows), default=0)
    below = below or column > _WIDEST_NAME or column + 20 > width  # the texts, so that they have a line of their own
    for row in rows:
        if below:
            yield from screen_lines("head", row.name, width, colours=colours)
            yield from screen_lines("user", f"  {one_line(row.text, width - 2)}", width, colours=colours)
        else:
            text = one_line(row.text, width - column - 2)
            yield from screen_lines("user", f"{row.name:<{column}}  {text}".rstrip(), width, colours=colours)
    yield from screen_lines("note", summary, width, colours=colours)
