"""Prices of flights and payments for them: the rules that booking and changing a reservation share.

Source: τ²-bench v1.0.1, also for what is not checked and for what a refused call has changed by then.
"""

from collections.abc import Iterable

from pytest_tau.environment import ToolError, Values

from .models import AirlineDB, Available, Cabin, Certificate, FlightInfo, GiftCard, Leg, Payment, Reservation, User


def book(
    db: AirlineDB, reservation: Reservation, flights: Iterable[FlightInfo], nonfree_baggages: int, values: Values
) -> None:
    """Give a new reservation its flights, take the payment and the seats, and store it.

    Args:
        db: Where to store it.
        reservation: Complete but for its flights; its payment history says what is paid with what.
        flights: The flights in order.
        nonfree_baggages: The bags to pay for, as the caller wrote them.
        values: The values of the policy.

    Raises:
        ToolError: A flight cannot be booked, or the payment does not fit. Nothing is changed.
        KeyError: A certificate is spent twice; what was paid before stays paid.
    """
    user_id, payments, seats = reservation.user_id, reservation.payment_history, len(reservation.passengers)
    reservation.flights = [new_leg(db, flight, reservation.cabin, seats) for flight in flights]
    total = sum(leg.price * seats for leg in reservation.flights)
    if reservation.insurance == "yes":
        total += values["insurance_fee"] * seats
    total += values["extra_bag_fee"] * nonfree_baggages
    _check_payments(db.user(user_id), payments, total)
    _settle(db.users[user_id], payments)
    for leg in reservation.flights:
        day = db.flights[leg.flight_number].dates[leg.date]
        assert isinstance(day, Available)
        day.available_seats[reservation.cabin] -= seats
    db.reservations[reservation.reservation_id] = reservation
    db.users[user_id].reservations.append(reservation.reservation_id)


def new_leg(db: AirlineDB, flight: FlightInfo, cabin: Cabin, seats: int) -> Leg:
    """Return a flight at its current price.

    Raises:
        ToolError: No such flight, not open for booking, or with fewer free seats than needed.
        KeyError: No such cabin.
    """
    number, date = flight.flight_number, flight.date
    day = db.day(number, date)
    if not isinstance(day, Available):
        raise ToolError(f"Flight {number} not available on date {date}")
    if day.available_seats[cabin] < seats:
        raise ToolError(f"Not enough seats on flight {number}")
    route = db.flight(number)
    return Leg(
        flight_number=number, origin=route.origin, destination=route.destination, date=date, price=day.prices[cabin]
    )


def charge(db: AirlineDB, user_id: str, payment_id: str, total: int) -> Payment | None:
    """Charge the change of a reservation to a card of the user's, or refund it where the total is negative.

    Returns:
        The entry for the payment history; None where there is nothing to pay.

    Raises:
        ToolError: No such payment method, a certificate, or a gift card with too low a balance.
        pydantic.ValidationError: The total is no whole number; a gift card has been debited.
    """
    methods = db.user(user_id).payment_methods
    if payment_id not in methods:
        raise ToolError("Payment method not found")
    method = methods[payment_id]
    if isinstance(method, Certificate):
        raise ToolError("Certificate cannot be used to update reservation")
    if isinstance(method, GiftCard) and method.amount < total:
        raise ToolError("Gift card balance is not enough")
    card = db.users[user_id].payment_methods[payment_id]
    if isinstance(card, GiftCard):
        card.amount -= total
    return Payment(payment_id=payment_id, amount=total) if total != 0 else None


def _check_payments(user: User, payments: list[Payment], total: int) -> None:
    for payment in payments:
        method = user.payment_methods.get(payment.payment_id)
        if method is None:
            raise ToolError(f"Payment method {payment.payment_id} not found")
        # Each payment is compared with the whole balance, also where a card is listed twice.
        if isinstance(method, GiftCard | Certificate) and method.amount < payment.amount:
            raise ToolError(f"Not enough balance in payment method {payment.payment_id}")
    paid = sum(payment.amount for payment in payments)
    if paid != total:
        raise ToolError(f"Payment amount does not add up, total price is {total}, but paid {paid}")


def _settle(user: User, payments: list[Payment]) -> None:
    for payment in payments:
        method = user.payment_methods[payment.payment_id]
        if isinstance(method, GiftCard):
            method.amount -= payment.amount
        elif isinstance(method, Certificate):
            del user.payment_methods[payment.payment_id]
