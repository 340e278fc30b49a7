"""Databases: the state of one side, forked for each simulation, compared by touched records."""

from __future__ import annotations

import contextlib
import hashlib
import re
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_origin

from pydantic import ValidationError

from ..errors import TaskFormatError, ToolError
from ..models import clone
from ..models.copying import with_values
from ..models.problems import json_text, place_and_problems
from .changes import Change, known_changes
from .records import Record, canonical, plain, same
from .tables import Noted, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self


class Database(Record):
    """Base of a domain's databases: a record whose fields are tables, records and plain values.

    Attributes:
        in_files: Whether it is read from files in the domain's folder.
        comparable: Whether two states can be compared.
        cheap_to_fork: Whether a copy needs no process of its own.
        one_at_a_time: Whether a trial sets back what another one may use.
        waits: Whether its tools do their work elsewhere, so that a call can be abandoned.
    """

    in_files: ClassVar[bool] = True
    comparable: ClassVar[bool] = True
    cheap_to_fork: ClassVar[bool] = True
    one_at_a_time: ClassVar[bool] = False
    waits: ClassVar[bool] = False

    @classmethod
    def prepare(cls) -> None:
        """Read what must be known before an agent can change it; nothing by default."""

    @classmethod
    def put_back(cls) -> None:
        """Put what is behind all states into its first state, by which changes by others are found; nothing by default.

        Call it before a conversation, and after everything that is done with a trial. States keep what they are.
        """

    @classmethod
    def changes_by_others(cls) -> list[Change]:
        """Return the changes since ``put_back`` of what is behind all states, if no state was used since then."""
        return []

    def open(self) -> None:
        """Occupy what the state needs outside of this object, such as a process; nothing by default."""

    def apart(self) -> None:
        """Take nothing from other states, and give them nothing; nothing by default."""

    def close(self) -> None:
        """Release what the state occupies outside of this object; it stays usable."""

    def abandon(self) -> None:
        """Release it although a call has not returned."""

    def for_replay(self) -> Self:
        """Prepare the state for calls that a recorded conversation has made before; return it."""
        return self

    def fork(self) -> Self:
        """Return an independent state with the same content, in microseconds."""
        values = vars(self).items()
        return with_values(
            self, {name: value.fork() if type(value) is Table else _forked(value) for name, value in values}
        )

    def dump(self) -> dict[str, Any]:
        """Return the whole state as JSON values, in the shape of the database file."""
        return self.model_dump(mode="json", warnings=False)

    def digest(self) -> str:
        """Return the SHA-256, in hex, of the whole state.

        Source: τ²-bench v1.0.1, database hash.
        """
        return hashlib.sha256(canonical(self).encode()).hexdigest()

    def merged(self, update: dict[str, Any]) -> Self:
        """Return a state with an update merged into this one: objects merge, other values are replaced.

        Raises:
            TaskFormatError: The result does not fit the database's records; names the field.

        Source: τ²-bench v1.0.1, initialization data.
        """
        state = self.fork()
        for name, part in update.items():
            old = getattr(state, name, None)
            if isinstance(old, Table) and not old.ordered and isinstance(part, dict):
                _merge_records(type(self), name, old, part)
            else:
                with _placed(type(self)):
                    state.__pydantic_validator__.validate_assignment(state, name, overlay(plain(old), part))
        return state

    def misplaced_records(self) -> Iterator[tuple[str, str, str, Any]]:
        """Yield table, key, field and value of the records whose id is not the key that they are stored under.

        The id is the field ``id``, or the one named after the table or the record's type: ``book_id`` of ``books``.
        """
        for name in type(self).model_fields:
            table = getattr(self, name)
            if isinstance(table, Table) and not table.ordered:
                id_field = _id_field(name, type(next(table.scan(), self)))
                for key in table if id_field else ():
                    value = getattr(table.peek(key), id_field)
                    if value != key:
                        yield name, key, id_field, value

    def equals(self, other: Database) -> bool:
        """Return whether both states are the same, in order of lists and in type of JSON value."""
        return next(self._unequal_fields(other), None) is None

    def changes(self, other: Database) -> list[Change]:
        """Return the differences of the other state (``got``) from this one (``expected``)."""
        found: list[Change] = []
        for name in self._compared_fields():
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, Table):
                _compare_tables(name, mine, theirs, found)
            elif not same(mine, theirs):
                found += known_changes(name, plain(mine), plain(theirs))
        return found

    def _compared_fields(self) -> Iterator[str]:
        # As in records, whose dumps lack such fields.
        return (name for name, field in type(self).model_fields.items() if not field.exclude)

    def _unequal_fields(self, other: Database) -> Iterator[str]:
        mine_by_name, theirs_by_name = vars(self), vars(other)
        for name in self._compared_fields():
            mine, theirs = mine_by_name[name], theirs_by_name[name]
            if not (_same_table(mine, theirs) if isinstance(mine, Table) else same(mine, theirs)):
                yield name


def _forked(value: Any) -> Any:
    return value.fork() if isinstance(value, Table) else clone(value)


def _id_field(table: str, record_type: Any) -> str:
    """Return the field of a table's records that has their id; empty if there is none."""
    if not (isinstance(record_type, type) and issubclass(record_type, Record)):
        return ""
    singular = table[:-3] + "y" if table.endswith("ies") else table.removesuffix("s")
    of_type = re.sub(r"(?<!^)(?=[A-Z])", "_", record_type.__name__).lower()
    fields = record_type.model_fields
    names = ("id", f"{singular}_id", f"{of_type}_id")
    return next((name for name in names if name in fields and fields[name].annotation is str), "")


def _merge_records(model: type[Database], name: str, table: Table[Any], part: dict[str, Any]) -> None:
    """Merge initialization data into a table of a database.

    Raises:
        TaskFormatError: A record that does not fit, or that is not stored under its id.
    """
    field = model.model_fields[name]
    (record_type,) = get_args(field.annotation)
    id_field, noted = _id_field(name, record_type), any(isinstance(each, Noted) for each in field.metadata)
    for key, fields in (part.get("data", {}) if noted else part).items():
        place = f"{name}.data.{key}" if noted else f"{name}.{key}"
        hint = "" if key in table else f"; {name} has no record {key!r}, so it is a new one"
        with _placed(record_type, place, hint):
            table[key] = record = _record(record_type, overlay(plain(table.peek(key)), fields))
        if id_field and getattr(record, id_field) != key:
            problem = f"the key differs from {id_field} {getattr(record, id_field)!r}: make them equal"
            raise TaskFormatError(problem, field=place)
    table.notes = part.get("notes", table.notes) if noted else table.notes


@contextlib.contextmanager
def _placed(model: Any, place: str = "", hint: str = "") -> Iterator[None]:
    """Raise an error of pydantic as one that names the field.

    Args:
        model: The model that is validated.
        place: The path of its value.
        hint: What is added to the problem.

    Raises:
        TaskFormatError: There was one.
    """
    try:
        yield
    except ValidationError as error:
        field, problems = place_and_problems(error, model=model)
        raise TaskFormatError(problems + hint, field=".".join(filter(None, (place, field)))) from None


def _record(record_type: Any, value: Any) -> Any:
    """Return a record of a table: validated, or as it is if the table has free ones."""
    if get_origin(record_type) is not dict:
        return record_type.model_validate(value)
    if not isinstance(value, dict):
        raise ToolError(f"a record must be an object, got {json_text(value)}")
    return value


def _touched(a: Table[Any], b: Table[Any]) -> list[str]:
    """Return the ids at which the tables may differ, in a stable order."""
    if a.shares_base_with(b):
        return sorted(a.touched | b.touched, key=str)  # a tool may store a record under a number
    return list(dict.fromkeys([*a, *b]))


def _same_table(a: Table[Any], b: Table[Any]) -> bool:
    if a.is_as_untouched_as(b):
        return a.notes == b.notes
    touched = _touched(a, b)
    if any(not same(a.peek(key), b.peek(key)) for key in touched):
        return False
    return a.notes == b.notes and _same_order(a, b, touched)


def _same_order(a: Table[Any], b: Table[Any], touched: Sequence[str]) -> bool:
    in_order = not (touched and a.ordered) or (a.keeps_order and b.keeps_order and a.shares_base_with(b))
    return in_order or list(a) == list(b)


def _compare_tables(name: str, a: Table[Any], b: Table[Any], found: list[Change]) -> None:
    before = len(found)
    touched = [] if a.is_as_untouched_as(b) else _touched(a, b)
    for key in touched:
        mine, theirs = a.peek(key), b.peek(key)
        if mine is None or theirs is None:
            if mine is not theirs:
                missing = "expected" if mine is None else "got"
                found.append(Change(f"{name}/{key}", plain(mine), plain(theirs), missing))
        elif not same(mine, theirs):
            found += known_changes(f"{name}/{key}", plain(mine), plain(theirs))
    if a.notes != b.notes:
        found.append(Change(f"{name} (notes)", a.notes, b.notes))
    if len(found) == before and not _same_order(a, b, touched):
        found.append(Change(f"{name} (order)", list(a), list(b)))


def overlay(old: Any, new: Any) -> Any:
    """Return a value with another one merged into it: objects merge, other values are replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {key: overlay(old.get(key), value) for key, value in new.items()}
    return clone(new)
