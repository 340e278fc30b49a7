"""How a failed trial ended: what differs from the reference, and whether that says anything about the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from ...capability import TrialStages
from ...errors import TauError
from ...evaluation import components_of, difference_texts
from ...files import digest
from ...plain import json
from ...policy import check_policy, load_rules
from ...text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...capability import TrialView
    from ...environment import Domain
    from ...models import Difference, RewardInfo, Simulation, Task

#: Differences that are kept as text, and the characters of each.
_MOST, _WIDTH = 6, 160
#: Characters of the digests of an end and of a difference.
_DIGITS = 16
#: How the conversation ends if the two sides end it.
_STOPS = ("user_stop", "agent_stop")


class EndFacts(BaseModel):
    """The end of a failed trial.

    Attributes:
        end: The digest of all differences: two trials of a task with the same one ended in the same way.
        parts: The digest of each difference.
        differs: The differences as text, at most six.
        says_nothing: Why the end says nothing about the task; empty if it is evidence.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    end: str
    parts: tuple[str, ...]
    differs: tuple[str, ...]
    says_nothing: str = ""


class EndStages(TrialStages):
    """Notes how a failed trial ended."""

    def __init__(self, view: TrialView) -> None:
        self._view = view

    def graded(self, simulation: Simulation) -> EndFacts | None:
        """Return the end of a failed trial; None for any other."""
        return end_of(simulation, self._view.task, self._view.domain)


def end_of(simulation: Simulation, task: Task, domain: Domain) -> EndFacts | None:
    """Return the end of a failed trial; None for one that passed, or that has no verdict.

    Where the reward does not depend on the database, end states say nothing: the checks that failed are compared.

    Args:
        simulation: The trial, graded.
        task: Its task.
        domain: Its domain.
    """
    verdict = simulation.reward_info
    if simulation.outcome != "failed" or verdict is None:
        return None
    differences = list(_differences(verdict))
    if not differences:
        return None
    parts = sorted(digest(key)[:_DIGITS] for key, _ in differences)
    return EndFacts(
        end=digest(" ".join(parts))[:_DIGITS],
        parts=tuple(parts),
        differs=tuple(one_line(text, _WIDTH) for _, text in differences[:_MOST]),
        says_nothing=_why_no_evidence(simulation, task, domain),
    )


def _differences(verdict: RewardInfo) -> Iterator[tuple[str, str]]:
    """Yield each difference from the reference as an exact key and as text: of the database, else of other checks."""
    if "DB" in (verdict.reward_basis or ()) and verdict.db_diff:
        for difference in verdict.db_diff:
            yield _key(difference), f"{difference.path}: {', '.join(_texts(difference))}"
        return
    for component in components_of(verdict):
        if component.gates(verdict):
            yield from ((check, f"not met: {check}") for check in component.failed_checks(verdict))


def _key(difference: Difference) -> str:
    return json.dumps([difference.side, difference.path, difference.missing, difference.got])


def _texts(difference: Difference) -> tuple[str, str]:
    return difference_texts(difference.expected, difference.got, difference.missing)


def _why_no_evidence(simulation: Simulation, task: Task, domain: Domain) -> str:
    if simulation.termination_reason not in _STOPS:
        return "the conversation was cut off"
    if not _has_written(simulation, domain):
        return "nothing was changed"
    return _broken_rule(simulation, task, domain)


def _has_written(simulation: Simulation, domain: Domain) -> bool:
    declared = dict(domain.spec.agent_tools.tool_infos)
    declared |= domain.spec.user_tools.tool_infos if domain.spec.user_tools else {}
    return any(
        call.call.name in declared and declared[call.call.name].mutates and not (call.result and call.result.error)
        for call in simulation.calls
    )


def _broken_rule(simulation: Simulation, task: Task, domain: Domain) -> str:
    """Return the rule of calls that the conversation broke, by which it could not reach an end that is right."""
    rules = [rule for rule in load_rules(domain.spec) if rule.absolute]
    try:
        report = check_policy(simulation.messages, task, domain, rules=rules) if rules else None
    except TauError:
        return ""
    breach = next(iter(report.breaches), None) if report else None
    return f"the rule {breach.rule} was broken" if breach else ""
