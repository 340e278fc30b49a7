"""States in SQLite: a copy of the file for each simulation, in which the functions work."""

from __future__ import annotations

import contextlib
import gc
import sqlite3
import sys
import tempfile
import weakref
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from ...errors import ConfigurationError, DomainError, ToolError
from .connections import connection_to
from .database_state import check_columns, compared_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .connections import SharedConnection
    from .database_state import Rows

_URL = "sqlite:///"


@dataclass(frozen=True)
class SQLite:
    """A state in a file of SQLite; made by ``sqlite``.

    Attributes:
        path: The file.
        omit: Globs of columns, as ``table.column``, that are not compared.
        connect: The dotted name of the connection that the functions share; None if each opens the file itself.
    """

    path: Path
    omit: tuple[str, ...] = ()
    connect: str | None = None
    kind = "sqlite"

    @property
    def title(self) -> str:
        """The file."""
        return str(self.path)

    def within(self, folder: Path) -> SQLite:
        """Return the state with the absolute path of its file.

        Args:
            folder: The folder of a relative path.

        Raises:
            ConfigurationError: There is no such file.
        """
        path = (folder / self.path).resolve()
        if not path.is_file():
            raise ConfigurationError(f"sqlite: no file {path}")
        return SQLite(path, self.omit, self.connect)

    def open(self) -> Copy:
        """Return a copy, which ``sqlite3.connect`` opens for the functions."""
        for module in _MODULES:
            if module.connect is _open:
                module.connect = _redirected
        return Copy(self)

    def release(self) -> None:
        """Let ``sqlite3.connect`` open any file as before."""
        for module in _MODULES:
            if module.connect is _redirected:
                module.connect = _open


def sqlite(path: str | Path, *, omit: Sequence[str] = (), connect: str | None = None) -> SQLite:
    """Declare that the state of a domain's functions is in a file of SQLite, for ``domain_of(state=…)``.

    Each simulation has a copy of the file. While a function of the domain runs, ``sqlite3.connect`` of the file opens
    the copy.

    Args:
        path: The file, relative to the one that calls ``domain_of``, or its URL for SQLAlchemy, ``sqlite:///shop.db``.
        omit: Columns that are not compared, such as ``orders.created_at`` or ``*.created_at``.
        connect: Where the functions find a connection that they share, by its dotted name such as ``shop.db.engine``:
            a connection of ``sqlite3``, or an engine, a ``sessionmaker``, both also asynchronous, or a
            ``scoped_session`` of SQLAlchemy. While a function runs, it reaches the copy.

    Raises:
        ConfigurationError: The URL is of another database, or a glob has no table.
    """
    text = str(path)
    if "://" in text and not text.startswith(_URL):
        of = urlsplit(text).scheme
        known = f"expected a file, {_URL}FILE, or pytest_tau.postgresql(URL) for PostgreSQL"
        raise ConfigurationError(f"sqlite: {of!r} cannot be copied: {known}")
    return SQLite(Path(text.removeprefix(_URL).partition("?")[0]), check_columns("sqlite", omit), connect)


class Copy:
    """The copy of a file for one simulation.

    Args:
        state: What it is a copy of.

    Raises:
        ConfigurationError: There is no connection at the given place.
    """

    def __init__(self, state: SQLite) -> None:
        self._state = state
        folder = tempfile.mkdtemp(prefix="tau-sqlite-")
        self._end = weakref.finalize(self, rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / state.path.name
        with contextlib.closing(_open(f"{state.path.as_uri()}?mode=ro", uri=True)) as original, self._opened() as copy:
            original.backup(copy)
        self._before = _fingerprint(state.path)
        self._shared: SharedConnection | None = None
        if state.connect is not None:
            self._shared = connection_to(self.path, state.connect, _to_copy(self.path))
            self._end_shared = weakref.finalize(self, self._shared.close)
        self._opened_by_functions: list[weakref.ref[Any]] = []

    def close(self) -> None:
        """Close the connection, and remove the file."""
        if self._shared is not None:
            self._end_shared()
        self._end()

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the functions use the copy meanwhile."""
        token = _CURRENT.set(self)
        try:
            with self._shared.in_place() if self._shared else contextlib.nullcontext():
                yield
        finally:
            _CURRENT.reset(token)

    def check(self, name: str) -> None:
        """Refuse a change of the file itself, and a connection to the copy that is kept.

        Args:
            name: The function that has run.

        Raises:
            DomainError: It is refused.
        """
        self._check_file(repr(name))
        opened, self._opened_by_functions = self._opened_by_functions, []
        if any(map(_is_kept, opened)):
            raise DomainError(f"{name!r} keeps a connection to {self._state.path.name} for later calls: {_CONNECT}")
        if self._shared is not None and self._shared.is_kept():
            raise DomainError(
                f"{name!r} keeps a connection or a session open: close it in the function, as by `with`, or name the "
                "scoped_session in sqlite(…, connect=…), which is removed after each call"
            )

    def _check_file(self, after: str) -> None:
        if _fingerprint(self._state.path) != self._before:
            raise DomainError(
                f"{self._state.path} itself was changed during a trial (noticed after {after}), not its copy: by "
                f"another program, or over a connection that is not replaced: {_CONNECT}"
            )

    def connect(self, connect: Callable[..., Any], database: Any, *args: Any, **keywords: Any) -> Any:
        """Open the copy instead of the file; any other database as it is."""
        named = unquote(urlsplit(database).path) if _is_uri(database) else database
        if not isinstance(named, str | Path) or not self._is_meant(Path(named)):
            return connect(database, *args, **keywords)
        if _is_by_sqlalchemy():
            raise DomainError(f"an engine of SQLAlchemy opens {self._state.path.name} in a pool: {_CONNECT}")
        of = keywords.pop("factory", sqlite3.Connection)
        made = connect(_instead_of(database, self.path), *args, factory=type(of.__name__, (of,), {}), **keywords)
        self._opened_by_functions.append(weakref.ref(made))
        return made

    def _is_meant(self, path: Path) -> bool:
        """Return whether a path is that of the file, also if it is relative to another folder than the current one."""
        state, parts = self._state.path, path.parts
        return path.resolve() == state or (
            bool(parts) and not path.is_absolute() and not path.exists() and state.parts[-len(parts) :] == parts
        )

    def rows(self) -> Rows:
        """Return all rows, by table and primary key."""
        with self._opened() as copy:
            return {table: _rows(copy, table) for table in _tables(copy)}

    def snapshot(self) -> Rows:
        """Return the rows without the columns that are omitted, and without tables that have no others.

        Raises:
            ConfigurationError: A glob matches no column.
        """
        self._check_file("the last call")
        found = self.rows()
        with self._opened() as copy:
            columns = [f"{table}.{name}" for table in found for name in _columns(copy, table)]
        return compared_rows("sqlite", found, columns, self._state.omit)

    def merge(self, update: dict[str, Any]) -> None:
        """Change and add rows, which have their primary key as in a snapshot.

        Raises:
            ToolError: A table or a column is unknown, or a row does not fit.
        """
        with self._opened() as copy:
            known = _tables(copy)
            for table, rows in update.items():
                if table not in known:
                    raise ToolError(f"initialization_data: unknown table {table!r}: expected {', '.join(known)}")
                for key, values in rows.items():
                    try:
                        _merge_row(copy, table, key, values)
                    except (sqlite3.Error, TypeError, AttributeError) as error:
                        raise ToolError(f"initialization_data: {table}/{key}: {error}") from error
            copy.commit()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(_open(self.path)) as connection:
            yield connection


_CONNECT = (
    'name the connection that the functions share in sqlite(…, connect="module.attribute"), and let them open the file '
    "with sqlite3.connect otherwise"
)
#: The copy of the simulation whose function runs.
_CURRENT: ContextVar[Copy | None] = ContextVar("tau_sqlite_copy", default=None)
_open = sqlite3.connect


def _redirected(database: Any, *args: Any, **keywords: Any) -> Any:
    copy = _CURRENT.get()
    return _open(database, *args, **keywords) if copy is None else copy.connect(_open, database, *args, **keywords)


#: The modules from which programs and libraries take ``connect``.
_MODULES: tuple[Any, ...] = (sqlite3, sqlite3.dbapi2)


def _is_uri(database: Any) -> bool:
    return isinstance(database, str) and database.startswith("file:")


def _instead_of(database: Any, path: Path) -> str:
    """Return the name of a copy in the form of a name of the file: a path, or a URI with its query."""
    return f"{path.as_uri()}?{urlsplit(database).query}" if _is_uri(database) else str(path)


def _to_copy(path: Path) -> Callable[[list[Any], dict[str, Any]], list[Any]]:
    def to_copy(arguments: list[Any], keywords: dict[str, Any]) -> list[Any]:
        if "database" in keywords:
            keywords["database"] = _instead_of(keywords["database"], path)
            return arguments
        return [_instead_of(arguments[0], path), *arguments[1:]]

    return to_copy


def _is_kept(connection: weakref.ref[Any]) -> bool:
    """Return whether there are more references to a connection than its own, in the cache of its statements.

    One that is not kept is closed, as a collection of garbage would: it may hold a lock.
    """
    plain: Any = _open(":memory:", factory=type("Connection", (sqlite3.Connection,), {}))
    found = connection()
    own = sys.getrefcount(plain)
    plain.close()
    if found is None or sys.getrefcount(found) > own:
        return found is not None
    try:
        found.close()
    except sqlite3.ProgrammingError:  # it is of another thread
        del found
        gc.collect()
    return False


def _is_by_sqlalchemy() -> bool:
    # Of ``connect``, ``_redirected`` and this function.
    return str(sys._getframe(3).f_globals.get("__name__", "")).startswith("sqlalchemy.")  # noqa: SLF001


def _fingerprint(path: Path) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for file in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = file.stat()
        except FileNotFoundError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size) if status.st_size else None)
    return found


def _tables(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"
    return [name for (name,) in connection.execute(query)]


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]


def _key_of(connection: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns of the primary key of a table, in their order in it; empty without one."""
    info = [row for row in connection.execute(f"PRAGMA table_info({_quoted(table)})") if row[5]]
    return [row[1] for row in sorted(info, key=lambda row: row[5])]


def _rows(connection: sqlite3.Connection, table: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a table by primary key; by number if it has none."""
    names, key = _columns(connection, table), _key_of(connection, table)
    order = ", ".join(map(_quoted, key)) or "rowid"
    query = f"SELECT * FROM {_quoted(table)} ORDER BY {order}"  # noqa: S608 - all names are quoted
    found: dict[str, dict[str, Any]] = {}
    for number, values in enumerate(connection.execute(query), start=1):
        row = {name: _plain(value) for name, value in zip(names, values, strict=True)}
        found[",".join(str(row[name]) for name in key) if key else str(number)] = row
    return found


def _merge_row(connection: sqlite3.Connection, table: str, key: str, values: dict[str, Any]) -> None:
    """Change a row, or add it."""
    names = _key_of(connection, table)
    parts = [key] if len(names) == 1 else key.split(",")
    if not names or len(parts) != len(names):
        raise TypeError(f"expected a value for each column of the primary key, which has {len(names)}")
    where = " AND ".join(f"{_quoted(name)} = ?" for name in names)
    settings = ", ".join(f"{_quoted(name)} = ?" for name in values)
    change = f"UPDATE {_quoted(table)} SET {settings} WHERE {where}"  # noqa: S608 - all names are quoted
    if values and connection.execute(change, [*values.values(), *parts]).rowcount:
        return
    row = {**dict(zip(names, parts, strict=True)), **values}
    columns, marks = ", ".join(map(_quoted, row)), ", ".join("?" * len(row))
    add = f"INSERT INTO {_quoted(table)} ({columns}) VALUES ({marks})"  # noqa: S608 - all names are quoted
    connection.execute(add, [*row.values()])


def _plain(value: Any) -> Any:
    return f"0x{value.hex()}" if isinstance(value, bytes) else value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
