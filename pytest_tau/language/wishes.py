"""What a user wants: the best of several things, all of them, a person, or no longer what it asked for."""

from __future__ import annotations

import re
from typing import Final, Literal

from .message import plain_quotes
from .segments import sentences

#: What follows in the same clause is not wanted: "the red one instead of the blue one".
_UNWANTED: Final = re.compile(
    r"\b(?:instead of|rather than|other than|except(?: for)?|without|not|never|\w+n't|cannot)\b"
    r"(?! (?:only|just|mind|sure|know)\b)[^,.;:!?\n]*",
    re.IGNORECASE,
)
#: The second of several is not the first.
_FIRST: Final = r"\b(?<!second )(?<!second-)(?<!2nd )"
_LEAST: Final = re.compile(
    _FIRST
    + r"(?:cheapest|least expensive|lowest[- ](?:price|priced|cost|fare)|most affordable|lowest available price)\b",
    re.IGNORECASE,
)
_MOST: Final = re.compile(
    _FIRST + r"(?:most expensive|priciest|costliest|highest[- ](?:price|priced|end)|most high-end)\b",
    re.IGNORECASE,
)
_ALL: Final = re.compile(
    r"\b(?:all|both|everything|every|each|entire|whole|complete)\b"
    r"(?! (?:i (?:need|want)(?:ed)?|for (?:now|today)|set|good|right|done|your help|the help|the information)\b)",
    re.IGNORECASE,
)
_EVERYTHING: Final = re.compile(
    r"\b(?:everything|(?:entire|whole|complete) \w+|all (?:of )?(?:the |your |my |these |those )?(?:other )?"
    r"(?:items?|things?|products?|of (?:it|them)))\b",
    re.IGNORECASE,
)
_WITHDRAWS: Final = re.compile(
    r"\b(?:never ?mind|forget (?:about )?(?:it|that|this|the)|no need (?:to|for)|don't (?:worry|bother|sweat)\b"
    r"|let's (?:not|leave|skip|forget|keep)\b|(?:i'll|i will|i'd rather|i would rather|let me) (?:just )?"
    r"(?:leave|skip|keep|hold off|wait(?! for)|pass|move on|drop|come back|get back|reach out|think about|stick with"
    r"|contact)\b"
    r"|i(?:'d| would) (?:prefer|like|rather) (?:to )?wait\b(?! for)"
    r"|(?:changed? my mind|no longer (?:want|need)|instead,? (?:just|only)|in that case,? (?:just|only|let's))\b"
    r"|(?:don't|do not) want (?:to take |you to take )?any (?:further|more|other) (?:actions?|changes?)\b"
    r"|(?:leave|keep) (?:it|them|that|the order|everything|things) (?:as (?:is|it is|they are)|for now)\b)",
    re.IGNORECASE,
)
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(("no zero without", "one a an", "two both", "three", "four", "five", "six", "seven"))
    for word in words.split()
}
#: What is not needed is wanted no times.
_NONE: Final = r"\b(?:\w+n't|not) (?:need|want|have|require|add|include)\w*(?: any| to (?:add|pay for|check)(?: any)?)?"
_DOES: Final = (
    r"(?:want|cancel|return|refund|exchange|modify|change|update|switch|replace|book|upgrade|add|remove|keep"
    r"|process|do)"
)
#: A scenario takes back, if only under a condition, what it has wanted before.
_RECONSIDERS: Final = re.compile(
    r"\b(?:regrets?\b|(?:chang\w+|ma[dk]e up) (?:your|their|his|her|my) minds?\b"
    r"|forget (?:about )?(?:it|that|this)\b|nothing else\b"
    r"|no (?:cancell?ation|exchange|return|refund|change|modification|booking|upgrade)s? at all\b"
    r"|(?:want|decide)\w* to (?:just |only )?(?:keep|leave) (?:it|them|everything)\b"
    r"|decide\w* (?:not to|to only|to just|against)\b|rather (?:just|only|not|keep)\b"
    rf"|(?<!can )(?<!could )only (?:want to )?{_DOES}\b|(?:do not|don't) (?:want to )?{_DOES} any(?:thing|more)\b)",
    re.IGNORECASE,
)
#: A condition that the agent refuses something: "if you cannot refund to the card".
_REFUSED: Final = re.compile(
    r"\b(?:if|in case|when)\b(?P<refused>[^,;:()]*?\b(?:cannot|can't|not|\w+n't|unable|impossible)\b[^,;:()]*)",
    re.IGNORECASE,
)
#: Words of such a condition that say that it is refused, and not what.
_SAYS: Final = re.compile(
    r"\b(?:cannot|could|would|does|will|agents?|says?|tells?|they|that|this|these|able|unable|possible|impossible|not|with|your"
    r"|have|\w+n't)\b",
    re.IGNORECASE,
)
_PRICE: Final = re.compile(r"\b(?:cheap|expensive|pric[ey]|cost|afford|low-end|high-end|budget|save)\w*", re.IGNORECASE)
_DECLINES: Final = re.compile(
    r"\b(?:\w+n't|not|no|never|without|except|excluding|other than|instead of|remains?|unchanged|kept?)\b",
    re.IGNORECASE,
)
_ASKS_FOR_PERSON: Final = re.compile(
    r"\btransfer(?:red)? (?:me|us|this)\b|\b(?:speak|talk) (?:to|with) (?:an?|your|the|some)\b|\bescalat\w+"
    r"|\b(?:connect|put) me (?:to|with|through)\b|\b(?:human|live|real) (?:agent|representative|person|being)\b"
    r"|\b(?:supervisors?|managers?|someone else) (?:that |who |whom )?(?:i|we) (?:can|could|may)\b"
    r"|\b(?:is there|get|have) (?:an?|any|your|the) (?:supervisor|manager)\b",
    re.IGNORECASE,
)
#: What the agent has found is not what the user means, or knows of.
_DISOWNS: Final = re.compile(
    r"\b(?:that|this|it)(?: still)?(?:'s| is| does)?(?: still)?(?: not|n't)(?: quite)? "
    r"(?:(?:the |my )(?:right|correct|order|reservation|booking|flight|trip)|match|sound (?:right|like))\b"
    r"|\b(?:(?:do not|don't) (?:recall|remember) (?:order|book|buy|purchas)ing"
    r"|(?:didn't|did not|never) (?:order|book|buy|bought|purchase)(?:e?d)?) (?:an?|any|the|that|those|this|these)\b",
    re.IGNORECASE,
)


def without_unwanted(text: str) -> str:
    """Return a text without what it says is not wanted, such as what follows "instead of"."""
    return _UNWANTED.sub(" ", plain_quotes(text))


def extreme_in(text: str) -> Literal["least", "most"] | None:
    """Return whether a text wants the cheapest (``least``) or the most expensive thing (``most``); None if neither."""
    wish = without_unwanted(text)
    least, most = bool(_LEAST.search(wish)), bool(_MOST.search(wish))
    return None if least == most else "least" if least else "most"


def means_all(text: str) -> bool:
    """Return whether a text speaks of all of several things, or of a whole one."""
    return _ALL.search(text) is not None


def means_everything(text: str) -> bool:
    """Return whether a text speaks of everything that there is, such as an entire order."""
    return _EVERYTHING.search(text) is not None


def withdraws(text: str) -> bool:
    """Return whether a text of the user gives up something that it has asked for, or puts it off."""
    return _WITHDRAWS.search(plain_quotes(text)) is not None


def reconsidered(text: str) -> str:
    """Return the part of a sentence from where it takes back a wish: "only exchange the lamp"; empty if it does not."""
    plain = plain_quotes(text)
    match = _RECONSIDERS.search(plain)
    return plain[match.start() :] if match else ""


def refused_in(sentence: str) -> str | None:
    """Return what a sentence of a scenario has as a condition that it is refused; None if it has none.

    It is what "if you cannot refund to the card" says, or what is said before "if not possible".
    """
    said = plain_quotes(sentence)
    condition = _REFUSED.search(said)
    if condition is None:
        return None
    own = _SAYS.sub(" ", condition["refused"])
    return own if own.strip() else said[: condition.start()]


def speaks_of_price(text: str) -> bool:
    """Return whether a text has a word for what something costs."""
    return _PRICE.search(text) is not None


def declines(text: str) -> bool:
    """Return whether a sentence has a word which says that something in it is not wanted, or stays as it is."""
    return _DECLINES.search(plain_quotes(text)) is not None


def disowns(text: str) -> bool:
    """Return whether a text of the user says that what the agent has found is not what it means: "not my order"."""
    return _DISOWNS.search(plain_quotes(text)) is not None


def asks_for_person(text: str) -> bool:
    """Return whether a text of the user asks to be handed over to a person."""
    return any(_ASKS_FOR_PERSON.search(without_unwanted(sentence)) for sentence in sentences(text))


def numbers_of(text: str, thing: str) -> set[int]:
    """Return how many of a thing a text wants: "no checked bags", "2 bags", "I don't need any bags".

    Args:
        text: The text.
        thing: The beginning of the word for it, such as ``bag``.
    """
    numbers = set()
    noun = rf"(?:\W+\w+){{0,2}}?\W+{re.escape(thing)}\w*"
    for sentence in sentences(plain_quotes(text.lower())):
        if re.search(_NONE + noun, sentence):
            numbers.add(0)
            continue
        for match in re.finditer(rf"\b(\d+|{'|'.join(_NUMBERS)})(?={noun})", sentence):
            numbers.add(int(match[1]) if match[1].isdecimal() else _NUMBERS[match[1]])
    return numbers
