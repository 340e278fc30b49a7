"""The words for a user's tool that its domain gives none for, derived from name, description and parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...environment.arguments import resolved
from ...models import Spoken
from .vocabulary import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...environment import Tool

#: Other words that may stand between two of a derived phrase. Phrases that a domain gives have no such limit.
GAP = 2
#: Words before an instruction: "please open …", "you can open …", "and then open …".
_BEFORE = frozenset(
    [
        "please",
        "kindly",
        "you",
        "to",
        "then",
        "and",
        "now",
        "first",
        "next",
        "also",
        "just",
        "can",
        "could",
        "should",
        "must",
        "need",
        "i'd",
        "like",
        "try",
        "again",
    ]
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
