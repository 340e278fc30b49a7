"""``tau compare``: a run compared with an earlier one, task by task."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ..text import plural
from .options import add_options
from .settings import RUN_HELP, Printer

if TYPE_CHECKING:
    import argparse

    from ..runs.reader import Run


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compare",
        help="compare a run with an earlier one, task by task",
        description="Compare a run with an earlier one on the tasks of both: the difference of the pass rates with its "
        "interval and p-value, the tasks that changed, and the minimum detectable loss.",
        statuses={0: "the runs were compared", 1: "--fail-on applies", 2: "the command cannot be used"},
        examples=[("tau compare baseline", "the latest run with the baseline")],
    )
    parser.add_argument("before", metavar="A", help=RUN_HELP.replace("the run", "the earlier run"))
    parser.add_argument("after", metavar="B", nargs="?", help="the later run (default: the latest)")
    add_options(parser.add_argument_group("outcome"), "fail-on")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: There is no such run.
        OSError: A file cannot be opened.
    """
    from ..analysis.compare import Comparison, RunRecords
    from ..runs.reader import open_run

    runs = [open_run(spec) for spec in (args.before, args.after)]
    before, after = map(RunRecords.of, runs)
    if before.name == after.name:
        before, after = (each._replace(name=str(one.path)) for each, one in zip((before, after), runs, strict=True))
    comparison = Comparison(before, after)
    printer = Printer()
    for line in comparison.lines():
        printer.line(line, indent=len(line) - len(line.lstrip()))
    for line in [*comparison.warnings(), *_problems(runs)]:
        printer.line(f"warning: {line}")
    return int(args.fail_on == "regression" and (comparison.regression or not comparison.variants))


def _problems(runs: list[Run]) -> list[str]:
    """Return what could not be read, a line for each run."""
    return [
        f"{each.name}: {plural(len(each.problems), 'simulation')} cannot be read; the first: "
        + textwrap.shorten(each.problems[0], 120, placeholder=" …")
        for each in runs
        if each.problems
    ]
