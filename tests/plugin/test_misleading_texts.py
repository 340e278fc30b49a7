"""Errors that a user has to understand: they name the place of the mistake, and what would be right."""

from __future__ import annotations

import asyncio
import json

import pytest

import pytest_tau
from pytest_tau.lint import lint_domain

TOOLS = """
import pytest_tau

class Shop:
    def __init__(self):
        self.orders = {"o1": {"status": "open"}}

class Row:
    pass

def close_order(shop, order%s) -> str:
    \"\"\"Close an order.\"\"\"
    shop.orders["o1"]["status"] = "closed"
    return %s

def make():
    return pytest_tau.domain_of(
        "shop", make=Shop, tools=[close_order], snapshot=vars, policy="p", tasks="tasks.json"
    )
"""
CONFTEST = """
import shop


def pytest_tau_domains():
    return [shop.make()]
"""


@pytest.fixture
def shop(project, a_task, monkeypatch):
    """Runs a domain over a function, whose annotation and result are given."""
    monkeypatch.syspath_prepend(project.path)
    action = {"action_id": "a", "name": "close_order", "arguments": {"order": "o1"}}
    project.tasks("tasks.json", [a_task("t", criteria={"actions": [action], "reward_basis": ["DB"]})])

    def run(*args, annotation=": str", result='"done"', conftest=CONFTEST, domain="shop", kind="def"):
        project.write("shop.py", (TOOLS % (annotation, result)).replace("def close_order", f"{kind} close_order"))
        project.write("conftest.py", conftest)
        return project.run(f"--tau-domain={domain}", *args)

    return run


def test_a_missing_annotation_is_where_the_function_is(shop):
    run = shop(annotation="")
    run.usage_error("pytest_tau_domains (conftest.py:5), line 6: ", "'order' has no type annotation", "(shop.py:11)")


def test_a_hook_without_a_return(shop):
    forgotten = CONFTEST.replace("return [", "found = [")
    shop(conftest=forgotten).usage_error(
        "unknown domain 'shop'", "; pytest_tau_domains (conftest.py:5) returned None: is a return missing?"
    )


def test_a_misspelt_domain_of_a_hook_gets_no_such_hint(shop):
    run = shop(domain="shopp")
    run.usage_error("unknown domain 'shopp'", "shop")
    run.lacks("is a return missing")


@pytest.mark.parametrize("result", ["Row()", "[Row()]", '{"row": Row()}'])
@pytest.mark.parametrize("kind", ["def", "async def"])
def test_an_object_without_a_text_is_an_error_that_names_the_tool(shop, result, kind):
    run = shop("--tau-agent=gold", result=result, kind=kind)
    run.usage_error("tool 'close_order' returned an object of the class Row, which has no text: return its data")


TOOLKIT = """
from pathlib import Path
from pytest_tau.environment import Database, DomainSpec, Toolkit, tool

class Row:
    pass

class Tools(Toolkit[Database]):
    @tool("read")
    def find(self) -> object:
        \"\"\"Find a row.\"\"\"
        return [Row()]

def pytest_tau_domains():
    folder = Path(__file__).parent
    return [DomainSpec(name="rows", folder=folder, tasks=folder / "tasks.json", agent_db=Database, agent_tools=Tools)]
"""


def test_such_an_object_of_a_toolkit_is_the_fault_of_the_domain(project, a_task):
    project.write("conftest.py", TOOLKIT)
    project.write("policy.md", "p")
    project.write("db.json", "{}")
    actions = [{"action_id": "a", "name": "find"}]
    project.tasks("tasks.json", [a_task("t", criteria={"actions": actions, "reward_basis": ["ACTION"]})])
    run = project.run("--tau-domain=rows", "--tau-agent=gold")
    run.outcomes(errors=1)
    run.line("DomainError: tool 'find' returned an object of the class Row, which has no text: return its data")
    run.lacks("object at 0x")


def test_an_object_with_a_text_is_that_text(shop):
    shop("--tau-agent=gold", result="__import__('pathlib').PurePosixPath('a/b')").outcomes(passed=1)


def test_a_time_in_the_state_names_what_to_leave_out(shop):
    times = "__import__('time').sleep(0.002) or shop.orders['o1'].update(at=__import__('time').time_ns()) or 'done'"
    run = shop("--tau-agent=gold", result=times)
    run.usage_error("orders/o1/at", "Omit from snapshot= what differs each time")


@pytest.mark.parametrize("ini", ["tau_trails = 3", "tau_agnet = gold", "tau-trials = 3", "Tau_agent = gold"])
def test_a_misspelt_ini_key(project, a_task, ini):
    project.tasks("mock/t.tau.json", [a_task()])
    project.ini(ini)
    right = "tau_trials" if "3" in ini else "tau_agent"
    project.run().usage_error(f"pytest.ini: unknown key {ini.split()[0]}", right)


def test_an_ini_key_of_another_plugin(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    project.ini("tau_trails = 3")
    project.write("conftest.py", "def pytest_addoption(parser):\n    parser.addini('tau_trails', 'mine')\n")
    project.run().outcomes(passed=1)


@pytest.mark.parametrize("form", ["function", "partial", "generate_next_message", "respond"])
def test_a_reply_of_none_names_what_returned_it(project, a_task, form):
    project.tasks("mock/t.tau.json", [a_task()])
    project.write(
        "own.py",
        """
        import functools

        def function(messages, tools, more=None):
            pass

        partial = functools.partial(function, more=1)

        class generate_next_message:
            def get_init_state(self, history):
                return []
            def generate_next_message(self, message, state):
                return None, state

        class respond:
            def respond(self, message):
                pass
        """,
    )
    run = project.run(f"--tau-agent=own:{form}", "--tau-user=scripted")
    run.line(f"{'function' if form == 'partial' else form}() returned None; expected")


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ("[gpt-4.1]\ninput = 1.0\noutput = 2.0\n", '["gpt-4.1"]'),
        ("[a.b.c]\ninput = 1.0\noutput = 2.0\n", '["a.b.c"]'),
    ],
)
def test_a_name_with_a_point_in_the_price_file(project, prices, said):
    project.write("prices.toml", prices)
    run = project.run("--tau-domain=mock", "--tau-prices=prices.toml", "--tau-agent=gold")
    run.usage_error("a name with a point must be in quotes: ", said)


@pytest.mark.parametrize(("content", "kind"), [('[{"id": "a",}]', "object"), ('[{"id": "a"},\n]', "array")])
def test_a_comma_before_the_end(project, content, kind):
    project.write("mock/t.tau.json", content)
    run = project.run()
    run.usage_error("t.tau.json")
    assert f"a comma before the end of the {kind}" in run.text or f"trailing comma before end of {kind}" in run.text


def test_blocked_sockets(project, a_task, monkeypatch):
    def blocked(*_args):
        raise RuntimeError("A test tried to use socket.socket.")

    project.tasks("mock/t.tau.json", [a_task()])
    monkeypatch.setattr("asyncio.new_event_loop", blocked)
    run = project.run("--tau-agent=gold")
    run.outcomes(errors=1)
    run.line("no event loop can be made, which needs a local socket: RuntimeError: A test", "--allow-unix-socket")


@pytest.mark.parametrize(("wish", "missing"), [("Please buy some green tea.", 0), ("Please buy some coffee.", 1)])
def test_lint_knows_what_a_tool_returns_for_the_words_of_the_user(a_task, tmp_path, wish, missing):
    def find_product(shop: dict, name: str) -> str:
        """Find a product."""
        return "p-917" if name.lower() == "green tea" else "none"

    def buy(shop: dict, product: str) -> str:
        """Buy a product."""
        shop[product] = 1
        return "bought"

    actions = [{"action_id": "a", "name": "buy", "arguments": {"product": "p-917"}}]
    task = a_task("t", criteria={"actions": actions}, user_scenario={"instructions": wish})
    (tmp_path / "tasks.json").write_text(json.dumps([task]), encoding="utf-8")
    tools = {"tools": [find_product, buy], "reads": ["find_product"], "make": dict, "snapshot": dict}
    spec = pytest_tau.domain_of("shop", policy="p", tasks="tasks.json", folder=tmp_path, **tools)
    report = asyncio.run(lint_domain(spec.load(), None))
    assert [each.rule for each in report.findings].count("fact-missing") == missing
