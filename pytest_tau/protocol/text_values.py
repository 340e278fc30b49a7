"""Texts that source code builds, found in its syntax tree: what is constant, and names for what is not."""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import dataclass, field
from string import Formatter
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .sources import Checkout, Module

_MOST_LEVELS = 40
_TRIMMING = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}


@dataclass(frozen=True)
class Unknown:
    """A part of a text that is known when the code runs.

    Attributes:
        name: The last name of the expression, such as ``domain_policy`` of ``self.domain_policy``.
        form: How it becomes text: ``text``, ``json``, or ``lines``, one for each element.
    """

    name: str
    form: str = "text"


#: A text as its constant and unknown parts, in order.
Value: TypeAlias = "list[str | Unknown]"


class UnreadableTextError(Exception):
    """An expression is not a text that can be read."""


@dataclass(frozen=True)
class Scope:
    """Where an expression stands.

    Attributes:
        module: Its module.
        owner: The class around it, with those that it inherits from.
        local: The expressions that are assigned to local names.
    """

    module: Module
    owner: tuple[tuple[Module, ast.ClassDef], ...] = ()
    local: dict[str, ast.expr] = field(default_factory=dict)


def locals_of(function: ast.AST) -> dict[str, ast.expr]:
    """Return the expressions that a function assigns to local names; the last one of each."""
    assigned: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id] = node.value
    return assigned


class TextReader:
    """Reads texts of a checkout."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout

    def read(self, node: ast.AST, scope: Scope, level: int = 0) -> Value:
        """Return the text of an expression.

        Raises:
            UnreadableTextError: The expression is nested too deep, or goes in a circle.
        """
        if level > _MOST_LEVELS:
            raise UnreadableTextError(f"{scope.module.path}: a text is nested too deep")
        readers: dict[type, Callable[[Any, Scope, int], Value]] = {
            ast.Constant: lambda node, _scope, _level: [str(node.value)],
            ast.JoinedStr: self._joined,
            ast.FormattedValue: lambda node, *place: self.read(node.value, *place),
            ast.BinOp: self._sum,
            ast.IfExp: lambda node, *place: self.read(node.body, *place),
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
        }
        reader = readers.get(type(node))
        return reader(node, scope, level + 1) if reader is not None else [Unknown(_last_name(node))]

    def _joined(self, node: ast.JoinedStr, scope: Scope, level: int) -> Value:
        return [part for piece in node.values for part in self.read(piece, scope, level)]

    def _sum(self, node: ast.BinOp, scope: Scope, level: int) -> Value:
        if not isinstance(node.op, ast.Add):
            return [Unknown(_last_name(node))]
        return self.read(node.left, scope, level) + self.read(node.right, scope, level)

    def _name(self, node: ast.Name, scope: Scope, level: int) -> Value:
        name = node.id
        if name in scope.local:
            inner = {key: value for key, value in scope.local.items() if key != name}  # ``text = text.strip()`` ends
            value = self.read(scope.local[name], Scope(scope.module, scope.owner, inner), level + 1)
            # A list or a call without a text has the name that it was assigned to.
            return [Unknown(name, value[0].form)] if len(value) == 1 and isinstance(value[0], Unknown) else value
        resolved = self._checkout.resolve(scope.module, name)
        if resolved is None or not isinstance(resolved[1], ast.expr):
            return [Unknown(name)]
        return self.read(resolved[1], Scope(resolved[0]), level + 1)

    def _attribute(self, node: ast.Attribute, scope: Scope, level: int) -> Value:
        mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", *(c.name for _, c in scope.owner))
        member = self._member(node.attr, scope) if mine else None
        return [Unknown(node.attr)] if member is None else self.read(*member, level + 1)

    def _member(self, name: str, scope: Scope) -> tuple[ast.AST, Scope] | None:
        """Return the expression that an attribute, a property or a method of the class stands for."""
        for module, owner in scope.owner:
            for statement in owner.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    returned = [child.value for child in ast.walk(statement) if isinstance(child, ast.Return)]
                    if len(returned) == 1 and returned[0] is not None:
                        return returned[0], Scope(module, scope.owner, locals_of(statement))
                    return None
                targets = getattr(statement, "targets", [getattr(statement, "target", None)])
                value = getattr(statement, "value", None)
                if value is not None and name in [getattr(target, "id", None) for target in targets]:
                    return value, Scope(module, scope.owner)
        return None

    def _call(self, node: ast.Call, scope: Scope, level: int) -> Value:
        name, arguments = _called(node), node.args
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "format" and receiver is not None:
            value = self._formatted(node, scope, level)
        elif name in _TRIMMING and receiver is not None and not arguments:
            value = _trimmed(self.read(receiver, scope, level + 1), name)
        elif name in ("dedent", "cleandoc") and len(arguments) == 1:
            value = _dedented(self.read(arguments[0], scope, level + 1), name)
        elif name in ("dumps", "join") and arguments:
            value = [Unknown(_last_name(arguments[0]), "json" if name == "dumps" else "lines")]
        elif name == "str" and len(arguments) == 1:
            value = self.read(arguments[0], scope, level + 1)
        elif isinstance(receiver, ast.Name) and receiver.id in ("self", "cls"):
            value = self._attribute(cast("ast.Attribute", node.func), scope, level)
            if len(value) != 1 or not isinstance(value[0], str):
                value = [Unknown(name)]  # what it returns depends on more than this class
        else:
            value = [Unknown(_last_name(arguments[0]) if receiver is not None and arguments else name)]
        return value

    def _formatted(self, node: ast.Call, scope: Scope, level: int) -> Value:
        assert isinstance(node.func, ast.Attribute)
        keywords = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        pieces: Value = []
        position = 0
        for part in self.read(node.func.value, scope, level + 1):
            if isinstance(part, Unknown):
                pieces.append(part)
                continue
            for text, name, _, _ in _fields(part, scope):
                pieces.append(text)
                if name is None:
                    continue
                key = name.split(".")[0].split("[")[0]
                number = int(key) if key.isdigit() else position
                position += not key
                value = keywords.get(key) if key and not key.isdigit() else _at(node.args, number)
                if value is None:
                    pieces.append(Unknown(key))
                    continue
                inner = self.read(value, scope, level + 1)
                # The keyword names the value best where the expression has no text of its own.
                is_named = len(inner) == 1 and isinstance(inner[0], Unknown) and key and not key.isdigit()
                pieces += [Unknown(key, inner[0].form)] if is_named and isinstance(inner[0], Unknown) else inner
        return pieces


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _fields(text: str, scope: Scope) -> list[tuple[str, str | None, str | None, str | None]]:
    try:
        return list(Formatter().parse(text))
    except ValueError as error:
        raise UnreadableTextError(f"{scope.module.path}: {error}") from None


def _at(values: Sequence[ast.expr], number: int) -> ast.expr | None:
    return values[number] if number < len(values) else None


def _trimmed(value: Value, how: str) -> Value:
    value = list(value)
    if value and how != "rstrip" and isinstance(value[0], str):
        value[0] = value[0].lstrip()
    if value and how != "lstrip" and isinstance(value[-1], str):
        value[-1] = value[-1].rstrip()
    return value


def _dedented(value: Value, how: str) -> Value:
    if any(isinstance(part, Unknown) for part in value):
        raise UnreadableTextError(f"{how}() of a text with values in it")
    text = "".join(part for part in value if isinstance(part, str))
    return [textwrap.dedent(text) if how == "dedent" else inspect.cleandoc(text)]


def _last_name(node: ast.AST) -> str:
    """Return the last name in an expression, which says best what it is."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call):
        return _last_name(node.args[0]) if node.args else _last_name(node.func)
    if isinstance(node, ast.Subscript):
        return (
            node.slice.value
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
            else _last_name(node.value)
        )
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _last_name(node.generators[0].iter)
    return type(node).__name__.lower()
