"""The bundled airline data: how it is made, that its records fit each other, and that its tasks are sound."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

import pytest
from for_each import for_each

from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.models import GREETING, REWARD_TYPES
from pytest_tau_domains.airline import domain as spec
from pytest_tau_domains.airline.dates import MOMENT, TODAY
from pytest_tau_domains.airline.models import Available, CreditCard
from pytest_tau_domains.airline.search import AIRPORTS
from pytest_tau_domains.airline.tasks.data.people import travellers
from pytest_tau_domains.airline.tasks.data.timetable import DAYS
from pytest_tau_domains.airline.tasks.generator import SMALL
from pytest_tau_domains.airline.tasks.scenarios import SCENARIOS
from pytest_tau_domains.airline.tasks.trips import Trip
from pytest_tau_domains.airline.tasks.verify import verify
from pytest_tau_domains.airline.tasks.world import World
from pytest_tau_domains.airline.tools import AirlineTools
from pytest_tau_domains.airline.values import VALUES, free_bags

if TYPE_CHECKING:
    from pytest_tau.models import Action, Task
    from pytest_tau_domains.airline.models import AirlineDB

pytestmark = pytest.mark.exhaustive

DOMAIN = spec.load()
DB = cast("AirlineDB", DOMAIN.environment().agent_db)
TASKS = DOMAIN.tasks(split=None)
IDS = [task.id for task in TASKS]
TRIPS = [Trip(DB, reservation, DB.user(reservation.user_id)) for reservation in DB.reservations.scan()]
WRITING = {name for name, info in AirlineTools(DB.fork()).tool_infos.items() if info.mutates}
TRANSFER = "transfer_to_human_agents"
every_task = for_each({task.id: task for task in TASKS})


def task_called(task_id: str) -> Task:
    return next(task for task in TASKS if task.id == task_id)


def actions(task: Task) -> list[Action]:
    return task.criteria.actions or []


def altered(task: Task, **criteria: Any) -> Task:
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update=criteria)})


# The files


# Flights


def test_flights_cover_all_airports_and_the_whole_calendar() -> None:
    flights = list(DB.flights.scan())
    assert 60 <= len(flights) <= 80
    codes = {code for code, _ in AIRPORTS}
    assert {flight.origin for flight in flights} == {flight.destination for flight in flights} == codes
    for flight in flights:
        assert list(flight.dates) == list(DAYS)
        assert (DAYS[0], DAYS[-1]) == ("2024-05-01", "2024-05-30")
        assert re.fullmatch(r"\d\d:\d\d:00", flight.scheduled_departure_time_est)
        assert re.fullmatch(r"\d\d:\d\d:00(\+1)?", flight.scheduled_arrival_time_est)
        overnight = "+1" in flight.scheduled_arrival_time_est
        assert overnight == (flight.scheduled_arrival_time_est[:8] < flight.scheduled_departure_time_est)


def test_what_a_day_says_fits_the_moment() -> None:
    moment, seen = MOMENT.isoformat(), Counter[str]()
    for flight in DB.flights.scan():
        for date, day in flight.dates.items():
            seen[day.status] += 1
            fields = day.model_dump()
            leaves = next((time for name, time in fields.items() if "departure" in name), None)
            arrives = next((time for name, time in fields.items() if "arrival" in name), None)
            if isinstance(day, Available):
                assert date > TODAY
                assert list(day.available_seats) == list(day.prices) == ["basic_economy", "economy", "business"]
                assert day.prices["basic_economy"] < day.prices["economy"] < day.prices["business"]
                assert min(day.available_seats.values()) >= 0
            elif day.status == "landed":
                assert date <= TODAY
                assert leaves < arrives <= moment
            elif day.status == "flying":
                assert leaves <= moment < arrives
            elif day.status in ("on time", "delayed"):
                assert date == TODAY
                assert moment < leaves < arrives
                assert (
                    leaves[11:] > flight.scheduled_departure_time_est or leaves[:10] > date
                ) or day.status != "delayed"
    assert set(seen) == {"available", "landed", "flying", "on time", "delayed", "cancelled"}


def test_there_is_something_to_choose_and_something_sold_out() -> None:
    days = [day for flight in DB.flights.scan() for day in flight.dates.values() if isinstance(day, Available)]
    assert {0 in day.available_seats.values() for day in days} == {True, False}
    world = World(DB)
    assert max(world.count_direct(*ends, "2024-05-20") for ends in world.pairs()) >= 3
    connected = [ends for ends in world.unconnected() if world.connections(*ends, "2024-05-20", "economy")]
    assert len(connected) > 50


# Users and reservations


def test_users_are_complete_and_unmistakable() -> None:
    users = list(DB.users.scan())
    assert len(users) == 60
    assert {user.membership for user in users} == {"regular", "silver", "gold"}
    assert len({(user.name.first_name, user.name.last_name) for user in users}) == 60
    method_ids = [method_id for user in users for method_id in user.payment_methods]
    assert len(method_ids) == len(set(method_ids))
    for user in users:
        assert re.fullmatch(r"[a-z]+_[a-z]+_\d{4}", user.user_id)
        assert user.email.endswith("@example.com")
        assert "1950" <= user.dob <= "2004"
        assert any(isinstance(method, CreditCard) for method in user.payment_methods.values())
        for method_id, method in user.payment_methods.items():
            assert method_id == method.id
            assert re.fullmatch(rf"{method.source}_\d{{7}}", method_id)
            assert isinstance(method, CreditCard) or (method.amount > 0 and method.amount == int(method.amount))


def test_reservations_belong_to_users_and_lie_on_flights() -> None:
    owned = Counter(trip_id for user in DB.users.scan() for trip_id in user.reservations)
    assert owned == dict.fromkeys(DB.reservations, 1)
    for trip in TRIPS:
        booked = trip.reservation
        assert trip.id in trip.user.reservations
        assert re.fullmatch(r"[A-Z0-9]{6}", trip.id)
        assert not trip.id.startswith("HATHA")
        for leg in trip.legs:
            flight = DB.flight(leg.flight_number)
            assert (leg.origin, leg.destination) == (flight.origin, flight.destination)
            assert leg.date in flight.dates
        ends = [(leg.origin, leg.destination) for leg in trip.legs]
        assert all(here[1] == there[0] for here, there in itertools.pairwise(ends))
        assert ends[0][0] == booked.origin
        if booked.flight_type == "round_trip":
            assert ends[-1][1] == booked.origin
            assert booked.destination in {destination for _, destination in ends}
            assert trip.legs[0].date < trip.legs[-1].date
        else:
            assert ends[-1][1] == booked.destination != booked.origin


def test_reservations_are_paid_for() -> None:
    for trip in TRIPS:
        booked = trip.reservation
        total = sum(leg.price for leg in trip.legs) * trip.people
        total += 30 * trip.people * trip.insured + 50 * booked.nonfree_baggages
        assert trip.paid == (0 if booked.status == "cancelled" else total)
        for payment in booked.payment_history:
            # A certificate is gone once it has been spent.
            assert payment.payment_id in trip.user.payment_methods or payment.payment_id.startswith("certificate_")
        free = free_bags(VALUES, trip.user.membership, trip.cabin) * trip.people
        assert booked.nonfree_baggages == max(0, booked.total_baggages - free)


def test_reservations_were_made_before_they_were_flown() -> None:
    for trip in TRIPS:
        assert trip.hours > 0
        assert trip.reservation.created_at < trip.legs[0].date
        expected = travellers(trip.user.model_dump(), trip.people)
        assert [passenger.model_dump() for passenger in trip.reservation.passengers] == expected


def test_reservations_are_of_all_sorts() -> None:
    sorts = Counter(sort for trip in TRIPS for sort in (trip.cabin, trip.user.membership, *trip.statuses))
    assert set(sorts) >= {"basic_economy", "economy", "business", "regular", "silver", "gold"}
    assert set(sorts) >= {"available", "landed", "flying", "on time", "delayed", "cancelled"}
    assert {trip.insured for trip in TRIPS} == {True, False}
    assert {trip.reservation.flight_type for trip in TRIPS} == {"one_way", "round_trip"}
    assert {trip.hours < 24 for trip in TRIPS} == {True, False}
    assert any(24 < trip.hours < 48 for trip in TRIPS)
    assert any(trip.statuses == ["landed", "available"] for trip in TRIPS)


# The set of tasks


def test_every_scenario_has_its_task() -> None:
    assert [scenario.task_id for scenario in SCENARIOS] == IDS
    assert len(set(IDS)) == len(IDS) >= 64
    assert all(re.fullmatch(r"[a-z0-9-]{3,40}", task_id) for task_id in IDS)


def test_splits() -> None:
    splits = DOMAIN.splits
    assert set(splits) == {"base", "train", "test", "small"}
    assert splits["base"] == IDS
    assert not set(splits["train"]) & set(splits["test"])
    assert {*splits["train"], *splits["test"]} == set(IDS)
    assert len(splits["train"]) == 2 * len(splits["test"])
    assert splits["small"] == list(SMALL)
    assert len(set(SMALL) & set(IDS)) == len(SMALL) == 12


def test_every_tool_is_needed_somewhere() -> None:
    used = Counter(action.name for task in TASKS for action in actions(task))
    assert set(used) >= {*WRITING, TRANSFER, "search_direct_flight", "search_onestop_flight", "get_flight_status"}
    assert min(used[tool] for tool in WRITING) >= 5


def test_rules_that_only_the_policy_has_are_covered() -> None:
    assert sum("refused" in task.id for task in TASKS) >= 20
    assert {rule for task in TASKS for rule in re.split("[;:(]", relevant(task))} >= {
        "Booking",
        "Cancelling",
        "Changing",
        "Compensation",
        "Transfer to a human agent",
        " checked bags",
        " payment",
        " insurance",
    }


def relevant(task: Task) -> str:
    assert task.description is not None
    return task.description.relevant_policies or ""


def test_some_tasks_ask_for_several_things_and_some_for_a_word() -> None:
    writes = [sum(action.name in WRITING for action in actions(task)) for task in TASKS]
    assert {0, 1, 2} <= set(writes)
    assert sum(bool(task.criteria.communicate_info) for task in TASKS) >= 25


# Each task


@every_task
def test_task_is_sound(task: Task) -> None:
    verify(task, DB, GREETING)
    assert set(task.criteria.reward_basis) <= set(REWARD_TYPES)
    transfers = any(action.name == TRANSFER for action in actions(task))
    assert task.criteria.reward_basis == ["DB", "COMMUNICATE", *["ACTION"] * transfers]
    text = str(task.user_scenario)
    assert not re.search(r"[{}]|\bNone\b|  ", text)
    assert task.description is not None
    assert task.description.purpose


@every_task
def test_reference_follows_what_the_policy_says_in_figures(task: Task) -> None:
    environment = DOMAIN.environment()
    for action in actions(task):
        arguments = action.arguments
        if action.name == "book_reservation":
            check_booking(arguments)
        if action.name == "cancel_reservation":
            trip = next(trip for trip in TRIPS if trip.id == arguments["reservation_id"])
            assert may_be_cancelled(trip)
        if action.name == "update_reservation_baggages":
            booked = cast("AirlineDB", environment.agent_db).reservation(arguments["reservation_id"])
            free = free_bags(VALUES, DB.user(booked.user_id).membership, booked.cabin) * len(booked.passengers)
            assert arguments["total_baggages"] > booked.total_baggages
            assert arguments["nonfree_baggages"] == max(0, arguments["total_baggages"] - free)
        if action.name == "update_reservation_flights":
            booked = cast("AirlineDB", environment.agent_db).reservation(arguments["reservation_id"])
            flights = [(flight["flight_number"], flight["date"]) for flight in arguments["flights"]]
            same = flights == [(leg.flight_number, leg.date) for leg in booked.flights]
            assert same or booked.cabin != "basic_economy"
            ends = [(DB.flight(number).origin, DB.flight(number).destination) for number, _ in flights]
            assert ends == [(leg.origin, leg.destination) for leg in booked.flights]
        environment.call(action.name, arguments)


def check_booking(arguments: dict[str, Any]) -> None:
    user, people = DB.user(arguments["user_id"]), len(arguments["passengers"])
    assert people <= 5
    sources = Counter(user.payment_methods[payment["payment_id"]].source for payment in arguments["payment_methods"])
    assert sources["certificate"] <= 1
    assert sources["credit_card"] <= 1
    assert sources["gift_card"] <= 3
    free = free_bags(VALUES, user.membership, arguments["cabin"]) * people
    assert arguments["nonfree_baggages"] == max(0, arguments["total_baggages"] - free)


def may_be_cancelled(trip: Trip) -> bool:
    statuses = set(trip.statuses)
    excuse = trip.hours < 24 or trip.cabin == "business" or trip.insured or "cancelled" in statuses
    return excuse and not statuses & {"landed", "flying"} and trip.reservation.status is None


def test_compensation_goes_to_those_who_can_get_any() -> None:
    sent = 0
    for task in TASKS:
        certificates = [action.arguments["amount"] for action in actions(task) if action.name == "send_certificate"]
        looked_at = [a.arguments["reservation_id"] for a in actions(task) if a.name == "get_reservation_details"]
        for amount in certificates:
            sent += 1
            (trip,) = (trip for trip in TRIPS if trip.id in looked_at)
            assert trip.user.membership != "regular" or trip.insured or trip.cabin == "business"
            cancelled = "cancelled" in trip.statuses
            changed = {action.name for action in actions(task)} & {"cancel_reservation", "update_reservation_flights"}
            assert cancelled or ("delayed" in trip.statuses and changed)
            assert amount == (100 if cancelled else 50) * trip.people
    assert sent >= 5


# Verification


def test_verify_finds_what_is_wrong_with_a_task() -> None:
    task = task_called("cancel-business-refund")
    phrase, cancel = task.criteria.communicate_info or [], actions(task)[-1]
    told = task.user_scenario.instructions
    silent = told.model_copy(update={"reason_for_call": "You want to cancel."})
    broken = {
        "doing nothing passes": altered(task, actions=[], communicate_info=[]),
        "makes no difference": altered(
            task,
            actions=[*actions(task), actions(task)[-1].model_copy(update={"arguments": {"reservation_id": "??????"}})],
        ),
        "the user says": altered(task, communicate_info=["reservation"]),
        "too short to tell": altered(task, communicate_info=["10"]),
        "with a comma": altered(task, communicate_info=[f"{int(phrase[0]):,}"]),
        "come from": altered(task, actions=[cancel]).model_copy(
            update={"user_scenario": task.user_scenario.model_copy(update={"instructions": silent})}
        ),
        "not safe everywhere": task.model_copy(update={"id": "Cancel it!"}),
    }
    verify(task, DB)
    for problem, bad in broken.items():
        with pytest.raises(TaskFormatError, match=problem) as caught:
            verify(bad, DB)
        assert caught.value.task_id == bad.id


def test_a_scenario_without_a_subject_fails_loudly() -> None:
    world = World(DB)
    with pytest.raises(ConfigurationError, match="try another seed"):
        world.trip(where=lambda trip: trip.people > 5)
    with pytest.raises(ConfigurationError, match="try another seed"):
        world.user(where=lambda user: user.user_id == "nobody")


def test_subjects_are_spread() -> None:
    world = World(DB)
    found = [world.trip(where=lambda trip: trip.cabin == "business").id for _ in range(4)]
    assert len(set(found)) == 4
    callers = Counter(str(task.user_scenario).split("user id is ")[1].split(".")[0] for task in TASKS)
    assert max(callers.values()) <= 5
    assert len(callers) >= 40
