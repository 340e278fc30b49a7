"""Bags and passengers of a reservation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.dialog import Declined, Do
from ...formatting import full_name
from ...values import free_bags
from .. import parsing
from ..session import Plan
from .payment import ask_for_card, first_card
from .reservations import find_reservation

if TYPE_CHECKING:
    from ...._kit.dialog import Talk
    from ..session import Session


def add_bags(session: Session, text: str) -> Talk[list[Plan]]:
    """Add checked bags; those within the allowance of membership and cabin are free."""
    reservation = yield from find_reservation(session, text)
    user = yield from session.user()
    more = yield from session.find("How many checked bags should be added?", parsing.bag_count, text)
    total = reservation.total_baggages + more
    free = free_bags(session.values, user.membership, reservation.cabin) * len(reservation.passengers)
    nonfree = max(reservation.nonfree_baggages, total - free)
    price = session.values["extra_bag_fee"] * (nonfree - reservation.nonfree_baggages)
    name = reservation.reservation_id
    statement = (
        f"With {user.membership} membership and in {reservation.cabin.replace('_', ' ')}, {free} bags are free in "
        f"reservation {name}; {more} more cost ${price} in total."
    )
    method = (yield from ask_for_card(session, price, statement)) if price else first_card(user)
    return [
        Plan(
            f"I will add {more} checked bags to reservation {name}, {total} in all, for ${price} in total.",
            Do(
                "update_reservation_baggages",
                {
                    "reservation_id": name,
                    "total_baggages": total,
                    "nonfree_baggages": nonfree,
                    "payment_id": method.id,
                },
            ),
            f"Reservation {name} now has {total} checked bags; the additional ones have been booked for ${price}.",
        )
    ]


def change_passengers(session: Session, text: str) -> Talk[list[Plan]]:
    """Correct a passenger, or replace one by somebody else; the number stays."""
    reservation = yield from find_reservation(session, text)
    user = yield from session.user()

    def read(answer: str) -> list[str] | None:
        passengers = parsing.changed_passengers(answer, reservation, user)
        return [passenger.model_dump_json() for passenger in passengers] if passengers else None

    question = "Which passenger is meant, and what are the right name and date of birth?"
    yield from session.find(question, read, text)
    changed = parsing.changed_passengers(text, reservation, user)
    if changed is None:
        raise Declined("I did not understand who is to fly")
    pairs = zip(reservation.passengers, changed, strict=True)
    (old, new) = next((old, new) for old, new in pairs if old != new)
    name = reservation.reservation_id
    return [
        Plan(
            f"I will enter {full_name(new)}, born on {new.dob}, in place of {full_name(old)}, born on {old.dob}, in "
            f"reservation {name}.",
            Do(
                "update_reservation_passengers",
                {"reservation_id": name, "passengers": [passenger.model_dump() for passenger in changed]},
            ),
            f"The passengers of reservation {name} have been changed: {full_name(new)} flies, born on {new.dob}.",
        )
    ]
