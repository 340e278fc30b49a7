from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel

from pytest_tau.environment import Record
from pytest_tau.environment.schemas import describe
from pytest_tau.environment.task_schema import _Described


class Point(Record):
    x: int
    y: int = 0


class Example:
    def documented(
        self,
        name: str,
        mode: Literal["a", "b"],
        ratio: float,
        tags: list[str],
        point: Point,
        limit: int = 12,
        note: str | None = None,
    ) -> None:
        """Do something.

        It takes a while.
        Longer, even.

        Args:
            name: Whose name,
                on two lines.
            mode: How.
            limit: At most so many.

        Returns:
            Nothing.

        Raises:
            KeyError: Never.
        """

    def undocumented(self, untyped) -> None: ...

    def omitted(self, text: str = cast("str", None)) -> None: ...

    def bare(self) -> None:
        """Nothing to give."""


def test_description_is_the_summary_and_the_body_without_sections() -> None:
    description, _ = describe(Example.documented)
    assert description == "Do something.\n\nIt takes a while.\nLonger, even."


def test_parameters_become_a_json_schema() -> None:
    _, schema = describe(Example.documented)
    properties: dict[str, Any] = schema["properties"]
    assert list(properties) == ["name", "mode", "ratio", "tags", "point", "limit", "note"]
    assert schema["required"] == ["name", "mode", "ratio", "tags", "point"]
    assert properties["name"]["type"] == "string"
    assert properties["name"]["description"].split() == ["Whose", "name,", "on", "two", "lines."]
    assert properties["mode"]["enum"] == ["a", "b"]
    assert properties["mode"]["description"] == "How."
    assert properties["ratio"]["type"] == "number"
    assert "description" not in properties["ratio"]
    assert properties["tags"] == {"items": {"type": "string"}, "title": "Tags", "type": "array"}
    assert properties["limit"]["default"] == 12
    assert properties["note"]["default"] is None
    assert schema["$defs"]["Point"]["required"] == ["x"]
    assert schema["type"] == "object"


def test_a_method_without_docstring_or_types() -> None:
    description, schema = describe(Example.undocumented)
    assert description == ""
    assert schema["required"] == ["untyped"]
    assert "type" not in schema["properties"]["untyped"]


def test_a_default_of_none_does_not_change_the_type() -> None:
    _, schema = describe(Example.omitted)
    assert schema["properties"] == {"text": {"default": None, "title": "Text", "type": "string"}}


def test_a_model_without_a_docstring_has_no_description() -> None:
    class Bare(BaseModel):
        number: int

    assert Bare.model_json_schema(schema_generator=_Described) == {
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "title": "Bare",
        "type": "object",
    }
