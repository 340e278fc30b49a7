"""A domain of recorded tools, as a Python file that its user keeps and the record next to it."""

from __future__ import annotations

import ast
import pprint
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from ....environment import is_error
from ....files import digest
from ....language import has_word
from ....models import writable
from ....plain import json
from ..facts import stored_facts
from ..reading.messages import decoded
from .naming import (
    folded,
    is_free_text,
    is_own_wording,
    is_plain_argument,
    is_plain_tool,
    kind_of,
    method_name,
    said_values,
)
from .recorded import Recorded, canonical, write_text
from .schemas import plain_schema
from .state import playable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from ....models import Simulation

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[Any]"}
#: A heading in a description that a reader of docstrings would take for one of its own.
_SECTION = re.compile(r"^[^\S\n]*\w[\w ]{0,30}:[^\S\n]*$", re.MULTILINE)
_OF_VALUES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
_HEAD = '''"""{title}

Made by tau task-from, and yours to change. Each tool answers from {data}; replace its body by a tool of your own where
the record is not enough. A call that was not recorded leaves its trial without a verdict. In the conftest.py:

    from {module} import pytest_tau_domains
"""

from pathlib import Path
from typing import Any

import pytest_tau
from pytest_tau.capabilities.traces.tasks.recorded import RecordedTools


class Tools(RecordedTools):
    """The tools of the recorded conversations."""

    file = Path(__file__).with_suffix(".json")
    # Arguments that are free text, which is not compared.
    free = {free}
{declared}'''
_TAIL = '''

def pytest_tau_domains():
    """Return the domain."""
    tools = [{tools}]
    return [
        pytest_tau.domain_of(
            {name!r},
            make=Tools,
            tools=tools,
            # What only looks something up; all others change the state.
            reads={reads},
            generic={generic},
            snapshot=Tools.state,
            restore=Tools.restore,
            policy={policy},
            tasks={tasks!r},
        )
    ]
'''


class Recording(NamedTuple):
    """What is written: the Python file and the record."""

    python: str
    record: str


class _Tool(NamedTuple):
    name: str
    description: str
    properties: dict[str, Any]
    required: list[str]

    def chooses(self, path: str, value: str, policy: str) -> bool:
        """Return whether the schema of an argument, or the policy, which is folded, states a value as a choice."""
        schema: Any = {"properties": self.properties}
        for name in path.split("."):
            schema = schema.get("items", schema).get("properties", {}).get(name, {})
        if schema.get("enum"):
            return True
        stated = folded([value])
        described = folded((str(schema.get("description", "")), self.description))
        return any(has_word(text, stated) for text in (described, policy))


def recording_of(simulations: Sequence[Simulation], name: str, module: Path, tasks: str) -> Recording:
    """Return a domain of the tools that conversations have called or were offered.

    Args:
        simulations: The conversations.
        name: The name of the domain.
        module: The Python file that it is for.
        tasks: The name of the file of its tasks.
    """
    tools = _tools(simulations)
    kinds = {tool.name: kind_of(tool.name) for tool in tools}
    known = {tool for tool, kind in kinds.items() if kind in ("write", "generic")}
    for simulation in simulations:
        known |= (changing := _changing(simulation, known))
        kinds |= dict.fromkeys(changing, "write")
    writes = {tool for tool, kind in kinds.items() if kind == "write"}
    generic = {tool for tool, kind in kinds.items() if kind == "generic"}
    calls = [call for simulation in simulations for call in _calls(simulation, writes)]
    systems = [stored_facts(simulation).get("system") for simulation in simulations]
    policy = next((str(system) for system in systems if system), "")
    free = _free(tools, simulations, writes | generic, folded([policy]))
    methods = dict[str, str]()
    for tool in tools:
        methods[tool.name] = method_name(tool.name, methods.values())
    plain = {tool.name for tool in tools if _is_plain(tool)}
    head = _HEAD.format(
        title=f"The tools of {name}, as they were recorded.",
        data=f"{module.stem}.json",
        module=module.stem,
        free=_python(free, 4),
        declared=_declared({methods[tool.name]: tool for tool in tools if tool.name not in plain}),
    )
    tail = _TAIL.format(
        name=name,
        tools=", ".join(f"Tools.{method}" for method in methods.values()),
        reads=sorted(kinds.keys() - writes - generic),
        generic=sorted(generic),
        policy=_literal(policy, 12),
        tasks=tasks,
    )
    definitions = (
        _method(tool) if tool.name in plain else _declared_method(tool, methods[tool.name]) for tool in tools
    )
    python = head + "".join(definitions) + tail
    ast.parse(python)
    record = json.dumps({"calls": [call._asdict() for call in calls]}, indent=1, ensure_ascii=False) + "\n"
    return Recording(writable(python), writable(record))


def conversation_of(simulation: Simulation) -> str:
    """Return the name of a conversation in the record, which has nothing of its id."""
    return digest(simulation.id)[:12]


def _tools(simulations: Sequence[Simulation]) -> list[_Tool]:
    """Return the tools: those that were defined, and those that were called only, with the types of their arguments."""
    tools = {tool.name: tool for simulation in simulations for tool in _defined(simulation)}
    called: dict[str, list[dict[str, Any]]] = {}
    for simulation in simulations:
        for call in simulation.calls:
            if call.call.requestor == "assistant" and call.call.malformed is None:
                called.setdefault(call.call.name, []).append(call.call.arguments)
    for name, arguments in called.items():
        types = _types(arguments)
        known = tools.get(
            name,
            _Tool(name, "", {}, [key for key in types if all(key in call_arguments for call_arguments in arguments)]),
        )
        tools[name] = known._replace(properties={**types, **known.properties})
    return list(tools.values())


def _types(calls: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the schemas of arguments of which only values are known: with a type if all values have one."""
    kinds = dict[str, set[str]]()
    for arguments in calls:
        for name, value in arguments.items():
            kinds.setdefault(name, set()).update({_OF_VALUES[type(value)]} if value is not None else ())
    for name, types in kinds.items():
        kinds[name] = {"number"} if types == {"integer", "number"} else types
    return {name: {"type": next(iter(types))} if len(types) == 1 else {} for name, types in kinds.items()}


def _defined(simulation: Simulation) -> Iterator[_Tool]:
    for tool in stored_facts(simulation).get("tools") or ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            # OpenLLMetry stores a text.
            schema = plain_schema(decoded(tool.get("parameters") or tool.get("inputSchema")))
            description = tool.get("description") or ""
            properties = schema.get("properties", {})
            yield _Tool(tool["name"], str(description), properties, schema.get("required", []))


def _free(
    tools: Sequence[_Tool], simulations: Sequence[Simulation], changing: Collection[str], policy: str
) -> dict[str, list[str]]:
    """Return the arguments of each tool that are free text: no choice that the policy or the schema states."""
    schemas = {tool.name: tool for tool in tools}
    paths_by_tool = dict[str, dict[str, bool]]()
    for simulation in simulations:
        other_texts = folded(m.content or "" for m in simulation.messages if m.role != "assistant")
        for call in (recorded.call for recorded in simulation.calls if recorded.call.malformed is None):
            tool, of_tool = schemas.get(call.name), paths_by_tool.setdefault(call.name, {})
            for path, value in said_values(call.arguments):
                writes = call.name in changing
                has_own_wording = isinstance(value, str) and writes and is_own_wording(value, other_texts)
                if isinstance(value, str) and (has_own_wording or is_free_text(path.rpartition(".")[2], writes=writes)):
                    is_choice = tool is not None and tool.chooses(path, value, policy)
                    of_tool[path] = of_tool.get(path, True) and not is_choice
                elif value is not None:
                    of_tool[path] = False
    free = {name: sorted(path for path, is_free in paths.items() if is_free) for name, paths in paths_by_tool.items()}
    return {name: paths for name, paths in sorted(free.items()) if paths}


def _calls(simulation: Simulation, writes: set[str]) -> list[Recorded]:
    writes_so_far: list[str] = []
    recorded_calls = []
    for made_call in playable(simulation.messages):
        call, result = made_call.call, made_call.result
        if call.requestor != "assistant" or result is None or result.content is None:
            continue
        error = is_error(result)
        changes = call.name in writes and not error
        recorded_calls.append(
            Recorded(
                conversation_of(simulation),
                call.name,
                canonical(call.arguments),
                tuple(writes_so_far),
                changes,
                result.content,
                error,
            )
        )
        if changes:
            writes_so_far = sorted([*writes_so_far, write_text(call.name, call.arguments)])
    return recorded_calls


def _changing(simulation: Simulation, known: set[str]) -> set[str]:
    """Return the tools between two equal calls with different results that alone can have made the difference."""
    all_calls = [
        (call.call.name, canonical(call.call.arguments), call.result) for call in playable(simulation.messages)
    ]
    calls = [
        (name, arguments, result.content) for name, arguments, result in all_calls if result and not is_error(result)
    ]
    last = dict[tuple[str, str], int]()
    between, differing = list[set[str]](), set[str]()
    for number, (tool, arguments, text) in enumerate(calls):
        before = last.get((tool, arguments))
        if before is not None and calls[before][2] != text:
            differing.add(tool)
            between += [{name for name, _, _ in calls[before + 1 : number]}] if tool not in known else []
        last[tool, arguments] = number
    causes = [names - differing for names in between if not names & known]
    return {name for names in causes if len(names) == 1 for name in names}


def _is_plain(tool: _Tool) -> bool:
    """Return whether a tool can be a method with a parameter for each argument, which a docstring describes."""
    return (
        is_plain_tool(tool.name)
        and all(map(is_plain_argument, tool.properties))
        and not _SECTION.search(tool.description)
        and all("enum" not in schema and "items" not in schema for schema in tool.properties.values())
    )


def _method(tool: _Tool) -> str:
    """Return a method that answers from the record; what others wrote is only in its docstring."""
    names = sorted(tool.properties, key=lambda name: name not in tool.required)
    parameters = [
        f"{name}: {_type(tool.properties[name])}" + ("" if name in tool.required else " | None = None")
        for name in names
    ]
    passed = ", ".join([repr(tool.name), *(f"{name}={name}" for name in names)])
    lines = [_described(tool)]
    described = {name: tool.properties[name].get("description") for name in names}
    if any(described.values()):
        lines += ["", "Args:", *(f"    {name}: {text}" for name, text in described.items() if text)]
    return (
        f"\n    def {tool.name}({', '.join(['self', *parameters])}) -> str:\n        {_docstring(lines)}\n"
        f"        return self.recorded({passed})\n"
    )


def _declared_method(tool: _Tool, method: str) -> str:
    """Return a method of a tool whose name and schema are declared."""
    return (
        f"\n    def {method}(self, /, **arguments: Any) -> str:\n        {_docstring([_described(tool)])}\n"
        f"        return self.recorded({tool.name!r}, **arguments)\n"
    )


def _declared(tools: dict[str, _Tool]) -> str:
    """Return the table of the tools whose names and schemas methods could not have."""
    if not tools:
        return ""
    schemas = {
        method: (tool.name, {"type": "object", "properties": tool.properties, "required": tool.required})
        for method, tool in tools.items()
    }
    return f"    # Names and schemas of tools that a method could not have.\n    declared = {_python(schemas, 4)}\n"


def _described(tool: _Tool) -> str:
    return _printable(tool.description).strip() or f"Call {tool.name}."


def _docstring(lines: list[str]) -> str:
    doc = _escaped("\n".join(lines))
    return textwrap.indent(f'"""{doc}"""' if "\n" not in doc else f'"""{doc}\n"""', " " * 8).lstrip()


def _python(value: Any, indent: int) -> str:
    """Return a JSON value as a Python literal."""
    return textwrap.indent(pprint.pformat(value, width=100, sort_dicts=False), " " * indent).lstrip()


def _type(schema: dict[str, Any]) -> str:
    kind = schema.get("type")
    kind = next((name for name in kind if name != "null"), None) if isinstance(kind, list) else kind
    return "dict[str, Any]" if kind == "object" else _TYPES.get(str(kind), "Any")


def _escaped(text: str) -> str:
    """Return a text as a part of a docstring, with no way out of it."""
    return _printable(text).replace("\\", "\\\\").replace('"', '\\"')


def _printable(text: str) -> str:
    return "".join(character for character in text if character == "\n" or character.isprintable())


def _literal(text: str, indent: int) -> str:
    """Return a text as a Python literal, line by line."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return repr(text)
    return "(\n" + "".join(f"{' ' * (indent + 4)}{line!r}\n" for line in lines) + f"{' ' * indent})"
