"""States in PostgreSQL: a copy of the database on its server for each simulation."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError, install_extra
from .connections import place_of_connection
from .database_state import check_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from .database_state import DatabaseCopy

_URL = re.compile(r"postgres(?:ql)?(?:\+\w+)?://.*?/(?P<name>[^/?]+)(?:\?|\Z)")


@dataclass(eq=False)
class PostgreSQL:
    """A state in a database of PostgreSQL; made by ``postgresql``.

    Attributes:
        url: The URL of the database, for libpq.
        name: The name of the database.
        connect: The dotted name of the engine that the functions share.
        omit: Globs of columns, as ``table.column``, that are not compared.
    """

    url: str = field(repr=False)  # it may have a password
    name: str
    connect: str
    omit: tuple[str, ...] = ()
    kind = "postgresql"
    _source: Any = field(default=None, init=False, repr=False)

    @property
    def title(self) -> str:
        """The database."""
        return f"the database {self.name!r}"

    def within(self, folder: Path) -> Self:
        """Return the state itself."""
        return self

    def open(self) -> DatabaseCopy:
        """Return a new copy.

        Raises:
            ConfigurationError: The database cannot be copied, or the functions have no engine at the given place.
        """
        if self._source is None:
            _, shared = place_of_connection(self.connect, self.kind)
            try:  # by name: integrations are imported when they are used
                integration = importlib.import_module("pytest_tau.integrations.postgresql")
            except ModuleNotFoundError as error:
                raise ConfigurationError(f"postgresql: needs {error.name}: {install_extra('sql')}") from None
            self._source = integration.Source(self, shared)
        copied: DatabaseCopy = self._source.open()
        return copied

    def release(self) -> None:
        """Drop all copies."""
        source, self._source = self._source, None
        if source is not None:
            source.close()


def postgresql(url: str, *, connect: str, omit: Sequence[str] = ()) -> PostgreSQL:
    """Declare that the state of a domain's functions is in a database of PostgreSQL, for ``domain_of(state=…)``.

    Each simulation has a copy of the database on the same server. While a function of the domain runs, connections of
    the engine reach the copy. It needs the extra ``sql``, and a role that may create databases.

    Args:
        url: The URL of the database, as for SQLAlchemy: ``postgresql+psycopg://localhost/shop``.
        connect: Where the engine of the functions is, by its dotted name such as ``shop.db.engine``: an engine, a
            ``sessionmaker``, both also asynchronous, or a ``scoped_session`` of SQLAlchemy.
        omit: Columns that are not compared, such as ``orders.created_at`` or ``*.created_at``.

    Raises:
        ConfigurationError: The URL is of another database or names none, or a glob has no table.
    """
    named = _URL.match(url)
    if named is None:
        of = url.partition(":")[0]
        expected = "expected postgresql://HOST/DATABASE, or pytest_tau.sqlite(FILE); others cannot be copied"
        raise ConfigurationError(f"postgresql: cannot use a URL that begins with {of!r}: {expected}")
    plain = f"postgresql://{url.partition('://')[2]}"
    return PostgreSQL(plain, named["name"], connect, check_columns("postgresql", omit))
