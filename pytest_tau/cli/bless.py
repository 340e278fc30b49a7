"""``tau bless``: make a run the baseline that later ones are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..text import plural
from .options import add_options
from .settings import RECORDS_HELP, Printer

if TYPE_CHECKING:
    import argparse

_SHOWN = 5


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bless",
        help="make a run the baseline",
        description="Store the outcomes of a run, without its conversations, as the baseline for --tau-baseline and "
        "tau compare. No other command changes a baseline.",
        statuses={0: "the baseline was written", 2: "the command cannot be used"},
    )
    parser.add_argument("source", metavar="RUN", nargs="?", help=f"{RECORDS_HELP} (default: the latest run)")
    group = parser.add_argument_group("output")
    add_options(
        group, "out", help="the folder to write, for example one under version control (default: .tau/baseline)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: There is no such run, or it has no trials, or the folder is of another kind.
        OSError: A file cannot be opened or written.
    """
    from ..chat import without_secrets
    from ..runs.baseline import write_baseline
    from ..runs.layout import BASELINE
    from ..runs.reader import open_run

    source = open_run(args.source)
    records = source.records()
    if not records:
        raise ConfigurationError(f"{source.path} has no trials")
    planned = sum(sum(tasks.values()) for tasks in source.info.get("planned", {}).values())
    missing = planned - len(records)
    folder = Path(args.out) if args.out else BASELINE
    write_baseline(folder, records, {**without_secrets(source.info), "blessed": source.name})
    printer = Printer()
    for problem in source.problems[:_SHOWN]:
        printer.line(f"excluded: {problem}")
    if len(source.problems) > _SHOWN:
        printer.line(f"and {len(source.problems) - _SHOWN} more excluded")
    if missing > 0:
        printer.line(f"{missing:,} of {plural(planned, 'planned trial')} {'is' if missing == 1 else 'are'} missing")
    printer.line(f"{folder}: the baseline is {source.name}, {plural(len(records), 'trial')}")
    given = "baseline" if not args.out else str(folder)
    printer.line(f"compare with it: pytest --tau-baseline {given}, or tau compare {given} RUN")
    return 0
