"""Personal data in texts: by what is said before it, as a field says it, and by its form."""

from __future__ import annotations

import re
from functools import cache
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, Final

from ....masking import KEY_LIKE
from .fields import Personal
from .labels import PHRASES
from .names import names_said

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What may stand between the name of a field and its value.
_BETWEEN: Final = (
    r"(?:[\s:：=#,(–-]|(?<![^\W_])(?:numbers?|no|nr|num|code|address|is|was|are|on|at|ending|ends|in|with|my|the|"
    r"new|ist|"
    r"lautet|war|am|im|es|est|è|é|el|le|il|die|der|das|und|and|of|account|date|me|us|him|her|back|please|under|valid)"
    r"(?![^\W_])\.?|[是为は이은는가]){0,14}"
)
_DATE: Final = (
    r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{4}年\d{1,2}月\d{1,2}日?|\d{1,2}(?:st|nd|rd|"
    r"th)?\.? (?:of )?(?:de )?[^\W\d_]{3,10}\.?,?"
    r"(?: de)? \d{2,4}|[^\W\d_]{3,10}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{8}|(?:19|20)\d\d"
)
_VALUES: Final = {
    "phone": r"\+?\(?\d(?:[ ()./-]{0,3}\d){5,16}",
    "zip": r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d|\d{4,6}(?:-\d{3,4})?|\d{3}-\d{4}",
    "date": _DATE,
    "card": r"\d(?:[ -]?\d){11,18}|\d{4}",
    "pin": r"\d{3,8}",
    "number": r"(?=[A-Z0-9 ./-]{0,12}\d)[A-Z0-9](?:[ ./-]?(?:[A-Z](?![a-z])|\d)){3,33}(?:-[A-Z])?|"
    r"(?=[a-z]{0,6}\d)[a-z0-9]{5,34}",
    "geo": r"-?\d{1,3}\.\d{3,}",
    "handle": r"@?[A-Za-z][\w.-]{1,60}\w",
    "secret": r"[^\s,;\"']{4,200}",
}
#: Kinds that are also said after the value: "4155550132 is my phone number".
_BEFORE: Final = frozenset({"phone", "zip", "number", "card"})
#: Phrases of these kinds in texts, where some names of fields are ordinary words.
_IN_TEXTS: Final = {
    "handle": "username|user name|login name|screen name|benutzername|usuario",
    "secret": "password|passcode|passphrase|api key|access token|passwort|kennwort|contraseña|mot de passe",
    "phone": PHRASES["phone"] + "|call|reach me|text me|ring|ruf|anrufen|llamar|llámame|llame|appelez|ligue|sms",
    "number": PHRASES["number"].replace("|tin|", "|").replace("|sin|", "|").replace("|nie|", "|")
    + "|nummernschild|account|ni no|number plate|tax no",
}
#: What numbers are that are not personal.
_THING: Final = re.compile(
    r"(?:[#$€£¥]|(?<![^\W_])(?:orders?|order id|tracking|parcel|package|shipment|sku|parts?|items?|isbn|ean|upc|"
    r"gtin|asin|"
    r"products?|models?|serial|version|v|build|firmware|release|invoice|receipt|reference|ref|tickets?|cases?|booking|"
    r"confirmation|reservation|transaction|flights?|article|artikel|bestell\w*|auftrag\w*|rechnung\w*|"
    r"sendung\w*|pedido|"
    r"commande|factura|quantity|qty|total|price|amount|po|rma|batch|lot|catalog\w*|coupon|voucher|promo|issn|doi|size|"
    r"driver version|warranty|claim|quote|contract|section|chapter|job|request|session|trace|order_id|id|variant|"
    r"returns?|refund)(?![^\W_]))"
    r"[\s:：=#(.]*(?:(?:numbers?|no|nr|id|ids|code|is|was|are|the|my|and)\b[\s:：=#(.]*){0,4}$",
    re.IGNORECASE,
)
_STREETS: Final = (
    r"street|st|road|rd|avenue|ave|lane|ln|drive|dr|court|ct|boulevard|blvd|way|place|pl|square|sq|terrace|ter|close|"
    r"crescent|parkway|pkwy|highway|hwy|trail|circle|cir|row|mews|walk|gardens|grove|crossing|loop|alley|plaza|point|"
    r"ridge|hill|path|pike|route|quay|green|park|heights|view"
)
_WORD: Final = r"[^\W\d_][^\W\d_.'’-]*"
#: "50667 Köln" or "Springfield, IL 62704", after a street.
_TOWN: Final = re.compile(
    rf",?\s{{1,2}}(?:(?:[A-Z]{{1,2}}-)?(?P<zip1>\d{{4,6}})\s(?P<place1>[^\W\d_]{_WORD}(?: [A-ZÄÖÜ]{_WORD})?)"
    rf"|(?P<place2>[A-ZÄÖÜ]{_WORD}(?: [A-Z]{_WORD}){{0,2}}),?(?: [A-Z]{{2}},?)?(?: (?P<zip2>\d{{4,6}}(?:-\d{{4}})?))?)"
)
_ALIASES: Final = {"ip6": "ip", "password": "secret"}
_FORMS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("secret", KEY_LIKE),
    ("email", re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}")),
    (
        "email",
        re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64} ?[(\[]?\bat\b[)\]]? ?[\w-]{1,63} ?[(\[]?\bdot\b[)\]]? ?[a-z]{2,10}\b"),
    ),
    ("mac", re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])")),
    ("ip", re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?!\.?\w)")),
    ("ip6", re.compile(r"(?<![\w:])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")),
    ("geo", re.compile(r"(?<![\w.])-?\d{1,2}\.\d{4,15}(?=°?[NS]?[,;]? ?-?\d{1,3}\.\d{4,15})")),
    ("geo", re.compile(r"(?<=\d)[,;] ?(-?\d{1,3}\.\d{4,15})(?![\w.])")),
    (
        "handle",
        re.compile(
            r"(?:linkedin\.com/(?:in|pub)|(?:github|gitlab|twitter|x|facebook|fb|instagram|tiktok|threads|"
            r"medium|youtube|"
            r"reddit|pinterest|snapchat|vk|xing|t|wa|paypal|venmo)\.(?:com|me|net)(?:/(?:u|user|users|profile|"
            r"add|people))?)"
            r"/@?([\w.-]{2,64})"
        ),
    ),
    (
        "handle",
        re.compile(
            r"(?i:twitter|insta(?:gram)?|telegram|tiktok|handle|github|skype|discord|threads|"
            r"x)\W{1,3}(?:is )?(@\w{2,64})"
        ),
    ),
    ("password", re.compile(r"\b(?i:password|passcode|passphrase|passwort|kennwort)[:=] ?([^\s,;\"']{4,200})")),
    (
        "street",
        re.compile(r"(?:住所|地址|주소)(?:[は:：是为는은]|\s)*([^\s。、，]{4,60}?)(?=です|입니다|[\s。、，]|$)"),
    ),
    ("street", re.compile(rf"\b(?i:address)(?: is|:)? (\d{{1,5}}[A-Za-z]? [A-Z]{_WORD}(?: [A-Z]{_WORD}){{0,3}})")),
    (
        "street",
        re.compile(
            rf"(?<![\w.#-])\d{{1,5}}[A-Za-z]? (?:(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\.? )?"
            rf"(?:[A-Z0-9][\w.'’-]* ){{1,4}}(?i:{_STREETS})\b\.?(?:,? (?i:apt|unit|suite|ste|apartment|flat|"
            rf"#)\.? ?#?[\w-]+)?"
        ),
    ),
    (
        "street",
        re.compile(
            rf"\b(?:[A-ZÄÖÜ]{_WORD}[ -]){{0,3}}[A-ZÄÖÜ]?[^\W\d_]*(?i:straße|strasse|str\.|weg|allee|gasse|platz|"
            rf"damm|ufer|steig|"
            r"laan|straat|gracht|gatan|vägen|gata|vej|gade|ring|chaussee|promenade) \d{1,4} ?[a-z]?\b"
        ),
    ),
    (
        "street",
        re.compile(
            rf"\b(?:\d{{1,4}}(?: ?(?:bis|ter))?,? )?(?i:rue|avenue|boulevard|chemin|impasse|allée|quai|calle|c/|"
            rf"avenida|av\.|"
            rf"paseo|plaza|via|viale|piazza|corso|rua|travessa|ulica|ul\.)(?: (?:de|du|des|la|le|les|del|della|"
            rf"di|da|do|dos|"
            rf"l'|d'|[A-ZÀ-Ý]{_WORD})){{1,5}}(?:,? (?:n[º°o.]* ?)?\d{{1,4}}(?!\d)[a-z]?)?"
        ),
    ),
    ("street", re.compile(r"\b(?i:p\.? ?o\.? box|postfach|apartado) \d{2,8}")),
    ("zip", re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[ABD-HJLNP-UW-Z]{2}\b|\b[ABCEGHJ-NPRSTVXY]\d[A-Z] \d[A-Z]\d\b")),
    ("zip", re.compile(r"(?<=, [A-Z]{2} )\d{5}(?:-\d{4})?\b|(?<=\d, )\d{4,5}(?= [A-ZÄÖÜ][^\W\d_]{2})")),
    (
        "place",
        re.compile(rf"(?<=\d, )\d{{4,5}} ([A-ZÄÖÜ]{_WORD})|\b([A-Z]{_WORD}(?: [A-Z]{_WORD})?), [A-Z]{{2}} \d{{5}}\b"),
    ),
    ("zip", re.compile(r"〒 ?(\d{3}-?\d{4})")),
    ("number", re.compile(r"(?<![\w-])[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![\w-])")),
    ("card", re.compile(r"(?<![\w.#$€£¥-])[2-6]\d(?:[ -]?\d){10,16}\d(?![\w-])")),
)


def personal_texts(text: str, *, said: bool) -> Iterator[Personal]:
    """Yield what is personal in a text.

    Args:
        text: The text.
        said: A person has said it; else it is of a tool, of the agent or of its instructions.
    """
    yield from names_said(text, said=said)
    for kind, pattern in _labelled():
        for match in pattern.finditer(text):
            value = match["value"].rstrip(" .-/")
            if _is_value(kind, value):
                yield Personal(kind, value)
    for kind, pattern in _FORMS:
        for match in pattern.finditer(text):
            value = next(filter(None, match.groups()), match[0]) if match.groups() else match[0]
            if kind == "street":
                yield from _town_after(text, match.end())
            if _is_form(kind, value) and not (kind in ("ip", "card") and is_thing(text, match.start())):
                yield Personal(_ALIASES.get(kind, kind), value)


def _town_after(text: str, end: int) -> Iterator[Personal]:
    """Yield the postal code and the town that follow a street."""
    if match := _TOWN.match(text, end):
        for kind in ("zip", "place"):
            yield from (Personal(kind, match[name]) for name in (f"{kind}1", f"{kind}2") if match[name])


def is_thing(text: str, start: int) -> bool:
    """Return whether what is said before a number says that it is that of a thing, such as an order."""
    return _THING.search(text[max(0, start - 40) : start]) is not None


@cache
def _labelled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    patterns = []
    for kind, value in _VALUES.items():
        phrases = sorted(_IN_TEXTS.get(kind, PHRASES[kind]).split("|"), key=len, reverse=True)
        names = "|".join(re.escape(phrase).replace(r"\ ", r"[\s_'’-]{0,2}") for phrase in phrases)
        start = rf"(?<![^\W_])(?i:{names})(?:s|(?i:number|no)?)(?![a-zß-ÿ0-9_])"
        if kind in _BEFORE:
            end = rf"(?i:is|was|being|as) (?:\w{{1,20}} )?(?i:{names})(?![^\W_])"
            patterns.append((kind, re.compile(rf"(?<![\w#])(?P<value>{value})(?![^\W_]),? {end}")))
        patterns.append((kind, re.compile(rf"{start}{_BETWEEN}(?<![^\W])(?P<value>{value})(?![^\W_])")))
    return tuple(patterns)


def _is_value(kind: str, value: str) -> bool:
    if kind == "handle":
        return len(value) > 3 and re.search(r"[\W\d_]", value) is not None
    if kind == "secret":
        return any(map(str.isdigit, value)) or not value.isalpha()
    return any(map(str.isdigit, value))


def _is_form(kind: str, value: str) -> bool:
    if kind == "card":
        return is_card(value)
    if kind == "ip6":
        try:
            return value.count(":") > 1 and len(value) > 4 and bool(IPv6Address(value))
        except ValueError:
            return False
    return kind != "secret" or len(value) > 20 or any(map(str.isdigit, value))


def is_card(text: str) -> bool:
    """Return whether the check digit of a number is that of a card."""
    digits = [int(digit) for digit in text if digit.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0
