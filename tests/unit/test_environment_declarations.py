"""Mistakes in tools and records are errors where they are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, domain_of, tool
from pytest_tau.errors import ConfigurationError


class Book(Record):
    book_id: str
    title: str = ""


class Library(Database):
    books: Table[Book]
    news: Table[Book]


def test_a_tool_without_a_kind() -> None:
    with pytest.raises(ConfigurationError, match=r'Tools\.lend: expected a kind: one of @tool\("read"\)'):

        class Tools(Toolkit[Library]):
            @tool  # type: ignore[arg-type]
            def lend(self) -> None:
                """Lend."""


@pytest.mark.parametrize("kind", ["reads", "wrtie", "", None, 3])
def test_a_tool_of_an_unknown_kind(kind: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"Tools\.lend: unknown kind .*read, think, write"):

        class Tools(Toolkit[Library]):
            @tool(kind)
            def lend(self) -> None:
                """Lend."""


def test_a_tool_without_a_docstring() -> None:
    with pytest.raises(ConfigurationError, match=r"Tools\.lend has no docstring: add one"):

        class Tools(Toolkit[Library]):
            @tool("write")
            def lend(self) -> None:
                pass


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("book: The book.", r"describes the unknown parameter 'book'; did you mean 'book_id'\? \(known: book_id\)"),
        ("None", r"cannot be read: Expected a colon"),
    ],
)
def test_a_docstring_that_does_not_fit_the_parameters(entry: str, problem: str) -> None:
    def lend(self: Any, book_id: str) -> None:
        pass

    lend.__doc__ = f"Lend.\n\nArgs:\n    {entry}\n"
    with pytest.raises(ConfigurationError, match=rf"lend: its docstring {problem}"):
        tool("write")(lend)


def test_the_docstring_of_a_function_may_describe_the_state_that_it_is_called_with() -> None:
    def lend(shelf: list[str], book_id: str) -> None:
        """Lend.

        Args:
            shelf: The books.
            book_id: The book.

        Attributes:
            other: No parameter.
        """

    domain_of("books", tools=[lend], make=list)


def test_a_tool_without_self() -> None:
    with pytest.raises(
        ConfigurationError, match=r"Tools\.lend: the first parameter is not self: write def lend\(self, book_id\)"
    ):

        class Tools(Toolkit[Library]):
            @tool("write")
            def lend(book_id: str) -> None:  # type: ignore[misc]
                """Lend."""


@pytest.mark.parametrize("declared", [True, False], ids=["tool", "assertion"])
def test_an_async_method_would_not_be_awaited(declared: bool) -> None:
    async def lend(self: Any, book_id: str) -> None:
        """Lend."""

    with pytest.raises(
        ConfigurationError, match="lend is async: methods of a toolkit are not awaited: write 'def lend'"
    ):
        type("Tools", (Toolkit,), {"lend": tool("write")(lend) if declared else lend})


@pytest.mark.parametrize("is_async", [False, True])
def test_a_generator_would_not_be_run(is_async: bool) -> None:
    def lend(self: Any, book_id: str) -> Any:
        """Lend."""
        yield book_id

    async def lend_async(self: Any, book_id: str) -> Any:
        """Lend."""
        yield book_id

    with pytest.raises(ConfigurationError, match=r"lend.* is a generator, whose code a call does not run: return"):
        tool("write")(lend_async if is_async else lend)


def test_an_asynchronous_generator_is_no_function_of_a_domain() -> None:
    async def lend(book_id: str) -> Any:
        """Lend."""
        yield book_id

    with pytest.raises(ConfigurationError, match="lend is a generator, whose code a call does not run: return"):
        domain_of("library", tools=[lend], snapshot=dict, restore=print)


def test_a_parameter_without_a_type() -> None:
    with pytest.raises(
        ConfigurationError, match=r"Tools\.lend: parameter 'reader' has no type annotation: .*'reader: str'"
    ):

        class Tools(Toolkit[Library]):
            @tool("write")
            def lend(self, book_id: str, reader) -> None:  # type: ignore[no-untyped-def]
                """Lend."""


@pytest.mark.parametrize("table", ["books", "news"])
def test_a_key_that_is_not_the_records_id(tmp_path: Path, table: str) -> None:
    content = {"books": {}, "news": {}} | {table: {"b1": {"book_id": "b1"}, "b2": {"book_id": "B2"}}}
    (tmp_path / "db.json").write_text(json.dumps(content))
    (tmp_path / "policy.md").write_text("Lend.")
    domain = DomainSpec("library", tmp_path, tmp_path, Library, Toolkit).load()
    with pytest.raises(ConfigurationError, match=rf"db\.json: {table}/b2: the key differs from book_id 'B2'"):
        domain.environment()
