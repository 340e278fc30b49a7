"""Connections that functions share, and what stands for them in the copy of a file of SQLite."""

from __future__ import annotations

import contextlib
import importlib
import sqlite3
from typing import TYPE_CHECKING, Any, Protocol

from ...errors import ConfigurationError, is_interrupt
from .places import Attribute, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path


def place_of_connection(target: str, kind: str) -> tuple[Attribute, Any]:
    """Return the place of a connection by its dotted name, and the connection.

    Args:
        target: The dotted name.
        kind: The kind of the database, for the error.

    Raises:
        ConfigurationError: It cannot be found.
    """
    try:
        place, value = next(iter(resolve(target)))
    except BaseException as error:
        if is_interrupt(error):
            raise
        # A foreign module may raise anything while it is imported.
        problem = f"cannot be found: {type(error).__name__}: {error}"
        raise ConfigurationError(f"{kind}: connect: {target!r}: {problem}") from error
    if place is None:
        raise ConfigurationError(f"{kind}: connect: {target!r}: expected a connection, got a module")
    return place, value


class SharedConnection(Protocol):
    """What functions share, for the copy of a file."""

    def in_place(self) -> AbstractContextManager[None]:
        """Let the functions use it meanwhile."""

    def is_kept(self) -> bool:
        """Return whether a function that has ended keeps a connection."""

    def close(self) -> None:
        """Close the connections to the copy."""


class _Connection:
    """A connection of ``sqlite3`` that stands for another one while a function runs."""

    def __init__(self, place: Attribute, connection: sqlite3.Connection) -> None:
        self._place, self._connection = place, connection

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        undo = self._place.put(self._connection)
        try:
            yield
        finally:
            undo()

    def is_kept(self) -> bool:
        return False

    def close(self) -> None:
        self._connection.close()


def connection_to(
    path: Path, target: str, to_copy: Callable[[list[Any], dict[str, Any]], list[Any]]
) -> SharedConnection:
    """Return what functions share, for the copy of a file of SQLite.

    Args:
        path: The copy.
        target: The dotted name of a connection of ``sqlite3``, of None for one that is opened later, or of an engine, a
            ``sessionmaker`` or a ``scoped_session`` of SQLAlchemy.
        to_copy: Returns the positional arguments of a connection to the copy for those of one to the file, and changes
            the keywords.

    Raises:
        ConfigurationError: It cannot be found, or is something else.
    """
    place, like = place_of_connection(target, "sqlite")
    if like is None or isinstance(like, sqlite3.Connection):
        made = sqlite3.connect(path, check_same_thread=False)
        if like is not None:
            made.row_factory, made.text_factory = like.row_factory, like.text_factory
            made.isolation_level = like.isolation_level
        return _Connection(place, made)
    if type(like).__module__.startswith("sqlalchemy."):
        # By name: integrations are imported when they are used, and may use what stands above this package.
        integration = importlib.import_module("pytest_tau.integrations.sqlalchemy")
        engine = integration.engine_of(like, "sqlite")
        if engine is not None:
            shared: SharedConnection = integration.EngineOnCopy(engine, like, to_copy)
            return shared
    expected = "expected a connection of sqlite3, or an engine, a sessionmaker or a scoped_session of SQLAlchemy"
    raise ConfigurationError(f"sqlite: connect: {target!r}: {expected} for SQLite, got a {type(like).__qualname__}")
