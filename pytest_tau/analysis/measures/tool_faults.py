"""Tools that failed on purpose: how many calls met a fault, and how the trials fared that met one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...runs.record import TrialRecord


def fault_line(records: Sequence[TrialRecord]) -> str | None:
    """Return the faults of trials in one line; None if no trial was run with tools that fail.

    A trial without a verdict counts for the faults, and not for the shares that passed.

    Args:
        records: The trials.
    """
    found = [record for record in records if record.tool_faults is not None]
    if not found:
        return None
    kinds: Counter[str] = Counter()
    for record in found:
        kinds.update(record.tool_faults or {})
    many, calls = kinds.total(), sum(record.calls for record in found)
    struck = [record for record in found if record.tool_faults]
    named = f" ({', '.join(f'{number} {kind}' for kind, number in kinds.most_common())})" if many else ""
    text = f"{many} of {plural(calls, 'call')} met a fault{named}, in {len(struck)} of {plural(len(found), 'trial')}"
    others = [record for record in found if not record.tool_faults]
    parts = [part for part in (_passed(struck, "with a fault"), _passed(others, "without one")) if part]
    return "; ".join([text, *parts])


def _passed(records: Sequence[TrialRecord], which: str) -> str | None:
    graded = [record for record in records if record.outcome != "error"]
    return f"{sum(record.passed for record in graded)} of {len(graded)} {which} passed" if graded else None


def rates_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the name of the rates that a comparison shows: it says which of the runs had tools that fail.

    Args:
        before: The manifest of the earlier run.
        after: The manifest of the later one.
    """
    with_faults = bool(_rules(before)), bool(_rules(after))
    sides = {(False, True): " without -> with tool faults", (True, False): " with -> without tool faults"}
    return f"pass^1{sides.get(with_faults, '')}"


def differing_rules(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the difference of the rules of two runs; nothing if they are the same."""
    one, two = (" ".join(_rules(each)) or "none" for each in (before, after))
    return [f"tool faults ({one}; now {two})"] if one != two else []


def _rules(info: Mapping[str, Any]) -> list[str]:
    settings = info.get("settings")
    found = settings.get("tool_faults") if isinstance(settings, dict) else None
    return [str(rule) for rule in found] if isinstance(found, list) else []
