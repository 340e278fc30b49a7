"""The state of a conversation of the rules agent: what has been read and done, and what cuts a request short."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ..._kit import dialog
from ..._kit.dialog import Declined
from ..._kit.formatting import join_sentences
from ..models import DirectFlight, Reservation, User
from .parsing import is_no

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable

    from pytest_tau.environment import Values

    from ..._kit.dialog import Talk

T = TypeVar("T")

_ATTEMPTS = 5
_INSISTS = re.compile(r"\W*I must insist\b")


class Withdrawn(Exception):  # noqa: N818 - no error: the user's no
    """A request that the user takes back."""


class OtherRequest(Exception):  # noqa: N818 - no error: the user has come to something else
    """A request that the user makes instead of an answer."""


@dataclass(frozen=True)
class Plan(dialog.Plan):
    """A change that the user has not agreed to yet.

    Attributes:
        reservation_id: The reservation that it changes; empty for none.
    """

    reservation_id: str = ""


@dataclass(kw_only=True)
class Session(dialog.Session[Plan]):
    """The state of a conversation: what has been read and done.

    Attributes:
        values: The values of the policy that it goes by.
        is_request: Returns whether a text is a request of its own.
        moment: The present time.
        reservation_id: The reservation that was mentioned last.
        before: Reservations as they were first read, by id.
        answered: The changes that a request led to, by its kind, its words and the reservation mentioned last.
    """

    values: Values
    is_request: Callable[[str], object]
    moment: dt.datetime
    reservation_id: str = ""
    before: dict[str, Reservation] = field(default_factory=dict)
    answered: dict[tuple[str, str, str], list[Plan]] = field(default_factory=dict)

    def find(self, question: str, read: Callable[[str], T | None], text: str = "") -> Talk[T]:
        """Ask until an answer is understood and possible.

        Args:
            question: The question.
            read: Reads an answer out of a text; returns None where there is none, raises ``Declined`` where it is
                impossible.
            text: A text that may have the answer already.

        Raises:
            Declined: There was no answer, or none that is possible.
            Withdrawn: The user says no.
            OtherRequest: The user asks for something else.
        """
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt or text:
                try:
                    value = read(text)
                except Declined as declined:
                    value, problem = None, f"Unfortunately that is not possible: {declined}."
                if value is not None:
                    return value
            answer = yield from self.ask(join_sentences([problem, question]))
            if _INSISTS.match(answer):
                continue
            if is_no(answer):
                raise Withdrawn
            if self.is_request(answer) and not _has_answer(read, answer):
                raise OtherRequest(answer)
            text = answer
        raise Declined(problem or "I did not understand the answer")

    # Records

    def user(self) -> Talk[User]:
        """Return the user's profile."""
        return User.model_validate_json((yield from self.look("get_user_details", user_id=self.user_id)))

    def reservation(self, reservation_id: str) -> Talk[Reservation]:
        """Return one of the user's reservations; somebody else's is not even read."""
        if reservation_id not in (yield from self.user()).reservations:
            raise Declined(f"reservation {reservation_id} is not among yours")
        text = yield from self.look("get_reservation_details", reservation_id=reservation_id)
        record = Reservation.model_validate_json(text)
        self.before.setdefault(reservation_id, record)
        return record

    def reservations(self) -> Talk[list[Reservation]]:
        """Return all of the user's reservations."""
        records: list[Reservation] = []
        for reservation_id in (yield from self.user()).reservations:
            records += [(yield from self.reservation(reservation_id))]
        return records

    def statuses(self, reservation: Reservation) -> Talk[list[str]]:
        """Return the status of each flight of a reservation."""
        texts: list[str] = []
        for leg in reservation.flights:
            texts += [(yield from self.look("get_flight_status", flight_number=leg.flight_number, date=leg.date))]
        return texts

    def direct(self, origin: str, destination: str, date: str) -> Talk[list[DirectFlight]]:
        """Search the direct flights that can be booked on a day."""
        text = yield from self.look("search_direct_flight", origin=origin, destination=destination, date=date)
        return [DirectFlight.model_validate(flight | {"date": date}) for flight in json.loads(text)]

    def onestop(self, origin: str, destination: str, date: str) -> Talk[list[list[DirectFlight]]]:
        """Search the connections with one stop that begin on a day."""
        text = yield from self.look("search_onestop_flight", origin=origin, destination=destination, date=date)
        return [[DirectFlight.model_validate(flight) for flight in pair] for pair in json.loads(text)]


def _has_answer(read: Callable[[str], object], text: str) -> bool:
    try:
        return read(text) is not None
    except Declined:
        return True
