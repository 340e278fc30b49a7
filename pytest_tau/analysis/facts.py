"""What capabilities have measured or changed, in the comparison of two runs."""

from __future__ import annotations

from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ..capability import installed
from ..capability.calls import lines_of, measured_by, recorded_in
from ..capability.views import Compared
from ..settings import as_text
from ..text import figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..capability.calls import NamedColumn
    from ..capability.views import Measured
    from ..runs.record import TrialRecord


def fact_lines(
    before: Sequence[TrialRecord],
    after: Sequence[TrialRecord],
    columns: Iterable[NamedColumn],
    tasks: Sequence[tuple[Sequence[TrialRecord], Sequence[TrialRecord]]],
    *,
    variants: bool,
) -> list[str]:
    """Return what capabilities say of two runs: by default, the mean in each of each metric that both have.

    Args:
        before: The records of the earlier run.
        after: The records of the later one.
        columns: The columns of the capabilities of the later run.
        tasks: The trials of each task that both have.
        variants: There are variants of the tests.
    """
    lines: list[str] = []
    comparing = [capability for capability in installed() if capability.comparison is not None]
    for capability in comparing:
        earlier, later = measured_by(capability, before), measured_by(capability, after)
        if capability.comparison is not None and earlier and later:
            known = {id(trial.record): trial for trial in (*earlier, *later)}
            pairs = [
                (_known(known, trials_before), _known(known, trials_after)) for trials_before, trials_after in tasks
            ]
            view = Compared(earlier, later, pairs, variants)
            lines += lines_of(f"{capability.label}: comparison", partial(capability.comparison, view))
    for named_column in columns:
        if named_column.capability in {capability.name for capability in comparing}:
            continue
        first, second = (_mean(named_column, side) for side in (before, after))
        if named_column.column.metric and first is not None and second is not None:
            lines.append(f"{named_column.column.name} {figure(first)} -> {figure(second)}")
    return lines


def _known(known: Mapping[int, Measured], records: Sequence[TrialRecord]) -> list[Measured]:
    return [known[id(record)] for record in records if id(record) in known]


def _mean(named_column: NamedColumn, records: Sequence[TrialRecord]) -> float | None:
    values = [value for record in records if record.ran and (value := named_column.value(record.facts)) is not None]
    return fmean(values) if values else None


def rates_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the name of the rates of a comparison: it says which of the runs a capability has changed.

    Args:
        before: The manifest of the earlier run.
        after: The manifest of the later one.
    """
    names = [{*changed_settings(info)} for info in (before, after)]
    without, no_longer = " and ".join(sorted(names[1] - names[0])), " and ".join(sorted(names[0] - names[1]))
    if without and not names[0]:
        return f"pass^1 without -> with {without}"
    return f"pass^1 with -> without {no_longer}" if no_longer and not names[1] else "pass^1"


def changed_settings(info: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of capabilities that verdicts depend on, as text, by label."""
    settings = info.get("settings")
    if not isinstance(settings, dict):
        return {}
    recorded_settings = [capability.get("settings") for capability in recorded_in(info).values()]
    stored = {
        key: value
        for capability_settings in recorded_settings
        if isinstance(capability_settings, dict)
        for key, value in capability_settings.items()
    }
    return {key.replace("_", " "): as_text(value) for key, value in stored.items() if key in settings}
