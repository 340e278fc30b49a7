"""The runs of a comparison: their trials by task, and what they were run with, as far as they have recorded it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from ..runs.manifest import why_incomplete
from ..text import plural
from .comparability import conditions_of_run, differing_conditions
from .paired import PassCount

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..runs.groups import Group
    from ..runs.reader import Run
    from ..runs.record import TrialRecord


class RunRecords(NamedTuple):
    """One run of a comparison.

    Attributes:
        name: What a person calls it.
        records: Its trials.
        info: Its manifest.
        incomplete: Why it is not complete, so that no comparison with it is decided; empty if it is.
    """

    name: str
    records: Sequence[TrialRecord]
    info: Mapping[str, Any]
    incomplete: str = ""

    @classmethod
    def of(cls, run: Run, records: Sequence[TrialRecord] | None = None) -> RunRecords:
        """Return a stored run; the name of a baseline includes that of its run.

        Args:
            run: The run.
            records: Its records; None to read them.

        Raises:
            ConfigurationError: A record is not valid.
            OSError: A file cannot be opened.
        """
        records = run.records() if records is None else records
        blessed = run.info.get("blessed")
        name = f"{run.name} ({blessed})" if blessed else run.name
        return cls(
            name, records, run.info, why_incomplete(run.info, sum(not record.info.interrupted for record in records))
        )

    def changed_in(self, later: RunRecords, groups: Iterable[Group]) -> list[str]:
        """Return what verdicts depend on that differs in a later run, as far as both have recorded it.

        Args:
            later: The other run.
            groups: The groups whose tasks are compared.
        """
        conditions_before, conditions_after = (conditions_of_run(run.records, run.info) for run in (self, later))
        parts = changed_parts(self.info.get("hashes"), later.info.get("hashes"), groups)
        return parts + differing_conditions(conditions_before, conditions_after)


def records_by_group(records: Iterable[TrialRecord], runs: Iterable[RunRecords]) -> dict[Group, list[TrialRecord]]:
    """Return the trials of each group; those of a file without a domain get that of the runs, if they have one."""
    known = {record.domain for run in runs for record in run.records if record.domain}
    stand_in = known.pop() if len(known) == 1 else ""
    by_group: dict[Group, list[TrialRecord]] = defaultdict(list)
    for record in records:
        group = record.group
        by_group[group if group.domain else group._replace(domain=stand_in)].append(record)
    return dict(by_group)


def pass_count(records: Iterable[TrialRecord]) -> PassCount:
    """Return how many trials have a verdict, and how many of them passed."""
    ran = [record.passed for record in records if record.ran]
    return PassCount(len(ran), sum(ran))


def pass_counts(records: Iterable[TrialRecord]) -> dict[Group, PassCount]:
    """Return the trials of each group of a run that has any with a verdict, and how many of them passed."""
    counts = {group: pass_count(trials) for group, trials in records_by_group(records, ()).items()}
    return {group: count for group, count in counts.items() if count.trials}


def unrecorded(runs: Iterable[RunRecords]) -> list[str]:
    """Return which parts are not compared, since runs have no hashes of them: a line for each set of parts."""
    runs_by_parts: dict[str, list[str]] = defaultdict(list)
    for run in runs:
        hashes = run.info.get("hashes") or {}
        known = {part for domain_hashes in hashes.get("domains", {}).values() for part in domain_hashes}
        known |= {"tasks"} if any(hashes.get("tasks", {}).values()) else set()
        known |= {"grading"} if "grader" in hashes else set()
        missing = [part for part in ("tasks", "policy", "tools", "database", "grading") if part not in known]
        if missing:
            runs_by_parts[" and ".join(filter(None, [", ".join(missing[:-1]), missing[-1]]))].append(run.name)
    return [
        f"it is unknown whether {parts} are the same: not recorded in {', '.join(dict.fromkeys(names))}"
        for parts, names in runs_by_parts.items()
    ]


#: The parts of a domain that are compared, in the order in which they are reported.
_PARTS = ("policy", "tools", "database", "documents")


def changed_parts(before: Any, after: Any, groups: Iterable[Group]) -> list[str]:
    """Return the parts that differ between two runs, by the hashes in their manifests, as far as both have them.

    Args:
        before: The hashes of the earlier run.
        after: The hashes of the later run.
        groups: The groups whose tasks are compared.
    """
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return []
    # What a run of ours has no hash of was not there; a τ²-bench file may only not have it.
    is_ours = "grader" in before and "grader" in after

    def differs(one: Mapping[str, Any], two: Mapping[str, Any], part: str) -> bool:
        return one.get(part) != two.get(part) and (is_ours or (part in one and part in two))

    changed = ["the rules of grading"] if differs(before, after, "grader") else []
    if any(differs(before.get("prompts", {}), after.get("prompts", {}), name) for name in ("user", "guidelines")):
        changed.append("the user's prompt")
    earlier, later = before.get("domains", {}), after.get("domains", {})
    for name in sorted(set(earlier) & set(later)):
        changed += [f"{part} of {name}" for part in _PARTS if differs(earlier[name], later[name], part)]
    tasks = dict.fromkeys((group.domain, group.task_id) for group in groups)
    hashes = [(_hash(before, *task), _hash(after, *task)) for task in tasks]
    known = [(set(old.split()), set(new.split())) for old, new in hashes if old is not None and new is not None]
    # A run may have one of several files that have tasks of one id.
    differing = sum(not (old <= new or new <= old) for old, new in known)
    return changed + ([plural(differing, "task")] if differing else [])


def _hash(hashes: Mapping[str, Any], domain: str, task_id: str) -> str | None:
    value: str | None = hashes.get("tasks", {}).get(domain, {}).get(task_id)
    return value
