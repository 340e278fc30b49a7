"""The rules of the policy that a conversation alone can show to be broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from pytest_tau.policy import Rule, bounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, Trajectory

    from .models import MockDB

_DELETE = re.compile(r"\b(?:delet|remov|eras)\w*\b[^.?!]*\btask|\btask\b[^.?!]*\b(?:delet|remov|eras)", re.IGNORECASE)


def _existing_users(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        environment = trajectory.shared_state_before(call) if call.name == "create_task" else None
        user_id = call.arguments.get("user_id")
        if environment and user_id not in cast("MockDB", environment.agent_db).users:
            yield trajectory.breach(call, f"there is no user {user_id}")


def _titles(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        if call.name == "create_task" and not str(call.arguments.get("title") or "").strip():
            yield trajectory.breach(call, "a task without a title")


def _statuses(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.calls:
        status = call.arguments.get("status")
        if call.name == "update_task_status" and status not in ("pending", "completed"):
            yield trajectory.breach(call, f"the status {status!r}")


def _deletion(trajectory: Trajectory) -> Iterator[Breach]:
    request = next((turn for turn in trajectory.user_texts() if _DELETE.search(turn.text)), None)
    answers = trajectory.agent_texts(after=request) if request else []
    if answers and not any(call.name == "transfer_to_human_agents" for call in trajectory.calls):
        yield trajectory.breach(answers[-1], "the user asked for a deletion, and was not handed over")


_RULES = [
    Rule("existing-users", "Tasks can be created only for a user who exists", _existing_users, absolute=True),
    Rule("titles", "A task needs a title; ask for it if it is missing.", _titles, absolute=True),
    Rule("statuses", "Set no other value, even where a tool would take it.", _statuses, absolute=True),
    Rule(
        "deletion",
        "Not allowed, neither by you nor on request: hand the user over with `transfer_to_human_agents`.",
        _deletion,
        needs_dialog=True,
    ),
]
RULES = bounded(_RULES)
