"""Fixtures that set the time or patch what tools use: a trial and the state it is compared with see the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from inner_runs import quick_options

from .conftest import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

pytest.importorskip("freezegun")
pytest.importorskip("time_machine")

SHOP = """
import asyncio
import datetime as dt
import pytest_tau

EXECUTED = []


class Shop:
    def __init__(self):
        self.orders = {"o1": {"status": "paid", "due": "2024-05-20"}}


async def wait(shop) -> str:
    \"\"\"Wait.\"\"\"
    await asyncio.sleep(0.01)
    return "ok"


def cancel_order(shop, order_id: str) -> dict:
    \"\"\"Cancel an order that is not due yet.

    Args:
        order_id: The order.
    \"\"\"
    EXECUTED.append(dt.date.today())
    if dt.date.fromisoformat(shop.orders[order_id]["due"]) < dt.date.today():
        raise ValueError("too late")
    shop.orders[order_id]["status"] = "cancelled"
    return shop.orders[order_id]


def domain_of(tools):
    return pytest_tau.domain_of(
        "shop", make=Shop, tools=tools, reads=["wait"][: len(tools) - 1], snapshot=vars, policy="p", tasks="tasks.json"
    )
"""
AGENT = """
import asyncio
from pytest_tau.testing import call


class Agent:
    def __init__(self, tools):
        names = [tool.name for tool in tools]
        self.replies = [call(name, **({"order_id": "o1"} if name == "cancel_order" else {})) for name in names]

    async def respond(self, message):
        await asyncio.sleep(0.02)
        return self.replies.pop(0) if self.replies else "Your order is cancelled. Anything else?"
"""
CONFTEST = """
import datetime
import shop
import pytest

def pytest_tau_domains():
    return [shop.domain_of([shop.cancel_order, shop.wait][:%d])]

def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("frozen"):
            item.fixturenames.insert(0, "marked")

def pytest_configure(config):
    config.addinivalue_line("markers", "frozen: set the time")
"""
TASK = {
    "id": "c1",
    "user_scenario": {"instructions": "Cancel o1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "a", "name": "cancel_order", "arguments": {"order_id": "o1"}}],
        "reward_basis": ["DB", "ACTION"],
    },
}
HEAD = """
import datetime
import pytest
import shop
import time_machine
from freezegun import freeze_time
DAY = "2024-05-15 15:00"
tau = pytest.mark.tau(domain="shop")
"""
PASSES = """
@tau
def test_it({}tau_simulation):
    assert tau_simulation.reward == 1
"""
#: Fixtures that set the time for one test, and the arguments of the test.
FIXTURES = {
    "freezegun": ("@pytest.fixture\ndef day():\n    with freeze_time(DAY):\n        yield", "day, "),
    "tick": ("@pytest.fixture\ndef day():\n    with freeze_time(DAY, tick=True):\n        yield", "day, "),
    "real_asyncio": (
        "@pytest.fixture\ndef day():\n    with freeze_time(DAY, real_asyncio=True):\n        yield",
        "day, ",
    ),
    "session": (
        "@pytest.fixture(autouse=True, scope='session')\ndef day():\n"
        "    with time_machine.travel(DAY, tick=False):\n        yield",
        "",
    ),
    "module": (
        "FROZEN = freeze_time(DAY)\ndef setup_module():\n    FROZEN.start()\n"
        "def teardown_module():\n    FROZEN.stop()\n",
        "",
    ),
    "monkeypatch": (
        "class Date(datetime.date):\n"
        "    @classmethod\n    def today(cls):\n        return cls(2024, 5, 15)\n"
        "class Patched:\n    date = Date\n"
        "@pytest.fixture\ndef day(monkeypatch):\n    monkeypatch.setattr(shop, 'dt', Patched)",
        "day, ",
    ),
    "agent": (
        "import agent\n@pytest.fixture\ndef tau_agent(monkeypatch):\n"
        "    monkeypatch.setattr(shop, 'dt', type('Fixed', (), {'date': type('D', (datetime.date,), "
        "{'today': classmethod(lambda cls: cls(2024, 5, 15))})}))\n    return agent.Agent",
        "",
    ),
    "marker": (
        "tau = lambda test: pytest.mark.tau(domain='shop')(pytest.mark.frozen(test))\n"
        "@pytest.fixture\ndef marked():\n    with freeze_time(DAY):\n        yield",
        "",
    ),
}


@pytest.fixture
def shop(project, pytester):
    """Writes a module of tests on a shop whose tools depend on the date, and runs it."""

    def run(tests: str, *args: str, tools: int = 2, options: Sequence[str] = quick_options()) -> Run:
        project.write("shop.py", SHOP)
        project.write("agent.py", AGENT)
        project.write("conftest.py", CONFTEST % tools)
        project.tasks("tasks.json", [TASK])
        project.write("test_shop.py", HEAD + tests)
        return Run(pytester.runpytest_inprocess(*options, "--tau-agent=agent:Agent", *args))

    return run


@pytest.mark.parametrize("kind", FIXTURES)
@pytest.mark.parametrize("tools", [1, 2], ids=["plain", "async"])
def test_the_reference_state_belongs_to_the_fixtures_of_the_test(shop, kind, tools):
    fixtures, arguments = FIXTURES[kind]
    run = shop(f"{fixtures}\n{PASSES.format(arguments)}", tools=tools)
    run.outcomes(passed=1)
    run.lacks("warning")


@pytest.mark.parametrize("workers", [("-n", "2"), ("--tau-concurrency", "3")])
def test_gold_sees_the_same_as_the_reference_state_in_each_process(shop, workers):
    fixtures, arguments = FIXTURES["freezegun"]
    shop(f"{fixtures}\n{PASSES.format(arguments)}", "--tau-agent=gold", "--tau-trials=3", *workers).outcomes(passed=3)


TWO_DATES = """
@pytest.fixture(params=["2024-05-15", "2024-05-25", "2024-05-16"])
def day(request):
    with time_machine.travel(request.param, tick=False):
        yield
"""


def test_a_state_of_one_date_is_not_that_of_another(shop):
    run = shop(TWO_DATES + PASSES.format("day, "), tools=1)
    run.outcomes(passed=2, errors=1)
    assert "tasks.json: task c1: evaluation_criteria.actions.0: the reference action fails: cancel_order: " in run.text


def test_the_time_of_a_fixture_has_ended_for_the_next_test(shop):
    fixtures, arguments = FIXTURES["freezegun"]
    plain = "@tau\ndef test_later(tau_simulation):\n    pass\n"
    run = shop(f"{fixtures}\n{PASSES.format(arguments)}{plain}", tools=1)
    run.outcomes(passed=1, errors=1)


COUNTED = """
@pytest.fixture(scope="session", autouse=True)
def day():
    with time_machine.travel(DAY, tick=False):
        yield

@pytest.fixture
def each():
    pass

@pytest.mark.tau(domain="shop", trials=3)
def test_once({}tau_simulation):
    assert len(shop.EXECUTED) == {}
    shop.EXECUTED.clear()
"""


def test_the_reference_state_is_computed_once_where_fixtures_last(shop):
    # The trial, its replay; the first one also has the reference state, and the check that it is the same each time.
    executed = "(4 if tau_simulation.trial == 0 else 2)"
    shop(COUNTED.format("", executed), tools=1).outcomes(passed=3)


def test_the_reference_state_is_computed_for_each_test_with_a_fixture_of_its_own(shop):
    shop(COUNTED.format("each, ", "4"), tools=1).outcomes(passed=3)


def test_a_domain_that_stores_the_time_can_be_graded_while_it_is_frozen(project):
    project.write("agent.py", AGENT)
    project.write("shop.py", SHOP.replace('= "cancelled"', "= dt.datetime.now().isoformat()"))
    project.write("conftest.py", CONFTEST % 1)
    project.tasks("tasks.json", [TASK])
    fixtures, arguments = FIXTURES["freezegun"]
    project.write("test_shop.py", f"{HEAD}{fixtures}\n{PASSES.format(arguments)}")
    project.run("--tau-agent=agent:Agent").outcomes(passed=1)


def test_no_trial_of_another_test_runs_while_a_fixture_has_set_the_time(project):
    project.write("shop.py", SHOP)
    project.write("conftest.py", CONFTEST % 1)
    project.write("agent.py", AGENT.replace("0.02", "0.2"))
    late = json.loads(json.dumps(TASK).replace("o1", "o2")) | {"id": "late"}
    project.write(
        "shop.py",
        SHOP.replace('{"status": "paid", "due": "2024-05-20"}', '{"due": "2024-05-20"}, "o2": {"due": "3000-01-01"}'),
    )
    project.write("agent.py", AGENT.replace("0.02", "0.2").replace('"o1"', '"o2"'))
    project.tasks("tasks.json", [late])
    fixtures, _ = FIXTURES["freezegun"]
    tests = (
        "@pytest.mark.tau(domain='shop', trials=4)\ndef test_other(tau_simulation):\n    pass\n"
        f"{fixtures}\ndef test_unit(day):\n    import time; end = time.process_time() + 0.3\n"
        "    while time.process_time() < end: pass\n"
        "def test_dates():\n    assert {each.year for each in shop.EXECUTED if each.year < 2025} == set()\n"
    )
    project.write("test_shop.py", HEAD + tests)
    unit_first = ("test_shop.py::test_unit", "test_shop.py::test_other", "test_shop.py::test_dates")
    project.run("--tau-agent=agent:Agent", "--tau-concurrency=4", *unit_first).outcomes(passed=6)


BODY = """
@pytest.mark.asyncio
@tau
async def test_it(tau_run):
    with {}:
        simulation = await tau_run()
    assert simulation.reward == 1
"""


@pytest.mark.parametrize("frozen", ["freeze_time(DAY)", "time_machine.travel(DAY)"])
def test_a_test_that_sets_the_time_itself(shop, frozen):
    pytest.importorskip("pytest_asyncio")
    options = quick_options("asyncio")
    shop(BODY.format(frozen), "-o", "asyncio_default_fixture_loop_scope=function", options=options).outcomes(passed=1)


HANGS = AGENT.replace("await asyncio.sleep(0.02)", "await asyncio.sleep(60)")


def test_a_limit_ends_a_trial_while_the_time_is_frozen(project):
    project.write("shop.py", SHOP)
    project.write("agent.py", HANGS)
    project.write("conftest.py", CONFTEST % 2)
    project.tasks("tasks.json", [TASK])
    fixtures, _ = FIXTURES["freezegun"]
    ends = "@tau\ndef test_it(day, tau_simulation):\n    assert tau_simulation.termination_reason == 'timeout'\n"
    project.write("test_shop.py", f"{HEAD}{fixtures}\n{ends}")
    project.run("--tau-agent=agent:Agent", "--tau-timeout=0.3").outcomes(passed=1)
