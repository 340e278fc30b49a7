"""``tau view``: a run, or two side by side, as one HTML file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.output import RECORDS_HELP, Printer, open_page
from ..commands.project import Project, add_project_options, data_dir
from ..text import plural, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..runs.reader import Run


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "view",
        description="Write a report of a run, or of two runs side by side: one HTML file that needs no network.",
        statuses={0: "the report was written", 2: "the command cannot be used"},
        examples=[("tau view --open", "the latest run, in a browser"), ("tau view A B", "two runs side by side")],
    )
    parser.add_argument("first", nargs="?", metavar="RUN", help=f"{RECORDS_HELP} (default: the latest run)")
    parser.add_argument("other", nargs="?", metavar="RUN_B", help="a second run, shown next to the first")
    group = parser.add_argument_group("output")
    add_options(
        group,
        "out",
        help="the file to write (default: report.html in the run's folder; for a result file, NAME.html in the current "
        "folder)",
    )
    add_options(group, "open")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..garbage import rare_collections
    from ..reports.html import write_report
    from ..runs.reader import open_run
    from ..runs.store import is_url

    specs = [args.first, args.other] if args.other else [args.first]
    runs = [open_run(spec) for spec in specs]
    file = Path(args.out) if args.out else _default_file(runs, copied=any(map(is_url, specs)))
    with rare_collections():
        written = write_report(file, runs, Project(_data(args.data, runs), args.plugins, args.rootdir))
    printer = Printer()
    printer.excluded(written.problems)
    printer.line(f"{plural(written.simulations, 'simulation')} of {' and '.join(each.name for each in runs)}:")
    print(printable(str(file)))  # noqa: T201 - this is a command; the path in one piece, whatever its length
    if args.open:
        open_page(file)
    return 0


def _default_file(runs: Sequence[Run], *, copied: bool) -> Path:
    from ..runs.layout import RECORDS, REPORT

    other = f"-vs-{runs[1].name}" if len(runs) > 1 else ""
    first = runs[0]
    kept = (
        not copied and first.path.is_dir() and not (first.path / RECORDS).is_file()
    )  # a baseline's folder may be committed
    return first.path / REPORT.replace(".", f"{other}.") if kept else Path(f"{first.name}{other}.html")


def _data(given: str | None, runs: Sequence[Run]) -> Path | None:
    """Return the folder of official data that is named, else the one that a run has used, if it still exists."""
    if given is None and not os.environ.get("TAU_DATA"):
        for each in runs:
            settings = each.info.get("settings")
            used = settings.get("data") if isinstance(settings, dict) else None
            if isinstance(used, str) and (Path(used) / "domains").is_dir():
                return Path(used)
    return data_dir(given)
