"""Recorded behaviour of the reference is in a folder next to the repository; without it, these tests are skipped."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import Table, canonical
from pytest_tau.environment.records import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.environment import Database

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications, official data, conformance vectors and traces."""
    if not (SHARED / "conformance" / "check.py").is_file():
        pytest.skip(f"needs recorded behaviour of the reference in {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def official_data(shared: Path) -> Path:
    """The official data, laid out as τ²-bench's ``data/tau2``."""
    return shared / "tau2-data"


@pytest.fixture(scope="session")
def recorded_form() -> Callable[[Database, Database], dict[str, dict[str, Any]]]:
    """Return a function that lists what differs as the recordings do: the old and the new value, by path.

    There, lists of different lengths differ as a whole. It compares the records that ``Database.changes`` names.
    """

    def form(before: Database, after: Database) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for place in dict.fromkeys("/".join(change.path.split("/")[:2]) for change in before.changes(after)):
            table, _, key = place.partition("/")
            sides = getattr(before, table), getattr(after, table)
            if key and hasattr(sides[0], "peek"):
                sides = sides[0].peek(key), sides[1].peek(key)
            found |= _differences(f"/{place}" if key else f"/{table}", *map(plain, sides))
        return found

    return form


@pytest.fixture(scope="session")
def digest_of() -> Callable[[Database], str]:
    """Return a function that returns what ``Database.digest`` does, of databases whose tables are objects.

    The text of a record that states share, because none of them has touched it, is made once.
    """
    shared_texts: dict[int, tuple[Any, str]] = {}

    def text_of(table: Table[Any], key: str) -> str:
        record = table.peek(key)
        if key in table.touched:
            return canonical(record)
        if id(record) not in shared_texts:
            shared_texts[id(record)] = record, canonical(record)  # with the record, or another might get its id
        return shared_texts[id(record)][1]

    def digest(database: Database) -> str:
        tables = []
        for name, table in sorted(vars(database).items()):
            assert type(table) is Table and not (table.ordered or table.notes), name
            records = ", ".join(f"{canonical(key)}: {text_of(table, key)}" for key in sorted(table))
            tables.append(f'"{name}": {{{records}}}')
        return hashlib.sha256(f"{{{', '.join(tables)}}}".encode()).hexdigest()

    return digest


def _differences(path: str, old: Any, new: Any) -> dict[str, dict[str, Any]]:
    if canonical(old) == canonical(new):
        return {}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        old, new = dict(enumerate(old)), dict(enumerate(new))
    if not isinstance(old, dict) or not isinstance(new, dict):
        # A record is a whole, and None one that is not there.
        record = path.count("/") == 2
        return {path: {name: value for name, value in (("old", old), ("new", new)) if value is not None or not record}}
    found: dict[str, dict[str, Any]] = {}
    for key in [*old, *(key for key in new if key not in old)]:
        if key in old and key in new:
            found |= _differences(f"{path}/{key}", old[key], new[key])
        else:
            found[f"{path}/{key}"] = {"old": old[key]} if key in old else {"new": new[key]}
    return found
