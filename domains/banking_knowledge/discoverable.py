"""The hidden tools as their wrappers show them: descriptions and parameters, from a file."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pytest_tau.environment import Tool, ToolInfo, Toolkit
from pytest_tau.models import json_copy

from .refusals import Refusal
from .tables import BankDB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_tau.models import Requestor

#: The bundled texts.
_TEXTS: Final = Path(__file__).with_name("discoverable.json")


class HiddenTexts(Toolkit[BankDB]):
    """A toolkit with texts of hidden tools, which answers of wrappers show.

    Attributes:
        side: Whose toolkit it is.
        texts: The texts of both sides' hidden tools; None for the bundled ones.
    """

    side: ClassVar[Requestor]
    texts: ClassVar[Sequence[Mapping[str, Any]] | None] = None

    @classmethod
    def with_texts(cls, texts: Mapping[str, Any]) -> type[HiddenTexts]:
        """Return the toolkit with other texts of the hidden tools, in the layout of ``discoverable.json``."""
        return type(cls.__name__, (cls,), {"texts": texts["tools"], "__doc__": cls.__doc__})

    @classmethod
    @functools.cache
    def hidden_tools(cls) -> dict[str, Tool]:
        """Return the side's hidden tools by name, with the descriptions of the texts."""
        return hidden_tools(cls.side, cls.tool_infos, cls.texts)


def hidden_tools(
    side: Requestor, infos: Mapping[str, ToolInfo], texts: Sequence[Mapping[str, Any]] | None
) -> dict[str, Tool]:
    """Return the hidden tools of a side by name.

    Args:
        side: Whose tools.
        infos: The declarations of the side's tools.
        texts: Objects with ``name``, ``requestor``, ``description`` and ``parameters``; those are objects with
            ``name``, ``type``, ``required`` and ``description``. None for the bundled ones.
    """
    return {
        entry["name"]: Tool(entry["name"], entry["description"], _schema(entry["parameters"]), info.kind, info.mutates)
        for entry in (_bundled() if texts is None else texts)
        if entry["requestor"] == side and (info := infos.get(entry["name"])) and info.hidden
    }


def parameters_of(side: Requestor, name: str) -> dict[str, bool] | None:
    """Return the parameters of a hidden tool in order, and whether each is required; None if there is no such tool."""
    return _parameters(side).get(name)


def arguments_in(text: str, parse_int: Callable[[str], Any] | None = None) -> Any:
    """Return the arguments of a hidden tool, which a wrapper gets as the text of a JSON object.

    Args:
        text: Any JSON, which the wrappers check further. NaN and Infinity are accepted.
        parse_int: What becomes of integers.

    Raises:
        Refusal: The text is not JSON.
        TypeError: It is no text; the wrappers fail then.
        ValueError: It cannot be stored: it is nested too deep.
    """
    try:
        return json_copy(json.loads(text, parse_int=parse_int))
    except json.JSONDecodeError as error:
        raise Refusal(f"Error: Invalid JSON in arguments: {error}") from None


def unlocked_text(tool: Tool) -> str:
    """Return what unlocking a tool shows."""
    required = tool.parameters["required"]
    shown = [
        f"  - {name}: {schema['type']} ({'required' if name in required else 'optional'}) - {schema['description']}"
        for name, schema in tool.parameters["properties"].items()
    ]
    return "\n".join(
        [
            f"Tool unlocked: {tool.name}",
            f"Description: {tool.description}",
            "",
            f"Tool: {tool.name}",
            f"Description: {tool.description}",
            "Parameters:",
            *(shown or ["  (no parameters)"]),
            "",
            "You can now use this tool by calling `call_discoverable_agent_tool` with "
            f"agent_tool_name='{tool.name}' and the required arguments.",
        ]
    )


def given_text(tool: Tool, arguments: str) -> str:
    """Return what giving a tool to the user shows."""
    return "\n".join(
        [
            f"Tool given to user: {tool.name}",
            f"Description: {tool.description}",
            f"Arguments: {arguments}",
            "",
            "The user can now execute this action by calling `call_discoverable_user_tool` with "
            f"discoverable_tool_name='{tool.name}' and the same arguments.",
        ]
    )


@functools.cache
def _bundled() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_TEXTS.read_text(encoding="utf-8"))["tools"]
    return entries


@functools.cache
def _parameters(side: Requestor) -> dict[str, dict[str, bool]]:
    return {
        entry["name"]: {parameter["name"]: parameter["required"] for parameter in entry["parameters"]}
        for entry in _bundled()
        if entry["requestor"] == side
    }


def _schema(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    properties = {
        parameter["name"]: {"type": parameter["type"], "description": parameter["description"]}
        for parameter in parameters
    }
    required = [parameter["name"] for parameter in parameters if parameter["required"]]
    return {"type": "object", "properties": properties, "required": required}
