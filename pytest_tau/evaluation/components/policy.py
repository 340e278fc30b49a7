"""POLICY: the rules of the domain's policy were kept, in a domain whose rules count."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ...errors import EvaluatorError
from ...models import CustomCheck
from ..component import CustomComponent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Environment
    from ...models import Message, RewardInfo, Task
    from ..component import GradingInput


class PolicyComponent(CustomComponent):
    """1 if no rule that counts was broken, else 0.

    Args:
        silent: The agent only makes the reference calls: rules about what is said are not checked.
    """

    name = "POLICY"

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Add a check with the rules that were broken.

        Raises:
            EvaluatorError: A rule could not be checked.
        """
        # By name: rules are above this package.
        policy = importlib.import_module("pytest_tau.policy")
        report = policy.check_policy(
            given.messages,
            given.task,
            given.domain,
            solo=given.solo,
            dialog=not self._silent,
            rules=policy.counting_rules(given.domain.spec),
        )
        if report is None:
            return
        if report.problems:
            name, why = next(iter(report.problems.items()))
            raise EvaluatorError(f"rule {name!r} could not be checked on task {given.task.id!r}: {why}")
        broken = ", ".join(f"{name} (message {_first(report.breaches, name)})" for name in report.counts)
        text = f"broke {broken}" if broken else "all rules were kept"
        check = CustomCheck(name=self.name, reward=float(not broken), justification=text)
        verdict.custom_checks = [*(verdict.custom_checks or []), check]

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck | float:
        """Grade nothing: ``grade`` needs the domain.

        Raises:
            EvaluatorError: Always.
        """
        raise EvaluatorError(f"{self.name} is graded with its domain")


def _first(breaches: Sequence[object], rule: str) -> int:
    return next(int(getattr(breach, "message_idx", 0)) for breach in breaches if getattr(breach, "rule", None) == rule)
