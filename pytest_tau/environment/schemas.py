"""Tool schemas: JSON schema of a method's signature and its Google-style docstring."""

from __future__ import annotations

import inspect
import sys
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
