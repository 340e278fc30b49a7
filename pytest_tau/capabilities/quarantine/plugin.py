"""``--tau-quarantine FILE``: tasks that are known to fail are expected to fail until a date.

The file is TOML::

    [[quarantine]]
    task = "refund-*"            # an id, an item's id, or a glob
    reason = "the policy contradicts the reference"
    domain = "retail"            # optional; every domain without it
    link = "https://example.com/issues/7"  # optional
    until = 2026-12-31           # optional; the last day
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from ...capability import run_of
from ...documents import read_toml
from ...files import id_matches
from ...text import listed, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from ...capability import RunHandle, RunTask
    from ...environment import Domain
    from . import QuarantineSettings

_TABLE = "quarantine"
_REQUIRED, _OPTIONAL = ("task", "reason"), ("domain", "link", "until")
#: The most passed tasks that are named, and the most characters of each.
_MOST, _LONGEST = 10, 200


@dataclass(frozen=True)
class Entry:
    """An entry of the file.

    Attributes:
        number: The position in the file, from 1.
        task: An id or a glob.
        reason: The reason for the failures, for reports.
        domain: The domain of the tasks; None for every domain.
        link: An address with more about it, for reports.
        until: The last day; None if there is none.
    """

    number: int
    task: str
    reason: str
    domain: str | None = None
    link: str | None = None
    until: date | None = None

    @property
    def why(self) -> str:
        """Return reason and link, as reports show them."""
        return f"{self.reason} ({self.link})" if self.link else self.reason

    def expired(self, today: date) -> bool:
        """Return whether the last day is over."""
        return self.until is not None and today > self.until

    def names(self, domain: str, task_id: str) -> bool:
        """Return whether the entry names a task."""
        return self.domain in (None, domain) and id_matches(task_id, self.task)


def make_quarantine(config: pytest.Config, settings: QuarantineSettings) -> Quarantine:
    """Read the file and return the plugin.

    Raises:
        pytest.UsageError: The file cannot be read or has a bad entry; the text has the file, the entry and the field.
    """
    assert settings.quarantine is not None, "the capability is on"
    run = run_of(config)
    try:
        return Quarantine(run, read_entries(settings.quarantine))
    except ValueError as error:
        label = run.label("quarantine")
        raise pytest.UsageError(f"{label}: {settings.quarantine}: {error}") from error


def read_entries(path: Path) -> list[Entry]:
    """Return the entries of a file, in order.

    Raises:
        ValueError: The file cannot be read, is not valid TOML, or has a bad entry.
    """
    try:
        document = read_toml(path)
    except OSError as error:
        raise ValueError(error.strerror) from error
    tables = document.get(_TABLE, [])
    if set(document) - {_TABLE} or not isinstance(tables, list):
        other = next(iter(sorted(set(document) - {_TABLE})), _TABLE)
        raise ValueError(f"expected tables [[{_TABLE}]] and nothing else, got {other!r}")
    return [_entry(number, table) for number, table in enumerate(tables, 1)]


# Not a pydantic model: its errors would have to be translated to these texts, which takes more code than the checks.
def _entry(number: int, table: Any) -> Entry:
    where = f"entry {number}"
    if not isinstance(table, dict):
        raise ValueError(f"{where}: expected a table [[{_TABLE}]], got {table!r}")  # noqa: TRY004 - the file's fault
    for name in table:
        if name not in (*_REQUIRED, *_OPTIONAL):
            raise ValueError(f"{where}: unknown field {name!r}: expected {', '.join((*_REQUIRED, *_OPTIONAL))}")
    for name in _REQUIRED:
        if name not in table:
            raise ValueError(f"{where}: {name}: missing")
    for name in ("task", "reason", "domain", "link"):
        if name in table and not (isinstance(table[name], str) and table[name].strip()):
            raise ValueError(f"{where}: {name}: expected a string, got {table[name]!r}")
    return Entry(number, **{**table, "until": _day(where, table.get("until"))})


def _day(where: str, value: Any) -> date | None:
    if isinstance(value, str):
        with contextlib.suppress(ValueError):  # raised below
            value = date.fromisoformat(value)
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    raise ValueError(f"{where}: until: expected a date such as 2026-12-31, got {value!r}")


class Quarantine:
    """Marks the items in quarantine, and reports what became of them."""

    def __init__(self, run: RunHandle, entries: list[Entry]) -> None:
        self._run = run
        today = datetime.now().astimezone().date()
        self._current = [entry for entry in entries if not entry.expired(today)]
        self._expired = [entry for entry in entries if entry.expired(today)]
        self._entries = {entry.number: entry for entry in entries}

    # Before -k and others deselect: an entry is unmatched if it names no task of the run's domains.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the items in quarantine as expected to fail."""
        specs = {item: spec for item in items if (spec := self._run.task_of(item)) is not None}
        for item, spec in specs.items():
            if (entry := self._entry(spec.domain.name, spec.task.id)) is not None:
                # Explicitly not strict, whatever the ini key ``xfail_strict`` says.
                item.add_marker(pytest.mark.xfail(reason=f"quarantine: {printable(entry.why)}", strict=False))
        if specs:
            self._run.give("quarantine", _unmatched(self._run.known_ids, self._entries.values(), specs.values()))

    def _entry(self, domain: str, task_id: str) -> Entry | None:
        return next((entry for entry in self._current if entry.names(domain, task_id)), None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Report the tasks that may leave the quarantine, and the expired and unmatched entries."""
        for line in self.lines():
            self._run.line(f"quarantine: {line}", yellow=True)

    def lines(self) -> list[str]:
        """Return the texts of these lines."""
        #: The numbers of trials that passed and did not, by domain and task.
        outcomes: dict[tuple[str, str], Counter[bool]] = {}
        for record in self._run.records:
            if self._entry(record.domain, record.task_id) is not None:
                outcomes.setdefault((record.domain, record.task_id), Counter())[record.passed] += 1
        passing = [
            f"{domain}::{one_line(task, _LONGEST)}" for (domain, task), passed in outcomes.items() if not passed[False]
        ]
        lines = []
        if passing:
            lines.append(f"passed in every trial and can be removed: {listed(sorted(passing), _MOST)}")
        lines += [
            f"entry {entry.number}, {entry.task!r}, expired on {entry.until}: {one_line(entry.why, _LONGEST)}"
            for entry in self._expired
        ]
        for unmatched in self._run.given("quarantine")[-1:]:  # every worker finds the same ones
            for number, hint in unmatched.items():
                entry = f"entry {number}, {self._entries[number].task!r}"
                lines.append(f"{entry}, is not a task of this run's domains{hint}")
        return lines


def _unmatched(known_ids: Collection[str], entries: Iterable[Entry], specs: Iterable[RunTask]) -> dict[int, str]:
    """Return the entries that name no task of the run's domains, with a hint to the ids that are spelt alike."""
    from ...errors import suggestion

    domains = {spec.domain.name: spec.domain for spec in specs}
    known = {name: _ids_of(domain) for name, domain in domains.items()}
    # Also tasks of files, and tasks that are not selected.
    everywhere = set(known_ids)
    found: dict[int, str] = {}
    for entry in entries:
        if entry.domain is not None and entry.domain not in domains:
            continue
        ids = everywhere.union(*(known[name] for name in domains if entry.domain in (None, name)))
        if not any(id_matches(task_id, entry.task) for task_id in ids):
            found[entry.number] = suggestion(entry.task, ids)
    return found


def _ids_of(domain: Domain) -> set[str]:
    """Return the ids of a domain's tasks; none if it has no task files of its own, or they cannot be read."""
    from ...errors import TauError

    try:
        return set(domain.tasks_by_id())
    except TauError:
        return set()
