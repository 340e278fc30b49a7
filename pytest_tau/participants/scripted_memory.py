"""Where a scripted user stands: its current request, what it has said, and how long nothing new has happened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scripted_words import has_all, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Request, UserScript
    from .scripted_reading import Reading

#: Facts that stand in for one another where the script has only one of them.
_RELATED = {"item_ids": "items", "items": "item_ids", "customer_id": "user_id", "name": "full_name"}


class Memory:
    """What a script has come to in one conversation."""

    def __init__(self, script: UserScript) -> None:
        self._script = script
        self._position = self._refusals = 0
        self._said: set[str] = set()
        self._seen: set[tuple[str, ...]] = set()
        self._idle, self._fresh = 0, False
        self.gave_in = False

    @property
    def request(self) -> Request:
        """The current request."""
        return self._script.requests[self._position]

    @property
    def is_last(self) -> bool:
        """Whether no request follows."""
        return self._position == len(self._script.requests) - 1

    @property
    def facts(self) -> dict[str, str]:
        """What the user can tell now; the request's facts come before general ones."""
        return {**self._script.facts, **self.request.facts}

    # Progress

    def note(self, *event: str) -> None:
        """Something happened; that is progress when it happens for the first time."""
        self._fresh = self._fresh or event not in self._seen
        self._seen.add(event)

    def is_tired(self) -> bool:
        """Whether the patience is at its end, with the turn that ends now."""
        self._idle = 0 if self._fresh else self._idle + 1
        self._fresh = False
        return self._idle >= self._script.patience

    # What is said

    def fact(self, name: str, *, again: bool) -> str:
        """A fact as it is told; nothing where there is none, or where it was told before and that is enough."""
        known = self.facts
        key = name if name in known else _RELATED.get(name, name)
        event = ("told", str(self._position), key)
        if key not in known or (event in self._seen and not again):
            return ""
        self.note(*event)
        value = known[key].strip()
        if value.endswith((".", "!", "?")):
            return value
        verb = "are" if key.endswith("s") and not key.endswith("ss") else "is"
        return f"My {key.replace('_', ' ')} {verb} {value}."

    def answers(self, reading: Reading, *, again: bool = False) -> list[str]:
        """Answers that the script has ready for a text.

        Args:
            reading: The text.
            again: Also those that were given during this request.
        """
        text = _relevant(reading)
        ready = [*self.request.answers, *self._script.answers]
        events = [
            ("answered", str(self._position), answer.say)
            for answer in ready
            if any(has_all(asked, text) for asked in answer.asks)
        ]
        found = [event for event in dict.fromkeys(events) if again or event not in self._seen]
        for event in found:
            self.note(*event)
        return [say for _, _, say in found]

    def concerns(self, text: Iterable[str]) -> bool:
        """Whether words speak of the current request: they share one that is not short."""
        own = {word for word in words(self.request.say) if len(word) > 4}
        return bool(own & set(text))

    # Requests

    def put_request(self) -> str:
        """The current request, said."""
        self.note("put", str(self._position))
        return self.request.say

    def refused(self) -> str:
        """What is said to a refusal; nothing where it is accepted."""
        self._refusals += 1
        if self._refusals <= self.request.insist:
            self.note("insisted", str(self._position), str(self._refusals))
            return f"I must insist. {self.request.say}"
        if self._refusals == self.request.insist + 1 and self.request.fallback:
            self.note("fell back", str(self._position))
            return self.request.fallback
        self.gave_in = True
        return ""

    def is_answered(self, reading: Reading) -> bool:
        """Whether merely saying something deals with the request, or asking once more what else there is."""
        if reading.any("closes") and not self._script.goals:
            asked_before = ("asked what else", str(self._position)) in self._seen
            self.note("asked what else", str(self._position))
            return reading.any("says") or asked_before
        return reading.any("closes") or (self.request.say.rstrip().endswith("?") and reading.any("says"))

    def next_request(self) -> str:
        """The request that follows, said; nothing where none does."""
        if self.is_last:
            self.note("finished")
            return ""
        self._position += 1
        self._refusals, self.gave_in = 0, False
        return self.put_request()


def _relevant(reading: Reading) -> tuple[str, ...]:
    """The words that can be meant for an answer: all, unless nothing but a goodbye asks for anything."""
    asking = [sentence for sentence in reading.sentences if "asks" in sentence or "confirms" in sentence]
    if reading.any("refuses") or any("closes" not in sentence for sentence in asking):
        return reading.words
    return tuple(word for sentence in asking for word in sentence.words)
