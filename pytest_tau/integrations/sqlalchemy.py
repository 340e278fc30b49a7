"""Engines of SQLAlchemy that reach the copy of a database while a function runs."""

from __future__ import annotations

import contextlib
import gc
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, NullPool, event
from sqlalchemy.orm import scoped_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def engine_of(shared: Any, dialect: str) -> Engine | None:
    """Return the engine of what functions share; None if there is none for a kind of database.

    Args:
        shared: An engine or a ``sessionmaker``, also an asynchronous one, or a ``scoped_session``.
        dialect: The name of the kind, such as ``sqlite``.
    """
    factory = shared.session_factory if isinstance(shared, scoped_session) else shared
    bind = getattr(factory, "kw", {}).get("bind", factory)
    engine = getattr(bind, "sync_engine", bind)
    return engine if isinstance(engine, Engine) and engine.dialect.name == dialect else None


class EngineOnCopy:
    """An engine that reaches the copy of its database while a function runs.

    Meanwhile it has another pool, with the settings and the listeners of its own.

    Args:
        engine: The engine.
        shared: What the functions share: the engine, or what makes sessions of it.
        to_copy: Returns the positional arguments of a connection to the copy for those of one to the database, and
            changes the keywords.
    """

    def __init__(self, engine: Engine, shared: Any, to_copy: Callable[[list[Any], dict[str, Any]], list[Any]]) -> None:
        self._engine, self._to_copy = engine, to_copy
        self._sessions = shared if isinstance(shared, scoped_session) else None
        own = engine.pool
        if engine.dialect.is_async:  # only the event loop of the functions could close what a pool keeps
            self._pool: Any = NullPool(own._creator, dialect=engine.dialect, _dispatch=own.dispatch)  # noqa: SLF001
        else:
            self._pool = own.recreate()
        self._calls = self._connections = 0
        for name, step in (("checkout", 1), ("checkin", -1), ("detach", -1)):
            event.listen(self._pool, name, self._counter(step))
        event.listen(engine, "do_connect", self._connect)

    def close(self) -> None:
        """Close the connections to the copy."""
        event.remove(self._engine, "do_connect", self._connect)
        self._pool.dispose()

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Let the engine reach the copy meanwhile."""
        before, self._engine.pool = self._engine.pool, self._pool
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            if self._sessions is not None and not self._calls:
                self._sessions.remove()
            self._engine.pool = before

    def is_kept(self) -> bool:
        """Return whether a function that has ended keeps a connection, which no collection of garbage gives back."""
        if self._calls or not self._connections:
            return False
        gc.collect()  # sessions are in circles
        return self._connections > 0

    def _counter(self, step: int) -> Callable[..., None]:
        def count(*_: Any) -> None:
            self._connections += step

        return count

    def _connect(self, dialect: Any, _record: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if not self._calls:
            return None
        keywords = {**keywords}
        return dialect.connect(*self._to_copy([*arguments], keywords), **keywords)
