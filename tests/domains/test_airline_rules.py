"""The airline's rules agent: what it solves, what it does before anything else, what it refuses, what it understands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import pytest
from talks import Conversation, base_talks, calls_with_answers

from pytest_tau.models import AssistantMessage
from pytest_tau_domains._kit.dialog import NOTICE, Declined
from pytest_tau_domains.airline import domain as spec
from pytest_tau_domains.airline.agent import parsing as reading
from pytest_tau_domains.airline.agent.policy.payment import first_card, methods_in
from pytest_tau_domains.airline.agent.requests import recognise
from pytest_tau_domains.airline.agent.rules_agent import RulesAgent
from pytest_tau_domains.airline.tasks.trips import Trip

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.models import Simulation
    from pytest_tau_domains.airline.models import AirlineDB

DOMAIN = spec.load()
DB = cast("AirlineDB", DOMAIN.environment().agent_db)
TRIPS = [Trip(DB, one, DB.user(one.user_id)) for one in DB.reservations.scan()]
WRITING = {name for name, info in DOMAIN.environment().tool_infos.items() if info.kind == "write"}


def conversation() -> Conversation:
    return Conversation(RulesAgent(), DOMAIN.environment())


@pytest.fixture(scope="module")
def simulations() -> dict[str, Simulation]:
    return base_talks("airline", "rules")


def trip_with(fits: Callable[[Trip], object]) -> Trip:
    return next(trip for trip in TRIPS if fits(trip))


def plain(trip: Trip) -> bool:
    """Ahead, in economy, booked long ago, without insurance."""
    return trip.upcoming and trip.booked_days_ago and trip.cabin == "economy" and not trip.insured


def about(trip: Trip, request: str) -> str:
    return f"My user id is {trip.user.user_id}. {request.format(id=trip.id)}"


# The bundled tasks


def test_it_looks_at_nothing_before_the_user_is_found(simulations: dict[str, Simulation]) -> None:
    for task_id, simulation in simulations.items():
        first, answer = calls_with_answers(simulation)[0]
        assert first.name == "get_user_details", task_id
        assert not answer.error, task_id


def test_compensation_is_never_brought_up(simulations: dict[str, Simulation]) -> None:
    for task_id in ("change-called-off-flight", "information-delay", "cancel-return-of-called-off"):
        said = " ".join(m.content or "" for m in simulations[task_id].messages if isinstance(m, AssistantMessage))
        assert not re.search(r"compensat|certificate", said)


# Identification


def test_a_name_and_a_reservation_do_not_identify_anybody() -> None:
    trip = trip_with(lambda t: t.upcoming and t.hours < 20)
    talk = conversation()
    assert "user id" in talk.say(f"I am {trip.user.name.first_name}, cancel reservation {trip.id}.")
    assert "user id" in talk.say("But that is my reservation.")
    assert not talk.calls
    assert "do not find" in talk.say("My user id is no_body_1234.")
    assert "reason" in talk.say(f"My user id is {trip.user.user_id}.")
    assert ("get_reservation_details", {"reservation_id": trip.id}) in talk.calls


def test_somebody_elses_reservation_is_not_even_looked_at() -> None:
    trip = trip_with(lambda t: t.upcoming)
    foreign = trip_with(lambda t: t.user is not trip.user)
    talk = conversation()
    answer = talk.say(f"My user id is {trip.user.user_id}. Cancel reservation {foreign.id}.")
    assert "not among yours" in answer
    assert {name for name, _ in talk.calls} == {"get_user_details"}


def test_a_reservation_is_found_by_its_way() -> None:
    trip = trip_with(lambda t: t.upcoming and t.hours < 20)
    talk = conversation()
    assert "reason" in talk.say(f"My user id is {trip.user.user_id}. Cancel my reservation {trip.route}, please.")
    assert trip.id in talk.say("My plans have changed.")


# Confirmation


def test_no_and_conditional_yes_change_nothing() -> None:
    trip = trip_with(lambda t: t.upcoming and t.hours < 20)
    talk = conversation()
    talk.say(about(trip, "Cancel reservation {id}."))
    assert f"${trip.paid}" in talk.say("My plans have changed.")
    assert "as it is" in talk.say("Yes, but I have to think about it.")
    talk.say(f"Cancel reservation {trip.id}, please.")
    talk.say("My plans have changed.")
    assert "as it is" in talk.say("No, leave it.")
    assert not talk.writes
    talk.say(f"After all, cancel reservation {trip.id}.")
    talk.say("My plans have changed.")
    assert "has been cancelled" in talk.say("Yes.")
    assert talk.writes == ["cancel_reservation"]


def test_the_same_request_once_more_is_not_carried_out_twice() -> None:
    trip = trip_with(lambda t: plain(t) and t.reservation.total_baggages < t.free_bags)
    talk = conversation()
    request = about(trip, "I want one more bag on reservation {id}.")
    talk.say(request)
    talk.say("Yes.")
    assert "has" in talk.say(request)
    assert talk.writes == ["update_reservation_baggages"]


def test_another_request_instead_of_a_yes_is_handled() -> None:
    trip = trip_with(lambda t: t.upcoming and t.hours < 20)
    talk = conversation()
    talk.say(about(trip, "Cancel reservation {id}."))
    assert "Do you confirm" in talk.say("My plans have changed.")
    assert "insurance cannot be added" in talk.say(f"I would rather add travel insurance to reservation {trip.id}.")
    assert not talk.writes


# Refusals


@pytest.mark.parametrize(
    ("fits", "request_", "said"),
    [
        (plain, "Cancel reservation {id}, please.", "more than 24 hours"),
        (plain, "I want one checked bag less on reservation {id}.", "cannot be taken away"),
        (plain, "I want to add travel insurance to reservation {id}.", "cannot be added after booking"),
        (plain, "I want business class on the way back of reservation {id}.", "all flights together"),
        (plain, "I complain about reservation {id}.", "compensation is for silver and gold|no flight of reservation"),
        (plain, "My son wants to come along on reservation {id}.", "number of passengers"),
        (plain, "I want a flight back added to reservation {id}.", "trip type"),
        (lambda t: t.upcoming and t.cabin == "basic_economy", "Move my flight of {id} to May 27.", "basic economy"),
        (lambda t: "landed" in t.statuses, "I want all of reservation {id} in business.", "has been flown"),
        (lambda t: t.reservation.status == "cancelled", "Add one bag to reservation {id}.", "cancelled before"),
    ],
)
def test_what_the_policy_forbids_is_declined(fits: Callable[[Trip], object], request_: str, said: str) -> None:
    talk = conversation()
    answer = talk.say(about(trip_with(fits), request_))
    if "reason" in answer:
        answer = talk.say("I would rather stay at home.")
    assert re.search(said, answer)
    assert answer.startswith("Unfortunately")
    assert not talk.writes


def test_insurance_pays_for_illness_and_for_nothing_else() -> None:
    trip = trip_with(lambda t: t.upcoming and t.booked_days_ago and t.insured and t.cabin == "economy")
    for reason, said in (("My boss needs me.", "no insurance that covers"), ("I broke my leg.", "Do you confirm")):
        talk = conversation()
        talk.say(about(trip, "Cancel reservation {id}."))
        assert said in talk.say(reason)


@pytest.mark.parametrize(
    ("fits", "request_"),
    [
        (lambda t: t.statuses == ["landed", "available"], "Cancel reservation {id}, please."),
        (lambda t: t.upcoming, "I need a wheelchair for reservation {id}."),
        (lambda t: t.upcoming, "I want another e-mail address in my profile."),
    ],
)
def test_what_only_a_person_can_do_is_handed_over(fits: Callable[[Trip], object], request_: str) -> None:
    talk = conversation()
    assert talk.say(about(trip_with(fits), request_)) == NOTICE
    assert talk.calls[-1][0] == "transfer_to_human_agents"
    assert not talk.writes
    assert talk.say("Hello?") == NOTICE


def test_a_delay_is_made_up_for_once_the_flight_has_been_changed() -> None:
    trip = trip_with(lambda t: t.statuses == ["delayed", "available"] and t.cabin == "business")
    talk = conversation()
    assert "only once" in talk.say(about(trip, "I complain about the delay of reservation {id}."))
    talk.say(f"Then cancel reservation {trip.id}.")
    talk.say("I would be late.")
    assert "has been cancelled" in talk.say("Yes.")
    assert f"${50 * trip.people}" in talk.say("What do I get for the delay?")
    assert "has been sent" in talk.say("Yes.")
    assert talk.writes == ["cancel_reservation", "send_certificate"]


# Reading


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("My plans have changed, cancel reservation 2L2CJW.", ["cancel"]),
        ("The airline cancelled my flight. I demand compensation.", ["compensation"]),
        ("I do not want to cancel reservation 2L2CJW.", []),
        ("How much do I get back if you cancel 2L2CJW?", ["cancel"]),
        ("How much will be refunded?", ["refunds"]),
        ("I want to fly from Boston to Denver in business class with two bags.", ["book"]),
        ("I regret having booked basic economy and want economy.", ["cabin"]),
        ("Now I want two more checked bags on reservation 2L2CJW.", ["bags"]),
        ("I want to come home on May 27 instead: reservation CAYU07.", ["flights"]),
        ("Hello there.", []),
    ],
)
def test_requests_are_recognised(text: str, kinds: list[str]) -> None:
    assert [kind.name for kind in recognise(text)] == kinds


def test_flight_numbers_are_no_reservations() -> None:
    assert reading.reservation_ids("HAT249 of reservation 3LZ3WR, not ABCD or 123456") == ["3LZ3WR"]


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on May 18, May 19 or May 20", ["2024-05-18", "2024-05-19", "2024-05-20"]),
        ("tomorrow, May 16", ["2024-05-16"]),
        ("on 2024-05-21 instead of today", ["2024-05-21", "2024-05-15"]),
        ("some day", []),
    ],
)
def test_days_are_read(text: str, dates: list[str]) -> None:
    assert reading.dates(text) == dates


@pytest.mark.parametrize(
    ("text", "bags"),
    [("no checked bags", 0), ("Three checked bags.", 3), ("one bag more", 1), ("4 bags", 4), ("I do not know", None)],
)
def test_bags_are_counted(text: str, bags: int | None) -> None:
    assert reading.bag_count(text) == bags


def test_route_distinguishes_the_airports_of_new_york() -> None:
    assert reading.route("from New York (JFK) to New York (LaGuardia)") == ("JFK", "LGA")
    assert reading.route("one way from ORD to PHL") == ("ORD", "PHL")


def test_payment_methods_are_read_in_order() -> None:
    user = next(
        u for u in DB.users.scan() if {m.source for m in u.payment_methods.values()} >= {"gift_card", "certificate"}
    )
    found = methods_in("First my certificate, then my gift card, and the rest on my credit card.", user)
    assert [method.source for method in found] == ["certificate", "gift_card", "credit_card"]
    with pytest.raises(Declined, match="not in your profile"):
        methods_in("credit_card_0000000", user)
    with pytest.raises(Declined, match="what is in your profile"):
        methods_in("my new credit card", user)


def test_a_free_bag_needs_no_credit_card_but_some_card() -> None:
    user = next(u for u in DB.users.scan() if any(m.source == "gift_card" for m in u.payment_methods.values()))
    left = {key: method for key, method in user.payment_methods.items() if method.source != "credit_card"}
    assert first_card(user.model_copy(update={"payment_methods": left})).source == "gift_card"
    with pytest.raises(Declined, match="no credit card and no gift card"):
        first_card(user.model_copy(update={"payment_methods": {}}))
