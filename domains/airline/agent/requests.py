"""The kinds of requests of users: what each is recognised by, and the procedure for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._kit.dialog import Declined
from ..._kit.parsing import sentences
from ..._kit.request_kinds import RequestKind, first_kind, hand_over
from .parsing import reservation_ids
from .policy.answers import amounts_paid, balances, flight_status, refunds
from .policy.book import book, price
from .policy.cancel import cancel, compensate
from .policy.change import change_cabin, change_flights
from .policy.extras import add_bags, change_passengers
from .policy.reservations import find_reservation

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._kit.dialog import Talk
    from .session import Session


def _declining_one(reason: str) -> Callable[[Session, str], Talk[Any]]:
    """Return a procedure for a request that the policy forbids for every reservation."""

    def procedure(session: Session, text: str) -> Talk[Any]:
        if reservation_ids(text):
            yield from find_reservation(session, text)
        raise Declined(reason)

    return procedure


_CLASS = r"\b(?:basic economy|economy|business)\b"

KINDS: tuple[RequestKind[Session], ...] = (
    RequestKind(
        "beyond the tools",
        r"\bsuitcases?\b.*\b(?:lost|not on|missing)\b|\blost (?:bag|luggage|suitcase)|\bwheelchair\b"
        r"|\be-?mail address\b",
        hand_over,
    ),
    RequestKind(
        "insurance afterwards",
        r"\b(?:add|take out|buy)\b.*\binsurance\b.*\breservation\b|\badd (?:travel )?insurance\b",
        _declining_one("insurance cannot be added after booking"),
    ),
    RequestKind(
        "fewer bags",
        r"\bbags? (?:less|fewer)\b|\b(?:fewer|less) (?:checked )?bags\b|\bremove\b.*\bbags?\b",
        _declining_one("bags cannot be taken away again"),
    ),
    RequestKind(
        "compensation",
        r"\bcompensat|\bcomplain\b|\bdo I get for\b|\bfor (?:the|my) trouble\b"
        r"|\bcertificate for (?:the|that|this|my)\b",
        compensate,
    ),
    RequestKind(
        "cancel",
        r"(?<!not want to )(?<!not to )\bcancel\b"
        r"|\b(?:be|it|\w*reservations?(?: [A-Z0-9]{6})?|ticket) cancelled\b",
        cancel,
    ),
    RequestKind(
        "one more flight",
        r"\bflight (?:back|there)\b.*\badded\b|\badd\b.*\bflight\b",
        _declining_one("nothing can be added to a reservation: its trip type has to stay"),
    ),
    RequestKind(
        "one more passenger",
        r"\b(?:wants?|would like) to come along\b|\badd \w+ to (?:the |my )?reservation\b",
        _declining_one("nobody can be added to a reservation, the number of passengers has to stay"),
    ),
    RequestKind("what would it cost", r"\bwould (?:it |that )?cost\b", price, informs=True),
    RequestKind("book", r"\bbook\b|\b(?:fly|get|trip) from\b.*\bto\b", book),
    RequestKind("bags", r"\bbags?\b", add_bags),
    RequestKind(
        "cabin",
        rf"\b(?:wants?|fly|be|changed|seat|switch|upgrade|downgrade|same flight)\b.*{_CLASS}",
        change_cabin,
    ),
    RequestKind(
        "passengers",
        r"\bis now called\b|\bfirst name\b|\bsurname\b|\bdate of birth\b|\bwill fly with me\b|\bin place of\b"
        r"|\bpassengers?\b.*\bname\b",
        change_passengers,
    ),
    RequestKind(
        "flights",
        r"\bmove\b|\bto be (?:moved|changed)\b|\breservation changed\b|\bchange (?:my|the|reservation)\b|\binstead\b"
        r"|\blater\b|\bfly (?:home|tomorrow|on)\b|\bflight of tomorrow\b|\bcome home\b|\bway back\b.*\bto be\b"
        r"|\bput off\b|\bday after\b|\bneed to go to\b",
        change_flights,
    ),
    RequestKind("balances", r"\b(?:credit is left|balances?|worth)\b", balances, informs=True),
    RequestKind("refunds", r"\b(?:refund|refunded|get back)\b", refunds, informs=True),
    RequestKind("paid", r"\b(?:paid|did I pay|cost)\b", amounts_paid, informs=True),
    RequestKind("standing", r"\bas planned\b|\bon time\?|\bdelayed\?|\bstatus\b", flight_status, informs=True),
)


def recognise(text: str) -> list[RequestKind[Session]]:
    """Return the kinds of requests in a text, in its order; questions only where nothing is to be done."""
    kinds: list[RequestKind[Session]] = []
    for sentence in sentences(text):
        kind = first_kind(KINDS, sentence)
        if kind and kind not in kinds:
            kinds.append(kind)
    return [kind for kind in kinds if not kind.informs] or kinds
