"""The tables of a domain's databases: counts, fields, a sample record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from ...environment import Record, Table

if TYPE_CHECKING:
    from ...environment import Database, Environment

#: The module before the name of a type.
_MODULE = re.compile(r"\b(?:\w+\.)+(?=\w)")


def describe_tables(environment: Environment) -> list[dict[str, Any]]:
    """Return the tables and other fields of both sides' databases; of a database that they share, once."""
    sides = (("agent", environment.agent_db), ("user", None if environment.shared_db else environment.user_db))
    return [
        _table(side, database, name, field)
        for side, database in sides
        if database is not None
        for name, field in type(database).model_fields.items()
    ]


def _table(side: str, database: Database, name: str, field: Any) -> dict[str, Any]:
    content = getattr(database, name)
    found: dict[str, Any] = {"side": side, "name": name, "type": _type_text(field.annotation), "records": None}
    if not isinstance(content, Table):
        fields = _fields(type(content)) if isinstance(content, Record) else []
        return found | {"fields": fields, "sample": _as_json(content)}
    (record_type,) = get_args(field.annotation) or (None,)
    sample = next(content.scan(), None)
    # A table of several kinds of records has the fields of the first.
    kind = record_type if isinstance(record_type, type) else type(sample)
    return found | {"records": len(content), "fields": _fields(kind), "sample": _as_json(sample)}


def _fields(record: type) -> list[dict[str, Any]]:
    if not issubclass(record, Record):
        return []
    return [
        {"name": name, "type": _type_text(field.annotation), "description": field.description}
        for name, field in record.model_fields.items()
    ]


def _type_text(annotation: Any) -> str:
    """Return a type as it is written: ``dict[str, Item] | None``."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return _MODULE.sub("", str(annotation))


def _as_json(value: Any) -> Any:
    """Return a value as JSON; what is not JSON as its text."""
    if isinstance(value, Record):
        return value.model_dump(mode="json", warnings=False)
    if isinstance(value, dict):
        return {str(key): _as_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(part) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
