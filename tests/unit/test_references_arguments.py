"""Arguments of a tool that is called by another one, which are a JSON text, as if they were the tool's own."""

from __future__ import annotations

from pytest_tau.plain import json
from pytest_tau.references.arguments import all_arguments_in, texts_in, with_other_id, with_value

INNER = {"card": "c-1", "amount": 5, "parts": ["p-1", "p-2"]}
CALL = {"tool": "pay", "arguments": json.dumps(INNER), "note": "{no json", "other": "c-1"}


def test_values_of_inner_arguments_have_places() -> None:
    found = {argument.path: argument.value for argument in all_arguments_in(CALL, {})}
    assert found["arguments.card"] == "c-1"
    assert found["arguments.parts.1"] == "p-2"
    assert "arguments" not in found
    # What only looks like JSON is a text.
    assert found["note"] == "{no json"
    assert {*texts_in(CALL)} == {"pay", "c-1", "p-1", "p-2", "{no json"}


def test_another_value_at_a_place() -> None:
    changed = with_value(CALL, ["arguments", "parts", "0"], "p-3")
    assert json.loads(changed["arguments"]) == {**INNER, "parts": ["p-3", "p-2"]}
    assert with_value(CALL, ["other"], "c-2") == {**CALL, "other": "c-2"}


def test_another_id_everywhere() -> None:
    changed = with_other_id(CALL, "c-1", "c-2")
    assert changed["other"] == "c-2"
    assert json.loads(changed["arguments"]) == {**INNER, "card": "c-2"}
    # An id is not a part of a longer one.
    assert with_other_id({"a": "c-12"}, "c-1", "c-2") == {"a": "c-12"}
    assert with_other_id({"a": '{"card": "c-12"}'}, "c-1", "c-2") == {"a": '{"card": "c-12"}'}
