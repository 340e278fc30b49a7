"""Tasks that would pass with any agent: refused or named."""

from __future__ import annotations

import json
import shutil

import pytest

import pytest_tau
from pytest_tau.errors import TaskFormatError
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


FAILS = (
    "t.tau.json: task lost: evaluation_criteria.actions.0: the reference action fails: update_task_status: "
    'Task task_99 not found: correct it, or add "fails": true to it if that is meant'
)


@pytest.mark.parametrize("agent", ["noop", "gold"])
@pytest.mark.parametrize("workers", [(), ("-n", "2"), ("--tau-concurrency", "2")])
def test_a_reference_action_that_fails_is_an_error_of_the_task(project, a_task, agent, workers):
    tasks = [a_task("lost", criteria=_update("task_99")), a_task("found", criteria=_update("task_1"))]
    project.tasks("mock/t.tau.json", tasks)
    run = project.run(f"--tau-agent={agent}", "--tau-user=scripted", *workers)
    run.outcomes(**({"passed": 1, "errors": 1} if agent == "gold" else {"failed": 1, "errors": 1}))
    assert FAILS in run.text
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    stored = next(project.path.glob(".tau/runs/*/simulations.jsonl")).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["task_id"] for line in stored] == ["found"]


def test_an_action_that_is_meant_to_fail(project, a_task):
    criteria = _update("task_99")
    criteria["actions"][0]["fails"] = True
    project.tasks("mock/t.tau.json", [a_task("lost", criteria=criteria)])
    run = project.run("--tau-agent=gold")
    run.outcomes(passed=1)
    run.lacks("warning")


def test_an_action_that_no_verdict_depends_on_may_fail(project, a_task):
    said = {"communicate_info": ["milk"], "reward_basis": ["COMMUNICATE"]}
    project.tasks("mock/t.tau.json", [a_task("lost", criteria=_update("task_99") | said)])
    project.run("--tau-agent=gold").outcomes(passed=1)


def test_reference_actions_of_data_of_another_program_are_skipped_with_a_warning(project, a_task):
    """So that verdicts compare. Source: τ²-bench v1.0.1."""
    domain = pytest_tau.load_domain("mock")
    data = project.path / "data" / "domains" / "mock"
    shutil.copytree(domain.folder, data)
    project.tasks("data/domains/mock/tasks.json", [a_task("lost", criteria=_update("task_99"))])
    run = project.run("--tau-domain=mock", "--tau-data=data", "--tau-agent=noop", "--tau-user=scripted")
    run.outcomes(passed=1)
    run.line(
        "tau: warning: 1 task has a reference action that fails, so that its effect is not expected: "
        "'lost' (update_task_status: Task task_99 not found); see tau lint"
    )


READS = """
import pytest_tau

class Shop:
    def __init__(self):
        self.orders = {}

def find(shop, order: str) -> str:
    \"\"\"Find an order.\"\"\"
    raise %s

def pytest_tau_domains():
    tools = dict(make=Shop, snapshot=vars, policy="p", tasks="tasks.json")
    return [pytest_tau.domain_of("shop", tools=[find], reads=["find"], **tools)]
"""


@pytest.mark.parametrize(
    ("error", "outcomes"),
    [('pytest_tau.environment.ToolError("none")', {"passed": 1}), ('KeyError("key of the API")', {"errors": 1})],
)
def test_a_tool_that_only_reads_may_refuse_but_not_break(project, a_task, error, outcomes):
    project.write("conftest.py", READS % error)
    actions = [{"action_id": "a", "name": "find", "arguments": {"order": "o1"}}]
    project.tasks("tasks.json", [a_task("a", criteria={"actions": actions, "reward_basis": ["DB", "ACTION"]})])
    project.run("--tau-domain=shop", "--tau-agent=gold").outcomes(**outcomes)


def test_simulate_refuses_a_reference_action_that_fails(a_task):
    task = parse_task(a_task("lost", criteria=_update("task_99")))
    with pytest.raises(TaskFormatError, match="reference action fails: update_task_status"):
        pytest_tau.simulate(task, domain=pytest_tau.load_domain("mock"))


def test_a_sound_set_gets_no_warning(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.run().lacks("check nothing")


@pytest.mark.parametrize(("criteria", "expected"), [({}, True), ({"actions": []}, False), ({"actions": None}, True)])
def test_the_database_is_compared_only_if_there_is_a_reference(criteria, expected):
    scenario = {"instructions": "Buy milk."}
    task = parse_task({"id": "a", "user_scenario": scenario, "evaluation_criteria": criteria})
    assert checks_nothing(task) is expected
