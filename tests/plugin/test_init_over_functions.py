"""``tau init --tools``: a project over the functions of an agent that exists, which fails if the agent is broken."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
from typing import Any

import pytest

from pytest_tau.cli import init, main

STORE = """
import sqlite3
import time


def find(bike: str) -> dict:
    '''Show a bike.'''
    with sqlite3.connect("shop.db") as db:
        return dict(zip(("id", "free"), db.execute("SELECT id, free FROM bikes WHERE id = ?", (bike,)).fetchone()))


def rent(bike: str, name: str) -> dict:
    '''Rent a bike.

    Args:
        bike: The bike.
        name: Who rents it.
    '''
    if not find(bike)["free"]:
        raise ValueError("it is not free")
    with sqlite3.connect("shop.db") as db:
        change = "UPDATE bikes SET free = 0, name = ?, changed_at = ? WHERE id = ?"
        db.execute(change, (name, time.time(), bike))
    return find(bike){more}
"""

AGENT = """
import store

TOOLS = {"find": store.find, "rent": store.rent}


def asks(messages):
    if len(messages) == 1:
        return "I will rent bike b1 for Ann. Do you agree?"
    TOOLS["rent"](bike="b1", name="Ann")
    return "Done: bike b1 is rented to Ann."


def forgets(messages):
    TOOLS["rent"](bike="b1", name="Ann")
    return "Done: bike b1 is rented to Ann."
"""

CALL = 'rent(bike="b1", name="Ann")'


@pytest.fixture
def tau(project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs the command in a folder with an application; returns the exit status and the output."""
    monkeypatch.chdir(project.path)
    monkeypatch.setattr(init, "_direct_url", dict)
    monkeypatch.setattr("pytest_tau.cli.over_functions._TICK", 0.001)
    monkeypatch.setattr(sys, "path", [*sys.path])
    project.write("my_agent.py", AGENT)
    with contextlib.closing(sqlite3.connect("shop.db")) as db:
        db.execute("CREATE TABLE bikes (id TEXT PRIMARY KEY, free INTEGER, name TEXT, changed_at REAL)")
        db.execute("INSERT INTO bikes VALUES ('b1', 1, NULL, NULL), ('b2', 0, 'Bob', NULL)")
        db.commit()

    def run(**changes: Any) -> tuple[int, str]:
        project.write("store.py", STORE.replace("{more}", changes.pop("more", "")))
        given = {"tools": "store:find,rent", "agent": "my_agent.py:asks", "state": "shop.db", "call": CALL, **changes}
        folder = given.pop("folder", "evals")
        options = [part for name, value in given.items() if value is not None for part in (f"--{name}", value)]
        status = main(["init", folder, *options])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


def forget() -> None:
    """Let the modules of the application be imported again, as in another process."""
    for name in [name for name in sys.modules if name == "store" or "my_agent" in name]:
        del sys.modules[name]


@pytest.mark.parametrize("folder", ["evals", "."])
@pytest.mark.parametrize("agent", ["asks", "forgets"])
def test_the_project_tests_the_agent_as_it_is(tau, project, monkeypatch, folder, agent) -> None:
    status, shown = tau(agent=f"my_agent.py:{agent}", folder=folder)
    assert status == 0, shown
    files = project.path / folder
    assert json.loads((files / "tasks.json").read_text(encoding="utf-8"))[0]["user_scenario"]["instructions"] == (
        "You want to rent a bike. The bike is b1. The name is Ann."
    )
    conftest = (files / "conftest.py").read_text(encoding="utf-8")
    assert 'reads={"find"}' in conftest
    assert 'patch=["my_agent"]' in conftest
    assert f'sqlite("{"../" * (folder == "evals")}shop.db", omit=["bikes.changed_at"])' in conftest
    workflow = next(project.path.rglob("tau*.yml")).read_text(encoding="utf-8")
    assert "pytest --tau-replay --tau-gate" in workflow
    forget()
    monkeypatch.chdir(files)
    found = project.run(f"--rootdir={files}", "-c", files / "pytest.toml")
    if agent == "asks":
        found.outcomes(passed=1)
    else:
        found.outcomes(failed=1)
        found.line("reward 0 = DB 1 x POLICY 0")
    with contextlib.closing(sqlite3.connect(project.path / "shop.db")) as db:
        assert db.execute("SELECT free FROM bikes WHERE id = 'b1'").fetchone() == (1,)


def test_a_connection_that_the_functions_share_is_found(tau, project) -> None:
    shared = '\n\n\nSHARED = sqlite3.connect("shop.db")\n'
    status, shown = tau(more=shared)
    assert status == 0, shown
    conftest = (project.path / "evals" / "conftest.py").read_text(encoding="utf-8")
    assert 'sqlite("../shop.db", connect="store.SHARED", omit=["bikes.changed_at"])' in conftest
    sys.modules["store"].SHARED.close()
    forget()


@pytest.mark.parametrize("changes", [{"call": 'rent("b1", name="Ann")'}, {"state": "sqlite:///shop.db"}])
def test_other_forms_of_a_call_and_of_a_file(tau, project, changes) -> None:
    status, shown = tau(**changes)
    assert status == 0, shown
    files = project.path / "evals"
    (action,) = json.loads((files / "tasks.json").read_text(encoding="utf-8"))[0]["evaluation_criteria"]["actions"]
    assert action["arguments"] == {"bike": "b1", "name": "Ann"}
    assert 'sqlite("../shop.db", omit=' in (files / "conftest.py").read_text(encoding="utf-8")
    forget()


def test_results_that_differ_each_time_are_noted(tau) -> None:
    assert "a recording cannot be replayed" not in tau()[1]
    forget()
    assert "the result of rent differs each time" in tau(more=' | {"at": time.time()}', folder="others")[1]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"call": None, "state": None}, "--tools needs --state, --call, too"),
        ({"agent": None}, "--tools needs --agent, too"),
        ({"tools": "store"}, "expected MODULE:NAME,NAME such as"),
        ({"tools": "nowhere:find"}, "--tools 'nowhere:find': cannot be imported: ModuleNotFoundError"),
        ({"tools": "store:fnd"}, "unknown function 'fnd'"),
        ({"call": "rent(b1)"}, "expected a call such as"),
        ({"call": "rent"}, "expected a call such as"),
        ({"call": "buy()"}, "unknown tool 'buy'"),
        ({"call": 'rent("b1")'}, "--call 'rent(\"b1\")': missing a required argument: 'name'"),
        (
            {"state": "postgresql://me:secret@localhost/shop"},
            "--state postgresql://me@localhost/shop: the module of the tools has no engine",
        ),
        ({"call": 'rent(bike="b2", name="Ann")'}, "it must work, but: Error: it is not free"),
        ({"state": "no.db"}, "no file"),
        ({"tools": None, "state": None, "call": None}, "your own agent needs --tools"),
    ],
)
def test_what_cannot_be_used_is_an_error_and_nothing_is_written(tau, project, changes, problem) -> None:
    status, shown = tau(**changes)
    assert (status, problem in " ".join(shown.split())) == (2, True), shown
    assert not (project.path / "evals").exists()
    forget()
