"""``tau compare``: runs compared with an earlier one, task by task."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.output import RECORDS_HELP, Printer, open_page, print_json
from ..errors import ConfigurationError
from ..plain import json
from ..text import plural, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..analysis.run_records import RunRecords
    from ..runs.reader import Run

#: Characters of a line of a table in a file.
_WIDEST = 1000


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "compare",
        description="Compare a run with an earlier one on the tasks of both: the difference of the pass rates with its "
        "interval and p-value, the tasks that changed, and the minimum detectable loss. With more than two runs: a "
        "table over the tasks of all, each run compared with the first, with p-values corrected by Holm's method.",
        statuses={0: "the runs were compared", 1: "--fail-on applies", 2: "the command cannot be used"},
        examples=[
            ("tau compare baseline", "the latest run with the baseline"),
            ("tau compare A B C --format markdown", "a table of three runs"),
            ("tau compare A B C --format latex -o table.tex --figure rates.pdf", "for a paper"),
        ],
    )
    parser.add_argument("before", metavar="A", help=RECORDS_HELP.replace("the run", "the earlier run"))
    parser.add_argument("after", metavar="B", nargs="*", default=[], help="later runs (default: the latest)")
    outcome = parser.add_argument_group("outcome")
    add_options(outcome, "fail-on", "all-pairs")
    add_options(parser.add_argument_group("output"), "compare-format", "figure", "out", "open")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..garbage import without_collections
    from ..runs.reader import open_run

    if args.open and (args.out is None or args.format != "html"):
        raise ConfigurationError("--open shows the page: expected --format html -o FILE with it")

    if args.figure is not None:
        from ..reports.many_figure import check_figure

        check_figure(Path(args.figure))
    runs = [open_run(spec) for spec in (args.before, *(args.after or [None]))]
    with without_collections():
        paths = [run.path.resolve() for run in runs]
        if len(runs) > 2 and (twice := [run for run in runs if paths.count(run.path.resolve()) > 1]):
            raise ConfigurationError(f"{twice[0].path} is named twice: expected different runs")
        named = _named(runs)
        if args.figure is not None:
            _draw(named, Path(args.figure))
        if len(runs) == 2 and args.format == "text" and args.out is None and not args.all_pairs:
            return _run_two(runs, named, regression=args.fail_on == "regression")
        return _run_many(runs, named, args)


def _draw(runs: list[RunRecords], path: Path) -> None:
    from ..analysis.many import ManyRuns
    from ..reports.many_figure import draw_figure

    draw_figure(ManyRuns(runs), path)


def _run_two(runs: list[Run], named: list[RunRecords], *, regression: bool) -> int:
    from ..analysis.compare import Comparison

    before, after = named
    comparison = Comparison(before, after)
    printer = Printer()
    for line in comparison.lines():
        printer.line(line, indent=len(line) - len(line.lstrip()))
    for line in [*comparison.warnings(), *_problems(runs)]:
        printer.line(f"warning: {line}")
    return int(regression and (comparison.regression or not comparison.variants or bool(comparison.undecided)))


def _run_many(runs: list[Run], named: list[RunRecords], args: argparse.Namespace) -> int:
    from ..analysis.many import ManyRuns
    from ..files import atomic_write
    from ..reports.many_latex import many_latex
    from ..reports.many_runs import many_html, many_markdown, many_text

    many = ManyRuns(named, all_pairs=args.all_pairs)
    notes = [f"warning: {line}" for line in [*many.warnings(), *_problems(runs)]]
    pages: dict[str, Callable[[], str]] = {
        "markdown": lambda: many_markdown(many),
        "latex": lambda: many_latex(many),
        "html": lambda: many_html(many, "Comparison of runs"),
        "json": lambda: json.dumps({**many.as_dict(), "problems": _problems(runs)}, indent=1) + "\n",
        "text": lambda: "\n".join([*many_text(many, _WIDEST), *notes, many.method]) + "\n",
    }
    if args.out is not None:
        atomic_write(Path(args.out), pages[args.format]())
        if args.open:
            open_page(Path(args.out))
    elif args.format == "json":
        print_json({**many.as_dict(), "problems": _problems(runs)})
    elif args.format == "text":
        printer = Printer()
        for line in many_text(many, printer.width):
            print(printable(line))  # noqa: T201 - this is a command
        for line in [*notes, many.method]:
            printer.line(line)
    else:
        print(printable(pages[args.format]()), end="")  # noqa: T201 - this is a command
    return int(args.fail_on == "regression" and many.fails)


def _named(runs: list[Run]) -> list[RunRecords]:
    """Return the records of the runs; different runs of one name are called by their paths."""
    from ..analysis.run_records import RunRecords
    from ..runs.side_by_side import read_records

    records_by_run = [RunRecords.of(run, records) for run, records in zip(runs, read_records(runs), strict=True)]
    paths: dict[str, set[Path]] = {}
    for records, run in zip(records_by_run, runs, strict=True):
        paths.setdefault(records.name, set()).add(run.path.resolve())
    return [
        records._replace(name=run.shown) if len(paths[records.name]) > 1 else records
        for records, run in zip(records_by_run, runs, strict=True)
    ]


def _problems(runs: list[Run]) -> list[str]:
    """Return what could not be read, a line for each run."""
    return [
        f"{run.name}: {plural(len(run.problems), 'simulation')} cannot be read; the first: "
        + textwrap.shorten(run.problems[0], 120, placeholder=" …")
        for run in runs
        if run.problems
    ]
