"""Common parts of the subcommands: rates, lines of a terminal, JSON documents."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from ..plain import json
from ..text import printable, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..runs.record import TrialRecord

#: Problems of a run that are printed.
_SHOWN = 5
#: The beginning of a command for a CI service in a JSON string.
_COMMAND = re.compile(r"(##\w*)\[")

#: The help of an argument that names a run.
RUN_HELP = "the run: its folder, its name below .tau/runs, a result file, or a URL of one of these"
#: The same for a command that needs no conversations, of which a baseline has none.
RECORDS_HELP = "the run: its folder, its name below .tau/runs, a result file, a URL of one of these, or baseline"


def pass_rates(records: Sequence[TrialRecord]) -> list[str]:
    """Return pass^1 of each variant, as far as it has trials with a verdict."""
    from ..analysis.scores import Scores
    from ..analysis.variants import records_by_variant

    scores = [Scores.of(name, of_variant) for name, of_variant in records_by_variant(records).items()]
    return [
        f"pass^1 {score.rates[0].value:.3f}{f' ({score.name})' if score.name else ''}"
        for score in scores
        if score.rates
    ]


def open_page(file: Path) -> None:
    """Open a page in the user's browser."""
    import webbrowser

    webbrowser.open(file.resolve().as_uri())


class Printer:
    """Prints lines that fit the terminal."""

    def __init__(self) -> None:
        self.width = max(shutil.get_terminal_size((100, 24)).columns, 40)

    def line(self, text: str, indent: int = 0, hanging: int | None = None) -> None:
        """Print a line, wrapped if it is too long.

        Args:
            text: What to print.
            indent: Spaces before it.
            hanging: Spaces before what is wrapped; two more than ``indent`` by default.
        """
        after = " " * (indent + 2 if hanging is None else hanging)
        before = " " * indent
        wrapped = textwrap.wrap(
            visible(text.replace("\n", " ")),
            self.width,
            initial_indent=before,
            subsequent_indent=after,
            break_on_hyphens=False,
            drop_whitespace=True,
        )
        print(printable("\n".join(wrapped)))  # noqa: T201 - this is a command

    def excluded(self, problems: Sequence[str]) -> None:
        """Print the first few things that could not be read of a run."""
        for problem in problems[:_SHOWN]:
            self.line(f"excluded: {problem}")
        if len(problems) > _SHOWN:
            self.line(f"and {len(problems) - _SHOWN} more excluded")

    def together(self, head: str, rest: str) -> None:
        """Print a head with what belongs to it: on one line if it fits, else on the next."""
        if len(head) + 1 + len(rest) <= self.width:
            self.line(f"{head} {rest}")
        else:
            self.line(head)
            self.line(rest, 2)


def print_aside(text: str) -> None:
    """Print to standard error, since standard output may be a document."""
    print(printable(text), file=sys.stderr)  # noqa: T201 - this is a command


def print_json(value: Any) -> None:
    """Print a JSON document in which no text steers the terminal or is a command for a CI service."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    # Brackets and characters that are not seen stand in strings only, where escapes mean the same.
    print(_COMMAND.sub(r"\1\\u005b", "".join(map(_escaped, text))))  # noqa: T201 - this is a command


def _escaped(character: str) -> str:
    return character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
