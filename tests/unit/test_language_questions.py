"""What persons ask for, and what they say of what was done."""

from __future__ import annotations

import pytest

from pytest_tau.language.objections import complains, is_objection
from pytest_tau.language.questions import fields_asked, questions_in


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        ("Hi there. Where is my order? I need it.", ["Where is my order?"]),
        ("Tell me when it arrives. Thanks!", ["Tell me when it arrives."]),
        ("I'd like to know the total.\nMy id is 5.", ["I'd like to know the total."]),
        ("Cancel it.", []),
    ],
)
def test_questions(text: str, questions: list[str]) -> None:
    assert questions_in(text) == questions


@pytest.mark.parametrize(
    ("question", "field"),
    [
        ("How much will it cost?", "price"),
        ("When does it come?", "delivery"),
        ("How many are left?", "stock"),
        ("Where is it?", "status"),
        ("Who has signed?", "name"),
        ("Do I get my money back?", "refund"),
    ],
)
def test_fields_that_are_asked_for_in_other_words(question: str, field: str) -> None:
    assert field in fields_asked(question)
    assert not fields_asked("Is it blue?")


@pytest.mark.parametrize(
    ("text", "plainly", "once_done"),
    [
        ("That\u2019s not what I asked for.", True, True),
        ("Why did you cancel it?", True, True),
        ("I only wanted the lamp.", True, True),
        ("You have sent the wrong one, put it back.", True, True),
        ("Wait, no!", False, True),
        ("Oh, what? The desk as well?", False, True),
        ("No, thanks.", False, False),
        ("No, that\u2019s all.", False, False),
        ("Hey, can you also return the desk?", False, False),
        ("Sorry, I changed my mind: I never wanted it.", True, False),
        ("Great.", False, False),
    ],
)
def test_objections(text: str, *, plainly: bool, once_done: bool) -> None:
    assert complains(text) == plainly
    assert is_objection(text, done=True) == once_done
    assert is_objection(text, done=False) == (plainly and once_done)
