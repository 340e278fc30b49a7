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
        found: list[Any] = []
        for name in names:
            thing = int(name) if name.isdecimal() else self.get_field(name, (), self.things)[0]
            found += thing if isinstance(thing, list) else [thing]
        return found

    def fill_table(self, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a draft: texts and lists of texts are filled, ``requests`` are made."""
        self.things["reason"] = self.fill(table["reason"])
        filled = {key: self._filled(value) for key, value in table.items() if key not in ("calls", "requests")}
        return {**filled, "requests": [self._request(request) for request in table.get("requests", ())]}

    def _filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.fill(text) for text in value]
        return self.fill(value) if isinstance(value, str) else value

    def _request(self, table: str | Mapping[str, Any]) -> Request:
        """Return a request of a user.

        Args:
            table: What is said, or a table of the arguments of :func:`ask`. Its key ``before`` has a table of what is
                said when the agent sums up a deed, by the deed.
        """
        if isinstance(table, str):
            return ask(self.fill(table))
        arguments: dict[str, Any] = {
            key: self.fill(part) if isinstance(part, str) else part for key, part in table.items()
        }
        before = arguments.pop("before", {})
        answers = [Answer(**answer) for answer in arguments.pop("answers", ())]
        answers += [say_before(deed, self.fill(say)) for deed, say in before.items()]
        return ask(answers=answers, **arguments)
