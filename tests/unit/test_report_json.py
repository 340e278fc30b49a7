"""JSON of the page: conversations in UTF-8, and what is inside of a script element in ASCII."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_tau.reports.html.json_text import document, packed_document


@pytest.mark.parametrize(
    "value",
    [
        {"text": "Zoë, 20 € <b>&amp;</b> \u2028 \x00"},
        {"alone": "\ud83d"},
        [1.0, -0.0, 1e22, 10**30, True, None, ("a", 1)],
        {"deep": json.loads("[" * 400 + "]" * 400)},
    ],
    ids=["text", "lone-surrogate", "numbers", "deep"],
)
def test_both_forms_have_the_value(value: Any) -> None:
    expected = repr(json.loads(json.dumps(value)))
    assert repr(json.loads(packed_document(value))) == expected
    assert repr(json.loads(document(value))) == expected


@pytest.mark.parametrize("text", ["plain", "\ud83d"])
def test_numbers_that_json_lacks_are_null(text: str) -> None:
    value = {"numbers": [float("nan"), (float("-inf"), 1.5)], "text": text}
    for written in (packed_document(value), document(value)):
        assert json.loads(written) == {"numbers": [None, [None, 1.5]], "text": text}


def test_a_document_is_harmless_inside_of_a_script_element() -> None:
    written = document({"text": "</script><!-- & é"})
    assert written.isascii()
    assert not set("<>&") & set(written)
