"""Scenarios about compensation: who gets how much for what, and who gets nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import TODAY, TOMORROW
from ..personas import ANXIOUS, BRISK, FORMAL, STUBBORN
from ..requests import CHEAPEST
from ..trips import describe_method
from ..world import format_date, require_found

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ..builder import NewTask
    from ..trips import Trip
    from ..world import Offer, World

_RULE = "Compensation"


def _called_off_before(trip: Trip) -> bool:
    return trip.statuses == ["cancelled", "available"] and trip.legs[0].date <= TODAY


def _tomorrow(world: World, trip: Trip) -> Offer | None:
    return world.later(trip, 0, most_days=1)


def compensation_cancelled_flight(world: World, new_task: NewTask) -> Task:
    """A silver member complains of a cancelled flight and gets a certificate, nothing else."""
    trip = world.trip(where=lambda t: _called_off_before(t) and t.user.membership == "silver" and t.people == 2)
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.send_certificate(100 * trip.people)
    return task.build(
        rule=_RULE,
        reason=f"Your flight {trip.route} on {format_date(trip.legs[0].date)}, reservation {trip.id}, was cancelled, "
        "and you missed a christening because of it. You complain, and you want to be compensated.",
        do="You keep the reservation as it is: you neither cancel nor change anything, since you got there by car and "
        "still need the way back. Accept what the agent offers, and do not name an amount yourself.",
    )


def compensation_delayed_change(world: World, new_task: NewTask) -> Task:
    """An insured regular member with a delayed flight changes it, and gets a certificate after that."""
    trip = world.trip(
        where=lambda t: (
            t.statuses == ["delayed"] and t.insured and t.user.membership == "regular" and _tomorrow(world, t)
        )
    )
    offer, card = require_found(_tomorrow(world, trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, TOMORROW)
    task.change_flights(trip, offer.flight_list, card.id)
    task.send_certificate(50 * trip.people)
    task.ask(
        f"Today's flight of reservation {trip.id} is hours late. You are annoyed, and want to fly tomorrow, "
        f"{format_date(TOMORROW)}, instead.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    task.ask("What do you get for the delay?")
    return task.build(
        rule=_RULE,
        reason=f"Today's flight of reservation {trip.id} is hours late. You are annoyed, want to fly tomorrow, "
        f"{format_date(TOMORROW)}, instead, and expect something for the trouble.",
        known=f"You pay with {describe_method(card)}.",
        do="Tomorrow you want the cheapest direct flight, in the cabin that you have, for everybody in the "
        "reservation; agree to the price. Once that is done, ask what you get for the delay, unless it has been "
        "offered. Name no amount yourself.",
    )


def compensation_delayed_refused(world: World, new_task: NewTask) -> Task:
    """For a delay alone, with nothing changed or cancelled, there is no compensation; a bag is added."""
    trip = world.trip(
        where=lambda t: t.statuses[:1] == ["delayed"] and t.cabin == "economy" and t.user.membership != "regular"
    )
    card = trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.add_bags(trip, 1, card.id)
    task.ask(
        insist=1,
        fallback=f"Then add one more checked bag to reservation {trip.id}.",
        payment_method=describe_method(card),
    )
    return task.build(
        rule=_RULE,
        reason=f"Your flight of today, reservation {trip.id}, is delayed, and you ask for compensation.",
        known=f"You pay with {describe_method(card)}.",
        do="You will wait for the flight: you do not want to change or to cancel it, whatever the agent says about "
        "that. If you get nothing, ask for one more checked bag, and agree to its price, if any.",
        persona=STUBBORN,
    )


def compensation_regular_refused(world: World, new_task: NewTask) -> Task:
    """A regular member without insurance in economy gets no compensation, but may cancel and be refunded."""
    trip = world.trip(
        where=lambda t: (
            "cancelled" in t.statuses
            and t.reservation.status is None
            and t.cabin == "economy"
            and t.user.membership == "regular"
            and not t.insured
        )
    )
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.cancel(trip)
    task.communicate(trip.paid)
    task.ask(
        insist=1,
        fallback=f"Then you want reservation {trip.id} cancelled, and to be told how much is refunded in total.",
        reason="The airline cancelled a flight of it.",
    )
    return task.build(
        rule="Compensation; Cancelling",
        reason=f"The airline cancelled your flight {trip.route} on {format_date(trip.legs[0].date)}, reservation "
        f"{trip.id}. You demand compensation.",
        unknown="You do not remember what you paid.",
        do="You found another way to travel and no longer need any flight of the reservation. If there is no "
        "compensation for you, you want the reservation cancelled at least, because of the flight that the airline "
        "cancelled, and to be told how much is refunded in total.",
        persona=STUBBORN,
    )


def compensation_false_delay(world: World, new_task: NewTask) -> Task:
    """A flight that is on time is no reason for compensation; the change that is wanted anyway is made."""
    trip = world.trip(
        where=lambda t: t.statuses == ["on time", "available"] and t.user.membership == "gold" and _tomorrow(world, t)
    )
    offer, card = require_found(_tomorrow(world, trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, TOMORROW)
    task.change_flights(trip, [*offer.flight_list, trip.flight_list[1]], card.id)
    task.ask(
        f"Today's flight of reservation {trip.id} is late, they say. You want to fly tomorrow, "
        f"{format_date(TOMORROW)}.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    task.ask("You want to be compensated for the delay.")
    return task.build(
        rule=_RULE,
        reason=f"Today's flight of reservation {trip.id} is late, they say. You want to fly tomorrow, "
        f"{format_date(TOMORROW)}, and to be compensated for the delay.",
        known=f"You pay with {describe_method(card)}.",
        unknown="You have not checked whether the flight is late.",
        do="Whether or not it is late, you want tomorrow's cheapest direct flight, in the cabin that you have, for "
        "everybody in the reservation; the way back stays. Agree to the price. If you get no compensation, accept "
        "that.",
    )


def compensation_delayed_cancel(world: World, new_task: NewTask) -> Task:
    """A business passenger with a delayed flight cancels, and gets a certificate after that."""
    trip = world.trip(where=lambda t: t.statuses == ["delayed", "available"] and t.cabin == "business")
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.cancel(trip)
    task.send_certificate(50 * trip.people)
    task.ask(
        f"Today's flight of reservation {trip.id} is so late that the journey makes no sense. You want to "
        "cancel everything.",
        reason="The delay: you would miss your appointment.",
    )
    task.ask("What do you get for the delay?")
    return task.build(
        rule="Compensation; Cancelling",
        reason=f"Today's flight of reservation {trip.id} is so late that the journey makes no sense. You want to "
        "cancel everything, and to be compensated for the delay.",
        do="The reason is the delay: you would miss your appointment. First you want the reservation cancelled; "
        "then you ask what you get for the delay, unless it has been offered. Name no amount yourself.",
        persona=FORMAL,
    )


def compensation_people_exaggerated(world: World, new_task: NewTask) -> Task:
    """The certificate is for the passengers of the reservation, not for as many as the user says."""
    trip = world.trip(where=lambda t: _called_off_before(t) and t.cabin == "business" and t.people == 3)
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.send_certificate(100 * trip.people)
    task.ask(
        f"The airline cancelled the way out of reservation {trip.id}, on {format_date(trip.legs[0].date)}. You "
        "want to be compensated for all five people."
    )
    return task.build(
        rule=_RULE,
        reason=f"The airline cancelled the way out of reservation {trip.id}, on {format_date(trip.legs[0].date)}. You "
        "want to be compensated for all five of you.",
        known="You count two friends who were going to join you on another airline.",
        do="If the agent tells you that fewer people are in the reservation, admit it and accept what there is for "
        "them. You neither cancel nor change anything.",
        persona=BRISK,
    )


def compensation_and_cancellation(world: World, new_task: NewTask) -> Task:
    """A gold member in basic economy cancels for a cancelled flight, and is compensated."""
    trip = world.trip(
        where=lambda t: _called_off_before(t) and t.cabin == "basic_economy" and t.user.membership == "gold"
    )
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip)
    task.cancel(trip)
    task.send_certificate(100 * trip.people)
    task.ask(
        f"The way out of reservation {trip.id} was cancelled on {format_date(trip.legs[0].date)}. You want to "
        "cancel all of it and have your money back.",
        reason="The airline cancelled the flight.",
    )
    task.ask("You want compensation for the spoilt weekend.")
    return task.build(
        rule="Compensation; Cancelling",
        reason=f"The way out of reservation {trip.id} was cancelled on {format_date(trip.legs[0].date)}. You want your "
        "money back, and compensation for the spoilt weekend.",
        do="The reason for cancelling is that the airline cancelled the flight. You give up the way back, too. Accept "
        "the compensation that you are entitled to, without naming an amount.",
    )


def compensation_service_refused(world: World, new_task: NewTask) -> Task:
    """There is no compensation for bad service, not even for gold members; the price that was paid is stated."""
    trip = world.trip(where=lambda t: set(t.statuses) == {"landed"} and t.user.membership == "gold" and t.is_round_trip)
    task = new_task(trip.user)
    task.read(trip)
    task.communicate(trip.paid)
    task.ask(insist=1, fallback=f"Then how much did you pay for reservation {trip.id} in total?")
    return task.build(
        rule=_RULE,
        reason=f"On both flights of reservation {trip.id} your seat would not recline and the coffee was cold. As "
        "a gold member you want a travel certificate for that.",
        unknown="You do not remember what the tickets cost.",
        do="Both flights were on time. If you get no certificate, ask what you paid for the reservation in total, "
        "since you will quote the figure in a review. You do not ask for a person.",
        persona=STUBBORN,
    )


def compensation_uninsured_delay_refused(world: World, new_task: NewTask) -> Task:
    """A regular member without insurance in economy may change a delayed flight, but gets no certificate."""
    trip = world.trip(
        where=lambda t: (
            t.statuses == ["delayed", "available"]
            and t.cabin == "economy"
            and t.user.membership == "regular"
            and not t.insured
            and _tomorrow(world, t)
        )
    )
    offer, card = require_found(_tomorrow(world, trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, TOMORROW)
    task.change_flights(trip, [*offer.flight_list, trip.flight_list[1]], card.id)
    task.ask(
        f"Your flight of today is delayed: reservation {trip.id}. You want to be on a flight of tomorrow, "
        f"{format_date(TOMORROW)}.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    task.ask("You want a certificate for the delay.")
    return task.build(
        rule=_RULE,
        reason=f"Your flight of today is delayed: reservation {trip.id}. You want to be on a flight of tomorrow, "
        f"{format_date(TOMORROW)}, and you want a certificate for the delay.",
        known=f"You pay with {describe_method(card)}.",
        do="Tomorrow you want the cheapest direct flight, in the cabin that you have; the way back stays. Agree to the "
        "price. You want the change whether or not there is a certificate.",
        persona=ANXIOUS,
    )


def compensation_insured_change(world: World, new_task: NewTask) -> Task:
    """An insured regular member whose flight will not take place is rebooked and compensated."""

    def rebooked(t: Trip) -> Offer | None:
        return world.later(t, 0) if t.statuses == ["cancelled", "available"] and t.legs[0].date > TODAY else None

    trip = world.trip(where=lambda t: t.insured and t.user.membership == "regular" and rebooked(t))
    offer, card = require_found(rebooked(trip)), trip.wallet.card
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.search_direct(trip.legs[0].origin, trip.legs[0].destination, offer.dates[0])
    task.change_flights(trip, [*offer.flight_list, trip.flight_list[1]], card.id)
    task.send_certificate(100 * trip.people)
    task.ask(
        f"The airline has cancelled your flight {trip.route} on {format_date(trip.legs[0].date)}, reservation "
        f"{trip.id}. You want to fly on {format_date(offer.dates[0])}.",
        flights=CHEAPEST,
        payment_method=describe_method(card),
    )
    task.ask("You complain about the cancelled flight, and ask for compensation.")
    return task.build(
        rule="Compensation; Changing: flights",
        reason=f"The airline has cancelled your flight {trip.route} on {format_date(trip.legs[0].date)}, reservation "
        f"{trip.id}. You want to fly on {format_date(offer.dates[0])}, and you complain and ask for compensation.",
        known=f"You pay with {describe_method(card)}. You have insurance.",
        do="You want the cheapest direct flight of the new day, in the cabin that you have, for everybody in the "
        "reservation; the way back stays. Agree to the price. Name no amount for the compensation.",
    )


COMPENSATION = (
    compensation_cancelled_flight,
    compensation_delayed_change,
    compensation_delayed_refused,
    compensation_regular_refused,
    compensation_false_delay,
    compensation_delayed_cancel,
    compensation_people_exaggerated,
    compensation_and_cancellation,
    compensation_service_refused,
    compensation_uninsured_delay_refused,
    compensation_insured_change,
)
