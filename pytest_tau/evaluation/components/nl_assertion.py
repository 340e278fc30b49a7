"""NL_ASSERTION: a judge finds each statement true of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...text import shorten
from ..component import RewardComponent
from ..component_reports import Check, Line, more_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...models import Call, RewardInfo
    from ..component import GradingInput

#: Statements that a failure report shows.
_MOST = 5


class NLAssertionComponent(RewardComponent):
    """The judge found each statement true."""

    name = "NL_ASSERTION"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Take over the judge's verdicts; None if there are statements that were not judged."""
        verdict.nl_assertions = given.verdicts if given.task.criteria.nl_assertions else []

    def value(self, verdict: RewardInfo) -> float | None:
        """Return 1 if every statement is true; None if they were not judged."""
        if verdict.nl_assertions is None:
            return None
        return float(all(check.met for check in verdict.nl_assertions))

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return a check for each statement."""
        return [
            Check(text, check.met, text, f"statement {text!r}", check.justification)
            for check in verdict.nl_assertions or []
            for text in [check.nl_assertion]
        ]

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the statements that are not true, also if they do not gate."""
        del calls
        untrue = [check for check in verdict.nl_assertions or [] if not check.met]
        lines = [
            Line("bad", f"judged untrue: {check.nl_assertion}  ({shorten(check.justification, 120)})")
            for check in untrue[:_MOST]
        ]
        return lines + more_line(untrue, _MOST)

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return the judge's verdict on each statement."""
        return {"nl_assertions": [check.met for check in verdict.nl_assertions or []]}
