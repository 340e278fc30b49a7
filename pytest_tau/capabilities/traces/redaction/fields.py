"""Personal data by the names of fields: in arguments, in results, and in JSON inside of texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ....documents import DocumentError, parse_json
from .labels import NAME_PARTS, is_id_like, is_name_like, is_of_person, kind_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Kinds that surround the name of a person; the names of other things stay.
_BESIDE_NAMES: Final = frozenset({"email", "phone", "street", "date", "id", "name", "zip", "handle"})
#: Kinds whose values have a digit.
_WITH_DIGITS: Final = frozenset({"phone", "zip", "date", "card", "pin", "number", "ip", "mac", "geo", "id"})
#: Fields whose value is the name of a field, and fields next to them with its value.
_LABELS: Final = ("name", "key", "label", "field", "attribute", "type", "title", "question")
_LABELLED: Final = frozenset({"value", "answer", "val", "content", "values"})
_DEEPEST: Final = 50


class Personal(NamedTuple):
    """Something personal: its kind, and its text as it was written."""

    kind: str
    text: str


class Leaf(NamedTuple):
    """A text somewhere in a value: the name of its field, and the text. Names of fields are leaves, too."""

    field: str
    text: str


def json_in(text: str) -> Any:
    """Return the object or array that a text is; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return parse_json(text)
    except DocumentError:
        return None


def leaves(value: Any, field: str = "", depth: int = 0) -> Iterator[Leaf]:
    """Yield the texts and numbers of a value, those of JSON inside of texts among them."""
    if depth > _DEEPEST:
        yield Leaf(field, str(value))
    elif isinstance(value, dict):
        for name, part in value.items():
            yield Leaf("", str(name))
            yield from leaves(part, str(name), depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part, field, depth + 1)
    elif isinstance(value, str):
        inner = json_in(value)
        yield from [Leaf(field, value)] if inner is None else leaves(inner, field, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Leaf(field, repr(value))


def personal_fields(value: Any, field: str = "", kind: str | None = None, depth: int = 0) -> Iterator[Personal]:
    """Yield what is personal by the names of fields.

    Args:
        value: A JSON value.
        field: The field that has it.
        kind: The kind of the field.
        depth: How deep it lies.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield from _of_object(value, field, kind, depth)
    elif isinstance(value, list):
        for part in value:
            yield from personal_fields(part, field, kind, depth + 1)
    elif isinstance(value, str) and (inner := json_in(value)) is not None:
        yield from personal_fields(inner, field, kind, depth + 1)
    elif kind is not None and isinstance(value, str | int | float) and not isinstance(value, bool):
        yield from _of_value(kind, str(value).strip())


def _of_object(value: dict[str, Any], field: str, kind: str | None, depth: int) -> Iterator[Personal]:
    kinds = {name: kind_of(str(name)) for name in value}
    parts = [name for name in value if _is_part_of_name(str(name))]
    person = is_of_person(field) or len(parts) > 1 or bool({*kinds.values()} & _BESIDE_NAMES)
    address = kind == "street" or bool({*kinds.values()} & {"street", "zip"})
    if kind in ("name", "any name"):
        yield from _of_value("name", " ".join(str(value[name]) for name in parts if isinstance(value[name], str)))
    label = next((value[name] for name in _LABELS if isinstance(value.get(name), str)), None)
    for name, part in value.items():
        part_kind = kind_of(label) if label is not None and name in _LABELLED else kinds[name]
        if part_kind == "any name":
            part_kind = "name" if person else part_kind if isinstance(part, dict) else None
        elif part_kind == "place" and not address:
            part_kind = None
        elif (
            part_kind is None
            and kind == "street"
            and words_of(str(name))[:1] in (["line"], ["street"], ["unit"], ["apt"])
        ):
            part_kind = "street"
        elif part_kind is None and (person or kind in ("name", "any name")) and name in parts:
            part_kind = "name"
        if part_kind == "any name" and not (
            isinstance(part, dict) and any(_is_part_of_name(str(inner)) for inner in part)
        ):
            part_kind = None
        yield from personal_fields(part, str(name), part_kind, depth + 1)


def _is_part_of_name(name: str) -> bool:
    words = words_of(name)
    return bool(words) and words[0] in NAME_PARTS


def _of_value(kind: str, text: str) -> Iterator[Personal]:
    """Yield a value of a field if it can be what the field says."""
    if kind == "person":
        if not (is_id_like(text) or is_name_like(text)):
            return
        kind = "id" if is_id_like(text) else "name"
    if kind == "card" and re.search(r"[^\W\d_]", text):
        return
    if kind == "handle" and " " in text:
        kind = "name"
    if not text or len(text) > 300 or (kind in _WITH_DIGITS and not re.search(r"\d", text) and kind != "id"):
        return
    if kind == "name" and not is_name_like(text) and not _is_lower_name(text):
        return
    if kind == "email" and "@" not in text:
        return
    yield Personal(kind, text)


def _is_lower_name(text: str) -> bool:
    """Return whether a name is written in small letters, such as ``ada berg``."""
    return is_name_like(text.title()) and len(text.split()) <= 3
