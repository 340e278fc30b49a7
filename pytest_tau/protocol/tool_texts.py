"""The tools of a checkout: decorated methods, with their descriptions and the schemas of their arguments."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

from pydantic import Field, PydanticUserError, create_model

from .annotations import Annotations, UnreadableAnnotationError
from .sources import name_of
from .texts import DomainTools, HiddenTools, ToolText

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .sources import Checkout, Module

#: The names of decorators of tools contain this; those of tools that are found in the conversation, the second, too.
_TOOL, _DISCOVERABLE = "tool", "discoverable"


def read_tools(checkout: Checkout) -> tuple[dict[str, DomainTools], dict[str, HiddenTools], list[str]]:
    """Return the tools by domain, the discoverable ones by domain, and what could not be read.

    A tool is a method with a decorator such as ``@is_tool(…)``. Its domain is the name of the folder below ``domains``
    in which its module is; it is the user's if the name of its class or module has ``user`` in it.
    """
    tools_by_domain: dict[str, dict[str, dict[str, ToolText]]] = {}
    hidden: dict[str, list[dict[str, Any]]] = {}
    problems: list[str] = []
    annotations = Annotations(checkout)
    for module in checkout.modules:
        domain = _domain_of(module.path)
        for owner, function, decorator in _tools_of(module) if domain else ():
            place = f"tools.{domain}: {module.path}:{function.lineno}: {function.name}"
            side = "user" if "user" in f"{owner.name} {module.path.stem}".lower() else "assistant"
            try:
                text = tool_text(function, module, annotations)
            except (UnreadableAnnotationError, PydanticUserError, TypeError, ValueError) as error:
                problems.append(f"{place}: {error}")
                continue
            if _DISCOVERABLE in name_of(_called(decorator)).lower():
                hidden.setdefault(str(domain), []).append(_discoverable(function, text, side, decorator))
            else:
                sides = tools_by_domain.setdefault(str(domain), {"assistant": {}, "user": {}})
                sides[side].setdefault(text.name, text)
    tools = {
        name: DomainTools(assistant=list(sides["assistant"].values()), user=list(sides["user"].values()))
        for name, sides in tools_by_domain.items()
    }
    return (
        tools,
        {name: HiddenTools.model_validate({"tools": hidden_tools}) for name, hidden_tools in hidden.items()},
        problems,
    )


def _domain_of(path: Path) -> str | None:
    folders = path.parts[:-1]
    if "domains" not in folders:
        return None
    below = folders[len(folders) - folders[::-1].index("domains") :]
    return below[0] if below else path.stem


def _tools_of(module: Module) -> Iterator[tuple[ast.ClassDef, ast.FunctionDef, ast.AST]]:
    for owner in module.classes:
        for node in owner.body:
            if isinstance(node, ast.FunctionDef):
                names = {name_of(_called(decorator)).lower(): decorator for decorator in node.decorator_list}
                marked = [decorator for name, decorator in names.items() if _TOOL in name]
                if marked:
                    yield owner, node, marked[0]


def _called(decorator: ast.AST) -> ast.AST:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def tool_text(function: ast.FunctionDef, module: Module, annotations: Annotations) -> ToolText:
    """Return the description of a function and the schema of its arguments, as from its signature and docstring.

    Raises:
        UnreadableAnnotationError: The type of a parameter cannot be read.
    """
    from docstring_parser import DocstringStyle, parse

    doc = parse(inspect.cleandoc(ast.get_docstring(function) or ""), style=DocstringStyle.GOOGLE)
    described = {parameter.arg_name: parameter.description for parameter in doc.params}
    fields: dict[str, Any] = {}
    for argument, default in _parameters(function):
        value = ... if default is None else annotations.constant(default, module)
        kind = annotations.type_of(argument.annotation, module)
        fields[argument.arg] = (kind, Field(value, description=described.get(argument.arg)))
    schema = create_model("parameters", **fields).model_json_schema()
    description = "\n\n".join(part for part in (doc.short_description, doc.long_description) if part)
    return ToolText(name=function.name, description=description, parameters=schema)


def _parameters(function: ast.FunctionDef) -> list[tuple[ast.arg, ast.expr | None]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs = list(zip(positional, [*defaults, *arguments.defaults], strict=True))
    pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))
    return [(argument, default) for argument, default in pairs if argument.arg not in ("self", "cls")]


def _discoverable(function: ast.FunctionDef, text: ToolText, side: str, decorator: ast.AST) -> dict[str, Any]:
    """Return the texts of a tool that is found in the conversation, in the layout of τ²-bench's interface data."""
    kinds = [name_of(argument).lower() for argument in getattr(decorator, "args", [])]
    kind = next((kind for kind in kinds if kind in ("read", "write", "think", "generic")), "read")
    required, properties = text.parameters.get("required", []), text.parameters.get("properties", {})
    parameters = [
        {
            "name": name,
            "type": _type_name(schema),
            "description": schema.get("description", ""),
            "required": name in required,
        }
        for name, schema in properties.items()
    ]
    signature = [
        {"name": name, "required": name in required} | ({} if name in required else {"default": schema.get("default")})
        for name, schema in properties.items()
    ]
    return {
        "name": function.name,
        "requestor": side,
        "kind": kind,
        "mutates_state": kind == "write",
        "description": _without_arguments(ast.get_docstring(function) or ""),
        "parameters": parameters,
        "signature": signature,
    }


def _type_name(schema: dict[str, Any]) -> str:
    """Return the type of a parameter in a word; for one that may be none, the other type."""
    types = [variant.get("type", "any") for variant in schema.get("anyOf", [schema])]
    return next((str(name) for name in types if name != "null"), "any")


def _without_arguments(docstring: str) -> str:
    """Return a docstring up to its section of arguments."""
    lines = inspect.cleandoc(docstring).splitlines()
    end = next((number for number, line in enumerate(lines) if line.strip() == "Args:"), len(lines))
    return "\n".join(lines[:end]).strip()
