"""The lines of the summary about rules of the policy that were broken in trials that passed, and about bad rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.measures.policy import PolicyStats
from ..text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..runs.record import TrialRecord

#: Trials, and breaches of each, that are shown at the usual verbosity.
_TRIALS, _BREACHES = 3, 3
_LONGEST_ID = 80


def breach_lines(records: Sequence[TrialRecord], *, everything: bool = False) -> list[str]:
    """Return the breaches of trials that passed, turn by turn; those of failures are in their reports.

    Args:
        records: The trials.
        everything: Whether all trials are shown, with all breaches that are recorded.
    """
    broken = [record for record in records if record.passed and record.policy_counts]
    if not broken:
        return []
    shown = broken if everything else broken[:_TRIALS]
    lines = [f"rules broken in {plural(len(broken), 'trial')} with reward 1"]
    lines += [line for record in shown for line in _of_trial(record, everything=everything)]
    left = len(broken) - len(shown)
    return [*lines, *([f"  and {plural(left, 'more trial')} (-v shows them)"] if left else [])]


def _of_trial(record: TrialRecord, *, everything: bool) -> Iterator[str]:
    number = sum(record.policy_counts.values())
    parameters = record.group.parameters
    test = f"{parameters}-" if parameters else ""
    yield f"  {one_line(record.task_id, _LONGEST_ID)}[{one_line(test, _LONGEST_ID)}trial-{record.trial}]"
    lines = (record.policy or {}).get("lines") or []
    shown = lines if everything else lines[:_BREACHES]
    for rule, text in shown:
        yield f"    {rule}, {text}"
    if number > len(shown):
        yield f"    and {_breaches(number - len(shown))}"


def _breaches(number: int) -> str:
    return f"{number:,} more breach{'es' * (number != 1)}"


def problem_lines(records: Sequence[TrialRecord]) -> list[str]:
    """Return a line for each rule that could not be checked."""
    found = PolicyStats.of(records)
    return found.unchecked if found else []
