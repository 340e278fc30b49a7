"""The facts of a domain as plain data: policies, tools with example calls, tables, splits and tasks."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from ...environment import Record, Table
from ...errors import ConfigurationError
from ...models import call_as_text
from ...plain import json
from ...runs.make_record import groups_of
from .examples import example_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...environment import Database, Domain, Environment, Tool
    from ...models import Action, Requestor, Task

SIDES: tuple[tuple[str, Requestor], ...] = (("agent", "assistant"), ("user", "user"))
#: The module before the name of a type.
_MODULE = re.compile(r"\b(?:\w+\.)+(?=\w)")


def describe_domain(domain: Domain) -> dict[str, Any]:
    """Return the facts of a domain as JSON values.

    Tools are called to show an example of each, with the arguments of reference actions where there are any.

    Raises:
        TauError: Its data, policies or tasks cannot be read.
    """
    environment, tasks = domain.environment(), domain.tasks(None)
    try:
        uses = Counter((action.requestor, action.name) for task in tasks for action in task.criteria.actions or [])
        tools = _tools(domain, environment, tasks, uses)
        tables = _tables(environment)
    finally:
        environment.close()
    splits = {name: list(ids) for name, ids in domain.splits.items()}
    return {
        "name": domain.name,
        "policies": _policies(domain),
        "tools": tools,
        "unused_tools": [tool["name"] for tool in tools if not tool["tasks"]],
        "tables": tables,
        "splits": {name: len(ids) for name, ids in splits.items()},
        "tasks": [_task(task, splits) for task in tasks],
    }


def signature(tool: Tool) -> str:
    """Return a tool with the types of its parameters: ``get_order(order_id: string, full: boolean = false)``."""
    required = tool.parameters.get("required", ())
    definitions = tool.parameters.get("$defs", {})
    parts = []
    for name, schema in tool.parameters.get("properties", {}).items():
        default = "" if name in required else f" = {json.dumps(schema.get('default'), ensure_ascii=False)}"
        parts.append(f"{name}: {_type_text(schema, definitions)}{default}")
    return f"{tool.name}({', '.join(parts)})"


def _type_text(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return the type that a JSON schema describes, in a few words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        target = definitions.get(name, {})
        return name if "enum" not in target else _type_text(target, definitions)
    if "enum" in schema or "const" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return " | ".join(_type_text(option, definitions) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"array of {_type_text(schema.get('items', {}), definitions)}"
    kind = schema.get("type", "any")
    return " | ".join(kind) if isinstance(kind, list) else str(kind)


def _tools(domain: Domain, environment: Environment, tasks: list[Task], uses: Counter[Any]) -> list[dict[str, Any]]:
    examples = example_calls(domain, tasks)
    return [
        {
            "name": tool.name,
            "side": side,
            "kind": tool.kind,
            "mutates": tool.mutates,
            "signature": signature(tool),
            "description": tool.description,
            "parameters": tool.parameters,
            "example": examples.get((requestor, tool.name)),
            "tasks": uses[requestor, tool.name],
        }
        for side, requestor in SIDES
        for tool in environment.tools(requestor)
    ]


def _tables(environment: Environment) -> list[dict[str, Any]]:
    """Return the tables and other fields of both sides' databases; of a database that they share, once."""
    sides = (("agent", environment.agent_db), ("user", None if environment.shared_db else environment.user_db))
    return [
        _one_table(side, database, name, field)
        for side, database in sides
        if database is not None
        for name, field in type(database).model_fields.items()
    ]


def _one_table(side: str, database: Database, name: str, field: Any) -> dict[str, Any]:
    content = getattr(database, name)
    table: dict[str, Any] = {"side": side, "name": name, "type": _annotation_text(field.annotation), "records": None}
    if not isinstance(content, Table):
        fields = _fields(type(content)) if isinstance(content, Record) else []
        return table | {"fields": fields, "sample": _as_json(content)}
    (record_type,) = get_args(field.annotation) or (None,)
    sample = next(content.scan(), None)
    # A table of several kinds of records has the fields of the first.
    kind = record_type if isinstance(record_type, type) else type(sample)
    return table | {"records": len(content), "fields": _fields(kind), "sample": _as_json(sample)}


def _fields(record: type) -> list[dict[str, Any]]:
    if not issubclass(record, Record):
        return []
    return [
        {"name": name, "type": _annotation_text(field.annotation), "description": field.description}
        for name, field in record.model_fields.items()
    ]


def _annotation_text(annotation: Any) -> str:
    """Return a type as it is written: ``dict[str, Item] | None``."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return _MODULE.sub("", str(annotation))


def _as_json(value: Any) -> Any:
    """Return a value as JSON; what is not JSON as its text."""
    if isinstance(value, Record):
        return value.model_dump(mode="json", warnings=False)
    if isinstance(value, dict):
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _policies(domain: Domain) -> list[dict[str, Any]]:
    """Return each variant of the policy, for an agent with a user and for one that works alone."""
    policies = []
    for name in domain.spec.policies:
        for solo in (False, True):
            try:
                environment = domain.environment(solo=solo, policy=name)
            except ConfigurationError:
                if not solo:
                    raise
                continue  # this variant is not for an agent that works alone
            policies.append({"name": name, "solo": solo, "text": environment.policy})
            environment.close()
    return policies


def _task(task: Task, splits: dict[str, list[str]]) -> dict[str, Any]:
    criteria, description = task.criteria, task.description
    return {
        "id": task.id,
        "splits": [name for name, ids in splits.items() if task.id in ids],
        "purpose": description.purpose if description else None,
        "intent": groups_of(task).get("intent"),
        "persona": task.user_scenario.persona,
        "scenario": task.scenario_text,
        "ticket": task.ticket,
        "reward_basis": list(criteria.reward_basis),
        "actions": _actions(criteria.actions or []),
        "outcomes": [{"why": outcome.why, "actions": _actions(outcome.actions)} for outcome in criteria.outcomes or []],
    }


def _actions(actions: Sequence[Action]) -> list[dict[str, Any]]:
    return [
        {
            "side": "agent" if action.requestor == "assistant" else "user",
            "call": call_as_text(action.name, action.arguments),
            "name": action.name,
            "arguments": action.arguments,
        }
        for action in actions
    ]
