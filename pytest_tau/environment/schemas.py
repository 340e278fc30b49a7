"""Tool schemas: JSON schema of a method's signature and its Google-style docstring."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

if sys.version_info >= (3, 11):
    from typing import get_type_hints
else:  # pragma: no cover - in 3.10, whose own makes ``text: str = None`` optional, and the schema a different one
    from typing_extensions import get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def describe(function: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """Return a tool's description and the JSON schema of its parameters.

    Args:
        function: An undecorated method; the schema is without ``self``.

    Returns:
        The docstring's summary and body, and an object schema with a description for each parameter.
    """
    from docstring_parser import DocstringStyle, parse

    doc = parse(inspect.cleandoc(function.__doc__ or ""), style=DocstringStyle.GOOGLE)
    descriptions = {parameter.arg_name: parameter.description for parameter in doc.params}
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "self":
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints.get(name, Any), Field(default, description=descriptions.get(name)))
    schema = create_model("parameters", **fields).model_json_schema()
    description = "\n\n".join(part for part in (doc.short_description, doc.long_description) if part)
    return description, schema


@functools.lru_cache(maxsize=1024)
def arguments_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON schema of the arguments of any function, which need not be declared as a tool.

    Args:
        function: A method; the schema is without ``self``.

    Returns:
        An object schema; without types if the annotations cannot be described, and with ``additionalProperties`` if
        the function accepts any name.
    """
    try:
        parameters = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    except ValueError:  # a function of an extension module that does not state its parameters
        return {"additionalProperties": True}
    named = [each for each in parameters if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
    if named == parameters:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # names and defaults that a function may have, and a schema may not
                return describe(function)[1]
        except Exception:  # noqa: BLE001, S110 - annotations can be anything
            pass
    return {
        "properties": {each.name: {} for each in named},
        "required": [each.name for each in named if each.default is each.empty],
        "additionalProperties": any(each.kind is each.VAR_KEYWORD for each in parameters),
    }
