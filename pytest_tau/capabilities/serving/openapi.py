"""The OpenAPI document of the server, with the schemas of the tools as they are."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Any

from ...models import clone
from .grading import REASONS

if TYPE_CHECKING:
    from ...environment import Tool
    from .served import ServedEnvironment
    from .settings import ServingSettings

_TAGS = {"assistant": "Tools", "user": "User Tools"}
_FOLDERS = {"assistant": "tools", "user": "user_tools"}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}, "description": "the environment"}
_RESULT = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "description": "the text that an agent reads"},
        "error": {"type": "boolean"},
        "result": {"description": "the value as JSON; null if the call failed"},
    },
    "required": ["content", "error", "result"],
}
_TASK = {"task": {"type": ["string", "null"], "description": "the id of a task; null for the untouched databases"}}
_LEASE = {"lease": {"type": "number", "description": "seconds after which it is deleted if it is not used"}}
_SAID = {"role": {"type": "string", "enum": ["assistant", "user"]}, "content": {"type": "string", "minLength": 1}}
_REASON = {"termination_reason": {"type": "string", "enum": list(REASONS), "default": "user_stop"}}
_PARAMETERS = {
    ("get", "/tasks"): {
        "name": "split",
        "in": "query",
        "schema": {"type": "string"},
        "description": "those of a split",
    },
    ("post", "/environments"): {
        "name": "Tau-Client",
        "in": "header",
        "schema": {"type": "string"},
        "description": "whose environment it is (default: that of the address)",
    },
}

#: Method, path, summary, properties of the body with those that are required, status of success.
_OPERATIONS: tuple[tuple[str, str, str, dict[str, Any] | None, list[str], str], ...] = (
    ("get", "/tasks", "List the ids of the tasks", None, [], "200"),
    ("post", "/environments", "Make an environment", _TASK | _LEASE, [], "201"),
    ("get", "/environments/{id}", "Show task, policy and tools of an environment", None, [], "200"),
    ("delete", "/environments/{id}", "Delete an environment", None, [], "204"),
    ("get", "/environments/{id}/state", "Return the databases of both sides", None, [], "200"),
    ("get", "/environments/{id}/diff", "List the places that differ from the beginning", None, [], "200"),
    ("get", "/environments/{id}/trajectory", "Return the messages so far", None, [], "200"),
    ("post", "/environments/{id}/messages", "Add a text to the trajectory", _SAID, ["role", "content"], "204"),
    ("post", "/environments/{id}/grade", "Grade the trajectory as a test run does", _REASON, [], "200"),
)


def document(settings: ServingSettings, sample: ServedEnvironment) -> dict[str, Any]:
    """Return the OpenAPI document.

    Args:
        settings: What is served.
        sample: An environment, for its tools and its policy.
    """
    components: dict[str, Any] = {"schemas": {"CallResult": _RESULT}}
    paths: dict[str, dict[str, Any]] = {}
    for method, path, summary, properties, required, status in _OPERATIONS:
        schema = None if properties is None else _object(properties, required)
        operation = _operation(summary, "Environments", schema, status, None)
        operation["operationId"] = summary.lower().replace(" ", "_")
        parameter = _ID if "{id}" in path else _PARAMETERS.get((method, path))
        operation |= {"parameters": [parameter]} if parameter else {}
        paths.setdefault(path, {})[method] = operation
    for side, folder in _FOLDERS.items():
        for tool in sample.environment.shared_tools("user" if side == "user" else "assistant"):
            schema = _hoisted(tool, folder, components["schemas"])
            for path in (f"/environments/{{id}}/{folder}/{tool.name}", f"/{folder}/{tool.name}"):
                paths[path] = {"post": _tool_operation(tool, side, schema, path)}
    info = {
        "title": f"Environment: {settings.domain.name}",
        "version": importlib.metadata.version("pytest-tau"),
        "description": sample.environment.policy,
    }
    specification: dict[str, Any] = {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}
    specification["tags"] = [{"name": name} for name in ("Environments", *_TAGS.values())]
    if settings.token is not None:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        specification["security"] = [{"token": []}]
    return specification


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tool_operation(tool: Tool, side: str, schema: dict[str, Any], path: str) -> dict[str, Any]:
    of_environment = "{id}" in path
    answer = {"$ref": "#/components/schemas/CallResult"} if of_environment else {}
    operation = _operation(tool.description.partition("\n")[0], _TAGS[side], schema, "200", answer)
    operation["description"] = tool.description
    operation["operationId"] = f"{'environment' if of_environment else 'default'}.{_FOLDERS[side]}.{tool.name}"
    return operation | ({"parameters": [_ID]} if of_environment else {})


def _operation(
    summary: str, tag: str, body: dict[str, Any] | None, status: str, answer: dict[str, Any] | None
) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Success"}
    if status != "204":
        success["content"] = {"application/json": {"schema": {} if answer is None else answer}}
    operation: dict[str, Any] = {"summary": summary, "tags": [tag], "responses": {status: success}}
    if body is not None:
        required = bool(body.get("required"))
        operation["requestBody"] = {"required": required, "content": {"application/json": {"schema": body}}}
    return operation


def _hoisted(tool: Tool, folder: str, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments, with its definitions among those of the document."""
    schema: dict[str, Any] = {"type": "object", **clone(tool.parameters)}
    definitions = schema.pop("$defs", {})
    names = {f"#/$defs/{name}": f"{folder}.{tool.name}.{name}" for name in definitions}
    for name, definition in definitions.items():
        schemas[names[f"#/$defs/{name}"]] = _redirected(definition, names)
    redirected: dict[str, Any] = _redirected(schema, names)
    return redirected


def _redirected(value: Any, names: dict[str, str]) -> Any:
    """Return a schema whose references point to the definitions of the document."""
    if isinstance(value, list):
        return [_redirected(part, names) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"#/components/schemas/{names[part]}" if key == "$ref" and part in names else _redirected(part, names)
        for key, part in value.items()
    }
