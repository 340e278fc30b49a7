"""What a trial needs, checked before a conversation is paid for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment import check_comparable
from ..errors import ConfigurationError, TaskFormatError, unknown_name
from ..evaluation import known_components
from ..policy import load_rules

if TYPE_CHECKING:
    from ..environment import Domain
    from ..models import Task
    from .config import SimulationSettings


def check_requirements(task: Task, domain: Domain, settings: SimulationSettings) -> None:
    """Check that a task can be run and graded with these settings.

    Raises:
        ConfigurationError: The run lacks what the task needs.
        TaskFormatError: The task does not fit the domain.
    """
    evaluation = settings.evaluation
    load_rules(domain.spec)
    components = known_components(evaluation.evaluators)
    for name in task.criteria.reward_basis:
        if name not in components:
            problem = unknown_name("reward basis", name, components)
            raise TaskFormatError(problem, task_id=task.id, field="evaluation_criteria.reward_basis")
    check_comparable(task, domain.spec)
    if task.needs_judge and evaluation.judge is None:
        raise ConfigurationError(
            f"task {task.id!r} needs a judge for its NL assertions: add --tau-judge or --tau-judge-llm"
        )
    if settings.solo and not task.ticket:
        raise ConfigurationError(f"task {task.id!r} has no ticket, which solo mode needs")
