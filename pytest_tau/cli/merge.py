"""``tau merge``: the simulations of several runs in one file, and their summary."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..commands.options import add_options
from ..commands.output import Printer
from ..errors import ConfigurationError
from ..runs.layout import MANIFEST, PLAN, SIMULATIONS
from ..text import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from ..runs.join import JoinedRuns
    from ..runs.parts import JoinedParts

#: Seconds between two looks at a store.
_POLL = 10.0


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "merge",
        description="Join the simulations that several runs have stored, such as the shards of a CI matrix, and show "
        f"their results together. The result is {SIMULATIONS} in the folder of --out, with every trial once.",
        statuses={
            0: "the runs were joined, whatever the outcomes of the trials",
            1: "trials are missing, a gate is not met, or the runs do not belong together and were not joined",
            2: "the command cannot be used",
        },
        examples=[
            ("tau merge shards/* -o merged", "the shards of a run"),
            ("tau merge s3://bucket/runs/night --wait 3600", "wait for what other machines run"),
        ],
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="a run's folder, its name below .tau/runs, a folder of such folders, a file of simulations, or a URL",
    )
    group = parser.add_argument_group("output")
    add_options(group, "out", help="the folder of the result (default: only show what is there and what is missing)")
    add_options(parser.add_argument_group("runs"), "last", "allow-mixed", "allow-missing", "wait", "gate")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ..runs.fetch import temporary_folder, write_joined

    result = Path(args.out) / SIMULATIONS if args.out else None
    if result is not None and result.exists():
        raise ConfigurationError(f"{result} already exists; give another folder, or delete the file")
    joined, parts = _joined(args)
    printer = Printer()
    if (different := parts.different()) and not args.allow_mixed:
        for line in different:
            printer.line(f"different: {line}")
        printer.line("nothing is joined: the runs are not parts of one run; --allow-mixed joins them nevertheless")
        return 1
    folder = result.parent if result is not None else temporary_folder()
    has_manifest = write_joined(joined, parts, folder)
    _show(joined, result, printer, parts.stopped_usage())
    for line in different:
        printer.line(f"different: {line}")
    if result is not None and not has_manifest and different:
        printer.line(f"no {MANIFEST} is written, because not every run has one")
    missing = parts.missing()
    for line in missing:
        printer.line(f"missing: {line}")
    met = _gates_are_met(args.gate, folder, printer, missing=missing)
    return int((bool(missing) and not args.allow_missing) or not met)


def _joined(args: argparse.Namespace) -> tuple[JoinedRuns, JoinedParts]:
    """Return the runs joined; with ``--wait``, once nothing is missing, or the time is over.

    Raises:
        ConfigurationError: A run cannot be read, or nothing is stored.
    """
    from ..runs.fetch import temporary_folder
    from ..runs.join import JoinedRuns, joined_parts, run_files
    from ..runs.layout import has_simulations
    from ..runs.store import public_url

    home, end = temporary_folder(), time.monotonic() + (args.wait or 0)
    while True:
        sources = [_source(run, home / str(number)) for number, run in enumerate(args.runs)]
        # Of the parts of one run, the first complete one of two equal trials counts.
        of_one = all(source.is_one_run for source in sources)
        which: Literal["last", "first"] | None = "last" if args.last else "first" if of_one else None
        copies = {folder: name for source in sources for folder, name in source.copies.items()}
        paths = [source.path for source in sources if source.path is not None]
        joined = JoinedRuns.of(run_files([*paths, *filter(has_simulations, copies)]), which=which)
        parts = joined_parts(joined, [*copies, *dict.fromkeys(file.parent for file in joined.files)], copies)
        late = time.monotonic() >= end
        if joined.trials and (late or not parts.missing()):
            return joined, parts
        if late:
            raise ConfigurationError(f"no complete simulation in {', '.join(map(public_url, args.runs))}")
        time.sleep(min(_POLL, max(0.0, end - time.monotonic())))


class _Source(NamedTuple):
    """What an argument of the command names.

    Attributes:
        path: A file, or a folder in which runs are searched; None for copies of what is in a store.
        copies: The folders of these copies, each with what a person calls it.
        is_one_run: Whether they are the parts of one run.
    """

    path: Path | None = None
    copies: Mapping[Path, str] = MappingProxyType({})
    is_one_run: bool = False


def _source(name: str, home: Path) -> _Source:
    """Return what an argument names: in a store, the parts of a run, or all runs at any depth, as in a folder.

    Raises:
        ConfigurationError: There is nothing, or the store cannot be read.
    """
    from ..runs.fetch import fetch_parts, fetch_runs
    from ..runs.layout import is_store_of_run
    from ..runs.store import is_url, open_store, public_url

    if not is_url(name) and not is_store_of_run(Path(name)):
        return _Source(_found(name))
    store = open_store(name)
    try:
        names = store.names()
        is_one_run = PLAN in names
        folders = fetch_parts(store, names, home) if is_one_run else fetch_runs(store, names, home)
    except OSError as error:
        raise ConfigurationError(str(error)) from None
    public_names = {
        folder: f"{public_url(name)}/{folder.relative_to(home).as_posix()}".removesuffix("/.") for folder in folders
    }
    return _Source(None, public_names, is_one_run) if is_one_run or folders else _Source(_found(name))


def _gates_are_met(gates: list[str], folder: Path, printer: Printer, *, missing: list[str]) -> bool:
    """Show the verdict of each gate on the joined runs; return whether all are met: none is if trials are missing.

    Raises:
        ConfigurationError: An expression is not a gate.
    """
    from ..analysis.gates import Gate
    from ..analysis.gates.metrics import by_task
    from ..runs.reader import Run

    stored = Run(folder)
    parsed = [Gate.parse(text, stored.fact_columns) for text in gates]
    tasks = by_task(stored.records()) if parsed else {}
    verdicts = [verdict for gate in parsed for verdict in gate.verdicts(tasks)]
    if missing:
        verdicts = [verdict.undecided("trials are missing") for verdict in verdicts]
    for verdict in verdicts:
        printer.line(str(verdict))
    return all(verdict.met for verdict in verdicts)


def _found(name: str) -> Path:
    """Return what is joined: a path that exists, else the folder or the file of the run of this name.

    Raises:
        ConfigurationError: There is neither.
    """
    from ..runs.reader import find_run

    return path if (path := Path(name)).exists() else find_run(name, Path())


def _show(joined: JoinedRuns, result: Path | None, printer: Printer, stopped: dict[str, Any]) -> None:
    from ..analysis.metrics import outcome_summary
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
        number = plural(len(joined.replaced), "simulation")
        first = f"twice: {number} excluded, because another of the trial was complete first"
        which_counts = first if joined.which == "first" else f"replaced by later ones: {number}"
        printer.line(f"{which_counts}: {_excluded(joined)}")
    for domain, groups in sorted(outcomes.items()):
        printer.line(f"{domain}: {outcome_summary(groups)}")
        for name, part in split_variants(groups).items():
            if name:
                printer.line(f"  {name}: {outcome_summary({group: groups[group] for group in part})}", indent=2)
    for text in totals.lines():
        printer.line(text)
    where = f"{result}: " if result is not None else ""
    printer.line(f"{where}{plural(len(joined.trials), 'simulation')} of {plural(len(joined.files), 'file')}")


def _excluded(joined: JoinedRuns) -> str:
    """Return the names of the simulations that do not count, and where they are: in a store, in which part."""
    from ..runs.parts import named

    of_parts = joined.which == "first"
    files = [f"{line.file.parent.name}/{line.file.name}" if of_parts else line.file for _, line in joined.replaced]
    pairs = zip(joined.replaced, files, strict=True)
    return named([f"{key.test or key} ({file}, line {line.number})" for (key, line), file in pairs])
