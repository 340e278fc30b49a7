"""Domains over objects that share state: refused, as one simulation would see what another has changed."""

from __future__ import annotations

import json
import re

import pytest

from .test_function_tools import SIDES

CONFTEST = """
import pytest_tau

ORDERS = {"o1": {"status": "open"}}
MOMENT = [1000]  # a clock that only tools move, so that objects made one after the other have the same time
NOTES = []

class Shop:
%s

def cancel(shop: Shop, order_id: str):
    '''Cancel an order.'''
    shop.orders[order_id]["status"] = "cancelled"
    MOMENT[0] += 1

def note(shop: Shop, text: str):
    '''Make a note.'''
    shop.notes.append(text)

def pytest_tau_domains():
    tools = [cancel, note]
    return [pytest_tau.domain_of("shop", tools=tools, make=Shop, snapshot=vars, policy="Be nice.", tasks="tasks.json")]
"""
INIT = "    def __init__(self):\n        self.%s"
OWN = INIT % "orders, self.notes = {'o1': {'status': 'open'}}, []"
#: What a shop has.
SHARED = {
    "class": "    orders, notes = ORDERS, NOTES",
    "partly class": "    orders = ORDERS\n" + INIT % "notes = []",
    "global": INIT % "orders, self.notes = ORDERS, []",
    "shallow copy": INIT % "orders, self.notes = dict(ORDERS), []",
    "default argument": (
        "    def __init__(self, orders=ORDERS):\n        self.orders, self.notes, self.time = orders, [], MOMENT[0]"
    ),
}
#: What is no shared state.
OTHERS = {
    "a table": "    prices = {'lamp': 3}\n" + OWN,
    "an own cache": "    _cache = {}\n" + OWN + "\n        Shop._cache[id(self)] = 1",
}


@pytest.fixture
def project(pytester: pytest.Pytester):
    """Make a project of a shop with the given beginning of its class, and two equal tasks."""

    def make(shop: str, basis: str = "DB") -> None:
        actions = [{"action_id": "1", "name": "cancel", "arguments": {"order_id": "o1"}}]
        criteria = {"actions": actions, "reward_basis": [basis]}
        tasks = [
            {"id": each, "user_scenario": {"instructions": "Cancel o1."}, "evaluation_criteria": criteria}
            for each in ("a", "b")
        ]
        pytester.path.joinpath("tasks.json").write_text(json.dumps(tasks))
        pytester.makeconftest(CONFTEST % shop)

    return make


def run(pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain=shop", *options)


@pytest.mark.parametrize("shared", SHARED)
def test_state_that_objects_share_is_a_usage_error(pytester, project, shared) -> None:
    project(SHARED[shared])
    result = run(pytester, "--tau-agent=noop", "--tau-gate=pass^1>=0.9")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = (
        'do not begin with the same state each time: orders/o1/status: "open" at first, now "cancelled": build new'
    )
    result.stderr.fnmatch_lines([f"ERROR: domain 'shop': its tools {expected} containers in __init__*"])


@pytest.mark.parametrize("other", OTHERS)
def test_other_differences_of_new_objects_are_none(pytester, project, other) -> None:
    project(OTHERS[other], "ACTION")
    run(pytester, "--tau-agent=gold").assert_outcomes(passed=2)


AGENT = SIDES % ([("note", {"text": "x"}), ("cancel", {"order_id": "o1"})],)


def test_state_that_only_a_conversation_changes_is_an_error_of_the_domain(pytester, project) -> None:
    project(INIT % "orders, self.notes = {'o1': {'status': 'open'}}, NOTES")
    pytester.path.joinpath("sides.py").write_text(AGENT)
    result = run(pytester, "--tau-agent=sides.py:Agent", "--tau-user=sides.py:User", "--tau-concurrency=1")
    result.assert_outcomes(errors=2)
    text = " ".join(line.strip() for line in result.outlines)
    assert (
        """DomainError: domain 'shop': its tools do not begin with the same state each time: notes: [] at first"""
        in text
    )
    assert len(next(pytester.path.glob(".tau/runs/*/simulations.jsonl")).read_text().splitlines()) == 2


NO_RETURN = OWN + "\n    def state(self):\n        {'orders': self.orders}"


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_a_snapshot_that_returns_none_is_a_usage_error(pytester, project, workers) -> None:
    project(NO_RETURN)
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace("snapshot=vars", "snapshot=Shop.state"))
    result = run(pytester, "--tau-agent=noop", *workers)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: domain 'shop': snapshot= returned None: return the state"])


TWO_KEYS = OWN + "\n        self.orders[1] = self.orders['1'] = {}"


def test_keys_that_become_one_are_a_usage_error(pytester, project) -> None:
    project(TWO_KEYS)
    result = run(pytester, "--tau-agent=noop")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    expected = "snapshot: orders: the keys 1 and '1' are the same in JSON: return plain data"
    result.stderr.fnmatch_lines([f"ERROR: domain 'shop': {expected}"])


EQUAL = """
from datetime import datetime
from decimal import Decimal

import pytest_tau

class Shop:
    def __init__(self):
        self.orders = {}

def book(shop, amount: Decimal, slot: datetime):
    '''Book a slot.'''
    shop.orders[slot] = amount

def pytest_tau_domains():
    return [pytest_tau.domain_of("shop", tools=[book], make=Shop, snapshot=vars, policy="p", tasks="tasks.json")]
"""


@pytest.mark.parametrize(("amount", "passed"), [(10.5, True), (10.25, False)])
def test_an_equal_value_in_another_notation_passes(pytester, amount, passed) -> None:
    wanted = {"amount": "10.50", "slot": "2026-01-05T10:00:00+01:00"}
    criteria = {"actions": [{"action_id": "1", "name": "book", "arguments": wanted}], "reward_basis": ["DB"]}
    task = {"id": "a", "user_scenario": {"instructions": "Book it."}, "evaluation_criteria": criteria}
    pytester.path.joinpath("tasks.json").write_text(json.dumps([task]))
    pytester.makeconftest(EQUAL)
    calls = [("book", {"amount": amount, "slot": "2026-01-05T09:00:00Z"})]
    pytester.path.joinpath("sides.py").write_text(re.sub("self.calls = .*", f"self.calls = {calls!r}", AGENT))
    result = run(pytester, "--tau-agent=sides.py:Agent", "--tau-user=sides.py:User")
    result.assert_outcomes(passed=int(passed), failed=int(not passed))


def test_keys_that_become_one_in_a_conversation_are_a_mistake_of_the_domain(pytester, project) -> None:
    project(OWN)
    conftest = pytester.path / "conftest.py"
    source = conftest.read_text()
    conftest.write_text(source.replace("shop.notes.append(text)", 'shop.orders["o1"].update({1: text, "1": text})'))
    (pytester.path / "noting.py").write_text(
        "def agent(messages, tools):\n"
        "    if messages[-1]['role'] == 'tool':\n"
        "        return 'Done.'\n"
        "    return {'tool_calls': [{'name': 'note', 'arguments': {'text': 'x'}}]}\n"
    )
    result = run(pytester, "--tau-agent=noting.py:agent", "--tau-user=gold")
    result.assert_outcomes(errors=2)
    text = " ".join(line.strip() for line in result.outlines)
    expected = "domain 'shop': snapshot: orders/o1: the keys 1 and '1' are the same in JSON: return plain data"
    assert f"DomainError: {expected} looks like the domain's fault" in text
