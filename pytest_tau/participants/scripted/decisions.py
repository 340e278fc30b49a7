"""Yes and no of a scripted user: to questions for agreement, to offers, and between two things."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...language.agreement import asks_for_objection
from ...language.offers import (
    alternatives_in,
    introduces_unrequested,
    is_too_dear,
    is_unrequested,
    points_at_offer,
)
from ...language.parser import parse
from ...language.vocabulary import has_all, words

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...language.parser import ParsedText, Sentence
    from ...models import UserScript
    from .memory import Memory

YES: Final = "Yes, please."
NO: Final = "No, thank you."
#: Yes and no to "Any objections?".
_NO_OBJECTION: Final = "No objections, please go ahead."
_OBJECTION: Final = "Please do not do that."


class Decisions:
    """Decides by the offers that a script accepts and declines, and by what else it speaks of.

    Args:
        script: The script.
        memory: What the user wants now.
    """

    def __init__(self, script: UserScript, memory: Memory) -> None:
        self._script, self._memory = script, memory
        said = [text for request in script.requests for text in (request.say, request.fallback or "")]
        said += [answer.say for request in script.requests for answer in request.answers]
        said += [answer.say for answer in script.answers] + script.accepts
        facts = [
            (name, value)
            for given in (script.facts, *(request.facts for request in script.requests))
            for name, value in given.items()
        ]
        said += [text for name, value in facts for text in (name.replace("_", " "), value)]
        self._wanted = frozenset(word for text in said for word in words(text))

    def answer(self, sentence: Sentence, parsed: ParsedText) -> str:
        """Return the answer to a question for a yes or to an offer; empty if neither yes nor no would answer it."""
        accepted, declined = (
            _first_phrase(phrases, sentence.words) for phrases in (self._script.accepts, self._script.declines)
        )
        if "or" in sentence.words and accepted and declined:
            return f"{accepted.capitalize()}, please, not {declined}."
        choices = alternatives_in(sentence.text)
        if choices:
            return self._choice(choices)
        agrees = self._agrees(sentence, parsed)
        if asks_for_objection(sentence.text):
            return _NO_OBJECTION if agrees else _OBJECTION
        return YES if agrees else NO

    def declines(self, text: str) -> bool:
        """Return whether a sentence of a text offers what the script declines."""
        return any(_first_phrase(self._script.declines, each.words) for each in parse(text).sentences)

    def accepts(self, text: str) -> bool:
        """Return whether a text offers what the script accepts, and nothing that it declines."""
        return not self.declines(text) and bool(_first_phrase(self._script.accepts, words(text)))

    def _agrees(self, sentence: Sentence, parsed: ParsedText) -> bool:
        if self.declines(parsed.text):
            return False
        return self.accepts(parsed.text) or not (is_too_dear(parsed.text) or self._is_unrequested(sentence, parsed))

    def _is_unrequested(self, sentence: Sentence, parsed: ParsedText) -> bool:
        """Return whether a sentence offers a thing that the script does not want, by its name or as "it"."""
        if is_unrequested(sentence.text, self._wanted):
            return True
        before = parsed.sentences[: parsed.sentences.index(sentence)][-1:]
        return points_at_offer(sentence.text) and any(
            introduces_unrequested(each.text, self._wanted) for each in before
        )

    def _choice(self, choices: list[str]) -> str:
        """Return the one of several things that the script speaks of most; empty if it does not say which."""
        now = {word for text in (self._memory.request.say, *self._memory.facts.values()) for word in words(text)}
        ranks = {choice: (_share(choice, now), _share(choice, self._wanted)) for choice in choices}
        best = max(ranks.values())
        fitting = [choice for choice, rank in ranks.items() if rank == best and any(rank) and not self.declines(choice)]
        return f"{fitting[0][:1].upper()}{fitting[0][1:]}, please." if len(fitting) == 1 else ""


def _share(text: str, wanted: Collection[str]) -> float:
    """Return the share of the words of a text that are among certain ones."""
    said = words(text)
    return sum(word in wanted for word in said) / len(said) if said else 0.0


def _first_phrase(phrases: list[str], text: tuple[str, ...]) -> str:
    """Return the first phrase whose words all occur in a text; empty if there is none."""
    return next((phrase for phrase in phrases if has_all(phrase, text)), "")
