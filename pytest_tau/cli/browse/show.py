"""``tau show``: the conversations of a run in the terminal."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ...commands.options import add_options
from ...commands.output import RUN_HELP
from ...commands.project import add_project_options, project_of
from ...errors import ConfigurationError, unknown_name
from ...text import by_numbers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from ...runs.reader import Run, StoredTrial
    from ...runs.record import TrialRecord


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "show",
        description="Show the conversations of a run, each with its verdict and the report of its failure. At a "
        "terminal they are paged ($PAGER, or less) and coloured by who speaks; $NO_COLOR turns colours off.",
        statuses={0: "the conversations were shown", 2: "the command cannot be used"},
        examples=[
            ("tau show", "the latest run"),
            ("tau show baseline 'refund*' --failed", "the failed trials of some tasks of the baseline"),
        ],
    )
    parser.add_argument("run_name", nargs="?", metavar="RUN", help=f"{RUN_HELP} (default: the latest run)")
    parser.add_argument("task", nargs="?", metavar="TASK", help="a task's id, or a glob (default: all tasks)")
    group = parser.add_argument_group("selection")
    add_options(group, "failed", "all-failed")
    add_options(parser.add_argument_group("output"), "full")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs.reader import open_run
    from ...terminal import print_paged

    opened = open_run(args.run_name)
    records = opened.records() if args.task is not None or args.all_failed else []
    if args.task is not None:
        _check_task(records, args.task, opened)
    chosen = _failed(records) if args.all_failed else None
    print_paged(_lines(opened, args, chosen))
    return 0


def _check_task(records: list[TrialRecord], task: str, run: Run) -> None:
    """Check that a task is in the run.

    Raises:
        ConfigurationError: It is not.
    """
    ids = sorted({record.task_id for record in records}, key=by_numbers)
    if not any(_matches(task, known) for known in ids):
        raise ConfigurationError(f"{run.name}: {unknown_name('task', task, ids)}")


def _matches(pattern: str, task: str) -> bool:
    return pattern == task or fnmatchcase(task, pattern)  # ids may have brackets, as those of τ²-bench's telecom do


def _failed(records: list[TrialRecord]) -> set[tuple[str, str]]:
    """Return the tasks, by domain and id, that failed in each of their trials."""
    passed = {(record.domain, record.task_id) for record in records if record.outcome == "passed"}
    return {(record.domain, record.task_id) for record in records} - passed


def _lines(run: Run, args: argparse.Namespace, chosen: set[tuple[str, str]] | None) -> Iterator[str]:
    from ...reports.blamed import Blamer
    from ...reports.conversations import conversation_lines
    from ...terminal import has_colours, screen_lines, terminal_width

    width, colours, shown = terminal_width(), has_colours(), 0
    blamer: Blamer | None = None
    for trial in run.trials():
        if not _is_wanted(trial, args, chosen):
            continue
        if shown:
            yield ""
        if trial.simulation.outcome != "passed" and trial.simulation.info.blame is None:
            blamer = blamer or Blamer(run, project_of(args))
            blamer.annotate(trial)
        for kind, text in conversation_lines(trial, full=args.full):
            yield from screen_lines(kind, text, width, colours=colours)
        shown += 1
    if not shown:
        yield from screen_lines("note", f"{run.name}: {_nothing(args)}", width, colours=colours)
    for problem in run.problems:
        yield from screen_lines("note", f"not shown: {problem}", width, colours=colours)


def _is_wanted(trial: StoredTrial, args: argparse.Namespace, chosen: set[tuple[str, str]] | None) -> bool:
    simulation = trial.simulation
    if args.task is not None and not _matches(args.task, simulation.task_id):
        return False
    if chosen is not None and (trial.domain, simulation.task_id) not in chosen:
        return False
    return not args.failed or simulation.outcome != "passed"


def _nothing(args: argparse.Namespace) -> str:
    if args.all_failed:
        return "no task has failed in all its trials"
    return "no trial has failed" if args.failed else "it has no conversations"
