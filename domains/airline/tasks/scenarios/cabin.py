"""Scenarios about changing cabins: all flights and everybody or nobody, and not once a flight has been flown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.models import Answer

from ...dates import add_days
from ...formatting import full_name
from ..personas import ANXIOUS, BRISK, STUBBORN
from ..trips import describe_method
from ..world import require_found
from .change import plain

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..trips import Trip
    from ..world import World

_CABIN, _PAYMENT = "Changing: cabin", "Changing: payment"


def upgrade_to_business(world: World, new_task: NewTask) -> Task:
    """Economy becomes business for everybody on every flight; the difference is stated and paid."""
    trip = world.trip(
        where=lambda t: plain(t) and t.people == 2 and t.is_round_trip and (t.upgrade("business") or 0) >= 100
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, card.id, cabin="business"))
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_CABIN,
        reason=f"You want to treat your companion and fly in business class: reservation {trip.id}.",
        known=f"You pay with {describe_method(card)}.",
        unknown="You do not know what that costs.",
        do="The flights stay the same. You ask for the price for everybody and all flights taken together, and "
        "agree to whatever it is.",
    )


def downgrade_refund(world: World, new_task: NewTask) -> Task:
    """Business becomes economy, and the difference goes to a gift card."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming and t.cabin == "business" and t.wallet.gift_cards and (t.upgrade("economy") or 0) <= -100
        )
    )
    card = trip.wallet.gift_cards[0]
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(-task.change_flights(trip, trip.flight_list, card.id, cabin="economy"))
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_CABIN,
        reason=f"Business class turns out to be beyond your means. Reservation {trip.id} is to be in economy.",
        known=f"Whatever you get back is to go to {describe_method(card)}.",
        unknown="You do not know how much you get back.",
        do="The flights stay the same; you do not want to cancel. You ask how much you get back altogether.",
        persona=ANXIOUS,
    )


def upgrade_from_basic(world: World, new_task: NewTask) -> Task:
    """The cabin of a reservation in basic economy can be changed, although its flights cannot."""
    trip = world.trip(
        where=lambda t: (
            t.upcoming
            and t.booked_days_ago
            and t.cabin == "basic_economy"
            and not t.insured
            and t.is_round_trip
            and (t.upgrade("economy") or 0) >= 100
        )
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, card.id, cabin="economy"))
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_CABIN,
        reason=f"You regret having booked basic economy and want regular economy for reservation {trip.id}.",
        known=f"You pay with {describe_method(card)}.",
        do="The flights stay the same, and so do the bags. You want to know the price in total and agree to it.",
    )


def downgrade_to_basic(world: World, new_task: NewTask) -> Task:
    """Economy becomes basic economy."""
    trip = world.trip(
        where=lambda t: plain(t) and t.one_way and t.people == 2 and (t.upgrade("basic_economy") or 0) < 0
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.change_flights(trip, trip.flight_list, card.id, cabin="basic_economy")
    task.ask(payment_method=describe_method(card))
    return task.build(
        rule=_CABIN,
        reason=f"You want to save money on reservation {trip.id}: the same flight, in basic economy.",
        known=f"The difference is to go to {describe_method(card)}.",
        do="You know that flights in basic economy cannot be changed later, and do not mind. If the agent tells you "
        "that fewer bags are free there, you do not mind that either, and leave the bags as they are.",
        persona=BRISK,
    )


def upgrade_flown_refused(world: World, new_task: NewTask) -> Task:
    """Once a flight has been flown, the cabin has to stay: that is declined, without a transfer; bags are added."""
    trip = world.trip(
        where=lambda t: t.statuses == ["landed", "available"] and t.cabin == "economy" and t.user.membership == "gold"
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, card.id)
    task.ask(
        insist=1,
        fallback=f"Then you want one more checked bag in reservation {trip.id}.",
        payment_method=describe_method(card),
    )
    return task.build(
        rule=_CABIN,
        reason=f"You have done the way out of reservation {trip.id} in economy, and your back hurts. You want business "
        "class on the way back.",
        known=f"You pay with {describe_method(card)}.",
        do="If business class is not possible, do not ask for a person or for another flight. You have bought a lot, "
        "though, and want one more checked bag in the reservation; agree to the price, if it costs anything.",
        persona=STUBBORN,
    )


def upgrade_one_person_refused(world: World, new_task: NewTask) -> Task:
    """One passenger alone cannot change cabins: that is declined; a bag is added."""
    trip = world.trip(where=lambda t: plain(t) and t.people == 2 and t.is_round_trip and t.user.membership == "silver")
    card, companion = trip.wallet.card, trip.reservation.passengers[1]
    task = new_task(trip.user)
    task.read(trip)
    task.add_bags(trip, 1, card.id)
    task.ask(
        fallback=f"Then leave the cabin as it is, and add one more checked bag to reservation {trip.id}.",
        payment_method=describe_method(card),
    )
    return task.build(
        rule=_CABIN,
        reason=f"You owe {full_name(companion)}, who travels with you on reservation {trip.id}, a favour, and want to "
        f"surprise {companion.first_name} with a seat in business class; you yourself stay in economy.",
        known=f"You pay with {describe_method(card)}.",
        do="Business class for both of you is too expensive, whatever it costs. If it is not possible for one person, "
        "leave the cabin as it is and have one more checked bag added for the presents; agree to the price, if any.",
    )


def upgrade_one_way_refused(world: World, new_task: NewTask) -> Task:
    """One flight alone cannot change cabins: it is all of them or none."""
    trip = world.trip(
        where=lambda t: plain(t) and t.is_round_trip and t.people == 1 and (t.upgrade("business") or 0) >= 100
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.communicate(task.change_flights(trip, trip.flight_list, card.id, cabin="business"))
    task.ask(
        fallback=f"Then you want business class both ways for reservation {trip.id}. What does that cost in total?",
        payment_method=describe_method(card),
    )
    return task.build(
        rule=_CABIN,
        reason=f"You want business class on the way out of reservation {trip.id}, and economy on the way back.",
        known=f"You pay with {describe_method(card)}.",
        do="If it has to be the same cabin both ways, you want business class both ways. You want to know what that "
        "costs in total, and agree to it.",
    )


def upgrade_over_budget(world: World, new_task: NewTask) -> Task:
    """Business costs more than the limit: the price is stated, the cabin stays, a birth date is corrected."""
    trip = world.trip(
        where=lambda t: plain(t) and t.people > 1 and (t.upgrade("business") or 0) > 300 and t.user.membership == "gold"
    )
    price = require_found(trip.upgrade("business"))
    companion = trip.reservation.passengers[-1]
    corrected = companion.model_copy(update={"dob": add_days(companion.dob, -9)})
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.change_passengers(trip, [*trip.reservation.passengers[:-1], corrected])
    task.communicate(price)
    task.ask(
        answers=[
            Answer(
                asks=["business which payment", "business confirm"],
                say="No, that is above my limit: leave the cabin as it is.",
            )
        ]
    )
    task.ask(
        f"The date of birth of {full_name(companion)} in reservation {trip.id} is wrong: it should be {corrected.dob}."
    )
    return task.build(
        rule="Changing: cabin; passengers",
        reason=f"You would like to fly in business class, everybody in reservation {trip.id}, if you can afford it.",
        known=f"Your limit is {price // 100 * 100 - 50} dollars in total. You have noticed that "
        f"{full_name(companion)}'s date of birth in the reservation is wrong: it should be {corrected.dob}.",
        unknown="You do not know what business class costs.",
        do="You want to be told the exact price for everybody and all flights. If it is above your limit, leave the "
        "cabin as it is. In either case the date of birth is to be corrected.",
    )


def upgrade_gift_card_too_small(world: World, new_task: NewTask) -> Task:
    """A change is paid with one payment method: a gift card that does not suffice cannot be combined with another."""

    def fits(t: Trip) -> bool:
        cards = t.wallet.gift_cards
        return plain(t) and bool(cards) and (t.upgrade("business") or 0) > cards[0].amount

    trip = world.trip(where=fits)
    gift_card, card = trip.wallet.gift_cards[0], trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.search_fares(trip)
    task.change_flights(trip, trip.flight_list, card.id, cabin="business")
    task.ask(
        payment_method=f"You want to use up {describe_method(gift_card)} first, and pay the rest with "
        f"{describe_method(card)}.",
        insist=1,
        fallback=f"Then pay everything with {describe_method(card)}.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"Reservation {trip.id} is to be changed to business class, for all flights and everybody.",
        known=f"You own {describe_method(gift_card).removeprefix('your ')} and "
        f"{describe_method(card).removeprefix('your ')}.",
        do="You want to use up the gift card first and pay the rest with the credit card. If the two cannot be "
        "combined, pay everything with the gift card; if it does not hold enough, pay everything with the credit card. "
        "You agree to the price.",
        persona=STUBBORN,
    )


CABINS = (
    upgrade_to_business,
    downgrade_refund,
    upgrade_from_basic,
    downgrade_to_basic,
    upgrade_flown_refused,
    upgrade_one_person_refused,
    upgrade_one_way_refused,
    upgrade_over_budget,
    upgrade_gift_card_too_small,
)
