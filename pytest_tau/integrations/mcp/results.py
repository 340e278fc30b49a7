"""The results of a server's tools: their text, their value, and whether they fit the tool's schema of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...documents import DocumentError, parse_json
from ...errors import ToolError
from ...plain import json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def result_text(result: dict[str, Any]) -> str:
    """Return the text of a result: its text parts, other parts and structured content as JSON."""
    parts = [part["text"] if part.get("type") == "text" else json.dumps(part) for part in result.get("content", [])]
    if not parts and "structuredContent" in result:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(parts)


def result_value(result: dict[str, Any]) -> Any:
    """Return the value of a result: its structured content, or its text as JSON."""
    structured = result.get("structuredContent")
    if structured is None:
        return _parsed(result_text(result))
    # The protocol wraps values that are not objects.
    return structured["result"] if isinstance(structured, dict) and list(structured) == ["result"] else structured


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except DocumentError:
        return text


class ResultSchema:
    """The schema that a tool declares for its results.

    The SDK checks the results of the tools on the page that was listed last, and ends the session with one that fails.

    Args:
        tool: The name of the tool.
        schema: Its ``outputSchema``; None if it declares none.
    """

    def __init__(self, tool: str, schema: dict[str, Any] | None) -> None:
        self._tool, self._schema = tool, schema
        self._validator: Validator | None = None

    def check(self, result: dict[str, Any]) -> None:
        """Check a result that reports no error.

        Raises:
            ToolError: It has no structured content, or one that does not fit; or the schema cannot be used.
        """
        if self._schema is None:
            return
        if "structuredContent" not in result:
            raise ToolError(f"the result of {self._tool} has no structured content, which its outputSchema asks for")
        from jsonschema.exceptions import SchemaError, best_match
        from referencing.exceptions import Unresolvable

        try:
            problem = best_match(self._compiled(self._schema).iter_errors(result["structuredContent"]))
        except (SchemaError, Unresolvable) as error:
            raise ToolError(f"the outputSchema of {self._tool} cannot be used: {_first_line(error)}") from None
        if problem is not None:
            place = "/".join(["structuredContent", *map(str, problem.absolute_path)])
            raise ToolError(f"the result of {self._tool} does not fit its outputSchema: {place}: {problem.message}")

    def _compiled(self, schema: dict[str, Any]) -> Validator:
        if self._validator is None:
            from jsonschema.validators import validator_for
            from referencing import Registry

            checker = validator_for(schema)
            checker.check_schema(schema)
            # With a registry of its own, a reference to another document is not fetched from the network.
            self._validator = checker(schema, registry=Registry())
        return self._validator


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
