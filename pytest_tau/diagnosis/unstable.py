"""Reference actions that lead to another state each time: no agent can meet such a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluation.components.db import check_db
from .facts import Attribution, Facts

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Difference, RewardInfo, Task


def unstable_place(task: Task, verdict: RewardInfo | None, domain: Domain) -> str | None:
    """Return the first wrong place of a final state, if the reference actions lead to another state there each time.

    All reference actions must have been made.

    Args:
        task: What was to be done.
        verdict: The verdict on the conversation.
        domain: The domain it took place in.

    Returns:
        None if the state is right, or also wrong at a place at which the reference is the same each time.
    """
    if verdict is None or not all(check.action_match for check in verdict.action_checks or []):
        return None
    wrong = verdict.db_diff if (verdict.reward_breakdown or {}).get("DB") == 0 else None
    if not wrong or not domain.spec.agent_db.cheap_to_fork:
        return None
    again = domain.once_per_task(task, "reference again", domain.after_reference_actions)
    unstable = {_place(each) for each in check_db(again, domain.shared_reference(task)).differences}
    return wrong[0].path if unstable.issuperset(map(_place, wrong)) else None


def _place(found: Difference) -> tuple[str, Any]:
    """Return where a difference is; of a whole record, whose id may be drawn at random, only the table."""
    return found.side, found.path if found.missing is None else found.path.rpartition("/")[0]


def reference_differs(facts: Facts) -> Attribution | None:
    """Apply if the state is wrong only where the reference is another one each time."""
    reason = "its tools lead to another state each time, also by the reference actions"
    unstable = facts.of_domain.unstable
    return None if unstable is None else Attribution("domain", reason, None, unstable)
