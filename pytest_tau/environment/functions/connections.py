"""Connections that functions share, and equal ones for another file of SQLite."""

from __future__ import annotations

import importlib
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from ...errors import ConfigurationError, is_interrupt
from .places import Attribute, resolve

if TYPE_CHECKING:
    from collections.abc import Callable
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


class Connection(NamedTuple):
    """A connection, and what closes it."""

    value: Any
    close: Callable[[], Any]


def connection_of(like: Any, path: Path, what: str) -> Connection:
    """Return a connection to a file that is otherwise like another one.

    Args:
        like: A connection of ``sqlite3``, None for one that is opened later, or an engine, a ``sessionmaker`` or a
            ``scoped_session`` of SQLAlchemy.
        path: The file.
        what: What it is, for the error.

    Raises:
        ConfigurationError: It is something else.
    """
    if like is None or isinstance(like, sqlite3.Connection):
        made = sqlite3.connect(path, check_same_thread=False)
        if like is not None:
            made.row_factory, made.text_factory = like.row_factory, like.text_factory
            made.isolation_level = like.isolation_level
        return Connection(made, made.close)
    if type(like).__module__.startswith("sqlalchemy."):
        # By name: integrations are imported when they are used, and may use what stands above this package.
        made = importlib.import_module("pytest_tau.integrations.sqlalchemy").connection_of(like, path)
        if made is not None:
            return Connection(*made)
    expected = (
        "expected a connection of sqlite3, or an engine, a sessionmaker or a scoped_session of SQLAlchemy for SQLite"
    )
    raise ConfigurationError(f"{what}: {expected} for SQLite, got a {type(like).__qualname__}")
