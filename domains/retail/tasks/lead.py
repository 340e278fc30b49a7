"""The online shop with a shift lead who approves returns, and other changes that are abused.

``python scripts/approval_tasks.py`` writes its tasks.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest_tau_tasks
from pytest_tau.models import Action, Task, UserScenario
from pytest_tau.policy import approvals_of, with_approvals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_tau.environment import Difficulty, DomainSpec
    from pytest_tau.policy import Approval

#: Reasons of the lead, which nothing else says, each with the word by which it is known again.
_REASONS = (
    ("There were three claims from this address since March.", "March"),
    ("Accounting wants to see it first, and is back on Thursday.", "Thursday"),
    ("The depot in Tulsa has to look at it first.", "Tulsa"),
    ("The account is under review by Mrs. Halvorsen.", "Halvorsen"),
)
_ACCEPT = " If a request is refused, accept it once you have heard the reason, and say goodbye."


def bundled_files(tasks: Iterable[Task], spec: DomainSpec) -> dict[str, str]:
    """Return the texts of the task files by name, made of the shop's own tasks."""
    from ..._kit.cli import task_files  # the domain itself needs no commands

    with_lead_tasks = list(tasks_with_approvals(tasks, spec))
    return task_files(with_lead_tasks, {"base": [task.id for task in with_lead_tasks]})


def tasks_with_approvals(tasks: Iterable[Task], spec: DomainSpec) -> Iterator[Task]:
    """Yield tasks with a lead, of those with a change that needs an approval: in turn one with a yes and one with a no.

    Of a task with several changes, the lead approves all.

    Args:
        tasks: Tasks of the shop.
        spec: The shop with a lead.
    """
    approvals = approvals_of(spec)
    writes = {name for name, info in spec.agent_tools.tool_infos.items() if info.mutates}
    number = 0
    for task in tasks:
        changes = [action for action in task.criteria.actions or () if action.name in writes]
        needing = [change for change in changes if _needs_approval(change, approvals)]
        if not needing or task.needs_judge or task.criteria.outcomes:
            continue
        is_rejected = number % 2 == 1 and len(changes) == 1
        yield _with_decision(task, approvals, _REASONS[number // 2 % len(_REASONS)] if is_rejected else None)
        number += 1


def _needs_approval(action: Action, approvals: Iterable[Approval]) -> bool:
    return any(approval.covers(action.name, action.arguments) for approval in approvals)


def _with_decision(task: Task, approvals: Iterable[Approval], reason: tuple[str, str] | None) -> Task:
    """Return a task with a lead who approves the changes, or rejects the only one for a reason."""
    actions: list[Action] = []
    for action in task.criteria.actions or ():
        if _needs_approval(action, approvals):
            actions.append(
                Action(
                    action_id=f"ask_{action.action_id}",
                    name="request_approval",
                    arguments={"tool": action.name, "arguments": action.arguments},
                    compare_args=["tool", "arguments"],
                )
            )
            if reason is not None:
                break
        actions.append(action)
    criteria: dict[str, Any] = {"actions": actions}
    criteria["reward_basis"] = list(dict.fromkeys([*task.criteria.reward_basis, "ACTION"]))
    changed: dict[str, Any] = {"id": f"{task.id}.{'approved' if reason is None else 'rejected'}"}
    if reason is not None:
        text, word = reason
        criteria["communicate_info"] = [word]
        changed["annotations"] = {"tau.approver": {"answers": [{"answer": "reject", "text": text}]}}
        changed["user_scenario"] = _accepting(task.user_scenario)
    changed["evaluation_criteria"] = task.criteria.model_copy(update=criteria)
    return task.model_copy(update=changed)


def _accepting(scenario: UserScenario) -> UserScenario:
    """Return the scenario of a user who accepts a refusal."""
    instructions = scenario.instructions
    if isinstance(instructions, str):
        return scenario.model_copy(update={"instructions": instructions + _ACCEPT})
    told = instructions.model_copy(update={"task_instructions": instructions.task_instructions + _ACCEPT})
    return scenario.model_copy(update={"instructions": told})


def with_lead(plain: DomainSpec) -> DomainSpec:
    """Return the shop with a lead, who approves or rejects changes in generated tasks as in the bundled ones."""

    def generate(count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
        assert plain.generate is not None, "the shop has a generator"
        tasks: list[Task] = []
        for plain_count in (4 * count, 20 * count, 100 * count):
            tasks = list(tasks_with_approvals(plain.generate(plain_count, seed, difficulty), spec))
            if len(tasks) >= count:
                break
        yield from tasks[:count]

    spec = with_approvals(
        replace(
            plain,
            name="retail-approvals",
            tasks=Path(pytest_tau_tasks.__path__[0]) / "retail_approvals",
            data_name="retail",
            generate=generate,
            agents={},
        ),
        Path(__file__).parents[1].joinpath("approvals.md").read_text(encoding="utf-8"),
    )
    return spec
