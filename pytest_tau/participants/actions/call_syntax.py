"""Reading of calls that are written as in Python: ``get_order(order_id="W1")``. Nothing is executed."""

from __future__ import annotations

import ast
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

#: The beginning of a call: a name that is followed by its parenthesis without a space.
_BEGINNING = re.compile(r"\[?\s*([A-Za-z_]\w*)\(")
#: Backslashes that begin no escape sequence of Python, which keeps them as they are, with a warning.
_PLAIN_BACKSLASH = re.compile(r"\\(?![\n\\'\"abfnrtvxNuU0-7])")
#: Words that other languages have for values of Python. Any other bare word is a string.
_WORDS = {"true": True, "false": False, "null": None, "none": None}
#: Characters and levels of brackets of the longest call: Python's parser needs much memory for larger ones.
_LONGEST, _DEEPEST = 100_000, 50


class WrittenCall(NamedTuple):
    """A call as it was written.

    Attributes:
        name: The tool.
        arguments: Its keyword arguments, JSON values.
        problem: Why it cannot be executed; None if it can.
    """

    name: str
    arguments: dict[str, Any]
    problem: str | None = None


def read_call_syntax(text: str, tools: Mapping[str, Sequence[str]]) -> list[WrittenCall] | None:
    """Read calls in Python's syntax: one over any number of lines, several one after the other, or a list of them.

    A call of an unknown tool counts if it has keyword arguments or none, or an underscore: ``Sure(yes)`` is a text.

    Args:
        text: The text without blanks around it.
        tools: The names of the parameters, by tool.

    Returns:
        The calls in order; None for a text that is not a call.
    """
    beginning = _BEGINNING.match(text)
    if beginning is None:
        return None
    name = beginning[1]
    try:
        calls = _calls(_parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [WrittenCall(name, {}, _unreadable(name, error))] if _is_meant(text, name, tools) else None
    if calls is None:
        return None
    if any(call.func.id not in tools and _is_prose(call) for call in calls):  # type: ignore[attr-defined]
        return None
    return [_read(call, tools) for call in calls]


def _parse(text: str) -> ast.Module:
    """Parse a text of a reasonable size."""
    if len(text) > _LONGEST:
        raise ValueError(f"it has more than {_LONGEST:,} characters")
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth > _DEEPEST:
            raise ValueError(f"its brackets are nested more than {_DEEPEST} deep")
    return ast.parse(_PLAIN_BACKSLASH.sub(r"\\\\", text))


def _calls(module: ast.Module) -> list[ast.Call] | None:
    """Return the calls that a text consists of; None if it has anything else."""
    parts: list[ast.AST] = [part.value if isinstance(part, ast.Expr) else part for part in module.body]
    if len(parts) == 1 and isinstance(parts[0], ast.List | ast.Tuple):
        parts = list(parts[0].elts)
    calls = [part for part in parts if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)]
    return calls if calls and len(calls) == len(parts) else None


def _is_prose(call: ast.Call) -> bool:
    """Return whether a call of an unknown tool is rather a word with a remark in parentheses."""
    return bool(call.args) and "_" not in call.func.id  # type: ignore[attr-defined]


def _is_meant(text: str, name: str, tools: Collection[str]) -> bool:
    """Return whether a text that cannot be parsed was meant as a call: of a tool, and nothing follows it."""
    closed = text.endswith((")", ")]")) or text.count("(") > text.count(")")
    return name in tools and closed


def _unreadable(name: str, error: Exception) -> str:
    problem = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
    line = f" (line {error.lineno})" if isinstance(error, SyntaxError) and error.lineno else ""
    return f"the call of '{name}' cannot be read: {problem}{line}; expected {name}(argument=value, ...)"


def _read(call: ast.Call, tools: Mapping[str, Sequence[str]]) -> WrittenCall:
    name = call.func.id  # type: ignore[attr-defined]
    if call.args and name not in tools:
        return WrittenCall(name, {}, unknown_name("tool", name, tools))
    if call.args:
        named = ", ".join(f"{parameter}=..." for parameter in tools[name])
        problem = f"'{name}' takes named arguments only, got {_shown(call.args[0])}; write {name}({named})"
        return WrittenCall(name, {}, problem)
    arguments: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            problem = f"'{name}' takes named arguments only, got **{_shown(keyword.value)}; write argument=value"
            return WrittenCall(name, {}, problem)
        if keyword.arg in arguments:
            return WrittenCall(name, {}, f"argument '{keyword.arg}' of '{name}' is given more than once")
        try:
            arguments[keyword.arg] = _value(keyword.value)
        except ValueError as error:
            problem = f"argument '{keyword.arg}' of '{name}' {error}: expected a string, a number, a list or an object"
            return WrittenCall(name, {}, problem)
    return WrittenCall(name, arguments)


def _value(node: ast.expr) -> Any:
    """Return the JSON value of a literal."""
    if isinstance(node, ast.Name):
        return _WORDS.get(node.id, node.id)
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        return {_key(key): _value(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        number = _value(node.operand)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number if isinstance(node.op, ast.USub) else number
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"is {value}")
        if value is None or isinstance(value, str | int | float):
            return value
    raise ValueError(f"is {_shown(node)}")


def _key(node: ast.expr | None) -> str:
    value = None if node is None else _value(node)
    if not isinstance(value, str):
        raise ValueError("has a key that is not a string")  # noqa: TRY004 - what was written is wrong, not a type here
    return value


def _shown(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."
