"""Types from annotations in a syntax tree: built here, of standard types, pydantic models and enums, never executed."""

from __future__ import annotations

import ast
import datetime as dt
import decimal
import enum
import typing
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, Field, create_model

from .sources import name_of

if TYPE_CHECKING:
    from pydantic import ConfigDict

    from .sources import Checkout, Module

#: The types that an annotation may name. Both spellings of a container mean the same schema.
_NAMED: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "dict": dict,
    "list": list,
    "None": None,
    "bytes": bytes,
    "Any": Any,
    "Dict": dict,
    "List": list,
    "object": Any,
    "date": dt.date,
    "datetime": dt.datetime,
    "Decimal": decimal.Decimal,
    "Mapping": dict,
    "Sequence": list,
    "Iterable": list,
    "set": set,
    "Set": set,
    "tuple": tuple,
    "Tuple": tuple,
}
_MOST_LEVELS = 12


class UnreadableAnnotationError(Exception):
    """An annotation cannot be read; the text names it."""


class Annotations:
    """Reads annotations and the classes that they name."""

    def __init__(self, checkout: Checkout) -> None:
        self._checkout = checkout
        self._classes: dict[int, Any] = {}

    def type_of(self, node: ast.AST | None, module: Module, level: int = 0) -> Any:
        """Return the type that an annotation stands for.

        Raises:
            UnreadableAnnotationError: It names something that is not known here.
        """
        if level > _MOST_LEVELS:
            raise UnreadableAnnotationError("an annotation is nested too deep")
        if node is None:
            return Any
        if isinstance(node, ast.Constant):
            return self._of_constant(node, module, level)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            left, right = (self.type_of(side, module, level + 1) for side in (node.left, node.right))
            return typing.Union[left, right]  # noqa: UP007 - made at run time
        if isinstance(node, ast.Subscript):
            return self._of_subscript(node, module, level)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._of_name(node.id if isinstance(node, ast.Name) else node.attr, module, level)
        raise UnreadableAnnotationError(f"annotation {ast.unparse(node)}")

    def _of_constant(self, node: ast.Constant, module: Module, level: int) -> Any:
        if node.value is None:
            return None
        if isinstance(node.value, str):
            try:
                return self.type_of(ast.parse(node.value, mode="eval").body, module, level + 1)
            except SyntaxError:
                pass
        raise UnreadableAnnotationError(f"annotation {node.value!r}")

    def _of_subscript(self, node: ast.Subscript, module: Module, level: int) -> Any:
        outer = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if outer == "Literal":
            return typing.Literal[tuple(self.constant(element, module) for element in inner)]
        if outer == "Annotated":
            inner = inner[:1]
        types = [Ellipsis if _is_ellipsis(element) else self.type_of(element, module, level + 1) for element in inner]
        if outer == "Annotated":
            return types[0]
        if outer == "Optional":
            return typing.Optional[types[0]]  # noqa: UP045 - made at run time
        if outer == "Union":
            return typing.Union[tuple(types)]  # noqa: UP007 - made at run time
        container = _NAMED.get(outer)
        if container in (list, dict, set, tuple):
            return container[tuple(types)]
        raise UnreadableAnnotationError(f"annotation {ast.unparse(node)}")

    def _of_name(self, name: str, module: Module, level: int) -> Any:
        resolved = self._checkout.resolve(module, name)
        if resolved is None:
            if name in _NAMED:
                return _NAMED[name]
            raise UnreadableAnnotationError(f"annotation {name}")
        home, node = resolved
        if not isinstance(node, ast.ClassDef):
            return self.type_of(node, home, level + 1)
        if id(node) not in self._classes:
            self._classes[id(node)] = self._of_class(node, home, level)
        return self._classes[id(node)]

    def _of_class(self, node: ast.ClassDef, module: Module, level: int) -> Any:
        bases = {name_of(base) for _, ancestor in self._checkout.ancestry(module, node) for base in ancestor.bases}
        if not any(base.endswith("Enum") for base in bases):
            return self._model(node, module, level)
        members = {
            statement.targets[0].id: self.constant(statement.value, module)
            for statement in node.body
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
        }
        enumeration: Any = enum.Enum(node.name, members)  # type: ignore[misc] # known when it is read
        enumeration.__doc__ = ast.get_docstring(node) or ""  # the docstring of Enum would be a description
        return enumeration

    def _model(self, node: ast.ClassDef, module: Module, level: int) -> type[BaseModel]:
        fields: dict[str, Any] = {}
        settings: dict[str, Any] = {}
        for home, ancestor in reversed(list(self._checkout.ancestry(module, node))):
            settings |= self._settings(ancestor, home)
            for statement in ancestor.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    if name != "model_config" and not name.startswith("_"):
                        kind = self.type_of(statement.annotation, home, level + 1)
                        fields[name] = (kind, self._field(statement, home))
        model: type[BaseModel] = create_model(
            node.name, __config__=cast("ConfigDict", settings), __doc__=ast.get_docstring(node), **fields
        )
        return model

    def _settings(self, node: ast.ClassDef, module: Module) -> dict[str, Any]:
        """Return the settings of a model that its schema depends on."""
        keywords = list(node.keywords)
        for statement in node.body:
            value = getattr(statement, "value", None)
            targets = getattr(statement, "targets", [getattr(statement, "target", None)])
            if isinstance(value, ast.Call) and "model_config" in [getattr(target, "id", None) for target in targets]:
                keywords += value.keywords
            elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
                keywords += [
                    ast.keyword(setting.targets[0].id, setting.value)
                    for setting in statement.body
                    if isinstance(setting, ast.Assign) and isinstance(setting.targets[0], ast.Name)
                ]
        return {
            keyword.arg: self.constant(keyword.value, module)
            for keyword in keywords
            if keyword.arg in ("extra", "title")
        }

    def _field(self, statement: ast.AnnAssign, module: Module) -> Any:
        value = statement.value
        if value is None:
            return Field(...)
        if not (isinstance(value, ast.Call) and name_of(value.func) == "Field"):
            return Field(self.constant(value, module))
        by_name = {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
        keywords = {name: self.constant(by_name[name], module) for name in ("description", "title") if name in by_name}
        if "default_factory" in by_name:
            return Field(default_factory=_FACTORIES.get(name_of(by_name["default_factory"]), dict), **keywords)
        default = value.args[0] if value.args else by_name.get("default")
        return Field(... if default is None or _is_ellipsis(default) else self.constant(default, module), **keywords)

    def constant(self, node: ast.AST, module: Module) -> Any:
        """Return the value of an expression of constants, lists and members of enums.

        Raises:
            UnreadableAnnotationError: It is another expression.
        """
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            pass
        if isinstance(node, ast.Call) and name_of(node.func) == "cast" and len(node.args) == 2:
            return self.constant(node.args[1], module)
        if isinstance(node, ast.Name):
            resolved = self._checkout.resolve(module, node.id)
            if resolved is not None:
                return self.constant(resolved[1], resolved[0])
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            members = self.type_of(node.value, module)
            if isinstance(members, type) and issubclass(members, enum.Enum) and node.attr in members.__members__:
                return members[node.attr]
        raise UnreadableAnnotationError(f"value {ast.unparse(node)}")


_FACTORIES: dict[str, Any] = {"list": list, "dict": dict, "set": set}


def _is_ellipsis(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis
