"""What a text does in a conversation: it asks, closes, hands the user over, or says that something is done now."""

from __future__ import annotations

import re
from typing import Final

from .message import plain_quotes

_CLOSES: Final = re.compile(
    r"anything else|something else|(any )?(other|further|more) (questions?|assistance|help)|have a ", re.IGNORECASE
)
_WANTS_ANSWER: Final = re.compile(
    r"\?|\bconfirm\b|\bplease (provide|tell|share|reply|let me know)\b|let me know (if|which|how|what)", re.IGNORECASE
)
#: What only an agent says.
_OF_AGENT: Final = re.compile(
    r"\b(anything else|how|what else) (that )?(i )?(can|may|could) (i )?(help|assist)", re.IGNORECASE
)
_USER_ID: Final = re.compile(r"\b(?:user|customer|member|account)(?:'s)? ?(?:id|number)\b", re.IGNORECASE)
#: What an agent says of the one of several things that it takes for the right one.
_RECOMMENDS: Final = re.compile(
    r"\b(?:cheapest|least expensive|most expensive|(?:lowest|highest|best)[- ]?\w*|closest|recommend\w*|suggest\w*)\b",
    re.IGNORECASE,
)
_OWN: Final = re.compile(r"\b(?:i|i'm|we|your|this|these|those|it)\b", re.IGNORECASE)
_HANDS_OVER: Final = re.compile(r"transfer|human agent|escalat", re.IGNORECASE)
_ACTS_NOW: Final = re.compile(
    r"\b(i will|i'll|i am going to|i'm going to) now\b|\blet me \w+ (that|this|it) (now|for you)\b"
    r"|\b(please hold|one moment|give me a moment|just a moment|bear with me)\b|\bi('m| am) (now )?processing\b",
    re.IGNORECASE,
)
_LOOKS_UP: Final = re.compile(
    r"\b(?:look|check|find|search|calculat|comput|verif|retriev|pull|get|gather|review|determin|fetch|provid|shar)\w*",
    re.IGNORECASE,
)
_REFUSES: Final = re.compile(
    r"\b(?:cannot|can't|can not|unable|not able|unfortunately|not (?:allowed|possible|eligible|permitted)|policy)\b",
    re.IGNORECASE,
)
#: That something was not found, or is not there, refuses nothing.
_NOT_FOUND: Final = re.compile(
    r"\b(?:find|locate|found|only have|(?:do not|don't) (?:have|see|match)|there (?:are|is) (?:\w+ )?no|none of)\b",
    re.IGNORECASE,
)
#: What stands before a thing that is spoken of, and not things of a kind.
_THIS: Final = re.compile(r"\b(?:your|the|this|that|these|those|its?|any|such)\b", re.IGNORECASE)
_GREETS: Final = re.compile(r"(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[\w ,]{0,12}[.!]*", re.IGNORECASE)
_THANKS: Final = re.compile(
    r"(?:ok(?:ay)?|great|perfect|all right|good|no)?[,.! ]*(?:many )?(?:thanks?|bye|that(?:'s| is| was) all)",
    re.IGNORECASE,
)
_UNKNOWN: Final = re.compile(
    r"\b(?:do not|don't) (?:\w+ly )?(?:know|have|remember|recall)\b|\b(?:can't|cannot|can not) (?:remember|recall)\b"
    r"|\bnot (?:\w+ly )?sure (?:what|which|who|where|whether|if)\b|\b(?:have )?no idea\b|\bforgot\b",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(r"\b(?:dates?|days?|when|birth(?:day)?s?)\b", re.IGNORECASE)
#: The agent waits for a yes to what it will do then.
_WAITS_FOR_YES: Final = re.compile(
    r"\byes ?(?:/|or) ?no\b|[\"'(]yes[\"')]|\b(?:do|can|could) you (?:please )?confirm\b"
    r"|\bplease (?:\w+ )?confirm\b|\bconfirm (?:if|that|whether|to|these|the (?:details|changes?|following))\b"
    r"|\b(?:shall|should|may|can) i (?:now )?(?:proceed|go ahead|continue)\b"
    r"|\b(?:would|do) you (?:like|want|wish) (?:me )?to (?:proceed|go ahead|continue)\b"
    r"|\b(?:reply|respond|answer|say)(?: with)? [\"']?yes\b",
    re.IGNORECASE,
)
_RESTATES: Final = re.compile(r"\byou(?:'d like| want| would like)\b", re.IGNORECASE)
_CHECKS: Final = re.compile(r"\b(?:confirm|verify|correct|right|is your)\b", re.IGNORECASE)


def closes(text: str) -> bool:
    """Return whether a text asks whether there is more, or says goodbye."""
    return bool(_CLOSES.search(text))


def wants_answer(text: str) -> bool:
    """Return whether a text asks something."""
    return bool(_WANTS_ANSWER.search(text))


def waits_for_yes(text: str) -> bool:
    """Return whether a text asks for the confirmation of what the agent will do then."""
    return bool(_WAITS_FOR_YES.search(text))


def checks_fact(text: str) -> bool:
    """Return whether a text of the agent asks whether something that it shows is right."""
    return bool(_CHECKS.search(text))


def restates_wish(text: str) -> bool:
    """Return whether a text of the agent says what the user wants."""
    return bool(_RESTATES.search(text))


def speaks_as_agent(text: str) -> bool:
    """Return whether a text says what only an agent says: "How can I help?"."""
    return bool(_OF_AGENT.search(text))


def asks_for_user_id(text: str) -> bool:
    """Return whether a text of the agent asks by which id the user is known."""
    return bool(_USER_ID.search(text)) and wants_answer(text)


def greets(text: str) -> bool:
    """Return whether a text of the user is a greeting and nothing else."""
    return bool(_GREETS.fullmatch(text))


def thanks(text: str) -> bool:
    """Return whether a text of the user begins with its thanks, or says that this was all."""
    return bool(_THANKS.match(plain_quotes(text)))


def says_unknown(text: str) -> bool:
    """Return whether a text of the user says that it does not know, or does not have, something."""
    return bool(_UNKNOWN.search(plain_quotes(text)))


def asks_when(text: str) -> bool:
    """Return whether a text asks for a date."""
    return bool(_WHEN.search(text)) and wants_answer(text)


def recommends(text: str) -> bool:
    """Return whether a sentence of the agent says that something is the right one of several, as the cheapest one."""
    return bool(_RECOMMENDS.search(text))


def speaks_of_own(text: str) -> bool:
    """Return whether a sentence is about the agent itself or something of the user's, and not a rule for everybody."""
    return bool(_OWN.search(text))


def hands_over(text: str) -> bool:
    """Return whether a text speaks of handing the user over to a person."""
    return bool(_HANDS_OVER.search(text))


def mentions_refusal(text: str) -> bool:
    """Return whether a text has words of a refusal, whatever is refused."""
    return bool(_REFUSES.search(text))


def says_not_found(sentence: str) -> bool:
    """Return whether a sentence says that something was not found, or is not there: that refuses nothing."""
    return bool(_NOT_FOUND.search(sentence))


def points_at_thing(sentence: str) -> bool:
    """Return whether a sentence speaks of a certain thing, and not of things of a kind."""
    return bool(_THIS.search(sentence))


def looks_up(text: str) -> bool:
    """Return whether an announcement of the agent's is that it finds something out, or tells it."""
    return bool(_LOOKS_UP.search(text))


def announced_in(text: str) -> str:
    """Return the part of a text in which the agent says that it acts now; empty if it says no such thing."""
    from .parser import parse  # its patterns are not needed for most conversations

    waiting = _ACTS_NOW.search(text)
    return text[waiting.start() :] if waiting else parse(text).announcement
