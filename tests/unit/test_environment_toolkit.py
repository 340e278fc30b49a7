from __future__ import annotations

import pytest

from pytest_tau.environment import ToolInfo, Toolkit, tool

from .tiny import TinyDB, TinyTools, TinyUserTools


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
    assert infos["count_unseen"] == ToolInfo("write", mutates=False)


def test_tools_keep_the_order_of_definition() -> None:
    assert list(TinyTools.tools()) == [
        "look",
        "rename",
        "price",
        "add",
        "tag",
        "remove",
        "sit",
        "count",
        "half_done",
        "peek_and_count",
        "count_unseen",
        "transfer",
    ]


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


def test_toolkit_has_its_database() -> None:
    db = TinyDB.model_construct()
    assert TinyTools(db).db is db
