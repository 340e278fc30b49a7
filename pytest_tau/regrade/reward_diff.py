"""Differences between two verdicts on the same simulation, in lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..evaluation import components_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..evaluation import Check, RewardComponent
    from ..models import RewardInfo


def reward_differences(stored: RewardInfo | None, fresh: RewardInfo, error: str = "") -> list[str]:
    """Return the checks that decide over one of the verdicts and not over the other, a line each.

    Args:
        stored: The file's verdict; its checks may be missing.
        fresh: Ours.
        error: What went wrong in the run.
    """
    ended = (fresh.info or {}).get("ended_early")
    why = f" ({error.splitlines()[0]})" if error else ""
    lines = [f"ended by {ended}{why}: only a stop can earn more than 0"] if ended else []
    then = list(_gating_checks(stored, fresh)) if stored else []
    now = list(_gating_checks(fresh, fresh))
    before, labels = {label: check.met for label, check, _ in then}, {label for label, _, _ in now}
    # A check of a task that was changed since.
    gone = {label: component for label, check, component in then if not check.met and label not in labels}
    lines += [f"{label}: not met as stored, not checked now" for label in gone]
    for label, check, component in now:
        met, was = check.met, before.get(label)
        if was is None and not met:
            lines.append(f"{label}: not met")
        elif was is None and component in gone.values():
            lines.append(f"{label}: not checked as stored, met now")
        elif was is not None and was != met:
            lines.append(f"{label}: {'met' if was else 'not met'} as stored, {'met' if met else 'not met'} now")
        else:
            continue
        lines += [] if met else [f"  {detail}" for detail in component.details(fresh)]
    lines = lines or _components_below_1(stored, fresh)
    return lines or ["every check is met now; the file does not state which one was not met"]


def _components_below_1(stored: RewardInfo | None, fresh: RewardInfo) -> list[str]:
    """Return a line for each stored component below 1, as files may have their values without their checks."""
    values = (stored and stored.reward_breakdown) or {}
    basis = fresh.reward_basis or ()
    return [
        f"{name}: {value:g} as stored, {'met' if name in basis else 'not graded'} now"
        for name, value in values.items()
        if value < 1
    ]


def _gating_checks(info: RewardInfo, basis: RewardInfo) -> Iterator[tuple[str, Check, RewardComponent]]:
    """Yield each check that gates under the basis, after a label that no other check has."""
    seen: Counter[str] = Counter()
    for component in components_of(info):
        for check in component.checks(info) if component.gates(basis) else ():
            label = check.label
            seen[label] += 1
            yield label if seen[label] == 1 else f"{label} ({seen[label]})", check, component
