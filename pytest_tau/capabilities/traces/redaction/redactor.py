"""Redaction of conversations: what is personal in them is found, and replaced in all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ....errors import ConfigurationError
from ....models import Simulation
from .fields import Leaf, Personal, json_in, leaves, personal_fields
from .labels import words_of
from .libraries import recognised, recognised_names
from .replacements import Replacements
from .substitution import Substitution, tokens
from .texts import is_thing, personal_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_SHORTEST: Final = 3
#: Words of texts that may be a name: with capital letters, and not at the beginning of a sentence.
_CAPITALS: Final = re.compile(r"[^\W\d_a-z]\w+(?:[ '’-][^\W\d_a-z]\w+)+|(?<=[\w,] )[^\W\d_a-z]\w{2,}(?![\w-])")
_DIGITS: Final = re.compile(r"(?<![\w.,$€£¥#-])\+?\d(?:[ ()./-]?\d){6,20}(?![\w-])|(?<![\w/.])@[A-Za-z_]\w{2,}")


class Kept(NamedTuple):
    """What may be personal and is kept: its text, and its place."""

    text: str
    place: str


class Redactor:
    """Replaces personal data in conversations; one original has one replacement, which is never an original.

    Args:
        simulations: The conversations.
        kept: Texts whose personal data may stay: a database for tests.
        key: What replacements depend on, with the originals.

    Attributes:
        values: How many things are replaced.

    Raises:
        ConfigurationError: There are more originals of a form than replacements.
    """

    def __init__(self, simulations: Sequence[Simulation], kept: str = "", *, key: bytes) -> None:
        documents = [_Document(simulation) for simulation in simulations]
        # Names first: ids and addresses may have them in them. Sorted, the same is made of the same.
        personal = sorted(
            {original for document in documents for original in document.personal() if not _is_kept(original, kept)},
            key=lambda original: (original.kind != "name", original),
        )
        self.values = len({original.text.lower() for original in personal})
        replacements = Replacements(
            key, tokens(text for document in documents for text in document.texts()) | tokens([kept])
        )
        replacement_of: dict[str, str] = {}
        for kind, text in personal:
            if text in replacement_of:
                continue
            replacement_of[text] = replacement_of.get(text.lower()) or replacements.of(kind, text)
            replacement_of.setdefault(text.lower(), replacement_of[text])
            if kind == "name":
                parts = [part for part in re.findall(r"[^\W\d_]+", text) if len(part) >= _SHORTEST]
                replacement_of |= {part: replacements.name(part) for part in parts if part not in replacement_of}
        ordinary = {word for document in documents for word in document.ordinary()}
        self._made = {word for to in replacement_of.values() for word in re.findall(r"[^\W_]+", to.lower())}
        self._substitution = Substitution(
            replacement_of, {text for text in replacement_of if text.lower() in ordinary and text.isalpha()}
        )
        self._is_needed = bool(replacement_of)

    def redacted(self, simulation: Simulation) -> Simulation:
        """Return a conversation without its personal data.

        Raises:
            ConfigurationError: Some would still be there.
        """
        if not self._is_needed:
            return simulation
        document = self._in_document(simulation.model_dump(mode="json"))
        if self._in_document(document) != document:
            raise ConfigurationError(f"personal data of {document['id']} would not be replaced; nothing is written")
        return Simulation.model_validate(document)

    def _in_document(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a simulation with what it says replaced; numbers of its own, such as those of messages, stay."""
        texts = {name: self._substitution.in_texts(document[name]) for name in _SAYING if document[name] is not None}
        return {**document, **texts, "messages": [self._in_message(message) for message in document["messages"]]}

    def _in_message(self, message: dict[str, Any]) -> dict[str, Any]:
        calls = [
            {
                **call,
                "arguments": self._substitution.in_value(call["arguments"]),
                "malformed": self._substitution.in_texts(call["malformed"]),
            }
            for call in message.get("tool_calls") or ()
        ]
        content = self._substitution.in_texts(message.get("content"))
        return {**message, "content": content, **({"tool_calls": calls} if calls else {})}

    def kept_in(self, simulation: Simulation) -> Iterator[Kept]:
        """Yield what may be personal in a conversation that was redacted, and is kept."""
        listed: set[str] = set()
        for number, message in enumerate(simulation.messages):
            if message.role != "user":
                continue
            for text in _suspicious(message.content or ""):
                if text not in listed and not self._is_made(text):
                    listed.add(text)
                    yield Kept(text, f"message {number}")

    def _is_made(self, text: str) -> bool:
        return any(word in self._made for word in re.findall(r"[^\W_]+", text.lower()))


#: Fields of a simulation that may say something of a person, besides its messages.
_SAYING: Final = ("id", "task_id", "error", "info", "reward_info", "replay_differences", "facts", "duplex")


class _Document:
    """The texts of a conversation: its messages, and what is known of it."""

    def __init__(self, simulation: Simulation) -> None:
        facts = simulation.facts.get("traces")
        facts = facts if isinstance(facts, dict) else {}
        self._messages = simulation.messages
        self._known = [facts.get("system"), facts.get("key"), simulation.task_id, simulation.id]
        self._tools = facts.get("tools") or []
        self._origin = facts.get("origin") or {}

    def personal(self) -> Iterator[Personal]:
        """Yield what is personal."""
        for message in self._messages:
            calls = getattr(message, "tool_calls", None) or ()
            document = json_in(message.content or "")
            for value in (*(call.arguments for call in calls), document):
                if value is not None:
                    yield from personal_fields(value)
                    for leaf in leaves(value):
                        yield from _in_leaf(leaf)
            if message.content and document is None:
                yield from _in_text(message.content, said=message.role == "user")
                if message.role != "tool":
                    yield from _usable(recognised_names(message.content))
        for text in filter(None, self._known):
            yield from _in_text(str(text), said=False)
        yield from personal_fields(self._origin)

    def texts(self) -> Iterator[str]:
        """Yield all texts."""
        for message in self._messages:
            yield message.content or ""
            for call in getattr(message, "tool_calls", None) or ():
                yield from (leaf.text for leaf in leaves(call.arguments))
        yield from (str(text) for text in self._known if text)
        yield from (leaf.text for leaf in leaves([self._tools, self._origin]))

    def ordinary(self) -> Iterator[str]:
        """Yield the words in small letters of the agent, its instructions, its tools and the names of fields."""
        agent_texts = [message.content or "" for message in self._messages if message.role == "assistant"]
        described = [leaf.text for leaf in leaves(self._tools)]
        for text in (*agent_texts, *described, str(self._known[0] or "")):
            yield from re.findall(r"(?<![\w@.+-])[^\W\d_]+(?![\w@+-]|\.\w)", text) if text else ()
        for message in self._messages:
            for call in getattr(message, "tool_calls", None) or ():
                yield from words_of(call.name)
            yield from _words_of_fields(json_in(message.content or ""))


def _words_of_fields(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from words_of(str(name))
            yield from _words_of_fields(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words_of_fields(part)


def _in_leaf(leaf: Leaf) -> Iterator[Personal]:
    """Yield what is personal in a text of a value; the name of its field says what its numbers are."""
    label = " ".join(words_of(leaf.field))
    text = f"{label}: {leaf.text}" if label and re.fullmatch(r"[\d\W]+", leaf.text) else leaf.text
    yield from _in_text(text, said=False)


def _in_text(text: str, *, said: bool) -> Iterator[Personal]:
    yield from _usable(personal_texts(text, said=said))
    yield from _usable(recognised(text))


def _usable(personal: Iterable[Personal]) -> Iterator[Personal]:
    return (
        original
        for original in personal
        if len(original.text) >= _SHORTEST or (original.kind == "name" and not original.text.isascii())
    )


def _is_kept(personal: Personal, database: str) -> bool:
    """Return whether a database has a text; of a name, the first and the last part may be in fields of their own."""
    text = personal.text
    return bool(database) and (
        text in database or (personal.kind == "name" and all(part in database for part in text.split()))
    )


def _suspicious(text: str) -> Iterator[str]:
    """Yield what looks like a name or a number of a person."""
    yield from (match[0] for match in _CAPITALS.finditer(text) if match[0] != "I")
    yield from (match[0] for match in _DIGITS.finditer(text) if not is_thing(text, match.start()))
