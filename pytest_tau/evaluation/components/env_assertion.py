"""ENV_ASSERTION: statements about the final environment are true."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...errors import DomainError, ToolServerError
from ...models import EnvAssertionCheck, call_as_text
from ..component import RewardComponent
from ..component_reports import Check, Line, more_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Environment
    from ...models import Call, EnvAssertion, RewardInfo
    from ..component import GradingInput
    from ..evidence import Evidence

#: Assertions that a failure report shows.
_MOST = 6


def check_env_assertions(assertions: Sequence[EnvAssertion], final: Environment) -> list[EnvAssertionCheck]:
    """Run each assertion on the final environment; one that raises is not met.

    The reference lets a raising assertion escape and drops the simulation, which a failing agent gains from.
    """
    return [_check(assertion, final) for assertion in assertions]


def _check(assertion: EnvAssertion, final: Environment) -> EnvAssertionCheck:
    error = returned = None
    try:
        value = final.run_function(assertion.env_type, assertion.func_name, assertion.arguments)
        met = value is assertion.assert_value
        if not isinstance(value, bool):
            returned = type(value).__name__
            error = f"Function {assertion.func_name} returned {returned} instead of bool"
    except (DomainError, ToolServerError):
        raise  # no fault of the agent
    except Exception as problem:  # noqa: BLE001 - the tool boundary: an assertion may raise anything
        met, error = False, f"{type(problem).__name__}: {problem}"
    return EnvAssertionCheck(env_assertion=assertion, met=met, reward=float(met), error=error, returned=returned)


class EnvAssertionComponent(RewardComponent):
    """The task's assertions are met in the final environment."""

    name = "ENV_ASSERTION"

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Run the assertions."""
        verdict.env_assertions = check_env_assertions(given.task.criteria.env_assertions or [], given.environment)

    def value(self, verdict: RewardInfo) -> float:
        """Return 1 if every assertion is met."""
        return math.prod(check.reward for check in verdict.env_assertions or [])

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return a check for each assertion."""
        assertion_checks = []
        for check in verdict.env_assertions or []:
            assertion = check.env_assertion
            stated = call_as_text(assertion.func_name, assertion.arguments) + (
                "" if assertion.assert_value else " is false"
            )
            text, note = f"{assertion.env_type}: {stated}", check.error or assertion.message or ""
            assertion_checks.append(Check(text, check.met, assertion.func_name, f"assertion {stated}", note))
        return assertion_checks

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the assertions that are not met, also if they do not gate."""
        del calls
        unmet = [check for check in verdict.env_assertions or [] if not check.met]
        lines = []
        for check in unmet[:_MOST]:
            assertion = check.env_assertion
            stated = call_as_text(assertion.func_name, assertion.arguments) + (
                "" if assertion.assert_value else " to be false"
            )
            lines.append(Line("bad", f"not met, {assertion.env_type} side: {stated}"))
            note = check.error or assertion.message
            lines += [Line("note", f"  {note}")] if note else []
        return lines + more_line(unmet, _MOST)

    def located(self, verdict: RewardInfo, evidence: Evidence) -> list[Check]:
        """Return each check with the call after which it was as it is in the end."""
        turned, calls = evidence.history.assertions, evidence.calls
        return [
            check.at_call(turned[number].call_for(check.met) if number < len(turned) else None, calls)
            for number, check in enumerate(self.checks(verdict))
        ]

    def to_json(self, verdict: RewardInfo) -> dict[str, Any]:
        """Return the outcome of each assertion."""
        return {"env_assertions": [check.met for check in verdict.env_assertions or []]}
