"""The rates of two runs by the persona of the simulated users."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runs.record import TrialRecord

#: The name of the users of a run without a persona.
NO_PERSONA = "no persona"


def persona_lines(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[str]:
    """Return pass^1 by persona, if a run has given its users one."""
    names = sorted({_persona(record) for record in (*before, *after)})
    if names in ([], [NO_PERSONA]):
        return []
    lines = []
    for name in names:
        rates = [_rate([record for record in side if _persona(record) == name]) for side in (before, after)]
        lines.append(f"pass^1 with {name}: {' -> '.join(rates)}")
    return lines


def pass_1(trials: Iterable[tuple[TrialRecord, bool]]) -> float | None:
    """Return pass^1 of trials, each with whether it counts as passed."""
    tasks: dict[object, list[bool]] = {}
    for record, passed in trials:
        tasks.setdefault(record.group, []).append(passed)
    return fmean(fmean(each) for each in tasks.values()) if tasks else None


def _persona(record: TrialRecord) -> str:
    drawn = (record.conditions or {}).get("persona")
    return f"persona {', '.join(map(str, drawn.values()))}" if isinstance(drawn, dict) and drawn else NO_PERSONA


def _rate(records: Sequence[TrialRecord]) -> str:
    rate = pass_1((record, record.passed) for record in records if record.ran)
    return "not run" if rate is None else f"{rate:.3f}"
