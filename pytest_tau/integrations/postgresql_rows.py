"""Rows of tables in a database of PostgreSQL, as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    import psycopg

#: The tables that are not of an extension, with their columns and those of the primary key.
_TABLES = r"""
SELECT n.nspname, c.relname,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum),
    ARRAY(SELECT a.attname::text FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY k(number, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number
          WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY k.place)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
ORDER BY 1, 2
"""


class Table(NamedTuple):
    """A table, with the columns of its primary key."""

    schema: str
    relation: str
    columns: list[str]
    key: list[str]

    @property
    def name(self) -> str:
        """The name in states, with the schema if it is not ``public``."""
        return self.relation if self.schema == "public" else f"{self.schema}.{self.relation}"

    @property
    def quoted(self) -> Identifier:
        """The name in queries."""
        return Identifier(self.schema, self.relation)


def tables_of(connection: psycopg.Connection[Any]) -> list[Table]:
    """Return the tables of a database, by schema and name."""
    return [Table(*row) for row in connection.execute(_TABLES)]


def rows_of(connection: psycopg.Connection[Any], table: Table) -> dict[str, dict[str, Any]]:
    """Return the rows of a table as JSON values, by primary key; by number if it has none."""
    order = SQL(", ").join(map(Identifier, table.key)) if table.key else SQL("to_jsonb(t)::text")
    query = SQL("SELECT to_jsonb(t) FROM {} AS t ORDER BY {}").format(table.quoted, order)
    rows = [row for (row,) in connection.execute(query)]
    return {
        ",".join(str(row[name]) for name in table.key) or str(number): row for number, row in enumerate(rows, start=1)
    }


def merge_row(connection: psycopg.Connection[Any], table: Table, key: str, values: dict[str, Any]) -> None:
    """Change a row, or add it.

    Raises:
        TypeError: The key does not have a value for each column of the primary key.
        psycopg.Error: The row does not fit.
    """
    parts = [key] if len(table.key) == 1 else key.split(",")
    if not table.key or len(parts) != len(table.key):
        raise TypeError(f"expected a value for each column of the primary key, which has {len(table.key)}")
    row = {**dict(zip(table.key, parts, strict=True)), **values}
    of_row, names = SQL("jsonb_populate_record(NULL::{}, {})").format(table.quoted, SQL("%s")), table.quoted
    if values:
        where = SQL(" AND ").join(SQL("t.{} = new.{}").format(Identifier(name), Identifier(name)) for name in table.key)
        to = SQL(", ").join(SQL("{} = new.{}").format(Identifier(name), Identifier(name)) for name in values)
        change = SQL("UPDATE {} AS t SET {} FROM {} AS new WHERE {}").format(names, to, of_row, where)
        if connection.execute(change, [Jsonb({**row, **dict(zip(table.key, parts, strict=True))})]).rowcount:
            return
    columns = SQL(", ").join(map(Identifier, row))
    connection.execute(
        SQL("INSERT INTO {} ({}) SELECT {} FROM {}").format(names, columns, columns, of_row), [Jsonb(row)]
    )
