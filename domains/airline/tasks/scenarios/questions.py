"""Scenarios about questions, and about what has to be handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dates import TODAY, add_days
from ...wallet import Wallet
from ..personas import BRISK, CHATTY, FORMAL
from ..routes import from_to
from ..trips import describe_method
from ..world import COMING, format_date, require_found
from .change import plain

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ...models import User
    from ..builder import NewTask
    from ..world import Offer, World


def information_balances(world: World, new_task: NewTask) -> Task:
    """The balances of gift cards and of certificates, each kind added up."""

    def worth(u: User) -> tuple[int, int]:
        wallet = Wallet(u)
        return int(sum(c.amount for c in wallet.gift_cards)), int(sum(c.amount for c in wallet.certificates))

    user = world.user(where=lambda u: len(Wallet(u).certificates) > 1 and Wallet(u).gift_cards and min(worth(u)) >= 100)
    task = new_task(user)
    task.read_profile()
    task.communicate(*worth(user))
    return task.build(
        rule="Records",
        reason="You wonder what credit is left to you with the airline: the balance of your gift cards, "
        "and the value of your travel certificates.",
        do="You want two sums in dollars, one for all gift cards and one for all certificates. You book nothing.",
        persona=BRISK,
    )


def information_paid(world: World, new_task: NewTask) -> Task:
    """The sum that has been paid for all reservations."""

    def fits(u: User) -> bool:
        trips = world.trips(u)
        return len(trips) > 1 and all(t.upcoming for t in trips)

    user = world.user(where=fits)
    trips = world.trips(user)
    task = new_task(user)
    task.read(*trips)
    task.call("calculate", expression=" + ".join(str(trip.paid) for trip in trips))
    task.communicate(sum(trip.paid for trip in trips))
    return task.build(
        rule="Records",
        reason="For your accounts you need one figure: what you have paid for all of your reservations together.",
        unknown="You know none of the reservation ids.",
        do="You want the total of everything paid, bags and insurance included. You change nothing.",
        persona=FORMAL,
    )


def information_price(world: World, new_task: NewTask) -> Task:
    """The price of the cheapest round trip for a family; nothing is booked."""

    def both_ways(origin: str, destination: str, there: str) -> tuple[Offer, Offer] | None:
        out = world.cheapest(origin, destination, there, "economy", 4)
        back = world.cheapest(destination, origin, add_days(there, 3), "economy", 4)
        return (out, back) if out and back and world.count_direct(origin, destination, there) > 1 else None

    user = world.user(where=lambda u: u.membership == "gold" and len(u.saved_passengers) > 2)
    ways = ((*ends, there) for there in COMING[3:7] for ends in world.pairs())
    out, back = require_found(next(filter(None, (both_ways(*way) for way in ways)), None))
    (flight,), (there,), (until,) = out.flights, out.dates, back.dates
    task = new_task(user)
    task.search_direct(flight.origin, flight.destination, there)
    task.search_direct(flight.destination, flight.origin, until)
    task.communicate(4 * (out.price + back.price))
    task.ask(
        cabin="Economy.",
        flights="The cheapest direct flight each way.",
        passengers="Four people.",
        baggage="No checked bags.",
        insurance="No insurance.",
    )
    return task.build(
        rule="Records",
        reason=f"You are thinking about a journey for four {from_to(flight.origin, flight.destination)} on "
        f"{format_date(there)} and back on {format_date(until)}, and want to know what it would cost.",
        do="You want to know the total for four people in economy, by the cheapest direct flight each way with four "
        "seats left, without bags and insurance. You only want the figure: you book nothing today.",
        persona=CHATTY,
    )


def information_delay(world: World, new_task: NewTask) -> Task:
    """The status of today's flight is looked up; nobody asked for compensation."""
    trip = world.trip(where=lambda t: t.statuses[:1] == ["delayed"])
    task = new_task(trip.user)
    task.read(trip)
    task.read_statuses(trip, 0)
    task.communicate("delayed")
    return task.build(
        rule="Records; Compensation (never volunteered)",
        reason=f"You are about to leave for the airport: does your flight of today, {format_date(TODAY)}, leave as "
        f"planned? The reservation is {trip.id}.",
        do="You only want to know how the flight stands. You ask for nothing else, and if you are offered "
        "anything, you do not want it.",
        persona=BRISK,
    )


def transfer_lost_bag(world: World, new_task: NewTask) -> Task:
    """A lost suitcase is beyond the tools and not forbidden: it is handed over."""
    trip = world.trip(where=lambda t: set(t.statuses) == {"landed"} and t.reservation.total_baggages > 0)
    task = new_task(trip.user)
    task.hand_over("A suitcase was not delivered after the flight; the user wants it searched for.")
    return task.build(
        rule="Transfer to a human agent",
        reason=f"After your last flight of reservation {trip.id} one of your checked suitcases was not on the "
        "belt. You want it to be searched for and sent to your home.",
        do="You are not after money or certificates: you want the suitcase. If the agent wants to transfer you, agree.",
    )


def transfer_email_after_bag(world: World, new_task: NewTask) -> Task:
    """A bag is added; then the e-mail address is to be changed, for which there is no tool: that is handed over."""
    trip = world.trip(where=lambda t: plain(t) and t.user.membership == "regular" and t.people == 1)
    task = new_task(trip.user)
    task.read_reservations(trip)
    task.add_bags(trip, 2, trip.wallet.card.id)
    task.hand_over("The user wants another e-mail address in the profile.")
    task.ask(
        f"You want two more checked bags on reservation {trip.id}.", payment_method=describe_method(trip.wallet.card)
    )
    task.ask(f"You want another e-mail address in your profile: {trip.user.name.first_name.lower()}@example.org.")
    return task.build(
        rule="Changing: bags and insurance; Transfer to a human agent",
        reason=f"First you want two more checked bags on reservation {trip.id}. After that you want another e-mail "
        "address in your profile.",
        known=f"You pay with {describe_method(trip.wallet.card)}. The new address is "
        f"{trip.user.name.first_name.lower()}@example.org.",
        do="Ask for the bags, and agree to the price. Only when they have been added do you bring up the e-mail "
        "address. If the agent wants to transfer you for it, agree.",
    )


def transfer_wheelchair(world: World, new_task: NewTask) -> Task:
    """A wheelchair at the gate is beyond the tools and not forbidden: it is handed over."""
    trip = world.trip(where=lambda t: t.upcoming and t.booked_days_ago and t.cabin == "business" and t.people == 1)
    task = new_task(trip.user)
    task.hand_over("The user needs a wheelchair at the airport.")
    return task.build(
        rule="Transfer to a human agent",
        reason="You have had an operation on your knee and need a wheelchair at the airport for reservation "
        f"{trip.id}.",
        do="You still want to fly, and nothing about the reservation itself is to be changed. If the agent wants to "
        "transfer you, agree.",
        persona=FORMAL,
    )


MIXED = (
    information_balances,
    information_paid,
    information_price,
    information_delay,
    transfer_lost_bag,
    transfer_email_after_bag,
    transfer_wheelchair,
)
