"""Ways round a refusal that the airline's policy leaves: what a scenario has to settle where its user is refused."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from pytest_tau.policy import WayRound

from .rules import may_be_cancelled, statuses
from .values import VALUES, may_be_compensated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_tau.models import Action

    from .models import AirlineDB, Reservation, User


def _named(db: AirlineDB, text: str, actions: Sequence[Action]) -> Iterator[tuple[Reservation, User]]:
    """Yield the reservations that a scenario names and the reference leaves as they are, with their user."""
    written = {str(action.arguments.get("reservation_id")) for action in actions if not action.name.startswith("get_")}
    for user in db.users.scan():
        if user.user_id not in text:
            continue
        for reservation in map(db.reservation, user.reservations):
            ends = {reservation.origin.lower(), reservation.destination.lower()}
            numbers = {leg.flight_number.lower() for leg in reservation.flights}
            days = {f"{dt.date.fromisoformat(leg.date):%B} {int(leg.date[-2:])}".lower() for leg in reservation.flights}
            words = set(text.replace(".", " ").replace(",", " ").split())
            is_named = (
                ends <= words
                or any(day in text for day in days)
                or words & {reservation.reservation_id.lower(), *numbers}
            )
            if is_named and reservation.reservation_id not in written:
                yield reservation, user


def _insured(db: AirlineDB, text: str, actions: Sequence[Action]) -> Iterator[str]:
    for reservation, _ in _named(db, text, actions):
        flown = {"flying", "landed"} & set(statuses(reservation, db))
        if reservation.insurance == "yes" and not may_be_cancelled(reservation, db) and not flown:
            yield f"reservation {reservation.reservation_id} is insured"


def _basic(db: AirlineDB, text: str, actions: Sequence[Action]) -> Iterator[str]:
    for reservation, _ in _named(db, text, actions):
        if reservation.cabin == "basic_economy" and not {"flying", "landed"} & set(statuses(reservation, db)):
            yield f"reservation {reservation.reservation_id} is in basic economy"


def _delayed(db: AirlineDB, text: str, actions: Sequence[Action]) -> Iterator[str]:
    if any(action.name == "send_certificate" for action in actions):
        return
    for reservation, user in _named(db, text, actions):
        if may_be_compensated(VALUES, user, reservation) and "delayed" in statuses(reservation, db):
            yield f"a flight of reservation {reservation.reservation_id} is delayed"


WAYS_ROUND = [
    WayRound(
        "name a reason that the insurance covers, such as an illness",
        wish=r"\bcancel(?:l?ing)?\b[^.]{0,40}\b(?:flights?|reservations?|trips?|booking|ticket|one)\b",
        settled=(
            r"\b(?:health\w*|ill|illness|sick\w*|unwell|weather|storm\w*|emergency|(?:not|\w*n.t) want to cancel)\b|"
            r"\bcancel[^.]*\b(?:because|since|due to|so that)\b"
        ),
        open=_insured,
    ),
    WayRound(
        "upgrade the cabin first, after which flights can be changed",
        wish=r"\b(?:change|move|push|postpone|delay)\b[^.]{0,60}\b(?:flights?|date|nonstop|trip)\b",
        settled=r"\b(?:upgrad\w+|cabin|business|basic|class)\b|\$\d",
        open=_basic,
    ),
    WayRound(
        "change or cancel the delayed flight, which a compensation depends on",
        wish=r"(?s)\bdelay.*compensat|compensat.*\bdelay",
        settled=r"\b(?:cancel\w*|modif\w+|re-?book\w*|change (?:your|the|my) (?:flight|reservation|trip))\b",
        open=_delayed,
    ),
]
