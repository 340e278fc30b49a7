"""The rules of the airline and the shop, each with a call that breaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from talks import Talk, bundled

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

pytestmark = pytest.mark.exhaustive


def loaded(name: str) -> Domain:
    return bundled(name)[0]


def airline_reservation(**wanted: Any) -> Any:
    """Return the first reservation with these fields, not cancelled, all flights available, with its user."""
    db: Any = loaded("airline").environment().agent_db
    for reservation in db.reservations.scan():
        statuses = {db.day(leg.flight_number, leg.date).status for leg in reservation.flights}
        fits = all(getattr(reservation, name) == value for name, value in wanted.items())
        if fits and statuses == {"available"} and reservation.status is None:
            return reservation, db.user(reservation.user_id)
    raise AssertionError(f"no reservation has {wanted}")


def airline_talk(reservation: Any) -> Talk:
    talk = Talk(loaded("airline")).user(f"I am {reservation.user_id}, it is about {reservation.reservation_id}.")
    talk.call("get_user_details", user_id=reservation.user_id)
    return talk.call("get_reservation_details", reservation_id=reservation.reservation_id)


def card_of(user: Any) -> str:
    return next(each.id for each in user.payment_methods.values() if each.source == "credit_card")


def test_a_cancellation_that_no_condition_allows() -> None:
    old = {"cabin": "economy", "insurance": "no"}
    db: Any = loaded("airline").environment().agent_db
    found = [
        each
        for each in db.reservations.scan()
        if all(getattr(each, name) == value for name, value in old.items())
        and each.status is None
        and each.created_at < "2024-05-13"
        and {db.day(leg.flight_number, leg.date).status for leg in each.flights} == {"available"}
    ]
    talk = airline_talk(found[0]).agreed(f"I will cancel {found[0].reservation_id}.")
    assert talk.call("cancel_reservation", reservation_id=found[0].reservation_id).breached == ["cancel-conditions"]


def test_a_cancellation_in_business_is_allowed() -> None:
    reservation, _ = airline_reservation(cabin="business")
    talk = airline_talk(reservation).agreed(f"I will cancel {reservation.reservation_id}.")
    assert talk.call("cancel_reservation", reservation_id=reservation.reservation_id).breached == []


def test_a_cancellation_after_a_flight() -> None:
    db: Any = loaded("airline").environment().agent_db
    flown = next(
        each
        for each in db.reservations.scan()
        if each.status is None
        and {db.day(leg.flight_number, leg.date).status for leg in each.flights} & {"landed", "flying"}
    )
    talk = airline_talk(flown).agreed(f"I will cancel {flown.reservation_id}.")
    assert "cancel-flown" in talk.call("cancel_reservation", reservation_id=flown.reservation_id).breached


def test_bags_are_added_and_paid_for() -> None:
    reservation, user = airline_reservation(cabin="basic_economy")
    name, bags = reservation.reservation_id, reservation.total_baggages

    def changed(total: int, paid: int) -> list[str]:
        talk = airline_talk(reservation).agreed(f"I will change the bags of {name}.")
        arguments = {"total_baggages": total, "nonfree_baggages": paid, "payment_id": card_of(user)}
        return talk.call("update_reservation_baggages", reservation_id=name, **arguments).breached

    free = {"regular": 0, "silver": 1, "gold": 2}[user.membership] * len(reservation.passengers)
    assert changed(bags + 9, max(0, bags + 9 - free)) == []
    assert changed(bags + 9, 0) == ["bags-paid"]
    assert "bags-added-only" in changed(bags - 1, max(0, bags - 1 - free))


def test_flights_of_basic_economy_and_other_routes() -> None:
    basic, user = airline_reservation(cabin="basic_economy")
    db: Any = loaded("airline").environment().agent_db
    other = next(
        (flight.flight_number, date)
        for flight in db.flights.scan()
        for date, day in flight.dates.items()
        if day.status == "available"
        and day.available_seats["basic_economy"] > 8
        and {flight.origin, flight.destination}.isdisjoint({basic.origin, basic.destination})
    )
    talk = airline_talk(basic).agreed(f"I will change {basic.reservation_id} to {other[0]}.")
    talk.call(
        "update_reservation_flights",
        reservation_id=basic.reservation_id,
        cabin="basic_economy",
        flights=[{"flight_number": other[0], "date": other[1]}],
        payment_id=card_of(user),
    )
    assert set(talk.breached) == {"basic-economy", "same-route"}


def test_compensation_is_asked_for_and_deserved() -> None:
    db: Any = loaded("airline").environment().agent_db
    poor = next(
        user
        for user in db.users.scan()
        if user.membership == "regular"
        and all(
            db.reservation(each).insurance == "no" and db.reservation(each).cabin != "business"
            for each in user.reservations
        )
    )
    talk = Talk(loaded("airline")).user(f"I am {poor.user_id}.").call("get_user_details", user_id=poor.user_id)
    talk.agent("I can offer you a certificate of $50. Do you confirm?").user("Yes.")
    talk.call("send_certificate", user_id=poor.user_id, amount=50)
    assert set(talk.breached) == {"unasked-compensation", "compensation"}


def test_a_booking_for_six() -> None:
    db: Any = loaded("airline").environment().agent_db
    user = next(
        each for each in db.users.scan() if any(m.source == "credit_card" for m in each.payment_methods.values())
    )
    flight, date, price = next(
        (flight, date, day.prices["economy"])
        for flight in db.flights.scan()
        for date, day in flight.dates.items()
        if day.status == "available" and day.available_seats["economy"] >= 6
    )
    talk = Talk(loaded("airline")).user(f"I am {user.user_id}.").call("get_user_details", user_id=user.user_id)
    talk.agreed(f"I will book {flight.flight_number} for six.")
    talk.call(
        "book_reservation",
        user_id=user.user_id,
        origin=flight.origin,
        destination=flight.destination,
        flight_type="one_way",
        cabin="economy",
        flights=[{"flight_number": flight.flight_number, "date": date}],
        passengers=[{"first_name": "A", "last_name": "B", "dob": "1990-01-01"}] * 6,
        payment_methods=[{"payment_id": card_of(user), "amount": 6 * price}],
        total_baggages=0,
        nonfree_baggages=0,
        insurance="no",
    )
    assert talk.breached == ["booking-limits"]


def insured_reservation() -> Any:
    """Return a reservation that only its insurance allows to cancel."""
    db: Any = loaded("airline").environment().agent_db
    return next(
        each
        for each in db.reservations.scan()
        if (each.insurance, each.status) == ("yes", None)
        and each.cabin != "business"
        and each.created_at < "2024-05-13"
        and {db.day(leg.flight_number, leg.date).status for leg in each.flights} == {"available"}
    )


@pytest.mark.parametrize(
    ("reason", "breached"),
    [
        ("My plans have changed.", ["cancel-reason"]),
        ("I have insurance, and I changed my mind.", ["cancel-reason"]),
        ("My daughter is in hospital.", []),
        ("I do not feel well enough to fly.", []),
        ("There is a storm coming.", []),
    ],
)
def test_the_insurance_covers_health_and_weather(reason: str, breached: list[str]) -> None:
    reservation = insured_reservation()
    talk = airline_talk(reservation).user(reason).agreed(f"I will cancel {reservation.reservation_id}.")
    assert talk.call("cancel_reservation", reservation_id=reservation.reservation_id).breached == breached


def disrupted(status: str) -> Any:
    """Return a reservation with such a flight, with its user, of the silver or gold membership."""
    db: Any = loaded("airline").environment().agent_db
    for reservation in db.reservations.scan():
        statuses = [db.day(leg.flight_number, leg.date).status for leg in reservation.flights]
        user = db.user(reservation.user_id)
        if status in statuses and "landed" not in statuses and user.membership != "regular":
            others = [db.reservation(each) for each in user.reservations if each != reservation.reservation_id]
            seen = {db.day(leg.flight_number, leg.date).status for each in others for leg in each.flights}
            if seen.isdisjoint({"delayed", "cancelled"}):
                return reservation, user
    raise AssertionError(f"no reservation has a flight that is {status}")


@pytest.mark.parametrize(
    ("status", "first", "per_person", "breached"),
    [
        ("cancelled", False, 100, []),
        ("cancelled", False, 50, ["compensation-amount"]),
        # For a delay, the reservation must have been changed or cancelled before.
        ("delayed", False, 50, ["compensation"]),
        ("delayed", True, 50, []),
        ("delayed", True, 100, ["compensation-amount"]),
    ],
)
def test_a_certificate_has_the_amount_for_what_happened(
    status: str, first: bool, per_person: int, breached: list[str]
) -> None:
    reservation, user = disrupted(status)
    name, amount = reservation.reservation_id, per_person * len(reservation.passengers)
    talk = airline_talk(reservation).user("I want compensation.")
    if first:
        people = [each.model_dump() for each in reservation.passengers]
        talk.agreed(f"I will change a name of {name}.")
        talk.call("update_reservation_passengers", reservation_id=name, passengers=people)
    talk.agreed(f"I will send a certificate of ${amount} for {name}.")
    talk.call("send_certificate", user_id=user.user_id, amount=amount)
    assert [each for each in talk.breached if each.startswith("compensation")] == breached


def test_a_write_for_a_user_who_was_not_identified() -> None:
    reservation, _ = airline_reservation(cabin="business")
    talk = Talk(loaded("airline")).user("Cancel it.").agreed(f"I will cancel {reservation.reservation_id}.")
    talk.call("cancel_reservation", reservation_id=reservation.reservation_id)
    assert set(talk.breached) == {"identification", "read-before-write"}


def retail_order(status: str, items: int = 1) -> Any:
    db: Any = loaded("retail").environment().agent_db
    order = next(o for o in db.orders.scan() if o.status == status and len(o.items) >= items)
    return order, db.users.peek(order.user_id)


def retail_talk(order: Any, user: Any) -> Talk:
    talk = Talk(loaded("retail")).user(f"I am {user.email}, it is about {order.order_id}.")
    talk.call("find_user_id_by_email", email=user.email)
    return talk.call("get_order_details", order_id=order.order_id)


def test_retail_keeps_every_rule_in_a_right_conversation() -> None:
    order, user = retail_order("pending")
    talk = retail_talk(order, user).agreed(f"I will cancel {order.order_id}.")
    talk.call("cancel_pending_order", order_id=order.order_id, reason="no longer needed")
    assert talk.agent(f"Order {order.order_id} has been cancelled.").breached == []


@pytest.mark.parametrize(
    ("more", "breached"), [([], ["exchange-differs"]), ([""], [])], ids=["alone", "with-an-empty-text"]
)
def test_an_exchange_for_the_very_same_item(more: list[str], breached: list[str]) -> None:
    """The tool refuses a list of another length, and an empty text is no version that was to be shown."""
    order, user = retail_order("delivered")
    db: Any = loaded("retail").environment().agent_db
    method = order.payment_history[0].payment_method_id
    item = next(each for each in order.items if db.products.peek(each.product_id).variants[each.item_id].available)
    talk = retail_talk(order, user).call("get_product_details", product_id=item.product_id)
    talk.agreed(f"I will exchange the {item.name} ({', '.join(item.options.values())}).")
    talk.call(
        "exchange_delivered_order_items",
        order_id=order.order_id,
        item_ids=[item.item_id],
        new_item_ids=[item.item_id, *more],
        payment_method_id=method,
    )
    assert talk.breached == breached


def test_what_describes_the_present_item_describes_no_other_version() -> None:
    """The agent names the options of the item that the customer has, and a version without any of them is chosen."""
    order, user = retail_order("delivered")
    db: Any = loaded("retail").environment().agent_db
    method = order.payment_history[0].payment_method_id
    pairs = [
        (item, version)
        for item in order.items
        for version in db.products.peek(item.product_id).variants.values()
        if version.available and version.item_id != item.item_id
    ]

    def chosen(item: Any, version: Any, said: str) -> list[str]:
        talk = retail_talk(order, user).call("get_product_details", product_id=item.product_id).agreed(said)
        talk.call(
            "exchange_delivered_order_items",
            order_id=order.order_id,
            item_ids=[item.item_id],
            new_item_ids=[version.item_id],
            payment_method_id=method,
        )
        return talk.breached

    item, version = min(pairs, key=lambda pair: len({*pair[0].options.values()} & {*pair[1].options.values()}))
    present = ", ".join(item.options.values())
    assert chosen(item, version, f"I will exchange the {item.name} ({present}) for the cheapest one.") == []
    other = next(v for _, v in pairs if _.product_id == item.product_id and v.item_id != version.item_id)
    named = f"I will exchange the {item.name} ({present}) for {', '.join(other.options.values())}."
    assert chosen(item, version, named) == ["stated-version"]


def test_an_address_after_a_change_of_items() -> None:
    order, user = retail_order("pending (item modified)")
    talk = retail_talk(order, user).agreed(f"I will send {order.order_id} to 1 Elm Street, Rome, 12345.")
    where = {"address1": "1 Elm Street", "address2": "", "city": "Rome", "country": "USA", "state": "NY"}
    talk.call("modify_pending_order_address", order_id=order.order_id, zip="12345", **where)
    assert talk.breached == ["address-after-items"]
