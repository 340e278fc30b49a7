"""``tau submit check``: what a submission states, compared with its trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...text import plural
from ..options import add_options
from ..project import Project, add_project_options
from ..settings import Printer, data_dir, print_json

if TYPE_CHECKING:
    import argparse

    from ...submission.check import Report


def add_parser(actions: Any) -> None:
    """Declare the action."""
    parser: argparse.ArgumentParser = actions.add_parser(
        "check",
        help="check the folder of a submission",
        description="Check submission.json and the trajectories, and whether tasks, trials, models, rates, costs and "
        "rewards agree. Every conversation is replayed, without the calls that only read, and graded.",
        statuses={0: "every check has passed", 1: "a check has failed", 2: "the command cannot be used"},
        examples=[("tau submit check FOLDER --data tau2-bench", "compare tasks with the official data")],
    )
    parser.add_argument("folder", metavar="DIR", help="the folder of the submission")
    add_options(parser.add_argument_group("output"), "json")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the action; returns the exit status.

    Raises:
        ConfigurationError: An option cannot be used, or there is no such folder.
        OSError: A file cannot be opened.
    """
    import asyncio

    from ...submission.check import check_submission

    project = Project(data_dir(args.data), args.plugins, args.rootdir)
    report = asyncio.run(check_submission(Path(args.folder), project))
    if args.json:
        print_json(
            {
                "passed": not report.findings,
                "findings": [finding._asdict() for finding in report.findings],
                "notes": report.notes,
                "trajectories": report.trajectories,
            }
        )
    else:
        _show(args.folder, report)
    return int(bool(report.findings))


def _show(folder: str, report: Report) -> None:
    printer = Printer()
    for finding in report.findings:
        printer.line(f"{finding.check}: {finding.where}: {finding.text}")
    for note in report.notes:
        printer.line(f"note: {note}")
    files = f"{plural(len(report.trajectories), 'file')}, {plural(sum(report.trajectories.values()), 'trial')}"
    result = plural(len(report.findings), "problem") if report.findings else "every check has passed"
    printer.line(f"{folder}: {files}: {result}")
