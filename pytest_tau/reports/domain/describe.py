"""The facts of a domain as plain data: policies, tools with example calls, tables, splits and tasks."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...models import call_as_text
from ...runs.make_record import groups_of
from .examples import example_calls
from .tables import describe_tables

if TYPE_CHECKING:
    from ...environment import Domain, Environment, Tool
    from ...models import Requestor, Task

SIDES: tuple[tuple[str, Requestor], ...] = (("agent", "assistant"), ("user", "user"))


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
        tables = describe_tables(environment)
    finally:
        environment.close()
    splits = {name: list(ids) for name, ids in domain.splits.items()}
    return {
        "name": domain.name,
        "policies": _policies(domain),
        "tools": tools,
        "unused_tools": [each["name"] for each in tools if not each["tasks"]],
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
        return " | ".join(_type_text(each, definitions) for each in schema["anyOf"])
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


def _policies(domain: Domain) -> list[dict[str, Any]]:
    """Return each variant of the policy, for an agent with a user and for one that works alone."""
    found = []
    for name in domain.spec.policies:
        for solo in (False, True):
            try:
                environment = domain.environment(solo=solo, policy=name)
            except ConfigurationError:
                if not solo:
                    raise
                continue  # this variant is not for an agent that works alone
            found.append({"name": name, "solo": solo, "text": environment.policy})
            environment.close()
    return found


def _task(task: Task, splits: dict[str, list[str]]) -> dict[str, Any]:
    criteria, description = task.criteria, task.description
    return {
        "id": task.id,
        "splits": [name for name, ids in splits.items() if task.id in ids],
        "purpose": description.purpose if description else None,
        "intent": groups_of(task).get("intent"),
        "persona": task.user_scenario.persona,
        "scenario": str(task.user_scenario),
        "ticket": task.ticket,
        "reward_basis": list(criteria.reward_basis),
        "actions": [
            {
                "side": "agent" if action.requestor == "assistant" else "user",
                "call": call_as_text(action.name, action.arguments),
                "name": action.name,
                "arguments": action.arguments,
            }
            for action in criteria.actions or []
        ],
    }
