"""The calls of the user's own tools that an agent's text asks for."""

from __future__ import annotations

import functools
import itertools
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, parse_json
from ...environment.arguments import resolved
from ...language.vocabulary import alternatives, begins, follows, words
from ...models import Spoken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Tool
    from ...language.parser import ParsedText, Sentence


#: A sentence about the agent itself; it asks for nothing unless it says ``you to``.
_OF_ITSELF = re.compile(r"^\W*(?:i|i'\w+|we|we'\w+|let me)\b(?! (?:need|want|would like) you\b)", re.IGNORECASE)
_YOU_TO = re.compile(r"\byou to\b", re.IGNORECASE)
#: Words that ask for something in a question only.
_QUESTIONS = frozenset(("is", "are", "do", "what", "which", "how"))
_NOT = frozenset(("not", "don't", "never", "without", "avoid", "cannot", "can't", "no", "needn't"))
_STATES = {"on": True, "enable": True, "activate": True, "off": False, "disable": False, "deactivate": False}
#: Words before a gerund that is an instruction.
_TRIES = frozenset(("try", "by", "with", "consider", "suggest", "recommend"))
_SWITCHED = re.compile(r"\bis now (ON|OFF)\b")
_GIVEN = r"""{name}["'`]?\s*[=:]\s*("[^"]*"|'[^']*'|[\w.-]*\w)"""


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
        shown = _SWITCHED.search(result)
        return self.on is not None and shown is not None and (shown[1] == "ON") is not self.on


class Device:
    """The user's tools, and the phrases by which they are asked for.

    Args:
        tools: The tools.
        spoken: The words by which people ask for them, by tool; for a tool that is not in it, words are derived.
    """

    def __init__(self, tools: Sequence[Tool], spoken: Mapping[str, Spoken]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._derived = frozenset(self._tools).difference(spoken)
        self._spoken = {
            name: spoken[name] if name in spoken else _with_gerunds(derive(tool)) for name, tool in self._tools.items()
        }
        # What _named_tool has found, because it is asked several times for the same part.
        self._named: dict[tuple[str, ...], str | None] = {}
        self._starts = _starts(tuple((tool.name, *self._spoken[tool.name].phrases) for tool in tools))

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def steps(self, parsed: ParsedText) -> list[Step]:
        """Return the calls that the text asks for, in order of mention, none twice in a row.

        Calls under a condition are not returned if the text also asks for something at once.
        """
        said = [sentence for sentence in parsed.sentences if sentence.form != "heading"]
        found = [(step, _conditional(sentence)) for sentence in said for step in self._in(sentence, parsed.words)]
        at_once = [step for step, conditional in found if not conditional]
        steps = at_once or [step for step, _ in found]
        groups = itertools.groupby(steps, lambda step: step._replace(sentence=""))
        return [next(same) for _, same in groups]

    def _in(self, sentence: Sentence, whole: tuple[str, ...]) -> Iterator[Step]:
        if _OF_ITSELF.match(sentence.text) and not _YOU_TO.search(sentence.text) and "asks" not in sentence:
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
        starts = [at for at, word in enumerate(text) if word in self._starts and (asks or word not in _QUESTIONS)]
        parts = [text[start:end] for start, end in itertools.pairwise([*starts, len(text)])]
        for at, start in enumerate(starts):
            window = self._window(parts[at:])
            # A word before the instruction may forbid it.
            if window and not _NOT & set(text[max(0, start - 2) : start]) and self._is_instruction(window, text, start):
                yield window

    def _without_gerunds(self, text: tuple[str, ...]) -> tuple[str, ...]:
        """Return words in which "try restarting" is "try restart"."""
        return tuple(
            next((each for each in _verbs_of(word) if each in self._starts), word) if before in _TRIES else word
            for before, word in zip(("", *text), text, strict=False)
        )

    def _is_instruction(self, window: tuple[str, ...], text: tuple[str, ...], start: int) -> bool:
        """Return whether the user is asked; of derived words, which are less certain, more is expected."""
        return window[0] in self._tools or self._named_tool(window) not in self._derived or asks_for(text, start)

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
            if (places := begins(phrase, window, GAP if name in self._derived else None))
        ]
        return max(fitting, key=lambda fit: fit[0])[1] if fitting else None

    def _calls(self, tool: Tool, texts: Sequence[Sequence[str]], sentence: Sentence) -> Iterator[Step]:
        """Yield the calls that an instruction asks for; a value that it lacks may be in the next of the texts."""
        names = tool.parameters.get("required", [])
        values = [self._values(tool, name, texts, sentence) for name in names]
        missing = tuple(name for name, found in zip(names, values, strict=True) if not found)
        on = next((state for word, state in _STATES.items() if word in texts[0]), None)
        if missing:
            yield Step(tool.name, {}, on, missing, sentence.text)
            return
        written = self._optional(tool, sentence)
        for choice in itertools.product(*values):
            yield Step(tool.name, {**dict(zip(names, choice, strict=True)), **written}, on, (), sentence.text)

    def _optional(self, tool: Tool, sentence: Sentence) -> dict[str, Any]:
        """Return the optional arguments that the sentence writes out, such as ``amount=5``."""
        names = tool.parameters.get("properties", {}).keys() - tool.parameters.get("required", [])
        found = {name: re.search(_GIVEN.format(name=re.escape(name)), sentence.text) for name in sorted(names)}
        return {name: _decoded(match[1]) for name, match in found.items() if match}

    def _values(self, tool: Tool, name: str, texts: Sequence[Sequence[str]], sentence: Sentence) -> list[Any]:
        """Return the values of a parameter in the first text that has some: written as such, or by words."""
        written = re.search(_GIVEN.format(name=re.escape(name)), sentence.text)
        if written:
            return [_decoded(written[1])]
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


def _with_gerunds(spoken: Spoken) -> Spoken:
    """Return derived phrases that fit other forms of their nouns, too: "banking app" for ``bank app``."""
    split = (phrase.split() for phrase in spoken.phrases)
    return spoken._replace(
        phrases=tuple(" ".join([verb, *(f"{each}/{each}ing" for each in rest)]) for verb, *rest in split)
    )


def _verbs_of(word: str) -> tuple[str, ...]:
    """Return the forms that a gerund may have without its ending; none for another word."""
    stem = word.removesuffix("ing")
    return () if stem == word else (stem, stem + "e", stem[:-1])


def _conditional(sentence: Sentence) -> bool:
    return sentence.words[:1] in {("if",), ("should",)}


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


#: Other words that may stand between two of a derived phrase. Phrases that a domain gives have no such limit.
GAP = 2
#: Words before an instruction: "please open …", "you can open …", "and then open …".
_BEFORE = frozenset(
    (
        *("please", "kindly", "you", "to", "then", "and", "now", "first", "next", "also", "just", "can", "could"),
        *("should", "must", "need", "i'd", "like", "try", "again"),
    )
)
#: Beginnings of a condition: "If it leaks, close …"
_CONDITIONS = frozenset(("if", "when", "once", "after", "should"))
#: Beginnings of a question whether it was done: "Did you open …?"
_PAST = frozenset(("did", "have", "has", "had", "were", "was"))
#: Parts of verbs, which people also say after the object: "turn the light on".
_PARTICLES = frozenset(("on", "off", "up", "down", "out", "in"))
#: Verbs of descriptions that names omit.
_LOOKS = frozenset(
    ["check", "display", "get", "give", "list", "look", "read", "report", "return", "see", "show", "tell", "view"]
)
#: Words of names that people say in another form.
_JOINING = frozenset(("at", "to", "from", "with", "into", "and"))


def derive(tool: Tool) -> Spoken:
    """Return words for a tool: ``open the valve`` for ``open_valve``, and values of enums by their own words.

    The first word of the description may stand for the first one of the name: "Extinguish the light." of
    ``turn_off_light`` gives ``extinguish off light`` as well.
    """
    return Spoken(tuple(dict.fromkeys(map(" ".join, _phrases(tool)))), dict(_values(tool)))


def asks_for(text: tuple[str, ...], start: int) -> bool:
    """Return whether a derived phrase at this place of a sentence is an instruction to the user."""
    return text[0] not in _PAST and (start == 0 or text[0] in _CONDITIONS or text[start - 1] in _BEFORE)


def _phrases(tool: Tool) -> Iterator[tuple[str, ...]]:
    name = words(tool.name.replace("_", " "))
    said = words(tool.description.partition("\n\n")[0].partition(". ")[0])
    if len(name) < 2:
        return  # one word would be found in too many sentences; the name itself is understood anyway
    objects = tuple(word for word in name[1:] if word not in _JOINING)
    if said and said[0] in _LOOKS and set(name) <= set(said[1:]):
        # No verb is in the name: "Check the status of the valve." is what valve_status does.
        yield (said[0], *name)
        yield (said[0], *reversed(name))
        return
    yield name
    for verb in dict.fromkeys([name[0], *said[:1]]):
        if objects:
            yield (verb, *objects)
        if objects[1:] and objects[0] in _PARTICLES:
            yield (verb, *objects[1:], objects[0])


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
