"""What an agent's text asks a user to do with tools of its own."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .scripted_words import alternatives, follows, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Tool
    from .scripted_reading import Reading, Sentence

#: A sentence in which the agent tells of itself; it asks for nothing unless it says ``you to``.
_OF_ITSELF = re.compile(r"^\W*(?:i|i'\w+|we|we'\w+|let me)\b(?! (?:need|want|would like) you\b)", re.IGNORECASE)
_YOU_TO = re.compile(r"\byou to\b", re.IGNORECASE)
#: Words that ask for something in a question only; elsewhere they tell.
_QUESTIONS = frozenset(("is", "are", "do", "what", "which", "how"))
_NOT = frozenset(("not", "don't", "never", "without", "avoid", "cannot", "can't", "no", "needn't"))
_STATES = {"on": True, "enable": True, "activate": True, "off": False, "disable": False, "deactivate": False}
_SWITCHED = re.compile(r"\bis now (ON|OFF)\b")
_GIVEN = r"""{name}["'`]?\s*[=:]\s*("[^"]*"|'[^']*'|[\w.-]+)"""


class Step(NamedTuple):
    """A call that the agent asks for.

    Attributes:
        on: The state that is wanted of a switch, where the agent names one.
        missing: Parameters whose values the text does not give; it cannot be called then.
        sentence: Where it is asked for.
    """

    tool: str
    arguments: dict[str, Any]
    on: bool | None = None
    missing: tuple[str, ...] = ()
    sentence: str = ""

    def is_wrong(self, result: str) -> bool:
        """Whether a switch went the other way, because it stood right before."""
        shown = _SWITCHED.search(result)
        return self.on is not None and shown is not None and (shown[1] == "ON") is not self.on


class Device:
    """Tools, and how they are asked for."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        # By the words that an instruction can begin with.
        self._starts: dict[str, list[tuple[str, str]]] = {}
        for tool in tools:
            for phrase in (tool.name, *tool.spoken.phrases):
                for word in alternatives(phrase)[0]:
                    self._starts.setdefault(word, []).append((tool.name, phrase))

    def steps(self, reading: Reading) -> list[Step]:
        """What the text asks for, in order of mention, nothing twice in a row.

        What holds under a condition only is left for later where the text also asks for something at once.
        """
        found = [(step, _conditional(sentence)) for sentence in reading.sentences for step in self._in(sentence)]
        at_once = [step for step, conditional in found if not conditional]
        steps = at_once or [step for step, _ in found]
        groups = itertools.groupby(steps, lambda step: step._replace(sentence=""))
        return [next(same) for _, same in groups]

    def _in(self, sentence: Sentence) -> Iterator[Step]:
        if _OF_ITSELF.match(sentence.text) and not _YOU_TO.search(sentence.text) and "asks" not in sentence:
            return
        only_looks = "confirms" in sentence or sentence.is_offer
        for window in self._instructions(sentence):
            tool = self._tools[self._meant(window) or ""]
            # Whether it is willing to do something is a question to be answered first.
            if not (only_looks and tool.mutates):
                yield from self._calls(tool, window, sentence)

    def _instructions(self, sentence: Sentence) -> Iterator[tuple[str, ...]]:
        """The parts of a sentence that mean a tool each, from the word that asks for it.

        A part ends where the next begins; a word such as ``test`` that could begin one, but does not, ends none.
        """
        text = sentence.words
        asks = "asks" in sentence
        starts = [at for at, word in enumerate(text) if word in self._starts and (asks or word not in _QUESTIONS)]
        parts = [text[start:end] for start, end in itertools.pairwise([*starts, len(text)])]
        for at, start in enumerate(starts):
            window = self._window(parts[at:])
            # A word before the instruction may forbid it.
            if window and not _NOT & set(text[max(0, start - 2) : start]):
                yield window

    def _window(self, parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """The first part, with as many of the next as it needs to mean a tool and none that means one itself."""
        window: tuple[str, ...] = ()
        for part in parts:
            if window and self._meant(part):
                break
            window += part
            if self._meant(window):
                return window
        return ()

    def _meant(self, window: Sequence[str]) -> str | None:
        """The tool whose name begins the window, or whose phrase fits it with the most words."""
        if window[0] in self._tools:
            return window[0]
        fitting = [
            (len(places), name)
            for name, phrase in self._starts[window[0]]
            if (places := follows(phrase, window)) is not None and places[0] == 0
        ]
        return max(fitting, key=lambda fit: fit[0])[1] if fitting else None

    def _calls(self, tool: Tool, window: Sequence[str], sentence: Sentence) -> Iterator[Step]:
        names = tool.parameters.get("required", [])
        values = [self._values(tool, name, window, sentence) for name in names]
        missing = tuple(name for name, found in zip(names, values, strict=True) if not found)
        on = next((state for word, state in _STATES.items() if word in window), None)
        if missing:
            yield Step(tool.name, {}, on, missing, sentence.text)
            return
        for choice in itertools.product(*values):
            yield Step(tool.name, dict(zip(names, choice, strict=True)), on, (), sentence.text)

    def _values(self, tool: Tool, name: str, window: Sequence[str], sentence: Sentence) -> list[Any]:
        """Values that the sentence gives for a parameter: written as such, or by words."""
        written = re.search(_GIVEN.format(name=re.escape(name)), sentence.text)
        if written:
            return [_decoded(written[1])]
        spoken = tool.spoken.values.get(name, {})
        for text in (window, sentence.words):
            found = {
                value: min(places)
                for value, phrases in spoken.items()
                if (places := [at[0] for phrase in phrases if (at := follows(phrase, text, gap=1))])
            }
            if found:
                return sorted(found, key=found.__getitem__)
        return []


def _conditional(sentence: Sentence) -> bool:
    return sentence.words[:1] in {("if",), ("should",)}


def _decoded(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        return text


def reported(tool: str, result: str, *, error: bool) -> str:
    """What the user says of a call."""
    shown = "; ".join(line.strip() for line in result.splitlines() if line.strip())
    did = f'I tried "{tool.replace("_", " ")}", but it says' if error else f'I did "{tool.replace("_", " ")}". It says'
    return f"{did}: {shown}" + ("" if shown.endswith((".", "!", "?")) else ".")


def goal_shown(phrase: str, text: str) -> bool:
    """Whether a text speaks of what a phrase says."""
    return follows(phrase, words(text)) is not None
