"""The agent's tools of the airline domain."""

from typing import Any

from pytest_tau.environment import ToolError, Toolkit, calculator, tool

from .booking import book, charge, new_leg
from .dates import MOMENT
from .models import (
    AirlineDB,
    Cabin,
    Certificate,
    DirectFlight,
    FlightInfo,
    FlightType,
    Insurance,
    Leg,
    Passenger,
    Payment,
    Reservation,
    User,
    as_records,
)
from .search import AIRPORTS, direct_flights, onestop_flights
from .values import VALUES


class AirlineTools(Toolkit[AirlineDB]):
    """Flights, users and reservations of an airline. Source: the reference's airline domain.

    Arguments come unchecked from a model. Where a record made of them, or Python itself, refuses them, that error
    is the tool's; where nothing does, they are stored as they are. The reference has so many ids to give as its values
    name, and then gives no more.
    """

    tau_values = VALUES

    @tool("write")
    def book_reservation(  # noqa: PLR0913, PLR0917 - a tool's parameters are its schema
        self,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: FlightType,
        cabin: Cabin,
        flights: list[FlightInfo | dict[str, Any]],
        passengers: list[Passenger | dict[str, Any]],
        payment_methods: list[Payment | dict[str, Any]],
        total_baggages: int,
        nonfree_baggages: int,
        insurance: Insurance,
    ) -> Reservation:
        """Book flights for a user, take the payment and return the new reservation.

        Checked are the flights' status and free seats, the balances, and that the payments add up to the price: fares
        of all passengers, ${extra_bag_fee} for each bag that is not free, ${insurance_fee} a passenger for insurance. Nothing else is checked.

        Args:
            user_id: Who books and pays, such as liam_garcia_1042.
            origin: Airport where the trip begins, a code such as BOS.
            destination: Airport to which the trip goes, a code such as SEA.
            flight_type: With or without the way back.
            cabin: One class for all flights and passengers.
            flights: Every flight of the trip in order, those of the way back included, each with its day.
            passengers: Everybody who flies.
            payment_methods: Ids of payment methods in the user's profile, with what each pays in whole dollars.
            total_baggages: How many checked bags there are, free or not.
            nonfree_baggages: How many of them exceed the free allowance.
            insurance: Whether travel insurance is bought.
        """  # noqa: E501 - the placeholders are longer than the figures
        legs_wanted = as_records(FlightInfo, flights)
        people = as_records(Passenger, passengers)
        payments = as_records(Payment, payment_methods)
        self.db.user(user_id)
        reservation = Reservation(
            reservation_id=self._new_reservation_id(),
            user_id=user_id,
            origin=origin,
            destination=destination,
            flight_type=flight_type,
            cabin=cabin,
            flights=[],
            passengers=people,
            payment_history=payments,
            created_at=(MOMENT + self.tau_elapsed).isoformat(),
            total_baggages=total_baggages,
            nonfree_baggages=nonfree_baggages,
            insurance=insurance,
        )
        book(self.db, reservation, legs_wanted, nonfree_baggages, self.tau_values)
        return reservation

    @tool("generic")
    def calculate(self, expression: str) -> str:
        """Do arithmetic; the result is rounded to two decimal places.

        Args:
            expression: Numbers with + - * / and parentheses, such as 3 * (129 + 50).
        """
        return calculator.calculate(expression)

    @tool("write")
    def cancel_reservation(self, reservation_id: str) -> Reservation:
        """Cancel a reservation with all its flights and note the refund of every payment.

        Whether the policy allows it is not looked at: check first.

        Args:
            reservation_id: The reservation's id, six letters and digits.
        """
        self.db.reservation(reservation_id)
        reservation = self.db.reservations[reservation_id]
        history = reservation.payment_history
        history += [Payment(payment_id=paid.payment_id, amount=-paid.amount) for paid in history]
        reservation.status = "cancelled"
        return reservation

    @tool("read")
    def get_reservation_details(self, reservation_id: str) -> Reservation:
        """Read a reservation: flights with prices, cabin, passengers, bags, insurance, payments and status.

        Args:
            reservation_id: The reservation's id, six letters and digits.
        """
        return self.db.reservation(reservation_id)

    @tool("read")
    def get_user_details(self, user_id: str) -> User:
        """Read a user's profile: contact data, membership, payment methods, saved passengers, reservation ids.

        Args:
            user_id: The user's id, such as liam_garcia_1042.
        """
        return self.db.user(user_id)

    @tool("read")
    def list_all_airports(self) -> list[dict[str, str]]:
        """List the airports, with code and city."""
        return [{"iata": iata, "city": city} for iata, city in AIRPORTS]

    @tool("read")
    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[DirectFlight]:
        """Find flights without a stop that can be booked on a day, with free seats and prices by cabin.

        Args:
            origin: Code of the airport of departure, such as BOS.
            destination: Code of the airport of arrival, such as SEA.
            date: Day of departure, YYYY-MM-DD.
        """
        return direct_flights(self.db.flights, origin, destination, date)

    @tool("read")
    def search_onestop_flight(self, origin: str, destination: str, date: str) -> list[list[DirectFlight]]:
        """Find pairs of flights with one stop in between that can be booked; the second may leave a day later.

        Args:
            origin: Code of the airport of departure, such as BOS.
            destination: Code of the airport where the second flight arrives, such as SEA.
            date: Day on which the first flight departs, YYYY-MM-DD.
        """
        return onestop_flights(self.db.flights, origin, destination, date)

    @tool("write")
    def send_certificate(self, user_id: str, amount: int) -> str:
        """Add a travel certificate to a user's payment methods. It cannot be taken back: check the policy first.

        Args:
            user_id: Who gets it.
            amount: What it is worth, in dollars.
        """
        methods = self.db.user(user_id).payment_methods
        ids = (f"certificate_{number}" for number in self.tau_values["certificate_numbers"])
        new_id = next((new_id for new_id in ids if new_id not in methods), None)
        if new_id is None:
            raise ToolError("Too many certificates")
        certificate = Certificate(source="certificate", id=new_id, amount=amount)
        self.db.users[user_id].payment_methods[new_id] = certificate
        return f"Certificate {new_id} added to user {user_id} with amount {amount}."

    @tool("generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        """Hand the conversation over to a person, for requests that these tools and the policy leave no way to meet.

        Args:
            summary: What the user wants and what was tried.
        """
        return "Transfer successful"

    @tool("write")
    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> Reservation:
        """Set a reservation's numbers of bags and charge ${extra_bag_fee} for each one more that is not free.

        The allowance is not looked at, and fewer bags are not refunded.

        Args:
            reservation_id: The reservation's id, six letters and digits.
            total_baggages: How many checked bags there are to be, with those booked before.
            nonfree_baggages: How many of them exceed the free allowance.
            payment_id: Credit card or gift card in the user's profile, such as gift_card_1234567.
        """
        reservation = self.db.reservation(reservation_id)
        self.db.user(reservation.user_id)
        price = self.tau_values["extra_bag_fee"] * max(0, nonfree_baggages - reservation.nonfree_baggages)
        reservation = self._charged(reservation_id, payment_id, price)
        reservation.total_baggages, reservation.nonfree_baggages = total_baggages, nonfree_baggages
        return reservation

    @tool("write")
    def update_reservation_flights(
        self, reservation_id: str, cabin: Cabin, flights: list[FlightInfo | dict[str, Any]], payment_id: str
    ) -> Reservation:
        """Replace a reservation's flights, its cabin, or both; charge or refund the difference in fares.

        In the same cabin, flights that stay keep their price; every other one is booked at the current price and has
        to be available. Whether the policy allows the change is not looked at: check first.

        Args:
            reservation_id: The reservation's id, six letters and digits.
            cabin: The class of the whole reservation from now on, also if it stays as it is.
            flights: Every flight of the reservation from now on, also those that stay, in order.
            payment_id: Credit card or gift card in the user's profile, such as gift_card_1234567.
        """
        legs_wanted = as_records(FlightInfo, flights)
        reservation = self.db.reservation(reservation_id)
        self.db.user(reservation.user_id)
        passengers = len(reservation.passengers)
        old_legs = {(leg.flight_number, leg.date): leg for leg in reversed(reservation.flights)}
        legs: list[Leg] = []
        for flight in legs_wanted:
            leg = old_legs.get((flight.flight_number, flight.date)) if cabin == reservation.cabin else None
            legs.append(leg.model_copy() if leg else new_leg(self.db, flight, cabin, passengers))
        difference = sum(leg.price for leg in legs) - sum(leg.price for leg in reservation.flights)
        reservation = self._charged(reservation_id, payment_id, passengers * difference)
        reservation.flights, reservation.cabin = legs, cabin
        return reservation

    @tool("write")
    def update_reservation_passengers(
        self, reservation_id: str, passengers: list[Passenger | dict[str, Any]]
    ) -> Reservation:
        """Replace the passengers of a reservation by as many others, or correct their names and birth dates.

        Args:
            reservation_id: The reservation's id, six letters and digits.
            passengers: Everybody who flies, also those who stay.
        """
        people = as_records(Passenger, passengers)
        if len(people) != len(self.db.reservation(reservation_id).passengers):
            raise ToolError("Number of passengers does not match")
        reservation = self.db.reservations[reservation_id]
        reservation.passengers = people
        return reservation

    @tool("read")
    def get_flight_status(self, flight_number: str, date: str) -> str:
        """Tell how a flight stands on a day: available, on time, delayed, flying, landed or cancelled.

        Args:
            flight_number: The flight's number, such as HAT001.
            date: Day of departure, YYYY-MM-DD.
        """
        return self.db.day(flight_number, date).status

    def _new_reservation_id(self) -> str:
        for reservation_id in self.tau_values["reservation_ids"]:
            if reservation_id not in self.db.reservations:
                return str(reservation_id)
        raise ToolError("Too many reservations")

    def _charged(self, reservation_id: str, payment_id: str, total: int) -> Reservation:
        """Return the reservation, to be changed, with the payment of the change noted in its history."""
        payment = charge(self.db, self.db.reservation(reservation_id).user_id, payment_id, total)
        reservation = self.db.reservations[reservation_id]
        if payment is not None:
            reservation.payment_history.append(payment)
        return reservation
