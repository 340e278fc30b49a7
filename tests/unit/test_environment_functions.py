"""Domains over functions and objects that exist already."""

from __future__ import annotations

import asyncio
import enum
import functools
import re
from collections import deque
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import BaseModel

import pytest_tau
from pytest_tau.environment import check_task, domain_of
from pytest_tau.environment.functions import sessions
from pytest_tau.environment.functions.session_state import FirstState, SessionState
from pytest_tau.environment.jsonable import jsonable, state_data
from pytest_tau.errors import ConfigurationError, DomainError, TaskFormatError, ToolError, ToolServerError
from pytest_tau.evaluation import known_components
from pytest_tau.lint import lint_domain
from pytest_tau.models import Task
from pytest_tau.testing import ScriptedParticipant

from .tiny import STOP, agent, call


class Size(enum.Enum):
    small = "s"
    large = "l"


@dataclass
class Order:
    order_id: str
    size: Size = Size.small
    notes: list[str] = field(default_factory=list)


class FrameworkTool:
    """A tool as a framework makes it of a function, which it keeps."""

    def __init__(self, func):
        self.func = func

    def __repr__(self):
        return "FrameworkTool"


class Shop:
    made = 0

    def __init__(self):
        type(self).made += 1
        self.orders = {"o1": Order("o1")}

    def find(self, order_id: str) -> Order:
        """Show an order."""
        return self.orders[order_id]

    def add(self, order_id: str, size: Size = Size.small) -> Order:
        """Add an order.

        Args:
            order_id: Its number.
            size: How large it is.
        """
        if order_id in self.orders:
            raise ValueError(f"{order_id} is taken")
        self.orders[order_id] = Order(order_id, size)
        return self.orders[order_id]

    async def note(self, order_id: str, text: str) -> int:
        """Add a note to an order."""
        await asyncio.sleep(0)
        self.orders[order_id].notes.append(text)
        return len(self.orders[order_id].notes)

    def has(self, order_id: str) -> bool:
        return order_id in self.orders

    def load(self, state: dict):
        self.orders = {
            key: Order(**value) if isinstance(value, dict) else value for key, value in state["orders"].items()
        }


def of_class(**changes):
    given = {"tools": [Shop.find, Shop.add, Shop.note], "make": Shop, "snapshot": vars, "functions": [Shop.has]}
    given |= {"reads": {"find", "has"}, "policy": "Be kind."}
    return pytest_tau.domain_of("shop", **given | changes)


STOCK = {"lamp": 3}


def count(item: str) -> int:
    """Count an item."""
    return STOCK.get(item, 0)


def take(item: str) -> int:
    """Take an item."""
    if not STOCK.get(item):
        raise KeyError(item)
    STOCK[item] -= 1
    return STOCK[item]


def get_stock():
    return STOCK


def set_stock(stock):
    STOCK.clear()
    STOCK.update(stock)


def of_functions(**changes):
    given = {"tools": [count, take], "reads": {"count"}, "snapshot": get_stock, "restore": set_stock}
    return pytest_tau.domain_of("stock", **given | changes)


def task(actions, basis=("DB",), env_assertions=None, **fields):
    made = [{"action_id": str(n), "name": name, "arguments": args} for n, (name, args) in enumerate(actions)]
    criteria = {"actions": made, "reward_basis": list(basis), "env_assertions": env_assertions}
    return Task.model_validate(
        {"id": "t", "user_scenario": {"instructions": "x"}, "evaluation_criteria": criteria, **fields}
    )


def simulate(domain, of, *made):
    replies = [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in made]
    agent, user = ScriptedParticipant([*replies, "Done."]), ScriptedParticipant(["Please.", "###STOP###"])
    return pytest_tau.simulate(of, domain=domain, agent=agent, user=user)


class TestAClass:
    def test_its_methods_are_tools(self):
        environment = of_class().load().environment()
        tools = {tool.name: tool for tool in environment.tools()}
        assert list(tools) == ["find", "add", "note"]
        assert tools["add"].description == "Add an order."
        assert list(tools["add"].parameters["properties"]) == ["order_id", "size"]
        assert tools["add"].parameters["$defs"]["Size"]["enum"] == ["s", "l"]
        assert [tools[name].kind for name in tools] == ["read", "write", "write"]
        assert environment.policy == "Be kind."

    def test_results_are_json_and_errors_are_results(self):
        environment = of_class().load().environment()
        assert environment.call("add", {"order_id": "o2", "size": "l"}).content == (
            '{"order_id": "o2", "size": "l", "notes": []}'
        )
        taken = environment.call("add", {"order_id": "o2"})
        assert (taken.content, taken.error) == ("Error: o2 is taken", True)
        wrong = environment.call("add", {"order_id": "o3", "size": "huge"})
        assert wrong.error and "'s' or 'l'" in wrong.content
        assert environment.call("note", {"order_id": "o1", "text": "hi"}).content == "1"

    def test_a_record_that_objects_share_is_named(self):
        names = {}

        class Register:
            def __init__(self):
                self.names = names

            def add(self, name: str) -> int:
                """Add a name."""
                self.names[name] = 1
                return len(self.names)

        domain = pytest_tau.domain_of("register", tools=[Register.add], make=Register, snapshot=vars).load()
        domain.environment().call("add", {"name": "b"})
        expected = "domain 'register': .*: names/b: nothing at first, now 1: build new containers"
        with pytest.raises(DomainError, match=expected):
            domain.environment().open()

    def test_an_object_without_a_state_may_be_read(self):
        class Clock:
            def hour(self) -> int:
                """Show the hour."""
                return 12

        domain = pytest_tau.domain_of("clock", tools=[Clock.hour], make=Clock, snapshot=vars, reads={"hour"}).load()
        assert domain.environment().call("hour", {}).content == "12"

    def test_a_parameter_may_be_called_name(self):
        class Register:
            def __init__(self):
                self.names = ["a"]

            def add(self, name: str) -> int:
                """Add a name."""
                self.names.append(name)
                return len(self.names)

        def greet(name: str) -> str:
            """Greet somebody."""
            return f"Hi {name}!"

        domain = pytest_tau.domain_of("register", tools=[Register.add], make=Register, snapshot=vars).load()
        environment = domain.environment()
        assert environment.call("add", {"name": "b"}).content == "2"
        assert environment.dump()["agent"] == {"names": ["a", "b"]}
        domain = pytest_tau.domain_of("greetings", tools=[greet], reads={"greet"}).load()
        assert domain.environment().call("greet", {"name": "Ann"}).content == "Hi Ann!"

    def test_an_asynchronous_tool_works_on_a_running_loop(self):
        async def on_a_loop():
            environment = of_class().load().environment()
            environment.call("note", {"order_id": "o1", "text": "a"})
            return environment.call("note", {"order_id": "o1", "text": "b"}).content

        assert asyncio.run(on_a_loop()) == "2"

    def test_each_environment_has_an_object_of_its_own(self):
        domain = of_class().load()
        first, second = domain.environment(), domain.environment()
        first.call("add", {"order_id": "o2"})
        assert set(first.dump()["agent"]["orders"]) == {"o1", "o2"}
        assert set(second.dump()["agent"]["orders"]) == {"o1"}

    def test_nothing_is_made_before_it_is_needed(self):
        before = Shop.made
        of_class().load().environment()
        assert Shop.made == before

    def test_a_copy_goes_its_own_way(self):
        environment = of_class().load().environment()
        environment.call("add", {"order_id": "o2"})
        copy = environment.agent_db.fork()
        environment.call("add", {"order_id": "o3"})
        assert set(copy.dump()["orders"]) == {"o1", "o2"}
        assert [change.path for change in copy.changes(environment.agent_db)] == ["orders/o3"]

    def test_a_simulation_is_graded(self):
        domain, of = of_class().load(), task([("add", {"order_id": "o2"})])
        assert simulate(domain, of, ("find", {"order_id": "o1"}), ("add", {"order_id": "o2"})).reward == 1
        wrong = simulate(domain, of, ("add", {"order_id": "o2", "size": "l"}))
        assert wrong.reward == 0
        (difference,) = wrong.reward_info.db_diff
        assert (difference.path, difference.expected, difference.got) == ("orders/o2/size", "s", "l")
        assert wrong.info.turning_point.kind == "diverged"

    def test_functions_serve_tasks_and_not_the_agent(self):
        domain = of_class().load()
        wanted = {"env_type": "assistant", "func_name": "has", "arguments": {"order_id": "o2"}, "assert_value": True}
        of = task([], ["ENV_ASSERTION"], env_assertions=[wanted])
        check_task(of, domain.spec, known_components(()))
        assert simulate(domain, of, ("add", {"order_id": "o2"})).reward == 1
        assert simulate(domain, of).reward == 0
        assert domain.environment().call("has", {"order_id": "o1"}).content == "Error: Tool 'has' not found."

    def test_a_task_set_is_linted(self, tmp_path):
        fits, fails = task([("add", {"order_id": "o2"})]), task([("add", {"order_id": "o1"})])
        tasks = ",".join(each.model_dump_json() for each in (fits, fails.model_copy(update={"id": "taken"})))
        tmp_path.joinpath("tasks.json").write_text(f"[{tasks}]", encoding="utf-8")
        report = asyncio.run(lint_domain(of_class(tasks="tasks.json", folder=tmp_path).load(), None))
        assert "taken" in {finding.task_id for finding in report.findings}

    def test_initial_data_needs_restore(self):
        data = {"initialization_data": {"agent_data": {"orders": {"o9": {"order_id": "o9", "notes": [], "size": "s"}}}}}
        of = task([], initial_state=data)
        with pytest.raises(TaskFormatError, match="needs snapshot= and restore="):
            of_class().load().environment(of)

    def test_initial_data_is_merged_and_restored(self):
        # A snapshot of JSON values; initial data is JSON, too.
        def load(target, state):
            target.orders = {
                key: Order(**{**value, "size": Size(value["size"])}) for key, value in state["orders"].items()
            }

        domain = of_class(snapshot=lambda target: jsonable(vars(target)), restore=load).load()
        data = {"initialization_data": {"agent_data": {"orders": {"o1": {"notes": ["vip"]}}}}}
        environment = domain.environment(task([], initial_state=data))
        assert environment.dump()["agent"]["orders"]["o1"]["notes"] == ["vip"]
        assert domain.environment().dump()["agent"]["orders"]["o1"]["notes"] == []

    def test_without_a_snapshot_the_database_cannot_be_compared(self):
        domain, of = of_class(snapshot=None).load(), task([("add", {"order_id": "o2"})])
        with pytest.raises(
            TaskFormatError, match=r"DB compares .*'shop' does not give it: add snapshot= to the domain"
        ):
            check_task(of, domain.spec, known_components(()))
        of = task([("add", {"order_id": "o2"})], ["ACTION"])
        simulation = simulate(domain, of, ("add", {"order_id": "o2"}))
        assert (simulation.reward, simulation.reward_info.db_check) == (1, None)

    def test_a_snapshot_that_is_no_data_is_refused(self):
        domain = of_class(snapshot=lambda target: {"shop": target}).load()
        with pytest.raises(
            ConfigurationError, match="snapshot: shop: a Shop cannot be written as JSON: return plain data"
        ):
            domain.environment().dump()

    @pytest.mark.parametrize(
        ("state", "problem"),
        [
            (
                {"orders": {1: "a", "1": "b"}},
                "snapshot: orders: the keys 1 and '1' are the same in JSON: return plain data",
            ),
            ({"a": [0, {"b": object()}]}, "snapshot: a/1/b: a object cannot be written as JSON: return plain data"),
            (None, "snapshot= returned None: return the state"),
        ],
    )
    def test_a_snapshot_that_loses_something_is_refused(self, state, problem):
        with pytest.raises(ConfigurationError, match=f"^{problem}$"):
            of_class(snapshot=lambda _: state).load().environment().dump()
        with pytest.raises(ConfigurationError, match=f"^{problem}$"):
            of_functions(snapshot=lambda: state, tools=[count], restore=None).load().environment().dump()

    def test_equal_values_are_equal_states(self):
        class Bank:
            def __init__(self):
                self.paid, self.at = [], {}

            def pay(self, amount: Decimal, at: datetime) -> Decimal:
                """Pay."""
                self.paid.append(amount)
                self.at[at] = at
                return amount

        def after(amount, at):
            environment = domain.environment()
            return environment.call("pay", {"amount": amount, "at": at}).content, environment.agent_db

        domain = pytest_tau.domain_of("bank", tools=[Bank.pay], make=Bank, snapshot=vars).load()
        (text, one), (other_text, other) = after("10.50", "2026-01-05T10:00+01:00"), after(10.5, "2026-01-05T09:00Z")
        assert (text, other_text) == ('"10.50"', '"10.5"')
        assert one.equals(other)
        assert one.digest() == other.digest()
        assert not one.equals(after("10.51", "2026-01-05T10:00+01:00")[1])


class TestFunctions:
    def test_environments_do_not_share_the_state(self):
        domain = of_functions().load()
        first, second = domain.environment(), domain.environment()
        assert first.call("take", {"item": "lamp"}).content == "2"
        assert second.call("take", {"item": "lamp"}).content == "2"
        assert first.call("take", {"item": "lamp"}).content == "1"
        assert second.call("count", {"item": "lamp"}).content == "2"
        assert first.dump()["agent"] == {"lamp": 1}
        assert domain.environment().dump()["agent"] == {"lamp": 3}
        first.close()
        second.close()
        assert first.dump()["agent"] == {"lamp": 1}

    def test_the_state_is_restored_in_the_end(self):
        domain, of = of_functions().load(), task([("take", {"item": "lamp"})])
        assert simulate(domain, of, ("take", {"item": "lamp"})).reward == 1
        assert simulate(domain, of).reward == 0
        assert STOCK == {"lamp": 3}

    def test_functions_that_only_read_need_nothing(self):
        domain = pytest_tau.domain_of("stock", tools=[count], reads={"count"}).load()
        assert domain.environment().call("count", {"item": "lamp"}).content == "3"

    def test_bound_methods_are_functions(self):
        shop = Shop()
        domain = pytest_tau.domain_of("shop", tools=[shop.find], reads={"find"}).load()
        assert "o1" in domain.environment().call("find", {"order_id": "o1"}).content

    def test_a_state_that_would_leak_is_refused(self):
        with pytest.raises(ConfigurationError, match=r"'stock': take may change .*give make=.*snapshot= and restore="):
            of_functions(restore=None)


class TestDeclarations:
    @pytest.mark.parametrize(
        ("changes", "problem"),
        [
            ({"reads": {"cuont"}}, "reads: unknown tool 'cuont'; did you mean 'count'"),
            ({"reads": {"count"}, "generic": {"count"}}, "'count' is in both reads and generic"),
            ({"tools": [count, count]}, "two tools are called 'count'"),
            ({"tools": ["count"]}, "tools: expected functions, got 'count'$"),
            ({"tools": [FrameworkTool(count)]}, "got FrameworkTool: give its function, the attribute 'func'$"),
            ({"tools": [lambda: 1], "reads": ()}, "a tool cannot be called '<lambda>'"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, changes, problem):
        with pytest.raises(ConfigurationError, match=problem):
            of_functions(**changes)

    def test_a_tool_needs_a_docstring_and_types(self):
        def silent(item: str) -> int:
            return 1

        def untyped(item) -> int:
            """Do it."""
            return 1

        def many(*items: str) -> int:
            """Do it."""
            return 1

        with pytest.raises(ConfigurationError, match="silent has no docstring"):
            pytest_tau.domain_of("x", tools=[silent], reads={"silent"})
        with pytest.raises(ConfigurationError, match="parameter 'item' has no type"):
            pytest_tau.domain_of("x", tools=[untyped], reads={"untyped"})
        with pytest.raises(ConfigurationError, match="passed by its name"):
            pytest_tau.domain_of("x", tools=[many], reads={"many"})

    def test_paths_are_relative_to_the_calling_file(self):
        spec = of_functions(policy=Path("policy.md"), tasks="tasks.json")
        assert spec.folder == Path(__file__).parent
        assert spec.tasks == Path(__file__).parent / "tasks.json"

    def test_a_policy_can_be_a_file_and_tasks_too(self, tmp_path):
        tmp_path.joinpath("policy.md").write_text("Be brief.")
        tmp_path.joinpath("mine.json").write_text("[" + task([("take", {"item": "lamp"})]).model_dump_json() + "]")
        domain = of_functions(policy=Path("policy.md"), tasks="mine.json", folder=tmp_path).load()
        assert domain.environment().policy == "Be brief."
        assert [each.id for each in domain.tasks()] == ["t"]
        assert domain.splits == {}


class Bank:
    """An application with functions of all kinds."""

    def __init__(self):
        self.accounts = {"EUR": 0, "USD": 0}

    @staticmethod
    def cents(amount: float) -> int:
        """Convert an amount."""
        return round(amount * 100)

    @staticmethod
    def names(bank: Bank) -> list[str]:
        """List the accounts."""
        return list(bank.accounts)

    @staticmethod
    def hours() -> str:
        """Show the hours."""
        return "9 to 5"

    @classmethod
    def title(cls, language: str) -> str:
        """Show the name of the bank."""
        return f"{cls.__name__} ({language})"

    def empty(self, currency: str) -> int:
        """Empty an account."""
        self.accounts[currency] = 0
        return 0


def deposit(bank, amount: int, currency: str = "EUR", note: str = "") -> str:
    """Deposit an amount.

    Args:
        amount: The amount.
        currency: The currency.
        note: The reason.
    """
    bank.accounts[currency] += amount
    return f"{amount} {currency} {note}".strip()


class Depositing:
    """Deposit something."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, bank, amount: int) -> str:
        return deposit(bank, amount)


class Withdrawing(Depositing):
    __doc__ = None

    def __call__(self, bank, amount: int) -> str:
        """Withdraw an amount."""
        return deposit(bank, -amount)


def named(function, name, *bound, update=False, **keywords):
    partial = functools.partial(function, *bound, **keywords)
    if update:
        functools.update_wrapper(partial, function)
    partial.__name__ = name
    return partial


class TestCallables:
    """What can be a tool besides functions and methods of a class."""

    def of_bank(self, *tools, make=Bank, **changes):
        domain = pytest_tau.domain_of("bank", tools=tools, make=make, snapshot=vars, **changes)
        return domain.load().environment()

    @pytest.mark.parametrize("update", [False, True])
    @pytest.mark.parametrize("nested", [False, True])
    def test_what_a_partial_binds_is_hidden_and_kept(self, update, nested):
        tool = named(deposit, "deposit_usd", update=update, currency="USD")
        if nested:
            tool = named(tool, "deposit_usd", update=update, note="gift")
        environment = self.of_bank(tool)
        (shown,) = environment.tools()
        assert (shown.name, shown.description) == ("deposit_usd", "Deposit an amount.")
        assert list(shown.parameters["properties"]) == ["amount"] + ["note"] * (not nested)
        assert shown.parameters["properties"]["amount"]["description"] == "The amount."
        assert shown.parameters["required"] == ["amount"]
        assert environment.call("deposit_usd", {"amount": 1}).content == "1 USD" + " gift" * nested
        for wrong in ({"amount": 1, "currency": "EUR"}, {"amount": "one"}, {}):
            assert environment.call("deposit_usd", wrong).error
        assert environment.dump()["agent"] == {"accounts": {"EUR": 0, "USD": 1}}

    def test_a_partial_of_a_required_argument_needs_none(self):
        environment = self.of_bank(named(deposit, "deposit_five", update=True, amount=5))
        assert environment.call("deposit_five", {}).content == "5 EUR"
        assert environment.call("deposit_five", {"currency": "USD"}).content == "5 USD"

    def test_positional_arguments_of_a_partial_are_bound(self):
        tool = named(count, "count_lamps", "lamp")
        domain = pytest_tau.domain_of("stock", tools=[tool], reads={"count_lamps"}).load()
        assert domain.environment().call("count_lamps", {}).content == "3"

    def test_a_partial_of_an_asynchronous_function_is_awaited(self):
        environment = of_class(tools=[named(Shop.note, "note_vip", text="vip")], reads={"has"}).load().environment()
        assert environment.call("note_vip", {"order_id": "o1"}).content == "1"

    def test_an_object_that_can_be_called_has_a_name_of_its_own(self):
        environment = self.of_bank(Depositing("put"), Withdrawing("take"))
        assert [(tool.name, tool.description) for tool in environment.tools()] == [
            ("put", "Deposit something."),
            ("take", "Withdraw an amount."),
        ]
        assert environment.call("put", {"amount": "3"}).content == "3 EUR"
        assert environment.call("take", {"amount": 1}).content == "-1 EUR"
        assert environment.dump()["agent"]["accounts"] == {"EUR": 2, "USD": 0}

    def test_static_and_class_methods_do_not_take_the_object(self):
        environment = self.of_bank(Bank.cents, Bank.hours, Bank.title, Bank.names)
        properties = {tool.name: list(tool.parameters["properties"]) for tool in environment.tools()}
        assert properties == {"cents": ["amount"], "hours": [], "title": ["language"], "names": []}
        assert environment.call("cents", {"amount": "1.5"}).content == "150"
        assert environment.call("cents", {"amount": "x"}).content.startswith("Error: amount: expected a valid number")
        assert environment.call("hours", {}).content == "9 to 5"
        assert environment.call("title", {"language": "en"}).content == "Bank (en)"
        assert environment.call("names", {}).content == '["EUR", "USD"]'

    def test_static_methods_of_other_classes_take_the_object(self):
        class Tools:
            @staticmethod
            def total(bank: Bank) -> int:
                """Add the accounts."""
                return sum(bank.accounts.values())

        assert self.of_bank(Tools.total).call("total", {}).content == "0"

    @pytest.mark.parametrize(
        ("tool", "make", "problem"),
        [
            (Bank().empty, Bank, "Bank.empty: it is bound to one Bank, which all simulations would share: name the"),
            (Bank.cents, lambda: Bank(), "Bank.cents: its first parameter is amount: .float.?, but the first argument"),
            (Bank.hours, lambda: Bank(), "Bank.hours: it has no parameter, but the first argument of every tool is"),
            (named(deposit, "x", bank=1), Bank, "x: its first parameter is .*amount"),
        ],
    )
    def test_what_cannot_take_the_object_is_refused(self, tool, make, problem):
        with pytest.raises(ConfigurationError, match=f"tool {problem}"):
            self.of_bank(tool, make=make)


class Model(BaseModel):
    at: date
    tags: set[str]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({1: (True, None)}, {"1": [True, None]}),
        ({"b", "a", "c"}, ["a", "b", "c"]),
        (Order("o1", Size.large), {"order_id": "o1", "size": "l", "notes": []}),
        (Model(at=date(2026, 1, 2), tags={"y", "x"}), {"at": "2026-01-02", "tags": ["x", "y"]}),
        (Size.small, "s"),
        (1.5, 1.5),
    ],
)
def test_foreign_values_become_json(value, expected):
    assert jsonable(value) == expected


def test_other_objects_are_no_json():
    with pytest.raises(ValueError, match="a object cannot be written as JSON"):
        jsonable([object()])
    assert jsonable([Path], fallback=lambda value: value.__name__) == ["Path"]


BERLIN = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "result", "state"),
    [
        (Decimal("10.50"), "10.50", "10.5"),
        (Decimal(100), "100", "100"),
        (Decimal("-0.0"), "-0.0", "0"),
        (Decimal("1E+60"), "1E+60", "1E+60"),
        (Decimal("NaN"), "NaN", "NaN"),
        (datetime(2026, 1, 5, 10, tzinfo=BERLIN), "2026-01-05T10:00:00+01:00", "2026-01-05T09:00:00Z"),
        (datetime(2026, 1, 5, 10), "2026-01-05T10:00:00", "2026-01-05T10:00:00"),  # noqa: DTZ001 - as it is
        ({Decimal("1.0"): [Decimal("2.0")]}, {"1.0": ["2.0"]}, {"1": ["2"]}),
        (deque([Decimal("2.0")]), ["2.0"], ["2"]),
        ({"a": {Decimal("2.0")}}, {"a": ["2.0"]}, {"a": ["2"]}),
    ],
)
def test_only_states_have_one_notation_of_equal_values(value, result, state):
    assert jsonable(value) == result
    assert state_data(value) == state
    assert repr(state_data(state)) == repr(state)


@pytest.mark.parametrize("keys", [(1, "1"), (Decimal("1.50"), "1.5"), (True, "true"), (None, "null")])
def test_keys_that_become_one_are_no_state(keys):
    with pytest.raises(ValueError, match=re.escape(f"the keys {keys[0]!r} and {keys[1]!r} are the same")):
        state_data({"orders": dict.fromkeys(keys, "paid")})
    assert set(jsonable(dict.fromkeys(keys, "paid")).values()) == {"paid"}  # a result is not compared


class TestUnusualSources:
    """What a domain over functions need not have, and what its functions may do."""

    def test_a_tool_with_types_that_cannot_be_checked_is_refused(self):
        def odd(item: "Missing") -> int:  # noqa: F821, UP037
            """Count an item."""
            return 1

        with pytest.raises(ConfigurationError, match=r"tool .*odd"):
            of_functions(tools=[odd]).load().environment().call("odd", {"item": "lamp"})

    def test_initial_data_is_merged_into_shared_state(self):
        environment = of_functions().load().environment()
        environment.merge({"desk": 2}, None)
        assert environment.dump()["agent"] == {"lamp": 3, "desk": 2}
        assert environment.call("count", {"item": "desk"}).content == "2"
        environment.close()
        assert STOCK == {"lamp": 3}

    @pytest.mark.parametrize("missing", ["restore", "snapshot"])
    def test_initial_data_without_restore_or_snapshot_is_refused(self, missing):
        domain = of_functions(tools=[count], **{missing: None}).load()
        with pytest.raises(ToolError, match="initialization_data needs snapshot= and restore="):
            domain.environment().merge({"desk": 2}, None)

    def test_an_initialization_action_that_refuses_in_a_text_is_reported(self):
        def reset(item: str) -> str:
            return f"Error: no {item}\nsecond line"

        actions = [{"env_type": "assistant", "func_name": "reset", "arguments": {"item": "lamp"}}]
        of = task([], initial_state={"initialization_actions": actions})
        with pytest.raises(TaskFormatError) as error:
            of_functions(functions=[reset]).load().environment(of)
        assert "cannot be applied: Error: no lamp" in str(error.value)
        assert "second line" not in str(error.value)
        assert error.value.field == "initial_state.initialization_actions.0"

    def test_a_function_with_types_that_cannot_be_found_is_refused(self):
        def odd(item: "Missing") -> bool:  # noqa: F821, UP037
            return True

        with pytest.raises(ConfigurationError, match=r"tool .*odd: name 'Missing' is not defined"):
            of_functions(functions=[odd]).load()

    def test_a_server_that_is_lost_is_not_the_state_of_anything(self):
        def lost():
            raise ToolServerError("the server has ended")

        domain = of_functions(snapshot=lost, restore=None, tools=[count]).load()
        with pytest.raises(ToolServerError, match="the server has ended"):
            domain.environment().dump()

    def test_equal_states_have_the_same_digest(self):
        domain = of_functions().load()
        one, other = domain.environment(), domain.environment()
        one.call("take", {"item": "lamp"})
        assert one.agent_db.digest() != other.agent_db.digest()
        other.call("take", {"item": "lamp"})
        assert one.agent_db.digest() == other.agent_db.digest()
        one.close()
        other.close()

    def test_calls_are_made_again_in_a_new_session(self):
        environment = of_functions().load().environment()
        for left in ("2", "1"):
            assert environment.call("take", {"item": "lamp"}).content == left
        environment.agent_db.close()
        assert environment.call("take", {"item": "lamp"}).content == "0"
        assert environment.dump()["agent"] == {"lamp": 0}
        environment.close()

    def test_of_many_results_the_latest_are_remembered(self, monkeypatch):
        monkeypatch.setattr(sessions, "_MOST_STATES", 2)
        environment = of_functions().load().environment()
        for number in range(3):
            environment.call("take", {"item": "lamp"})
            assert environment.dump()["agent"] == {"lamp": 2 - number}
        environment.close()

    def test_a_snapshot_of_a_server_that_is_lost_is_an_error_of_the_server(self):
        def lost(shop):
            raise ToolServerError("the server has ended")

        environment = of_class(snapshot=lost).load().environment()
        with pytest.raises(ToolServerError, match="the server has ended"):
            environment.dump()

    @pytest.mark.parametrize("most", [1, 500])
    def test_conversations_with_the_same_beginning_are_graded_each_for_itself(self, monkeypatch, most):
        monkeypatch.setattr(sessions, "_MOST_STATES", most)
        domain, of = of_class().load(), task([("add", {"order_id": "o2"}), ("add", {"order_id": "o3"})])
        calls = [agent(call("add", order_id=name)) for name in ("o2", "o3", "o4")]
        rewards = [pytest_tau.evaluate(of, [*calls[:end], STOP], domain=domain).reward for end in (1, 2, 3, 2, 1)]
        assert rewards == [0, 1, 0, 1, 0]


class Parcel(BaseModel):
    weight: int
    address: str


def post(parcel: Parcel, copies: int = 1) -> str:
    """Post a parcel."""
    return f"{copies} x {Parcel(weight=parcel.weight, address=parcel.address if copies < 9 else 9)}"


async def post_later(parcel: Parcel, copies: int = 1) -> str:
    """Post a parcel later."""
    return post(parcel, copies)


@pytest.mark.parametrize("name", ["post", "post_later"])
def test_arguments_that_cannot_be_converted_are_named_in_the_words_of_the_package(name, tmp_path):
    domain = domain_of("parcels", tools=[post, post_later], reads={"post", "post_later"}, folder=tmp_path).load()

    def error(**arguments):
        return domain.environment().call(name, arguments, "assistant").content

    problems = 'parcel.weight: expected a valid integer, got "heavy"; parcel.address: missing'
    assert (
        error(parcel={"weight": "heavy"}, copies=2.5) == f"Error: {problems}; copies: expected a valid integer, got 2.5"
    )
    assert error(copies=2) == "Error: parcel: missing"
    # An error of the function itself stays as it is.
    assert "1 validation error for Parcel" in error(parcel={"weight": 3, "address": "x"}, copies=9)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (TimeoutError(), "TimeoutError"),
        (AssertionError(), "AssertionError"),
        (ToolError(""), ""),
        (ValueError("no"), "no"),
        (OSError(2, "gone"), "[Errno 2] gone"),
    ],
)
def test_an_error_without_a_text_is_shown_by_its_class(error, text):
    def fail() -> str:
        """Fail."""
        raise error

    environment = pytest_tau.domain_of("x", tools=[fail], reads={"fail"}).load().environment()
    for _ in range(2):
        assert environment.call("fail", {}).content == f"Error: {text}"
    with pytest.raises(type(error)) as raised:
        environment.execute("fail", {})
    assert raised.value is error


def test_a_memo_keeps_the_latest_states(monkeypatch):
    monkeypatch.setattr(sessions, "_MOST_STATES", 2)
    memo = sessions.Memo()
    logs = [tuple(sessions.SessionCall(name, {}) for name in names) for names in ("a", "ab", "abc")]
    for number, log in enumerate(logs):
        memo.note_state(log, number)
    assert [memo.state(log) for log in logs] == [sessions.UNREAD, 1, 2]


class _Counted(sessions.Session):
    def __init__(self):
        self.count = 0

    def call(self, name, arguments):
        self.count += 1
        return self.count

    def snapshot(self):
        return {"counts": [self.count]}


class _Sessions:
    keyword = "state"

    @staticmethod
    def open():
        return _Counted()


@pytest.fixture
def counting():
    """A class of states that remembers what was called, as those of tool servers do."""
    first = FirstState("counting", "")
    members = {"source": _Sessions(), "memo": sessions.Memo(), "comparable": True, "first": first}
    return type("Counting", (SessionState,), members)


def test_states_between_repeated_calls_are_remembered(counting):
    state = counting()
    for _ in range(3):
        state.call("count", {}, mutates=True)
    counting.memo = sessions.Memo()
    copy = state.fork()
    assert copy.call("count", {}, mutates=True) == 4  # after the three earlier calls, in a new session
    assert copy.dump() == {"counts": [4]}
    between = counting().for_replay()
    for expected in (1, 2, 3, 4):
        assert between.call("count", {}, mutates=True) == expected
        assert between.dump() == {"counts": [expected]}
    assert between._session is None


def test_a_dump_of_a_remembered_state_is_a_copy(counting):
    state = counting()
    state.call("count", {}, mutates=True)
    state.dump()["counts"].append("forged")
    assert state.dump() == {"counts": [1]}
    replayed = counting().for_replay()
    replayed.call("count", {}, mutates=True)
    assert replayed.dump() == {"counts": [1]}
