"""What the reviews of a run found: counts of first critical errors, tags, reviews that are missing, and doubts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...text import listed, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...runs.record import TrialRecord

#: Tags and trials that a line names.
_MOST_TAGS, _MOST_TRIALS = 8, 5
#: The owners of a fault by the parties of the rules of blame.
_OWNERS = {"agent": "agent", "user": "user"} | dict.fromkeys(("task", "domain", "harness", "provider"), "environment")


def review_lines(records: Iterable[TrialRecord]) -> list[str]:
    """Return what the reviews of trials found, as lines of text; none if no trial was reviewed."""
    reviewed = [record for record in records if record.review is not None]
    return [*review_counts(reviewed), *_missing(reviewed), *_doubts(reviewed)]


def review_counts(records: Iterable[TrialRecord]) -> list[str]:
    """Return the numbers of reviews and of what they found, as a line for each mode; none if no trial was reviewed."""
    reviewed = [record for record in records if record.review is not None]
    lines = []
    for mode, name in (("full", ""), ("user", " (the user alone)")):
        found = [record for record in reviewed if _review(record)["mode"] == mode]
        if found:
            lines.append(_counts(found, name, mode))
    return lines


def _review(record: TrialRecord) -> Mapping[str, Any]:
    assert record.review is not None
    return record.review


def _counts(records: Sequence[TrialRecord], name: str, mode: str) -> str:
    done = [_review(record) for record in records if _review(record)["status"] == "done"]
    first = Counter(each["first_critical"] for each in done)
    sides = ("agent", "user", "none") if mode == "full" else ("user", "none")
    counts = ", ".join(f"{side} {first[side]}" for side in sides)
    parts = [f"first critical error by {counts}"] if done else []
    if tags := _tags(done):
        parts.append(f"tags: {tags}")
    if owners := Counter(each["fault_owner"] for each in done if each["fault_owner"]):
        parts.append("at fault: " + ", ".join(f"{owner} {number}" for owner, number in owners.most_common()))
    statuses = Counter(_review(record)["status"] for record in records)
    missing = [f"{statuses[status]} {status}" for status in ("unusable", "failed") if statuses[status]]
    parts += [f"without a review: {', '.join(missing)}"] if missing else []
    return f"reviewed {len(done):,}{name}: {'; '.join(parts)}"


def _tags(reviews: Iterable[Mapping[str, Any]]) -> str:
    counted: Counter[str] = Counter()
    unknown: set[str] = set()
    for each in reviews:
        counted.update(each["tags"])
        unknown.update(each["unknown_tags"])
    texts = [f"{one_line(tag, 40)}{'?' if tag in unknown else ''} {number}" for tag, number in counted.most_common()]
    return listed(texts, _MOST_TAGS)


def _missing(records: Sequence[TrialRecord]) -> list[str]:
    """Return why reviews are missing: a line for each reviewer and problem, with the number of trials."""
    problems = Counter(
        (_review(record)["judge"], _review(record)["status"], one_line(str(_review(record)["error"]), 160))
        for record in records
        if _review(record)["status"] != "done"
    )
    shown = [
        f"reviewer {judge or 'unknown'!r}: {plural(number, 'trial')} {status}: {problem}"
        for (judge, status, problem), number in problems.most_common(_MOST_TRIALS)
    ]
    more = len(problems) - len(shown)
    return [*shown, *([f"{plural(more, 'further reason')} of missing reviews"] if more > 0 else [])]


def _doubts(records: Sequence[TrialRecord]) -> list[str]:
    """Return in which trials the rules of blame and the review name different parties."""
    both = [(record, _OWNERS.get(str((record.blame or {}).get("party")))) for record in records]
    known = [(record, party, _review(record)["fault_owner"]) for record, party in both if party]
    known = [each for each in known if each[2]]
    differing = [each for each in known if each[1] != each[2]]
    if not differing:
        return []
    names = [f"{each.group.trial(each.trial)} ({party}, review: {owner})" for each, party, owner in differing]
    return [
        f"rules of blame and review disagree in {len(differing):,} of {plural(len(known), 'trial')}: "
        f"{listed(names, _MOST_TRIALS)}"
    ]
