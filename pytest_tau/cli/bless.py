"""``tau bless``: make a run the baseline that later ones are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands.options import add_options
from ..commands.output import RECORDS_HELP, Printer, pass_rates
from ..errors import ConfigurationError, TauError
from ..text import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..runs.reader import Run
    from ..runs.record import TrialRecord


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bless",
        description="Store the outcomes of a run, without its conversations, as the baseline for --tau-baseline and "
        "tau compare. No other command changes a baseline.",
        statuses={0: "the baseline was written", 2: "it was not, or the command cannot be used"},
    )
    parser.add_argument("source", metavar="RUN", nargs="?", help=f"{RECORDS_HELP} (default: the latest run)")
    group = parser.add_argument_group("output")
    add_options(
        group, "out", help="the folder to write, for example one under version control (default: .tau/baseline)"
    )
    add_options(group, "force", help="replace the baseline although the tasks of both pass less often in this run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..analysis.metrics import given_reference
    from ..chat.requests import without_secrets
    from ..runs.baseline import note_baseline, write_baseline
    from ..runs.groups import count_tasks
    from ..runs.layout import BASELINE
    from ..runs.manifest import agent_name
    from ..runs.reader import open_run

    source = open_run(args.source)
    records = source.records()
    if not records:
        raise ConfigurationError(f"{source.path} has no trials")
    planned = sum(sum(tasks.values()) for tasks in source.info.get("planned", {}).values())
    missing = planned - len(records)
    folder = Path(args.out) if args.out else BASELINE
    if not args.force:
        _check_rates(folder, source, records)
    write_baseline(folder, records, {**without_secrets(source.info), "blessed": source.name})
    note_baseline(source.path, folder)
    printer = Printer()
    printer.excluded(source.problems)
    if missing > 0:
        printer.line(f"{missing:,} of {plural(planned, 'planned trial')} {'is' if missing == 1 else 'are'} missing")
    agent, tasks = agent_name(source.info, records), count_tasks(record.group for record in records)
    size = f"{plural(len(records), 'trial')} of {plural(tasks, 'task')}"
    facts = [*([f"agent {agent}"] if agent else []), size, *pass_rates(records)]
    printer.together(f"{folder}: the baseline is {source.name},", ", ".join(facts))
    if sides := given_reference(records):
        printer.line(f"given the reference actions: {sides}")
    baseline = "baseline" if not args.out else str(folder)
    printer.line(f"compare with it: pytest --tau-baseline {baseline}, or tau compare {baseline} RUN")
    return 0


def _check_rates(folder: Path, source: Run, records: Sequence[TrialRecord]) -> None:
    """Check that no variant passes less often than in the baseline, on the tasks of both.

    Raises:
        ConfigurationError: One does, or the baseline cannot be read.
    """
    from ..analysis.compare import Comparison
    from ..analysis.run_records import RunRecords
    from ..runs.layout import RECORDS
    from ..runs.reader import open_run

    if not (folder / RECORDS).is_file():
        return
    try:
        old = RunRecords.of(open_run(folder))
    except TauError as error:
        raise ConfigurationError(f"{error}; --force replaces the baseline") from error
    for name, paired in Comparison(old, RunRecords.of(source, records)).variants.items():
        if paired.difference < 0:
            variant = f" ({name})" if name else ""
            raise ConfigurationError(
                f"{source.name} is worse than {old.name}: pass^1 {paired.before:.3f} -> {paired.after:.3f}{variant} on "
                f"{plural(len(paired.pairs), 'task')} of both; --force makes it the baseline nevertheless"
            )
