"""What the prose of a task wants under a condition, and what it wants besides the request: read by patterns.

A clause such as "if the agent asks for the reason, say …" is no request: it becomes an answer, a fact or a fallback of
the script. ``Read.unread`` has those that no pattern reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...language.vocabulary import FACTS, facts_in, words
from ...models import Answer
from .memory import WHEN_CONFIRMING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Ends of sentences, and places at which a condition begins within one.
_SPLIT = re.compile(r"(?<=[.!?])\s+|\n+|,? (?:but|and),? (?=(?:if|when) (?:the )?(?:service )?agent\b)", re.IGNORECASE)
#: How the user uses its own tools, what they show if its problem is solved, and what it offers: not read here.
_DEVICE = re.compile(
    r"\btool calls?\b|^\W*if you are unsure\b|\bresolved\b|\bif necessary\b|\bfollow their guidance\b|\bstatus bar\b",
    re.IGNORECASE,
)
#: Conditions that are none.
_TRIVIAL = re.compile(r"\bif (?:relevant|needed|necessary), (?=you\b)", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|otherwise|only (?:after|when|once)|once the agent)\b", re.IGNORECASE)
_IF = r"^\W*(?:but |and |also )?(?:even )?(?:if|when)(?: and only if)?,?"
_AGENT = r"(?:the )?(?:service )?agent"
_OF_AGENT = re.compile(rf"\b{_AGENT}\b", re.IGNORECASE)
#: No condition, but a question.
_WHETHER = re.compile(r"\b(?:wonder|know|see|check|ask(?: the agent)?|tell you) if\b", re.IGNORECASE)
#: What the user wants once something is done.
_AFTERWARDS = re.compile(
    r"^\W*(?:only )?(?:once|after) [^,]*\b(?:has|have|is|are)\b[^,]*, (?:then )?(.+)$", re.IGNORECASE | re.DOTALL
)
#: The agent asks something; what is asked, and what the user says then.
_ASKED = re.compile(
    rf"{_IF} (?:{_AGENT} (?:finally )?(?:asks?|wants)|(?:you are |you're )?asked)(?: you)?\b ?(.*?), (?:then )?(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_IF_ASKED = re.compile(r"^(.+?)[;,]? (?:say so )?(?:only )?if (?:you are |the agent )?ask(?:ed|s)\W*$", re.IGNORECASE)
_FOR = re.compile(r"^(?:for|which|what|how many|about|the)\b", re.IGNORECASE)
_CONFIRMS = re.compile(r"\bconfirm", re.IGNORECASE)
_WITH_ID = ("reservation", "order")
_IDENTIFYING = ("name", "email", "zip", "user_id")
#: Something cannot be had; what it is, and what the user says then.
_REFUSED = re.compile(rf"{_IF} ((?:{_AGENT} )?.*?), (?:then )?(.+)$", re.IGNORECASE | re.DOTALL)
_NOT = re.compile(
    r"\b(?:not|\w+n't|cannot|unable|impossible|unavailable|no|refuses?|fails?|denies|insists?|only|says?|tells?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\$ ?\d|\b\d+ (?:dollars|bucks)\b|\b(?:more|less|greater|higher|lower) than\b|\bcosts?\b|\bprices? (?:is|are)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(rf"{_IF} [^,]*\b(?:multiple|several|options|both)\b[^,]*, (.+)$", re.IGNORECASE | re.DOTALL)
#: What follows is said later in the conversation; only what comes before it is said at once.
_LATER = re.compile(
    r",? (?:first|initially)(?=\s*[(,.]|$).*"
    r"|(?<!times), (?:and )?then\b.*|, but\b.*|(?<=\d) if .*|\s*\((?:common|do not|don't).*",
    re.DOTALL,
)
#: The user ends its request, as it does anyway when it is refused.
_GIVES_IN = re.compile(
    r"^(?:you )?accept\b|\baccept (?:it|that)\b|\bmove on\b"
    r"|\bend the (?:call|conversation)\b|\bjust thank\b|\bforget about\b"
    r"|\bno (?:action|exchange|cancel\w+)\b|\bdo (?:not|nothing)\b",
    re.IGNORECASE,
)
#: The user has nothing more to say than its goodbye.
_LEAVES = re.compile(
    r"(?:^|\b(?:and|then),? )(?:leave|hang up)\W*$|^say (?:thanks|thank you|goodbye)\W*$", re.IGNORECASE
)
#: Words of conditions that do not say what they are about.
_EMPTY = re.compile(
    r"about|agent|say|tell|that|thi|this|possible|available|cannot|able|there|then|when|will|only|they|doe\w*|isn't|mention"
    r"|insist|refuse|deny|just|option|other|service|want|with|would|like|cancel\w*|chang\w+|allow\w*|continue\w*|your"
    r"|and|are|has|was|can|pay|you|for|how|any|not|its|did|out|get|two|but|have|help|more|less|what|which|agree|after|even"
)
#: How the instructions say that something is said, and how the user says it.
_SPEECH = (
    (r"^(?:you )?(?:suddenly )?(?:change your mind|regret) (?:and|to) (?:only )?ask to (?:only )?", "please only "),
    (r"^do not say yes immediately,? because ", ""),
    (r"^(?:provide|with) ", ""),
    (r"^only (?=[a-z]+ the\b)", "please only "),
    (r"^insist on ", "you insist on "),
    (r"^(?:you )?(?:will )?(?:say|mention|reply|respond|answer|insist|tell (?:the agent|them|it)|explain)"
     r"(?: exactly)?(?: with)?(?: that)? ", ""),
    (r"^(?:you )?ask (?:the agent )?to be ", "you would like to be "),
    (r"^(?:you )?ask (?:the agent )?(?:if|whether) ", "please tell you whether "),
    (r"^(?:you )?ask (?:the agent )?to ", "please "),
    (r"^(?:you )?ask (?:the agent )?for ", "you would like "),
    (r"^(?:you )?ask (?:the agent )?(?=how|what|which|when)", "please tell you "),
    (r"^(?:you )?(?:want )?(?:then )?(?:try|ask) to ", "you would like to "),
    (r"^(?=(?:cancel|return|exchange|keep|change|get|use|modify|book|proceed|refund|provide|do|see|transfer|drop)\b)",
     "please "),
)  # fmt: skip
_ANGRY = re.compile(
    r"^you (?:are|become|would be) angry(?: and swear(?: for a few times)?)?,? (?:(?:and|but|then) )*", re.IGNORECASE
)
#: A text that is a sentence once it is in the first person.
_SENTENCE = re.compile(
    r"\W*(?:you|your|you're|it|it's|there|the|that|this|using|please|then|additionally|also|for|all|both|i|\d|[A-Z]\w*\d)\b",
    re.IGNORECASE,
)
#: Facts that a wish is about, if the script has none of this name.
_WISHES = {
    "payment_method": r"\b(?:gift ?cards?|gcs?|paypal|credit card|certificates?|original (?:form of )?payment"
    r"|master ?card|payment)\b",
    "insurance": r"\binsurance\b",
    "baggage": r"\b(?:bags?|baggages?|suitcases?)\b",
    "cabin": r"\b(?:economy|business)\b(?! (?:flight|trip))",
}
#: Of the instructions only: in the reason, it is the request.
_FLIGHTS = re.compile(
    r"^(?!.*\b(?:not|n't) want to (?:cancel|change|modify|upgrade)\b)"
    r".*\b(?:flights?|direct|nonstop|stopover|fly|\d+ ?[ap]m)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"^\W*(?:then |additionally,? |also,? )?you(?:'d)?(?: also| now| just| only| really)? "
    r"(?:want|need|would like"
    r"|wish|prefer|have|do not|don't|are (?:ok|okay|fine|happy|willing)|can pay|will pay)\b"
    r"(?!.*\b(?:know|sums?|balances?)\b)",
    re.IGNORECASE,
)
#: A wish for something that the agent does.
_REQUEST = re.compile(
    r"^\W*(?:then |additionally,? |also,? )?"
    r"(?:you(?:'d)?(?: also| now)? (?:want|need|would like|wish) "
    r"(?:to (?!let|see|be|make|minimi)|the agent to (?!figure))"
    r"|ask (?:the agent )?(?:how|what|which|whether|if|for|to)\b)",
    re.IGNORECASE,
)
#: What is about the user's manner or knowledge, or is one of the offers that it accepts or declines.
_FEELING = re.compile(
    r"\b(?:remember|know|recall|reveal|share|mention|provide|figure out|happy but|nothing)\b"
    r"|\b(?:do not|don't) want to\b|\bwilling to\b|\bhave a\b|\blike to\b",
    re.IGNORECASE,
)
#: Directions about how the user speaks; they are not said.
_DIRECTION = re.compile(
    r"\babruptly\b"
    r"|^\W*(?:make sure|be sure|remember|try) (?:that )?(?:to |you )?(?:\w+ )?(?:mention|make|say)\b|^\W*mention\b"
    r"|\b(?:do not|don't) (?:share|reveal|mention|tell) (?:this|it|that)\b|^\W*do not end\b|^\W*provide all details\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\([^)]*\b(?:do not|don't) (?:share|reveal|mention)[^)]*\)", re.IGNORECASE)
_INSISTS = re.compile(
    r"\binsist(?!ed)|\bbe (?:\w+ )?(?:insistent|persistent)\b|\byou are (?:\w+ )?persistent\b|\bno for an answer\b",
    re.IGNORECASE,
)
_INSIST = 2


@dataclass
class Read:
    """What was read of a task's prose.

    Attributes:
        says: The clauses of the reason that make the request.
        requests: Further wishes of the instructions, said one after the other once the request is done.
        facts: Facts that wishes and conditions give, by name; each is a sentence.
        answers: What the user says if the agent asks, tells or wants a confirmation.
        fallback: What it says when its request is refused; empty if there is none.
        insist: How often it repeats its request before.
        unread: The clauses with a condition, and the wishes of the instructions, that are not read.
    """

    says: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    fallback: str = ""
    insist: int = 0
    unread: list[str] = field(default_factory=list)


def read_prose(reason: str, rules: str, first_person: Callable[[str], str]) -> Read:
    """Return what the prose of a task says besides plain facts.

    Args:
        reason: Why the user contacts the agent.
        rules: How it behaves.
        first_person: Returns text about the user in the first person.
    """
    reader = _Reader(first_person)
    known = set(words(reason))
    for clause in _clauses(reason):
        if not reader.takes(clause, of_reason=True):
            reader.read.says.append(_ASIDE.sub("", clause).strip(". ") and _ASIDE.sub("", clause))
        reader.note_wish(clause, of_reason=True)
    for clause in _clauses(rules):
        if (
            reader.takes(clause, of_reason=False)
            or reader.note_wish(clause, of_reason=False)
            or not _long(clause) - known
        ):
            continue  # read, or said in the reason
        if _REQUEST.match(clause) and (say := reader.spoken(clause)):
            reader.read.requests.append(say)
        elif _WISH.match(clause) and not _FEELING.search(clause):
            reader.read.unread.append(clause)
    reader.finish()
    reader.read.insist = _INSIST if _INSISTS.search(rules) or _INSISTS.search(reason) else 0
    return reader.read


def _clauses(text: str) -> list[str]:
    text = _TRIVIAL.sub("", re.sub(r",\s*\n+", ", ", text))
    parts = [part.strip() for part in _SPLIT.split(text)]
    return [part for part in parts if part.strip(". ") and not _DEVICE.search(part)]


class _Reader:
    """Reads one clause after the other."""

    def __init__(self, first_person: Callable[[str], str]) -> None:
        self.read = Read()
        self._first_person = first_person
        self._in_reason: dict[str, str] = {}
        self._refusals: list[tuple[str, str, bool]] = []

    def spoken(self, text: str) -> str:
        """Return what the user says for an instruction such as ``mention that you have a pet``; empty if not read."""
        said = _LATER.sub("", _ANGRY.sub("", text)).strip(" '\",;")
        for pattern, replacement in _SPEECH:
            said, changed = re.subn(pattern, replacement, said, count=1, flags=re.IGNORECASE)
            if changed:
                break
        else:
            if not _SENTENCE.match(said):
                return ""
        said = self._first_person(said.strip(" '\""))
        said = said[:1].upper() + said[1:]
        return said if said.endswith((".", "!", "?")) else f"{said}."

    def note_wish(self, clause: str, *, of_reason: bool) -> bool:
        """Read a wish about a fact that the user has no other words for; return whether it is one.

        A wish of the instructions counts more than one of the reason, and several are said together.
        """
        if _CONDITION.search(clause) or not _WISH.match(clause):
            return False
        names = [name for name, pattern in _WISHES.items() if re.search(pattern, clause, re.IGNORECASE)]
        if not names and not of_reason and not _REQUEST.match(clause) and _FLIGHTS.match(clause):
            names = ["flights"]
        for name in names:
            if of_reason:
                self._in_reason.setdefault(name, self.spoken(clause))
            else:
                self.read.facts[name] = f"{self.read.facts.get(name, '')} {self.spoken(clause)}".strip()
        return bool(names)

    def takes(self, clause: str, *, of_reason: bool) -> bool:
        """Read a direction or a condition; return whether the clause is one, so that it is not said by itself.

        In the reason, a wish with its alternative is said as it is, and so is what is not read.
        """
        if _DIRECTION.search(clause) and not _ASIDE.search(clause):
            return True
        if afterwards := _AFTERWARDS.match(clause):
            if _LEAVES.search(afterwards[1]):
                return True
            self.read.requests.append(self.spoken(afterwards[1]) or self._first_person(afterwards[1]))
            return True
        if asked := _ASKED.match(clause):
            read = self._asked(asked[1], asked[2])
        elif not _CONDITION.search(clause) or _WHETHER.search(clause):
            return False
        else:
            read = self._conditional(clause, of_reason=of_reason)
        of_agent = asked is not None or _OF_AGENT.search(clause) is not None
        if not read and (of_agent or not of_reason):
            self.read.unread.append(clause)
        return asked is not None or not of_reason or (read and of_agent)

    def finish(self) -> None:
        """Decide which refusal the fallback answers: the first that may be any, else the first; others are named."""
        self.read.facts = self._in_reason | self.read.facts
        general = next((each for each in self._refusals if not each[0]), None) or next(iter(self._refusals), None)
        for each in self._refusals:
            topic, say, is_said = each
            if each == general:
                self.read.fallback = say
            elif topic:
                self.read.answers.append(Answer(asks=[topic], say=say))
            elif not is_said:
                self.read.unread.append(say)

    def _asked(self, what: str, then: str) -> bool:
        if _GIVES_IN.search(then) or _LEAVES.search(then):  # an offer, or nothing
            return True
        say = self.spoken(then)
        if not say or _NUMBER.search(then):
            return False
        if _CONFIRMS.search(what):
            self.read.answers.append(Answer(asks=[WHEN_CONFIRMING], say=say))
            return True
        names = facts_in(words(what if _FOR.match(what) else "" if what else then), ())
        if names:
            return self._fact(names[0], say, only_first=_LATER.search(then) is not None)
        topic = _topic(what)
        if topic and _FOR.match(what):
            # It is asked for by its own words; what is looked up by an id, by the id.
            self.read.facts[f"{topic}_id" if topic in _WITH_ID else topic.replace(" ", "_")] = say
        elif topic:
            self.read.answers.append(Answer(asks=[topic], say=say))
        return bool(topic)

    def _fact(self, name: str, say: str, *, only_first: bool) -> bool:
        """Note what the user says for a fact; as an answer, which is given once, if another one follows later."""
        if only_first and name in _IDENTIFYING:  # it would take the place of the other facts that are asked for
            return False
        if only_first:
            self.read.answers.append(Answer(asks=list(FACTS[name]), say=say))
        else:
            self.read.facts[name] = say
        return True

    def _conditional(self, clause: str, *, of_reason: bool) -> bool:
        """Read what the user says if something cannot be had, or can in several ways."""
        if _NUMBER.search(clause):
            return False
        if several := _SEVERAL.match(clause):
            return bool(self.read.facts.setdefault("new_items", self.spoken(several[1])))
        if (told := _IF_ASKED.match(clause)) and (topic := _topic(told[1])):
            self.read.answers.append(Answer(asks=[topic], say=self._first_person(f"{told[1]}.")))
            return True
        refused = _REFUSED.match(clause)
        if refused and (_GIVES_IN.search(refused[2]) or _LEAVES.search(refused[2])):
            return True
        if refused is None or not _NOT.search(refused[1]):
            return False
        say = self.spoken(refused[2])
        if say:
            topic = _topic(refused[1])
            negated = topic and re.search(r"\bnot\b|n't\b|\bcannot\b|\bno\b", refused[1], re.IGNORECASE)
            self._refusals.append((f"{topic} not/cannot/can't/unable" if negated else topic, say, of_reason))
        return bool(say)


def _long(text: str) -> set[str]:
    return {word for word in words(text) if len(word) > 4}


def _topic(text: str) -> str:
    """Return the words of a text that say what it is about; empty if there are none."""
    return " ".join(
        [word for word in words(text) if word.isalpha() and len(word) > 2 and not _EMPTY.fullmatch(word)][:3]
    )
