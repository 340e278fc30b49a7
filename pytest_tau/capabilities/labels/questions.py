"""What can be labelled of a trial, and what the tool itself says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...policy import PolicyReport
from .table import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Simulation


class Question(NamedTuple):
    """A question about a trial.

    Attributes:
        subject: What it is about.
        text: What a person is asked.
        answer: What the tool says.
        by: The model of the judge, or the rule; empty for the party at fault.
    """

    subject: Subject
    text: str
    answer: str
    by: str = ""


def questions_of(simulation: Simulation) -> Iterator[Question]:
    """Yield the questions about a trial: who is at fault if it failed, each judged statement, each breach of a rule."""
    blame = simulation.info.blame
    if simulation.outcome == "failed" and blame is not None:
        yield Question(Subject(simulation.id, "party"), "Who is at fault?", blame.party)
    judge = simulation.called_model("judge") or "unknown"
    for check in (simulation.reward_info.nl_assertions if simulation.reward_info else None) or ():
        answer = "met" if check.met else "not met"
        yield Question(
            Subject(simulation.id, "statement", check.nl_assertion), f"Met? {check.nl_assertion}", answer, judge
        )
    report = _report(simulation)
    for breach in report.breaches if report else ():
        item = f"{breach.rule}@{breach.message_idx}"
        text = f"Is it right that the rule {breach.rule} was broken in {breach.line()}?"
        yield Question(Subject(simulation.id, "breach", item), text, "right", breach.rule)


def _report(simulation: Simulation) -> PolicyReport | None:
    """Return the report of the rules of the policy among the facts of a trial; None if there is none."""
    for facts in simulation.facts.values():
        try:
            return PolicyReport.read(**facts)
        except (TypeError, ValueError):  # other facts, or those of another version
            continue
    return None
