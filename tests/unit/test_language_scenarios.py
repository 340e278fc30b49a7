"""What the prose of scenarios settles and leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.language import scenarios

if TYPE_CHECKING:
    from collections.abc import Callable

PROPERTIES: tuple[tuple[Callable[[str], bool], tuple[str, ...], tuple[str, ...]], ...] = (
    (scenarios.keeps_what_is, ("the exact same item", "your original card", "whichever is there"), ("a new one",)),
    (scenarios.takes_any_origin, ("refund it to where it came from", "any card is fine"), ("the same card",)),
    (scenarios.gives_cause, ("because you moved", "due to an illness"), ("you moved",)),
    (scenarios.wants_only_if, ("Cancel it only if it is free",), ("You agree if and only if it is free",)),
    (scenarios.says_otherwise, ("if not, keep it", "you don’t want it otherwise", "if it costs more, leave"), ("only if free",)),
    (scenarios.qualifies_all, ("return all your delivered items", "all the orders that are late"), ("cancel all orders",)),
    (scenarios.settles_refusal, ("If that is not possible, cancel", "the agent can’t do it"), ("If the card is not possible",)),
    (scenarios.leaves_options_open, ("the cheapest one", "you don’t care", "any colour"), ("the red one",)),
    (scenarios.wants_similar, ("something like the old lamp",), ("the same lamp",)),
    (scenarios.asks_for_sum, ("You want to know how much you will get back.", "the total amount refunded"), ("how much it costs",)),
    (scenarios.wants_secret, ("Do not mention your income.", "Keep this to yourself.", "You don’t want to reveal it"), ("Mention it.",)),
    (scenarios.has_condition, ("unless the agent asks",), ("whatever the agent asks",)),
    (scenarios.wants_booking, ("book a flight", "make an appointment"), ("cancel the flight",)),
)  # fmt: skip


@pytest.mark.parametrize(("holds", "texts", "others"), PROPERTIES, ids=[holds.__name__ for holds, *_ in PROPERTIES])
def test_what_a_scenario_says(holds: Callable[[str], bool], texts: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert [text for text in (*texts, *others) if holds(text)] == [*texts]


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("Your budget is $1,200.50, and not more than $50 each.", {1200.5}),
        ("You never pay more than $100; it is fine under $80.", {100, 80}),
        ("It may cost up to $30 per bag.", set()),
        ("It may cost $30.", set()),
        ("You want to put at most $100 on the card, under $200 in all", set()),
    ],
)
def test_limits_of_what_something_costs(text: str, limits: set[float]) -> None:
    assert scenarios.spending_limits(text) == limits


def test_words_about_things() -> None:
    text = "Take the cheapest nonstop economy, from your order, and return all of your shoes and all my bags."
    assert scenarios.compared_in(text, "economy") == "cheapest nonstop economy"
    assert scenarios.compared_in("cheapest in economy", "economy") is None
    assert scenarios.names_of_all_own(text) == ["shoes", "bags"]
    assert scenarios.names_one(text, "order") == "from your order"
    assert scenarios.names_one("from the same order", "order") is None
    assert scenarios.speaks_of_several("the other order", "order")
    assert not scenarios.speaks_of_several(text, "order")
