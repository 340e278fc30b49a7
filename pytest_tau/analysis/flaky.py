"""The tasks that both pass and fail within a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..runs.groups import distinguish
from ..text import by_numbers, one_line, plural
from .scores import outcomes_by_group

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runs.groups import Group
    from ..runs.record import TrialRecord

#: Flaky tasks that are listed without -v, and characters of each name.
_MOST, _LONGEST = 10, 60


def flaky_lines(records: Iterable[TrialRecord], verbosity: int = 0) -> list[str]:
    """Return the tasks some of whose trials passed and some failed, as lines of text, the most uneven last.

    A task that several tests run counts for each of them.

    Args:
        records: The run's records; trials that ended in an error are not counted.
        verbosity: pytest's: below 0 nothing is listed, above 0 every task is.
    """
    trials = outcomes_by_group(records)
    counts = {group: (found["passed"], found["passed"] + found["failed"]) for group, found in trials.items()}
    repeated = [group for group, (_, ran) in counts.items() if ran > 1]
    flaky = [group for group in repeated if 0 < counts[group][0] < counts[group][1]]
    if not flaky or verbosity < 0:
        return []

    def order(group: Group) -> tuple[float, str, tuple[object, ...], Group]:
        passed, ran = counts[group]
        return abs(passed / ran - 0.5), group.domain, by_numbers(group.task_id), group

    flaky.sort(key=order)
    shown = flaky if verbosity > 0 else flaky[:_MOST]
    differences = distinguish(trials)
    names = {group: _name(group, differences[group]) for group in shown}
    width = max(map(len, names.values()))
    lines = [f"flaky: {len(flaky)} of {plural(len(repeated), 'task')} with several trials both passed and failed"]
    for group in shown:
        passed, ran = counts[group]
        lines.append(f"  {names[group]:<{width}}  {passed} of {ran} passed ({100 * passed / ran:.0f} %)")
    left = len(flaky) - len(shown)
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines


def _name(group: Group, difference: str) -> str:
    return one_line(f"{group.domain}::{group.task_id}{f' [{difference}]' if difference else ''}", _LONGEST)
