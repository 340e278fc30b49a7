"""What users ask for: the words that each kind of request is known by, and the procedure for it.

A procedure finds out what it lacks, checks what the policy asks for, and returns plans to be agreed to, or what is
to be told. It declines by raising.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from . import parsing as reading
from .policy.answers import balances, paid, refunds, standing
from .policy.book import book, price
from .policy.cancel import cancel, compensate
from .policy.change import change_cabin, change_flights
from .policy.extras import add_bags, change_passengers
from .policy.reservations import which
from .session import Declined, HandOver

if TYPE_CHECKING:
    from collections.abc import Callable

    from .session import Desk, Plan, Talk


class Kind(NamedTuple):
    """A kind of request.

    Attributes:
        name: What it is called.
        words: What it is known by, over a sentence; the first row that fits counts.
        work: What is done about it.
        tells: Whether it only asks for something to be told, which a change in the same text tells anyway.
    """

    name: str
    words: str
    work: Callable[[Desk, str], Talk[list[Plan] | str]]
    tells: bool = False


def _declining(why: str) -> Callable[[Desk, str], Talk[list[Plan] | str]]:
    """What the policy forbids, whatever the reservation."""

    def work(desk: Desk, text: str) -> Talk[list[Plan] | str]:
        if reading.reservation_ids(text):
            yield from which(desk, text)
        raise Declined(why)

    return work


def _hand_over(desk: Desk, text: str) -> Talk[list[Plan] | str]:
    """What lies outside of the policy and the tools."""
    del desk
    raise HandOver(text)
    yield


_CLASS = r"\b(?:basic economy|economy|business)\b"

KINDS = (
    Kind(
        "beyond the tools",
        r"\bsuitcases?\b.*\b(?:lost|not on|missing)\b|\blost (?:bag|luggage|suitcase)|\bwheelchair\b"
        r"|\be-?mail address\b",
        _hand_over,
    ),
    Kind(
        "insurance afterwards",
        r"\b(?:add|take out|buy)\b.*\binsurance\b.*\breservation\b|\badd (?:travel )?insurance\b",
        _declining("insurance cannot be added after booking"),
    ),
    Kind(
        "fewer bags",
        r"\bbags? (?:less|fewer)\b|\b(?:fewer|less) (?:checked )?bags\b|\bremove\b.*\bbags?\b",
        _declining("bags cannot be taken away again"),
    ),
    Kind(
        "compensation",
        r"\bcompensat|\bcomplain\b|\bdo I get for\b|\bfor (?:the|my) trouble\b"
        r"|\bcertificate for (?:the|that|this|my)\b",
        compensate,
    ),
    Kind(
        "cancel",
        r"(?<!not want to )(?<!not to )\bcancel\b"
        r"|\b(?:be|it|\w*reservations?(?: [A-Z0-9]{6})?|ticket) cancelled\b",
        cancel,
    ),
    Kind(
        "one more flight",
        r"\bflight (?:back|there)\b.*\badded\b|\badd\b.*\bflight\b",
        _declining("nothing can be added to a reservation: its trip type has to stay"),
    ),
    Kind(
        "one more passenger",
        r"\b(?:wants?|would like) to come along\b|\badd \w+ to (?:the |my )?reservation\b",
        _declining("nobody can be added to a reservation, the number of passengers has to stay"),
    ),
    Kind("what would it cost", r"\bwould (?:it |that )?cost\b", price, tells=True),
    Kind("book", r"\bbook\b|\b(?:fly|get|trip) from\b.*\bto\b", book),
    Kind("bags", r"\bbags?\b", add_bags),
    Kind(
        "cabin",
        rf"\b(?:wants?|fly|be|changed|seat|switch|upgrade|downgrade|same flight)\b.*{_CLASS}",
        change_cabin,
    ),
    Kind(
        "passengers",
        r"\bis now called\b|\bfirst name\b|\bsurname\b|\bdate of birth\b|\bwill fly with me\b|\bin place of\b"
        r"|\bpassengers?\b.*\bname\b",
        change_passengers,
    ),
    Kind(
        "flights",
        r"\bmove\b|\bto be (?:moved|changed)\b|\breservation changed\b|\bchange (?:my|the|reservation)\b|\binstead\b"
        r"|\blater\b|\bfly (?:home|tomorrow|on)\b|\bflight of tomorrow\b|\bcome home\b|\bway back\b.*\bto be\b"
        r"|\bput off\b|\bday after\b|\bneed to go to\b",
        change_flights,
    ),
    Kind("balances", r"\b(?:credit is left|balances?|worth)\b", balances, tells=True),
    Kind("refunds", r"\b(?:refund|refunded|get back)\b", refunds, tells=True),
    Kind("paid", r"\b(?:paid|did I pay|cost)\b", paid, tells=True),
    Kind("standing", r"\bas planned\b|\bon time\?|\bdelayed\?|\bstatus\b", standing, tells=True),
)


def recognise(text: str) -> list[Kind]:
    """The kinds of requests in a text, in its order; questions only where nothing is to be done."""
    found: list[Kind] = []
    for sentence in reading.sentences(text):
        kind = next((kind for kind in KINDS if re.search(kind.words, sentence, re.IGNORECASE)), None)
        if kind and kind not in found:
            found.append(kind)
    return [kind for kind in found if not kind.tells] or found
