"""A domain of recorded tools, as a Python file that its user keeps and the record next to it."""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

from ....environment.results import is_error
from ....errors import ConfigurationError
from ....files import digest
from ....plain import json
from ..facts import stored_facts
from ..reading.messages import decoded
from .recorded import Recorded, canonical
from .state import playable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ....models import Simulation

_WRITES = re.compile(
    r"^(?:add|book|cancel|change|close|confirm|create|delete|disable|enable|exchange|insert|make|modify|open|pay|place"
    r"|post|put|refund|remove|reset|return|save|schedule|send|set|submit|suspend|update|upgrade|write)(?:_|$|[A-Z])"
)
_GENERIC = re.compile(r"transfer|escalat|hand_?off", re.IGNORECASE)
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list[Any]"}
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
'''
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


def recording_of(simulations: Sequence[Simulation], name: str, module: Path, tasks: str) -> Recording:
    """Return a domain of the tools that conversations have called or were offered.

    Args:
        simulations: The conversations.
        name: The name of the domain.
        module: The Python file that it is for.
        tasks: The name of the file of its tasks.

    Raises:
        ConfigurationError: A name of a tool or an argument is none in Python.
    """
    tools = _tools(simulations)
    writes = {each.name for each in tools if _WRITES.match(each.name)}
    generic = {each.name for each in tools if _GENERIC.search(each.name)} - writes
    for each in simulations:
        writes |= _changing(each, writes | generic)
    reads = {each.name for each in tools} - writes - generic
    calls = [call for each in simulations for call in _calls(each, writes)]
    systems = [stored_facts(each).get("system") for each in simulations]
    policy = next((str(each) for each in systems if each), "")
    head = _HEAD.format(
        title=f"The tools of {name}, as they were recorded.", data=f"{module.stem}.json", module=module.stem
    )
    tail = _TAIL.format(
        name=name,
        tools=", ".join(f"Tools.{each.name}" for each in tools),
        reads=sorted(reads),
        generic=sorted(generic),
        policy=_literal(policy, 12),
        tasks=tasks,
    )
    python = head + "".join(map(_method, tools)) + tail
    ast.parse(python)
    return Recording(
        python, json.dumps({"calls": [each._asdict() for each in calls]}, indent=1, ensure_ascii=False) + "\n"
    )


def conversation_of(simulation: Simulation) -> str:
    """Return the name of a conversation in the record, which has nothing of its id."""
    return digest(simulation.id)[:12]


def _tools(simulations: Sequence[Simulation]) -> list[_Tool]:
    """Return the tools: those that were defined, and those that were called only, with the types of their arguments."""
    found = {tool.name: tool for each in simulations for tool in _defined(each)}
    called: dict[str, list[dict[str, Any]]] = {}
    for simulation in simulations:
        for made in simulation.calls:
            if made.call.requestor == "assistant" and made.call.malformed is None:
                called.setdefault(made.call.name, []).append(made.call.arguments)
    for name, arguments in called.items():
        types = {key: {"type": _OF_VALUES.get(type(value), "")} for each in arguments for key, value in each.items()}
        known = found.get(name, _Tool(name, "", {}, [key for key in types if all(key in each for each in arguments)]))
        found[name] = known._replace(properties={**types, **known.properties})
    for tool in found.values():
        for each in (tool.name, *tool.properties):
            if not each.isidentifier() or keyword.iskeyword(each) or each.startswith("__"):
                raise ConfigurationError(f"tool {tool.name!r}: {each!r} is not a name in Python; add --domain NAME")
    return list(found.values())


def _defined(simulation: Simulation) -> Iterator[_Tool]:
    for each in stored_facts(simulation).get("tools") or ():
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            schema = decoded(each.get("parameters") or each.get("inputSchema"))  # OpenLLMetry stores a text
            schema = schema if isinstance(schema, dict) else {}
            properties, required = schema.get("properties") or {}, schema.get("required") or []
            yield _Tool(each["name"], str(each.get("description") or ""), properties, required)


def _calls(simulation: Simulation, writes: set[str]) -> list[Recorded]:
    done: list[str] = []
    found = []
    for each in playable(simulation.messages):
        call, result = each.call, each.result
        if call.requestor != "assistant" or result is None or result.content is None:
            continue
        error = is_error(result)
        changes = call.name in writes and not error
        found.append(
            Recorded(
                conversation_of(simulation),
                call.name,
                canonical(call.arguments),
                tuple(done),
                changes,
                result.content,
                error,
            )
        )
        if changes:
            done = sorted([*done, canonical({"tool": call.name, **call.arguments})])
    return found


def _changing(simulation: Simulation, known: set[str]) -> set[str]:
    """Return the tools between two equal calls with different results that alone can have made the difference."""
    made = [(each.call.name, canonical(each.call.arguments), each.result) for each in playable(simulation.messages)]
    calls = [(name, given, result.content) for name, given, result in made if result and not is_error(result)]
    between = [
        {name for name, _, _ in calls[first + 1 : second]}
        for second, (tool, given, text) in enumerate(calls)
        for first in range(second)
        if calls[first][:2] == (tool, given) and calls[first][2] != text and tool not in known
    ]
    differing = {
        name
        for second, (name, given, text) in enumerate(calls)
        if any(one[:2] == (name, given) and one[2] != text for one in calls[:second])
    }
    causes = [names - differing for names in between if not names & known]
    return {name for names in causes if len(names) == 1 for name in names}


def _method(tool: _Tool) -> str:
    """Return a method that answers from the record; what others wrote is only in its docstring."""
    names = sorted(tool.properties, key=lambda name: name not in tool.required)
    parameters = [
        f"{name}: {_type(tool.properties[name])}" + ("" if name in tool.required else " | None = None")
        for name in names
    ]
    passed = ", ".join([repr(tool.name), *(f"{name}={name}" for name in names)])
    lines = [tool.description.strip() or f"Call {tool.name}."]
    described = {
        name: tool.properties[name].get("description") for name in names if isinstance(tool.properties[name], dict)
    }
    if any(described.values()):
        lines += ["", "Args:", *(f"    {name}: {text}" for name, text in described.items() if text)]
    doc = _escaped("\n".join(lines))
    doc = textwrap.indent(f'"""{doc}"""' if "\n" not in doc else f'"""{doc}\n"""', " " * 8).lstrip()
    return (
        f"\n    def {tool.name}({', '.join(['self', *parameters])}) -> str:\n        {doc}\n"
        f"        return self.recorded({passed})\n"
    )


def _type(schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    kind = next((each for each in kind if each != "null"), None) if isinstance(kind, list) else kind
    return "dict[str, Any]" if kind == "object" else _TYPES.get(str(kind), "Any")


def _escaped(text: str) -> str:
    """Return a text as a part of a docstring, with no way out of it."""
    text = "".join(each for each in text if each == "\n" or each.isprintable())
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _literal(text: str, indent: int) -> str:
    """Return a text as a Python literal, line by line."""
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return repr(text)
    return "(\n" + "".join(f"{' ' * (indent + 4)}{line!r}\n" for line in lines) + f"{' ' * indent})"
