"""``tau merge``: the simulations of several runs in one file, and their summary."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError
from ..runs.layout import MANIFEST, SIMULATIONS
from ..text import plural
from .options import add_options
from .settings import Printer

if TYPE_CHECKING:
    import argparse

    from ..runs.join import JoinedRuns


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "merge",
        help="join the simulations of several runs",
        description="Join the simulations that several runs have stored, such as the shards of a CI matrix, and show "
        f"their results together. The result is {SIMULATIONS} in the folder of --out, with every trial once.",
        statuses={
            0: "the runs were joined, whatever the outcomes of the trials",
            1: "trials are missing, or the runs do not belong together and were not joined",
            2: "the command cannot be used",
        },
        examples=[("tau merge shards/* -o merged", "the shards of a run")],
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a run's folder, its name below .tau/runs, a folder of such folders, or a file of simulations",
    )
    group = parser.add_argument_group("output")
    add_options(group, "out", help="the folder of the result", required=True)
    add_options(parser.add_argument_group("runs"), "last", "allow-mixed", "allow-missing")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: Files that cannot be read or joined, or a result that already exists.
        OSError: A file cannot be opened or written.
    """
    from ..runs.join import JoinedRuns, joined_parts, run_files
    from ..runs.manifest import write_manifest
    from ..runs.reviews import join_reviews

    result = Path(args.out) / SIMULATIONS
    if result.exists():
        raise ConfigurationError(f"{result} already exists; give another folder, or delete the file")
    joined = JoinedRuns.of(run_files(map(_found, args.runs)), which="last" if args.last else None)
    if not joined.trials:
        raise ConfigurationError(f"no complete simulation in {', '.join(map(str, joined.files))}")
    parts = joined_parts(joined, dict.fromkeys(file.parent for file in joined.files))
    printer = Printer()
    if (different := parts.different()) and not args.allow_mixed:
        for line in different:
            printer.line(f"different: {line}")
        printer.line("nothing is joined: the runs are not parts of one run; --allow-mixed joins them nevertheless")
        return 1
    joined.write(result)
    join_reviews(dict.fromkeys(file.parent for file in joined.files), result.parent)
    manifest = parts.manifest()
    if manifest is not None:
        write_manifest(result.parent, manifest)
    _show(joined, result, printer, parts.stopped_usage())
    for line in different:
        printer.line(f"different: {line}")
    if manifest is None and different:
        printer.line(f"no {MANIFEST} is written, because not every run has one")
    missing = parts.missing()
    for line in missing:
        printer.line(f"missing: {line}")
    return int(bool(missing) and not args.allow_missing)


def _found(name: str) -> Path:
    """Return what is joined: a path that exists, else the folder of the run of this name.

    Raises:
        ConfigurationError: There is neither.
    """
    from ..runs.reader import find_run

    return path if (path := Path(name)).exists() else find_run(name, Path())


def _show(joined: JoinedRuns, result: Path, printer: Printer, stopped: dict[str, Any]) -> None:
    from ..analysis.outcomes import outcome_summary
    from ..analysis.usage import UsageTotals
    from ..models import ModelUsage
    from ..runs.groups import Group, split_variants

    outcomes: dict[str, dict[Group, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    totals = UsageTotals()
    for key, trial in joined.trials.items():
        outcomes[key.domain][Group.of(key.test, key.domain, key.task_id)][trial.counted_as] += 1
        totals.add(trial.usage)
    totals.add_stopped({role: ModelUsage.model_validate(used) for role, used in stopped.items()})
    for line in joined.cut_off:
        printer.line(f"{line}: cut off and excluded")
    if joined.repeated:
        printer.line(f"duplicates: {plural(joined.repeated, 'line')} excluded")
    if joined.replaced:
        printer.line(f"replaced by later ones: {plural(joined.replaced, 'simulation')}")
    for domain, groups in sorted(outcomes.items()):
        printer.line(f"{domain}: {outcome_summary(groups)}")
        for name, part in split_variants(groups).items():
            if name:
                printer.line(f"  {name}: {outcome_summary({group: groups[group] for group in part})}", indent=2)
    for text in totals.lines():
        printer.line(text)
    printer.line(f"{result}: {plural(len(joined.trials), 'simulation')} of {plural(len(joined.files), 'file')}")
