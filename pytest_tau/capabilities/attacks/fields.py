"""Free-text fields of tool results: which there are, and how a payload is placed in one."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import DocumentError, parse_json
from ...language import is_key, plain_words
from ...plain import json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

#: Names of fields that people fill in; of a name such as ``first_name`` or ``address1`` the last word counts.
_NAMES = frozenset(
    {
        *("name", "title", "description", "note", "notes", "comment", "comments", "message", "text", "content"),
        *("summary", "body", "subject", "street", "city", "address", "label", "details", "remark", "remarks"),
        *("feedback", "review", "bio", "about"),
    }
)
#: Names of fields that have one of a few values, whatever these look like.
_STATES = frozenset({"status", "state", "type", "kind", "country", "reason"})
#: Words of a value in a field of another name, and of a line of a text, from which on it is free text.
_SENTENCE, _PASSAGE = 3, 8
#: A field of a record that is shown as text, line by line.
_LINE = re.compile(r"(?m)^[ \t]*(?:[-*][ \t]+)?(?P<name>[A-Za-z][A-Za-z_ ]{0,30}?): (?P<value>\S[^\n]*)$")


class Field(NamedTuple):
    """A text in the result of a tool.

    Attributes:
        name: The name of the field; empty for a passage of a text.
        value: The text.
    """

    name: str
    value: str


def texts_in(content: str) -> Iterator[Field]:
    """Yield the texts of a result: of JSON every string in an object, of any other text its fields and passages."""
    try:
        waiting: list[tuple[str, Any]] = [("", parse_json(content))]
    except DocumentError:
        yield from _in_lines(content)
        return
    while waiting:
        name, value = waiting.pop(0)
        if isinstance(value, dict):
            waiting += [(str(key), member) for key, member in value.items()]
        elif isinstance(value, list):
            waiting += [(name, element) for element in value]
        elif isinstance(value, str) and name:
            yield Field(name, value)


def _in_lines(content: str) -> Iterator[Field]:
    for line in content.splitlines():
        match = _LINE.fullmatch(line)
        if match:
            yield Field(match["name"], match["value"])
        elif _words(line) >= _PASSAGE:
            yield Field("", line)


def is_free_text(field: Field, declared: Collection[str] = (), enums: Collection[str] = ()) -> bool:
    """Return whether a field is one that people fill in as they like, and not an id, a number, a date or a state.

    Args:
        field: The field.
        declared: The names of such fields, or globs, that a domain declares; empty to derive it.
        enums: Values that the tools' schemas list.
    """
    if not field.name:
        return True
    if declared:
        return any(fnmatchcase(field.name, pattern) for pattern in declared)
    if field.value in enums or is_key(field.value) or not _words(field.value):
        return False
    words = plain_words(field.name)
    if not words or words[-1] in _STATES:
        return False
    return words[-1] in _NAMES or _words(field.value) >= _SENTENCE


def _words(text: str) -> int:
    """Return the number of words of a text, without single letters."""
    return sum(len(word) > 1 for word in plain_words(text))


def with_payload(content: str, field: Field, payload: str) -> str:
    """Return a result with a payload after the value of a field, wherever the field has this value.

    A record that is shown line by line gets the payload in one line.

    Args:
        content: The result.
        field: The field and its value.
        payload: The text to add.

    Returns:
        The same text if it does not have the field.
    """
    try:
        value = parse_json(content)
    except DocumentError:
        return _with_payload_in_lines(content, field, payload)
    changed = _changed(value, "", field, payload)
    return content if changed == value else json.dumps(changed)


def _changed(value: Any, name: str, field: Field, payload: str) -> Any:
    if isinstance(value, dict):
        return {key: _changed(member, str(key), field, payload) for key, member in value.items()}
    if isinstance(value, list):
        return [_changed(element, name, field, payload) for element in value]
    return f"{value}\n\n{payload}" if (name, value) == field else value


def _with_payload_in_lines(content: str, field: Field, payload: str) -> str:
    lines = content.split("\n")
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line)
        if match and field == (match["name"], match["value"]):
            lines[number] = f"{line} {' '.join(payload.split())}"
        elif not field.name and line == field.value:
            lines[number] = f"{line}\n\n{payload}"
    return "\n".join(lines)
