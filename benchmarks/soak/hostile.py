"""Values that nobody expects, and calls of tools that contain them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tau.environment.arguments import resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from pytest_tau.environment import Tool

_TEXTS = (
    *("", " ", "\0", "\ud800", "\x1b[2J", "\u202e", "é" * 50, "💥", "None", "null", "[]", "-1", "1e999", "NaN", "\r\n"),
    *("__class__", "{self.db}", "{0.__init__.__globals__}", "%s%n", "../../etc/passwd", "'; DROP TABLE users; --"),
    *("9**9**9**9", "(" * 5000, "1" * 5000, "1/0", "__import__('os').getpid()", "1e308*1e308", "(1).__class__"),
    *("2024-13-45", "2024-05-15T25:00:00", "<script>alert(1)</script>", "=1+1", "::error::x"),
)
_NAMES = (
    "",
    "__init__",
    "__class__",
    "db",
    "tools",
    "sync",
    "function",
    "tool_infos",
    "no_such_tool",
    "\ud800",
    "x" * 9999,
)


def _cycle() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def hostile(random: Random, depth: int = 0) -> Any:  # noqa: PLR0911 - a return for each kind of value
    """Return a value of any type, sometimes one that is no JSON."""
    kind = random.randrange(14 if depth < 3 else 9)
    if kind < 4:
        return random.choice(_TEXTS)
    if kind < 9:
        return (None, True, False, 0, -1, 2**63, -(2**31), 0.1, 1e308, float("nan"), float("inf"), 3)[
            random.randrange(12)
        ]
    if kind == 9:
        return [hostile(random, depth + 1) for _ in range(random.randrange(4))]
    if kind == 10:
        return {str(hostile(random, 3))[:20]: hostile(random, depth + 1) for _ in range(random.randrange(4))}
    if kind == 11:
        return random.choice(("x", "ä", "[", '{"a":')) * random.choice((100, 10_000, 200_000))
    if kind == 12:
        return random.choice(
            (lambda: _nested(200), lambda: _nested(20_000), _cycle, lambda: 10**5000, lambda: [0] * 9999)
        )()
    return random.choice((b"bytes", {1, 2}, object(), {1: 2}, {None: 0}, (1, 2), int, Ellipsis, 2j))


class Calls:
    """Makes calls of tools.

    Args:
        words: Texts of the domain's data by the name of their field, so that calls often find something; all of them
            under an empty name.
    """

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        self._words = words

    def name(self, random: Random, tools: Sequence[Tool]) -> str:
        """Return a name that is no tool's, or another one."""
        return random.choice(_NAMES) if random.random() < 0.5 else random.choice(tools).name.swapcase()

    def arguments(self, random: Random, tool: Tool) -> Any:
        """Return arguments for a tool: half of them fit its schema, the others are changed in some way."""
        schema = tool.parameters
        found = {
            name: self._value(random, name, part, schema.get("$defs", {}))
            for name, part in schema.get("properties", {}).items()
            if name in schema.get("required", ()) or random.random() < 0.5
        }
        kind = random.randrange(12)
        if kind == 6:
            return hostile(random)
        if kind == 7:
            found[random.choice(("self", "db", "x", "__class__", "kwargs", ""))] = hostile(random)
        if found and kind == 8:
            del found[random.choice(list(found))]
        if found and kind > 8:
            found[random.choice(list(found))] = hostile(random)
        return found

    def _value(self, random: Random, name: str, schema: dict[str, Any], definitions: dict[str, Any]) -> Any:
        schema = resolved(schema, definitions)
        alternatives = schema.get("anyOf") or schema.get("oneOf")
        if alternatives:
            return self._value(random, name, random.choice(alternatives), definitions)
        if "enum" in schema or "const" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        kind = schema.get("type")
        if kind == "object":
            return {
                key: self._value(random, key, part, definitions) for key, part in schema.get("properties", {}).items()
            }
        if kind == "array":
            return [self._value(random, name, schema.get("items", {}), definitions) for _ in range(random.randrange(4))]
        return self._plain(random, name, kind)

    def _plain(self, random: Random, name: str, kind: Any) -> Any:
        if kind == "integer":
            return random.choice((0, 1, 2, 3, 7, -1, random.randrange(10_000)))
        if kind == "number":
            return random.choice((0, 1, 2.5, -3, round(random.uniform(0, 500), 2)))
        if kind == "boolean":
            return random.random() < 0.5
        if kind == "null":
            return None
        words = self._words.get(name) or self._words.get(name.removesuffix("s"))
        return random.choice(words if words and random.random() < 0.9 else self._words[""])
