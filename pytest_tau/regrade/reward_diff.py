"""Differences between two verdicts on the same simulation, in lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ..evaluation import components_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..evaluation import Check, RewardComponent
    from ..models import RewardInfo


def reward_differences(stored: RewardInfo | None, fresh: RewardInfo) -> list[str]:
    """Return the checks that decide over one of the verdicts and not over the other, a line each.

    Args:
        stored: The file's verdict; its checks may be missing.
        fresh: Ours.
    """
    ended = (fresh.info or {}).get("ended_early")
    lines = [f"ended by {ended}: only a stop can earn more than 0"] if ended else []
    was = {label: check.met for label, check, _ in _gating_checks(stored, fresh)} if stored else {}
    for label, check, component in _gating_checks(fresh, fresh):
        met, before = check.met, was.get(label)
        if before is None and not met:
            lines.append(f"{label}: not met")
        elif before is not None and before != met:
            lines.append(f"{label}: {'met' if before else 'not met'} as stored, {'met' if met else 'not met'} now")
        else:
            continue
        lines += [] if met else [f"  {detail}" for detail in component.details(fresh)]
    return lines or ["every check is met now; the file does not state which one was not met"]


def _gating_checks(info: RewardInfo, basis: RewardInfo) -> Iterator[tuple[str, Check, RewardComponent]]:
    """Yield each check that gates under the basis, after a label that no other check has."""
    seen: Counter[str] = Counter()
    for component in components_of(info):
        for check in component.checks(info) if component.gates(basis) else ():
            label = check.label
            seen[label] += 1
            yield label if seen[label] == 1 else f"{label} ({seen[label]})", check, component
