"""The wording of agreement and of requests for it, in English, and what a text mentions."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_YES = re.compile(
    r"\b(?:yes|yeah|yep|yup|yea|sure|ok|okay|alright|all right|agreed?|absolutely|definitely|certainly|of course|"
    r"correct|(?<!you )confirm(?:ed|ing)?|go ahead|proceed|do (?:it|so|that|this)|please do|go for it|"
    r"sounds (?:good|great|fine|perfect|right)|looks (?:good|great|fine|right)|that works|works for me|"
    r"that(?:'s|\u2019s| is| would be) (?:fine|good|great|right|perfect|okay|ok|acceptable)|i accept|"
    r"let(?:'s|\u2019s) do|"
    r"perfect|exactly|please (?:cancel|change|modify|update|return|exchange|book|add|process|make|complete|submit|"
    r"finali[sz]e|switch|use|remove|upgrade|enable|disable|refuel|resume|suspend|send|apply|file|open|close|order))\b",
    re.IGNORECASE,
)
_NO = re.compile(
    r"^\W*(?:no|nope|not yet|don(?:'|\u2019)?t|do not|wait|hold on|stop|never ?mind|cancel that)\b", re.IGNORECASE
)
_GO_AHEAD = re.compile(r"\b(?:yes|yeah|go ahead|proceed|confirm(?:ed)?)\b", re.IGNORECASE)
_ORDERS = re.compile(r"\b(?:go ahead|proceed|please continue|i confirm)\b", re.IGNORECASE)
_PROCEED = re.compile(r"\bconfirm|\bproceed|\bgo ahead", re.IGNORECASE)
_PAYMENT = re.compile(r"\b(?:payment|refund) method|\bgift cards?\b|\bcredit cards?\b|\bpay\b", re.IGNORECASE)
_ASKS = re.compile(
    r"\(yes/no\)|\bconfirm|\bproceed|\bgo ahead|\b(?:shall|should|may|can|could) (?:i|we)\b|\bwould you like\b|"
    r"\bdo you (?:want|wish|agree|approve|accept|consent)\b|\bare you (?:sure|ready|happy|okay|ok)\b|"
    r"\b(?:is|does|would|are) (?:that|this|it|these|everything|all)[^.?!]*\?|\bagree\b|\bapprove|\bauthori[sz]e|"
    r"['\"\u201c]yes['\"\u201d]|\breply\b|\blet me know\b|\bok(?:ay)?\?|\bcorrect\?|\bright\?",
    re.IGNORECASE,
)
_CHANGES = (
    r"(?:successfully |now )?(?:cancell?ed|changed|modified|updated|returned|exchanged|booked|added|processed|"
    r"submitted|entered|sent|switched|removed|upgraded|made|refunded|completed|enabled|disabled|paid|requested|filed|placed)"
)
_DONE = re.compile(
    rf"\b(?:has|have) (?:now |all |both )?been {_CHANGES}\b|\bi(?:'ve|\u2019ve| have) {_CHANGES}\b|\bnow has\b",
    re.IGNORECASE,
)
#: What a sentence with such a word says is not that something was done.
_UNDONE = re.compile(
    r"\b(?:not|cannot|can(?:'|\u2019)t|unable|unfortunately|once|after|when|if|until|unless|before)\b", re.IGNORECASE
)
#: What an agent changes for itself before it asks whether it is right.
_DRAFT = re.compile(r"\b(?:details?|summary|selection|draft|proposal|plan|quote|breakdown|list)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
#: Values of at most so many characters may be ids.
_LONGEST_ID = 100
#: Without points before and behind it.
_WORD = re.compile(r"[a-z0-9@+](?:[a-z0-9.@+]*[a-z0-9@+])?")


def is_yes(text: str) -> bool:
    """Return whether a text of the user agrees to something."""
    return bool(_YES.search(text)) and (not _NO.search(text) or bool(_GO_AHEAD.search(text)))


def is_no(text: str) -> bool:
    """Return whether a text of the user begins with a refusal, and agrees to nothing."""
    return bool(_NO.search(text)) and not _GO_AHEAD.search(text)


def is_order(text: str) -> bool:
    """Return whether a text of the user orders what was proposed, however the proposal was worded."""
    return is_yes(text) and bool(_ORDERS.search(text))


def asks_to_proceed(text: str) -> bool:
    """Return whether a text of the agent asks for agreement to a change, and not only a question."""
    return bool(_PROCEED.search(text))


def is_about_payment(text: str) -> bool:
    """Return whether a text of the agent is about the method of a payment."""
    return bool(_PAYMENT.search(text))


def asks_for_yes(text: str) -> bool:
    """Return whether a text of the agent asks for agreement."""
    return bool(_ASKS.search(text))


def done_sentences(text: str) -> list[str]:
    """Return the sentences of a text of the agent that say that something was changed."""
    return [each for each in _SENTENCE.split(text) if _DONE.search(each) and not _UNDONE.search(each)]


def is_draft(sentence: str, text: str) -> bool:
    """Return whether a sentence speaks of a draft, in a text of the agent that asks for agreement to it."""
    return bool(_DRAFT.search(sentence)) and asks_to_proceed(text)


def mentions(text: str, value: Any) -> bool:
    """Return whether a text has a value, whatever the case, spaces and punctuation around it.

    ``#W123`` is mentioned in ``order W123``, ``first_floor`` in ``First floor``; ``12`` is not in ``2012``.
    """
    return mentions_any(text, (value,))


def mentions_any(text: str, values: Iterable[Any]) -> bool:
    """Return whether a text has one of several values, as ``mentions``."""
    said = _last_plain(text)
    return any(each in said for each in _wanted(tuple(map(str, values))))


def _wanted(values: tuple[str, ...]) -> tuple[str, ...]:
    return _words_of_ids(values) if max(map(len, values), default=0) <= _LONGEST_ID else _words_of(values)


def _words_of(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values as they are looked for in texts, without those that have no words."""
    return tuple(each for each in map(_plain, values) if each.strip())


def _plain(text: str) -> str:
    """Return the words of a text with one space before, between and after them."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


#: Rules look for one value after the other in the same texts, which may be whole conversations.
_last_plain = functools.lru_cache(maxsize=16)(_plain)
#: The ids of a domain are looked for in many texts.
_words_of_ids = functools.lru_cache(maxsize=256)(_words_of)
