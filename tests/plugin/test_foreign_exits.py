"""Code of a domain, an evaluator or a plugin that raises ``SystemExit`` and the like: one trial is affected at most."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.exhaustive

DOMAIN = """
import sys, pytest_tau

class Shop:
    def __init__(self):
        self.orders = {"o1": "open", "o2": "open"}
        self.broken = False

def cancel(shop: Shop, order_id: str):
    '''Cancel an order.'''
    shop.orders[order_id] = "cancelled"

def leave(shop: Shop, error: str):
    '''Leave the process.'''
    raise {"exit": SystemExit, "interrupt": KeyboardInterrupt, "generator": GeneratorExit}[error](0)

def spoil(shop: Shop):
    '''Spoil the state.'''
    shop.broken = True

def look(shop):
    if shop.broken:
        sys.exit(3)
    return shop.orders

def pytest_tau_domains():
    tools = [cancel, leave, spoil]
    return [pytest_tau.domain_of("shop", tools=tools, make=Shop, snapshot=look, policy="Be nice.", tasks="tasks.json")]
"""

AGENT = """
class Agent:
    made = []

    def __init__(self, seed):
        self.calls = [CALL] if not Agent.made else []
        Agent.made.append(seed)
        self.calls.append(("cancel", {"order_id": "o1"}))

    def respond(self, message):
        if not self.calls:
            return "done"
        name, arguments = self.calls.pop(0)
        return {"tool_calls": [{"name": name, "arguments": arguments}]}

class User:
    turns = 0

    def respond(self, message):
        self.turns += 1
        return "go" if self.turns == 1 else "###STOP###"
"""


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run three tasks whose reference cancels o1; the agent makes another call before that in the first one."""

    def run(call: str, *options: str, conftest: str = "") -> pytest.RunResult:
        actions = [{"action_id": "1", "name": "cancel", "arguments": {"order_id": "o1"}}]
        criteria = {"actions": actions, "reward_basis": ["DB"]}
        tasks = [
            {"id": each, "user_scenario": {"instructions": "Cancel o1."}, "evaluation_criteria": criteria}
            for each in ("a", "b", "c")
        ]
        pytester.path.joinpath("tasks.json").write_text(json.dumps(tasks))
        pytester.makeconftest(DOMAIN + conftest)
        pytester.path.joinpath("sides.py").write_text(AGENT.replace("CALL", call))
        sides = ("--tau-agent=sides.py:Agent", "--tau-user=sides.py:User", "--tau-concurrency=1")
        # Which task is the first one depends on the order.
        plugins = ("-pno:asyncio", "-pno:randomly")
        return pytester.runpytest_inprocess(*plugins, "--tau-domain=shop", *sides, *options)

    return run


@pytest.mark.parametrize(
    ("error", "name"), [("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt"), ("generator", "GeneratorExit")]
)
def test_what_a_tool_raises_is_its_result(run, pytester, error, name) -> None:
    result = run(f"('leave', {{'error': '{error}'}})", "--tau-gate=errors<=0")
    result.assert_outcomes(passed=3)
    assert "tau: gate errors <= 0: 0.000" in result.stdout.str()
    stored = next(pytester.path.glob(".tau/runs/*/simulations.jsonl")).read_text()
    assert stored.count(f"Error: {name}: 0") == 1


def test_a_snapshot_that_exits_is_an_error_of_its_trial_alone(run, pytester) -> None:
    result = run("('spoil', {})", "--tau-gate=errors<=0")
    assert "tau: gate errors <= 0: 0.333" in result.stdout.str()
    result.stdout.fnmatch_lines(["*2 passed, 1 error*"])
    stored = next(pytester.path.glob(".tau/runs/*/simulations.jsonl")).read_text().splitlines()
    assert len(stored) == 3
    assert "SystemExit: 3" in stored[0]


EVALUATOR = """
class Broken:
    name = "BROKEN"
    seen = []
    def evaluate(self, task, messages, environment):
        self.seen.append(task.id)
        if len(self.seen) == 1:
            raise SystemExit(4)
        return 1.0

def pytest_tau_evaluators():
    return [Broken()]
"""
HOOK = """
def {hook}(item{more}):
    if "a[" in item.name:
        raise SystemExit(4)
"""


def test_an_evaluator_that_exits_is_an_error_of_its_trial_alone(run) -> None:
    result = run("('cancel', {'order_id': 'o1'})", conftest=EVALUATOR)
    assert "EvaluatorError: evaluator 'BROKEN' failed on task 'a': SystemExit: 4" in result.stdout.str()
    result.stdout.fnmatch_lines(["*2 passed, 1 error*"])


@pytest.mark.parametrize(
    ("hook", "more"),
    [
        ("pytest_tau_make_agent", ""),
        ("pytest_tau_simulation_started", ""),
        ("pytest_tau_simulation_finished", ", simulation"),
    ],
)
def test_a_hook_that_exits_is_an_error_of_its_test_alone(run, hook, more) -> None:
    result = run("('cancel', {'order_id': 'o1'})", conftest=HOOK.format(hook=hook, more=more))
    result.stdout.fnmatch_lines(["*2 passed, 1 error*"])
    assert "AssertionError" not in result.stdout.str()


def test_the_exit_of_a_fixture_without_trials_is_reported_as_pytest_does(run, pytester) -> None:
    pytester.makepyfile(
        test_other="""
        import pytest

        @pytest.fixture
        def leaving():
            raise SystemExit(5)

        @pytest.mark.tau(domain="shop", tasks="a")
        def test_task(tau_simulation):
            pass

        def test_leaves(leaving):
            pass
        """
    )
    result = run("('cancel', {'order_id': 'o1'})", "test_other.py")
    result.stdout.fnmatch_lines(["E * SystemExit: 5", "*1 passed, 1 error*"])
    assert "RuntimeError" not in result.stdout.str()
