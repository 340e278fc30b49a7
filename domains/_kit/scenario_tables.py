"""Scenarios as tables: TOML files with texts, whose placeholders name what a scenario is about."""

from __future__ import annotations

import string
import tomllib
from typing import TYPE_CHECKING, Any

from pytest_tau.models import Answer

from .user_script import ask, say_before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from pytest_tau.models import Request


_OF_FIRST_REQUEST = ("say", "insist", "fallback", "before", "answers")
_NO_FIELDS = {*_OF_FIRST_REQUEST, "details", "then", "calls"}


def read_tables(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of TOML files in a folder, with their names, in order.

    What a file has before its tables is the default of each of them. Line breaks in texts are spaces.
    """
    for name in names:
        content = tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))
        defaults = {key: value for key, value in content.items() if not isinstance(value, dict)}
        for table_name, table in content.items():
            if isinstance(table, dict):
                yield table_name, {**defaults, **{key: _unwrapped(value) for key, value in table.items()}}


def _unwrapped(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_unwrapped(part) for part in value]
    return {key: _unwrapped(part) for key, part in value.items()} if isinstance(value, dict) else value


class Texts(string.Formatter):
    """Fills the placeholders of texts.

    Args:
        things: What placeholders name: ``{order}``, or an attribute as in ``{user.email}``.
        write: Returns how a thing is written; its second argument is what follows a colon, as in ``{item:full}``.
    """

    def __init__(self, things: Mapping[str, Any], write: Callable[[Any, str], str]) -> None:
        self.things, self._write = dict(things), write

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return how a thing is written."""
        return self._write(value, format_spec)

    def fill(self, text: str) -> str:
        """Return a text with everything in the place of its placeholders."""
        return self.vformat(text, (), self.things) if "{" in text else text

    def look_up(self, names: Iterable[str]) -> list[Any]:
        """Return the things that are named; of a list, each of its things. Figures are themselves."""
        values: list[Any] = []
        for name in names:
            value = int(name) if name.isdecimal() else self.get_field(name, (), self.things)[0]
            values += value if isinstance(value, list) else [value]
        return values

    def fill_table(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a draft: texts and lists of texts are filled, and the requests of the user are made.

        Args:
            table: Has the fields, and for the requests: ``say`` unless the first one says the reason, ``insist``,
                ``fallback``, ``before`` and ``answers`` of the first one, the facts about it as ``details``, and
                further ones as ``then``, each a text or a table of all of these, its facts among them.
        """
        self.things["reason"] = self.fill(table["reason"])
        first = {key: table[key] for key in _OF_FIRST_REQUEST if key in table} | table.get("details", {})
        then = table.get("then", [])
        fields = {key: self._filled(value) for key, value in table.items() if key not in _NO_FIELDS}
        return {**fields, "requests": [self._request(request) for request in ([first, *then] if first or then else [])]}

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.fill(text) for text in value]
        return self.fill(value) if isinstance(value, str) else value

    def _request(self, table: str | Mapping[str, Any]) -> Request:
        if isinstance(table, str):
            return ask(self.fill(table))
        arguments: dict[str, Any] = {
            key: self.fill(part) if isinstance(part, str) else part for key, part in table.items()
        }
        before = arguments.pop("before", {})
        answers = [Answer(**answer) for answer in arguments.pop("answers", ())]
        answers += [say_before(deed, self.fill(say)) for deed, say in before.items()]
        return ask(answers=answers, **arguments)
