"""``tau review``: the errors of agent and user in the conversations of a finished run."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...commands import (
    RUN_HELP,
    Option,
    Printer,
    Project,
    add_option,
    add_options,
    add_project_options,
    data_dir,
    judge_llm,
    print_json,
)
from ...errors import ConfigurationError
from ...text import plural

if TYPE_CHECKING:
    import argparse

    from ...runs import Run
    from .carry_out import Reviewed, ReviewSettings

_SHOWN = 5
_ONLY = Option(
    ("--only",),
    "which trials are reviewed: failed (default), or all; never those that ended in an error",
    "WHAT",
    {"choices": ("failed", "all"), "default": "failed"},
)
_MODE = Option(
    ("--mode",),
    "full (default), or user: the user alone, by a reviewer that sees neither policy nor reference nor the agent's "
    "calls",
    "MODE",
    {"choices": ("full", "user"), "default": "full"},
)
_LIMIT = Option(("--limit",), "review at most N conversations", "N", {"type": int})
_DEADLINE = Option(
    ("--deadline",),
    "the seconds that a review may take (default: %(default)g)",
    "SECONDS",
    {"type": float, "default": 600.0},
)
_CONCURRENCY = Option(
    ("--concurrency",), "how many run at the same time (default: %(default)s)", "N", {"type": int, "default": 10}
)
_BUDGET = Option(
    ("--budget",),
    "begin no further review, and make no more model calls, once they have cost this much",
    "USD",
    {"type": float},
)


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "review",
        description="Have a model, or a function of your own, find the errors of agent and user in the conversations "
        "of a finished run. Each review is stored next to the run's simulations as soon as it is made; conversations "
        "that have one by the same reviewer are skipped.",
        statuses={
            0: "each chosen conversation has a review",
            1: "some have none: the reviewer failed or its answer was unusable, or the budget is spent",
            2: "the command cannot be used",
        },
        examples=[
            ("tau review --judge-llm openai/gpt-4.1", "the failed trials of the latest run"),
            ("tau review RUN --judge my_judge.py:review --only all", "every trial, by a function of your own"),
        ],
    )
    parser.add_argument("run_name", nargs="?", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    reviewer = parser.add_argument_group("reviewer")
    add_options(reviewer, "judge-llm", help="the model, by its litellm name: openai/gpt-4.1")
    add_options(reviewer, "judge-llm-args")
    add_options(
        reviewer,
        "judge",
        help="the reviewer: llm, or your function or object as module:attribute or file.py:attribute",
    )
    for option in (_MODE, _DEADLINE, _CONCURRENCY, _BUDGET):
        add_option(reviewer, option)
    selection = parser.add_argument_group("selection")
    for option in (_ONLY, _LIMIT):
        add_option(selection, option)
    add_options(selection, "domain", help="only trials of this domain")
    add_project_options(parser)
    add_options(parser.add_argument_group("output"), "json")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs import open_run

    opened = open_run(args.run_name)
    settings = _settings(args)
    project = Project(_data(args.data, opened), args.plugins, args.rootdir)
    printer = None if args.json else Printer()
    reviewed = _carry_out(opened, settings, project, printer)
    if printer is None:
        print_json(_document(opened, reviewed))
    else:
        _print_summary(printer, opened, reviewed)
    complete = not reviewed.stopped and all(review["status"] == "done" for review in reviewed.reviews)
    return int(not complete or bool(opened.problems))


def _carry_out(opened: Run, settings: ReviewSettings, project: Project, printer: Printer | None) -> Reviewed:
    import asyncio

    from ...runs import FactWriter, store_of
    from .carry_out import review_run

    store = store_of(opened.path)
    if store is not None and opened.path.is_file():
        raise ConfigurationError(f"{opened.shown}: expected the URL of a run, in which reviews can be stored")
    try:
        writer = FactWriter(opened.path, store)  # before anything is paid for
    except OSError as error:
        raise ConfigurationError(
            f"reviews cannot be stored next to {opened.shown}: {error.strerror}; copy the run to a folder that can be "
            "written"
        ) from None

    def show(entry: dict[str, Any]) -> None:
        if printer is not None:
            printer.line(_line(entry))

    try:
        return asyncio.run(review_run(opened, settings, project, writer, show))
    finally:
        writer.close()


def _settings(args: argparse.Namespace) -> ReviewSettings:
    """Return the settings of the reviews."""
    from .carry_out import ReviewSettings
    from .reviewer import load_reviewer

    for name, least in (("limit", 1), ("concurrency", 1), ("deadline", 0.001), ("budget", 0)):
        value = getattr(args, name)
        if value is not None and not value >= least:
            raise ConfigurationError(f"--{name}: expected a number from {least:g}, got {value:g}")
    if args.judge not in (None, "llm") and args.judge_llm is not None:
        raise ConfigurationError(f"--judge-llm is the model of --judge llm; remove it, or --judge {args.judge}")
    reviewer = load_reviewer(args.judge, Path.cwd(), args.judge_llm, "--judge-llm MODEL or --judge")
    return ReviewSettings(
        reviewer=reviewer,
        llm=judge_llm(args, priced=args.budget is not None) if args.judge_llm is not None else None,
        mode=args.mode,
        only=args.only,
        limit=args.limit,
        budget=args.budget,
        concurrency=args.concurrency,
        seconds=args.deadline,
        domain=args.domain,
    )


def _data(name: str | None, opened: Run) -> Path | None:
    """Return the folder of data: the one that is named, else that of the run if it is still there."""
    folder = (opened.info.get("settings") or {}).get("data") if name is None else name
    try:
        return data_dir(folder)
    except ConfigurationError:
        if name is not None:
            raise
        return None


def _line(entry: dict[str, Any]) -> str:
    from ...runs import Group

    name = f"{entry['domain']}: " if entry["domain"] else ""
    name += Group.of(entry["test"], entry["domain"], entry["task_id"]).trial(entry["trial"])
    if entry["status"] != "done":
        return f"{name}: {entry['status']}: {entry['error']}"
    texts = [
        f"{error['source']} {error['severity']}"
        + (f" at message {error['turn_idx']}" if error["turn_idx"] is not None else "")
        + (f": {error['error_type']}" if error["error_type"] else "")
        for error in sorted(entry["errors"], key=lambda error: not str(error["severity"]).startswith("critical"))
    ]
    fault = f"fault of the {entry['fault_owner']}; " if entry["fault_owner"] else ""
    return f"{name}: {fault}{'; '.join(texts) or 'no errors'}"


def _document(opened: Run, reviewed: Reviewed) -> dict[str, Any]:
    return {
        "run": opened.shown,
        "file": reviewed.file,
        "reviewer": reviewed.reviewer,
        "mode": reviewed.mode,
        **{status: sum(review["status"] == status for review in reviewed.reviews) for status in _STATUSES},
        "skipped": dict(reviewed.skipped),
        "stopped": reviewed.stopped,
        "cost": reviewed.cost,
        "problems": [*opened.problems, *reviewed.problems],
        "reviews": reviewed.reviews,
    }


_STATUSES = ("done", "unusable", "failed")


def _print_summary(printer: Printer, opened: Run, reviewed: Reviewed) -> None:
    from ...capability import measured_by
    from . import capability
    from .report import summary

    for line in summary(measured_by(capability, opened.records())):
        printer.line(line)
    statuses = Counter(review["status"] for review in reviewed.reviews)
    parts = [plural(statuses["done"], "new review")] + [
        f"{statuses[name]} {name}" for name in _STATUSES[1:] if statuses[name]
    ]
    parts += [f"{number} {why}" for why, number in reviewed.skipped.items() if number]
    parts += [f"${reviewed.cost:.4f}"] if reviewed.cost else []
    if reviewed.reviews or Path(reviewed.file).is_file():
        parts.append(f"stored in {reviewed.file}")
    printer.line(", ".join(parts))
    if reviewed.stopped:
        printer.line(f"stopped: {reviewed.stopped}")
    for problem in [*opened.problems, *reviewed.problems][:_SHOWN]:
        printer.line(f"warning: {problem}")
