"""The rules of the airline's policy that a conversation alone can show to be broken."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pytest_tau.errors import ToolError
from pytest_tau.policy import (
    Rule,
    bounded,
    confirmation,
    done_claims,
    identification,
    mentions_any,
    no_text_with_calls,
    nothing_unasked,
    one_call_at_a_time,
    own_records,
    read_before_write,
    stated_details,
    transfer_notice,
)

from .dates import MOMENT
from .pricing import free_bags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

    from .models import AirlineDB, Reservation

_CONFIRM = (
    "Before any call that changes the database (booking, changing flights, cabin, bags or passengers, cancelling, "
    "sending a certificate), tell the user in detail what you are about to do and what it costs, and go on only after "
    'a clear "yes".'
)
_SAY_ONLY = "Say only what a tool, the user or this policy has told you."
_WRITES = (
    "book_reservation",
    "cancel_reservation",
    "send_certificate",
    "update_reservation_baggages",
    "update_reservation_flights",
    "update_reservation_passengers",
)
_FLOWN = {"flying", "landed"}
_HOURS_TO_CANCEL = 24
_MOST_PASSENGERS = 5
#: The most payment methods of each kind in one booking.
_MOST_METHODS = {"certificate": 1, "credit_card": 1, "gift_card": 3}


def _found(call: MadeCall) -> str | None:
    found = call.name == "get_user_details" and not call.failed
    return str(call.arguments.get("user_id")) if found else None


def _reads_user(call: MadeCall) -> str | None:
    """Return whose record a call has read: a reservation shows the user's id, too."""
    if call.name == "get_reservation_details" and not call.failed and isinstance(call.value, dict):
        return call.value.get("user_id")
    return _found(call)


_IDENTIFICATION = identification("Ask for the user id first.", by=_reads_user, guarded=_WRITES)


def _identification(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield changes for a user whose id was neither looked up nor given by the user."""
    given: dict[str, bool] = {}
    for breach in _IDENTIFICATION.check(trajectory):
        said = " ".join(turn.text for turn in trajectory.user_texts(before=breach.call))
        # No tool adds a user.
        state = trajectory.shared_state_before(trajectory.calls[0])
        if said not in given:
            given[said] = state is not None and mentions_any(said, cast("AirlineDB", state.agent_db).users)
        if not given[said]:
            yield breach


def _owner(call: MadeCall, _: Trajectory) -> str | None:
    if "user_id" in call.arguments:
        return str(call.arguments["user_id"])
    value: Any = call.value
    return value.get("user_id") if "reservation_id" in call.arguments and isinstance(value, dict) else None


def _record(call: MadeCall, _: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    if reservation_id := call.arguments.get("reservation_id"):
        yield f"reservation {reservation_id}", [reservation_id]


def _named(call: MadeCall, trajectory: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    """Yield what the user must have heard: the reservation by its id or by a flight that only it has."""
    if reservation_id := call.arguments.get("reservation_id"):
        yield f"reservation {reservation_id}", [reservation_id, *_numbers(call, trajectory)]


def _named_of_several(call: MadeCall, trajectory: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    """Yield the same, but not of the only reservation that was read: there is no doubt which one is meant."""
    read = {each.arguments["reservation_id"] for each in trajectory.before(call) if "reservation_id" in each.arguments}
    if read != {call.arguments.get("reservation_id")}:
        yield from _named(call, trajectory)


def _numbers(call: MadeCall, trajectory: Trajectory) -> list[Any]:
    """Return the flight numbers of the reservation of a call that no other reservation has."""
    shown = {
        each.arguments.get("reservation_id"): each.value
        for each in trajectory.before(call)
        if "reservation_id" in each.arguments and isinstance(each.value, dict)
    }
    numbers = {
        name: {leg.get("flight_number") for leg in value.get("flights", ()) if isinstance(leg, dict)}
        for name, value in shown.items()
    }
    mine = numbers.pop(call.arguments.get("reservation_id"), set())
    return sorted(map(str, mine - set().union(*numbers.values())))


# Conditions that the records decide


def _condition(name: str, sentence: str, tool: str, problem: Callable[[MadeCall, AirlineDB], str | None]) -> Rule:
    """Return the rule that a tool is only called under a condition of the policy.

    Args:
        name: The rule's name.
        sentence: The sentence of the policy.
        tool: The tool; calls that it has refused changed nothing and are not looked at.
        problem: Returns why a call was not allowed by the records before it; None if it was.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.of_tool(tool):
            state = trajectory.shared_state_before(call)
            if state is None:
                continue
            try:
                why = problem(call, cast("AirlineDB", state.agent_db))
            except ToolError:  # the call was made on other data
                continue
            if why:
                yield trajectory.breach(call, why)

    return Rule(name, sentence, check, absolute=True)


def _reservation(call: MadeCall, db: AirlineDB) -> Reservation:
    return db.reservation(str(call.arguments.get("reservation_id")))


def _statuses(reservation: Reservation, db: AirlineDB) -> list[str]:
    return [db.day(leg.flight_number, leg.date).status for leg in reservation.flights]


def _not_to_cancel(call: MadeCall, db: AirlineDB) -> str | None:
    reservation = _reservation(call, db)
    statuses = _statuses(reservation, db)
    age = MOMENT - dt.datetime.fromisoformat(reservation.created_at)
    fresh = age <= dt.timedelta(hours=_HOURS_TO_CANCEL)
    # Whether the insurance covers the reason, only a reader of the conversation can say.
    if fresh or "cancelled" in statuses or reservation.cabin == "business" or reservation.insurance == "yes":
        return None
    return "booked more than 24 hours ago, no flight cancelled, not in business, no insurance"


def _flown(call: MadeCall, db: AirlineDB) -> str | None:
    found = _FLOWN & set(_statuses(_reservation(call, db), db))
    return f"a flight of the reservation is {found.pop()}" if found else None


def _changes_basic_economy(call: MadeCall, db: AirlineDB) -> str | None:
    reservation, arguments = _reservation(call, db), call.arguments
    if reservation.cabin != "basic_economy" or arguments.get("cabin") != "basic_economy":
        return None
    before = {(leg.flight_number, leg.date) for leg in reservation.flights}
    return "changes flights in basic economy" if _flights(call) != before else None


def _flights(call: MadeCall) -> set[tuple[Any, Any]]:
    flights = call.arguments.get("flights")
    legs = flights if isinstance(flights, list) else []
    return {(leg.get("flight_number"), leg.get("date")) for leg in legs if isinstance(leg, dict)}


def _changes_route(call: MadeCall, db: AirlineDB) -> str | None:
    reservation = _reservation(call, db)
    flights = call.arguments.get("flights")
    flown = [leg for leg in flights if isinstance(leg, dict)] if isinstance(flights, list) else []
    legs = [db.flight(str(leg.get("flight_number"))) for leg in flown]
    if not legs:
        return None
    ends = reservation.origin if reservation.flight_type == "round_trip" else reservation.destination
    if legs[0].origin != reservation.origin or legs[-1].destination != ends:
        return f"from {legs[0].origin} to {legs[-1].destination} instead of {reservation.origin} to {ends}"
    stops = {leg.destination for leg in legs}
    return None if reservation.destination in stops else f"does not fly to {reservation.destination}"


def _takes_bags_away(call: MadeCall, db: AirlineDB) -> str | None:
    before, after = _reservation(call, db).total_baggages, call.arguments.get("total_baggages")
    return f"{after} bags instead of {before}" if isinstance(after, int) and after < before else None


def _wrong_bag_count(call: MadeCall, db: AirlineDB) -> str | None:
    reservation = _reservation(call, db)
    user = db.user(reservation.user_id)
    free = free_bags(user.membership, reservation.cabin) * len(reservation.passengers)
    total, paid = call.arguments.get("total_baggages"), call.arguments.get("nonfree_baggages")
    if not isinstance(total, int) or not isinstance(paid, int):
        return None
    wanted = max(0, total - free)
    return f"{paid} bags to be paid, {wanted} of {total} are" if paid < wanted else None


def _too_many(call: MadeCall, db: AirlineDB) -> str | None:
    people, paid = call.arguments.get("passengers"), call.arguments.get("payment_methods")
    if isinstance(people, list) and len(people) > _MOST_PASSENGERS:
        return f"{len(people)} passengers"
    methods = db.user(str(call.arguments.get("user_id"))).payment_methods
    ids = [each.get("payment_id") for each in paid if isinstance(each, dict)] if isinstance(paid, list) else []
    kinds = Counter(methods[each].source for each in ids if each in methods)
    over = [kind for kind, number in kinds.items() if number > _MOST_METHODS[kind]]
    return f"{kinds[over[0]]} payment methods of the kind {over[0]}" if over else None


def _not_to_compensate(call: MadeCall, db: AirlineDB) -> str | None:
    user = db.user(str(call.arguments.get("user_id")))
    reservations = [db.reservation(name) for name in user.reservations]
    if user.membership != "regular" or any(r.insurance == "yes" or r.cabin == "business" for r in reservations):
        return None
    return "a regular member with neither insurance nor business class"


_RULES = [
    one_call_at_a_time("Never make two calls at once, and never put text beside a call."),
    no_text_with_calls("Never make two calls at once, and never put text beside a call."),
    replace(_IDENTIFICATION, check=_identification),
    own_records(
        "A user who does not know the latter is helped: look through the reservations in the profile.",
        by=_found,
        owner=_owner,
        private=("get_user_details",),
    ),
    read_before_write(
        "Where this policy sets a condition, verify it yourself before you call; do not take the user's word for what "
        "a record can show.",
        needs=_record,
        reads=("get_reservation_details", "book_reservation"),
        exact=True,
    ),
    stated_details(_CONFIRM, needs=_named_of_several),
    confirmation(_CONFIRM, needs=_named),
    done_claims(_SAY_ONLY, ids=("reservation_id",)),
    transfer_notice("Then send this notice, with nothing added:"),
    nothing_unasked(
        "Never bring it up yourself; the user has to ask.",
        name="unasked-compensation",
        offer=r"\bcompensat\w+|\b(?:offer|send|issue|give) you an? (?:\$?\d+ )?(?:travel )?(?:certificate|voucher)\b",
        asked=r"compensat|voucher|certificate|refund|make (?:it )?up|reimburs|complain|delay|cancel",
        tools=("send_certificate",),
    ),
    _condition(
        "cancel-conditions",
        "Otherwise you may cancel if at least one of these is true, and must decline if none is:",
        "cancel_reservation",
        _not_to_cancel,
    ),
    _condition(
        "cancel-flown",
        "If any flight of the reservation has been flown, you cannot help: transfer.",
        "cancel_reservation",
        _flown,
    ),
    _condition(
        "basic-economy",
        "those of a basic economy reservation cannot be changed.",
        "update_reservation_flights",
        _changes_basic_economy,
    ),
    _condition(
        "same-route",
        "Those of others can, as long as origin, destination and trip type stay.",
        "update_reservation_flights",
        _changes_route,
    ),
    _condition(
        "bags-added-only", "bags can be added but not taken away.", "update_reservation_baggages", _takes_bags_away
    ),
    _condition("bags-paid", "Each bag beyond that costs $50.", "update_reservation_baggages", _wrong_bag_count),
    _condition(
        "booking-limits",
        "at most one travel certificate, one credit card and three gift cards in a reservation.",
        "book_reservation",
        _too_many,
    ),
    _condition(
        "compensation",
        "A `regular` user without insurance in basic economy or economy gets none.",
        "send_certificate",
        _not_to_compensate,
    ),
]
RULES = bounded(_RULES)
