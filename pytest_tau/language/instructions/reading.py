"""What the instructions of a scenario want: requests, and what the user says under a condition.

A clause such as "if the agent asks for the reason, say …" is no request: it is an answer, a fact or a fallback.
``Read.unread`` has those that no pattern reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..vocabulary import FACTS, facts_in, words
from .clauses import (
    Conditional,
    asks_whether,
    clauses,
    has_amount,
    has_condition,
    if_asked,
    if_refused,
    if_several,
    insists,
    is_about_flights,
    is_direction,
    is_feeling,
    is_request,
    is_wish,
    leaves,
    names_agent,
    told_if_asked,
    topic_of,
    wanted_afterwards,
    wished_facts,
    without_aside,
)
from .speech import as_said, first_person, says_more_later

#: Stands among the questions of an answer that is given when the agent asks for a yes.
WHEN_CONFIRMING: Final = "(yes/no)"
#: Topics that are looked up by an id, and facts by which the user is.
_WITH_ID: Final = ("reservation", "order")
_IDENTIFYING: Final = ("name", "email", "zip", "user_id")
#: How often a user insists that is told to.
_INSIST: Final = 2
#: What the reason has said already is known by its words with more letters than these.
_SHORT_WORD: Final = 4


class Reply(NamedTuple):
    """What the user says under a condition.

    Attributes:
        asks: Phrases of which the agent's text has one, or ``WHEN_CONFIRMING``.
        say: What it says.
    """

    asks: list[str]
    say: str


class _Refusal(NamedTuple):
    """What the user says when something is refused: a phrase for it, the text, and whether the request has it."""

    topic: str
    say: str
    is_said: bool


@dataclass
class Read:
    """What was read of a task's prose.

    Attributes:
        says: The clauses of the reason that make the request.
        requests: Further wishes of the instructions, said one after the other once the request is done.
        facts: Facts that wishes and conditions give, by name; each is a sentence.
        replies: What the user says if the agent asks, tells or wants a confirmation.
        fallback: What it says when its request is refused; empty if there is none.
        insist: How often it repeats its request before.
        unread: The clauses with a condition, and the wishes of the instructions, that are not read.
    """

    says: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    replies: list[Reply] = field(default_factory=list)
    fallback: str = ""
    insist: int = 0
    unread: list[str] = field(default_factory=list)


def read_instructions(reason: str, rules: str) -> Read:
    """Return what the prose of a task says besides plain facts.

    Args:
        reason: Why the user contacts the agent.
        rules: How it behaves.
    """
    reader = _Reader()
    known = set(words(reason))
    for clause in clauses(reason):
        if not reader.takes(clause, of_reason=True):
            reader.read.says.append(without_aside(clause))
        reader.note_wish(clause, of_reason=True)
    for clause in clauses(rules):
        if reader.takes(clause, of_reason=False) or reader.note_wish(clause, of_reason=False):
            continue
        if not _long_words(clause) - known:
            continue  # said in the reason
        if is_request(clause) and (say := as_said(clause)):
            reader.read.requests.append(say)
        elif is_wish(clause) and not is_feeling(clause):
            reader.read.unread.append(clause)
    reader.finish()
    reader.read.insist = _INSIST if insists(rules) or insists(reason) else 0
    return reader.read


class _Reader:
    """Reads one clause after the other."""

    def __init__(self) -> None:
        self.read = Read()
        self._in_reason: dict[str, str] = {}
        self._refusals: list[_Refusal] = []

    def note_wish(self, clause: str, *, of_reason: bool) -> bool:
        """Read a wish about a fact that the user has no other words for; return whether it is one.

        A wish of the instructions counts more than one of the reason, and several are said together. One for flights
        is the request itself in the reason.
        """
        if has_condition(clause) or not is_wish(clause):
            return False
        names = wished_facts(clause)
        if not names and not of_reason and not is_request(clause) and is_about_flights(clause):
            names = ["flights"]
        for name in names:
            if of_reason:
                self._in_reason.setdefault(name, as_said(clause))
            else:
                self.read.facts[name] = f"{self.read.facts.get(name, '')} {as_said(clause)}".strip()
        return bool(names)

    def takes(self, clause: str, *, of_reason: bool) -> bool:
        """Read a direction or a condition; return whether the clause is one, so that it is not said by itself.

        In the reason, a wish with its alternative is said as it is, and so is what is not read.
        """
        if is_direction(clause):
            return True
        if afterwards := wanted_afterwards(clause):
            if not leaves(afterwards):
                self.read.requests.append(as_said(afterwards) or first_person(afterwards))
            return True
        if asked := if_asked(clause):
            is_read = self._reads_asked(asked)
        elif not has_condition(clause) or asks_whether(clause):
            return False
        else:
            is_read = self._reads_condition(clause, of_reason=of_reason)
        of_agent = asked is not None or names_agent(clause)
        if not is_read and (of_agent or not of_reason):
            self.read.unread.append(clause)
        return asked is not None or not of_reason or (is_read and of_agent)

    def finish(self) -> None:
        """Decide which refusal the fallback answers: the first that may be any, else the first; others are named."""
        self.read.facts = self._in_reason | self.read.facts
        any_refusal = next((refusal for refusal in self._refusals if not refusal.topic), None)
        general = any_refusal or next(iter(self._refusals), None)
        for refusal in self._refusals:
            if refusal == general:
                self.read.fallback = refusal.say
            elif refusal.topic:
                self.read.replies.append(Reply([refusal.topic], refusal.say))
            elif not refusal.is_said:
                self.read.unread.append(refusal.say)

    def _reads_asked(self, asked: Conditional) -> bool:
        if asked.gives_in:  # an offer, or nothing
            return True
        say = as_said(asked.then)
        if not say or has_amount(asked.then):
            return False
        if asked.is_confirmation:
            self.read.replies.append(Reply([WHEN_CONFIRMING], say))
            return True
        question = asked.condition if asked.names_question else "" if asked.condition else asked.then
        names = facts_in(words(question), ())
        if names:
            return self._notes_fact(names[0], say, only_first=says_more_later(asked.then))
        topic = topic_of(asked.condition)
        if topic and asked.names_question:
            # It is asked for by its own words; what is looked up by an id, by the id.
            self.read.facts[f"{topic}_id" if topic in _WITH_ID else topic.replace(" ", "_")] = say
        elif topic:
            self.read.replies.append(Reply([topic], say))
        return bool(topic)

    def _notes_fact(self, name: str, say: str, *, only_first: bool) -> bool:
        """Note what the user says for a fact; as an answer, which is given once, if another one follows later."""
        if only_first and name in _IDENTIFYING:  # it would take the place of the other facts that are asked for
            return False
        if only_first:
            self.read.replies.append(Reply(list(FACTS[name]), say))
        else:
            self.read.facts[name] = say
        return True

    def _reads_condition(self, clause: str, *, of_reason: bool) -> bool:
        """Read what the user says if something cannot be had, or can in several ways."""
        if has_amount(clause):
            return False
        if choice := if_several(clause):
            return bool(self.read.facts.setdefault("new_items", as_said(choice)))
        if (statement := told_if_asked(clause)) and (topic := topic_of(statement)):
            self.read.replies.append(Reply([topic], first_person(f"{statement}.")))
            return True
        refused = if_refused(clause)
        if refused is None or refused.gives_in:
            return refused is not None
        say = as_said(refused.then)
        if say:
            topic = topic_of(refused.condition)
            phrase = f"{topic} not/cannot/can't/unable" if topic and refused.is_negated else topic
            self._refusals.append(_Refusal(phrase, say, of_reason))
        return bool(say)


def _long_words(text: str) -> set[str]:
    return {word for word in words(text) if len(word) > _SHORT_WORD}
