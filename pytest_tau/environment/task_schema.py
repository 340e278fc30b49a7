"""JSON Schemas of task files and of other data models, for editors."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ..models import REWARD_TYPES, Task
from ..plain import json
from .toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from pydantic_core import core_schema

    from .domain import DomainSpec
    from .toolkit import Tool

#: The version that editors support best.
DIALECT = "http://json-schema.org/draft-07/schema#"
_NULL = {"type": "null"}


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON Schema of a data model, with the docstrings as descriptions."""
    schema = model.model_json_schema(schema_generator=_Described, ref_template="#/definitions/{model}")
    definitions = schema.pop("$defs", {})
    return {"$schema": DIALECT, **schema, "definitions": definitions}


def task_file_schema(spec: DomainSpec | None = None, components: Collection[str] | None = None) -> dict[str, Any]:
    """Return the JSON Schema of task files: one task, an array of tasks, or an object with ``tasks``.

    Args:
        spec: The domain of the tasks, whose tools and functions reference actions and assertions may name; None for
            any domain.
        components: The names that a reward basis may have; None for any.
    """
    schema = model_schema(Task)
    definitions = schema.pop("definitions")
    del schema["$schema"]
    # A task of several sessions has the scenarios in them.
    schema["required"].remove("user_scenario")
    schema["anyOf"] = [{"required": ["user_scenario"]}, {"required": ["sessions"]}]
    basis = definitions["EvaluationCriteria"]["properties"]["reward_basis"]
    names: dict[str, Any] = {"enum": list(components or REWARD_TYPES)}
    if components is None:
        names = {"anyOf": [names, {"type": "string", "description": "a component of a plugin"}]}
    basis.pop("type")
    basis.pop("items")
    basis["anyOf"] = [{"type": "array", "items": names}, _NULL]
    if spec is not None:
        _restrict(definitions, schema["properties"], spec)
    named = {"$schema": {"type": "string", "description": "This schema; ignored by pytest-tau."}}
    definitions["Task"] = schema
    definitions["TaskFile"] = {**schema, "properties": {**named, **schema["properties"]}}
    definitions["TaskSet"] = {
        "type": "object",
        "required": ["tasks"],
        "properties": {
            **named,
            "domain": {"type": "string", "description": "The domain of the tasks."},
            "tasks": {"type": "array", "items": _ref("Task")},
        },
    }
    return {
        "$schema": DIALECT,
        "title": f"Tasks of the domain {spec.name}" if spec else "Tasks",
        "type": ["object", "array"],
        "if": {"type": "array"},
        "then": {"items": _ref("Task")},
        "else": {"if": {"required": ["tasks"]}, "then": _ref("TaskSet"), "else": _ref("TaskFile")},
        "definitions": definitions,
    }


class _Described(GenerateJsonSchema):
    """Adds the descriptions that docstrings have of a model's attributes; without titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return whether a field gets a title."""
        del schema
        return False

    def model_schema(self, schema: core_schema.ModelSchema) -> dict[str, Any]:
        """Return the schema of a model."""
        found = super().model_schema(schema)
        for model in reversed(schema["cls"].__mro__):
            if not issubclass(model, BaseModel) or "__doc__" not in vars(model):
                continue
            for name, text in _attributes(model).items():
                if name in found.get("properties", {}):
                    found["properties"][name]["description"] = text
        if "description" in found:
            found["description"] = inspect.cleandoc(found["description"]).partition("\n")[0].replace("``", "")
        return found


def _attributes(model: type[BaseModel]) -> dict[str, str]:
    from docstring_parser import DocstringStyle, parse

    doc = parse(inspect.cleandoc(vars(model)["__doc__"] or ""), style=DocstringStyle.GOOGLE)
    return {each.arg_name: " ".join((each.description or "").split()).replace("``", "") for each in doc.params}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/definitions/{name}"}


def _restrict(definitions: dict[str, Any], task: dict[str, Any], spec: DomainSpec) -> None:
    """Restrict calls to what the domain has: reference actions, goals, assertions, initial actions."""
    sides: Mapping[str, type[Toolkit[Any]]] = {"assistant": spec.agent_tools, "user": spec.user_tools or Toolkit}
    for side, toolkit in sides.items():
        for tool in toolkit.tools().values():
            definitions[f"{side}.{tool.name}"] = _arguments(tool, f"#/definitions/{side}.{tool.name}")
    definitions["Action"]["allOf"] = [
        rule for side, toolkit in sides.items() for rule in _calls(side, toolkit, "requestor", "name")
    ]
    definitions["Goal"]["allOf"] = _calls("user", sides["user"], None, "tool")
    for name in ("FunctionCall", "EnvAssertion"):
        definitions[name]["allOf"] = [
            {"if": _is_of(side, "env_type"), "then": {"properties": {"func_name": {"enum": _functions(toolkit)}}}}
            for side, toolkit in sides.items()
        ]
    task["user_tools"]["anyOf"] = [{"type": "array", "items": {"enum": list(sides["user"].tools())}}, _NULL]


def _arguments(tool: Tool, place: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments, whose references point to its place in the whole schema."""
    text = json.dumps(tool.parameters).replace('"#/$defs/', f'"{place}/definitions/')
    schema: dict[str, Any] = json.loads(text)
    if "$defs" in schema:
        schema["definitions"] = schema.pop("$defs")
    return {**schema, "description": tool.description, "additionalProperties": False}


def _calls(side: str, toolkit: type[Toolkit[Any]], side_key: str | None, name_key: str) -> list[dict[str, Any]]:
    """Return the rules for calls of a side: the name is of a tool, and the arguments match its schema."""
    tools = toolkit.tools()
    of_side = _is_of(side, side_key) if side_key else {}
    names = {"enum": list(tools), "enumDescriptions": [tool.description.partition("\n")[0] for tool in tools.values()]}
    rules: list[dict[str, Any]] = [{"if": of_side, "then": {"properties": {name_key: names}}}]
    for tool in tools.values():
        is_tool = {"properties": {name_key: {"const": tool.name}}, "required": [name_key]}
        then: dict[str, Any] = {"properties": {"arguments": _ref(f"{side}.{tool.name}")}}
        if tool.parameters.get("required"):
            then["required"] = ["arguments"]
        rules.append({"if": {"allOf": [of_side, is_tool]} if of_side else is_tool, "then": then})
    return rules


def _is_of(side: str, key: str) -> dict[str, Any]:
    """Return the condition that a call is of a side; a call that does not say so is the agent's."""
    condition: dict[str, Any] = {"properties": {key: {"const": side}}}
    return condition if side == "assistant" else {**condition, "required": [key]}


def _functions(toolkit: type[Toolkit[Any]]) -> list[str]:
    return [name for name in dir(toolkit) if toolkit.function(name) is not None]
