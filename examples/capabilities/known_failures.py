"""Tasks that are known to fail are expected to: ``--tau-known-failures FILE``, a TOML file::

    [[known]]
    task = "refund-*"                      # an id, or a glob
    reason = "the policy contradicts the reference"
    until = 2026-12-31                     # optional; the last day

The summary names what passes now, what is no longer expected, and what names no task; ``run.json`` has it as notes.
"""

import tomllib
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pytest_tau import Capability, option, run_of


@dataclass(frozen=True)
class Settings:
    known_failures: Path = option(Path, "session", "FILE", path=True, rerun=0, help="tasks that may fail")


@dataclass(frozen=True)
class Known:
    task: str
    reason: str
    until: date | None = None

    def names(self, task_id):
        return fnmatchcase(task_id, self.task)

    @property
    def is_over(self):
        return self.until is not None and self.until < datetime.now().astimezone().date()


def read(path):
    """Return the entries of a file; a ``ValueError`` says which field is wrong."""
    with path.open("rb") as file:
        tables = tomllib.load(file).get("known", [])
    for number, table in enumerate(tables, 1):
        for name, kind in (("task", str), ("reason", str), ("until", date)):
            if not isinstance(table.get(name), kind) and (name != "until" or name in table):
                raise ValueError(f"entry {number}: {name}: expected a {kind.__name__}, got {table.get(name)!r}")
        if unknown := table.keys() - {"task", "reason", "until"}:
            raise ValueError(f"entry {number}: unknown field {min(unknown)!r}: expected task, reason, until")
    return [Known(**table) for table in tables]


class KnownFailures:
    """Marks the items of known failures, and reports what became of them."""

    def __init__(self, run, entries):
        self.run, self.entries = run, entries

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        tasks = {item: found.task.id for item in items if (found := self.run.task_of(item)) is not None}
        commands = {}
        for item, task_id in tasks.items():
            if (known := self.entry(task_id)) is not None:
                item.add_marker(pytest.mark.xfail(reason=f"known: {known.reason}", strict=False))
                commands[task_id] = self.run.trial_of(item).command()
        unmatched = [known.task for known in self.entries if not any(map(known.names, self.run.known_ids))]
        if tasks:
            self.run.give("known_failures", [unmatched, commands])

    def entry(self, task_id):
        return next((known for known in self.entries if known.names(task_id) and not known.is_over), None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        found = self.run.given("known_failures")  # every worker finds the same
        if self.run.is_worker or not found:
            return
        unmatched, commands = found[-1]
        of_task = {}
        for record in self.run.records:
            if self.entry(record.task_id) is not None:
                of_task.setdefault(record.task_id, []).append(record.passed)
        passing = sorted(task_id for task_id, passed in of_task.items() if all(passed))
        for task_id in passing:
            self.run.line(f"known failures: {task_id} passes now: {commands[task_id]}", yellow=True)
        for known in self.entries:
            if known.is_over:
                self.run.line(f"known failures: {known.task!r} is expected no longer than {known.until}", yellow=True)
        for name in unmatched:
            self.run.line(f"known failures: {name!r} names no task of this run", yellow=True)
        self.run.note("known_failures", {"passing": passing, "unmatched": unmatched})


def hooks(config, settings):
    run = run_of(config)
    try:
        return KnownFailures(run, read(settings.known_failures))
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"{run.label('known_failures')}: {settings.known_failures}: {error}") from error


capability = Capability(name="known_failures", settings=Settings, hooks=hooks)
