"""Tools of domains over functions: what is called, and where."""

from __future__ import annotations

import json

import pytest
from inner_runs import quick_options


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run one task with reference actions, and an agent that makes calls, in the domain of a conftest."""

    def run(conftest: str, actions: list, calls: list, *options: str) -> pytest.RunResult:
        made = [{"action_id": str(n), "name": name, "arguments": given} for n, (name, given) in enumerate(actions)]
        criteria = {"actions": made, "reward_basis": ["DB"]}
        task = {"id": "a", "user_scenario": {"instructions": "Do it."}, "evaluation_criteria": criteria}
        pytester.path.joinpath("tasks.json").write_text(json.dumps([task]), encoding="utf-8")
        pytester.path.joinpath("conftest.py").write_text(conftest, encoding="utf-8")
        pytester.path.joinpath("sides.py").write_text(SIDES % (calls,), encoding="utf-8")
        sides = ("--tau-agent=sides.py:Agent", "--tau-user=sides.py:User")
        return pytester.runpytest_inprocess(*quick_options(), "--tau-domain=shop", *sides, *options)

    return run


SIDES = """
class Agent:
    def __init__(self):
        self.calls = %r

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

PARTIAL = """
import functools
import pytest_tau

class Bank:
    def __init__(self):
        self.accounts = {"EUR": 0, "USD": 0}

    @staticmethod
    def cents(amount: int) -> int:
        '''Convert an amount.'''
        return 100 * amount

def deposit(bank, amount: int, currency: str = "EUR") -> dict:
    '''Deposit an amount.'''
    bank.accounts[currency] += amount
    return bank.accounts

deposit_usd = functools.update_wrapper(functools.partial(deposit, currency="USD"), deposit)
deposit_usd.__name__ = "deposit_usd"

def pytest_tau_domains():
    tools = [deposit, deposit_usd, TOOL]
    return [pytest_tau.domain_of("shop", tools=tools, make=Bank, snapshot=vars, policy="p", tasks="tasks.json")]
"""


@pytest.mark.parametrize(("currency", "passed"), [("USD", 1), ("EUR", 0)])
def test_a_partial_is_called_with_what_it_binds(run, currency, passed) -> None:
    actions = [("deposit", {"amount": 3, "currency": currency})]
    calls = [("cents", {"amount": 3}), ("deposit_usd", {"amount": 3})]
    run(PARTIAL.replace("TOOL", "Bank.cents"), actions, calls).assert_outcomes(passed=passed, failed=1 - passed)


@pytest.mark.parametrize(
    ("tool", "problem"),
    [
        ("Bank().__init__", "a tool cannot be called '__init__'"),
        ("functools.partial(deposit)", "expected functions, got functools.partial"),
        ("len", "tool len: "),
    ],
)
def test_what_cannot_be_a_tool_is_a_usage_error(run, tool, problem) -> None:
    result = run(PARTIAL.replace("TOOL", tool), [], [])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{problem}*"])


def test_a_method_that_is_bound_to_an_object_is_a_usage_error(run) -> None:
    bound = "\n    def close(self) -> None:\n        '''Close.'''\n\ndef deposit(bank"
    result = run(PARTIAL.replace("\ndef deposit(bank", bound).replace("TOOL", "Bank().close"), [], [])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *tool Bank.close: it is bound to one Bank, which all simulations would share*"]
    )


ASYNCHRONOUS = """
import asyncio, threading
import pytest_tau

class Shop:
    def __init__(self):
        self._thread, self._orders, self._client = threading.get_ident(), {"o1": "paid", "o2": "paid"}, None

    @property
    def orders(self):
        assert threading.get_ident() == self._thread, "another thread"
        return self._orders

    async def client(self):
        if self._client is None:
            self._client = asyncio.Queue()
            self._reader = asyncio.create_task(self.read(self._client))
        return self._client

    async def read(self, queue):
        while True:
            order_id, done = await queue.get()
            self.orders[order_id] = "cancelled"
            done.set_result("cancelled")

    async def find(self, order_id: str) -> str:
        '''Show an order.'''
        await self.client()
        return self.orders[order_id]

    async def cancel(self, order_id: str) -> str:
        '''Cancel an order.'''
        done = asyncio.get_running_loop().create_future()
        await (await self.client()).put((order_id, done))
        return await asyncio.wait_for(done, 30)

    def close(self, order_id: str) -> str:
        '''Close an order.'''
        self.orders[order_id] = "closed"
        return "closed"

    async def leave(self) -> str:
        '''Leave.'''
        raise SystemExit(0)

    async def wait(self) -> str:
        '''Wait too long.'''
        raise asyncio.TimeoutError

def pytest_tau_domains():
    tools = [Shop.find, Shop.cancel, Shop.close, Shop.leave, Shop.wait]
    return [pytest_tau.domain_of("shop", tools=tools, make=Shop, snapshot=lambda shop: shop.orders, reads={"find"},
                                 policy="p", tasks="tasks.json")]
"""
RIGHT = [("find", {"order_id": "o1"}), ("cancel", {"order_id": "o1"}), ("close", {"order_id": "o2"})]


@pytest.mark.parametrize("options", [(), ("-n2",), ("--tau-concurrency=4",)], ids=["alone", "xdist", "concurrent"])
@pytest.mark.parametrize(
    ("calls", "passed"), [(RIGHT, True), (RIGHT[:2], False), pytest.param([], False, marks=pytest.mark.exhaustive)]
)
def test_asynchronous_tools_run_on_one_loop(run, calls, passed, options) -> None:
    result = run(ASYNCHRONOUS, RIGHT[1:], calls, "--tau-trials=4", *options)
    result.assert_outcomes(passed=4 * passed, failed=4 * (not passed))
    assert "tau: warning" not in result.stdout.str()


def test_what_an_asynchronous_tool_raises_is_its_result(run, pytester) -> None:
    calls = [("leave", {}), ("wait", {}), *RIGHT]
    run(ASYNCHRONOUS, RIGHT[1:], calls).assert_outcomes(passed=1)
    stored = next(pytester.path.glob(".tau/runs/*/simulations.jsonl")).read_text(encoding="utf-8")
    assert "Error: SystemExit: 0" in stored
    assert '"Error: TimeoutError"' in stored


def test_a_reference_action_that_fails_is_an_error_of_the_task(run) -> None:
    result = run(ASYNCHRONOUS, [("wait", {})], [])
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "*tasks.json: task a: evaluation_criteria.actions.0: the reference action fails: wait: TimeoutError: *",
        ]
    )
