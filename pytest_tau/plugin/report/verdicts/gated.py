"""Failed trials that do not fail the run, because a gate decides: how they are counted and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....text import printable
from ...compat import terminal_writer
from ...wire import trial_report

if TYPE_CHECKING:
    from collections.abc import Callable

#: The letter, and with ``-v`` the word, of a failed trial that does not fail the run, by its outcome.
SHOWN = {"failing": ("f", "FAILING"), "broken": ("e", "BROKEN")}


def gated(report: Any) -> str | None:
    """Return the outcome of a failed trial that does not fail the run by itself; None for any other report."""
    trial = trial_report(report)
    return trial.gated if trial else None


def tolerate(report: Any) -> None:
    """Turn a failure into an expected one, which pytest, xdist, ``-x`` and JUnit's XML do not count."""
    report.outcome, report.wasxfail = "skipped", _message(report)


def count_failure(report: Any) -> None:
    """Turn an expected failure into a failure again."""
    report.outcome = "failed"
    if hasattr(report, "wasxfail"):
        del report.wasxfail


def explain(terminal: Any, chosen: Callable[[Any], bool]) -> None:
    """Write the failure reports of gated trials.

    Args:
        terminal: pytest's terminal reporter.
        chosen: Returns whether a report is written.
    """
    for name, (_, word) in SHOWN.items():
        reports = [report for report in terminal.stats.get(name, ()) if chosen(report)]
        if reports:
            terminal.write_sep("=", f"{word} TRIALS")
        for report in reports:
            terminal.write_sep("_", report.head_line or report.nodeid)
            report.toterminal(terminal_writer(terminal))


def _message(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash is not None else printable(str(report.longrepr).strip().partition("\n")[0])
