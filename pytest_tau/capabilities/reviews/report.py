"""What reviews found, in reports: first critical errors, tags, reviews that are missing, and doubts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...capability import PageBlock, PageItem
from ...models import any_review, review_of
from ...models.reviews import REVIEW_KEYS
from ...text import listed, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...capability import Compared, Measured
    from ...models import Review, ReviewFinding, Simulation

#: Tags and trials that a line names, and the most characters of a text in the report of a failure.
_MOST_TAGS, _MOST_TRIALS, _LONGEST = 8, 5, 300
#: The owners of a fault by the parties of the rules of blame.
_OWNERS = {"agent": "agent", "user": "user"} | dict.fromkeys(("task", "domain", "harness", "provider"), "environment")


def read_facts(**facts: Any) -> dict[str, Any]:
    """Return stored facts as they are.

    Raises:
        ValueError: They are not of a review.
    """
    if "mode" not in facts:
        raise ValueError("expected the mode of a review")
    return facts


def summary(trials: Sequence[Measured]) -> list[str]:
    """Return what the reviews of trials found, as lines of text."""
    return [*_by_mode(trials), *_missing(trials), *_doubts(trials)]


def comparison(compared: Compared) -> list[str]:
    """Return what the reviews of each run found."""
    sides = (("before", compared.before), ("after", compared.after))
    return [f"{name}: {line}" for name, trials in sides for line in _by_mode(trials)]


def _by_mode(trials: Iterable[Measured]) -> list[str]:
    """Return the numbers of reviews and of what they found, as a line for each mode."""
    lines, known = [], list(trials)
    for mode, name in (("full", ""), ("user", " (the user alone)")):
        reviews = [trial.facts for trial in known if trial.facts["mode"] == mode]
        if reviews:
            lines.append(_counts(reviews, name, mode))
    return lines


def _counts(reviews: Sequence[Mapping[str, Any]], name: str, mode: str) -> str:
    finished = [review for review in reviews if review["status"] == "done"]
    first = Counter(review["first_critical"] for review in finished)
    sides = ("agent", "user", "none") if mode == "full" else ("user", "none")
    counts = ", ".join(f"{side} {first[side]}" for side in sides)
    parts = [f"first critical error by {counts}"] if finished else []
    if tags := _tags(finished):
        parts.append(f"tags: {tags}")
    if owners := Counter(review["fault_owner"] for review in finished if review["fault_owner"]):
        parts.append("at fault: " + ", ".join(f"{owner} {number}" for owner, number in owners.most_common()))
    statuses = Counter(review["status"] for review in reviews)
    missing = [f"{statuses[status]} {status}" for status in ("unusable", "failed") if statuses[status]]
    parts += [f"without a review: {', '.join(missing)}"] if missing else []
    return f"reviewed {len(finished):,}{name}: {'; '.join(parts)}"


def _tags(reviews: Iterable[Mapping[str, Any]]) -> str:
    counted: Counter[str] = Counter()
    unknown: set[str] = set()
    for review in reviews:
        counted.update(review["tags"])
        unknown.update(review["unknown_tags"])
    texts = [f"{one_line(tag, 40)}{'?' if tag in unknown else ''} {number}" for tag, number in counted.most_common()]
    return listed(texts, _MOST_TAGS)


def _missing(trials: Sequence[Measured]) -> list[str]:
    """Return why reviews are missing: a line for each reviewer and problem, with the number of trials."""
    problems = Counter(
        (facts["judge"], facts["status"], one_line(str(facts["error"]), 160))
        for _, facts in trials
        if facts["status"] != "done"
    )
    lines = [
        f"reviewer {judge or 'unknown'!r}: {plural(number, 'trial')} {status}: {problem}"
        for (judge, status, problem), number in problems.most_common(_MOST_TRIALS)
    ]
    more = len(problems) - len(lines)
    return [*lines, *([f"{plural(more, 'further reason')} of missing reviews"] if more > 0 else [])]


def _doubts(trials: Sequence[Measured]) -> list[str]:
    """Return in which trials the rules of blame and the review name different parties."""
    both = [(trial, trial.record.info.blame and _OWNERS.get(trial.record.info.blame.party)) for trial in trials]
    known = [(trial.record, party, trial.facts["fault_owner"]) for trial, party in both if party]
    known = [case for case in known if case[2]]
    differing = [case for case in known if case[1] != case[2]]
    if not differing:
        return []
    names = [f"{record.group.trial(record.trial)} ({party}, review: {owner})" for record, party, owner in differing]
    return [
        f"rules of blame and review disagree in {len(differing):,} of {plural(len(known), 'trial')}: "
        f"{listed(names, _MOST_TRIALS)}"
    ]


def failure(_facts: Mapping[str, Any], simulation: Simulation) -> Iterator[str]:
    """Yield whose fault a failure is, and the critical errors."""
    review = any_review(simulation)
    if review is None:
        return
    by = f"by {review.judge.name}: " if review.judge else ""
    if not review.done:
        yield f"{by}{review.status}: {one_line(review.error or '', _LONGEST)}"
        return
    fault = f"fault of the {review.fault_owner}" if review.fault_owner else "no fault named"
    kind = f" ({review.fault_type})" if review.fault_type else ""
    yield f"{by}{fault}{kind}" + (f": {one_line(review.summary, _LONGEST)}" if review.summary else "")
    for error in review.errors:
        if error.critical:
            where = f" (message {error.turn_idx})" if error.turn_idx is not None else ""
            parts = filter(None, [f"{error.source}, {error.severity}{where}", error.error_type, error.reasoning])
            yield one_line(": ".join(parts), _LONGEST)


def page(_facts: Mapping[str, Any], simulation: Simulation) -> Iterator[PageBlock]:
    """Yield a box for each review."""
    reviews = [review_of(simulation, mode) for mode in REVIEW_KEYS]
    yield from (_box(review) for review in reviews if review is not None)


def _box(review: Review) -> PageBlock:
    who = [review.judge.name if review.judge else "", "the user alone" if review.mode == "user" else ""]
    note = " · ".join(filter(None, [", ".join(filter(None, who)), review.fault_type]))
    if not review.done:
        return PageBlock(f"Review: {review.status}", note, review.error or "", place="box")
    fault = f": the {review.fault_owner}'s fault" if review.fault_owner else ""
    text = review.summary if review.errors else f"{review.summary} No errors were found.".strip()
    return PageBlock(f"Review{fault}", note, text, items=[*map(_item, review.errors)], place="box")


def _item(error: ReviewFinding) -> PageItem:
    labels = ", ".join(filter(None, [error.source, error.severity, *error.error_tags]))
    text = f"({labels}) {error.reasoning}" if error.error_type else error.reasoning
    better = f"Right would have been: {error.correct_behavior}" if error.correct_behavior else ""
    return PageItem(text, error.error_type or labels, better, error.turn_idx)
