"""What the rules agent works with: how it speaks and calls, what it has read and done, what cuts a request short."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from ..models import DirectFlight, Reservation, User
from .parsing import is_no

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_ATTEMPTS = 5
_INSISTS = re.compile(r"\W*I must insist\b")


class Say(NamedTuple):
    """A message to the user."""

    text: str


class Do(NamedTuple):
    """A call."""

    tool: str
    arguments: dict[str, Any]


class Heard(NamedTuple):
    """What comes back: the user's words, or the result of a call."""

    text: str
    error: bool = False


#: A part of a conversation: what is said and done, what comes back, and what it leads to.
Talk: TypeAlias = Generator[Say | Do, Heard, T]


class Declined(Exception):  # noqa: N818 - no error: the policy's no to a request
    """A request that is not met, with the reason."""


class Dropped(Exception):  # noqa: N818 - no error: the user's no
    """A request that the user takes back."""


class OtherRequest(Exception):  # noqa: N818 - no error: the user has come to something else
    """Something else that the user asks for in place of an answer."""


class HandOver(Exception):  # noqa: N818 - no error: what only a person can do
    """A request for a person, with a summary."""


@dataclass(frozen=True)
class Plan:
    """A change that the user has not agreed to yet.

    Attributes:
        summary: What will change, and what it costs.
        call: The call that makes it.
        done: What is told when it is made.
        refund: What the user gets back by it, in USD.
        reservation_id: Which reservation it changes; empty for none.
    """

    summary: str
    call: Do
    done: str
    refund: int = 0
    reservation_id: str = ""


@dataclass
class Desk:
    """What has been read and done in a conversation.

    Attributes:
        recognises: Whether a text is a request of its own.
        user_id: The user, once identified.
        reservation_id: The reservation that was spoken of last.
        done: Changes that were made, oldest first.
        pending: What is to be said with the next message.
        before: Reservations as they were first read, by id.
        dealt_with: What was made of a request, by its kind, its words and the reservation that was spoken of.
    """

    recognises: Callable[[str], object]
    user_id: str = ""
    reservation_id: str = ""
    done: list[Plan] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    before: dict[str, Reservation] = field(default_factory=dict)
    dealt_with: dict[tuple[str, str, str], list[Plan]] = field(default_factory=dict)
    _read: dict[str, str] = field(default_factory=dict)

    # Talking

    def ask(self, text: str) -> Talk[str]:
        """Say something, after what is still to be said, and wait for the answer."""
        said = joined([*self.pending, text])
        self.pending.clear()
        heard = yield Say(said)
        return heard.text

    def find(self, question: str, read: Callable[[str], T | None], text: str = "") -> Talk[T]:
        """Ask until an answer is understood and possible.

        Args:
            question: What is asked.
            read: Understands an answer; None where it does not, ``Declined`` where that is not possible.
            text: Where the answer may be already.

        Raises:
            Declined: No answer was any good.
            Dropped: The user says no.
            OtherRequest: The user asks for something else.
        """
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt or text:
                try:
                    found = read(text)
                except Declined as declined:
                    found, problem = None, f"Unfortunately that is not possible: {declined}."
                if found is not None:
                    return found
            said = yield from self.ask(joined([problem, question]))
            if _INSISTS.match(said):
                continue
            if is_no(said):
                raise Dropped
            if self.recognises(said) and not _understands(read, said):
                raise OtherRequest(said)
            text = said
        raise Declined(problem or "I did not understand the answer")

    # Calls

    def call(self, tool: str, **arguments: Any) -> Talk[Heard]:
        """Make a call and wait for its result."""
        heard = yield Do(tool, arguments)
        return heard

    def look(self, tool: str, **arguments: str) -> Talk[str]:
        """The result of a reading call, which is made once until something is changed."""
        key = json.dumps([tool, arguments])
        if key not in self._read:
            heard = yield from self.call(tool, **arguments)
            if heard.error:
                raise Declined(f"I find no such record ({heard.text})")
            self._read[key] = heard.text
        return self._read[key]

    def change(self, plan: Plan) -> Talk[None]:
        """Make a change that was agreed to."""
        heard = yield from self.call(plan.call.tool, **plan.call.arguments)
        self._read.clear()
        if heard.error:
            raise Declined(f"the system refuses it ({heard.text})")
        self.done.append(plan)

    # Records

    def user(self) -> Talk[User]:
        """The user's profile."""
        return User.model_validate_json((yield from self.look("get_user_details", user_id=self.user_id)))

    def reservation(self, reservation_id: str) -> Talk[Reservation]:
        """One of the user's reservations; somebody else's is not even looked at."""
        if reservation_id not in (yield from self.user()).reservations:
            raise Declined(f"reservation {reservation_id} is not among yours")
        text = yield from self.look("get_reservation_details", reservation_id=reservation_id)
        found = Reservation.model_validate_json(text)
        self.before.setdefault(reservation_id, found)
        return found

    def reservations(self) -> Talk[list[Reservation]]:
        """All of the user's reservations."""
        found: list[Reservation] = []
        for reservation_id in (yield from self.user()).reservations:
            found += [(yield from self.reservation(reservation_id))]
        return found

    def statuses(self, reservation: Reservation) -> Talk[list[str]]:
        """How each flight of a reservation stands."""
        found: list[str] = []
        for leg in reservation.flights:
            found += [(yield from self.look("get_flight_status", flight_number=leg.flight_number, date=leg.date))]
        return found

    def direct(self, origin: str, destination: str, date: str) -> Talk[list[DirectFlight]]:
        """Direct flights that can be booked on a day."""
        text = yield from self.look("search_direct_flight", origin=origin, destination=destination, date=date)
        return [DirectFlight.model_validate(flight | {"date": date}) for flight in json.loads(text)]

    def onestop(self, origin: str, destination: str, date: str) -> Talk[list[list[DirectFlight]]]:
        """Connections with one stop that begin on a day."""
        text = yield from self.look("search_onestop_flight", origin=origin, destination=destination, date=date)
        return [[DirectFlight.model_validate(flight) for flight in pair] for pair in json.loads(text)]


def _understands(read: Callable[[str], object], text: str) -> bool:
    try:
        return read(text) is not None
    except Declined:
        return True


def joined(parts: list[str]) -> str:
    """The parts as sentences."""
    return " ".join(part for part in parts if part)
