"""What an offer is about, and between what a question lets the user choose."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .agreement import asks_to_proceed
from .message import plain_quotes
from .vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Collection

#: Verbs by which an agent offers to sell or add something.
_SELLS: Final = (
    r"(?:add(?: you to)?|include|throw in|order|book|buy|purchase|reserve|rent|subscribe(?: you)?(?: to)?"
    r"|sign (?:you )?up(?: for)?|enrol\w*(?: you)?(?: in)?|put you on|join|donate|upgrade(?: to)?|get|take out)"
)
#: How a question begins that leaves out "do you" or "would you".
_SHORT: Final = r"^\W*(?:(?:so|and|or|then|also|now|ok|okay|great|perfect)\b[, ]+)*(?:you )?"
#: An offer of a thing, up to the thing: "Would you like a", "Shall I add", "Need a", "interested in".
_OFFERS: Final = re.compile(
    rf"(?:\b(?:would you (?:also |still )?(?:like|care for|want|prefer)|do you (?:also )?(?:want|need|wish for))"
    rf"|{_SHORT}(?:want|need|like|fancy|wish for))"
    rf"(?: (?:me )?to (?:also )?{_SELLS}\b(?: you)?)?"
    rf"(?= (?!(?:me|to|us|if|that|this|these|those|it|i|we|help|a copy)\b))"
    rf"|\b(?:shall|should|can|may|could) i (?:also )?(?:offer|interest|{_SELLS})\b(?: you)?(?: (?:in|with))?"
    rf"|\bmind if i (?:also )?{_SELLS}(?:e?d)?\b"
    rf"|\bwould it be (?:ok|okay|all ?right|fine) (?:to|if i) (?:also )?{_SELLS}\b(?: you)?"
    rf"|\binterested in\b|^care for\b|\bhow about\b|\bin addition\b|{_SHORT}(?:add|include|throw in)\b",
    re.IGNORECASE,
)
#: Where the thing that is offered ends: "insurance for $30", "a note that says …".
_THING_ENDS: Final = re.compile(
    r"[,;:.?!(]|\b(?:to|for|that|which|about|of|on|in|with|at|by|as|so|or|and|while|if|asking)\b"
)
#: Words of offers that name nothing, or what agents do for everybody.
_GENERAL: Final = frozenset(
    words(
        "any some all each both other another one two more few new same right away here there now then too also well it"
        " them anything something things a an my your our yes no copy summary note email confirmation message reminder"
        " help assistance details information options option list update updates look try change changes receipt refund"
        " order reservation booking account human agent person transfer extra additional further moment minute"
    )
)
#: What is sold or asked for along with other things.
_EXTRAS: Final = frozenset(
    words(
        "newsletter insurance warranty protection subscription membership donation survey loyalty coupon promotion"
        " premium coverage roadside mailing"
    )
)
#: Words by which a thing is one more, besides what the user wants.
_FURTHER: Final = frozenset(words("also additional additionally extra optional besides furthermore"))
#: What can be had, up to the thing: "we also have a", "there is also an".
_INTRODUCES: Final = re.compile(
    r"\b(?:i|we) (?:also )?(?:can |could )?(?:also )?(?:have|offer|sell|recommend|suggest|provide)\b(?: you)?(?: also)?"
    r"|\byou (?:might|may|could|would) (?:also )?(?:enjoy|like|love|be interested in)\b"
    r"|\bthere(?: is|'s| are) (?:also )?|\b(?:also|additionally) available\b:?"
    r"|\b(?:i|we) (?:can|could) (?:also )?(?P<adds>add|include|throw in)\b",
    re.IGNORECASE,
)
#: An offer of what was spoken of before.
_POINTS: Final = re.compile(
    rf"\b(?:shall|should|can|may|could) i (?:also |go ahead and )?{_SELLS}(?: (?:it|that|this|one|them|those)\b|\W*$)"
    r"|^\W*(?:shall|should|may|can|could) i\W*$|\bhow about (?:it|that|this|one|them|those)\b"
    rf"|{_SHORT}(?:want|need|like|fancy|care for|add|include) (?:it|that|this|one|them|those|some)\b"
    rf"|\bwould you (?:also )?(?:like|care for|want) (?:(?:me )?to {_SELLS} )?(?:it|that|this|one|them|those)\b"
    rf"|\bdo you (?:also )?want (?:(?:me )?to {_SELLS} )?(?:it|that|this|one|them|those)\b|^(?:are you )?interested\b",
    re.IGNORECASE,
)
_OR: Final = re.compile(r",? or ", re.IGNORECASE)
_TWO: Final = 2
#: The beginnings of words that count when words are compared: a rental is what is rented.
_STEM: Final = 4
#: "Would you like a city bike or an e-bike?", with what comes before the first of them.
_EITHER: Final = re.compile(
    r"\b(?:like|prefer|want|take|have|use|choose|charge|pick|for|in|on|by|with|to|be|is|are|that|between|as):? "
    r"(?P<left>[^;:.?!()]{1,80}?),? or (?P<right>[^;:.?!()]{1,60})\?",
    re.IGNORECASE,
)
_LEADS: Final = re.compile(
    r".*\b(?:like|prefer|want|take|have|use|choose|charge|pick|for|in|on|by|with|to|be|is|are|it|that|between|as)\b ",
    re.IGNORECASE,
)
#: A question about what the agent does, or for what the user knows.
_ACTS_FOR_USER: Final = re.compile(
    r"\b(?:like|want|wish|prefer|need) (?:me|us) to\b|\b(?:provide|share|give|tell|send|enter|specify|let me know)\b",
    re.IGNORECASE,
)
#: Beginnings of choices that are none of things: "or not", "or would you", "cancel or return".
_NO_CHOICE: Final = re.compile(
    r"(?:not|no|yes|else|something|anything|would|do|does|is|are|was|have|has|if|let|any|others?|should|shall|may|can"
    r"|could|will|so|more|less|perhaps|maybe|whether|need|want|prefer|i|we|you|there|how|what|which|when|where|me|us"
    r"|proceed|go|continue|cancel|return|exchange|modify|change|add|remove|keep|wait|update|book|see|look|check|search"
    r"|make|set|send|share|use|pay|refund|replace|try|stay|leave|move|switch|upgrade|downgrade|explore"
    r"|(?!morning|evening)\w+ing)\b",
    re.IGNORECASE,
)
#: The agent says itself that something costs more than the user wants to pay.
_TOO_DEAR: Final = re.compile(
    r"\b(?:exceed(?:s|ed|ing)?|over|above|beyond|more than|higher than|outside(?: of)?) (?:your|the) "
    r"(?:[\w$.,-]+ ){0,3}?(?:budget|limit|maximum|price range|threshold|cap|ceiling)\b"
    r"|\b(?:exceeds?|over|above|beyond|more than) (?:what )?you\b[^.?!]{0,30}\b(?:spend|pay|afford|budget\w*)\b",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"\b(?:not|\w+n't|without|never|nor|no longer|if)\b[^,;.]{0,20}$", re.IGNORECASE)


def is_unrequested(sentence: str, wanted: Collection[str]) -> bool:
    """Return whether a sentence offers a thing that has nothing to do with what the user wants.

    Args:
        sentence: The sentence.
        wanted: The words of what the user wants and knows.
    """
    offer = _OFFERS.search(plain_quotes(sentence))
    return offer is not None and not asks_to_proceed(sentence) and _is_foreign(sentence[offer.end() :].lower(), wanted)


def points_at_offer(sentence: str) -> bool:
    """Return whether a sentence offers what the one before it speaks of: "Shall I add it?"."""
    return _POINTS.search(plain_quotes(sentence)) is not None


def introduces_unrequested(sentence: str, wanted: Collection[str]) -> bool:
    """Return whether a sentence speaks of a further thing that can be had, which the user does not want.

    Args:
        sentence: The sentence.
        wanted: The words of what the user wants and knows.
    """
    match = _INTRODUCES.search(plain_quotes(sentence))
    if match is None:
        return False
    is_further = match["adds"] is not None or not (_EXTRAS | _FURTHER).isdisjoint(words(sentence))
    return is_further and _is_foreign(sentence[match.end() :].lower(), wanted)


def _is_foreign(after: str, wanted: Collection[str]) -> bool:
    """Return whether the thing at the beginning of a text has nothing to do with what the user wants."""
    ends = _THING_ENDS.search(after, 1)
    offered = words(after[: ends.start()] if ends else after)
    specific = {word for word in offered if word not in _GENERAL}
    if offered and offered[-1] in _GENERAL and not specific & _EXTRAS:  # a high-priority note
        return False
    stems = {word[:_STEM] for word in wanted}
    known = {word for word in specific if word[:_STEM] in stems}
    is_known = after.lstrip().startswith(("the ", "your "))  # of the refund, the card
    return bool(specific & _EXTRAS - known) or (not is_known and len(known) * 2 < len(specific))


def is_one_of_two(text: str, value: str) -> bool:
    """Return whether a question asks for one of two things, and a value is one of them: "a gift, or a mistake?"."""
    meant = {word[:_STEM] for word in words(value) if len(word) >= _STEM}
    shares = [len(meant & {word[:_STEM] for word in words(part)}) for part in _OR.split(text)]
    return len(shares) == _TWO and bool(meant) and max(shares) * 2 > len(meant) and min(shares) * 2 <= len(meant)


def alternatives_in(text: str) -> list[str]:
    """Return the things between which a question lets the user choose; none if it is another question."""
    if _ACTS_FOR_USER.search(text) or asks_to_proceed(text):
        return []
    either = _EITHER.search(plain_quotes(text))
    if either is None:
        return []
    left = _LEADS.sub("", either["left"])
    choices = [part.strip() for part in (*left.split(", "), either["right"]) if part.strip()]
    return [] if any(map(_NO_CHOICE.match, choices)) else choices


def is_too_dear(text: str) -> bool:
    """Return whether a text says that something exceeds what the user wants to pay: "over your budget"."""
    plain = plain_quotes(text)
    return any(not _NEGATED.search(plain, 0, match.start()) for match in _TOO_DEAR.finditer(plain))
