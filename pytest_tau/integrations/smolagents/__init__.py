"""A trial's tools for smolagents (package ``smolagents``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..frameworks import load_framework

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..frameworks import TrialTool

_DEFINITIONS = "#/$defs/"


def tools(trial_tools: Sequence[TrialTool]) -> list[Any]:
    """Return the tools as ``smolagents.Tool``, which block.

    Raises:
        ConfigurationError: smolagents is not installed.
    """
    base: Any = load_framework("smolagents", "smolagents").Tool

    class TrialBaseTool(base):  # type: ignore[misc] # a class that is known when it is imported
        """A tool of the trial, whose parameters are not in the signature of its method."""

        skip_forward_signature_validation = True
        output_type = "string"

        def __init__(self, tool: TrialTool) -> None:
            self.name, self.description, self.inputs = tool.name, tool.description, inputs_of(tool.parameters)
            self._tool = tool
            super().__init__()

        def forward(self, /, **arguments: Any) -> str:
            """Call the tool."""
            return self._tool.call(**arguments)

    return [TrialBaseTool(tool) for tool in trial_tools]


def inputs_of(parameters: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of a JSON schema as smolagents declares them.

    Each has a ``type``, a ``description`` and, if it can be absent, ``nullable``. Definitions are written out, since
    there is no place for them. A parameter of several types becomes ``any``, of which smolagents makes a string.
    """
    required = parameters.get("required", ())
    definitions = parameters.get("$defs", {})
    return {
        name: _input(_written_out(schema, definitions), optional=name not in required)
        for name, schema in parameters.get("properties", {}).items()
    }


def _input(schema: dict[str, Any], *, optional: bool) -> dict[str, Any]:
    options = schema.get("anyOf", [schema])
    kinds = [option for option in options if option.get("type") != "null"]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if len(kinds) == 1 and isinstance(kinds[0].get("type"), str):
        rest = kinds[0] | rest
    else:
        rest["type"] = "any"
    nullable = optional or len(kinds) < len(options)
    return {"description": "", **rest} | ({"nullable": True} if nullable else {})


def _written_out(schema: Any, definitions: dict[str, Any], inside: tuple[str, ...] = ()) -> Any:
    """Return a schema without references; one to a definition that contains itself becomes any object."""
    if isinstance(schema, list):
        return [_written_out(each, definitions, inside) for each in schema]
    if not isinstance(schema, dict):
        return schema
    name = str(schema.get("$ref", "")).removeprefix(_DEFINITIONS)
    if name in inside:
        return {"type": "object"}
    if name in definitions:
        return _written_out(definitions[name], definitions, (*inside, name))
    return {key: _written_out(value, definitions, inside) for key, value in schema.items()}
