"""Scenarios about debit cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import personas
from ..builder import Draft, scenario
from ..calls import debit_cards, hidden
from ..world import days_ago, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import Record, World

_ACTIVATION, _PINS, _FREEZE = "debit_card_activation", "debit_card_pins", "debit_card_freeze"
_ORDERING, _ALERTS, _LIMIT = "debit_card_ordering", "debit_card_fraud_alerts", "debit_card_temporary_limit"
_FINDING = ("account_overview", "debit_card_overview")
_DIGITS = "last four/4 digits"


# Activation


def _activation(world: World, reason: str, tool: str, *, digits: str = "", pin: str = "5082") -> Iterator[Draft]:
    """Yield drafts of an activation; with other ``digits`` than those of the card nothing is done."""
    for user, account, card in world.each_debit_card():
        new = {
            **card,
            "card_id": new_id("dbc_", reason, account["account_id"]),
            "last_4_digits": f"{int(card['last_4_digits']) % 8999 + 1001}",
            "status": "PENDING",
            "issue_date": days_ago(9),
            "expiration_date": "10/31/2029",
            "issue_reason": reason,
        }
        tables: dict[str, dict[str, Record]] = {"debit_cards": {new["card_id"]: new}}
        if reason in ("lost", "stolen", "fraud"):
            tables["debit_cards"][card["card_id"]] = {"status": "CLOSED", "closure_reason": reason}
        said = digits or new["last_4_digits"]
        calls = hidden(
            tool,
            card_id=new["card_id"],
            last_4_digits=said,
            expiration_date="10/29",
            cvv=card["cvv"],
            pin=pin,
        )
        yield Draft(
            user,
            reason="You want to activate the debit card that came by mail.",
            details={
                _DIGITS: f"The last four digits are {said}.",
                "expiration/expiry": "It expires 10/29.",
                "cvv": f"The CVV is {card['cvv']}.",
                "pin": f"The PIN should be {pin}.",
            },
            calls=[*debit_cards(user, account), *([] if digits else calls)],
            documents=[_ACTIVATION, _PINS, *_FINDING],
            tables=tables,
        )


@scenario(_ACTIVATION)
def activate_a_first_card(world: World) -> Iterator[Draft]:
    """The first card of an account."""
    yield from _activation(world, "first_card", "activate_debit_card_8291")


@scenario(_ACTIVATION, personas.CAREFUL)
def activate_after_a_loss(world: World) -> Iterator[Draft]:
    """A card that replaces a lost one."""
    yield from _activation(world, "lost", "activate_debit_card_8292", pin="7316")


@scenario(_ACTIVATION, personas.BRIEF)
def activate_after_fraud(world: World) -> Iterator[Draft]:
    """A card that replaces one that was copied."""
    yield from _activation(world, "fraud", "activate_debit_card_8292", pin="2960")


@scenario(_ACTIVATION)
def activate_after_expiry(world: World) -> Iterator[Draft]:
    """A card that follows an expired one; the old one stays for a day."""
    yield from _activation(world, "expired", "activate_debit_card_8293", pin="6174")


@scenario(_ACTIVATION, personas.NEW_HERE)
def activate_a_card_of_the_bank_s_choice(world: World) -> Iterator[Draft]:
    """A card that the bank reissued by itself."""
    yield from _activation(world, "bank_reissue", "activate_debit_card_8293", pin="8402")


@scenario(_ACTIVATION)
def activate_with_wrong_digits(world: World) -> Iterator[Draft]:
    """The digits are not those of the card: the tool is not called."""
    yield from _activation(world, "first_card", "activate_debit_card_8291", digits="0037")


# PINs


def _wishes(pin: str, first: str) -> dict[str, str]:
    """Return what the customer says about the new PIN; ``first`` is one that the bank does not allow."""
    if not first:
        return {"new pin": f"The new PIN should be {pin}."}
    return {"new pin": f"The new PIN should be {first}.", "another pin": f"Otherwise it should be {pin}."}


def _pin_reset(world: World, pin: str, first: str = "") -> Iterator[Draft]:
    for user, account, card in world.each_debit_card():
        yield Draft(
            user,
            reason="You forgot the PIN of your debit card and want to reset it.",
            details={
                _DIGITS: f"The last four digits are {card['last_4_digits']}.",
                **_wishes(pin, first),
            },
            calls=[
                *debit_cards(user, account),
                *hidden(
                    "reset_debit_card_pin_6284",
                    card_id=card["card_id"],
                    last_4_digits=card["last_4_digits"],
                    new_pin=pin,
                ),
            ],
            documents=[_PINS, *_FINDING],
        )


@scenario(_PINS)
def forgotten_pin(world: World) -> Iterator[Draft]:
    """A forgotten PIN is reset."""
    yield from _pin_reset(world, "4907")


@scenario(_PINS, personas.IMPATIENT)
def too_simple_a_pin(world: World) -> Iterator[Draft]:
    """The first choice is a row of digits; the second one counts."""
    yield from _pin_reset(world, "9316", first="4567")


@scenario(_PINS, personas.CAREFUL)
def another_pin(world: World) -> Iterator[Draft]:
    """The present PIN is known: it is changed, not reset."""
    for user, account, card in world.each_debit_card():
        yield Draft(
            user,
            reason="You know the PIN of your debit card and want to change it.",
            details={"current/present pin": "The current PIN is 6038.", "new pin": "The new PIN should be 2759."},
            calls=[
                *debit_cards(user, account),
                *hidden("change_debit_card_pin_6285", card_id=card["card_id"], current_pin="6038", new_pin="2759"),
            ],
            documents=[_PINS, *_FINDING],
        )


# Freezing and closing


def _one_card(
    world: World, story: str, tool: str, documents: list[str], status: str = "ACTIVE", **arguments: Any
) -> Iterator[Draft]:
    """Yield drafts in which one call with the card is all."""
    for user, account, card in world.each_debit_card():
        tables = {} if status == "ACTIVE" else {"debit_cards": {card["card_id"]: {"status": status}}}
        yield Draft(
            user,
            reason=story,
            calls=[*debit_cards(user, account), *hidden(tool, card_id=card["card_id"], **arguments)],
            documents=[*documents, *_FINDING],
            tables=tables,
            declines=["order new", "new card", "replacement"],
        )


@scenario(_FREEZE)
def freeze_a_misplaced_card(world: World) -> Iterator[Draft]:
    """A card that may be found again is frozen, not closed."""
    reason = "You misplaced your debit card somewhere at home and want it to be blocked until you find it."
    yield from _one_card(world, reason, "freeze_debit_card_3892", [_FREEZE])


@scenario(_FREEZE, personas.BREEZY)
def release_a_found_card(world: World) -> Iterator[Draft]:
    """A frozen card was found."""
    reason = "You found your debit card and want to unfreeze it."
    yield from _one_card(world, reason, "unfreeze_debit_card_3893", [_FREEZE], status="FROZEN")


@scenario("debit_card_closing")
def close_a_stolen_debit_card(world: World) -> Iterator[Draft]:
    """A stolen card is closed, not frozen; the customer wants no new one."""
    reason = "Your debit card was stolen and you want to close it. You do not need a new one now."
    yield from _one_card(world, reason, "close_debit_card_4721", ["debit_card_closing"], reason="stolen")


@scenario("debit_card_closing", personas.BRIEF)
def close_an_unwanted_debit_card(world: World) -> Iterator[Draft]:
    """A card that is not needed any more."""
    reason = "You do not need your debit card any longer and want to close it."
    yield from _one_card(world, reason, "close_debit_card_4721", ["debit_card_closing"], reason="no_longer_needed")


@scenario("debit_card_recurring")
def block_subscriptions(world: World) -> Iterator[Draft]:
    """All recurring payments are declined from now on."""
    reason = "You want to block all recurring payments of your debit card, as the subscriptions got out of hand."
    documents = ["debit_card_recurring"]
    yield from _one_card(world, reason, "set_debit_card_recurring_block_7382", documents, block_recurring=True)


DEBIT = (
    activate_a_first_card,
    activate_after_a_loss,
    activate_after_fraud,
    activate_after_expiry,
    activate_a_card_of_the_bank_s_choice,
    activate_with_wrong_digits,
    forgotten_pin,
    too_simple_a_pin,
    another_pin,
    freeze_a_misplaced_card,
    release_a_found_card,
    close_a_stolen_debit_card,
    close_an_unwanted_debit_card,
    block_subscriptions,
)
