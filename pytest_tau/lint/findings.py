"""Findings of the checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class Finding(NamedTuple):
    """One thing that a task's author should look at.

    Attributes:
        rule: The check's name.
        task_id: The task; None for what concerns the whole set.
        text: What was found.
        proof: What shows it, in one line; empty if the text does.
        change: What would repair the task, in one line; empty if that is not known.
    """

    rule: str
    severity: Severity
    task_id: str | None
    text: str
    proof: str = ""
    change: str = ""


@dataclass
class LintReport:
    """Findings of the checks in a domain's tasks.

    Attributes:
        domain: The domain's name.
        file: The task file that was checked; None for the domain's own tasks.
        split: Which of its tasks were checked; None for all.
        tasks: How many those are.
        findings: What was found, in order of tasks.
        consequences: What was found as well, and follows from other findings; it is not shown.
        played: How many tasks the scripted user plays to the end; None if only the tasks were checked.
        figures: What capabilities say of the domain: how much its tasks touch, and the like.
        floor: How many tasks an agent passes that only greets.
        floor_but_for_judge: How many more it would pass if the judge had nothing to object.
    """

    domain: str
    split: str | None
    tasks: int
    findings: list[Finding] = field(default_factory=list)
    consequences: list[Finding] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    floor: int = 0
    floor_but_for_judge: int = 0
    file: str | None = None
    played: int | None = None

    def count(self, severity: Severity) -> int:
        """Return the number of findings of this severity."""
        return sum(finding.severity == severity for finding in self.findings)
