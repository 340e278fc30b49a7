"""Printing of tables of several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..text import printable
from .settings import Printer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analysis.many.comparison import ManyRuns


def print_many(many: ManyRuns, problems: Sequence[str] = ()) -> None:
    """Print the tables, the warnings, and how values were computed; tables are not wrapped."""
    from ..reports.many_runs import many_text

    for line in many_text(many):
        print(printable(line))  # noqa: T201 - this is a command
    printer = Printer()
    for line in [*many.warnings(), *problems]:
        printer.line(f"warning: {line}")
    printer.line(many.method)
