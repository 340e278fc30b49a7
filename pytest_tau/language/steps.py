"""What an agent asks the user to do with its own tools, and the words by which people ask for a tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

#: A sentence about the agent itself; it asks for nothing unless it says ``you to``.
_OF_ITSELF: Final = re.compile(r"^\W*(?:i|i'\w+|we|we'\w+|let me)\b(?! (?:need|want|would like) you\b)", re.IGNORECASE)
_YOU_TO: Final = re.compile(r"\byou to\b", re.IGNORECASE)
#: Words that ask for something in a question only.
QUESTION_WORDS: Final = frozenset(("is", "are", "do", "what", "which", "how"))
_NOT: Final = frozenset(("not", "don't", "never", "without", "avoid", "cannot", "can't", "no", "needn't"))
#: How far before an instruction such a word forbids it.
_NOT_BEFORE: Final = 2
_STATES: Final = {"on": True, "enable": True, "activate": True, "off": False, "disable": False, "deactivate": False}
#: Words before a gerund that is an instruction.
TRIES: Final = frozenset(("try", "by", "with", "consider", "suggest", "recommend"))
#: What the result of a switch says.
_SWITCHED: Final = re.compile(r"\bis now (ON|OFF)\b")
_WRITTEN: Final = r"""{name}["'`]?\s*[=:]\s*("[^"]*"|'[^']*'|[\w.-]*\w)"""
#: Words before an instruction: "please open …", "you can open …", "and then open …", "yes, open …".
_BEFORE: Final = frozenset(
    (
        *("please", "kindly", "you", "to", "then", "and", "now", "first", "next", "also", "just", "can", "could"),
        *("should", "must", "need", "i'd", "like", "try", "again"),
        *("yes", "yeah", "sure", "ok", "okay", "right", "great", "alright", "thanks"),
    )
)
#: Beginnings of a condition: "If it leaks, close …"
_CONDITIONS: Final = frozenset(("if", "when", "once", "after", "should"))
#: Beginnings of a question whether it was done: "Did you open …?"
_PAST: Final = frozenset(("did", "have", "has", "had", "were", "was"))
#: Beginnings of an instruction that waits while there is something else to do.
_LATER: Final = frozenset(("if", "should"))
#: Parts of verbs, which people also say after the object: "turn the light on".
_PARTICLES: Final = frozenset(("on", "off", "up", "down", "out", "in"))
#: Verbs of descriptions that names omit.
_LOOKS: Final = frozenset(
    ("check", "display", "get", "give", "list", "look", "read", "report", "return", "see", "show", "tell", "view")
)
#: Words of names that people say in another form.
_JOINING: Final = frozenset(("at", "to", "from", "with", "into", "and"))


def speaks_of_itself(sentence: str) -> bool:
    """Return whether a sentence of an agent is about what it does itself, and not about what it wants done."""
    return _OF_ITSELF.match(sentence) is not None and _YOU_TO.search(sentence) is None


def is_forbidden(text: tuple[str, ...], start: int) -> bool:
    """Return whether a word before an instruction forbids it: "do not restart"."""
    return not _NOT.isdisjoint(text[max(0, start - _NOT_BEFORE) : start])


def is_conditional(text: tuple[str, ...]) -> bool:
    """Return whether a sentence begins with a condition."""
    return not _LATER.isdisjoint(text[:1])


def is_told(text: tuple[str, ...], start: int) -> bool:
    """Return whether the word at a place of a sentence begins an instruction to the user, and no question or report."""
    return text[0] not in _PAST and (start == 0 or text[0] in _CONDITIONS or text[start - 1] in _BEFORE)


def state_in(text: Collection[str]) -> bool | None:
    """Return the state of a switch that an instruction wants: True for "turn on"; None if it wants none."""
    return next((state for word, state in _STATES.items() if word in text), None)


def switched_to(result: str) -> bool | None:
    """Return the state that the result of a switch shows; None if it shows none."""
    match = _SWITCHED.search(result)
    return match and match[1] == "ON"


def written_value(sentence: str, name: str) -> str | None:
    """Return the value that a sentence writes for a parameter: ``amount=5``, ``mode: "4g"``; None if there is none."""
    match = re.search(_WRITTEN.format(name=re.escape(name)), sentence)
    return match and match[1]


def verbs_of(word: str) -> tuple[str, ...]:
    """Return the forms that a gerund may have without its ending; none for another word."""
    stem = word.removesuffix("ing")
    return () if stem == word else (stem, stem + "e", stem[:-1])


def with_gerunds(phrase: str) -> str:
    """Return a phrase that fits other forms of its nouns, too: "banking app" for ``bank app``."""
    verb, *nouns = phrase.split()
    return " ".join([verb, *(f"{noun}/{noun}ing" for noun in nouns)])


def phrases_for(name: str, description: str) -> Iterator[str]:
    """Yield phrases that ask for a tool: ``open the valve`` for ``open_valve``.

    The first word of the description may stand for the first one of the name: "Extinguish the light." of
    ``turn_off_light`` gives ``extinguish off light`` as well. A name of one word gives none: it would be found in too
    many sentences, and the name itself is understood anyway.

    Args:
        name: The name of the tool.
        description: Its description.
    """
    for phrase in dict.fromkeys(_phrases(words(name.replace("_", " ")), words(_first_sentence(description)))):
        yield " ".join(phrase)


def _first_sentence(description: str) -> str:
    return description.partition("\n\n")[0].partition(". ")[0]


def _phrases(name: tuple[str, ...], described: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not name[1:]:
        return
    objects = tuple(word for word in name[1:] if word not in _JOINING)
    if described and described[0] in _LOOKS and set(name) <= set(described[1:]):
        # No verb is in the name: "Check the status of the valve." is what valve_status does.
        yield (described[0], *name)
        yield (described[0], *reversed(name))
        return
    yield name
    for verb in dict.fromkeys([name[0], *described[:1]]):
        if objects:
            yield (verb, *objects)
        if objects[1:] and objects[0] in _PARTICLES:
            yield (verb, *objects[1:], objects[0])
