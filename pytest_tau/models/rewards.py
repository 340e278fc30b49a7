"""The evaluator's verdict, in the JSON format of τ²-bench, with the database differences added."""

from __future__ import annotations

import operator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .tasks import Action, EnvAssertion


class _Check(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Difference(_Check):
    """One place where the final state differs from the reference's.

    Attributes:
        side: The side of the database: ``agent`` or ``user``.
        path: Record and field, as ``orders/#W2378156/status``.
        expected: The reference's value; absent if ``missing`` is ``expected``.
        got: The conversation's value; absent if ``missing`` is ``got``.
        missing: The state that lacks the place: ``expected``, ``got`` or None.
    """

    side: str
    path: str
    expected: Any = None
    got: Any = None
    missing: str | None = None


class DBCheck(_Check):
    """The comparison of the final databases with the reference's."""

    db_match: bool
    db_reward: float


class OutcomeCheck(_Check):
    """The right outcome of a task that a final state was compared with, next to that of the reference actions.

    Attributes:
        position: Its position among the outcomes of the task.
        why: Why it is right, as the task says.
    """

    position: int
    why: str


class EnvAssertionCheck(_Check):
    """The check of one statement about the final environment.

    Attributes:
        error: Why it could not be run, or that it returned no bool.
        returned: The type of its value, if that was no bool; not stored.
    """

    env_assertion: EnvAssertion
    met: bool
    reward: float
    error: str | None = None
    returned: str | None = Field(default=None, exclude=True)


class ActionCheck(_Check):
    """The check that a call matches a reference action; ``tool_type`` is the tool's kind."""

    action: Action
    action_match: bool
    action_reward: float
    tool_type: str | None = None


class CommunicateCheck(_Check):
    """The check that the agent said a phrase."""

    info: str
    met: bool
    justification: str


class NLAssertionCheck(_Check):
    """A judge's verdict on one statement."""

    nl_assertion: str
    met: bool
    justification: str


class CustomCheck(_Check):
    """The verdict of an evaluator that a plugin added."""

    name: str
    reward: float
    justification: str = ""


class RewardInfo(_Check):
    """The verdict on a simulation.

    Attributes:
        reward: Product of the components named by ``reward_basis``; 0 unless the conversation was ended by a stop.
        reward_breakdown: Each component of the basis with its value.
        info: Notes, such as why a conversation that ended early scores 0.
        outcome: The other right outcome that was reached or, if none was, that is nearest to the final state; None for
            that of the reference actions.
        partial: Partial credit by name, such as ``progress`` or ``actions.write``, each None where there is nothing to
            measure, a share or a whole number; None for verdicts of others. It is not part of the reward.
    """

    reward: float
    db_check: DBCheck | None = None
    env_assertions: list[EnvAssertionCheck] | None = None
    action_checks: list[ActionCheck] | None = None
    nl_assertions: list[NLAssertionCheck] | None = None
    communicate_checks: list[CommunicateCheck] | None = None
    custom_checks: list[CustomCheck] | None = None
    reward_basis: list[str] | None = None
    reward_breakdown: dict[str, float] | None = None
    db_diff: list[Difference] | None = None
    info: dict[str, Any] | None = None
    partial: dict[str, int | float | None] | None = None
    outcome: OutcomeCheck | None = Field(default=None, exclude_if=operator.not_)

    def without_checks(self) -> RewardInfo:
        """Return the verdict with its numbers alone."""
        return self.model_copy(update=_NO_CHECKS)

    @property
    def partial_text(self) -> str:
        """Partial credit in one line, without what was not measured and counts of 0."""
        measured = {name: value for name, value in (self.partial or {}).items() if value is not None}
        texts = (
            f"{name} {value}" if isinstance(value, int) else f"{name} {value:.2f}"
            for name, value in measured.items()
            if isinstance(value, float) or value
        )
        return ", ".join(texts)

    @property
    def compared_outcome(self) -> int | None:
        """Return the position of ``outcome``."""
        return self.outcome.position if self.outcome else None

    @property
    def reached_outcome(self) -> int | None:
        """Return the position of the other right outcome that was reached; None if none was."""
        return self.compared_outcome if self.db_check and self.db_check.db_match else None

    @property
    def partial_action_reward(self) -> dict[str, dict[str, float] | None] | None:
        """Return how many reference actions were made, in all and by kind; None if there are no reference actions.

        Each of ``total``, ``read`` and ``write`` has ``correct``, ``count`` and ``proportion``; the last two are None
        without such actions.

        Source: τ²-bench v1.0.1, verdicts.
        """
        checks = self.action_checks or []
        if not checks:
            return None
        matches = {
            kind: [check.action_match for check in checks if check.tool_type == kind] for kind in ("read", "write")
        }
        matches = {"total": [check.action_match for check in checks], **matches}
        return {
            name: {"correct": sum(met), "count": len(met), "proportion": sum(met) / len(met)} if met else None
            for name, met in matches.items()
        }

    @property
    def passed(self) -> bool:
        """Return whether the reward is 1, within the reference's tolerance.

        Source: τ²-bench v1.0.1, metrics: success is a reward within 1e-6 of 1.
        """
        return abs(self.reward - 1.0) <= 1e-6


#: All fields of a verdict but its numbers.
_NO_CHECKS = dict.fromkeys(
    RewardInfo.model_fields.keys() - {"reward", "db_check", "reward_basis", "reward_breakdown", "outcome"}
)
