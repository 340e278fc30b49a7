"""The rules of the airline's policy that a conversation alone can show to be broken."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

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
from .formatting import spoken
from .values import VALUES, free_bags, may_be_compensated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Environment, Values
    from pytest_tau.policy import Breach, MadeCall, Trajectory

    from .models import AirlineDB, Cabin, Reservation

#: The fingerprint of the official policy's sentence about what comes before a change.
_LISTED = (("a64bd9680217",),)
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
#: Words for the reasons that insurance covers.
_COVERED = {
    "health": re.compile(
        r"\b(?:health|medical|ill|illness|sick\w*|unwell|ailing|disease|infect\w+|covid|flu|fever|injur\w+|hurt|"
        r"broke\w*|accident|surger\w+|operat(?:ed|ion)|hospital\w*|doctor\w*|diagnos\w+|pregnan\w+|well enough|"
        r"(?:not|n.t) (?:\w+ )?well)\b",
        re.IGNORECASE,
    ),
    "weather": re.compile(
        r"\b(?:weather|storm\w*|snow\w*|hurricane|tornado|flood\w*|blizzard|typhoon|icy|fog\w*)\b", re.IGNORECASE
    ),
}
#: The values that say how many payment methods of a kind one booking has at most.
_MOST_METHODS = {
    "certificate": "max_certificates",
    "credit_card": "max_credit_cards",
    "gift_card": "max_gift_cards",
}


def _found(call: MadeCall) -> str | None:
    is_user = call.name == "get_user_details" and not call.failed
    return str(call.arguments.get("user_id")) if is_user else None


def _reads_user(call: MadeCall) -> str | None:
    """Return whose record a call has read: a reservation shows the user's id, too."""
    if call.name == "get_reservation_details" and not call.failed and isinstance(call.value, dict):
        return call.value.get("user_id")
    return _found(call)


_IDENTIFICATION = identification("Ask for the user id first.", by=_reads_user, guarded=_WRITES)


def _identification(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield changes for a user whose id was neither looked up nor given by the user."""
    gives_id: dict[str, bool] = {}
    for breach in _IDENTIFICATION.check(trajectory):
        user_text = " ".join(turn.text for turn in trajectory.user_texts(before=breach.call))
        # No tool adds a user.
        state = trajectory.shared_state_before(trajectory.calls[0])
        if user_text not in gives_id:
            gives_id[user_text] = state is not None and mentions_any(user_text, cast("AirlineDB", state.agent_db).users)
        if not gives_id[user_text]:
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
    ids_read = {
        earlier.arguments["reservation_id"]
        for earlier in trajectory.before(call)
        if "reservation_id" in earlier.arguments
    }
    if ids_read != {call.arguments.get("reservation_id")}:
        yield from _named(call, trajectory)


def _numbers(call: MadeCall, trajectory: Trajectory) -> list[Any]:
    """Return the flight numbers of the reservation of a call that no other reservation has."""
    results = {
        earlier.arguments.get("reservation_id"): earlier.value
        for earlier in trajectory.before(call)
        if "reservation_id" in earlier.arguments and isinstance(earlier.value, dict)
    }
    numbers = {
        name: {leg.get("flight_number") for leg in value.get("flights", ()) if isinstance(leg, dict)}
        for name, value in results.items()
    }
    mine = numbers.pop(call.arguments.get("reservation_id"), set())
    return sorted(map(str, mine - set().union(*numbers.values())))


# Conditions that the records decide


def _condition(
    name: str,
    sentence: str,
    tools: str | tuple[str, ...],
    problem: Callable[[MadeCall, Environment], str | None],
    *edition: str,
) -> Rule:
    """Return the rule that tools are only called under a condition of the policy.

    Args:
        name: The rule's name.
        sentence: The sentence of the policy.
        tools: The tools; calls that they have refused changed nothing and are not looked at.
        problem: Returns why a call was not allowed by the records before it; None if it was.
        edition: The fingerprints of the sentences of τ²-bench's policy that state the condition.
    """

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        for call in trajectory.of_tool(*([tools] if isinstance(tools, str) else tools)):
            state = trajectory.shared_state_before(call)
            if state is None:
                continue
            try:
                why = problem(call, state)
            except ToolError:  # the call was made on other data
                continue
            if why:
                yield trajectory.breach(call, why)

    return Rule(name, sentence, check, absolute=True, editions=(edition,))


def _db(state: Environment) -> AirlineDB:
    return cast("AirlineDB", state.agent_db)


def _reservation(call: MadeCall, state: Environment) -> Reservation:
    return _db(state).reservation(str(call.arguments.get("reservation_id")))


def statuses(reservation: Reservation, db: AirlineDB) -> list[str]:
    """Return the statuses of the flights of a reservation, each on its day."""
    return [db.day(leg.flight_number, leg.date).status for leg in reservation.flights]


def _not_to_cancel(call: MadeCall, state: Environment) -> str | None:
    reservation = _reservation(call, state)
    # Whether the insurance covers the reason, only what the user says can tell.
    if may_be_cancelled(reservation, _db(state), state.values, state.elapsed) or reservation.insurance == "yes":
        return None
    hours, cabin = state.values["hours_to_cancel"], spoken(state.values["cabin_to_cancel"])
    return f"booked more than {hours} hours ago, no flight cancelled, not in {cabin}, no insurance"


def may_be_cancelled(
    reservation: Reservation, db: AirlineDB, values: Values = VALUES, elapsed: dt.timedelta = dt.timedelta()
) -> bool:
    """Return whether a reservation can be cancelled for any reason, so long after the beginning of the task."""
    age = MOMENT + elapsed - dt.datetime.fromisoformat(reservation.created_at)
    fresh = age <= dt.timedelta(hours=values["hours_to_cancel"])
    return fresh or "cancelled" in statuses(reservation, db) or reservation.cabin == values["cabin_to_cancel"]


def _not_covered(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield cancellations that only the insurance allows, although the user has named no reason that it covers."""
    for call in trajectory.of_tool("cancel_reservation"):
        state = trajectory.shared_state_before(call)
        if state is None:
            continue
        user_text = " ".join(turn.text for turn in trajectory.user_texts(before=call))
        try:
            reservation = _reservation(call, state)
        except ToolError:  # the call was made on other data
            continue
        anyway = may_be_cancelled(reservation, _db(state), state.values, state.elapsed)
        insured = reservation.insurance == "yes" and not anyway
        reasons = state.values["insured_reasons"].split(" or ")
        if insured and user_text and not any(_COVERED[reason].search(user_text) for reason in reasons):
            yield trajectory.breach(call, "only the insurance would allow it, and the user names no such reason")


def _flown(call: MadeCall, state: Environment) -> str | None:
    flown = _FLOWN & set(statuses(_reservation(call, state), _db(state)))
    return f"a flight of the reservation is {min(flown)}" if flown else None


def _changes_fixed_flights(call: MadeCall, state: Environment) -> str | None:
    reservation, cabin = _reservation(call, state), state.values["cabin_without_changes"]
    if not reservation.cabin == call.arguments.get("cabin") == cabin:
        return None
    before = {(leg.flight_number, leg.date) for leg in reservation.flights}
    return f"changes flights in {spoken(cabin)}" if _flights(call) != before else None


def _flights(call: MadeCall) -> set[tuple[Any, Any]]:
    flights = call.arguments.get("flights")
    legs = flights if isinstance(flights, list) else []
    return {(leg.get("flight_number"), leg.get("date")) for leg in legs if isinstance(leg, dict)}


def _changes_route(call: MadeCall, state: Environment) -> str | None:
    reservation = _reservation(call, state)
    flights = call.arguments.get("flights")
    flown = [leg for leg in flights if isinstance(leg, dict)] if isinstance(flights, list) else []
    legs = [_db(state).flight(str(leg.get("flight_number"))) for leg in flown]
    if not legs:
        return None
    ends = reservation.origin if reservation.flight_type == "round_trip" else reservation.destination
    if legs[0].origin != reservation.origin or legs[-1].destination != ends:
        return f"from {legs[0].origin} to {legs[-1].destination} instead of {reservation.origin} to {ends}"
    stops = {leg.destination for leg in legs}
    return None if reservation.destination in stops else f"does not fly to {reservation.destination}"


def _takes_bags_away(call: MadeCall, state: Environment) -> str | None:
    before, after = _reservation(call, state).total_baggages, call.arguments.get("total_baggages")
    return f"{after} bags instead of {before}" if isinstance(after, int) and after < before else None


def _wrong_bag_count(call: MadeCall, state: Environment) -> str | None:
    total, paid = call.arguments.get("total_baggages"), call.arguments.get("nonfree_baggages")
    if not isinstance(total, int) or not isinstance(paid, int):
        return None
    chargeable = max(0, total - _free_bags(call, state))
    if "reservation_id" in call.arguments:
        # Bags that were paid before stay paid, although they would be free today.
        chargeable = max(chargeable, min(total, _reservation(call, state).nonfree_baggages))
    return f"{paid} bags to be paid, {chargeable} of {total} are" if paid != chargeable else None


def _free_bags(call: MadeCall, state: Environment) -> int:
    """Return how many bags are free in the reservation of a call, which it changes or makes."""
    db = _db(state)
    if "reservation_id" in call.arguments:
        reservation = _reservation(call, state)
        user, cabin, people = db.user(reservation.user_id), reservation.cabin, len(reservation.passengers)
    else:
        user, cabin = db.user(str(call.arguments.get("user_id"))), cast("Cabin", call.arguments.get("cabin"))
        people = len(cast("list[Any]", call.arguments.get("passengers") or ()))
    return free_bags(state.values, user.membership, cabin) * people


def _too_many(call: MadeCall, state: Environment) -> str | None:
    people, paid = call.arguments.get("passengers"), call.arguments.get("payment_methods")
    if isinstance(people, list) and len(people) > state.values["max_passengers"]:
        return f"{len(people)} passengers"
    methods = _db(state).user(str(call.arguments.get("user_id"))).payment_methods
    ids = [payment.get("payment_id") for payment in paid if isinstance(payment, dict)] if isinstance(paid, list) else []
    kinds = Counter(methods[payment_id].source for payment_id in ids if payment_id in methods)
    over = [kind for kind, number in kinds.items() if number > state.values[_MOST_METHODS[kind]]]
    return f"{kinds[over[0]]} payment methods of the kind {over[0]}" if over else None


# Compensation: a change may have taken the disrupted flight out of the reservation, so its first state counts too

#: The value that says what the certificate for each passenger is worth, by the status of a flight.
_PER_PASSENGER = {"cancelled": "certificate_for_cancelled", "delayed": "certificate_for_delayed"}


class _Disrupted(NamedTuple):
    reservation: Reservation
    per_passenger: int
    #: Whether the policy compensates its user.
    counts: bool


def _disrupted(call: MadeCall, trajectory: Trajectory) -> Iterator[_Disrupted]:
    """Yield the reservations whose flights are disrupted, with the amount for each passenger.

    One with a delayed flight counts if the user had it changed or cancelled before.
    """
    for state in (trajectory.shared_state_before(trajectory.calls[0]), trajectory.shared_state_before(call)):
        if state is None:
            continue
        db = cast("AirlineDB", state.agent_db)
        user = db.user(str(call.arguments.get("user_id")))
        for reservation in map(db.reservation, user.reservations):
            for status in _PER_PASSENGER:
                ready = status == "cancelled" or _was_changed(reservation, trajectory, call)
                if ready and status in statuses(reservation, db):
                    counts = may_be_compensated(state.values, user, reservation)
                    yield _Disrupted(reservation, state.values[_PER_PASSENGER[status]], counts)


def _was_changed(reservation: Reservation, trajectory: Trajectory, call: MadeCall) -> bool:
    writes = [earlier for earlier in trajectory.before(call) if earlier.mutates and not earlier.failed]
    return any(write.arguments.get("reservation_id") == reservation.reservation_id for write in writes)


def _compensated(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield certificates for users who get none."""
    for call, disrupted in _certificates(trajectory):
        if not disrupted:
            problem = (
                "no flight of the user is cancelled, and no reservation with a delayed one was changed or cancelled"
            )
            yield trajectory.breach(call, problem)
        elif not any(disruption.counts for disruption in disrupted):
            yield trajectory.breach(
                call, "neither the membership, nor insurance, nor the cabin entitles the user to it"
            )


def _amounts(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield certificates of another amount than those for the disrupted flights."""
    for call, disrupted in _certificates(trajectory):
        amounts = {
            disruption.per_passenger * len(disruption.reservation.passengers)
            for disruption in disrupted
            if disruption.counts
        }
        amount = call.arguments.get("amount")
        if amounts and amount not in amounts:
            right_amounts = " or ".join(f"${right_amount}" for right_amount in sorted(amounts))
            yield trajectory.breach(call, f"${amount} instead of {right_amounts}")


def _certificates(trajectory: Trajectory) -> Iterator[tuple[MadeCall, list[_Disrupted]]]:
    for call in trajectory.of_tool("send_certificate"):
        try:
            yield call, list(_disrupted(call, trajectory))
        except ToolError:  # the call was made on other data
            continue


_RULES = [
    one_call_at_a_time("Never make two calls at once, and never put text beside a call."),
    no_text_with_calls("Never make two calls at once, and never put text beside a call."),
    replace(_IDENTIFICATION, check=_identification, editions=(("cf8368793a33", "32151b748fdd"),)),
    own_records(
        "A user who does not know the latter is helped: look through the reservations in the profile.",
        by=_found,
        owner=_owner,
        private=("get_user_details",),
    ),
    replace(
        read_before_write(
            "Where this policy sets a condition, verify it yourself before you call; do not take the user's word for "
            "what a record can show.",
            needs=_record,
            reads=("get_reservation_details", "book_reservation"),
            exact=True,
        ),
        editions=(("658145564075", "3f5eb8237347"),),
    ),
    replace(stated_details(_CONFIRM, needs=_named_of_several), editions=_LISTED),
    replace(confirmation(_CONFIRM, needs=_named), editions=_LISTED),
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
        *("5bf6cc1c7130", "e1d733524214", "ffa6d393370d", "681099a004c6"),
    ),
    Rule(
        "cancel-reason",
        "it has insurance, and the reason is one that the insurance covers.",
        _not_covered,
        needs_dialog=True,
        of_reference=True,
        editions=(("681099a004c6",),),
    ),
    _condition(
        "cancel-flown",
        "If any flight of the reservation has been flown, you cannot help: transfer.",
        "cancel_reservation",
        _flown,
        "5536bd1fa358",
    ),
    _condition(
        "basic-economy",
        "those of a reservation in `{cabin_without_changes}` cannot be changed.",
        "update_reservation_flights",
        _changes_fixed_flights,
        "247e3ba883b3",
    ),
    _condition(
        "same-route",
        "Those of others can, as long as origin, destination and trip type stay.",
        "update_reservation_flights",
        _changes_route,
        "df6c7f275aad",
    ),
    _condition(
        "bags-added-only",
        "bags can be added but not taken away.",
        "update_reservation_baggages",
        _takes_bags_away,
        "724a55b653be",
    ),
    _condition(
        "bags-paid",
        "Each bag beyond that costs ${extra_bag_fee}.",
        ("update_reservation_baggages", "book_reservation"),
        _wrong_bag_count,
        *("f0cc0c67b469", "7a4a8350c6b5", "cdf0b654a54c"),
        *("7881e870ccfa", "c58acfd6f7e7", "b8e0722a57e4"),
        *("0d51bd76de6a", "064c37afdbfc", "54e729fb2729"),
    ),
    _condition(
        "booking-limits",
        "at most {max_certificates:word} travel certificate, {max_credit_cards:word} credit card and "
        "{max_gift_cards:word} gift cards in a reservation.",
        "book_reservation",
        _too_many,
        *("e3c4d3886def", "2d371c9f2412"),
    ),
    Rule(
        "compensation",
        "Only a user with {compensated_memberships} membership, with insurance on the reservation, or flying in "
        "`{compensated_cabin}` can get any.",
        _compensated,
        absolute=True,
        editions=(("f58ec5651543", "a2405a9a0c4c"),),
    ),
    Rule(
        "compensation-amount",
        "Send it with `send_certificate`. Nothing else is compensated, for no other reason.",
        _amounts,
        absolute=True,
        editions=(("ee7714c911e9", "759c44442890"),),
    ),
]
RULES = bounded(_RULES)
