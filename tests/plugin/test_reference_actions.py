"""Tasks that would pass with any agent: refused or named."""

from __future__ import annotations

import pytest

from pytest_tau.models import parse_task
from pytest_tau.plugin.collect.unchecked import checks_nothing

FINE = {"user_id": "user_1", "title": "Buy milk"}


def _status(status):
    return _update("task_1", status)


def _update(task_id, status="completed"):
    arguments = {"task_id": task_id, "status": status}
    return {"actions": [{"action_id": "a", "name": "update_task_status", "arguments": arguments}]}


@pytest.fixture
def refused(project, a_task):
    """Runs a task with the given arguments of ``create_task``, or criteria; it must be refused."""

    def run(arguments, *parts, workers=(), criteria=None):
        action = {"action_id": "a", "name": "create_task", "arguments": arguments}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria or {"actions": [action]})])
        project.run("--tau-agent", "noop", *workers).usage_error("t.tau.json", "buy-milk", *parts)

    return run


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"user_id": "user_1"}, "create_task: title: missing"),
        (FINE | {"colour": "red"}, "create_task: colour: unknown argument (known: user_id, title"),
        (FINE | {"title": 3}, "create_task: title: expected string, got 3"),
    ],
)
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_arguments_are_checked(refused, arguments, problem, workers):
    refused(arguments, "evaluation_criteria.actions.0.arguments", problem, workers=workers)


def test_a_value_outside_of_an_enum(refused):
    refused({}, "update_task_status: status: expected one of", criteria=_status("lost"))


@pytest.fixture
def withheld(project):
    """Runs a task with a reference action of a user's tool that the task does not offer."""
    action = {"action_id": "a", "name": "toggle_airplane_mode", "requestor": "user", "arguments": {}}
    task = {
        "id": "plane",
        "ticket": "Airplane mode is on.",
        "user_scenario": {"instructions": "Your phone has no signal."},
        "user_tools": ["check_status_bar"],
        "evaluation_criteria": {"actions": [action], "reward_basis": ["ACTION"]},
    }
    project.tasks("telecom/t.tau.json", [task])
    return lambda *args: project.run(*args)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_tool_that_the_task_does_not_offer_to_the_user(withheld, workers):
    withheld(*workers).usage_error(
        "t.tau.json",
        "plane",
        "evaluation_criteria.actions.0.name: 'toggle_airplane_mode' is not among the task's user_tools, so that no user "
        "can call it: add it there",
    )


def test_an_agent_that_works_alone_has_the_tools_that_the_task_does_not_offer_to_the_user(withheld):
    withheld("--tau-solo").outcomes(passed=1)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_tasks_that_check_nothing_are_counted(project, a_task, workers):
    empty = {"reward_basis": ["ACTION", "COMMUNICATE"], "actions": []}
    tasks = [a_task(), a_task("bare"), a_task("empty", criteria=empty)]
    del tasks[1]["evaluation_criteria"]
    project.tasks("mock/t.tau.json", tasks)
    run = project.run(*workers)
    run.outcomes(passed=3)
    run.line("tau: warning: 2 tasks check nothing: 'bare', 'empty'")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_reference_action_that_fails_is_named(project, a_task, workers):
    tasks = [a_task("lost", criteria=_update("task_99")), a_task("found", criteria=_update("task_1"))]
    project.tasks("mock/t.tau.json", tasks)
    run = project.run("--tau-agent=noop", "--tau-user=scripted", *workers)
    run.line(
        "tau: warning: 1 task has a reference action that fails, so that its effect is not expected: "
        "'lost' (update_task_status: Task task_99 not found); see tau lint"
    )
    run.line(
        "tau: warning: do not trust the verdicts on this task if the call was meant to succeed: "
        "an agent that does not make it can pass, and one that makes it can fail"
    )


def test_a_sound_set_gets_no_warning(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.run().lacks("check nothing")


@pytest.mark.parametrize(("criteria", "expected"), [({}, True), ({"actions": []}, False), ({"actions": None}, True)])
def test_the_database_is_compared_only_if_there_is_a_reference(criteria, expected):
    scenario = {"instructions": "Buy milk."}
    task = parse_task({"id": "a", "user_scenario": scenario, "evaluation_criteria": criteria})
    assert checks_nothing(task) is expected
