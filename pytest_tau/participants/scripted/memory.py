"""The state of a scripted user: its request, what it has said and understood, and its turns without progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ...language.instructions import WHEN_CONFIRMING
from ...language.vocabulary import has_all, same_fact, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ...language.parser import ParsedText, Sentence
    from ...models import Answer, Request, UserScript


#: How a message of the agent was taken:
#:
#: - ``understood``: a rule of the reading has answered it;
#: - ``not understood``: no rule has; the user said so, or gave what it knows instead of an answer;
#: - ``yes or no to which``: it asks which, what, where or how; the reply has a yes or a no, and no fact;
#: - ``gave up``: the user's patience is exhausted, and the reply ends the conversation.
#:
#: All but the first are stored with the reply, as ``UserMessage.misunderstanding``.
Outcome: TypeAlias = Literal["understood", "not understood", "yes or no to which", "gave up"]


class Understanding(NamedTuple):
    """The understanding of one message of the agent; ``ScriptedUser.understandings`` has one for each reply with text.

    A user that replies to the texts of a stored conversation has the same record as the one that took part in it.
    """

    heard: str
    said: str
    outcome: Outcome


#: Facts that replace one another if the script has only one of them.
_RELATED = {"item_ids": "items", "items": "item_ids", "customer_id": "user_id", "name": "full_name"}


class Memory:
    """The state of a script in one conversation.

    Args:
        script: The script.
        value_of: Returns the value of a fact that the user gives, by its name and its value in the script.
    """

    def __init__(self, script: UserScript, value_of: Callable[[str, str], str]) -> None:
        self._script, self._value_of = script, value_of
        self._position = self._refusals = 0
        self._volunteered: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()
        self._idle, self._progress = 0, False
        self.gave_in = False

    @property
    def request(self) -> Request:
        """The current request."""
        return self._script.requests[self._position]

    @property
    def is_last(self) -> bool:
        """Return whether no request follows."""
        return self._position == len(self._script.requests) - 1

    @property
    def facts(self) -> dict[str, str]:
        """The facts that the user can give now; those of the request override general ones."""
        return {**self._script.facts, **self.request.facts}

    # Progress

    def note(self, *event: str) -> None:
        """Record an event; its first occurrence is progress."""
        self._progress = self._progress or event not in self._seen
        self._seen.add(event)

    def is_out_of_patience(self) -> bool:
        """End a turn, and return whether the user's patience is exhausted."""
        self._idle = 0 if self._progress else self._idle + 1
        self._progress = False
        return self._idle >= self._script.patience

    # What is said

    def knows(self, name: str) -> bool:
        """Return whether the user can give a fact now."""
        return self._key(name) in self.facts

    def value(self, name: str) -> str:
        """Return the value of a fact; empty if the user cannot give it."""
        return self.facts.get(self._key(name), "").strip()

    def _key(self, name: str) -> str:
        known = self.facts
        key = name if name in known else _RELATED.get(name, name)
        return key if key in known else same_fact(name, known)

    def volunteer(self, names: Iterable[str]) -> list[str]:
        """Return sentences with facts that the user has not given yet; an answer to a question for one is still new."""
        unasked = [name for name in names if ("fact", str(self._position), name) not in self._seen]
        new = [name for name in unasked if name not in self._volunteered]
        self._volunteered.update(new)
        return [self._sentence(name) for name in new]

    def fact(self, name: str, *, again: bool) -> str:
        """Return a sentence with a fact; empty if there is none, or if it was given before and ``again`` is false."""
        known = self.facts
        key = self._key(name)
        event = ("fact", str(self._position), key)
        if key not in known or (event in self._seen and not again):
            return ""
        self.note(*event)
        return self._sentence(key)

    def _sentence(self, key: str) -> str:
        value = self._value_of(key, self.facts[key].strip())
        if value.endswith((".", "!", "?")):
            return value
        verb = "are" if key.endswith("s") and not key.endswith("ss") else "is"
        return f"My {key.replace('_', ' ')} {verb} {value}."

    def answers(self, parsed: ParsedText, *, confirming: bool = False, again: bool = False) -> list[str]:
        """Return the script's prepared answers to a text.

        Args:
            parsed: The text.
            confirming: Whether it asks for a yes to what the agent will do then.
            again: Include answers that were given during this request, and those to statements.
        """
        text = parsed.words if again else _relevant(parsed)
        events = [
            ("answered", str(self._position), answer.say)
            for answer in self._prepared
            if (confirming if WHEN_CONFIRMING in answer.asks else _is_asked(answer, text))
        ]
        found = [event for event in dict.fromkeys(events) if again or event not in self._seen]
        for event in found:
            self.note(*event)
        return [say for _, _, say in found]

    def is_prepared(self, sentence: Sentence) -> bool:
        """Return whether a sentence asks what the script has an answer to."""
        return any(_is_asked(answer, sentence.words) for answer in self._prepared)

    @property
    def _prepared(self) -> list[Answer]:
        return [*self.request.answers, *self._script.answers]

    def concerns(self, text: Iterable[str]) -> bool:
        """Return whether words are about the current request: they share one that is not short."""
        own = {word for word in words(self.request.say) if len(word) > 4}
        return bool(own & set(text))

    # Requests

    def is_described(self, *asked: str) -> bool:
        """Return whether the request has been given as the answer to a question for the same, and note that it is."""
        event = ("described", str(self._position), *asked)
        known = event in self._seen
        self.note(*event)
        return known

    def hear(self, *, agrees: bool) -> str:
        """Return the answer to a statement about the request after which the agent does not say what it waits for."""
        self.note("heard", str(self._position))
        return f"{'Yes' if agrees else 'All right'}, please go on. {self.request.say}"

    def put_request(self) -> str:
        """Return the sentence of the current request."""
        self.note("put", str(self._position))
        return self.request.say

    def refused(self) -> str:
        """Return the answer to a refusal; empty if the user accepts it."""
        self._refusals += 1
        if self._refusals <= self.request.insist:
            self.note("insisted", str(self._position), str(self._refusals))
            return f"I must insist. {self.request.say}"
        if self._refusals == self.request.insist + 1 and self.request.fallback:
            self.note("fell back", str(self._position))
            return self.request.fallback
        self.gave_in = True
        return ""

    def fall_back(self) -> list[str]:
        """Return what the user wants instead of its request, at once and the first time; nothing if there is none."""
        event = ("fell back", str(self._position))
        if not self.request.fallback or event in self._seen:
            return []
        self._refusals = self.request.insist + 1
        self.note(*event)
        return [self.request.fallback]

    def is_answered(self, parsed: ParsedText) -> bool:
        """Return whether a statement answers the request, or a second question about further wishes closes it."""
        if parsed.any("closes") and not self._script.goals:
            asked_before = ("asked what else", str(self._position)) in self._seen
            self.note("asked what else", str(self._position))
            return parsed.any("says") or asked_before
        return parsed.any("closes") or (self.request.say.rstrip().endswith("?") and parsed.any("says"))

    def next_request(self) -> str:
        """Go to the next request and return its sentence; empty if there is none."""
        if self.is_last:
            self.note("finished")
            return ""
        self._position += 1
        self._refusals, self.gave_in = 0, False
        return self.put_request()


def _is_asked(answer: Answer, text: Sequence[str]) -> bool:
    return any(asked != WHEN_CONFIRMING and has_all(asked, text) for asked in answer.asks)


def _relevant(parsed: ParsedText) -> tuple[str, ...]:
    """Return the words that answers are looked up by: all, unless nothing but a goodbye asks for anything."""
    asking = [sentence for sentence in parsed.sentences if "asks" in sentence or "confirms" in sentence]
    if parsed.refuses or any("closes" not in sentence for sentence in asking):
        return parsed.words
    return tuple(word for sentence in asking for word in sentence.words)
