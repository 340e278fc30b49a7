"""``tau submit``: prepare and check a submission to τ²-bench's leaderboard."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.output import RUN_HELP, Printer, print_json
from ..commands.project import add_project_options, project_of
from ..documents import DocumentError, parse_json, read_toml
from ..errors import ConfigurationError
from ..text import plural
from .parser import Parser

if TYPE_CHECKING:
    import argparse

    from ..submission.check import Report
    from ..submission.prepare import Draft

_STATUSES = {0: "the submission was written, or is right", 1: "a check has failed", 2: "the command cannot be used"}


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "submit",
        description="Make the folder of a submission to τ²-bench's leaderboard from runs, and check such a folder. "
        "Nothing is sent.",
        statuses=_STATUSES,
        examples=[
            ("tau submit prepare RUN -o submissions", "ask for what no run has recorded, and write the folder"),
            ("tau submit check submissions/FOLDER", "compare what it states with its trajectories"),
        ],
    )
    actions = parser.add_subparsers(
        dest="action", metavar="ACTION", help="prepare or check", parser_class=Parser, required=True
    )
    _add_prepare(actions)
    _add_check(actions)


def _add_prepare(actions: Any) -> None:
    """Declare the action."""
    parser: argparse.ArgumentParser = actions.add_parser(
        "prepare",
        help="make the folder of a submission from runs",
        description="Write submission.json and a file of trajectories for each domain to DIR/MODEL_ORGANIZATION_DATE. "
        "What no run has recorded is given by --set or --from; on a terminal, it is asked for.",
        statuses={0: "the folder was written", 2: "the command cannot be used; nothing was written"},
        examples=[("tau submit prepare RUN -o out --set model_organization=ExampleCorp", "give a field")],
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help=f"{RUN_HELP}; each domain in one of them")
    group = parser.add_argument_group("output")
    add_options(group, "out", help="the folder in which the folder of the submission is made", required=True)
    add_options(group, "trim")
    add_options(parser.add_argument_group("fields"), "set", "from", "yes", "force")
    add_project_options(parser)
    parser.set_defaults(run=_prepare)


def _prepare(args: argparse.Namespace) -> int:
    """Carry out the action; returns the exit status."""
    from ..regrade.recognition import recognise_domain
    from ..reports.export_tau2 import other_verdicts
    from ..runs.reader import open_run
    from ..submission.prepare import check_answers, draft, write_submission

    project = project_of(args)
    runs = [open_run(name) for name in args.runs]
    for opened in runs:
        opened.recognise = partial(recognise_domain, domains=project)
    drafted = draft(runs, _given(args))
    printer = Printer()
    printer.line(f"proposed type: {drafted.proposal.kind} ({'; '.join(drafted.proposal.reasons)})")
    for text in drafted.proposal.omitted:
        printer.line(f"incomplete: {text}")
    if not args.yes and sys.stdin.isatty():
        _ask(drafted)
    check_answers(drafted, force=args.force)
    folder = write_submission(drafted, Path(args.out), project, trim=args.trim)
    for opened in runs:
        printer.excluded(opened.problems)
    for domain, (_, content) in drafted.parts.items():
        if differs := other_verdicts(domain, content):
            printer.line(differs)
    trials = sum(content.simulations for _, content in drafted.parts.values())
    printer.line(
        f"{folder}: {drafted.answers['submission_type']}, {', '.join(drafted.parts)}, {plural(trials, 'trial')}"
    )
    printer.line(f"check it: tau submit check {folder}")
    return 0


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of --from and --set, the latter of which take precedence."""
    from ..submission.prepare import set_field

    fields: dict[str, Any] = {}
    if args.source is not None:
        try:
            fields = read_toml(Path(args.source))
        except DocumentError as error:
            raise ConfigurationError(f"--from {args.source}: {error}") from None
    for text in args.fields:
        name, equals, value = text.partition("=")
        if not equals or not name.strip(".") or ".." in name:
            raise ConfigurationError(f"--set: expected KEY=VALUE, such as model_organization=ExampleCorp, got {text!r}")
        set_field(fields, name, _value(name, value))
    return fields


def _value(name: str, text: str) -> Any:
    """Return a value: JSON for lists, objects, booleans and null, else the text."""
    if not text.startswith(("[", "{")) and text not in ("true", "false", "null"):
        return text
    try:
        return parse_json(text)
    except DocumentError as error:
        raise ConfigurationError(f"--set {name}: {error}") from None


def _ask(found: Draft) -> None:
    """Ask for the fields that are missing; an empty answer leaves a field missing."""
    from ..submission.prepare import QUESTIONS, set_field

    for name in found.missing:
        try:
            answer = input(f"{name}: {QUESTIONS.get(name, 'The name of the model?')} ").strip()
        except EOFError:
            return
        if answer:
            set_field(found.answers, name, answer)


def _add_check(actions: Any) -> None:
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
    parser.set_defaults(run=_check)


def _check(args: argparse.Namespace) -> int:
    """Carry out the action; returns the exit status."""
    import asyncio

    from ..submission.check import check_submission

    project = project_of(args)
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
