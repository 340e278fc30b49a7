"""The clauses of a scenario's prose: wishes, directions, and conditions with what the user says under them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ..vocabulary import words

#: Ends of sentences, and places at which a condition begins within one.
_ENDS: Final = re.compile(
    r"(?<=[.!?])\s+|\n+|,? (?:but|and),? (?=(?:if|when) (?:the )?(?:service )?agent\b)", re.IGNORECASE
)
_WRAPPED: Final = re.compile(r",\s*\n+")
#: How the user uses its own tools, what they show if its problem is solved, and what it offers: not read here.
_DEVICE: Final = re.compile(
    r"\btool calls?\b|^\W*if you are unsure\b|\bresolved\b|\bif necessary\b|\bfollow their guidance\b|\bstatus bar\b",
    re.IGNORECASE,
)
#: Conditions that are none.
_TRIVIAL: Final = re.compile(r"\bif (?:relevant|needed|necessary), (?=you\b)", re.IGNORECASE)
_CONDITION: Final = re.compile(r"\b(?:if|unless|otherwise|only (?:after|when|once)|once the agent)\b", re.IGNORECASE)
_IF: Final = r"^\W*(?:but |and |also )?(?:even )?(?:if|when)(?: and only if)?,?"
_AGENT: Final = r"(?:the )?(?:service )?agent"
_OF_AGENT: Final = re.compile(rf"\b{_AGENT}\b", re.IGNORECASE)
#: No condition, but a question.
_WHETHER: Final = re.compile(r"\b(?:wonder|know|see|check|ask(?: the agent)?|tell you) if\b", re.IGNORECASE)
_AFTERWARDS: Final = re.compile(
    r"^\W*(?:only )?(?:once|after) [^,]*\b(?:has|have|is|are)\b[^,]*, (?:then )?(.+)$", re.IGNORECASE | re.DOTALL
)
_ASKED: Final = re.compile(
    rf"{_IF} (?:{_AGENT} (?:finally )?(?:asks?|wants)|(?:you are |you're )?asked)(?: you)?\b ?(.*?), (?:then )?(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_TOLD_IF_ASKED: Final = re.compile(
    r"^(.+?)[;,]? (?:say so )?(?:only )?if (?:you are |the agent )?ask(?:ed|s)\W*$", re.IGNORECASE
)
_CANNOT_BE_HAD: Final = re.compile(rf"{_IF} ((?:{_AGENT} )?.*?), (?:then )?(.+)$", re.IGNORECASE | re.DOTALL)
_SEVERAL: Final = re.compile(
    rf"{_IF} [^,]*\b(?:multiple|several|options|both)\b[^,]*, (.+)$", re.IGNORECASE | re.DOTALL
)
_REFUSES: Final = re.compile(
    r"\b(?:not|\w+n't|cannot|unable|impossible|unavailable|no|refuses?|fails?|denies|insists?|only|says?|tells?)\b",
    re.IGNORECASE,
)
_NEGATED: Final = re.compile(r"\bnot\b|n't\b|\bcannot\b|\bno\b", re.IGNORECASE)
_AMOUNT: Final = re.compile(
    r"\$ ?\d|\b\d+ (?:dollars|bucks)\b|\b(?:more|less|greater|higher|lower) than\b|\bcosts?\b|\bprices? (?:is|are)\b",
    re.IGNORECASE,
)
#: The user ends its request, as it does anyway when it is refused; or it has nothing more to say than its goodbye.
_GIVES_IN: Final = re.compile(
    r"^(?:you )?accept\b|\baccept (?:it|that)\b|\bmove on\b"
    r"|\bend the (?:call|conversation)\b|\bjust thank\b|\bforget about\b"
    r"|\bno (?:action|exchange|cancel\w+)\b|\bdo (?:not|nothing)\b",
    re.IGNORECASE,
)
_LEAVES: Final = re.compile(
    r"(?:^|\b(?:and|then),? )(?:leave|hang up)\W*$|^say (?:thanks|thank you|goodbye)\W*$", re.IGNORECASE
)
_WISH: Final = re.compile(
    r"^\W*(?:then |additionally,? |also,? )?you(?:'d)?(?: also| now| just| only| really)? "
    r"(?:want|need|would like"
    r"|wish|prefer|have|do not|don't|are (?:ok|okay|fine|happy|willing)|can pay|will pay)\b"
    r"(?!.*\b(?:know|sums?|balances?)\b)",
    re.IGNORECASE,
)
#: A wish for something that the agent does.
_REQUEST: Final = re.compile(
    r"^\W*(?:then |additionally,? |also,? )?"
    r"(?:you(?:'d)?(?: also| now)? (?:want|need|would like|wish) "
    r"(?:to (?!let|see|be|make|minimi)|the agent to (?!figure))"
    r"|ask (?:the agent )?(?:how|what|which|whether|if|for|to)\b)",
    re.IGNORECASE,
)
#: Facts that a wish is about.
_WISHED_FACTS: Final = {
    "payment_method": r"\b(?:gift ?cards?|gcs?|paypal|credit card|certificates?|original (?:form of )?payment"
    r"|master ?card|payment)\b",
    "insurance": r"\binsurance\b",
    "baggage": r"\b(?:bags?|baggages?|suitcases?)\b",
    "cabin": r"\b(?:economy|business)\b(?! (?:flight|trip))",
}
_FLIGHTS: Final = re.compile(
    r"^(?!.*\b(?:not|n't) want to (?:cancel|change|modify|upgrade)\b)"
    r".*\b(?:flights?|direct|nonstop|stopover|fly|\d+ ?[ap]m)\b",
    re.IGNORECASE,
)
#: What is about the user's manner or knowledge, or is one of the offers that it accepts or declines.
_FEELING: Final = re.compile(
    r"\b(?:remember|know|recall|reveal|share|mention|provide|figure out|happy but|nothing)\b"
    r"|\b(?:do not|don't) want to\b|\bwilling to\b|\bhave a\b|\blike to\b",
    re.IGNORECASE,
)
_DIRECTION: Final = re.compile(
    r"\babruptly\b"
    r"|^\W*(?:make sure|be sure|remember|try) (?:that )?(?:to |you )?(?:\w+ )?(?:mention|make|say)\b|^\W*mention\b"
    r"|\b(?:do not|don't) (?:share|reveal|mention|tell) (?:this|it|that)\b|^\W*do not end\b|^\W*provide all details\b",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"\s*\([^)]*\b(?:do not|don't) (?:share|reveal|mention)[^)]*\)", re.IGNORECASE)
_INSISTS: Final = re.compile(
    r"\binsist(?!ed)|\bbe (?:\w+ )?(?:insistent|persistent)\b|\byou are (?:\w+ )?persistent\b|\bno for an answer\b",
    re.IGNORECASE,
)
_FOR: Final = re.compile(r"^(?:for|which|what|how many|about|the)\b", re.IGNORECASE)
_CONFIRMATION: Final = re.compile(r"\bconfirm", re.IGNORECASE)
#: Words of conditions that do not say what they are about.
_EMPTY: Final = re.compile(
    r"about|agent|say|tell|that|thi|this|possible|available|cannot|able|there|then|when|will|only|they|doe\w*|isn't|mention"
    r"|insist|refuse|deny|just|option|other|service|want|with|would|like|cancel\w*|chang\w+|allow\w*|continue\w*|your"
    r"|and|are|has|was|can|pay|you|for|how|any|not|its|did|out|get|two|but|have|help|more|less|what|which|agree|after|even"
)
#: A topic has so many words, each with more letters than these.
_TOPIC_WORDS, _SHORT_WORD = 3, 2


class Conditional(NamedTuple):
    """A clause with a condition.

    Attributes:
        condition: What must be so, such as what the agent asks or what cannot be had.
        then: What the user does or says then.
    """

    condition: str
    then: str

    @property
    def gives_in(self) -> bool:
        """Return whether the user accepts that, or leaves: it needs no words for it."""
        return bool(_GIVES_IN.search(self.then)) or leaves(self.then)

    @property
    def is_negated(self) -> bool:
        """Return whether the condition is that something is not so."""
        return _NEGATED.search(self.condition) is not None

    @property
    def is_confirmation(self) -> bool:
        """Return whether the condition is that the agent asks for a confirmation."""
        return _CONFIRMATION.search(self.condition) is not None

    @property
    def names_question(self) -> bool:
        """Return whether the condition says what the agent asks for: "if it asks for the reason"."""
        return _FOR.match(self.condition) is not None


def clauses(text: str) -> list[str]:
    """Return the clauses of a text, without those about the user's own tools."""
    text = _TRIVIAL.sub("", _WRAPPED.sub(", ", text))
    parts = [part.strip() for part in _ENDS.split(text)]
    return [part for part in parts if part.strip(". ") and not _DEVICE.search(part)]


def without_aside(clause: str) -> str:
    """Return a clause without a remark in brackets that is not to be said; empty if there is nothing else."""
    rest = _ASIDE.sub("", clause)
    return rest if rest.strip(". ") else ""


def is_direction(clause: str) -> bool:
    """Return whether a clause says how the user speaks, and not what it says."""
    return _DIRECTION.search(clause) is not None and _ASIDE.search(clause) is None


def has_condition(clause: str) -> bool:
    """Return whether a clause has a condition, or asks whether something is so."""
    return _CONDITION.search(clause) is not None


def asks_whether(clause: str) -> bool:
    """Return whether the "if" of a clause is the one of a question: "you wonder if the agent can wrap it"."""
    return _WHETHER.search(clause) is not None


def names_agent(clause: str) -> bool:
    """Return whether a clause speaks of the agent."""
    return _OF_AGENT.search(clause) is not None


def has_amount(text: str) -> bool:
    """Return whether a text compares amounts or prices, so that it takes a decision to go by it."""
    return _AMOUNT.search(text) is not None


def leaves(instruction: str) -> bool:
    """Return whether the user is told to do nothing but leave."""
    return _LEAVES.search(instruction) is not None


def wanted_afterwards(clause: str) -> str | None:
    """Return what the user wants once something is done; None if the clause says no such thing."""
    match = _AFTERWARDS.match(clause)
    return match and match[1]


def if_asked(clause: str) -> Conditional | None:
    """Return what the agent asks, and what the user says then: "if the agent asks for the reason, say …"."""
    match = _ASKED.match(clause)
    return match and Conditional(match[1], match[2])


def told_if_asked(clause: str) -> str | None:
    """Return the statement that the user makes if it is asked: "the box has no lid; say so if asked"."""
    match = _TOLD_IF_ASKED.match(clause)
    return match and match[1]


def if_several(clause: str) -> str | None:
    """Return what the user wants if there are several things to choose from."""
    match = _SEVERAL.match(clause)
    return match and match[1]


def if_refused(clause: str) -> Conditional | None:
    """Return what cannot be had, and what the user says then: "if that is not possible, you want …".

    If the user gives in then, the condition may be any.
    """
    match = _CANNOT_BE_HAD.match(clause)
    conditional = match and Conditional(match[1], match[2])
    return conditional if conditional and (conditional.gives_in or _REFUSES.search(conditional.condition)) else None


def is_wish(clause: str) -> bool:
    """Return whether a clause says what the user wants or has."""
    return _WISH.match(clause) is not None


def is_request(clause: str) -> bool:
    """Return whether a clause wants the agent to do or to tell something."""
    return _REQUEST.match(clause) is not None


def is_feeling(clause: str) -> bool:
    """Return whether a wish is about the user's manner or knowledge, or an offer that it accepts or declines."""
    return _FEELING.search(clause) is not None


def insists(text: str) -> bool:
    """Return whether a text wants the user to insist."""
    return _INSISTS.search(text) is not None


def wished_facts(clause: str) -> list[str]:
    """Return the names of the facts that a wish is about."""
    return [name for name, pattern in _WISHED_FACTS.items() if re.search(pattern, clause, re.IGNORECASE)]


def is_about_flights(clause: str) -> bool:
    """Return whether a wish is about which flights are taken, and not that they are changed."""
    return _FLIGHTS.match(clause) is not None


def topic_of(text: str) -> str:
    """Return the words of a text that say what it is about; empty if there are none."""
    topics = (word for word in words(text) if word.isalpha() and len(word) > _SHORT_WORD and not _EMPTY.fullmatch(word))
    return " ".join(list(topics)[:_TOPIC_WORDS])
