"""The airline domain: what its tools check, what they change, and what they leave behind when they refuse.

One long file, because everything here works on the same small database.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from pytest_tau.environment import Change, Environment
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau_domains.airline import domain
from pytest_tau_domains.airline.models import AirlineDB, User
from pytest_tau_domains.airline.tools import AirlineTools

if TYPE_CHECKING:
    from pathlib import Path

CARD, GIFT, CERTIFICATE = "credit_card_1", "gift_card_1", "certificate_1"
ANN, BOB = ({"first_name": name, "last_name": "Lee", "dob": "1990-01-02"} for name in ("Ann", "Bob"))
SEATS = {"basic_economy": 9, "economy": 2, "business": 0}
PRICES = {"basic_economy": 50, "economy": 100, "business": 300}
OPEN = {"status": "available", "available_seats": SEATS, "prices": PRICES}
DELAYED = {
    "status": "delayed",
    "estimated_departure_time_est": "2024-05-15T08:30:00",
    "estimated_arrival_time_est": "2024-05-15T10:30:00",
}


def flight(number: str, way: str, times: str) -> dict[str, Any]:
    """A flight that was delayed on the 15th and can be booked on the two days after."""
    origin, destination = way.split("-")
    departure, arrival = times.split()
    return {
        "origin": origin,
        "destination": destination,
        "flight_number": number,
        "scheduled_departure_time_est": f"{departure}:00",
        "scheduled_arrival_time_est": arrival.replace("+1", "") + ":00" + "+1" * arrival.endswith("+1"),
        "dates": {"2024-05-15": DELAYED, "2024-05-16": OPEN, "2024-05-17": OPEN},
    }


def leg(number: str, way: str, date: str, price: int) -> dict[str, Any]:
    """A flight of a reservation, in the order of a dump."""
    origin, destination = way.split("-")
    return {"flight_number": number, "origin": origin, "destination": destination, "date": date, "price": price}


def reservation(**fields: Any) -> dict[str, Any]:
    """R1: Ann and Bob fly from BOS to SEA in economy, for less than it costs now."""
    return {
        "reservation_id": "R1",
        "user_id": "ann_lee_1",
        "origin": "BOS",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [leg("F1", "BOS-ORD", "2024-05-15", 80), leg("F2", "ORD-SEA", "2024-05-16", 70)],
        "passengers": [ANN, BOB],
        "payment_history": [{"payment_id": CARD, "amount": 200}, {"payment_id": GIFT, "amount": 100}],
        "created_at": "2024-05-01T10:00:00",
        "total_baggages": 2,
        "nonfree_baggages": 1,
        "insurance": "no",
        **fields,
    }


def data() -> dict[str, Any]:
    """One user with one payment method of each kind, one reservation, and flights from BOS to SEA."""
    user = {
        "user_id": "ann_lee_1",
        "name": {"first_name": "Ann", "last_name": "Lee"},
        "address": {"address1": "1 Elm St", "city": "Boston", "country": "USA", "state": "MA", "zip": "02101"},
        "email": "ann@example.com",
        "dob": "1990-01-02",
        "payment_methods": {
            CARD: {"source": "credit_card", "id": CARD, "brand": "visa", "last_four": "1234"},
            GIFT: {"source": "gift_card", "id": GIFT, "amount": 120},
            CERTIFICATE: {"source": "certificate", "id": CERTIFICATE, "amount": 150},
        },
        "saved_passengers": [BOB],
        "membership": "silver",
        "reservations": ["R1"],
    }
    flights = [
        flight("F1", "BOS-ORD", "08:00 10:00"),
        flight("F2", "ORD-SEA", "10:00 13:00"),
        flight("F3", "ORD-SEA", "09:59 12:59"),
        flight("F4", "BOS-SEA", "07:00 12:00"),
        flight("F5", "BOS-DEN", "22:00 01:00+1"),
        flight("F6", "DEN-SEA", "01:00 03:00"),
        flight("F7", "DEN-SEA", "01:01 03:01"),
    ]
    return {
        "flights": {flight["flight_number"]: flight for flight in flights},
        "users": {"ann_lee_1": user},
        "reservations": {"R1": reservation()},
    }


def make_environment() -> Environment:
    return Environment(domain_name="airline", policy="", agent=AirlineTools(AirlineDB.model_validate(data()).fork()))


@pytest.fixture
def env() -> Environment:
    return make_environment()


def ask(env: Environment, name: str, **arguments: Any) -> Any:
    """The call must succeed."""
    message = env.call(name, arguments)
    assert not message.error, message.content
    return json.loads(message.content or "")


def refused(env: Environment, name: str, **arguments: Any) -> str:
    """The call must fail."""
    message = env.call(name, arguments)
    assert message.error, message.content
    return (message.content or "").removeprefix("Error: ")


def changed(env: Environment) -> dict[str, Any]:
    """Paths at which the state differs from the beginning, with what is there now; a longer list is shown whole."""
    start = make_environment().agent_db
    return dict(_whole_list(change, start.dump(), env.agent_db.dump()) for change in start.changes(env.agent_db))


def _whole_list(change: Change, before: Any, after: Any) -> tuple[str, Any]:
    keys = change.path.split("/")
    for place, key in enumerate(keys):
        if isinstance(before, list) and isinstance(after, list):
            if len(before) != len(after):
                return "/".join(keys[:place]), after
            before, after = before[int(key)], after[int(key)]
        elif key in before and key in after:
            before, after = before[key], after[key]
        else:
            break
    return change.path, change.got


def paid(**amounts: Any) -> list[dict[str, Any]]:
    return [{"payment_id": f"{method}_1", "amount": amount} for method, amount in amounts.items()]


def trip(**fields: Any) -> dict[str, Any]:
    """Arguments of a booking: Ann alone, the direct flight in economy, 100 USD."""
    return {
        "user_id": "ann_lee_1",
        "origin": "BOS",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": "F4", "date": "2024-05-16"}],
        "passengers": [ANN],
        "payment_methods": paid(credit_card=100),
        "total_baggages": 1,
        "nonfree_baggages": 0,
        "insurance": "no",
        **fields,
    }


class TestReading:
    def test_records_come_whole_and_in_declared_order(self, env: Environment) -> None:
        record = ask(env, "get_reservation_details", reservation_id="R1")
        assert record == {**reservation(), "status": None}
        assert list(record) == [*reservation(), "status"]
        assert list(record["flights"][0]) == ["flight_number", "origin", "destination", "date", "price"]
        user = ask(env, "get_user_details", user_id="ann_lee_1")
        assert user["address"]["address2"] is None
        assert user["payment_methods"][GIFT] == {"source": "gift_card", "id": GIFT, "amount": 120.0}

    @pytest.mark.parametrize(
        ("name", "arguments", "text"),
        [
            ("get_user_details", {"user_id": "Ann_Lee_1"}, "User Ann_Lee_1 not found"),
            ("get_user_details", {"user_id": 5}, "User 5 not found"),
            ("get_user_details", {"user_id": None}, "User None not found"),
            ("get_user_details", {"user_id": ["ann_lee_1"]}, "unhashable type: 'list'"),
            ("get_reservation_details", {"reservation_id": "r1"}, "Reservation r1 not found"),
            ("get_flight_status", {"flight_number": "F9", "date": "2024-05-16"}, "Flight F9 not found"),
            ("get_flight_status", {"flight_number": "F1", "date": "x"}, "Flight F1 not found on date x"),
            ("cancel_reservation", {"reservation_id": ""}, "Reservation  not found"),
            ("send_certificate", {"user_id": "x", "amount": "y"}, "User x not found"),
            ("day", {}, "Tool 'day' not found."),
            ("calculate", {"expression": "two"}, "Invalid characters in expression"),
        ],
    )
    def test_refusals_change_nothing(self, env: Environment, name: str, arguments: dict[str, Any], text: str) -> None:
        assert refused(env, name, **arguments) == text
        assert changed(env) == {}

    def test_text_results_are_bare(self, env: Environment) -> None:
        arguments = {"flight_number": "F1", "date": "2024-05-15"}
        assert env.call("get_flight_status", arguments).content == "delayed"
        assert env.call("calculate", {"expression": "7 / 2"}).content == "3.5"
        assert env.call("transfer_to_human_agents", {"summary": None}).content == "Transfer successful"

    def test_airports(self, env: Environment) -> None:
        airports = ask(env, "list_all_airports")
        assert (len(airports), airports[0]) == (20, {"iata": "SFO", "city": "San Francisco"})
        assert airports[-1] == {"iata": "LGA", "city": "LaGuardia"}


class TestSearch:
    def numbers(self, env: Environment, kind: str, *arguments: Any) -> list[Any]:
        found = ask(
            env, f"search_{kind}_flight", **dict(zip(("origin", "destination", "date"), arguments, strict=True))
        )
        return [
            "+".join(f["flight_number"] for f in one) if kind == "onestop" else one["flight_number"] for one in found
        ]

    @pytest.mark.parametrize(
        ("origin", "destination", "date", "found"),
        [
            ("ORD", "SEA", "2024-05-16", ["F2", "F3"]),
            ("ORD", "SEA", "2024-05-15", []),
            ("ORD", "SEA", "2024-06-16", []),
            ("ord", "SEA", "2024-05-16", []),
            ("ORD", None, "2024-05-16", ["F2", "F3"]),
            (None, "SEA", "2024-05-16", ["F2", "F3", "F4", "F6", "F7"]),
            (["ORD"], {}, "2024-05-16", []),
        ],
    )
    def test_direct(self, env: Environment, origin: Any, destination: Any, date: str, found: list[str]) -> None:
        assert self.numbers(env, "direct", origin, destination, date) == found

    def test_what_is_shown_of_a_flight(self, env: Environment) -> None:
        shown = {
            "flight_number": "F4",
            "origin": "BOS",
            "destination": "SEA",
            "status": "available",
            "scheduled_departure_time_est": "07:00:00",
            "scheduled_arrival_time_est": "12:00:00",
            "date": None,
            "available_seats": SEATS,
            "prices": PRICES,
        }
        arguments = {"origin": "BOS", "destination": "SEA", "date": "2024-05-16"}
        reply = env.call("search_direct_flight", arguments)
        assert reply.content == json.dumps([shown])

    def test_the_second_flight_leaves_at_the_arrival_or_later(self, env: Environment) -> None:
        """A day later where the first arrives a day later, and then not in the very minute."""
        assert self.numbers(env, "onestop", "BOS", "SEA", "2024-05-16") == ["F1+F2", "F5+F7"]
        pairs = ask(env, "search_onestop_flight", origin="BOS", destination="SEA", date="2024-05-16")
        assert [[one["date"] for one in pair] for pair in pairs] == [
            ["2024-05-16", "2024-05-16"],
            ["2024-05-16", "2024-05-17"],
        ]
        assert self.numbers(env, "onestop", "BOS", "SEA", "2024-05-17") == ["F1+F2"]
        assert self.numbers(env, "onestop", "BOS", "SEA", "2024-05-15") == []

    def test_the_day_after_the_last_of_a_month(self, env: Environment) -> None:
        dates = {number: {"dates": {"2024-05-31": OPEN, "2024-06-01": OPEN}} for number in ("F5", "F7")}
        env.merge({"flights": dates}, None)
        assert self.numbers(env, "onestop", "BOS", "SEA", "2024-05-31") == ["F5+F7"]

    def test_searches_copy_nothing(self, env: Environment) -> None:
        self.numbers(env, "direct", "BOS", "SEA", "2024-05-16")
        self.numbers(env, "onestop", "BOS", "SEA", "2024-05-16")
        assert not env.agent_db.flights.touched  # type: ignore[attr-defined]


class TestBooking:
    def test_a_booking_takes_seats_and_joins_the_profile(self, env: Environment) -> None:
        booked = ask(env, "book_reservation", **trip())
        assert booked == {
            **{key: value for key, value in trip().items() if key != "payment_methods"},
            "reservation_id": "HATHAT",
            "flights": [leg("F4", "BOS-SEA", "2024-05-16", 100)],
            "payment_history": paid(credit_card=100),
            "created_at": "2024-05-15T15:00:00",
            "status": None,
        }
        assert changed(env) == {
            "flights/F4/dates/2024-05-16/available_seats/economy": 1,
            "users/ann_lee_1/reservations": ["R1", "HATHAT"],
            "reservations/HATHAT": booked,
        }

    def test_cards_are_debited_and_certificates_spent_as_a_whole(self, env: Environment) -> None:
        payments = paid(gift_card=60, certificate=40, credit_card=210)
        fields = {"passengers": [ANN, BOB], "insurance": "yes", "nonfree_baggages": 1, "payment_methods": payments}
        assert ask(env, "book_reservation", **trip(**fields))["payment_history"] == payments
        assert changed(env).keys() == {
            f"users/ann_lee_1/payment_methods/{GIFT}/amount",
            f"users/ann_lee_1/payment_methods/{CERTIFICATE}",
            "users/ann_lee_1/reservations",
            "flights/F4/dates/2024-05-16/available_seats/economy",
            "reservations/HATHAT",
        }
        assert changed(env)[f"users/ann_lee_1/payment_methods/{GIFT}/amount"] == 60.0

    def test_three_bookings_and_no_more_also_after_a_cancellation(self, env: Environment) -> None:
        free = trip(flights=[], payment_methods=[])
        ids = [ask(env, "book_reservation", **free)["reservation_id"] for _ in range(3)]
        assert ids == ["HATHAT", "HATHAU", "HATHAV"]
        ask(env, "cancel_reservation", reservation_id="HATHAT")
        assert refused(env, "book_reservation", **free) == "Too many reservations"

    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"user_id": "x", "flights": "abc"}, "User x not found"),
            ({"flights": [{"flight_number": "F9", "date": "d"}]}, "Flight F9 not found"),
            ({"flights": [{"flight_number": "F4", "date": "d"}]}, "Flight F4 not found on date d"),
            (
                {"flights": [{"flight_number": "F4", "date": "2024-05-15"}]},
                "Flight F4 not available on date 2024-05-15",
            ),
            ({"passengers": [ANN, BOB, ANN]}, "Not enough seats on flight F4"),
            ({"cabin": "business"}, "Not enough seats on flight F4"),
            (
                {"payment_methods": [{"payment_id": "cash", "amount": 100}]},
                "Payment method cash not found",
            ),
            ({"payment_methods": paid(gift_card=121)}, f"Not enough balance in payment method {GIFT}"),
            ({"payment_methods": paid(certificate=151)}, f"Not enough balance in payment method {CERTIFICATE}"),
            (
                {"payment_methods": paid(credit_card=99)},
                "Payment amount does not add up, total price is 100, but paid 99",
            ),
            (
                {"nonfree_baggages": 1.0},
                "Payment amount does not add up, total price is 150.0, but paid 100",
            ),
            ({"nonfree_baggages": "1"}, "unsupported operand type(s) for +=: 'int' and 'str'"),
            ({"flights": "ab"}, "'str' object has no attribute 'flight_number'"),
        ],
    )
    def test_refusals_in_their_order_change_nothing(self, env: Environment, fields: dict[str, Any], text: str) -> None:
        assert refused(env, "book_reservation", **trip(**fields)) == text
        assert changed(env) == {}

    @pytest.mark.parametrize(
        "fields",
        [
            {"cabin": "first"},
            {"insurance": True},
            {"flight_type": "One_Way"},
            {"origin": 5},
            {"passengers": [ANN, "Bob"]},
            {"passengers": [{**ANN, "dob": None}]},
            {"passengers": "Ann"},
            {"payment_methods": [{"payment_id": CARD}]},
            {"payment_methods": [CARD]},
            *({"total_baggages": bags} for bags in (None, 1.5, "1e2", "", [1])),
            {"payment_methods": paid(credit_card=100.5)},
            {"flights": [{"flight_number": 4, "date": "2024-05-16"}]},
        ],
    )
    def test_values_that_no_record_takes_change_nothing(self, env: Environment, fields: dict[str, Any]) -> None:
        assert "validation error" in refused(env, "book_reservation", **trip(**fields))
        assert changed(env) == {}

    @pytest.mark.parametrize("bags", [True, 1.0, "1", " 1 ", "1.0"])
    def test_numbers_are_converted_when_a_record_is_made(self, env: Environment, bags: Any) -> None:
        booked = ask(env, "book_reservation", **trip(total_baggages=bags, payment_methods=paid(credit_card="1_00")))
        assert json.dumps([booked["total_baggages"], booked["payment_history"][0]["amount"]]) == "[1, 100]"

    def test_unchecked_values_are_accepted(self, env: Environment) -> None:
        """A round trip one way from somewhere else; a negative bag that makes it cheaper; no passengers and no flights."""
        fields = {"origin": "XXX", "flight_type": "round_trip", "nonfree_baggages": -1}
        fields |= {"passengers": [{**ANN, "seat": "1A"}], "payment_methods": paid(credit_card=50)}
        assert ask(env, "book_reservation", **trip(**fields))["passengers"] == [ANN]
        empty = trip(flights=[], passengers={}, payment_methods=[], insurance="yes")
        assert ask(env, "book_reservation", **empty)["passengers"] == []

    def test_same_flight_twice_is_checked_against_the_same_seats(self, env: Environment) -> None:
        twice = {"flights": trip()["flights"] * 2, "passengers": [ANN, BOB], "payment_methods": paid(credit_card=400)}
        ask(env, "book_reservation", **trip(**twice))
        assert changed(env)["flights/F4/dates/2024-05-16/available_seats/economy"] == -2

    def test_same_gift_card_twice_is_checked_against_the_same_balance(self, env: Environment) -> None:
        payments = [*paid(gift_card=120), *paid(gift_card=100), *paid(credit_card=-120)]
        ask(env, "book_reservation", **trip(payment_methods=payments))
        assert changed(env)[f"users/ann_lee_1/payment_methods/{GIFT}/amount"] == -100.0

    def test_the_same_certificate_twice_fails_with_what_was_paid_before_gone(self, env: Environment) -> None:
        payments = [*paid(gift_card=50), *paid(certificate=30), *paid(certificate=20)]
        assert refused(env, "book_reservation", **trip(payment_methods=payments)) == f"'{CERTIFICATE}'"
        assert changed(env) == {
            f"users/ann_lee_1/payment_methods/{GIFT}/amount": 70.0,
            f"users/ann_lee_1/payment_methods/{CERTIFICATE}": None,
        }


class TestCancelling:
    def test_refunds_are_noted_and_nothing_else_moves(self, env: Environment) -> None:
        refunds = paid(credit_card=-200, gift_card=-100)
        cancelled = ask(env, "cancel_reservation", reservation_id="R1")
        history = [*reservation()["payment_history"], *refunds]
        assert cancelled == {**reservation(), "payment_history": history, "status": "cancelled"}
        assert changed(env) == {"reservations/R1/payment_history": history, "reservations/R1/status": "cancelled"}

    def test_again_notes_the_opposite_of_everything(self, env: Environment) -> None:
        amounts = []
        for _ in range(2):
            history = ask(env, "cancel_reservation", reservation_id="R1")["payment_history"]
            amounts.append([payment["amount"] for payment in history])
        assert amounts == [[200, 100, -200, -100], [200, 100, -200, -100, -200, -100, 200, 100]]


class TestCertificates:
    def send(self, env: Environment, amount: Any = 100) -> str:
        return env.call("send_certificate", {"user_id": "ann_lee_1", "amount": amount}).content or ""

    @pytest.mark.parametrize(
        ("amount", "told"), [(100, "100"), (50.5, "50.5"), (-1, "-1"), ("1e2", "1e2"), (True, "True")]
    )
    def test_amount_is_shown_as_given_and_stored_as_a_float(self, env: Environment, amount: Any, told: str) -> None:
        expected = f"Certificate certificate_3221322 added to user ann_lee_1 with amount {told}."
        assert self.send(env, amount) == expected
        certificate = {"source": "certificate", "id": "certificate_3221322", "amount": float(amount)}
        assert changed(env) == {"users/ann_lee_1/payment_methods/certificate_3221322": certificate}

    @pytest.mark.parametrize("amount", [None, "", "much", [1]])
    def test_anything_else_changes_nothing(self, env: Environment, amount: Any) -> None:
        assert "validation error for Certificate" in self.send(env, amount)
        assert changed(env) == {}

    def test_three_at_a_time_and_a_spent_one_s_id_is_used_again(self, env: Environment) -> None:
        assert [self.send(env).split()[1][-1] for _ in range(3)] == ["2", "3", "4"]
        assert self.send(env) == "Error: Too many certificates"
        spent = [{"payment_id": "certificate_3221323", "amount": 100}]
        ask(env, "book_reservation", **trip(payment_methods=spent))
        assert self.send(env).startswith("Certificate certificate_3221323 ")


CHANGES = {
    "update_reservation_baggages": {"total_baggages": 3, "nonfree_baggages": 2},
    "update_reservation_flights": {"cabin": "economy", "flights": [{"flight_number": "F4", "date": "2024-05-16"}]},
}


@pytest.mark.parametrize("name", CHANGES)
class TestPayingForChanges:
    @pytest.mark.parametrize(
        ("fields", "text"),
        [
            ({"reservation_id": "R9"}, "Reservation R9 not found"),
            ({"payment_id": "cash"}, "Payment method not found"),
            ({"payment_id": CERTIFICATE}, "Certificate cannot be used to update reservation"),
            ({"payment_id": [CARD]}, "unhashable type: 'list'"),
        ],
    )
    def test_refusals_change_nothing(self, env: Environment, name: str, fields: dict[str, Any], text: str) -> None:
        arguments = {"reservation_id": "R1", "payment_id": CARD, **CHANGES[name], **fields}
        assert refused(env, name, **arguments) == text
        assert changed(env) == {}

    def test_a_gift_card_must_cover_the_price(self, env: Environment, name: str) -> None:
        arguments = {"reservation_id": "R1", "payment_id": GIFT, **CHANGES[name]}
        env.agent_db.users["ann_lee_1"].payment_methods[GIFT].amount = -200.0  # type: ignore[attr-defined]
        assert refused(env, name, **arguments) == "Gift card balance is not enough"

    def test_a_reservation_whose_user_is_gone(self, env: Environment, name: str) -> None:
        del env.agent_db.users["ann_lee_1"]  # type: ignore[attr-defined]
        arguments = {"reservation_id": "R1", "payment_id": CARD, **CHANGES[name]}
        assert refused(env, name, **arguments) == "User ann_lee_1 not found"


class TestBags:
    def change(self, env: Environment, total: Any, nonfree: Any, payment_id: str = GIFT) -> Any:
        arguments = {"total_baggages": total, "nonfree_baggages": nonfree, "payment_id": payment_id}
        return ask(env, "update_reservation_baggages", reservation_id="R1", **arguments)

    def test_each_further_bag_costs_50(self, env: Environment) -> None:
        changed_to = self.change(env, 4, 3)
        assert changed_to["payment_history"][2:] == paid(gift_card=100)
        assert changed(env) == {
            f"users/ann_lee_1/payment_methods/{GIFT}/amount": 20.0,
            "reservations/R1/payment_history": changed_to["payment_history"],
            "reservations/R1/total_baggages": 4,
            "reservations/R1/nonfree_baggages": 3,
        }

    @pytest.mark.parametrize(("total", "nonfree"), [(9, 1), (0, 0), (-3, -5)])
    def test_without_further_bags_nothing_is_paid_or_refunded(self, env: Environment, total: int, nonfree: int) -> None:
        assert self.change(env, total, nonfree, CARD)["payment_history"] == reservation()["payment_history"]

    @pytest.mark.parametrize("total", ["3", None, 2.5, ["x"]])
    def test_the_total_is_stored_as_it_came(self, env: Environment, total: Any) -> None:
        assert self.change(env, total, 1.0)["total_baggages"] == total
        assert json.dumps(changed(env)["reservations/R1/nonfree_baggages"]) == "1.0"

    @pytest.mark.parametrize("nonfree", ["2", None, [2]])
    def test_what_cannot_be_counted_changes_nothing(self, env: Environment, nonfree: Any) -> None:
        arguments = {"reservation_id": "R1", "total_baggages": 3, "nonfree_baggages": nonfree, "payment_id": GIFT}
        assert "unsupported operand" in refused(env, "update_reservation_baggages", **arguments)
        assert changed(env) == {}

    def test_a_broken_amount_fails_after_the_gift_card_was_debited(self, env: Environment) -> None:
        arguments = {"reservation_id": "R1", "total_baggages": 3, "nonfree_baggages": 2.01, "payment_id": GIFT}
        assert "validation error for Payment" in refused(env, "update_reservation_baggages", **arguments)
        assert changed(env) == {f"users/ann_lee_1/payment_methods/{GIFT}/amount": pytest.approx(69.5)}
        arguments["payment_id"] = CARD
        before = changed(env)
        refused(env, "update_reservation_baggages", **arguments)
        assert changed(env) == before


class TestFlights:
    def change(self, env: Environment, cabin: str, *flights: str, payment_id: str = CARD) -> Any:
        """Flights by number, on the 16th or on the day after a slash."""
        numbers = [flight.partition("/") for flight in flights]
        wanted = [{"flight_number": number, "date": f"2024-05-{day or 16}"} for number, _, day in numbers]
        arguments = {"reservation_id": "R1", "cabin": cabin, "flights": wanted, "payment_id": payment_id}
        message = env.call("update_reservation_flights", arguments)
        return message.content if message.error else json.loads(message.content or "")

    def test_kept_flights_keep_their_price_whatever_their_status(self, env: Environment) -> None:
        after = self.change(env, "economy", "F1/15", "F3")
        assert after["flights"] == [leg("F1", "BOS-ORD", "2024-05-15", 80), leg("F3", "ORD-SEA", "2024-05-16", 100)]
        assert after["payment_history"][2:] == paid(credit_card=60)

    def test_seats_and_everything_else_stay(self, env: Environment) -> None:
        after = self.change(env, "economy", "F6", payment_id=GIFT)
        assert changed(env) == {
            f"users/ann_lee_1/payment_methods/{GIFT}/amount": 220.0,
            "reservations/R1/flights": [leg("F6", "DEN-SEA", "2024-05-16", 100)],
            "reservations/R1/payment_history": [*reservation()["payment_history"], *paid(gift_card=-100)],
        }
        assert (after["origin"], after["destination"]) == ("BOS", "SEA")

    def test_in_another_cabin_every_flight_is_a_new_one(self, env: Environment) -> None:
        assert self.change(env, "basic_economy", "F1/15", "F2") == "Error: Flight F1 not available on date 2024-05-15"
        after = self.change(env, "basic_economy", "F1", "F2")
        assert [leg["price"] for leg in after["flights"]] == [50, 50]
        assert (after["cabin"], after["payment_history"][2:]) == ("basic_economy", paid(credit_card=-100))

    def test_the_same_price_leaves_no_entry(self, env: Environment) -> None:
        assert self.change(env, "economy", "F1/15", "F2")["payment_history"] == reservation()["payment_history"]

    @pytest.mark.parametrize(
        ("cabin", "number", "text"),
        [
            ("economy", "F9", "Flight F9 not found"),
            ("economy", "F4/18", "Flight F4 not found on date 2024-05-18"),
            ("business", "F4", "Not enough seats on flight F4"),
            ("first", "F4", "'first'"),
            ("first", "F4/15", "Flight F4 not available on date 2024-05-15"),
        ],
    )
    def test_refusals_change_nothing(self, env: Environment, cabin: str, number: str, text: str) -> None:
        assert self.change(env, cabin, number) == f"Error: {text}"
        assert changed(env) == {}

    def test_an_empty_list_gives_all_fares_back_in_any_cabin(self, env: Environment) -> None:
        after = self.change(env, "first", payment_id=GIFT)
        assert (after["flights"], after["cabin"]) == ([], "first")
        assert after["payment_history"][2:] == paid(gift_card=-300)
        assert changed(env)[f"users/ann_lee_1/payment_methods/{GIFT}/amount"] == 420.0

    def test_a_cancelled_reservation_can_be_changed(self, env: Environment) -> None:
        ask(env, "cancel_reservation", reservation_id="R1")
        assert self.change(env, "economy", "F4")["status"] == "cancelled"

    def test_kept_flights_are_not_shared_with_the_data(self, env: Environment) -> None:
        fork = env.agent_db.fork()
        self.change(env, "economy", "F1/15", "F2")
        env.agent_db.reservations["R1"].flights[0].price = 1  # type: ignore[attr-defined]
        assert fork.reservations["R1"].flights[0].price == 80  # type: ignore[attr-defined]


class TestPassengers:
    def change(self, env: Environment, passengers: Any) -> Any:
        return ask(env, "update_reservation_passengers", reservation_id="R1", passengers=passengers)

    def test_others_take_their_place(self, env: Environment) -> None:
        eve = {"first_name": "", "last_name": "?", "dob": "some day"}
        assert self.change(env, [BOB, {**eve, "extra": 1}])["passengers"] == [BOB, eve]
        assert changed(env).keys() == {
            "reservations/R1/passengers/0/first_name",
            *(f"reservations/R1/passengers/1/{key}" for key in eve),
        }

    @pytest.mark.parametrize("passengers", [[], [ANN], [ANN, BOB, ANN], "Ann", {}])
    def test_their_number_stays(self, env: Environment, passengers: Any) -> None:
        text = refused(env, "update_reservation_passengers", reservation_id="R1", passengers=passengers)
        assert text == "Number of passengers does not match"
        assert changed(env) == {}

    @pytest.mark.parametrize("passengers", [["Ann", "Bob"], [ANN, None], "AB", {"a": 1, "b": 2}])
    def test_anything_else_of_that_length_is_stored_as_it_came(self, env: Environment, passengers: Any) -> None:
        assert self.change(env, passengers)["passengers"] == passengers
        assert not make_environment().agent_db.equals(env.agent_db)
        assert ask(env, "get_reservation_details", reservation_id="R1")["passengers"] == passengers

    @pytest.mark.parametrize("passengers", [None, 2, [{}, ANN]])
    def test_what_is_no_list_of_passengers_changes_nothing(self, env: Environment, passengers: Any) -> None:
        refused(env, "update_reservation_passengers", reservation_id="R1", passengers=passengers)
        assert changed(env) == {}


class TestData:
    def test_unknown_keys_are_rejected_at_the_top_and_dropped_below(self) -> None:
        with pytest.raises(ValidationError):
            AirlineDB.model_validate({**data(), "hotels": {}})
        more = data()
        more["users"]["ann_lee_1"]["shoe_size"] = 40
        assert AirlineDB.model_validate(more).dump() == AirlineDB.model_validate(data()).dump()

    def test_initial_data_is_merged_into_records(self, env: Environment) -> None:
        cancelled = {"F4": {"dates": {"2024-05-16": {"status": "cancelled"}}}}
        env.merge({"flights": cancelled, "reservations": {"R1": {"insurance": "yes", "seat": 1}}}, None)
        assert env.agent_db.flights["F4"].dates["2024-05-16"].model_dump() == {"status": "cancelled"}  # type: ignore[attr-defined]
        assert ask(env, "get_reservation_details", reservation_id="R1") == {
            **reservation(insurance="yes"),
            "status": None,
        }

    @pytest.mark.parametrize(
        "part",
        [
            {"flights": {"F4": {"dates": {"2024-05-16": {"status": "on time"}}}}},
            {"users": {"ann_lee_1": {"payment_methods": {CARD: {"source": "cash"}}}}},
            {"reservations": {"R1": {"cabin": "first"}}},
        ],
    )
    def test_invalid_data_is_reported(self, env: Environment, part: dict[str, Any]) -> None:
        with pytest.raises(TaskFormatError):
            env.merge(part, None)

    def test_a_user_read_from_json_keeps_the_kinds_of_payment_methods(self) -> None:
        user = User.model_validate(data()["users"]["ann_lee_1"])
        assert [type(method).__name__ for method in user.payment_methods.values()] == [
            "CreditCard",
            "GiftCard",
            "Certificate",
        ]

    def test_the_domain_reads_a_data_folder_and_is_not_run_solo(self, tmp_path: Path) -> None:
        folder = tmp_path / "domains" / "airline"
        folder.mkdir(parents=True)
        (folder / "db.json").write_text(json.dumps(data()))
        (folder / "policy.md").write_text("Be kind.")
        loaded = domain.load(tmp_path)
        env = loaded.environment()
        assert (env.policy, env.user_db, len(env.tools()), env.tools("user")) == ("Be kind.", None, 14, [])
        assert (
            env.call("get_user_details", {"user_id": "ann_lee_1"}, "user").content == "Error: User tools not available"
        )
        with pytest.raises(ConfigurationError):
            loaded.environment(solo=True)

    def test_policy_has_the_notice_and_names_only_existing_tools(self) -> None:
        policy = (domain.folder / "policy.md").read_text(encoding="utf-8")
        assert "`ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE.`" in policy
        named = {word for word in policy.replace("`", " ").split() if word.startswith(("get_", "send_", "transfer_"))}
        assert named
        assert named <= AirlineTools.tool_infos.keys()
