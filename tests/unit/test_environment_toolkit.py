from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_tau.environment import Domain, ToolInfo, Toolkit, check_task, tool
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import REWARD_TYPES

from .tiny import TinyDB, TinyTools, TinyUserTools, action, task

if TYPE_CHECKING:
    from pytest_tau.models import Task


class More(TinyTools):
    """Tools may be inherited, replaced and added."""

    @tool("generic")
    def look(self, item_id: str, closely: bool = False) -> str:
        """Look closer."""
        return item_id

    @tool("think")
    def think(self, thought: str) -> str:
        """Think."""
        return thought


def test_kinds_decide_what_mutates_unless_a_tool_says_so() -> None:
    infos = TinyTools.tool_infos
    assert infos["look"] == ToolInfo("read", mutates=False)
    assert infos["rename"] == ToolInfo("write", mutates=True)
    assert infos["transfer"] == ToolInfo("generic", mutates=False)
    assert infos["peek_and_count"] == ToolInfo("read", mutates=True)
    assert infos["count_unseen"] == ToolInfo("write", mutates=False, uncounted=True)


def test_each_toolkit_has_tools_of_its_own() -> None:
    assert list(TinyUserTools.tools()) == ["switch", "read_phone", "write_note"]
    assert Toolkit.tool_infos == {}


def test_a_toolkit_inherits_and_replaces_tools() -> None:
    assert list(More.tools()) == [*TinyTools.tools(), "think"]
    assert More.tools()["look"].description == "Look closer."
    assert "closely" in More.tools()["look"].parameters["properties"]
    assert TinyTools.tools()["look"].description == "Show an item."
    assert TinyTools.tool_infos["look"].kind == "read"


def test_a_tool_in_openai_format() -> None:
    rename = TinyTools.tools()["rename"]
    assert rename.openai_schema == {
        "type": "function",
        "function": {"name": "rename", "description": "Give an item a name.", "parameters": rename.parameters},
    }
    assert rename.parameters["required"] == ["item_id", "name"]


def test_functions_are_public_methods_of_the_domain() -> None:
    assert TinyTools.function("named") is TinyTools.named
    assert TinyTools.function("rename") is TinyTools.rename


@pytest.mark.parametrize("name", ["_item", "__init__", "tools", "function", "tool_infos", "nowhere", "db"])
def test_what_is_no_function_of_a_toolkit(name: str) -> None:
    assert TinyTools.function(name) is None


class Cellar(Toolkit[TinyDB]):
    """A room of a toolkit."""

    @tool("write", hidden=True)
    def open_trapdoor(self, key: str) -> str:
        """Open the trapdoor.

        Args:
            key: The key.
        """
        return f"opened with {key}"

    @tool("generic")
    def look(self, item_id: str) -> str:
        """Look from below."""
        return "dark"


class House(More, Cellar):
    """Tools of several rooms: the first that has a tool wins."""


def test_tools_of_several_bases_are_joined_in_order() -> None:
    assert list(House.tool_infos) == [*More.tool_infos, "open_trapdoor"]
    assert House.tools()["look"] == More.tools()["look"]
    assert not hasattr(More, "open_trapdoor")


def test_a_hidden_tool_can_be_called_but_is_not_offered(domain: Domain) -> None:
    spec = replace(domain.spec, agent_tools=House)
    environment = Domain(spec, domain.folder, domain.tasks_folder).environment()
    assert "open_trapdoor" not in [each.name for each in environment.tools()]
    assert list(House.hidden_tools()) == ["open_trapdoor"]
    assert House.tool_named("open_trapdoor") is House.hidden_tools()["open_trapdoor"]
    assert House.tool_named("no_such_tool") is None
    assert environment.call("open_trapdoor", {"key": "k"}).content == "opened with k"
    assert environment.mutates("open_trapdoor", "assistant")
    assert [[each.name for each in side] for side in environment.hidden_tools()] == [["open_trapdoor"], []]


def test_reference_actions_may_name_hidden_tools(domain: Domain) -> None:
    spec = replace(domain.spec, agent_tools=House)
    check_task(task({"actions": [action("open_trapdoor", key="k")]}), spec, REWARD_TYPES)
    with pytest.raises(TaskFormatError, match="open_trapdoor: key: missing"):
        check_task(task({"actions": [action("open_trapdoor")]}), spec, REWARD_TYPES)


def test_toolkits_learn_the_task_in_each_environment(domain: Domain) -> None:
    begun: list[str] = []

    class Told(TinyTools):
        def begin_task(self, task: Task) -> None:
            begun.append(task.id)

    told = Domain(replace(domain.spec, agent_tools=Told), domain.folder, domain.tasks_folder)
    told.environment()
    told.environment(task(task_id="one"))
    reference_environment(told, task(task_id="two"))
    told.environment(task(task_id="three"), replay_history=False)
    assert begun == ["one", "two", "three"]


def test_a_user_side_without_a_database_is_on_the_agent_s(domain: Domain) -> None:
    class Hand(Toolkit[TinyDB]):
        @tool("write")
        def count(self) -> int:
            """Count."""
            self.db.counter += 1
            return self.db.counter

    spec = replace(domain.spec, user_tools=Hand, user_db=None, sync=None)
    shared = Domain(spec, domain.folder, domain.tasks_folder)
    state = {"initialization_data": {"user_data": {"counter": 5}}}
    environment = shared.environment(task(state=state))
    assert environment.execute("count", {}, "user") == 6
    assert environment.dump()["agent"]["counter"] == environment.dump()["user"]["counter"] == 6
    before = shared.environment()
    assert [change.path for _, one, other in before.databases_with(environment) for change in one.changes(other)] == [
        "counter"
    ]
