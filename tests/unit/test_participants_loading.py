from __future__ import annotations

import functools
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.participants import (
    BUILT_IN,
    DummyUser,
    EndpointAgent,
    GoldAgent,
    GoldUser,
    NoopAgent,
    NoopUser,
    load_source,
)

from .tiny import agent, run, task, user

if TYPE_CHECKING:
    from pathlib import Path

AGENT = """
count = 0
class Agent:
    def respond(self, message):
        return "from %s"
class Outer:
    class Inner(Agent):
        pass
def function(messages, tools):
    return "function"
VALUE = 5
class Asking:
    def __init__(self, api_key): ...
    def respond(self, message): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "mine.py").write_text(AGENT % "here", encoding="utf-8")
    (tmp_path / "agents" / "mine.py").write_text(AGENT % "there", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("side", "name", "kind"),
    [
        ("agent", "gold", GoldAgent),
        ("agent", "noop", NoopAgent),
        ("user", "gold", GoldUser),
        ("user", "noop", NoopUser),
        ("user", "dummy", DummyUser),
    ],
)
def test_built_in_names(side: Any, name: str, kind: type) -> None:
    source = load_source(name, side)
    assert (source.name, source.target) == (name, kind)
    assert BUILT_IN[side][name] is kind


@pytest.mark.parametrize("attribute", ["Agent", "Outer.Inner", "function"])
def test_a_file_s_attribute(folder: Path, attribute: str) -> None:
    source = load_source(f"mine.py:{attribute}", "agent", folder)
    assert source.name == f"mine.py:{attribute}"
    assert source.target.__qualname__ == attribute


def test_two_files_of_one_name_do_not_shadow_each_other_and_are_imported_once(folder: Path) -> None:
    here = load_source("mine.py:Agent", "agent", folder)
    there = load_source("agents/mine.py:Agent", "agent", folder)
    assert here.target().respond(None) == "from here"
    assert there.target().respond(None) == "from there"
    assert load_source("mine.py:Agent", "agent", folder).target is here.target
    assert "mine" not in sys.modules


def test_a_file_may_be_named_by_its_full_path(folder: Path) -> None:
    assert load_source(f"{folder / 'mine.py'}:Agent", "agent").target().respond(None) == "from here"


def test_the_current_folder_is_the_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert load_source("mine.py:Agent", "agent").target().respond(None) == "from here"


def test_a_module_s_attribute() -> None:
    source = load_source("pytest_tau.participants:NoopAgent", "agent")
    assert source.target is NoopAgent


@pytest.mark.parametrize("side", ["agent", "user"])
def test_an_object_is_a_source_of_itself(side: Any) -> None:
    class Mine:
        def respond(self, message: Any) -> str:
            return "Hi"

    assert load_source(Mine, side).target is Mine
    assert load_source(Mine, side).name.endswith("Mine")
    mine = Mine()
    assert load_source(mine, side)[:3] == (mine.__class__.__name__, mine, None)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            "golden",
            r"unknown agent 'golden'; did you mean 'gold'\? \(known: a2a:URL, cmd:PROGRAM ARGUMENTS, gold, http://…, llm, llm-gt, ",
        ),
        ("dummy", "unknown agent 'dummy'"),
        ("mine.py", r"agent 'mine\.py': expected path/to/file.py:attribute, such as mine\.py:Agent"),
        ("", "unknown agent ''"),
        ("gone.py:Agent", "agent 'gone.py:Agent': no file .*gone.py"),
        ("mine.py:Agnt", "unknown attribute 'Agnt'; did you mean 'Agent'"),
        ("mine.py:Outer.Iner", "unknown attribute 'Outer.Iner'"),
        ("mine.py:VALUE", "5 is not a valid agent"),
        ("mine.py:Asking", "Asking cannot be created: its constructor needs 'api_key'"),
        ("no_such_module_here:Agent", "cannot be imported: ModuleNotFoundError"),
        ("broken.py:Agent", "cannot be imported: ZeroDivisionError"),
        ("quits.py:Agent", "cannot be imported: SystemExit"),
        ("bad.py:Agent", "cannot be imported: SyntaxError"),
        ("replay:gone.json", "recording .*gone.json"),
    ],
)
def test_unloadable_participant_is_reported(folder: Path, spec: str, told: str) -> None:
    (folder / "broken.py").write_text("1 / 0", encoding="utf-8")
    (folder / "bad.py").write_text("def", encoding="utf-8")
    (folder / "quits.py").write_text("import sys; sys.exit('no')", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=told):
        load_source(spec, "agent", folder)


def test_an_agent_may_be_an_endpoint_and_a_user_may_not() -> None:
    url = "https://example.com/v1"
    assert load_source(url, "agent")[:3] == (url, EndpointAgent, None)
    with pytest.raises(ConfigurationError, match="only an agent can be a URL"):
        load_source(url, "user")


def test_a_file_that_failed_is_imported_anew(folder: Path) -> None:
    file = folder / "broken.py"
    file.write_text("1 / 0", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        load_source("broken.py:Agent", "agent", folder)
    file.write_text(AGENT % "mended", encoding="utf-8")
    assert load_source("broken.py:Agent", "agent", folder).target().respond(None) == "from mended"


def test_object_of_no_known_form_is_reported() -> None:
    with pytest.raises(ConfigurationError, match="is not a valid user"):
        load_source(5, "user")


def test_a_partial_is_declared_and_named_by_its_class() -> None:
    class Knowing:
        needs_reference = True

        def __init__(self, client: str, task: Any) -> None:
            self.said = f"{client} {task.evaluation_criteria}"

        def respond(self, message: Any) -> str:
            return self.said

    source = load_source(functools.partial(Knowing, "client"), "agent")
    assert source.needs_reference({})
    assert source.name == Knowing.__qualname__


def test_a_source_makes_a_fresh_participant_for_each_simulation(folder: Path) -> None:
    from pytest_tau.participants import ParticipantContext

    source = load_source("mine.py:Agent", "agent", folder)
    context = ParticipantContext("agent", [], "", task())

    async def talk() -> list[Any]:
        one, two = await source.make(context), await source.make(context)
        assert one is not two
        answers = [await one.respond(user("Hi")), await two.respond(user("Hi"))]
        await one.close()
        await two.close()
        return answers

    assert run(talk()) == [agent("from here")] * 2


def test_a_replay_is_a_source(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"task_id": "t", "messages": []}), encoding="utf-8")
    source = load_source("replay:run.json", "user", tmp_path)
    assert source.replay is not None
    assert source.replay.task_ids == {"t"}
    assert source.replay.path == file
