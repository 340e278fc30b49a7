"""``tau runs``: the stored runs, and the removal of older ones."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...commands.options import add_options
from ...commands.output import pass_rates
from ...errors import ConfigurationError, TauError
from ...text import plural
from .lists import Row, show_rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ...runs.reader import Run
    from ...runs.record import TrialRecord

_UNITS = ("B", "KB", "MB", "GB", "TB")


class _Stored(NamedTuple):
    """A stored run.

    Attributes:
        name: The name of its folder.
        text: When it was started, its rate, trials, cost and size, and what was run.
        size: Bytes.
        path: Its folder, or a copy of it.
        kept: Why it is never removed; empty if it may be.
    """

    name: str
    text: str
    size: int
    path: Path
    kept: str


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "runs",
        description="List the runs in a folder, the latest first: start in UTC, pass^1, trials, cost, size, domains "
        "and agent. With --prune N, remove all but the latest N. A baseline, a run that a baseline was made of, "
        "and a run that is under way are never removed.",
        statuses={0: "the runs were listed, or removed", 2: "the command cannot be used"},
        examples=[
            ("tau runs --prune 20", "what would be removed"),
            ("tau runs --prune 20 --yes", "remove it"),
        ],
    )
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="the folder of runs, or a URL of one (default: .tau/runs)"
    )
    group = parser.add_argument_group("removal")
    add_options(group, "prune")
    add_options(group, "yes", help="remove the runs instead of listing them")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    from ...runs.layout import RUNS
    from ...runs.store import is_url, public_url

    place = args.folder or str(RUNS)
    if args.prune is None and args.yes:
        raise ConfigurationError("--yes removes runs: expected --prune N with it")
    if args.prune is not None and args.prune < 1:
        raise ConfigurationError(f"--prune: expected a number of at least 1, got {args.prune}")
    if args.prune is not None and is_url(place):
        raise ConfigurationError("--prune removes folders: expected a folder, got a URL")
    stored = [_stored(place, name) for name in _names(place)]
    if not stored:
        raise ConfigurationError(f"no run is stored in {public_url(place)}")
    if args.prune is not None:
        return _prune(stored, args.prune, remove=args.yes)
    show_rows(_rows(stored), f"{plural(len(stored), 'run')}, {_size(stored)}, in {public_url(place)}", below=True)
    return 0


def _prune(found: Sequence[_Stored], newest: int, *, remove: bool) -> int:
    """Remove all but the newest runs, or list what would be removed."""
    older = [run for run in found[newest:] if not run.kept]
    if remove:
        for run in older:
            shutil.rmtree(run.path)
    number = f"{len(older):,} of {plural(len(found), 'run')}, {_size(older)}"
    outcome = "removed" if remove else "would be removed; --yes removes them" if older else "would be removed"
    show_rows(_rows(older), f"{number}: {outcome}", below=True)
    return 0


def _names(place: str) -> list[str]:
    """Return the names of the runs in a folder or below a URL, the latest first."""
    from ...runs.fetch import runs_below
    from ...runs.reader import runs_in
    from ...runs.store import is_url

    return (runs_below(place) if is_url(place) else runs_in(Path(place)))[::-1]


def _stored(place: str, name: str) -> _Stored:
    from ...runs.baseline import why_kept
    from ...runs.fetch import fetch_run
    from ...runs.layout import is_store_of_run
    from ...runs.reader import Run
    from ...runs.store import is_url

    path, reason, size = Path(place) / name, "", 0
    try:
        if is_url(place):
            path = fetch_run(place, name)
        elif is_store_of_run(path):
            reason = "stored in parts"
            path = fetch_run(str(path))
        size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        reason = reason or why_kept(path)
        run = Run(path)
        records = run.records()
    except TauError as error:
        return _Stored(name, f"cannot be read: {error}", size, path, reason)
    started = str(run.info.get("started") or run.info.get("timestamp") or "")[:16].replace("T", " ")
    facts = [
        *pass_rates(records),
        plural(len(records), "trial"),
        *_cost(records),
        _bytes(size),
        *([reason] if reason else []),
    ]
    text = f"{started or 'unknown start'}: {', '.join(facts)}; {', '.join(_what(run, records))}"
    return _Stored(name, text, size, path, reason)


def _what(run: Run, records: Sequence[TrialRecord]) -> list[str]:
    """Return the domains of a run, and its agent with the agent's model."""
    from ...runs.manifest import agent_name

    domains = sorted({record.domain or "unknown domain" for record in records})
    return [*domains, f"agent {agent_name(run.info, records) or 'unknown'}"]


def _cost(records: Sequence[TrialRecord]) -> list[str]:
    """Return what the model calls of a run have cost, if there were any."""
    if not any(record.model_usage for record in records):
        return []
    unpriced = sum(record.unpriced_calls for record in records)
    if unpriced == sum(used.calls for record in records for used in record.model_usage.values()):
        return ["cost unknown"]
    known = sum(record.known_cost for record in records)
    return [f"${known:,.2f}" + (f" and {plural(unpriced, 'call')} with unknown price" if unpriced else "")]


def _rows(found: Sequence[_Stored]) -> list[Row]:
    return [Row(run.name, run.text) for run in found]


def _size(found: Sequence[_Stored]) -> str:
    return _bytes(sum(run.size for run in found))


def _bytes(size: float) -> str:
    """Return a size with at most three digits: ``96 KB``, ``1.4 MB``."""
    unit = 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit and size < 9.95 else f"{size:.0f} {_UNITS[unit]}"
