"""Tasks whose message history has a call that cannot be made, or that gives another result than the stored one."""

from __future__ import annotations

from typing import Any

import pytest

WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")])


@pytest.fixture
def run(project, a_task):
    """Runs a task whose history is a call of the agent with a result, or another command with it."""

    def run(name: str, arguments: dict[str, Any], content: str, *options: str, **result: Any) -> Any:
        history = [
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": name, "arguments": arguments}]},
            {"role": "tool", "id": "1", "content": content, **result},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Now put 'Buy milk' on my list."},
        ]
        project.tasks("mock/t.tau.json", [a_task(initial_state={"message_history": history})])
        return project.run("--tau-agent=noop", "--tau-user=scripted", *options)

    return run


STATUS = {"task_id": "task_1", "status": "completed"}


@WORKERS
@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("update_task_statu", STATUS, "name: unknown tool 'update_task_statu'; did you mean 'update_task_status'"),
        (
            "update_task_status",
            {"task": "task_1", "status": "completed"},
            "arguments: update_task_status: task: unknown",
        ),
        ("update_task_status", {"task_id": "task_1"}, "arguments: update_task_status: status: missing"),
        ("update_task_status", STATUS | {"status": "lost"}, "arguments: update_task_status: status: expected one of"),
    ],
)
def test_a_call_that_cannot_be_made_is_a_usage_error(run, name, arguments, problem, workers):
    place = "initial_state.message_history.0.tool_calls.0"
    run(name, arguments, "{}", *workers).usage_error("t.tau.json", "buy-milk", f"{place}.{problem}")


def test_a_call_that_the_tool_has_refused_is_accepted(run):
    found = run("update_task_statu", STATUS, "Error: Tool 'update_task_statu' not found.", error=True)
    found.outcomes(failed=1)
    found.lacks("contradicts")


@WORKERS
@pytest.mark.parametrize(
    ("arguments", "content", "error", "problem"),
    [
        (STATUS | {"task_id": "task_9"}, "{}", False, "not an error, but the call fails: Error: Task task_9 not found"),
        (STATUS, "Error: not now", True, "an error, but the call succeeds"),
    ],
)
def test_a_history_that_contradicts_the_state_is_named(run, arguments, content, error, problem, workers):
    run("update_task_status", arguments, content, *workers, error=error).line(
        "tau: warning: 1 task has a message history that contradicts the state which it leads to: "
        f"'buy-milk' (update_task_status: its stored result is {problem}); see tau lint"
    )


def test_a_history_that_fits_gets_no_warning(run):
    run("update_task_status", STATUS, '{"status": "completed"}').lacks("contradicts")


FUNCTIONS = """
import pytest_tau

class Shop:
    def __init__(self):
        self.paid = []

def pay(shop: Shop, order_id: str):
    '''Pay an order.'''
    if order_id != "o1":
        raise ValueError(f"no order {order_id}")
    shop.paid.append(order_id)

def pytest_tau_domains():
    own = dict(tools=[pay], make=Shop, snapshot=vars)
    return [pytest_tau.domain_of("shop", **own, policy="Be nice.", tasks="tasks.json")]
"""


@pytest.fixture
def shop(project):
    """Runs a task of a domain over functions, whose history is a payment, after another one."""

    def run(order_id: str, first: str = "o1") -> Any:
        before = [{"env_type": "assistant", "func_name": "pay", "arguments": {"order_id": first}}]
        history = [
            {"role": "assistant", "tool_calls": [{"id": "1", "name": "pay", "arguments": {"order_id": order_id}}]},
            {"role": "tool", "id": "1", "content": "null"},
            {"role": "user", "content": "Thanks."},
        ]
        task = {
            "id": "a",
            "user_scenario": {"instructions": "Pay."},
            "initial_state": {"initialization_actions": before, "message_history": history},
            "evaluation_criteria": {"communicate_info": ["paid"], "reward_basis": ["COMMUNICATE"]},
        }
        project.tasks("tasks.json", [task])
        project.write("conftest.py", FUNCTIONS)
        return project.run("--tau-domain=shop", "--tau-agent=noop", "--tau-user=scripted")

    return run


def test_a_history_over_functions_is_compared_too(shop):
    shop("o2").line(
        "'a' (pay: its stored result is not an error, but the call fails: Error: no order o2); see tau lint"
    )
    shop("o1").lacks("contradicts")


def test_an_initial_state_that_fails_is_the_error_of_the_trial(shop):
    found = shop("o2", first="o3")
    found.outcomes(errors=1)
    found.line("cannot be applied", "no order o3")
    found.lacks("contradicts")
