"""Records of the airline: flights with their days, users, reservations. Dates and times are plain text."""

from typing import Annotated, Any, Literal, TypeAlias, TypeVar, cast

from pydantic import ConfigDict, Field, SerializeAsAny

from pytest_tau.environment import Database, Record, Table, ToolError

Cabin: TypeAlias = Literal["business", "economy", "basic_economy"]
FlightType: TypeAlias = Literal["round_trip", "one_way"]
Insurance: TypeAlias = Literal["yes", "no"]
Membership: TypeAlias = Literal["gold", "silver", "regular"]

R = TypeVar("R", bound="AirlineRecord")


class AirlineRecord(Record):
    """Base of the records; what a record does not know is dropped."""

    model_config = ConfigDict(extra="ignore")


class Name(AirlineRecord):
    """The name of a user."""

    first_name: str
    last_name: str


class Address(AirlineRecord):
    """The address of a user."""

    address1: str
    address2: str | None = None
    city: str
    country: str
    state: str
    zip: str


class CreditCard(AirlineRecord):
    """A card that pays any amount."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class GiftCard(AirlineRecord):
    """A card with a balance in USD."""

    source: Literal["gift_card"]
    id: str
    amount: float


class Certificate(AirlineRecord):
    """A travel certificate over so many USD, spent as a whole by one booking."""

    source: Literal["certificate"]
    id: str
    amount: float


PaymentMethod: TypeAlias = Annotated[CreditCard | GiftCard | Certificate, Field(discriminator="source")]


class Passenger(AirlineRecord):
    """Somebody who flies; `dob` is the date of birth, YYYY-MM-DD."""

    first_name: str
    last_name: str
    dob: str


class User(AirlineRecord):
    """A customer with payment methods by id and the ids of their reservations."""

    user_id: str
    name: Name
    address: Address
    email: str
    dob: str
    payment_methods: dict[str, PaymentMethod]
    saved_passengers: list[Passenger]
    membership: Membership
    reservations: list[str]


class Available(AirlineRecord):
    """A day that can be booked: free seats and prices in USD, by cabin."""

    status: Literal["available"]
    available_seats: dict[Cabin, int]
    prices: dict[Cabin, int]


class Landed(AirlineRecord):
    """A day whose flight has arrived."""

    status: Literal["landed"]
    actual_departure_time_est: str
    actual_arrival_time_est: str


class Flying(AirlineRecord):
    """A day whose flight is in the air."""

    status: Literal["flying"]
    actual_departure_time_est: str
    estimated_arrival_time_est: str


class Waiting(AirlineRecord):
    """A day whose flight is about to leave, in time or not."""

    status: Literal["on time", "delayed"]
    estimated_departure_time_est: str
    estimated_arrival_time_est: str


class Cancelled(AirlineRecord):
    """A day on which the airline does not fly."""

    status: Literal["cancelled"]


#: Written as what it is, which takes a third of the time of finding it in the union.
Day: TypeAlias = SerializeAsAny[
    Annotated[Available | Landed | Flying | Waiting | Cancelled, Field(discriminator="status")]
]


class Flight(AirlineRecord):
    """A flight with its days by date, YYYY-MM-DD; times are HH:MM:SS, with `+1` for an arrival on the next day."""

    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    dates: dict[str, Day]


class FlightInfo(AirlineRecord):
    """A flight number and the day of departure, YYYY-MM-DD."""

    flight_number: str
    date: str


class DirectFlight(AirlineRecord):
    """A flight on a day that can be booked, as a search shows it."""

    flight_number: str
    origin: str
    destination: str
    status: Literal["available"] = "available"
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    date: str | None = None
    available_seats: dict[Cabin, int]
    prices: dict[Cabin, int]


class Leg(AirlineRecord):
    """One flight of a reservation; `price` is what each passenger paid for it, in USD."""

    flight_number: str
    origin: str
    destination: str
    date: str
    price: int


class Payment(AirlineRecord):
    """An amount in whole USD, paid with the payment method of that id."""

    payment_id: str
    amount: int


class Reservation(AirlineRecord):
    """A booking of a user, with what was paid, perhaps cancelled."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: FlightType
    cabin: Cabin
    flights: list[Leg]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: Insurance
    status: Literal["cancelled"] | None = None


class AirlineDB(Database):
    """The airline's database. Its methods look up shared records, for reading only, or raise ``ToolError``."""

    flights: Table[Flight]
    users: Table[User]
    reservations: Table[Reservation]

    def flight(self, flight_number: str) -> Flight:
        """Return the flight with this number."""
        return _found("Flight", self.flights, flight_number)

    def user(self, user_id: str) -> User:
        """Return the user with this id."""
        return _found("User", self.users, user_id)

    def reservation(self, reservation_id: str) -> Reservation:
        """Return the reservation with this id."""
        return _found("Reservation", self.reservations, reservation_id)

    def day(self, flight_number: str, date: str) -> Day:
        """Return the state of a flight on a date."""
        dates = self.flight(flight_number).dates
        if date not in dates:
            raise ToolError(f"Flight {flight_number} not found on date {date}")
        return dates[date]


def _found(kind: str, table: Table[R], key: str) -> R:
    record = table.peek(key)
    if record is None:
        raise ToolError(f"{kind} {key} not found")
    return record


def as_records(kind: type[R], items: list[R | dict[str, Any]]) -> list[R]:
    """Return the items as records if all are objects; else as they came, for the caller to fail on.

    Source: τ²-bench v1.0.1: a list of anything else passes, and reaches the database, where no tool reads it.
    """
    if all(isinstance(item, dict) for item in items):
        return [kind.model_validate(item) for item in items]
    return cast("list[R]", items)
