"""Objections: what a person says of what an agent has done, and should not have."""

from __future__ import annotations

import re
from typing import Final

from .message import plain_quotes

#: What somebody says of what was done, whenever that was.
_OBJECTS: Final = re.compile(
    r"\bnot what i\b|\bi (?:never|did ?n[o']t|have ?n[o']t|had ?n[o']t) (?:ask|want|say|said|agree|authori[sz]|approv"
    r"|request|confirm|order|t[eo]l[ld])|\bwhy (?:did|have|would|are) you\b|\bhow could you\b"
    r"|\bwho (?:t[o]ld|asked) you\b"
    r"|\byou (?:should ?n[o']t|should not|were ?n[o']t supposed|were not supposed|must ?n[o']t) |\bagainst my\b"
    r"|\byou(?:'ve| have)? (?:just )?(?:cancel+ed|refunded|changed|booked|ordered|deleted|removed|sent|charged|closed"
    r"|updated|picked|chose|used|took|did|made|got)\b[^.?!]{0,80}\b(?:wrong|mistake|without)\b"
    r"|\bi (?:only|just) (?:wanted|asked for)\b"
    r"|\bi (?:only |just |clearly |specifically )*(?:wanted|asked you|asked|t[o]ld you|said) "
    r"(?:to (?!ask|know|check|see|thank|make sure|confirm|let)|not to|only|just|for|i )"
    r"|\b(?:that|this|it)(?:'s| is| was)(?: all)? (?:wrong|not right|not correct|incorrect"
    r"|not what|a mistake|unacceptable|not ok)"
    r"|\b(?:undo|revert|reverse) (?:it|that|this)\b"
    r"|\bput (?:it|that|them) back\b|\byour mistake\b|\byou misunderst|\bunacceptable\b",
    re.IGNORECASE,
)
#: How somebody begins who objects to what the agent has just said that it did.
_BEGINS: Final = re.compile(r"(?:oh,? )?(?:what|no|nooo*|wait|stop|hold on|hey|huh|excuse me)\b\W*", re.IGNORECASE)
#: What follows "no" if it declines more.
_DECLINES: Final = re.compile(
    r"(?:no[ ,.!]*)*(?:\W*(?:thanks?|thank you|that(?:'s| is| was| will be|'ll be)? (?:all|it|everything|fine|good|ok)"
    r"|nothing|not (?:now|really|today|at the moment)|i(?:'m| am) (?:good|fine|all set|done|ok)|all good|bye|good"
    r"|everything(?:'s| is| was)|have a|i do ?n[o']t (?:need|have)|we(?:'re| are)|it(?:'s| is) (?:fine|ok|all|good)"
    r"|you(?:'ve| have) been)\b.*)?\W*",
    re.IGNORECASE | re.DOTALL,
)
#: A question or a request that begins with one of these words.
_ASKS: Final = re.compile(
    r"what(?:'s| is| are| about| if| time| do| does| will| would| can| kind)\b|wait,? (?:is|can|could|what|does|do)\b"
    r"|hey,? (?:can|could|what|is)\b|excuse me,? (?:can|could)\b|no (?:problem|worries)\b",
    re.IGNORECASE,
)
_CHANGED_MIND: Final = re.compile(r"\bchanged my mind\b|\bon second thought", re.IGNORECASE)
#: Characters of a text by whose beginning it may be an objection.
_LONGEST: Final = 300


def complains(text: str) -> bool:
    """Return whether a text says that something was wrong, whenever it was done: "I never asked for that"."""
    return _OBJECTS.search(plain_quotes(text)) is not None


def is_objection(text: str, *, done: bool) -> bool:
    """Return whether a text objects to something; ``done`` if it follows what has changed something."""
    text = plain_quotes(text).strip()
    if _CHANGED_MIND.search(text):
        return False
    if _OBJECTS.search(text):
        return True
    begin = text[:_LONGEST]
    return bool(done and _BEGINS.match(begin) and not _ASKS.match(begin) and not _DECLINES.fullmatch(begin))
