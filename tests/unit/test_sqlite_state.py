"""States in a file of SQLite: a copy for each simulation, however the functions reach the file."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment import domain_of, sqlite
from pytest_tau.environment.functions.source import release_functions
from pytest_tau.environment.reference_states import unstable_reference
from pytest_tau.errors import ConfigurationError, DomainError, ToolError
from pytest_tau.models import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA = """
CREATE TABLE bikes (id TEXT PRIMARY KEY, free INTEGER NOT NULL, photo BLOB, changed_at TEXT);
CREATE TABLE log (number INTEGER PRIMARY KEY, what TEXT, created_at TEXT);
CREATE TABLE prices (bike TEXT, day TEXT, price REAL, PRIMARY KEY (bike, day));
CREATE TABLE notes (text TEXT);
INSERT INTO bikes VALUES ('b1', 1, x'00ff', NULL), ('b2', 0, NULL, NULL);
INSERT INTO prices VALUES ('b1', 'mon', 9.5);
INSERT INTO notes VALUES ('hello');
"""

TAKE = "UPDATE bikes SET free = 0 WHERE id = ?"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database, in the current folder."""
    monkeypatch.chdir(tmp_path)
    with contextlib.closing(sqlite3.connect("shop.db")) as connection:
        connection.executescript(SCHEMA)
    return tmp_path / "shop.db"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module for what functions share."""
    module = types.ModuleType("tau_test_shop")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


@pytest.fixture
def domain(file: Path) -> Iterator[Callable[..., Any]]:
    """Makes a domain of functions on the database."""
    made: list[Any] = []

    def make(*tools: Callable[..., Any], state: Any = None, **arguments: Any) -> Any:
        spec = domain_of("bikes", tools=tools, state=state or sqlite("shop.db"), folder=file.parent, **arguments)
        made.append(spec)
        return spec.load()

    yield make
    for spec in made:
        release_functions(spec)


def take(bike: str) -> str:
    """Take a bike."""
    with sqlite3.connect("shop.db") as connection:
        connection.execute(TAKE, (bike,))
    return bike


def take_from_its_path(bike: str) -> str:
    """Take a bike."""
    with contextlib.closing(sqlite3.connect(Path.cwd() / "shop.db")) as connection, connection:
        connection.execute(TAKE, (bike,))
    return bike


def take_from_its_uri(bike: str) -> str:
    """Take a bike."""
    with contextlib.closing(sqlite3.connect("file:shop.db?mode=rw", uri=True)) as connection, connection:
        connection.execute(TAKE, (bike,))
    return bike


async def take_later(bike: str) -> str:
    """Take a bike, without blocking."""
    await asyncio.sleep(0)
    return take(bike)


def free(path: Path) -> dict[str, int]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT id, free FROM bikes"))


def check(made: Any, name: str) -> None:
    """Two simulations at once each have a copy, and the file is as it was."""
    first, second = made.environment(), made.environment()
    assert first.call(name, {"bike": "b1"}).content == "b1"
    assert first.agent_db.dump()["bikes"]["b1"]["free"] == 0
    assert second.agent_db.dump()["bikes"]["b1"]["free"] == 1
    assert second.call(name, {"bike": "b1"}).content == "b1"
    assert [each.path for each in made.environment().agent_db.changes(first.agent_db)] == ["bikes/b1/free"]
    assert first.equals(second)
    first.close()
    assert free(Path("shop.db")) == {"b1": 1, "b2": 0}


@pytest.mark.parametrize("function", [take, take_from_its_path, take_from_its_uri, take_later])
def test_functions_that_open_the_file(domain, function) -> None:
    check(domain(function), function.__name__)


def test_the_file_is_opened_as_it_is_outside_of_the_functions(domain, file) -> None:
    domain(take).environment().call("take", {"bike": "b1"})
    take("b1")
    assert free(file) == {"b1": 0, "b2": 0}


def test_the_current_folder_is_another_one(domain, tmp_path, monkeypatch) -> None:
    made = domain(take)
    tmp_path.joinpath("evals").mkdir()
    monkeypatch.chdir(tmp_path / "evals")
    environment = made.environment()
    assert environment.call("take", {"bike": "b1"}).content == "b1"
    assert environment.agent_db.dump()["bikes"]["b1"]["free"] == 0
    assert not list(Path.cwd().iterdir())


def test_a_url(domain) -> None:
    check(domain(take, state=sqlite("sqlite:///shop.db")), "take")


def test_a_connection_that_functions_share(domain, shop, file) -> None:
    shop.db = sqlite3.connect(file)
    shop.db.row_factory = sqlite3.Row

    def take_from_shared(bike: str) -> str:
        """Take a bike."""
        shop.db.execute(TAKE, (bike,))
        shop.db.commit()
        return shop.db.execute("SELECT id FROM bikes WHERE id = ?", (bike,)).fetchone()["id"]

    with contextlib.closing(shop.db):
        check(domain(take_from_shared, state=sqlite("shop.db", connect="tau_test_shop.db")), "take_from_shared")
        assert shop.db.execute("SELECT free FROM bikes WHERE id = 'b1'").fetchone()["free"] == 1


def test_a_connection_that_is_opened_when_it_is_first_needed(domain, shop, file) -> None:
    shop.db = None

    def take_lazily(bike: str) -> str:
        """Take a bike."""
        shop.db = shop.db or sqlite3.connect(file)
        shop.db.execute(TAKE, (bike,))
        shop.db.commit()
        return bike

    check(domain(take_lazily, state=sqlite("shop.db", connect="tau_test_shop.db")), "take_lazily")
    assert shop.db is None
    shop.db = None
    with pytest.raises(DomainError, match=r"'take_lazily' keeps a connection to shop.db .* connect="):
        domain(take_lazily).environment().call("take_lazily", {"bike": "b1"})
    shop.db.close()


@pytest.mark.parametrize("kind", ["engine", "sessionmaker", "scoped_session"])
def test_sqlalchemy(domain, shop, kind) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    from sqlalchemy import orm

    engine = sqlalchemy.create_engine("sqlite:///shop.db")
    maker = orm.sessionmaker(engine)
    shop.it = {"engine": engine, "sessionmaker": maker, "scoped_session": orm.scoped_session(maker)}[kind]

    def take_by_orm(bike: str) -> str:
        """Take a bike."""
        change = sqlalchemy.text("UPDATE bikes SET free = 0 WHERE id = :bike")
        if kind == "scoped_session":
            shop.it.execute(change, {"bike": bike})
            shop.it.commit()
            return bike
        with shop.it.begin() as session:
            session.execute(change, {"bike": bike})
        return bike

    check(domain(take_by_orm, state=sqlite("sqlite:///shop.db", connect="tau_test_shop.it")), "take_by_orm")
    with pytest.raises(DomainError, match=r"an engine of SQLAlchemy opens shop\.db in a pool: name the connection"):
        domain(take_by_orm).environment().call("take_by_orm", {"bike": "b1"})
    engine.dispose()


def test_an_engine_of_sqlalchemy_keeps_its_listeners_and_is_reached_by_any_name(domain, shop) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    shop.engine = elsewhere = sqlalchemy.create_engine("sqlite:///shop.db")

    @sqlalchemy.event.listens_for(shop.engine, "connect")
    def configure(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")

    def take_by_engine(bike: str) -> str:
        """Take a bike, if foreign keys are checked."""
        with elsewhere.begin() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
            connection.exec_driver_sql(TAKE, (bike,))
        return bike

    check(domain(take_by_engine, state=sqlite("shop.db", connect="tau_test_shop.engine")), "take_by_engine")
    with shop.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT free FROM bikes WHERE id = 'b1'").scalar() == 1
    shop.engine.dispose()


def take_once(bike: str, fails: bool) -> str:
    """Take a bike, without closing the file if it fails."""
    connection = sqlite3.connect("shop.db", timeout=0)
    connection.execute(TAKE, (bike,))
    if fails:
        raise ValueError("no")
    connection.commit()
    return bike


async def take_once_later(bike: str, fails: bool) -> str:
    """Take a bike, without blocking."""
    return take_once(bike, fails)


@pytest.mark.parametrize("function", [take_once, take_once_later])
def test_a_function_that_fails_leaves_no_lock(domain, function) -> None:
    name, environment = function.__name__, domain(function).environment()
    assert environment.call(name, {"bike": "b1", "fails": True}).content == "Error: no"
    assert environment.agent_db.dump()["bikes"]["b1"]["free"] == 1
    assert environment.call(name, {"bike": "b1", "fails": False}).content == "b1"


@pytest.mark.parametrize("fails", [True, False])
def test_a_session_of_sqlalchemy_that_is_not_closed(domain, shop, fails) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    from sqlalchemy import orm

    shop.engine, shop.kept = sqlalchemy.create_engine("sqlite:///shop.db", connect_args={"timeout": 0}), []

    def take_by_session(bike: str, keeps: bool) -> str:
        """Take a bike."""
        session = orm.Session(shop.engine)
        session.execute(sqlalchemy.text("UPDATE bikes SET free = 0 WHERE id = :bike"), {"bike": bike})
        if keeps:
            shop.kept.append(session)
        if fails:
            raise ValueError("no")
        return bike

    environment = domain(take_by_session, state=sqlite("shop.db", connect="tau_test_shop.engine")).environment()
    for _ in range(2):  # the second would find the file locked
        reply = environment.call("take_by_session", {"bike": "b1", "keeps": False})
        assert reply.content == ("Error: no" if fails else "b1")
    with pytest.raises(DomainError, match="'take_by_session' keeps a connection or a session open"):
        environment.call("take_by_session", {"bike": "b1", "keeps": True})
    shop.kept.pop().close()
    shop.engine.dispose()


def test_a_change_of_the_file_itself_is_an_error(domain, file) -> None:
    shared = sqlite3.connect(file)

    def take_elsewhere(bike: str) -> str:
        """Take a bike."""
        shared.execute(TAKE, (bike,))
        shared.commit()
        return bike

    with contextlib.closing(shared), pytest.raises(DomainError, match=r"itself was changed .* connect="):
        domain(take_elsewhere).environment().call("take_elsewhere", {"bike": "b1"})


def test_rows_are_compared_by_primary_key(domain) -> None:
    assert domain(take).environment().agent_db.dump() == {
        "bikes": {
            "b1": {"id": "b1", "free": 1, "photo": "0x00ff", "changed_at": None},
            "b2": {"id": "b2", "free": 0, "photo": None, "changed_at": None},
        },
        "log": {},
        "notes": {"1": {"text": "hello"}},
        "prices": {"b1,mon": {"bike": "b1", "day": "mon", "price": 9.5}},
    }


def test_omitted_columns_and_tables(domain) -> None:
    state = sqlite("shop.db", omit=["*.photo", "bikes.*_at", "log.*"])
    assert domain(take, state=state).environment().agent_db.dump()["bikes"]["b1"] == {"id": "b1", "free": 1}
    assert "log" not in domain(take, state=state).environment().agent_db.dump()


def test_initialization_data_changes_and_adds_rows(domain) -> None:
    data = {"bikes": {"b1": {"free": 0}, "b3": {"free": 1}}, "prices": {"b1,tue": {"price": 3}}}
    state = {"initialization_data": {"agent_data": data}}
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "Hi."}, "initial_state": state})
    found = domain(take).environment(task).agent_db.dump()
    assert [(row["id"], row["free"], row["photo"]) for row in found["bikes"].values()] == [
        ("b1", 0, "0x00ff"),
        ("b2", 0, None),
        ("b3", 1, None),
    ]
    assert found["prices"]["b1,tue"] == {"bike": "b1", "day": "tue", "price": 3.0}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"bike": {}}, "unknown table 'bike': expected bikes, log, notes, prices"),
        ({"bikes": {"b1": {"fre": 0}}}, "bikes/b1: no such column: fre"),
        ({"notes": {"1": {"text": "x"}}}, "notes/1: expected a value for each column of the primary key, which has 0"),
        ({"bikes": {"b9": {}}}, "bikes/b9: NOT NULL constraint failed"),
    ],
)
def test_initialization_data_that_does_not_fit(domain, data, problem) -> None:
    environment = domain(take).environment()
    with pytest.raises(ToolError, match=problem):
        environment.merge(data, None)


def test_an_unstable_state_names_the_column_that_differs_each_time_and_the_word(domain) -> None:
    def log(what: str) -> str:
        """Log something."""
        import secrets

        with sqlite3.connect("shop.db") as connection:
            connection.execute("INSERT INTO log (what, created_at) VALUES (?, ?)", (what, secrets.token_hex()))
        return what

    action = {"action_id": "a", "name": "log", "arguments": {"what": "x"}}
    criteria = {"actions": [action], "reward_basis": ["DB"]}
    task = Task.model_validate({"id": "t", "user_scenario": {"instructions": "Hi."}, "evaluation_criteria": criteria})
    problem = unstable_reference(domain(log), task)
    assert problem is not None
    assert 'Add omit=["log.created_at"] to sqlite(…)' in problem
    state = sqlite("shop.db", omit=["log.created_at"])
    assert unstable_reference(domain(log, state=state), task) is None


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            lambda: sqlite("mysql://host/shop"),
            "'mysql' cannot be copied: expected a file, sqlite:///FILE, or pytest_tau.postgresql",
        ),
        (lambda: sqlite("shop.db", omit="*.a"), "expected columns such as"),
        (lambda: sqlite("shop.db", omit=["created_at"]), "expected columns such as"),
        (lambda: domain_of("bikes", tools=[take], state=sqlite("no.db"), folder="."), "sqlite: no file .*no.db"),
        (lambda: domain_of("bikes", tools=[take], state="shop.db", folder="."), "state: expected pytest_tau.sqlite"),
        (
            lambda: domain_of("bikes", tools=[take], state=sqlite("shop.db"), snapshot=dict, folder="."),
            "state= stands for make=, snapshot= and restore=: remove these",
        ),
    ],
)
def test_wrong_declarations(file, make, problem) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        make()


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ({"omit": ["*.nothing"]}, "omit: '\\*.nothing' matches none of bikes.id, "),
        ({"connect": "tau_test_shop.nothing"}, "connect: 'tau_test_shop.nothing': cannot be found: AttributeError"),
        ({"connect": "tau_test_shop"}, "expected a connection, got a module"),
        ({"connect": "tau_test_shop.number"}, "expected a connection of sqlite3, .* got a int"),
    ],
)
def test_wrong_names(domain, shop, state, problem) -> None:
    shop.number = 1
    environment = domain(take, state=sqlite("shop.db", **state)).environment()
    with pytest.raises((ConfigurationError, DomainError), match=problem):
        environment.open()


def test_copies_are_removed(domain, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environment = domain(take).environment()
    environment.call("take", {"bike": "b1"})
    assert list(tmp_path.glob("tau-sqlite-*"))
    environment.close()
    assert not list(tmp_path.glob("tau-sqlite-*"))


def test_it_is_public() -> None:
    assert pytest_tau.sqlite is sqlite
