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
        found = [each.facts for each in known if each.facts["mode"] == mode]
        if found:
            lines.append(_counts(found, name, mode))
    return lines


def _counts(reviews: Sequence[Mapping[str, Any]], name: str, mode: str) -> str:
    done = [each for each in reviews if each["status"] == "done"]
    first = Counter(each["first_critical"] for each in done)
    sides = ("agent", "user", "none") if mode == "full" else ("user", "none")
    counts = ", ".join(f"{side} {first[side]}" for side in sides)
    parts = [f"first critical error by {counts}"] if done else []
    if tags := _tags(done):
        parts.append(f"tags: {tags}")
    if owners := Counter(each["fault_owner"] for each in done if each["fault_owner"]):
        parts.append("at fault: " + ", ".join(f"{owner} {number}" for owner, number in owners.most_common()))
    statuses = Counter(each["status"] for each in reviews)
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


def _missing(trials: Sequence[Measured]) -> list[str]:
    """Return why reviews are missing: a line for each reviewer and problem, with the number of trials."""
    problems = Counter(
        (facts["judge"], facts["status"], one_line(str(facts["error"]), 160))
        for _, facts in trials
        if facts["status"] != "done"
    )
    shown = [
        f"reviewer {judge or 'unknown'!r}: {plural(number, 'trial')} {status}: {problem}"
        for (judge, status, problem), number in problems.most_common(_MOST_TRIALS)
    ]
    more = len(problems) - len(shown)
    return [*shown, *([f"{plural(more, 'further reason')} of missing reviews"] if more > 0 else [])]


def _doubts(trials: Sequence[Measured]) -> list[str]:
    """Return in which trials the rules of blame and the review name different parties."""
    both = [(each, each.record.info.blame and _OWNERS.get(each.record.info.blame.party)) for each in trials]
    known = [(each.record, party, each.facts["fault_owner"]) for each, party in both if party]
    known = [each for each in known if each[2]]
    differing = [each for each in known if each[1] != each[2]]
    if not differing:
        return []
    names = [f"{each.group.trial(each.trial)} ({party}, review: {owner})" for each, party, owner in differing]
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
    for each in review.errors:
        if each.critical:
            where = f" (message {each.turn_idx})" if each.turn_idx is not None else ""
            said = filter(None, [f"{each.source}, {each.severity}{where}", each.error_type, each.reasoning])
            yield one_line(": ".join(said), _LONGEST)


def page(_facts: Mapping[str, Any], simulation: Simulation) -> Iterator[PageBlock]:
    """Yield a box for each review."""
    found = [review_of(simulation, mode) for mode in REVIEW_KEYS]
    yield from (_box(review) for review in found if review is not None)


def _box(review: Review) -> PageBlock:
    who = [review.judge.name if review.judge else "", "the user alone" if review.mode == "user" else ""]
    note = " · ".join(filter(None, [", ".join(filter(None, who)), review.fault_type]))
    if not review.done:
        return PageBlock(f"Review: {review.status}", note, review.error or "", place="box")
    fault = f": the {review.fault_owner}'s fault" if review.fault_owner else ""
    text = review.summary if review.errors else f"{review.summary} No errors were found.".strip()
    return PageBlock(f"Review{fault}", note, text, items=[*map(_item, review.errors)], place="box")


def _item(error: ReviewFinding) -> PageItem:
    what = ", ".join(filter(None, [error.source, error.severity, *error.error_tags]))
    text = f"({what}) {error.reasoning}" if error.error_type else error.reasoning
    better = f"Right would have been: {error.correct_behavior}" if error.correct_behavior else ""
    return PageItem(text, error.error_type or what, better, error.turn_idx)
