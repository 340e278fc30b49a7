"""Reference actions with values that no call can have, and the texts of those that fail."""

from __future__ import annotations

import json
from typing import Any

import pytest

FUNCTIONS = """
import datetime as dt
import pytest_tau

class Shop:
    def __init__(self):
        self.due = {"o1": "2026-01-01"}

def postpone(shop: Shop, order_id: str, due: dt.date, fee: int = 0):
    '''Postpone an order.'''
    shop.due[order_id]
    shop.due[order_id] = str(due)

def is_due(shop: Shop, order_id: str, day: dt.date):
    return shop.due[order_id] == str(day)

def pytest_tau_domains():
    own = dict(tools=[postpone], functions=[is_due], reads={"is_due"}, make=Shop, snapshot=vars)
    shop = pytest_tau.domain_of("shop", **own, policy="Be nice.", tasks="tasks.json")
    return [shop]
"""
TOOLKIT = """
import datetime as dt
from pathlib import Path
import pytest_tau
from pytest_tau.environment import Database, DomainSpec, PolicyFiles, Toolkit, tool

class Shop(Database):
    due: dict[str, str]

class Tools(Toolkit[Shop]):
    @tool("write")
    def postpone(self, order_id: str, due: dt.date, fee: int = 0) -> None:
        '''Postpone an order.'''
        self.db.due[order_id]
        self.db.due[order_id] = str(due)

    def is_due(self, order_id: str, day: dt.date) -> bool:
        return self.db.due[order_id] == str(day)

def pytest_tau_domains():
    folder = Path(__file__).parent
    policies = {"default": PolicyFiles(("policy.md",))}
    return [DomainSpec(name="shop", folder=folder, tasks=folder / "tasks.json", agent_db=Shop, agent_tools=Tools, policies=policies)]
"""


@pytest.fixture(params=[FUNCTIONS, TOOLKIT], ids=["functions", "toolkit"])
def run_task(request, pytester: pytest.Pytester):
    """Run a task with the given criteria and fields, over either kind of domain."""

    def run_task(criteria: dict[str, Any], **fields: Any) -> pytest.RunResult:
        task = {"id": "a", "user_scenario": {"instructions": "Postpone."}, "evaluation_criteria": criteria, **fields}
        pytester.path.joinpath("tasks.json").write_text(json.dumps([task]))
        pytester.path.joinpath("db.json").write_text(json.dumps({"due": {"o1": "2026-01-01"}}))
        pytester.path.joinpath("policy.md").write_text("Be nice.")
        pytester.makeconftest(request.param)
        return pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain=shop", "--tau-agent=noop")

    return run_task


@pytest.fixture
def run(run_task):
    """Run a task with the given arguments in its reference action."""

    def run(**arguments: Any) -> pytest.RunResult:
        actions = [{"action_id": "1", "name": "postpone", "arguments": arguments}]
        return run_task({"actions": actions, "reward_basis": ["DB"]})

    return run


def test_a_value_that_cannot_be_converted_is_a_usage_error(run) -> None:
    result = run(order_id="o1", due="2026-02-30")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: *tasks.json: task a: evaluation_criteria.actions.0.arguments: postpone: due: "
            'expected a valid date*, got "2026-02-30"'
        ]
    )


def test_a_number_that_json_lacks_is_a_usage_error(run) -> None:
    result = run(order_id="o1", due="2026-02-28", fee=float("nan"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = "postpone: fee: expected integer, got NaN"
    result.stderr.fnmatch_lines([f"ERROR: *tasks.json: task a: evaluation_criteria.actions.0.arguments: {problem}"])


@pytest.mark.parametrize("day", ["2026-02-30", "2026-02-28"])
@pytest.mark.parametrize("place", ["evaluation_criteria.env_assertions", "initial_state.initialization_actions"])
def test_such_a_value_of_a_function_is_a_usage_error(run_task, place: str, day: str) -> None:
    call = {"env_type": "assistant", "func_name": "is_due", "arguments": {"order_id": "o1", "day": day}}
    state = {"initial_state": {"initialization_actions": [call]}} if place.startswith("initial_state") else {}
    result = run_task({"env_assertions": [] if state else [call], "reward_basis": ["ENV_ASSERTION"]}, **state)
    if day == "2026-02-28":
        result.assert_outcomes(passed=1 if state else 0, failed=0 if state else 1)
        return
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = 'is_due: day: expected a valid date*, got "2026-02-30"'
    result.stderr.fnmatch_lines([f"ERROR: *tasks.json: task a: {place}.0.arguments: {problem}"])


def test_a_number_with_a_fraction_for_an_integer_is_a_usage_error_if_it_is_stored(run, request) -> None:
    result = run(order_id="o1", due="2026-02-28", fee=6.0)
    if "functions" in request.node.name:  # which convert it
        result.assert_outcomes(failed=1)
        return
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = "postpone: fee: expected integer, got 6.0: write 6"
    result.stderr.fnmatch_lines([f"ERROR: *tasks.json: task a: evaluation_criteria.actions.0.arguments: {problem}"])


USER_TOOLS = """
class Calendar(Database):
    day: str

class UserTools(Toolkit[Calendar]):
    @tool("read")
    def see_day(self, day: dt.date) -> str:
        '''See a day of the calendar.'''
        return "free"
"""


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize(("day", "possible"), [("2026-02-30", False), ("2026-02-28", True)])
def test_a_goal_of_the_script_with_such_a_value_is_a_usage_error(pytester: pytest.Pytester, workers, day, possible):
    goal = {"tool": "see_day", "arguments": {"day": day}, "expects": ["free"]}
    script = {"requests": [{"say": "Postpone it."}], "goals": [goal]}
    action = {"action_id": "1", "name": "postpone", "arguments": {"order_id": "o1", "due": "2026-02-28"}}
    scenario = {"instructions": "Postpone.", "script": script}
    task = {"id": "a", "user_scenario": scenario, "evaluation_criteria": {"actions": [action]}}
    pytester.path.joinpath("tasks.json").write_text(json.dumps([task]))
    pytester.path.joinpath("db.json").write_text(json.dumps({"due": {"o1": "2026-01-01"}}))
    pytester.path.joinpath("user_db.json").write_text(json.dumps({"day": "Friday"}))
    pytester.path.joinpath("policy.md").write_text("Be nice.")
    domain, hook = TOOLKIT.split("def pytest_tau_domains")
    hook = hook.replace("agent_tools=Tools", "agent_tools=Tools, user_db=Calendar, user_tools=UserTools")
    pytester.makeconftest(f"{domain}{USER_TOOLS}\ndef pytest_tau_domains{hook}")
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain=shop", "--tau-agent=noop", *workers)
    if possible:
        result.assert_outcomes(failed=1)
        return
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = 'see_day: day: expected a valid date*, got "2026-02-30"'
    result.stderr.fnmatch_lines([f"*tasks.json: task a: user_scenario.script.goals.0.arguments: {problem}"])


def test_a_possible_value_is_none(run) -> None:
    run(order_id="o1", due="2026-02-28").assert_outcomes(failed=1)


def test_a_failing_reference_action_is_named_with_the_class_of_a_key_error(run) -> None:
    result = run(order_id="zz", due="2026-02-28")
    result.assert_outcomes(errors=1)
    assert "evaluation_criteria.actions.0: the reference action fails: postpone: KeyError: 'zz'" in result.stdout.str()
