"""Verification of built tasks: each is played through on an environment of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.errors import TaskFormatError

from .catalogue import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_tau.environment import Domain, Environment
    from pytest_tau.models.tasks import EnvAssertion, Task

    from .scenario import FaultScenario


def verify(scenario: FaultScenario, task: Task, domain: Domain) -> None:
    """Play the task through.

    Raises:
        TaskFormatError: The problem is there before the faults are, or not after them; a fault does not show; a
            reference action fails or comes too late to be needed; the reference actions do not lead to the end that
            the task requires, or doing nothing passes although the task requires a change.
    """

    def require(condition: bool, problem: str) -> None:
        if not condition:
            raise TaskFormatError(problem, task_id=task.id)

    goal = [statement.env_assertion(scenario.subject) for statement in scenario.intent.goal]
    require(_all_true(domain.environment(), goal), "the problem is there without any fault")
    _introduce_faults(scenario, domain.environment(), goal, require)
    environment = domain.environment(task)
    final = task.criteria.env_assertions or []
    require(not (scenario.fixable and _all_true(environment, final)), "doing nothing passes")
    for action in task.criteria.actions or []:
        require(not _all_true(environment, goal), f"the problem is gone before {action.action_id}")
        reply = environment.call(action.name, action.arguments, action.requestor)
        require(not reply.error, f"{action.action_id}: {reply.content}")
    require(_all_true(environment, goal) is scenario.fixable, "the reference actions lead to the wrong end")
    require(_all_true(environment, final), "an assertion does not hold after the reference actions")


def _introduce_faults(
    scenario: FaultScenario, environment: Environment, goal: list[EnvAssertion], require: Callable[[bool, str], None]
) -> None:
    """Introduce one fault after the other, and check that each shows."""
    subject = scenario.subject
    environment.run_function(INTRODUCTION.side, INTRODUCTION.name, INTRODUCTION.bound(subject))
    require(_all_true(environment, goal), "the problem is there without any fault, once the line is known")
    for fault in scenario.faults:
        for call in fault.start:
            environment.run_function(call.side, call.name, call.bound(subject))
        checks = [statement.env_assertion(subject) for statement in fault.checks]
        require(_all_true(environment, checks), f"{fault.name} does not show")


def _all_true(environment: Environment, assertions: Iterable[EnvAssertion]) -> bool:
    return all(
        environment.run_function(assertion.env_type, assertion.func_name, assertion.arguments) is assertion.assert_value
        for assertion in assertions
    )
