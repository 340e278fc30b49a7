"""What an agent says that it has done, and the words for what tools do."""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from .agreement import asks_to_proceed
from .message import plain_quotes
from .segments import sentences
from .tokens import plain_words

#: Words for what a tool does; a name begins with one of them. No words that are nouns as well, such as "issue".
_ACTS: Final = (
    ("change", "modify", "update", "edit", "adjust", "switch", "upgrade", "downgrade"),
    ("cancel", "delete", "remove"),
    ("book", "create", "make", "add", "reserve"),
    ("return", "refund"),
    ("exchange", "replace", "swap"),
    ("send", "give", "grant", "compensate"),
    ("enable", "activate", "resume"),
    ("disable", "deactivate", "suspend"),
)
#: Acts that people take for each other: who wants an item of a pending order exchanged has it modified.
_ALIKE: Final = ("change", "exchange")
_ENDINGS: Final = r"(?:|e|y|s|es|ed|ing|[lp]ed|[lp]ing|ies|ied|ying|lation|(?<=cancel)ation)"
_BETWEEN: Final = r"(?:(?:successfully|now|just|also|all|both|already|then) )*"
_DONE_VERBS: Final = (
    r"(?:cancell?ed|changed|modified|updated|returned|exchanged|booked|added|processed|submitted|entered|sent|switched"
    r"|removed|upgraded|downgraded|made|refunded|completed|enabled|disabled|paid|requested|filed|placed|applied|issued"
    r"|moved|rescheduled|scheduled|created|deleted|reserved|rented)"
)
_DONE: Final = re.compile(
    rf"\b(?:has|have) {_BETWEEN}been {_BETWEEN}(?P<passive>{_DONE_VERBS})\b"
    rf"|\b(?:i|we)(?:'ve| have) {_BETWEEN}(?P<active>{_DONE_VERBS})\b|\bnow has\b"
    # A device of the user's may be enabled now by the user.
    rf"|\b(?:is|are) now {_BETWEEN}(?P<state>(?!enabled|disabled){_DONE_VERBS})\b",
    re.IGNORECASE,
)
#: What a sentence with such a word says is not that something was done, or not by the agent now.
_UNDONE: Final = re.compile(
    r"\b(?:not|\w+n't|cannot|unable|unfortunately|once|after|when|whether|if|until|unless|before|nothing|none|neither"
    r"|no (?:other |further |additional )?(?:changes?|modifications?|updates?|charges?|actions?|orders?|items?))\b|\?",
    re.IGNORECASE,
)
#: It speaks of what was done before.
_RECAP: Final = re.compile(
    r"\b(?:already|previously|earlier|originally|initially|so far|in total|overall|yesterday|ago|recap|summary"
    r"|summari[sz]e|as (?:discussed|mentioned|noted|stated|requested earlier))\b",
    re.IGNORECASE,
)
#: What systems send by themselves, and what is told to a colleague: no change of a record.
_ASIDE: Final = re.compile(
    r"\b(?:e-?mails?|confirmations?|notifications?|receipts?|messages?|notes?|reminders?|tickets?)\b"
    r"|\btransfer|\bhuman\b|\bescalat|\bcolleagues?\b|\bspecialists?\b",
    re.IGNORECASE,
)
#: What follows describes the change by another record.
_LIKENESS: Final = re.compile(
    r"\b(?:match(?:es|ing)?|from|same as|like|as (?:in|on|for)|according to)\b", re.IGNORECASE
)
#: Words for any change: who exchanges an item of a pending order has modified it.
_GENERAL: Final = frozenset(
    (
        *("processed", "submitted", "made", "completed", "requested", "filed", "entered", "applied", "placed", "paid"),
        *("refunded", "updated", "changed", "modified", "added", "removed", "issued", "exchanged", "switched"),
        *("upgraded", "downgraded", "moved", "rescheduled"),
    )
)
#: The reason of a wish, not what is wished.
_NO_ACT: Final = re.compile(r"\bchanges? (?:of|in) (?:the |my |your )?plans?\b", re.IGNORECASE)
#: What an agent changes for itself before it asks whether it is right.
_DRAFT: Final = re.compile(
    r"\b(?:details?|summary|selection|draft|proposal|plan|quote|breakdown|list)\b", re.IGNORECASE
)


class Claim(NamedTuple):
    """A sentence of an agent which says that it has changed something.

    Attributes:
        text: The sentence.
        verb: What was done, such as ``cancelled``; empty if no word says so.
        own: Whether the agent says that it did so itself: "I have cancelled", not "it has been cancelled".
    """

    text: str
    verb: str
    own: bool

    @property
    def subject(self) -> str:
        """The text up to what it is only compared with: "the address was changed to match order #W1"."""
        return _LIKENESS.split(self.text, maxsplit=1)[0]

    def is_of(self, tool: str) -> bool:
        """Return whether a call of a tool may be what was done, by the first word of its name."""
        return (
            not self.verb
            or self.verb in _GENERAL
            or bool(words_for_act(tool.partition("_")[0].lower()).fullmatch(self.verb))
        )

    def is_shown_in(self, record: str) -> bool:
        """Return whether a record has the word for what was done, such as ``"status": "cancelled"``."""
        return bool(self.verb) and self.verb.replace("ll", "l") in record.lower().replace("ll", "l")


def acts_in(text: str) -> list[str]:
    """Return the words of a text that may be acts, in lower case; "a change of plans" has none."""
    return plain_words(_NO_ACT.sub(" ", text))


def claims_in(text: str) -> list[Claim]:
    """Return the sentences of a text of the agent which say that something was changed.

    No claims are recaps, what is denied or depends on something, news about messages that a system sends, and drafts
    that the text asks to agree to.
    """
    claims = []
    asks = asks_to_proceed(text)
    for sentence in (part for whole_sentence in sentences(plain_quotes(text)) for part in whole_sentence.split("; ")):
        match = _DONE.search(sentence)
        if not match or _UNDONE.search(sentence) or _RECAP.search(sentence) or _ASIDE.search(sentence):
            continue
        if not (asks and _DRAFT.search(sentence)):
            claims.append(Claim(sentence, next(filter(None, match.groups()), "").lower(), match["active"] is not None))
    return claims


def has_synonyms(verb: str) -> bool:
    """Return whether words for what a tool does are known, by the first word of its name."""
    return any(verb in acts for acts in _ACTS)


@functools.lru_cache(maxsize=64)
def words_for_act(verb: str) -> re.Pattern[str]:
    """Return the pattern of words that say what a tool does, by the first word of its name."""
    return _pattern(next((acts for acts in _ACTS if verb in acts), (verb,)))


@functools.lru_cache(maxsize=64)
def words_like_act(verb: str) -> re.Pattern[str]:
    """Return the same with the words for another act that people take for it: exchange for change."""
    own_acts = next((acts for acts in _ACTS if verb in acts), (verb,))
    alike = own_acts[0] in _ALIKE
    return _pattern(tuple(word for acts in _ACTS if acts[0] in _ALIKE for word in acts) if alike else own_acts)


def _pattern(verbs: tuple[str, ...]) -> re.Pattern[str]:
    stems = "|".join(re.escape(verb.rstrip("ey")) for verb in verbs)
    return re.compile(f"(?:{stems}){_ENDINGS}")
