"""Completion of a line: commands, tools, arguments, and their values where a schema lists them."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any

from ...environment.arguments import resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...environment import Tool

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\(")
_ARGUMENT = re.compile(r"(\w+)\s*=\s*([^=]*)$")
#: A value that is finished: a string, or anything without quotes and commas.
_FINISHED = re.compile(r"(\w+)\s*=\s*(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\"',]*)\s*,")
#: Characters at which readline begins a new word.
_DELIMITERS = " \t\n(,=/"


def completions(
    line: str,
    tools: Mapping[str, Tool],
    commands: Mapping[str, Callable[[str], Sequence[str]]],
) -> tuple[int, list[str]]:
    """Return where the word begins that a line ends with, and what it can be completed to.

    Args:
        line: The line up to the cursor.
        tools: The tools that can be called, by name.
        commands: By command, a function that returns the words that can follow it, given their beginning.
    """
    if line.startswith("/"):
        name, blank, rest = line.partition(" ")
        if not blank:
            return 0, _beginning(line, commands)
        words = commands[name](rest) if name in commands else ()
        return len(name) + 1, _beginning(rest, words)
    call = _CALL.match(line)
    if call is None:
        return (0, _beginning(line, [f"{name}(" for name in tools])) if re.fullmatch(r"\w*", line) else (len(line), [])
    tool = tools.get(call[1])
    return _in_call(line, call.end(), tool) if tool is not None else (len(line), [])


def _in_call(line: str, start: int, tool: Tool) -> tuple[int, list[str]]:
    properties = tool.parameters.get("properties", {})
    named_arguments = set()
    while finished := _FINISHED.match(line, start):
        named_arguments.add(finished[1])
        start = finished.end()
        start += len(line[start:]) - len(line[start:].lstrip())
    argument = _ARGUMENT.match(line, start)
    if argument is None:
        names = [f"{name}=" for name in properties if name not in named_arguments]
        return start, _beginning(line[start:], names)
    schema = resolved(properties.get(argument[1], {}), tool.parameters.get("$defs", {}))
    return argument.start(2), _beginning(argument[2], [_literal(value) for value in choices(schema, tool)])


def choices(schema: dict[str, Any], tool: Tool) -> list[Any]:
    """Return the values that a schema lists, also of one of its alternatives."""
    schema = resolved(schema, tool.parameters.get("$defs", {}))
    values = list(schema.get("enum", [schema["const"]] if "const" in schema else []))
    values += [True, False] if schema.get("type") == "boolean" else []
    return values + [value for alternative in schema.get("anyOf", ()) for value in choices(alternative, tool)]


def _literal(value: Any) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) else repr(value)


def _beginning(text: str, words: Any) -> list[str]:
    return [word for word in words if word.startswith(text)]


@contextlib.contextmanager
def line_editing(complete: Callable[[str], tuple[int, list[str]]]) -> Iterator[None]:
    """Complete lines by the tab key while the block runs, if there is a terminal and Python has readline.

    Args:
        complete: Returns the start of the last word of a line and its completions.
    """
    try:
        import readline
    except ImportError:  # Windows
        yield
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield
        return

    def completer(_word: str, number: int) -> str | None:
        start, words = complete(readline.get_line_buffer()[: readline.get_endidx()])
        # readline replaces its own word, which may begin later than ours.
        return words[number][readline.get_begidx() - start :] if number < len(words) else None

    before, delimiters = readline.get_completer(), readline.get_completer_delims()
    readline.set_completer(completer)
    readline.set_completer_delims(_DELIMITERS)
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
        readline.set_completer_delims(delimiters)
