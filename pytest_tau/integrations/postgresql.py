"""Copies of a database of PostgreSQL on its server.

The copies of a process have its number in their names, and the process holds an advisory lock of this number. The
server releases the lock of a process that has crashed, so that a later run knows its copies, and drops them.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from ..environment.changes import place_text, value_changes
from ..environment.functions.database_state import compared_rows
from ..errors import ConfigurationError, DomainError, ToolError
from .postgresql_rows import merge_row, rows_of, tables_of
from .sqlalchemy import EngineOnCopy, engine_of

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..environment.functions.database_state import Rows
    from ..environment.functions.postgresql_state import PostgreSQL

#: The first number of advisory locks, which are of two numbers.
_LOCKS = 0x7461
_COPIES = r"""
SELECT datname FROM pg_database WHERE datname ~ '^tau_copy_\d+_\d+$' AND pg_get_userbyid(datdba) = current_user
"""
_OTHERS = """
SELECT DISTINCT coalesce(nullif(application_name, ''), usename::text) FROM pg_stat_activity WHERE datname = %s
"""


class Source:
    """The database that is copied, and the engine of the functions.

    Args:
        state: The declaration.
        shared: The engine, or the factory of sessions, that the functions share.

    Raises:
        ConfigurationError: The database cannot be reached or copied, or there is no engine for PostgreSQL.
    """

    def __init__(self, state: PostgreSQL, shared: Any) -> None:
        engine = engine_of(shared, "postgresql")
        if engine is None:
            expected = "expected an engine, a sessionmaker or a scoped_session of SQLAlchemy for PostgreSQL"
            raise ConfigurationError(
                f"postgresql: connect: {state.connect!r}: {expected}, got a {type(shared).__qualname__}"
            )
        self.state, self._engine, self._shared = state, engine, shared
        self._numbers, self._lock = itertools.count(1), threading.Lock()
        self._drops = ThreadPoolExecutor(max_workers=1)
        self._copies: weakref.WeakSet[Copy] = weakref.WeakSet()
        try:
            # A declaration is committed, and need not have the password that the engine has.
            password = conninfo_to_dict(state.url).get("password") or engine.url.password
            self.url = make_conninfo(state.url, password=password)
            self._server = psycopg.connect(self.url, dbname="postgres", autocommit=True)
        except psycopg.Error as error:
            raise ConfigurationError(f"postgresql: the server does not answer: {error}") from None
        try:
            self._drop_what_is_left()
            self._number = next(number for number in iter(lambda: secrets.randbelow(2**31), -1) if self._locks(number))
            self.first = self._name(0)
            engine.dispose(close=not engine.dialect.is_async)  # a database with connections cannot be copied
            self._create(self.first, state.name)
        except BaseException:
            self._server.close()
            raise
        self._end = weakref.finalize(self, _end, self._server, self.url, self._name(0).removesuffix("0"))
        self.rows = self._rows_of(self.first)

    def open(self) -> Copy:
        """Return a new copy.

        Raises:
            ConfigurationError: It cannot be made.
        """
        with self._lock:
            name = self._name(next(self._numbers))
        self._create(name, self.first)
        copy = Copy(self, name)
        self._copies.add(copy)
        return copy

    def close(self) -> None:
        """Drop all copies, and let the engine reach the database itself."""
        for copy in [*self._copies]:
            copy.close()
        self._drops.shutdown()
        self._end()

    def engine_on(self, name: str) -> EngineOnCopy:
        """Return the engine of the functions, for a copy."""

        def to_copy(arguments: list[Any], keywords: dict[str, Any]) -> list[Any]:
            keywords["database" if "database" in keywords else "dbname"] = name
            return arguments

        return EngineOnCopy(self._engine, self._shared, to_copy)

    def connected(self, name: str) -> psycopg.Connection[Any]:
        """Return a connection to a database of the server."""
        return psycopg.connect(self.url, dbname=name)

    def drop(self, name: str) -> None:
        """Drop a copy, in the background: the server writes all that it has in memory before."""
        try:
            self._drops.submit(_drop, self.url, name)
        except RuntimeError:  # the interpreter ends
            _drop(self.url, name)

    def check(self) -> None:
        """Refuse a change of the database itself.

        Raises:
            DomainError: It was changed.
        """
        change = next(value_changes("", self.rows, self._rows_of(self.state.name)), None)
        if change is not None:
            raise DomainError(
                f"the database {self.state.name!r} itself was changed while tests run, not the copy of a trial: "
                f"{place_text(change)}: by another program, or not over {self.state.connect}"
            )

    def _rows_of(self, name: str) -> Rows:
        with self.connected(name) as connection:
            return {table.name: rows_of(connection, table) for table in tables_of(connection)}

    def _name(self, number: int) -> str:
        return f"tau_copy_{self._number}_{number}"

    def _create(self, name: str, template: str) -> None:
        command = SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template))
        try:
            self._server.execute(command)
        except psycopg.errors.ObjectInUse:
            others = ", ".join(str(other) for (other,) in self._server.execute(_OTHERS, [template]))
            raise ConfigurationError(
                f"postgresql: {template!r} cannot be copied while others are connected to it ({others}): end them, or "
                "let the tests use a database of their own"
            ) from None
        except psycopg.Error as error:
            raise ConfigurationError(f"postgresql: {template!r} cannot be copied: {error}") from None

    def _locks(self, number: int) -> bool:
        row = self._server.execute("SELECT pg_try_advisory_lock(%s, %s)", [_LOCKS, number]).fetchone()
        return bool(row and row[0])

    def _drop_what_is_left(self) -> None:
        """Drop the copies of processes that have ended without."""
        names = sorted(name for (name,) in self._server.execute(_COPIES))
        for number, of_process in itertools.groupby(names, key=lambda name: int(name.split("_")[2])):
            if self._locks(number):
                for name in of_process:
                    _drop(self.url, name)
                self._server.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCKS, number])


class Copy:
    """The copy of a database for one simulation."""

    def __init__(self, source: Source, name: str) -> None:
        self._source, self._name = source, name
        self._engine = source.engine_on(name)
        self._end = weakref.finalize(self, _leave, self._engine, source, name)

    def close(self) -> None:
        """Drop the copy."""
        self._end()

    def in_place(self) -> AbstractContextManager[None]:
        """Let the engine reach the copy meanwhile."""
        return self._engine.in_place()

    def check(self, name: str) -> None:
        """Refuse a connection to the copy that is kept.

        Raises:
            DomainError: The function keeps one.
        """
        if self._engine.is_kept():
            raise DomainError(
                f"{name!r} keeps a connection or a session open: close it in the function, as by `with`, or name the "
                "scoped_session in postgresql(…, connect=…), which is removed after each call"
            )

    def snapshot(self) -> Rows:
        """Return the rows without the columns that are omitted.

        Raises:
            ConfigurationError: A glob matches no column.
            DomainError: The database itself was changed.
        """
        self._source.check()
        with self._source.connected(self._name) as connection:
            tables = tables_of(connection)
            rows = {table.name: rows_of(connection, table) for table in tables}
        columns = [f"{table.name}.{column}" for table in tables for column in table.columns]
        return compared_rows("postgresql", rows, columns, self._source.state.omit)

    def merge(self, update: dict[str, Any]) -> None:
        """Change and add rows, which have their primary key as in a snapshot.

        Raises:
            ToolError: A table or a column is unknown, or a row does not fit.
        """
        with self._source.connected(self._name) as connection:
            tables = {table.name: table for table in tables_of(connection)}
            for name, rows in update.items():
                if name not in tables:
                    raise ToolError(f"initialization_data: unknown table {name!r}: expected {', '.join(tables)}")
                for key, values in rows.items():
                    try:
                        merge_row(connection, tables[name], key, values)
                    except (psycopg.Error, TypeError, AttributeError) as error:
                        problem = getattr(getattr(error, "diag", None), "message_primary", None) or error
                        raise ToolError(f"initialization_data: {name}/{key}: {problem}") from error


def _leave(engine: EngineOnCopy, source: Source, name: str) -> None:
    engine.close()
    source.drop(name)


def _drop(url: str, name: str) -> None:
    with contextlib.suppress(psycopg.Error), psycopg.connect(url, dbname="postgres", autocommit=True) as server:
        server.execute(SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name)))


def _end(server: psycopg.Connection[Any], url: str, prefix: str) -> None:
    with contextlib.suppress(psycopg.Error):  # the next run drops what is left
        for (name,) in server.execute(_COPIES).fetchall():
            if name.startswith(prefix):
                _drop(url, name)
    server.close()
