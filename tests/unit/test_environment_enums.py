"""Parameters and records with an ``Enum``: members for the tool, values for everybody else."""

from __future__ import annotations

import json
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Any, Literal, Optional

import pytest

import pytest_tau
from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool
from pytest_tau.environment.functions import domain_of
from pytest_tau.environment.schemas import with_members
from pytest_tau.errors import ConfigurationError, ToolError
from pytest_tau.models import Task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.environment.environment import Environment


class Shelf(Enum):
    NOVELS = "novels"
    SCIENCE = "science"


class Plain:
    """A class of which no schema exists."""


class Size(str, Enum):  # noqa: UP042 - as users write it
    SMALL = "small"


class Week(IntEnum):
    FIRST = 1


class Book(Record):
    book_id: str
    shelf: Shelf


class Library(Database):
    books: Table[Book]


class Tools(Toolkit[Library]):
    @tool("write")
    def move(self, book_id: str, shelf: Shelf) -> Book:
        """Move a book."""
        assert isinstance(shelf, Shelf)
        self.db.books[book_id].shelf = shelf
        return self.db.books[book_id]

    @tool("read")
    def show(
        self,
        *,
        optional: Optional[Shelf] = None,  # noqa: UP045 - the form under test
        union: Shelf | None = None,
        several: list[Shelf] = [],
        nested: dict[str, list[Shelf | None]] | None = None,
        size: Size = Size.SMALL,
        week: Week | Literal["last"] = "last",
        literal: Literal["a", "b"] = "a",
        number: float = 1,
        default: Shelf = Shelf.SCIENCE,
    ) -> str:
        """Show what the tool received."""
        return repr([optional, union, several, nested, size, week, literal, number, default])

    @tool("read")
    def shelf_of(self, book_id: str) -> Shelf:
        """Return the shelf of a book."""
        return self.db.books[book_id].shelf

    @tool("read")
    def count(self) -> dict[Shelf, Any]:
        """Count the books."""
        return {Shelf.NOVELS: [Shelf.SCIENCE], Shelf.SCIENCE: Week.FIRST}

    def is_on(self, book_id: str, shelf: Shelf) -> bool:
        return self.db.books[book_id].shelf is shelf


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    (tmp_path / "db.json").write_text(json.dumps({"books": {"b1": {"book_id": "b1", "shelf": "novels"}}}))
    (tmp_path / "policy.md").write_text("Lend.")
    return DomainSpec("library", tmp_path, tmp_path, Library, Tools).load()


@pytest.fixture
def environment(domain: Domain) -> Environment:
    return domain.environment()


def test_the_tool_gets_the_member_and_the_caller_the_value(environment: Environment) -> None:
    reply = environment.call("move", {"book_id": "b1", "shelf": "science"})
    assert not reply.error
    assert reply.content == '{"book_id": "b1", "shelf": "science"}'
    assert environment.dump()["agent"]["books"]["b1"]["shelf"] == "science"
    assert environment.call("shelf_of", {"book_id": "b1"}).content == "science"
    assert environment.call("count", {}).content == '{"novels": ["science"], "science": "1"}'


def test_each_form_of_annotation(environment: Environment) -> None:
    arguments = {
        "optional": "novels",
        "union": "novels",
        "several": ["novels", "science"],
        "nested": {"a": ["novels", None]},
        "size": "small",
        "week": 1,
        "literal": "b",
        "number": 2,
    }
    novels = Shelf.NOVELS
    expected: list[Any] = [novels, novels, [novels, Shelf.SCIENCE], {"a": [novels, None]}, Size.SMALL, Week.FIRST]
    expected += ["b", 2, Shelf.SCIENCE]
    assert environment.call("show", arguments).content == repr(expected)
    nothing = environment.call("show", {"optional": None, "several": []}).content or ""
    assert nothing.startswith("[None, None, [], None, ")


def test_the_schema_has_the_values() -> None:
    schema = Tools.tools()["show"].parameters
    assert schema["$defs"]["Shelf"]["enum"] == ["novels", "science"]
    assert schema["properties"]["several"]["items"] == {"$ref": "#/$defs/Shelf"}
    assert schema["properties"]["literal"]["enum"] == ["a", "b"]
    assert schema["properties"]["default"]["default"] == "science"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("move", {"book_id": "b1", "shelf": "attic"}, "shelf: Input should be 'novels' or 'science', got 'attic'"),
        ("show", {"several": ["novels", "attic"]}, "several.1: Input should be 'novels' or 'science', got 'attic'"),
        ("show", {"union": 3}, "union: Input should be 'novels' or 'science', got 3"),
        ("show", {"several": "novels"}, "several: Input should be a valid list, got 'novels'"),
    ],
)
def test_another_value_is_an_error_of_the_call(
    environment: Environment, name: str, arguments: dict[str, Any], message: str
) -> None:
    reply = environment.call(name, arguments)
    assert (reply.content, reply.error) == (f"Error: {message}", True)


def test_functions_of_tasks_get_members(environment: Environment) -> None:
    assert environment.run_function("assistant", "is_on", {"book_id": "b1", "shelf": "novels"}) is True
    with pytest.raises(ToolError, match="shelf: Input should be"):
        environment.run_function("assistant", "is_on", {"book_id": "b1", "shelf": "attic"})


def test_a_difference_shows_the_values(domain: Domain) -> None:
    action = {"action_id": "1", "name": "move", "arguments": {"book_id": "b1", "shelf": "science"}}
    task = Task.model_validate(
        {
            "id": "move",
            "user_scenario": {"instructions": "Ask."},
            "evaluation_criteria": {"actions": [action], "reward_basis": ["DB"]},
        }
    )
    calls = [{"id": "c", "name": "move", "arguments": action["arguments"]}]
    done = [
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "id": "c", "content": "", "requestor": "assistant"},
    ]
    assert pytest_tau.evaluate(task, done, termination_reason="user_stop", domain=domain).reward == 1
    missed = pytest_tau.evaluate(task, [], termination_reason="user_stop", domain=domain)
    (change,) = json.loads(missed.model_dump_json())["db_diff"]
    assert (change["path"], change["expected"], change["got"]) == ("books/b1/shelf", "science", "novels")


def test_functions_that_exist_already_convert_once(tmp_path: Path) -> None:
    def find(shelf: Shelf, several: list[Shelf] | None = None) -> str:
        """Find books."""
        return repr([shelf, several])

    environment = domain_of("library", tools=[find], reads=["find"], folder=tmp_path).load().environment()
    reply = environment.call("find", {"shelf": "novels", "several": ["science"]})
    assert reply.content == repr([Shelf.NOVELS, [Shelf.SCIENCE]])


def test_a_literal_of_members_is_an_error_of_the_tool() -> None:
    class Shelves(Toolkit[Library]):
        @tool("read")
        def find(self, shelf: Literal[Shelf.NOVELS] | None = None) -> str:
            """Find books."""
            return str(shelf)

    with pytest.raises(ConfigurationError, match=r"find: parameter 'shelf': .*Literal\['novels'\]"):
        Shelves.tools()


def test_parameters_whose_annotation_cannot_be_read_are_passed_on() -> None:
    def unknown(shelf: NoSuchName) -> None:  # type: ignore[name-defined]  # noqa: F821
        """Name a type that does not exist at run time."""

    def unusual(shelf: Shelf, both: tuple[Shelf, Plain]) -> None:
        """Take a type of which no schema exists, next to an enum."""

    assert with_members(unknown, {"shelf": "novels"}) == {"shelf": "novels"}
    assert with_members(unusual, {"shelf": "novels", "both": []}) == {"shelf": Shelf.NOVELS, "both": []}
