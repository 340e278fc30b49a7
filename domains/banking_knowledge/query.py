"""Reads of the form "records of a table whose field equals a value", which work on text.

Source: τ²-bench v1.0.1, banking_knowledge domain. The value is inserted into the text of a JSON object, which is then
parsed. A value with a quote breaks the query, or adds constraints to it.
"""

import json
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from .tables import BankDB, BankRecord

if TYPE_CHECKING:
    from pytest_tau.environment import Table

#: Names that collide with parameters of the query itself, and its options, which are no constraints.
_RESERVED: Final = ("db", "db_name")
_OPTIONS: Final = ("limit", "return_ids")
_NOTHING: Final = ("No records found", "No results found")

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "ne": lambda mine, given: bool(mine != given),
    "gt": lambda mine, given: bool(mine > given),
    "gte": lambda mine, given: bool(mine >= given),
    "lt": lambda mine, given: bool(mine < given),
    "lte": lambda mine, given: bool(mine <= given),
    "contains": lambda mine, given: mine is not None and given in mine,
    "startswith": lambda mine, given: mine is not None and mine.startswith(given),
    "endswith": lambda mine, given: mine is not None and mine.endswith(given),
    "in": lambda mine, given: mine in given,
    "nin": lambda mine, given: mine not in given,
}


def query(db: BankDB, table: str, field: str | None = None, value: Any = None) -> str:
    """Return the records of a table as text, or the text of an error.

    Args:
        db: The database.
        table: The name of the table.
        field: The field that is compared; None for every record.
        value: Its value, of any type, which is compared as Python prints it.
    """
    try:
        constraints = json.loads(f'{{"{field}": "{value}"}}') if field is not None else {}
    except json.JSONDecodeError as error:
        return f"Error: Invalid JSON: {error}"
    for name in _RESERVED:
        if name in constraints:
            return f"Error querying database: got multiple values for argument '{name}'"
    comparisons = [(*_comparison(key), value) for key, value in constraints.items() if key not in _OPTIONS]
    records: Table[BankRecord] = getattr(db, table)
    return records_text(table, [(key, record) for key, record in records.peek_items() if _matches(record, comparisons)])


def is_empty(text: str) -> bool:
    """Return whether the text of a query has no records; the text of an error counts as records."""
    return any(phrase in text for phrase in _NOTHING)


def exists(db: BankDB, table: str, field: str, value: Any) -> bool:
    """Return whether a query has a result; an error counts as one."""
    return not is_empty(query(db, table, field, value))


def records_text(table: str, found: Iterable[tuple[str, BankRecord]]) -> str:
    """Return records of a table as text."""
    found = list(found)
    if not found:
        return f"No records found in '{table}'."
    lines = [f"Found {len(found)} record(s) in '{table}':"]
    for position, (key, record) in enumerate(found, 1):
        lines += ["", f"{position}. Record ID: {key}", *(f"   {name}: {value}" for name, value in record.items())]
    return "\n".join(lines) + "\n"


def _comparison(key: str) -> tuple[str, Callable[[Any, Any], bool]]:
    """Return the field that a constraint is about, and how it is compared."""
    field, separator, name = key.rpartition("__")
    return (field, _OPERATORS.get(name, operator.eq)) if separator else (key, operator.eq)


def _matches(record: BankRecord, wanted: list[tuple[str, Callable[[Any, Any], bool], Any]]) -> bool:
    try:
        # A loop: a query looks at every record of a table.
        for field, compare, expected in wanted:
            if not compare(record.get(field), expected):
                return False
    except (TypeError, AttributeError):  # values that cannot be compared
        return False
    return True
