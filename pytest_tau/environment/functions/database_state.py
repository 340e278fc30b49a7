"""States in a database: what each kind does, and which values of its rows are compared."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from ...errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Self

    from ..changes import Change

#: Rows, by table and primary key.
Rows: TypeAlias = dict[str, dict[str, dict[str, Any]]]


class DatabaseCopy(Protocol):
    """The copy of a database for one simulation."""

    def in_place(self) -> AbstractContextManager[None]:
        """Let the functions use the copy meanwhile."""

    def check(self, name: str) -> None:
        """Refuse what function ``name`` has left behind."""

    def snapshot(self) -> Rows:
        """Return the rows, without the columns that are omitted."""

    def merge(self, update: dict[str, Any]) -> None:
        """Change and add rows, which have their primary key as in a snapshot."""

    def close(self) -> None:
        """Remove the copy."""


class DatabaseState(Protocol):
    """A state in a database.

    Attributes:
        kind: The name of the function that declares it.
    """

    kind: str

    @property
    def title(self) -> str:
        """What is copied, for an error."""

    def within(self, folder: Path) -> Self:
        """Return the state with paths relative to a folder."""

    def open(self) -> DatabaseCopy:
        """Return a new copy."""

    def release(self) -> None:
        """Put back what was replaced, at the end of a run."""


def check_columns(kind: str, omit: Sequence[str]) -> tuple[str, ...]:
    """Return globs of columns.

    Raises:
        ConfigurationError: One has no table.
    """
    if isinstance(omit, str) or not all("." in name for name in omit):
        raise ConfigurationError(f"{kind}: omit: expected columns such as ['*.created_at'], got {omit!r}")
    return tuple(omit)


def column_of(change: Change) -> str:
    """Return the column of a value that has changed; all columns of the table if it is a row."""
    table, *key, column = change.path.split("/") if "/" in change.path else (change.path, "*")
    of_row = not key or isinstance(change.expected, dict) or isinstance(change.got, dict)
    return f"{table}.{'*' if of_row else column}"


def advice_for(kind: str, change: Change) -> str:
    """Return the word by which a value is not compared that differs each time."""
    return f'Add omit=["{column_of(change)}"] to {kind}(…) if it is a time or a random id'


def compared_rows(kind: str, rows: Rows, columns: Iterable[str], omit: Sequence[str]) -> Rows:
    """Return rows without the columns that are omitted, and without tables that have no others.

    Args:
        kind: The kind of the database, for the error.
        rows: All rows.
        columns: All columns, as ``table.column``.
        omit: Globs of columns.

    Raises:
        ConfigurationError: A glob matches no column.
    """
    columns = list(columns)
    for glob in omit:
        if not any(fnmatchcase(column, glob) for column in columns):
            raise ConfigurationError(f"{kind}: omit: {glob!r} matches none of {', '.join(columns)}")
    kept = {column for column in columns if not any(fnmatchcase(column, glob) for glob in omit)}
    return {
        table: {key: {name: row[name] for name in row if f"{table}.{name}" in kept} for key, row in of_table.items()}
        for table, of_table in rows.items()
        if any(column.startswith(f"{table}.") for column in kept)
    }
