"""Kinds of record: the values of the enumerated fields of records, such as statuses; and those that a call touches."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ...environment import Record, Table, jsonable
from ...references import ChosenValue, choices_in, choices_taken

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ...environment import Database

#: A field of free records is enumerated if it has at most so many different values, of so many words each.
_MOST_VALUES, _MOST_WORDS = 8, 3
#: Records of a table that are looked at, where only they show which fields are enumerated.
_SAMPLE = 5000


class RecordTable(NamedTuple):
    """A table of a database, or a record that it has only once.

    Attributes:
        name: The field of the database.
        schema: The schema of a record.
        is_single: Whether it is one record, which every call of its side touches.
    """

    name: str
    schema: Mapping[str, Any]
    is_single: bool = False

    def kinds(self) -> Iterator[ChosenValue]:
        """Yield the kinds of its records: ``orders.status = pending``."""
        return (each._replace(path=f"{self.name}.{each.path}") for each in choices_in(self.schema))

    def touched(self, records: Iterable[Any], keys: Collection[str]) -> Iterator[ChosenValue]:
        """Yield the kinds that records are of; of a mapping in them, only of what a call has named, if it has."""
        for record in records:
            for each in choices_taken(record, self.schema, keys):
                yield each._replace(path=f"{self.name}.{each.path}")


def tables_of(database: Database) -> list[RecordTable]:
    """Return the tables of a database that have records of several kinds."""
    if not type(database).model_fields:  # it is only known as a whole
        found = [RecordTable(name, _observed(part)) for name, part in database.dump().items() if _rows(part)]
    else:
        found = [_declared(database, name, field) for name, field in type(database).model_fields.items()]
    return [table for table in found if next(choices_in(table.schema), None)]


def records_in(database: Database, table: RecordTable, ids: Collection[str], state: Any = None) -> list[Any]:
    """Return the records of a table with these ids, as JSON values.

    Args:
        database: The database.
        table: One of its tables.
        ids: The ids.
        state: The content of a database that is only known as a whole (``Database.dump``).
    """
    if state is not None:
        rows = _rows(state.get(table.name))
        return [row for key, row in rows if key in ids]
    content = getattr(database, table.name)
    if not isinstance(content, Table):
        return [jsonable(content)]
    return [jsonable(content.peek(each)) for each in ids if each in content]


def _declared(database: Database, name: str, field: Any) -> RecordTable:
    content = getattr(database, name)
    if not isinstance(content, Table):
        return RecordTable(name, _schema_of(type(content)), is_single=True)
    (kind,) = get_args(field.annotation) or (None,)
    if isinstance(kind, type) and issubclass(kind, Record):
        return RecordTable(name, _schema_of(kind))
    return RecordTable(name, _observed({key: jsonable(row) for key, row in content.peek_items()}))


def _schema_of(kind: type) -> Mapping[str, Any]:
    return kind.model_json_schema(mode="serialization") if issubclass(kind, Record) else {}


def _rows(part: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the records of a part of a state, each with its id: its key, or else its first field."""
    if isinstance(part, dict):
        return [(str(key), row) for key, row in part.items() if isinstance(row, dict)]
    rows = [row for row in part if isinstance(row, dict) and row] if isinstance(part, list) else []
    return [(str(next(iter(row.values()))), row) for row in rows]


def _observed(part: Any) -> Mapping[str, Any]:
    """Return the schema of free records whose enumerated fields are those with few different values."""
    values: dict[str, list[Any]] = {}
    for _, row in _rows(part)[:_SAMPLE]:
        for name, value in row.items():
            if isinstance(value, str | bool):
                values.setdefault(name, []).append(value)
    return {"properties": {name: {"enum": [*dict.fromkeys(of)]} for name, of in values.items() if _is_enumerated(of)}}


def _is_enumerated(values: list[Any]) -> bool:
    different = dict.fromkeys(values)
    words = (value for value in different if isinstance(value, str))
    return len(different) < min(len(values), _MOST_VALUES + 1) and all(
        value and len(value.split()) <= _MOST_WORDS and not any(map(str.isdigit, value)) for value in words
    )


def shown_ids(result: Any) -> Iterator[str]:
    """Yield the texts among the fields of the records that a result shows, one of which is the id of each."""
    rows = result if isinstance(result, list) else [result]
    fields = chain.from_iterable(row.values() for row in rows if isinstance(row, dict))
    return (value for value in fields if isinstance(value, str))


def is_shown(record: Mapping[str, Any], result: Any) -> bool:
    """Return whether a result shows a record: it has an object with the same fields, and the same id."""
    rows = result if isinstance(result, list) else [result]
    return any(isinstance(row, dict) and record.keys() <= row.keys() for row in rows)
