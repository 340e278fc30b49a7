from __future__ import annotations

import functools
import json
import sys
import types
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.participants import BUILT_IN, load_source
from pytest_tau.participants.agents import EndpointAgent, NoopAgent
from pytest_tau.participants.clients import imported_clients

from .tiny import agent, run, task, user

if TYPE_CHECKING:
    from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores the path: a folder ``agents`` in one of its folders would be a package for all later tests."""
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "mine.py").write_text(AGENT % "here", encoding="utf-8")
    (tmp_path / "agents" / "mine.py").write_text(AGENT % "there", encoding="utf-8")
    return tmp_path


def test_built_in_names() -> None:
    for side, kinds in BUILT_IN.items():
        for name, kind in kinds.items():
            source = load_source(name, side)  # type: ignore[arg-type]
            assert (source.name, source.target) == (name, kind)
            assert getattr(kind, "name", name) == name  # which errors show


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
    source = load_source("pytest_tau.participants.agents:NoopAgent", "agent")
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
            r"unknown agent 'golden'; did you mean 'gold'\? \(known: a2a:URL, act, cmd:PROGRAM ARGUMENTS, few-shot, gold, http://…, human, llm, llm-gt, ",
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
        ("no_such_module_here:Agent", "No module named 'no_such_module_here'$"),
        ("hidden:Agent", "No module named 'hidden'; it is in inside/hidden.py: expected inside/hidden.py:NAME, or the"),
        ("min:Agent", r"No module named 'min'; did you mean 'mine'\?"),
        ("json.decodr:Agent", r"No module named 'json.decodr'; did you mean 'json.decoder'"),
        ("lacking.py:Agent", "'no_package'; if 'no_package' belongs to a package, install the package into this env"),
        ("broken.py:Agent", "cannot be imported: ZeroDivisionError"),
        ("quits.py:Agent", "cannot be imported: SystemExit"),
        ("bad.py:Agent", "cannot be imported: SyntaxError"),
        ("replay:gone.json", "recording .*gone.json"),
    ],
)
def test_unloadable_participant_is_reported(folder: Path, spec: str, told: str) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "hidden.py").write_text("Agent = 5", encoding="utf-8")
    (folder / "broken.py").write_text("1 / 0", encoding="utf-8")
    (folder / "lacking.py").write_text("import no_package", encoding="utf-8")
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


# What a file imports from its folder


@pytest.fixture
def importing() -> Iterator[None]:
    """Removes the modules that imports leave behind."""
    before = {*sys.modules}
    yield
    for name in {*sys.modules} - before:
        del sys.modules[name]


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        file = folder / f"{name.replace('__in__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


SAYING = """
class Agent:
    def respond(self, message):
        return NAME
"""


@pytest.mark.usefixtures("importing")
class TestNeighbours:
    def test_a_file_imports_what_is_next_to_it(self, tmp_path: Path) -> None:
        write(tmp_path, agents__in__mine="from helpers import NAME" + SAYING, agents__in__helpers="NAME = 'helped'")
        assert load_source("agents/mine.py:Agent", "agent", tmp_path).target().respond(None) == "helped"
        assert sys.path[0] == str(tmp_path / "agents")

    def test_a_file_of_a_package_imports_by_the_package_s_name_and_relatively(self, tmp_path: Path) -> None:
        (tmp_path / "src" / "shop" / "agents").mkdir(parents=True)
        for folder in ("shop", "shop/agents"):
            (tmp_path / "src" / folder / "__init__.py").touch()
        write(tmp_path / "src", beside="NAME = 'beside'", shop__in__helpers="NAME = 'relative'")
        write(
            tmp_path / "src",
            shop__in__agents__in__one="from ..helpers import NAME" + SAYING,
            shop__in__agents__in__two="from shop.helpers import NAME" + SAYING,
            shop__in__agents__in__three="from beside import NAME" + SAYING,
        )
        said = {
            name: load_source(f"src/shop/agents/{name}.py:Agent", "agent", tmp_path).target().respond(None)
            for name in ("one", "two", "three")
        }
        assert said == {"one": "relative", "two": "relative", "three": "beside"}
        assert sys.modules["shop.agents.one"]
        assert sys.path.count(str(tmp_path / "src")) == 1

    def test_a_package_itself_may_be_named(self, tmp_path: Path) -> None:
        (tmp_path / "whole").mkdir()
        (tmp_path / "whole" / "__init__.py").write_text("from .helpers import NAME" + SAYING, encoding="utf-8")
        write(tmp_path, whole__in__helpers="NAME = 'whole'")
        target = load_source("whole/__init__.py:Agent", "agent", tmp_path).target
        assert target().respond(None) == "whole"
        assert target.__module__ == "whole"

    @pytest.mark.parametrize("inside", ["from helpers import NAME\n", "def late():\n    import helpers\nNAME = ''\n"])
    def test_helpers_of_one_name_in_two_folders_are_refused(self, tmp_path: Path, inside: str) -> None:
        for folder in ("a", "b"):
            write(tmp_path / folder, helpers=f"NAME = 'helper of {folder}'")
        write(tmp_path / "a", mine="from helpers import NAME" + SAYING)
        write(tmp_path / "b", mine=inside + SAYING)
        first = load_source("a/mine.py:Agent", "agent", tmp_path)
        problem = r"'helpers' is .*b.helpers\.py, but a module of this name was imported from .*a.helpers\.py; give one"
        with pytest.raises(ConfigurationError, match=problem):
            load_source("b/mine.py:Agent", "agent", tmp_path)
        assert load_source("a/mine.py:Agent", "agent", tmp_path).target is first.target

    def test_equal_helpers_of_packages_are_fine(self, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            write(
                tmp_path / folder, __init__="", helpers=f"NAME = '{folder}'", mine="from .helpers import NAME" + SAYING
            )
        said = [load_source(f"{folder}/mine.py:Agent", "agent", tmp_path).target().respond(None) for folder in "ab"]
        assert said == ["a", "b"]

    def test_packages_of_one_name_are_refused(self, tmp_path: Path) -> None:
        for folder in ("a", "b"):
            write(tmp_path / folder / "shop", __init__="", mine="NAME = ''" + SAYING)
        load_source("a/shop/mine.py:Agent", "agent", tmp_path)
        with pytest.raises(ConfigurationError, match=r"'shop' is .*, but a module of this name was imported from"):
            load_source("b/shop/mine.py:Agent", "agent", tmp_path)

    def test_a_module_of_python_s_own_name_is_no_neighbour(self, tmp_path: Path) -> None:
        write(tmp_path, json="1 / 0", mine="import json\nNAME = json.dumps(1)" + SAYING)
        assert load_source("mine.py:Agent", "agent", tmp_path).target().respond(None) == "1"


CLIENT_IMPORTS = [
    ("import openai", ["openai"]),
    ("from openai import AsyncOpenAI as Client", ["openai"]),
    ("def late():\n    from anthropic import Anthropic", ["anthropic"]),
    ("import httpx, litellm.types", ["litellm", "httpx"]),
    ("import httpx2", ["httpx2"]),
    ("from google import genai", ["google.genai"]),
    ("from google.adk.agents import Agent as A", ["google.adk"]),
    ("from agents import Agent as A, Runner", ["agents.Runner"]),
    ("from langchain_openai import ChatOpenAI", ["langchain_openai"]),
    ("import openai_of_my_own\nfrom google import auth\nfrom agents import mine", []),
    ("import json", []),
]


@pytest.mark.parametrize(("code", "clients"), CLIENT_IMPORTS)
def test_the_clients_that_a_participant_s_module_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, clients: list[str]
) -> None:
    file = tmp_path / "theirs.py"
    file.write_text(code, encoding="utf-8")
    module = types.ModuleType("theirs")
    module.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "theirs", module)
    kind = type("Agent", (), {"__module__": "theirs", "respond": lambda self, message: "Hi"})
    for target in (kind, kind(), functools.partial(kind), functools.partial(functools.partial(kind))):
        assert imported_clients(target) == clients


@pytest.mark.parametrize("target", [5, None, object(), len, "text", functools.partial(len)])
def test_a_participant_without_a_readable_module_has_no_clients(target: Any) -> None:
    assert imported_clients(target) == []
