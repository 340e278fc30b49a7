"""What agents say that they have changed, and what they only repeat, deny or leave open."""

from __future__ import annotations

import pytest

from pytest_tau.language.claims import claims_in

CLAIMS = [
    ("Your reservation has been cancelled.", "cancelled", False),
    ("I've successfully updated the address.", "updated", True),
    ("Both orders have now been returned, thank you!", "returned", False),
    ("All set: I have added two bags.", "added", True),
    ("Your appointment has been moved to 9:00.", "moved", False),
    ("Your reservation AB12CD now has 2 checked bags.", "", False),
    ("You are now booked on flight HAT266.", "booked", False),
    ("Both orders are now updated.", "updated", False),
]
NO_CLAIMS = [
    "No changes have been made to your reservation.",
    "Nothing has been changed.",
    "The order has already been cancelled.",
    "To recap: your flight has been changed and the bags have been added.",
    "As mentioned, the refund has been processed.",
    "Once it has been returned, you get your money back.",
    "Has your order been cancelled?",
    "A confirmation email has been sent to you.",
    "I've added your note for the human agent.",
    "I have not changed anything yet.",
    "I've updated the summary: two bags, $50. Do you confirm?",
    "Data Roaming is now enabled on your device.",
    "Your line is now active again.",
]


@pytest.mark.parametrize(("text", "verb", "own"), CLAIMS)
def test_a_claim(text: str, verb: str, own: bool) -> None:
    (claim,) = claims_in(text)
    assert (claim.verb, claim.own) == (verb, own)


@pytest.mark.parametrize("text", NO_CLAIMS)
def test_what_is_no_claim(text: str) -> None:
    assert claims_in(text) == []


def test_a_claim_may_be_of_a_call_and_shown_in_a_record() -> None:
    (cancelled,) = claims_in("Order #W1 has been cancelled.")
    assert cancelled.is_of("cancel_pending_order")
    assert not cancelled.is_of("return_delivered_order_items")
    assert cancelled.is_shown_in('{"status": "Canceled"}')
    assert not cancelled.is_shown_in('{"status": "pending"}')
    (updated,) = claims_in("It has been updated.")
    assert updated.is_of("exchange_delivered_order_items")
    (moved,) = claims_in('Order #W1 has been moved to "return requested".')
    assert moved.is_of("return_delivered_order_items")


def test_a_record_to_which_something_is_only_compared_is_not_its_subject() -> None:
    (claim,) = claims_in("The address of #W1 has been changed to match #W2.")
    assert "#W1" in claim.subject
    assert "#W2" not in claim.subject
