"""What texts do in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.language import turns
from pytest_tau.language.agreement import is_plain_no, is_plain_yes
from pytest_tau.language.claims import acts_in

if TYPE_CHECKING:
    from collections.abc import Callable

PROPERTIES: tuple[tuple[Callable[[str], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (is_plain_yes, ("Yes.", "Sure, go ahead", "Yes, that\u2019s fine.", "ok"), ("Yes, it\u2019s ann_smith_12.", "Yes, but not the lamp, please", "Is it right?")),
    (is_plain_no, ("No.", "no thanks", "I\u2019d rather not", "Not now."), ("No, the other one.", "Nothing")),
    (turns.greets, ("Hi", "hello there!", "Good morning."), ("Hi, I want to return my lamp", "Hint")),
    (turns.thanks, ("Thanks!", "Great, thank you so much", "No, that\u2019s all.", "bye"), ("Cancel it, thanks",)),
    (turns.says_unknown, ("I don\u2019t remember the number", "I do not have it"), ("I have it",)),
    (turns.asks_when, ("On which date do you travel?", "Please provide the day."), ("The date is set.", "Where to?")),
    (turns.says_not_found, ("I couldn't find an order", "There is no such flight", "I don't see it"), ("I can't cancel it",)),
    (turns.points_at_thing, ("I can't cancel your order", "It can't be changed"), ("Orders can't be changed",)),
)  # fmt: skip


@pytest.mark.parametrize(("holds", "texts", "others"), PROPERTIES, ids=[holds.__name__ for holds, *_ in PROPERTIES])
def test_what_a_text_does(holds: Callable[[str], bool], texts: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert [text for text in (*texts, *others) if holds(text)] == [*texts]


def test_a_change_of_plans_is_no_act() -> None:
    assert "change" not in acts_in("Cancel it because of a change of plans.")
    assert "changes" in acts_in("Make changes to my plan.")
