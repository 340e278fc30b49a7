"""The calls of the user's own tools that an agent's text asks for."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, parse_json
from ...environment.arguments import resolved
from ...language.steps import (
    QUESTION_WORDS,
    TRIES,
    is_conditional,
    is_forbidden,
    is_told,
    phrases_for,
    speaks_of_itself,
    state_in,
    switched_to,
    verbs_of,
    with_gerunds,
    written_value,
)
from ...language.vocabulary import alternatives, begins, follows
from ...models import Spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Tool
    from ...language.parser import ParsedText, Sentence


#: Other words that may stand between two of a derived phrase. Phrases that a domain gives have no such limit.
_GAP = 2


class Step(NamedTuple):
    """A call that the agent asks for.

    Attributes:
        on: The requested state of a switch, if the agent names one.
        missing: Parameters without a value in the text; the tool cannot be called then.
        sentence: The sentence that asks for it.
    """

    tool: str
    arguments: dict[str, Any]
    on: bool | None = None
    missing: tuple[str, ...] = ()
    sentence: str = ""

    def is_wrong(self, result: str) -> bool:
        """Return whether a switch was toggled to the wrong state, because it was right before."""
        return self.on is not None and switched_to(result) is (not self.on)


class Device:
    """The user's tools, and the phrases by which they are asked for.

    Args:
        tools: The tools.
        spoken: The words by which people ask for them, by tool; for a tool that is not in it, words are derived.
    """

    def __init__(self, tools: Sequence[Tool], spoken: Mapping[str, Spoken]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._derived = frozenset(self._tools).difference(spoken)
        self._spoken = {name: spoken[name] if name in spoken else derive(tool) for name, tool in self._tools.items()}
        # What _named_tool has found, because it is asked several times for the same part.
        self._named: dict[tuple[str, ...], str | None] = {}
        self._starts = _starts(tuple((tool.name, *self._spoken[tool.name].phrases) for tool in tools))

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def steps(self, parsed: ParsedText) -> list[Step]:
        """Return the calls that the text asks for, in order of mention, none twice in a row.

        Calls under a condition are not returned if the text also asks for something at once.
        """
        told = [sentence for sentence in parsed.sentences if sentence.form != "heading"]
        steps = [
            (step, is_conditional(sentence.words)) for sentence in told for step in self._in(sentence, parsed.words)
        ]
        at_once = [step for step, conditional in steps if not conditional]
        groups = itertools.groupby(at_once or [step for step, _ in steps], lambda step: step._replace(sentence=""))
        return [next(same) for _, same in groups]

    def _in(self, sentence: Sentence, whole: tuple[str, ...]) -> Iterator[Step]:
        if "asks" not in sentence and speaks_of_itself(sentence.text):
            return
        only_looks = "confirms" in sentence or sentence.is_offer
        for window in self._instructions(sentence):
            tool = self._tools[self._named_tool(window) or ""]
            # A question whether the user is willing to do something is answered first.
            if not (only_looks and tool.mutates):
                yield from self._calls(tool, (window, sentence.words, whole), sentence)

    def _instructions(self, sentence: Sentence) -> Iterator[tuple[str, ...]]:
        """Yield the parts of a sentence that name a tool each, from the word that asks for it.

        A part ends at the start of the next; a word such as ``test`` that could start one, but does not, ends none.
        """
        text = self._without_gerunds(sentence.words)
        asks = "asks" in sentence
        starts = [at for at, word in enumerate(text) if word in self._starts and (asks or word not in QUESTION_WORDS)]
        parts = [text[start:end] for start, end in itertools.pairwise([*starts, len(text)])]
        for at, start in enumerate(starts):
            window = self._window(parts[at:])
            if window and not is_forbidden(text, start) and self._is_instruction(window, text, start):
                yield window

    def _without_gerunds(self, text: tuple[str, ...]) -> tuple[str, ...]:
        """Return words in which "try restarting" is "try restart"."""
        return tuple(
            next((verb for verb in verbs_of(word) if verb in self._starts), word) if before in TRIES else word
            for before, word in zip(("", *text), text, strict=False)
        )

    def _is_instruction(self, window: tuple[str, ...], text: tuple[str, ...], start: int) -> bool:
        """Return whether the user is asked; of derived words, which are less certain, more is expected."""
        return window[0] in self._tools or self._named_tool(window) not in self._derived or is_told(text, start)

    def _window(self, parts: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """Return the first part, and of the next as many as it needs to name a tool but none that names one itself."""
        window: tuple[str, ...] = ()
        for part in parts:
            if window and self._named_tool(part):
                break
            window += part
            if self._named_tool(window):
                return window
        return ()

    def _named_tool(self, window: tuple[str, ...]) -> str | None:
        """Return the tool whose name begins the window, or whose phrase fits it with the most words."""
        if window[0] in self._tools:
            return window[0]
        if window not in self._named:
            self._named[window] = self._fitting_tool(window)
        return self._named[window]

    def _fitting_tool(self, window: tuple[str, ...]) -> str | None:
        fitting = [
            (len(places), name)
            for name, phrase in self._starts[window[0]]
            if (places := begins(phrase, window, _GAP if name in self._derived else None))
        ]
        return max(fitting, key=lambda fit: fit[0])[1] if fitting else None

    def _calls(self, tool: Tool, texts: Sequence[Sequence[str]], sentence: Sentence) -> Iterator[Step]:
        """Yield the calls that an instruction asks for; a value that it lacks may be in the next of the texts."""
        names = tool.parameters.get("required", [])
        values = [self._values(tool, name, texts, sentence) for name in names]
        missing = tuple(name for name, choices in zip(names, values, strict=True) if not choices)
        on = state_in(texts[0])
        if missing:
            yield Step(tool.name, {}, on, missing, sentence.text)
            return
        written = self._optional(tool, sentence)
        for choice in itertools.product(*values):
            yield Step(tool.name, {**dict(zip(names, choice, strict=True)), **written}, on, (), sentence.text)

    def _optional(self, tool: Tool, sentence: Sentence) -> dict[str, Any]:
        """Return the optional arguments that the sentence writes out, such as ``amount=5``."""
        names = tool.parameters.get("properties", {}).keys() - tool.parameters.get("required", [])
        written = {name: written_value(sentence.text, name) for name in sorted(names)}
        return {name: _decoded(value) for name, value in written.items() if value}

    def _values(self, tool: Tool, name: str, texts: Sequence[Sequence[str]], sentence: Sentence) -> list[Any]:
        """Return the values of a parameter in the first text that has some: written as such, or by words."""
        written = written_value(sentence.text, name)
        if written:
            return [_decoded(written)]
        spoken = self._spoken[tool.name].values.get(name, {})
        for text in texts:
            found = {
                value: min(places)
                for value, phrases in spoken.items()
                if (places := [at[0] for phrase in phrases if (at := follows(phrase, text, gap=1))])
            }
            if found:
                return sorted(found, key=found.__getitem__)
        return []


@functools.lru_cache(maxsize=32)
def _starts(tools: tuple[tuple[str, ...], ...]) -> dict[str, list[tuple[str, str]]]:
    """Return tool and phrase by the words that an instruction can begin with, the same for all trials of a domain.

    Args:
        tools: The name of each tool, and its phrases.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for name, *phrases in tools:
        for phrase in (name, *phrases):
            for word in alternatives(phrase)[0]:
                found.setdefault(word, []).append((name, phrase))
    return found


def _decoded(text: str) -> Any:
    if text[0] in "\"'":
        return text[1:-1]
    try:
        return parse_json(text)
    except DocumentError:
        return text


def describe_call(tool: str, result: str, *, error: bool) -> str:
    """Return the user's sentence about a call."""
    shown = "; ".join(line.strip() for line in result.splitlines() if line.strip())
    did = f'I tried "{tool.replace("_", " ")}", but it says' if error else f'I did "{tool.replace("_", " ")}". It says'
    return f"{did}: {shown}" + ("" if shown.endswith((".", "!", "?")) else ".")


def derive(tool: Tool) -> Spoken:
    """Return words for a tool: its own phrases, which fit gerunds, too, and values of enums by their own words."""
    return Spoken(tuple(map(with_gerunds, phrases_for(tool.name, tool.description))), dict(_values(tool)))


def _values(tool: Tool) -> Iterator[tuple[str, dict[Any, tuple[str, ...]]]]:
    definitions = tool.parameters.get("$defs", {})
    for parameter, schema in tool.parameters.get("properties", {}).items():
        found = resolved(schema, definitions)
        allowed: Iterable[Any] = found.get("enum") or [found[key] for key in ("const",) if key in found]
        texts: dict[Any, tuple[str, ...]] = {
            value: (value.replace("_", " "),) for value in allowed if isinstance(value, str) and value.strip()
        }
        if texts:
            yield parameter, texts
