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
    own = [each for each in installed() if each.comparison is not None]
    for each in own:
        earlier, later = measured_by(each, before), measured_by(each, after)
        if each.comparison is not None and earlier and later:
            known = {id(trial.record): trial for trial in (*earlier, *later)}
            pairs = [(_known(known, one), _known(known, two)) for one, two in tasks]
            view = Compared(earlier, later, pairs, variants)
            lines += lines_of(f"{each.label}: comparison", partial(each.comparison, view))
    for named in columns:
        if named.capability in {each.name for each in own}:
            continue
        first, second = (_mean(named, side) for side in (before, after))
        if named.column.metric and first is not None and second is not None:
            lines.append(f"{named.column.name} {figure(first)} -> {figure(second)}")
    return lines


def _known(known: Mapping[int, Measured], records: Sequence[TrialRecord]) -> list[Measured]:
    return [known[id(record)] for record in records if id(record) in known]


def _mean(named: NamedColumn, records: Sequence[TrialRecord]) -> float | None:
    found = [value for record in records if record.ran and (value := named.value(record.facts)) is not None]
    return fmean(found) if found else None


def rates_name(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the name of the rates of a comparison: it says which of the runs a capability has changed.

    Args:
        before: The manifest of the earlier run.
        after: The manifest of the later one.
    """
    names = [{*changed_settings(each)} for each in (before, after)]
    without, no_longer = " and ".join(sorted(names[1] - names[0])), " and ".join(sorted(names[0] - names[1]))
    if without and not names[0]:
        return f"pass^1 without -> with {without}"
    return f"pass^1 with -> without {no_longer}" if no_longer and not names[1] else "pass^1"


def changed_settings(info: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of capabilities that verdicts depend on, as text, by label."""
    settings = info.get("settings")
    if not isinstance(settings, dict):
        return {}
    found = [each.get("settings") for each in recorded_in(info).values()]
    stored = {key: value for each in found if isinstance(each, dict) for key, value in each.items()}
    return {key.replace("_", " "): as_text(value) for key, value in stored.items() if key in settings}
