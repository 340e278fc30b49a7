"""What the comparison of two runs says of their simulated users: rates by persona, and faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...text import plural
from .faults import UserFaults, pass_1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...runs.record import TrialRecord

#: The name of the users of a run without a persona.
NO_PERSONA = "no persona"


def user_lines(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[str]:
    """Return pass^1 by persona, if a run has given its users one, and the faults of the users, if they made any."""
    return [*_by_persona(before, after), *_faults(before, after)]


def _by_persona(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[str]:
    names = sorted({_persona(record) for record in (*before, *after)})
    if names in ([], [NO_PERSONA]):
        return []
    lines = []
    for name in names:
        rates = [_rate([record for record in side if _persona(record) == name]) for side in (before, after)]
        lines.append(f"pass^1 with {name}: {' -> '.join(rates)}")
    return lines


def _persona(record: TrialRecord) -> str:
    drawn = (record.conditions or {}).get("persona")
    return f"persona {', '.join(map(str, drawn.values()))}" if isinstance(drawn, dict) and drawn else NO_PERSONA


def _rate(records: Sequence[TrialRecord]) -> str:
    rate = pass_1((record, record.passed) for record in records if record.ran)
    return "not run" if rate is None else f"{rate:.3f}"


def _faults(before: Sequence[TrialRecord], after: Sequence[TrialRecord]) -> list[str]:
    if not any(record.user_faults and record.outcome != "error" for record in (*before, *after)):
        return []
    both = [UserFaults.of(side) for side in (before, after)]
    texts = []
    for each in both:
        # Trials of variants are not pooled, so they have no rate together.
        rates = (
            f" (pass^1 {each.rate:.3f} with them, {_shown(each.valid_rate)} without them)"
            if each.rate is not None
            else ""
        )
        texts.append(f"{each.faulty:,} of {plural(each.trials, 'trial')}{rates}")
    return [f"faults of the user: {' -> '.join(texts)}"]


def _shown(rate: float | None) -> str:
    return "unknown" if rate is None else f"{rate:.3f}"
