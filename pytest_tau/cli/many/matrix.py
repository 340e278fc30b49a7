"""``tau matrix``: agents, models, users and domains as one set of runs that can be continued, with one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...files import atomic_write
from ...text import plural, printable
from ..options import add_options
from ..project import options_schema
from .tables import print_many

if TYPE_CHECKING:
    import argparse

    from ...analysis.compare import RunRecords
    from .cells import CellRuns, Outcome
    from .matrix_file import Cell

#: Exit status of a matrix that was interrupted, as of a shell's command that SIGINT has ended.
_INTERRUPTED = 130


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "matrix",
        help="run agents, models, users and domains, and compare them",
        description="Run each combination of the agents, models, users and domains in a TOML file as a run of pytest, "
        "and compare them by task and seed. All combinations are checked before the first one runs. Called again, "
        "it runs what is missing. Further arguments of pytest for each run follow after --.",
        statuses={
            0: "every run is complete",
            1: "a run is not complete, a gate is missed or not decided, or --fail-on applies",
            2: "the file or one of its runs has an error; nothing was run",
            _INTERRUPTED: "interrupted; the same command continues",
        },
        examples=[
            ("tau matrix prompts.toml", "run, or continue, and compare"),
            ("tau matrix prompts.toml -- -x", "with further arguments of pytest for each run"),
        ],
    )
    parser.add_argument("file", metavar="FILE", help="a TOML file with agents, models, users, domains …")
    add_options(parser.add_argument_group("outcome"), "fail-on", "all-pairs")
    output = parser.add_argument_group("output")
    add_options(output, "check")
    add_options(output, "verbose", help="show the output of pytest instead of writing it to files")
    parser.set_defaults(run=run, pytest=[])


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status.

    Raises:
        ConfigurationError: The file has an error, or a cell cannot be run.
        OSError: A file cannot be written.
    """
    from .cells import CellRuns
    from .matrix_file import read_matrix

    matrix = read_matrix(Path(args.file), options_schema()["definitions"]["options"]["properties"])
    runs = CellRuns(matrix, args.pytest, verbose=args.verbose)
    missing = [cell for cell in matrix.cells if not runs.is_done(cell)]
    done = len(matrix.cells) - len(missing)
    _print(f"{matrix.name}: {plural(len(matrix.cells), 'run')}" + (f", {done} complete" if done else ""))
    if problems := runs.check(missing):
        raise ConfigurationError("\n".join(_problem(cell, text) for cell, text in problems.items()))
    if args.check:
        _print(f"{plural(len(missing), 'run')} can be run; nothing was run")
        return 0
    interrupted = False
    try:
        for cell in missing:
            _progress(runs, runs.run(cell), matrix.cells.index(cell) + 1)
    except KeyboardInterrupt:
        interrupted = True
    outcomes = [runs.recorded(cell) for cell in matrix.cells]
    fails = _report(runs, outcomes, all_pairs=args.all_pairs)
    if interrupted:
        _print(f"interrupted; continue with: tau matrix {args.file}")
        return _INTERRUPTED
    missed = matrix.gated and any(each.exit == 1 for each in outcomes)
    incomplete = any(each.status != "done" for each in outcomes)
    return int(incomplete or missed or (args.fail_on == "regression" and fails))


def _problem(cell: Cell, text: str) -> str:
    return f"{_name(cell)} cannot be run; nothing was run:\n  " + text.replace("\n", "\n  ")


def _name(cell: Cell) -> str:
    return f"{cell.configuration}, {cell.domain}"


def _progress(runs: CellRuns, outcome: Outcome, number: int) -> None:
    records = runs.records(outcome.cell)
    passed, errors = sum(each.passed for each in records), sum(each.outcome == "error" for each in records)
    counts = f"{passed} of {plural(len(records), 'trial')} passed" + (f", {plural(errors, 'error')}" if errors else "")
    note = f" ({outcome.status}: {outcome.why})" if outcome.why else ""
    _print(f"[{number}/{len(runs.matrix.cells)}] {_name(outcome.cell)}: {counts}{note}")


def _report(runs: CellRuns, outcomes: list[Outcome], *, all_pairs: bool) -> bool:
    """Write and print the report; return whether any is worse than the first, or that cannot be decided."""
    from ...analysis.many.comparison import ManyRuns
    from ...reports.many_runs import many_html, many_markdown

    sides = _configurations(runs)
    notes = _notes(runs, outcomes)
    for note in notes:
        _print(note)
    if len(sides) < 2:
        _print("there is one configuration with results, nothing to compare" if sides else "there are no results")
        if not sides:
            return True
    many = ManyRuns(sides, all_pairs=all_pairs)
    print()  # noqa: T201 - this is a command
    print_many(many)
    title = f"Matrix {runs.matrix.name}"
    markdown, page = runs.folder / "report.md", runs.folder / "report.html"
    atomic_write(markdown, many_markdown(many, title, notes))
    atomic_write(page, many_html(many, title, notes))
    _print(f"report: {page}, {markdown}; runs: {runs.folder / 'runs'}")
    return many.fails


def _notes(runs: CellRuns, outcomes: list[Outcome]) -> list[str]:
    notes = [
        f"{_name(each.cell)}: {each.status}" + f": {each.why}" * bool(each.why)
        for each in outcomes
        if each.status != "done"
    ]
    if runs.matrix.gated:
        notes += [
            f"{_name(each.cell)}: a gate is missed, or a trial failed: {runs.log(each.cell)}"
            for each in outcomes
            if each.exit == 1
        ]
    if runs.matrix.budget is not None:
        notes.append(f"budget: ${runs.spent():.4f} of ${runs.matrix.budget:g} spent")
    return notes


def _configurations(runs: CellRuns) -> list[RunRecords]:
    """Return the trials of each configuration over all domains, in the order of the file."""
    from ...analysis.compare import RunRecords

    found: dict[str, RunRecords] = {}
    for cell in runs.matrix.cells:
        records, name = runs.records(cell), cell.configuration
        if records:
            before = found.get(name, RunRecords(name, [], {}))
            info = {"hashes": _joined(before.info.get("hashes"), runs.info(cell).get("hashes"))}
            found[name] = RunRecords(name, [*before.records, *records], info)
    return list(found.values())


def _joined(before: Any, after: Any) -> dict[str, Any]:
    """Return the hashes of two runs of one configuration as those of one run."""
    if not before or not after:
        return dict(before or after or {})
    return {
        **before,
        **{name: {**before.get(name, {}), **after[name]} for name in ("domains", "tasks") if name in after},
    }


def _print(text: str) -> None:
    print(printable(text), flush=True)  # noqa: T201 - this is a command
