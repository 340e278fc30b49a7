"""How long words take, and a mouth that says them tick by tick."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..ticks import TICK_SECONDS

#: Seconds of silence after a word that ends in such a mark, unless it is the last one.
_PAUSES = {",": 0.2, ";": 0.3, ":": 0.3, ".": 0.4, "!": 0.4, "?": 0.4}
#: A word with the blanks after it.
_WORD = re.compile(r"\S+\s*")
#: What is read letter by letter, or digit by digit: ids, amounts, addresses.
_SPELLED = re.compile(r"[A-Za-z]*\d[\w.@#$-]*|[\w.+-]+@[\w.-]+")
#: The letters that take as long as a word.
_LETTERS_A_WORD = 1.5


class Pace(NamedTuple):
    """How fast somebody speaks.

    Attributes:
        rate: Words a second.
        tick: Seconds of a tick.
    """

    rate: float = 2.5
    tick: float = TICK_SECONDS

    def ticks(self, seconds: float) -> int:
        """Return the ticks that a time takes, at least one."""
        return max(1, round(seconds / self.tick))

    def chunks(self, text: str) -> list[str]:
        """Return what of a text is said in each tick: each word is whole, in the tick in which it begins.

        The chunks joined are the text. A chunk is empty while a long word or a pause goes on.
        """
        spoken: list[str] = []
        at, end = 0.0, 0.0
        for word in _WORD.findall(text) or [text]:
            position = int(at / self.tick + 1e-6)
            spoken += [""] * (position + 1 - len(spoken))
            spoken[position] += word
            end = at + self._seconds(word)
            at = end + _PAUSES.get(word.rstrip()[-1:], 0.0)
        return spoken + [""] * (int(end / self.tick + 1 - 1e-6) - len(spoken))

    def _seconds(self, word: str) -> float:
        """Return the time of a word: one beat, or one for each letter or two of what is spelled."""
        spelled = _SPELLED.search(word)
        return (len(spelled.group()) / _LETTERS_A_WORD if spelled else 1.0) / self.rate


class Said(NamedTuple):
    """An utterance that is over.

    Attributes:
        start: Its first tick.
        end: The tick after the last one.
        text: What was said.
        rest: What was left unsaid, as it was cut off.
    """

    start: int
    end: int
    text: str
    rest: str


class Mouth:
    """What one side has yet to say. An utterance begins with the first tick of speech, and ends with silence."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._left: list[str] = []
        self._said: list[str] = []
        self._start = 0
        #: Utterances that are over and were not taken yet.
        self.over: list[Said] = []

    @property
    def speaks(self) -> bool:
        """Return whether there is something left to say."""
        return bool(self._left)

    @property
    def runs_dry(self) -> bool:
        """Return whether the last of what it has to say is said in this tick."""
        return len(self._left) == 1

    @property
    def said(self) -> str:
        """Return what was said so far of the utterance that goes on."""
        return "".join(self._said)

    @property
    def left(self) -> str:
        """Return what is left of it."""
        return "".join(reversed(self._left))

    def say(self, text: str) -> None:
        """Say a text next, after what is left."""
        if not text.strip():
            return
        # Words are kept apart from those before them.
        if self._left:
            self._left[0] += " "
        elif self._said:
            self._said[-1] += " "
        # Reversed, so that a chunk is taken off in constant time.
        self._left = [*reversed(self._pace.chunks(text)), *self._left]

    def go_on(self, begun: str, more: str) -> None:
        """Say more of the last text, of which a tick or more is left, as if all of it had been given at once."""
        ticks = len(self._pace.chunks(begun))
        left = min(ticks, len(self._left))
        self._left = [*reversed(self._pace.chunks(begun + more)[ticks - left :]), *self._left[left:]]

    def hush(self, tick: int) -> None:
        """Say no more; what is left is forgotten."""
        rest, self._left = self.left, []
        self._end(tick, rest)

    def speak(self, tick: int) -> str | None:
        """Return what is said in a tick; None for silence."""
        if not self._left:
            self._end(tick, "")
            return None
        if not self._said:
            self._start = tick
        chunk = self._left.pop()
        self._said.append(chunk)
        return chunk

    def _end(self, tick: int, rest: str) -> None:
        if self._said:
            self.over.append(Said(self._start, tick, self.said.strip(), rest.strip()))
            self._said = []
