"""The words by which a scripted user understands an agent: tables, and how texts are compared with them.

A *phrase* is words in order, alternatives joined by ``/``, such as ``zip/postal code``. Upper case, punctuation, a
plural ``s`` and little words (``of``, ``the``, ``your`` …) do not matter.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Phrases that ask for facts, in addition to the words of their names; the longest phrase that fits takes its words.
FACTS: dict[str, tuple[str, ...]] = {
    "name": (
        "name",
        "full name",
        "first name",
        "last name",
        "surname",
        "who am i speaking/talking with/to",
        "who i speaking/talking with/to",
        "who do i have",
        "whom i speaking/talking",
    ),
    "email": ("email", "e-mail", "email/e-mail/mail address"),
    "zip": ("zip", "zip/zipcode/postcode", "zip/postal/post code", "zip code number"),
    "user_id": (
        "user/profile/account/customer/member/membership/login id",
        "user/account/customer/member/membership number",
        "id/number user/account/profile",
        "username",
        "user name",
        "userid",
    ),
    "customer_id": ("customer id", "customer number", "id customer"),
    "phone_number": (
        "phone/telephone/mobile/contact/line number",
        "number phone/line/account",
        "which/what line",
        "number having/with trouble/problem",
    ),
    "date_of_birth": ("date birth", "birthday", "birth date", "dob", "born"),
    "location": (
        "where are you",
        "location",
        "travelling/traveling",
        "abroad",
        "which/what country",
        "outside home/usual network/area/country",
        "at home",
    ),
    "refuel_amount": (
        "how many gb/gigabyte",
        "how much/many data/refuel/add/gb/gigabyte",
        "amount data/gb",
        "gb refuel",
        "refuel amount",
        "amount refuel",
    ),
    "order_id": (
        "order/purchase id/number/reference",
        "which/what order/purchase",
        "id/number order/purchase",
        "order #",
    ),
    "items": ("which/what item", "item", "which/what product", "product"),
    "item_ids": ("item id", "product id", "id/ids item"),
    "new_items": (
        "option",
        "version",
        "variant",
        "instead",
        "change/exchange/replace/swap to/for/with",
        "new item",
        "replacement",
    ),
    "payment_method": (
        "payment/refund/billing method",
        "method/mode/source payment/refund",
        "how pay/paying",
        "like/want/prefer to pay/cover/settle",
        "which/what credit/debit/gift/payment/refund card/method/option",
        "card use/charge/refund",
        "form payment",
        "how like to pay",
        "refunded to",
        "which/what card",
        "payment",
        "original payment method",
    ),
    "address": (
        "address",
        "shipping/delivery/mailing address",
        "street",
        "where should/shall/do ship/send/deliver",
    ),
    "reason": ("reason", "why"),
    "reservation_id": (
        "reservation/booking/confirmation/ticket/itinerary/trip id/number/code/reference",
        "which/what reservation/booking/trip/itinerary",
        "which reservation/booking/trip/itinerary",
        "id/number/code/reference reservation/booking/trip/itinerary",
        "booking/reservation confirmation",
        "record locator",
        "pnr",
        "booking reference number/code",
    ),
    "cabin": ("cabin", "cabin class", "class", "economy/business"),
    "dates": ("date", "which/what day", "when", "travel date", "departure date"),
    "origin": (
        "origin",
        "departure city/airport",
        "where from",
        "flying/travelling/traveling from",
        "from which/where",
    ),
    "destination": ("destination", "arrival city/airport", "where to", "flying/travelling/traveling to", "where go"),
    "flights": ("flight", "flight number", "which/what flight"),
    "trip_type": ("one way", "one-way", "round trip", "round-trip", "trip type", "type trip"),
    "passengers": ("passenger", "traveller", "traveler", "passenger detail/name", "who flying/travelling/traveling"),
    "baggage": ("bag", "baggage", "luggage", "suitcase", "checked bag", "how many bag"),
    "insurance": ("insurance", "travel insurance"),
}

#: Words for the same thing, by the first of them; names of facts that differ by them only are the same.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "reservation": ("booking", "confirmation", "trip", "itinerary"),
    "order": ("purchase",),
    "user": ("customer", "member", "account", "profile"),
    "id": ("number", "code", "reference", "no"),
    "phone": ("telephone", "mobile"),
    "zip": ("zipcode", "postcode"),
    "bag": ("baggage", "luggage", "bags"),
    "guest": ("guests", "people", "party", "persons"),
}
#: Names of facts by which a person or what it is about is looked up.
_IDENTIFYING = frozenset(
    ("name", "full_name", "first_name", "last_name", "email", "zip", "date_of_birth", "phone_number", "postcode")
)
#: Those of them that tell who the user is.
_PERSONAL = _IDENTIFYING | {"user_id", "customer_id", "member_id", "account_id"}
#: Last words of the names of ids.
_KEYS = ("id", "number", "code")
_NO_KEYS = ("item_ids", "product_id")
#: Words that are ignored when phrases are compared with texts.
_LITTLE = re.compile(r"an?|the|your|my|our|of|for|this|that|these|those|does|me|us|its?|please")
_TOKEN = re.compile(r"[#]|[\w']+(?:-\w+)*")
_LONGEST = 3


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, lower-case and in the singular, without little ones."""
    singulars = (
        _singular(token) for token in _TOKEN.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    )
    return tuple(word for word in singulars if not _LITTLE.fullmatch(word))


def _singular(word: str) -> str:
    is_plural = len(word) > _LONGEST and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if (is_plural and "_" not in word) or word == "ids" else word


@cache
def alternatives(phrase: str) -> tuple[frozenset[str], ...]:
    """Return the words that may stand at each place of a phrase."""
    parts = (frozenset(words(part.replace("/", " "))) for part in phrase.split())
    return tuple(part for part in parts if part)


def follows(phrase: str, text: Sequence[str], gap: int | None = None) -> list[int] | None:
    """Find the words of a phrase in a text; return their positions at the first place that fits, or None.

    Args:
        phrase: The phrase.
        text: The text's words.
        gap: The most other words between two of the phrase's; None for any number.
    """
    places = alternatives(phrase)
    for start, word in enumerate(text):
        if places and word in places[0]:
            positions = _rest(places, text, start, gap)
            if positions:
                return positions
    return None


def begins(phrase: str, text: Sequence[str], gap: int | None = None) -> list[int] | None:
    """Find the words of a phrase in a text that begins with its first word; as ``follows`` otherwise."""
    places = alternatives(phrase)
    return _rest(places, text, 0, gap) if places and text[0] in places[0] else None


def _rest(places: Sequence[frozenset[str]], text: Sequence[str], start: int, gap: int | None) -> list[int] | None:
    positions = [start]
    for place in places[1:]:
        last = positions[-1]
        end = len(text) if gap is None else min(len(text), last + gap + 2)
        position = next((at for at in range(last + 1, end) if text[at] in place), None)
        if position is None:
            return None
        positions.append(position)
    return positions


def has_all(phrase: str, text: Iterable[str]) -> bool:
    """Return whether all words of a phrase occur, in any order."""
    present = set(text)
    return all(place & present for place in alternatives(phrase))


def facts_in(text: Sequence[str], known: Iterable[str], spoken: tuple[tuple[str, str], ...] = ()) -> list[str]:
    """Return the facts that a text names, in its order; the longest phrase takes its words.

    Args:
        text: The words.
        known: Names of facts; a name without a row in the table is named by its own words; ``member_id`` also by
            "member number".
        spoken: More phrases, each with the fact that it names.
    """
    left = list(text)
    positions: dict[str, int] = {}
    for phrase, name in _phrases(tuple(known), spoken):
        # Each word names one fact only: an email address is not an address.
        while (places := follows(phrase, left, gap=1)) is not None:
            for place in places:
                left[place] = ""
            positions[name] = min(places[0], positions.get(name, places[0]))
    return sorted(positions, key=positions.__getitem__)


def identifies(name: str) -> bool:
    """Return whether a fact of this name tells who the user is, or what it is about."""
    key = name.endswith(("_id", "_number", "_code", "_reference")) and name not in _NO_KEYS
    return name in _IDENTIFYING or key


def identifies_user(name: str) -> bool:
    """Return whether a fact of this name tells who the user is."""
    return name in _PERSONAL


def same_fact(name: str, known: Iterable[str]) -> str:
    """Return the known fact that a name means: the one of that name, or of synonyms; the name if there is none."""
    names = list(known)
    return next((other for other in names if other == name), "") or next(
        (other for other in names if _usual(other) == _usual(name)), name
    )


@cache
def _usual(name: str) -> tuple[str, ...]:
    usual = {word: first for first, others in SYNONYMS.items() for word in others}
    return tuple(usual.get(word, word) for word in name.split("_"))


@cache
def _phrases(known: tuple[str, ...], spoken: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    rows = [(phrase, name) for name, row in FACTS.items() for phrase in row]
    # A fact of the script overrides one of the table with the same name.
    own_phrases = [(_in_words(name), name) for name in known if name not in FACTS]
    names = dict.fromkeys([*known, *FACTS])
    own_phrases += [(name, name) for name in names if "_" in name]  # agents write the names of parameters, too
    numbers = [(phrase, name) for _, name in own_phrases for phrase in _of_number(name)]
    return sorted([*spoken, *own_phrases, *numbers, *rows], key=lambda row: _precedence(row[0]))


def _precedence(phrase: str) -> tuple[int, bool]:
    """Return what phrases are sorted by: their length, and "user id" before "id user", as in "user id and order"."""
    places = alternatives(phrase)
    return -len(places), not places[0].isdisjoint(_KEYS)


def _in_words(name: str) -> str:
    """Return the phrase of a name, each word with its synonyms; a name that is a phrase stays as it is."""
    groups = {word: "/".join((word, *others)) for word, others in SYNONYMS.items() if word not in _KEYS}
    return " ".join(groups.get(_singular(word), word) for word in name.replace("_", " ").split())


def _of_number(name: str) -> list[str]:
    """Return phrases for an id: people also ask for the number or the code of a thing."""
    noun, _, last = name.rpartition("_")
    if not noun or last not in _KEYS:
        return []
    words = noun.replace("_", " ")
    return [f"{words} id/number/code", f"id/number/code {words}", f"which/what {words}"]
