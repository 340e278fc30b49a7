"""An example call of each tool of a domain, with its result on the domain's data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ...environment import Table
from ...environment.records import plain
from ...errors import TauError
from ...models import call_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...environment import Domain, Environment, Tool
    from ...models import Requestor, Task

#: Tasks whose reference actions are executed at most, and characters of a result.
_MOST_TASKS, _LONGEST = 200, 2000
#: Records of a table in which the value of an argument is searched, and levels inside of them.
_MOST_RECORDS, _DEEPEST = 20, 4
_REQUESTORS: tuple[Requestor, ...] = ("assistant", "user")


class _Key(NamedTuple):
    requestor: Requestor
    name: str


def example_calls(domain: Domain, tasks: list[Task]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return an example of each tool for which there is one that succeeds, by requestor and name.

    The arguments are those of a reference action, executed after the actions before it; without one, they are taken
    from the records of the databases.
    """
    environment = domain.environment()
    try:
        tools_by_key = {_Key(side, tool.name): tool for side in _REQUESTORS for tool in environment.tools(side)}
        examples: dict[tuple[str, str], dict[str, Any]] = {}
        for task in _tasks_with(tools_by_key, tasks):
            missing = tools_by_key.keys() - examples.keys()
            if missing & _called(task):
                examples = _of_task(domain, task) | examples
        for key in tools_by_key.keys() - examples.keys():
            example = _from_records(environment, key, tools_by_key[key])
            if example is not None:
                examples[key] = example
        return examples
    finally:
        environment.close()


def _tasks_with(tools_by_key: dict[_Key, Tool], tasks: list[Task]) -> list[Task]:
    return [task for task in tasks if _called(task) & tools_by_key.keys()][:_MOST_TASKS]


def _called(task: Task) -> set[_Key]:
    return {_Key(action.requestor, action.name) for action in task.criteria.actions or []}


def _of_task(domain: Domain, task: Task) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the reference actions of a task that succeed, with their results."""
    try:
        environment = domain.environment(task)
    except TauError:  # ``tau lint`` reports a task that cannot begin
        return {}
    examples: dict[tuple[str, str], dict[str, Any]] = {}
    for action in task.criteria.actions or []:
        result = environment.call(action.name, action.arguments, action.requestor)
        if not result.error:
            example = _example(action.name, action.arguments, result.content, task.id)
            examples.setdefault(_Key(action.requestor, action.name), example)
    environment.close()
    return examples


def _example(name: str, arguments: dict[str, Any], result: str | None, task: str | None) -> dict[str, Any]:
    text = result or ""
    shortened = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return {"call": call_as_text(name, arguments), "arguments": arguments, "result": shortened, "task": task}


def _from_records(environment: Environment, key: _Key, tool: Tool) -> dict[str, Any] | None:
    """Return an example with arguments that are found in the databases, or None."""
    required = tool.parameters.get("required", ())
    arguments = {}
    for name in required:
        schema = tool.parameters["properties"][name]
        value = next(_values(environment, name, schema, tool.parameters.get("$defs", {})), None)
        if value is None:
            return None
        arguments[name] = value
    fork = environment.fork()
    result = fork.call(key.name, arguments, key.requestor)
    return None if result.error else _example(key.name, arguments, result.content, None)


def _values(environment: Environment, name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> Iterator[Any]:
    """Yield values for a parameter: the choices of its schema, and those of fields with its name."""
    schema = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    yield from schema.get("enum", ())
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
    kind: Any = kinds.get(str(schema.get("type")), object)
    for database in (environment.agent_db, environment.user_db):
        for field in type(database).model_fields if database is not None else ():
            content = getattr(database, field)
            if isinstance(content, Table):
                for key, _ in zip(content, range(_MOST_RECORDS), strict=False):
                    yield from (value for value in _named(plain(content.peek(key)), name, 0) if isinstance(value, kind))
            else:
                yield from (value for value in _named({field: plain(content)}, name, 0) if isinstance(value, kind))


def _named(value: Any, name: str, depth: int) -> Iterator[Any]:
    """Yield the JSON values of fields of a name, at any depth."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        if isinstance(value.get(name), str | int | float | list | dict):
            yield value[name]
        for part in value.values():
            yield from _named(part, name, depth + 1)
    elif isinstance(value, list):
        for part in value[:_MOST_RECORDS]:
            yield from _named(part, name, depth + 1)
