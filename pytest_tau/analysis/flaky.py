"""The tasks that both pass and fail within a run."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ..text import one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runs.record import TrialRecord

#: Flaky tasks that are listed without -v, and characters of each name.
_MOST, _LONGEST = 10, 60


def flaky_lines(records: Iterable[TrialRecord], verbosity: int = 0) -> list[str]:
    """Return the tasks some of whose trials passed and some failed, as lines of text, the most uneven last.

    Args:
        records: The run's records; trials that ended in an error are not counted.
        verbosity: pytest's: below 0 nothing is listed, above 0 every task is.
    """
    trials: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for record in records:
        trials[record.domain, record.task_id][record.outcome] += 1
    counts = {task: (found["passed"], found["passed"] + found["failed"]) for task, found in trials.items()}
    repeated = [task for task, (_, ran) in counts.items() if ran > 1]
    flaky = [task for task in repeated if 0 < counts[task][0] < counts[task][1]]
    if not flaky or verbosity < 0:
        return []
    flaky.sort(key=lambda task: (abs(counts[task][0] / counts[task][1] - 0.5), task))
    shown = flaky if verbosity > 0 else flaky[:_MOST]
    names = {task: one_line(f"{task[0]}::{task[1]}", _LONGEST) for task in shown}
    width = max(map(len, names.values()))
    lines = [f"flaky: {len(flaky)} of {plural(len(repeated), 'task')} with several trials both passed and failed"]
    for task in shown:
        passed, ran = counts[task]
        lines.append(f"  {names[task]:<{width}}  {passed} of {ran} passed ({100 * passed / ran:.0f} %)")
    left = len(flaky) - len(shown)
    return [*lines, f"  and {left} more (-v lists them)"] if left else lines
