"""A trial's tools as the objects of each framework. ``scripts/check-frameworks`` runs this with each of them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace as _Context
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_tau.actors import Speaking, current_actor
from pytest_tau.errors import ConfigurationError
from pytest_tau.integrations.frameworks import FRAMEWORKS as INTEGRATED, inputs_of, load_framework

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
#: The module of each framework and its package.
FRAMEWORKS = {
    "langchain": ("langchain_core", "langchain-core"),
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai-slim"),
    "agent_framework": ("agent_framework", "agent-framework-core"),
    "smolagents": ("smolagents", "smolagents"),
    "google_adk": ("google.adk", "google-adk"),
}
BOOK = {
    "type": "object",
    "$defs": {"Seat": {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]}},
    "properties": {
        "name": {"type": "string", "description": "Who flies."},
        "seats": {"type": "array", "items": {"$ref": "#/$defs/Seat"}},
        "bags": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    },
    "required": ["name", "seats"],
}
ARGUMENTS = {"name": "Ada", "seats": [{"row": 3}]}


class Outcome(NamedTuple):
    text: str
    is_error: bool


class Tool:
    """A tool of a trial, made by hand; it returns its own name and its arguments as JSON."""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        self.name, self.description, self.parameters = name, f"The tool {name}.", parameters
        self.calls: list[dict[str, Any]] = []
        self.actors: list[str | None] = []

    def call(self, **arguments: Any) -> str:
        self.calls.append(arguments)
        self.actors.append(current_actor())
        return json.dumps({self.name: arguments})

    async def acall(self, **arguments: Any) -> str:
        return self.call(**arguments)

    async def acall_result(self, arguments: dict[str, Any]) -> Outcome:
        return Outcome(self.call(**arguments), is_error=False)


@pytest.fixture
def book() -> Tool:
    return Tool("book", BOOK)


def tools_of(name: str, tools: list[Tool]) -> list[Any]:
    pytest.importorskip(FRAMEWORKS[name][0], reason=f"{name} is not installed: scripts/check-frameworks runs this")
    made: list[Any] = INTEGRATED[name](tools)
    return made


def call_langchain(tool: Any, arguments: dict[str, Any]) -> str:
    text = tool.invoke(arguments)
    assert asyncio.run(tool.ainvoke(arguments)) == text
    return text


def call_openai_agents(tool: Any, arguments: dict[str, Any]) -> str:
    return asyncio.run(tool.on_invoke_tool(None, json.dumps(arguments)))


def call_pydantic_ai(tool: Any, arguments: dict[str, Any]) -> str:
    return asyncio.run(tool.function(None, **arguments))


def call_agent_framework(tool: Any, arguments: dict[str, Any]) -> str:
    (content,) = asyncio.run(tool.invoke(arguments=arguments))
    return content.text


def call_smolagents(tool: Any, arguments: dict[str, Any]) -> str:
    return tool(**arguments, sanitize_inputs_outputs=True)


def call_google_adk(tool: Any, arguments: dict[str, Any]) -> str:
    return asyncio.run(tool.run_async(args=arguments, tool_context=None))["result"]


def schema_of(name: str, tool: Any) -> Any:
    """The JSON schema of the arguments, as a model is given it."""
    if name == "langchain":
        from langchain_core.utils.function_calling import convert_to_openai_tool

        return convert_to_openai_tool(tool)["function"]["parameters"]
    if name == "smolagents":
        from smolagents.models import get_tool_json_schema

        return get_tool_json_schema(tool)["function"]["parameters"]
    return {
        "openai_agents": lambda: tool.params_json_schema,
        "pydantic_ai": lambda: tool.tool_def.parameters_json_schema,
        "agent_framework": lambda: tool.parameters(),
        "google_adk": lambda: tool._get_declaration().parameters_json_schema,
    }[name]()


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_call_reaches_the_trial_with_its_arguments(name: str, book: Tool) -> None:
    (tool,) = tools_of(name, [book])
    call: Callable[..., str] = globals()[f"call_{name}"]
    assert (tool.name, tool.description) == ("book", "The tool book.")
    assert json.loads(call(tool, ARGUMENTS)) == {"book": ARGUMENTS}
    assert all(arguments == ARGUMENTS for arguments in book.calls)


#: Calls a tool as each framework does in an agent named refunds. The others do not tell the tool which agent calls it.
CALLS_BY_REFUNDS: dict[str, Callable[[Any], Any]] = {
    "langchain": lambda tool: tool.ainvoke(ARGUMENTS, {"metadata": {"lc_agent_name": "refunds"}}),
    "openai_agents": lambda tool: tool.on_invoke_tool(_Context(agent=_Context(name="refunds")), json.dumps(ARGUMENTS)),
    "pydantic_ai": lambda tool: tool.function(_Context(agent=_Context(name="refunds")), **ARGUMENTS),
    "google_adk": lambda tool: tool.run_async(args=ARGUMENTS, tool_context=_Context(agent_name="refunds")),
}


@pytest.mark.parametrize("name", CALLS_BY_REFUNDS)
def test_the_agent_that_a_framework_names_makes_the_call(name: str, book: Tool) -> None:
    (tool,) = tools_of(name, [book])
    asyncio.run(CALLS_BY_REFUNDS[name](tool))

    async def named() -> None:
        with Speaking("billing"):  # what the agent's own code says counts
            await CALLS_BY_REFUNDS[name](tool)
        await CALLS_BY_REFUNDS[name](tool)

    asyncio.run(named())
    assert book.actors == ["refunds", "billing", "refunds"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_tool_may_have_no_parameters(name: str) -> None:
    (tool,) = tools_of(name, [Tool("now", {"type": "object", "properties": {}})])
    assert json.loads(globals()[f"call_{name}"](tool, {})) == {"now": {}}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_parameters_may_have_any_name(name: str) -> None:
    """Names that libraries use themselves."""
    names = ("config", "callbacks", "tool_context", "ctx", "args", "kwargs", "input", "id", "type")
    arguments = dict.fromkeys(names, "x")
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in names}, "required": list(names)}
    (tool,) = tools_of(name, [Tool("odd", schema)])
    assert json.loads(globals()[f"call_{name}"](tool, arguments)) == {"odd": arguments}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_model_is_given_the_schema(name: str, book: Tool) -> None:
    (tool,) = tools_of(name, [book])
    schema = schema_of(name, tool)
    assert schema["required"] == ["name", "seats"]
    assert schema["properties"]["name"]["description"] == "Who flies."
    if name == "smolagents":
        assert schema["properties"]["seats"]["items"] == BOOK["$defs"]["Seat"]
        assert schema["properties"]["bags"]["type"] == "integer"
    else:
        assert schema["properties"]["bags"]["anyOf"] == BOOK["properties"]["bags"]["anyOf"]
    assert "row" in json.dumps(schema)


def test_arguments_that_are_no_object_are_an_error_for_the_openai_agents_sdk(book: Tool) -> None:
    (tool,) = tools_of("openai_agents", [book])
    expected = "Error: arguments of 'book' must be a JSON object, got "
    for text in ("[1]", "{", '"Ada"'):
        assert asyncio.run(tool.on_invoke_tool(None, text)) == expected + text
    assert asyncio.run(tool.on_invoke_tool(None, "")) == '{"book": {}}'
    assert book.calls == [{}]


def test_smolagents_is_given_types_that_it_has() -> None:
    seat = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Seat"}}}
    schema = {
        "$defs": {"Seat": seat},
        "properties": {
            "seat": {"$ref": "#/$defs/Seat"},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "Both."},
            "cabin": {"enum": ["a", "b"], "type": "string", "default": "a"},
        },
        "required": ["seat", "either"],
    }
    assert inputs_of(schema) == {
        "seat": {"description": "", "type": "object", "properties": {"next": {"type": "object"}}},
        "either": {"description": "Both.", "type": "any"},
        "cabin": {"description": "", "enum": ["a", "b"], "type": "string", "default": "a", "nullable": True},
    }
    assert inputs_of({"type": "object"}) == {}


@pytest.mark.parametrize(("name", "module", "package"), [(name, *row) for name, row in FRAMEWORKS.items()])
def test_a_missing_framework_is_named(name: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in [each for each in sys.modules if each == module or each.startswith(f"{module}.")]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigurationError, match=f"{package} is not installed: pip install {package}$"):
        INTEGRATED[name]([])


def test_a_framework_that_cannot_be_imported_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "halfway.py").write_text("import nowhere_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=r"half cannot be imported \(No module named 'nowhere_at_all'\)"):
        load_framework("halfway", "half")


def test_a_session_of_the_mcp_sdk_has_the_tools(book: Tool) -> None:
    types = pytest.importorskip("mcp.types")
    session = INTEGRATED["mcp"]([book])
    asyncio.run(session.initialize())
    listed = asyncio.run(session.list_tools())
    assert isinstance(listed, types.ListToolsResult)
    (tool,) = listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    assert tool == {"name": "book", "description": "The tool book.", "inputSchema": BOOK}
    result = asyncio.run(session.call_tool("book", ARGUMENTS))
    assert isinstance(result, types.CallToolResult)
    assert json.loads(result.content[0].text) == {"book": ARGUMENTS}
    unknown = asyncio.run(session.call_tool("look")).model_dump(mode="json", by_alias=True)
    assert unknown["isError"] is True
    assert unknown["content"][0]["text"] == "Error: unknown tool 'look'"


def test_the_mcp_sdk_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.types", None)
    with pytest.raises(ConfigurationError, match="mcp is not installed: pip install mcp"):
        INTEGRATED["mcp"]([])


def test_each_framework_is_checked_each_week() -> None:
    workflow = (ROOT / ".github" / "workflows" / "frameworks.yml").read_text(encoding="utf-8")
    found = re.findall(r"^ {10}- (\w+)$", workflow, re.MULTILINE)
    script = (ROOT / "scripts" / "check-frameworks").read_text(encoding="utf-8")
    checked = re.findall(r'^    "(\w+)": Framework\(', script, re.MULTILINE)
    assert sorted(found) == sorted(checked) == sorted(set(INTEGRATED) - {"mcp"}) == sorted(FRAMEWORKS)
    assert "run: scripts/check-frameworks ${{ matrix.framework }}" in workflow
