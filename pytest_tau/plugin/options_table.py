"""The options that only reports and the session depend on, and the table of all options of the core.

The settings that a trial depends on are in ``pytest_tau.run_settings``; those of a capability are in its folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .. import run_settings
from ..settings import Option, declared, flag, names, option, options_of, quoted, text, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

_OUTCOMES = ("failed", "error")


def group_names(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names of what trials can be grouped by, in comma-separated lists."""
    from ..errors import unknown_name
    from ..runs.record import GROUPS

    found = names(values)
    for name in found:
        if name not in GROUPS:
            raise ValueError(unknown_name("group", name, GROUPS))
    return found


def outcome_names(value: str) -> frozenset[str]:
    """Return the outcomes in a comma-separated list."""
    found = names([value])
    for name in found:
        if name not in _OUTCOMES:
            raise ValueError(f"expected 'failed', 'error' or 'failed,error', got {name!r}")
    return frozenset(found)


def run_name(value: str) -> str:
    """Return the name of a run's folder."""
    from ..files import file_name_of

    if not value or file_name_of(value) != value:
        raise ValueError(f"expected letters, digits and _.+-[], got {quoted(value)}")
    return value


# Formatted by hand: a field is what the option is, and below it the help.
# fmt: off

@declared(frozen=True, kw_only=True)
class ResultSettings:
    """What is stored, compared and reported. None of it is recorded in ``run.json``."""

    dry_run: bool = option(flag, "session", default=False, rerun=0,
        help="only show what would run, with the estimated number and cost of model calls")
    results: str | None = option(text, "output", "DIR", path=True, rerun=0,
        help="folder of the stored runs (default: .tau/runs), or a URL such as s3://bucket/runs (needs "
             "pytest-tau[store]); none to store nothing")
    select: str | None = option(text, "session", "FILE", path=True, selects=True, rerun=0,
        help="run exactly the tests whose ids are in this file, as 'pytest --collect-only -q' lists them; - for the "
             "standard input (default: $TAU_SELECT)")
    run_name: str | None = option(run_name, "output", "NAME", rerun=0,
        help="name of the run's folder (default: date, time, process and domains)")
    logs: Path | None = option(Path, "output", "DIR", path=True, rerun=0,
        help="folder in which each trial has a subfolder with its log: its messages, model calls and end")
    resume: str | None = option(text, "session", "DIR", bare="latest", path=True, common=True, rerun=0,
        help="resume an earlier run, the latest or DIR: run what is missing and reuse its other trials")
    rerun: frozenset[str] = option(outcome_names, "session", "OUTCOMES", default=frozenset(), rerun=0,
        help="with --tau-resume, run trials again that failed, that ended in an error, or both: failed,error")
    group_by: tuple[str, ...] = option(group_names, "output", "NAME", default=(), repeat=True, rerun=0,
        help="add summaries by intent, persona, actions (number of reference actions) or tags; comma-separated")
    gate: tuple[str, ...] = option(texts, "session", "EXPR", default=(), repeat=True, common=True, rerun=0,
        help="fail the run if this condition is not met, and not for single trials: [domain:]metric OP value, such "
             "as 'pass^1>=0.8', 'retail:errors<=0.02'; may be repeated")
    baseline: str | None = option(text, "session", "RUN", path=True, common=True, rerun=0,
        help="compare with this run task by task: a folder, a name below .tau/runs, or baseline")
    fail_on: Literal["regression"] | None = option(text, "session", "WHAT", choices=("regression",), rerun=0,
        help="regression: fail the run for a significant loss against --tau-baseline, and not for single trials")


#: Options that become settings of capabilities.
_ROWS = (
    Option("markdown", text, "output", "FILE", path=True,
           help="write the summary in Markdown; - adds it to the summary of a job on GitHub, and prints it elsewhere"),
    Option("html", Path, "output", "FILE", path=True,
           help="write an HTML report of the run: one file that needs no network"),
)
# fmt: on

#: The groups of ``tau options`` and the classes whose options they have.
GROUPS = {**run_settings.GROUPS, "results and reports": (ResultSettings,)}
#: The options of a group, by its title.
OPTIONS_OF_GROUPS = {title: tuple(row for kind in kinds for row in options_of(kind)) for title, kinds in GROUPS.items()}
OPTIONS_OF_GROUPS["results and reports"] += _ROWS
#: Every option of the core by its key, in the order of ``tau options``.
OPTIONS = {row.key: row for rows in OPTIONS_OF_GROUPS.values() for row in rows}
