"""What agents ask users to do with their own tools."""

from __future__ import annotations

import pytest

from pytest_tau.language import words
from pytest_tau.language.steps import (
    is_conditional,
    is_forbidden,
    is_told,
    phrases_for,
    speaks_of_itself,
    state_in,
    switched_to,
    with_gerunds,
    written_value,
)


@pytest.mark.parametrize(
    ("sentence", "of_itself"),
    [
        ("I'll check the status bar.", True),
        ("Let me reset that for you.", True),
        ("I need you to restart the phone.", False),
        ("I would like to ask you to restart the phone.", False),
        ("Please restart the phone.", False),
    ],
)
def test_sentences_about_the_agent(sentence: str, of_itself: bool) -> None:
    assert speaks_of_itself(sentence) is of_itself


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("Restart the phone.", True),
        ("Now please restart the phone.", True),
        ("If it is still slow, restart it.", True),
        ("Did you restart the phone?", False),
        ("The app will restart the phone.", False),
    ],
)
def test_instructions(sentence: str, told: bool) -> None:
    text = words(sentence)
    assert is_told(text, text.index("restart")) is told


def test_conditions_and_what_is_forbidden() -> None:
    assert is_conditional(words("Should it be off, turn it on."))
    assert not is_conditional(words("Turn it on."))
    text = words("Do not ever restart it.")
    assert is_forbidden(text, text.index("restart"))
    assert not is_forbidden(words("Restart it."), 0)


def test_states() -> None:
    assert state_in(words("Turn airplane mode off.")) is False
    assert state_in(words("Enable roaming.")) is True
    assert state_in(words("Toggle roaming.")) is None
    assert (switched_to("Airplane Mode is now ON."), switched_to("Roaming is now OFF"), switched_to("Done.")) == (
        True,
        False,
        None,
    )


@pytest.mark.parametrize(
    ("sentence", "value"),
    [
        ("Call it with amount=5.", "5"),
        ('Use `amount`: "2.0 GB" there.', '"2.0 GB"'),
        ("The amount of data is 5.", None),
    ],
)
def test_a_value_that_is_written(sentence: str, value: str | None) -> None:
    assert written_value(sentence, "amount") == value


def test_phrases_for_a_tool() -> None:
    assert list(phrases_for("turn_off_light", "Extinguish the light. It takes a second.")) == [
        "turn off light",
        "turn light off",
        "extinguish off light",
        "extinguish light off",
    ]
    assert list(phrases_for("valve_status", "Check the status of the valve.")) == [
        "check valve status",
        "check status valve",
    ]
    assert list(phrases_for("restart", "Restart the phone.")) == []
    assert with_gerunds("unlock bank app") == "unlock bank/banking app/apping"
