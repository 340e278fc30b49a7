"""Counts what is found of planted faults, and shows it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_tau.lint import Finding

    from .kinds import Kind
    from .right import Fault

_ACTION = re.compile(r"action (\d+)\b")


@dataclass
class Row:
    """The planted faults of a kind in a domain.

    Attributes:
        planted: How many there are.
        found: How many an error or a warning about the kind names.
        noted: How many only a note names.
        rules: By rule about the kind, in how many tasks it has a finding.
        beside: The same of other rules.
        missed: The tasks without a finding about the kind, with what was done to them.
        false: How many right tasks have an error or a warning of a rule about the kind.
    """

    planted: int = 0
    found: int = 0
    noted: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    beside: Counter[str] = field(default_factory=Counter)
    missed: dict[str, str] = field(default_factory=dict)
    false: int = 0

    def add(self, kind: Kind, task_id: str, fault: Fault, findings: Sequence[Finding]) -> None:
        """Count a fault, with what was found in its task."""
        about = [finding for finding in findings if finding.rule in kind.rules and _is_of(finding, fault)]
        self.planted += 1
        self.rules.update({finding.rule for finding in about})
        self.beside.update({finding.rule for finding in findings} - {finding.rule for finding in about})
        if any(finding.severity != "note" for finding in about):
            self.found += 1
        elif about:
            self.noted += 1
        else:
            self.missed[task_id] = fault.what

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return {**vars(self), "rules": dict(self.rules), "beside": dict(self.beside)}


@dataclass
class Planted:
    """The faults that were planted in a domain.

    Attributes:
        tasks: How many tasks are right, and were used.
        right: How many right tasks were checked, generated ones and those without a script among them.
        flagged: How many of these have an error or a warning.
        wrong: By rule, how many of these have an error or a warning of it.
        rows: By kind.
    """

    tasks: int = 0
    right: int = 0
    flagged: int = 0
    wrong: Counter[str] = field(default_factory=Counter)
    rows: dict[str, Row] = field(default_factory=lambda: {kind: Row() for kind in KINDS})

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        rows = {kind: row.as_json() for kind, row in self.rows.items()}
        counts = {"tasks": self.tasks, "right": self.right, "flagged": self.flagged}
        return {**counts, "wrong": dict(self.wrong), "kinds": rows}


def _is_of(finding: Finding, fault: Fault) -> bool:
    """Return whether a finding that names an action is about that of a fault, or names its argument."""
    at = _ACTION.search(finding.text)
    named = bool(fault.argument) and fault.argument in finding.text
    return at is None or fault.position is None or int(at[1]) == fault.position or named


def lines(name: str, result: Planted) -> Iterator[str]:
    """Yield the table of a domain."""
    flagged = ", ".join(f"{rule} {number}" for rule, number in result.wrong.most_common()) or "none"
    checked = f"{result.flagged} of {result.right} right tasks are flagged: {flagged}"
    yield f"{name}: faults in {result.tasks} right tasks; {checked}"
    yield f"  {'kind':<17}{'planted':>8}{'found':>7}{'noted':>7}{'missed':>8}{'false':>7}   by rule; beside"
    for kind, row in result.rows.items():
        if not row.planted:
            yield f"  {kind:<17}{'-':>8}   no task has {KINDS[kind].needs}"
            continue
        counts = (row.planted, row.found, row.noted, len(row.missed), row.false)
        widths = zip(counts, (8, 7, 7, 8, 7), strict=True)
        yield f"  {kind:<17}{''.join(f'{count:>{width}}' for count, width in widths)}   {_by_rule(row)}"


def _by_rule(row: Row) -> str:
    rules, beside = (
        ", ".join(f"{rule} {number}" for rule, number in counter.most_common()) for counter in (row.rules, row.beside)
    )
    return f"{rules}; {beside}" if beside else rules


def table(results: Mapping[str, Planted]) -> Iterator[str]:
    """Yield a table of all domains in Markdown: found of planted, by kind."""
    yield "| kind | " + " | ".join(results) + " |"
    yield "|---|" + "---|" * len(results)
    for kind in KINDS:
        rows = [result.rows[kind] for result in results.values()]
        yield (
            f"| `{kind}` | " + " | ".join(f"{row.found} of {row.planted}" if row.planted else "" for row in rows) + " |"
        )
    flagged = (f"{result.flagged} of {result.right}" for result in results.values())
    yield "| right tasks flagged | " + " | ".join(flagged) + " |"
