"""DB: both databases end as the reference actions leave them."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from ...environment import Environment, canonical, check_comparable, shared_reference
from ...models import DBCheck, Difference, OutcomeCheck
from ...plain import json
from ...text import plural
from ..component import RewardComponent
from ..component_reports import Check, Line, difference_texts, more_line, outcome_text
from ..state import state_share
from .action import check_actions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...environment import Change
    from ...models import Call, Divergence, RewardInfo
    from ..component import GradingInput
    from ..evidence import Evidence, StateHistory

#: Differences that a failure report shows for each side, and a comparison of verdicts altogether.
_MOST, _MOST_DETAILS = 8, 4
#: Characters of a whole record that is shown.
_RECORD_WIDTH = 200
#: Types whose values are JSON values.
_SCALARS = (str, int, bool, type(None))


class DBFindings(NamedTuple):
    """The check, and the places where the states differ (none if they are equal)."""

    check: DBCheck
    differences: list[Difference]


class _Compared(NamedTuple):
    """The comparison of a conversation that reached no right outcome with one of them.

    Attributes:
        nearness: The greatest is the nearest: by the share of what the reward depends on, of values and actions, and by
            the number of differences.
        outcome: The position of the outcome; None for that of the reference actions.
        findings: Where the final state differs from its.
    """

    nearness: tuple[float, float, int]
    outcome: int | None
    findings: DBFindings


def check_db(final: Environment, reference: Environment | None) -> DBFindings:
    """Compare the final state of both sides with the reference's, in order and in type of JSON value.

    Args:
        final: The environment after the conversation.
        reference: The environment after the reference actions; None if the task has neither actions nor
            assertions, which always matches.

    Source: τ²-bench v1.0.1, environment evaluator.
    """
    differences: list[Difference] = []
    if reference is not None:
        for side, expected, actual in Environment.databases_with(reference, final):
            if not expected.equals(actual):
                differences += [difference(side, change) for change in expected.changes(actual)]
    match = not differences
    return DBFindings(DBCheck(db_match=match, db_reward=float(match)), differences)


def same_state(final: Environment, reference: Environment | None) -> bool:
    """Return whether the databases match, without listing their differences."""
    return reference is None or all(
        mine.equals(theirs) for _, mine, theirs in Environment.databases_with(reference, final)
    )


def difference(side: str, change: Change) -> Difference:
    """Return a change of a database as a difference of a verdict."""
    return Difference(
        side=side, path=change.path, expected=_json(change.expected), got=_json(change.got), missing=change.missing
    )


def _json(value: Any) -> Any:
    return value if type(value) in _SCALARS else json.loads(canonical(value))


class DBComponent(RewardComponent):
    """The final databases equal the reference's."""

    name = "DB"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Compare the databases, and list their differences; not if the domain does not show its state."""
        check_comparable(given.task, given.domain.spec)
        if not given.domain.spec.agent_db.comparable:
            return
        findings = check_db(given.environment, given.shared_reference)
        if findings.differences and (outcomes := given.task.criteria.outcomes):
            outcome, findings = _among_outcomes(given, findings)
            verdict.outcome = None if outcome is None else OutcomeCheck(position=outcome, why=outcomes[outcome].why)
        verdict.db_check, verdict.db_diff = findings

    def value(self, verdict: RewardInfo) -> float:
        """Return 1 if the databases match."""
        return verdict.db_check.db_reward if verdict.db_check else 1.0

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return the one check, if it was made."""
        if verdict.db_check is None:
            return []
        text = f"the databases end in the state that {_actions_text(verdict)} produce"
        return [Check(text, verdict.db_check.db_match, None, self.name)]

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return an outcome that is not the reference's, and the differences of each side if they gate the reward."""
        del calls
        lines = _outcome_lines(verdict)
        for side in ("agent", "user") if self.gates(verdict) else ():
            mine = [difference for difference in verdict.db_diff or [] if difference.side == side]
            if not mine:
                continue
            lines.append(Line("head", f"database, {side} side: {plural(len(mine), 'difference')}"))
            width = min(max(len(difference.path) for difference in mine), 48)
            lines += [Line("bad", f"  {d.path:<{width}}  {'   '.join(_texts(d, _RECORD_WIDTH))}") for d in mine[:_MOST]]
            lines += more_line(mine, _MOST)
        return lines

    def located(self, verdict: RewardInfo, evidence: Evidence) -> list[Check]:
        """Return the check with the call that broke the state, or after which it was right."""
        history, calls = evidence.history, evidence.calls
        differences = verdict.db_diff or history.differences
        divergence = evidence.simulation.info.turning_point
        located_checks = []
        for check in self.checks(verdict):
            call = history.database.call_for(check.met) if history.database else None
            if not check.met and divergence is not None:
                call = _diverging_call(divergence, calls)
            elif not check.met and differences:
                call = _last_write(differences, history)
            many = len(differences) if not check.met else 0
            note = f"{many} place{'s' * (many > 1)} differ{'s' * (many == 1)}" if many else ""
            located_checks.append((check._replace(note=note) if note else check).at_call(call, calls))
        return located_checks

    def details(self, verdict: RewardInfo) -> list[str]:
        """Return the differences."""
        differences = verdict.db_diff or []
        lines = [f"{place.side} {place.path}  {', '.join(_texts(place))}" for place in differences[:_MOST_DETAILS]]
        left = len(differences) - _MOST_DETAILS
        return [*lines, f"and {left} more"] if left > 0 else lines

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return whether the databases match; of a task with several outcomes, the other one that was reached."""
        document: dict[str, Any] = {"db_match": verdict.db_check.db_match if verdict.db_check else None}
        if verdict.outcome is not None:
            document["outcome"] = verdict.outcome.model_dump() | {"reached": verdict.reached_outcome is not None}
        return document


def _among_outcomes(given: GradingInput, of_reference: DBFindings) -> tuple[int | None, DBFindings]:
    """Return the first other right outcome that was reached, else the nearest one or that of the reference actions."""
    compared = [_compared(None, of_reference, given)]
    for outcome in range(len(given.task.criteria.outcomes or ())):
        findings = check_db(given.environment, shared_reference(given.domain, given.task.of_outcome(outcome)))
        if not findings.differences:
            return outcome, findings
        compared.append(_compared(outcome, findings, given))
    nearest = max(compared, key=lambda result: result.nearness)
    return nearest.outcome, nearest.findings


def _compared(outcome: int | None, findings: DBFindings, given: GradingInput) -> _Compared:
    task, basis = given.task.of_outcome(outcome), given.task.criteria.reward_basis
    actions = check_actions(task.criteria.actions or (), given.messages, given.grading, lambda _: None)
    shares = {
        "DB": state_share(task, given.domain, findings.differences) or 0.0,
        "ACTION": sum(check.action_match for check in actions) / len(actions) if actions else 1.0,
    }
    counting = [share for name, share in shares.items() if name in basis] or [shares["DB"]]
    return _Compared((fmean(counting), fmean(shares.values()), -len(findings.differences)), outcome, findings)


def _actions_text(verdict: RewardInfo) -> str:
    """Return the actions whose state the final one was compared with, in words."""
    if verdict.outcome is None:
        return "the reference actions"
    return f"the actions of {outcome_text(verdict.outcome)}"


def _outcome_lines(verdict: RewardInfo) -> list[Line]:
    if verdict.outcome is None:
        return []
    how = "reached" if verdict.reached_outcome is not None else "the nearest right outcome"
    return [Line("note", f"{how}: {outcome_text(verdict.outcome)}")]


def _texts(difference: Difference, width: int = 60) -> tuple[str, str]:
    return difference_texts(difference.expected, difference.got, difference.missing, whole=width)


def _diverging_call(divergence: Divergence, calls: Sequence[Call]) -> int | None:
    """Return the call after which the right state was out of reach; None if a write is missing."""
    there = [position for position, call in enumerate(calls) if call.message_idx == divergence.message_idx]
    same_tool = (position for position in there if calls[position].call.name == divergence.call["name"])
    return next(same_tool, there[0] if there else None)


def _last_write(differences: Sequence[Difference], history: StateHistory) -> int | None:
    """Return the last call that wrote to a place that is wrong in the end, or else to a list with such a place.

    An element of a list may have another position when it is written than in the end.
    """
    wrong = [(difference.side, difference.path) for difference in differences]
    exactly = _last_overlapping(wrong, history, lambda path: path)
    return exactly if exactly is not None else _last_overlapping(wrong, history, _outermost_list)


def _last_overlapping(
    wrong: Sequence[tuple[str, str]], history: StateHistory, place: Callable[[str], str]
) -> int | None:
    return max(
        (
            position
            for position, changes in history.changes.items()
            for change in changes
            if any(change.side == side and _overlap(place(change.path), place(path)) for side, path in wrong)
        ),
        default=None,
    )


def _outermost_list(path: str) -> str:
    """Return the path of the list around a place, for the first position below the record; else the path itself."""
    return re.sub(r"^([^/]+/[^/]+/.*?)/\d+(/.*)?$", r"\1", path)


def _overlap(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
