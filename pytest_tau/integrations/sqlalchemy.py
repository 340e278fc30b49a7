"""Engines of SQLAlchemy, and equal ones for another file of SQLite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import scoped_session, sessionmaker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def engine_of(shared: Any, dialect: str) -> Engine | None:
    """Return the engine of what functions share; None if there is none for a kind of database.

    Args:
        shared: An engine, a ``sessionmaker`` or a ``scoped_session``.
        dialect: The name of the kind, such as ``sqlite``.
    """
    factory = shared.session_factory if isinstance(shared, scoped_session) else shared
    bind = factory.kw.get("bind") if isinstance(factory, sessionmaker) else shared
    return bind if isinstance(bind, Engine) and bind.dialect.name == dialect else None


def connection_of(like: Any, path: Path) -> tuple[Any, Callable[[], Any]] | None:
    """Return an engine or a factory of sessions for a file, and what closes it; None for anything else.

    Args:
        like: An engine, a ``sessionmaker`` or a ``scoped_session`` for SQLite, to which it is equal otherwise.
        path: The file.
    """
    factory = like.session_factory if isinstance(like, scoped_session) else like
    bind = engine_of(like, "sqlite")
    if bind is None:
        return None
    engine = create_engine(bind.url.set(database=str(path)), echo=bind.echo)
    if not isinstance(factory, sessionmaker):
        return engine, engine.dispose
    made: Any = sessionmaker(class_=factory.class_, **{**factory.kw, "bind": engine})
    return scoped_session(made) if isinstance(like, scoped_session) else made, engine.dispose
