"""Findings that follow from others: only the cause is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..references.sides import tools_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Task
    from .findings import Finding

#: The rules about an action that cannot be carried out, the cause first.
_FAILING = ("unknown-action", "bad-arguments", "action-raises")
#: What follows if a change is missing that a reference action was to make.
_OF_MISSING_CHANGE = ("gold-fails", "passes-without-agent", "action-not-needed")
#: What follows if the result of a reference action is missing.
_OF_MISSING_RESULT = ("fact-missing", "script-silent")
#: What follows from another finding of the task.
_OF_RULES = {
    "undeclared-write": ("gold-fails",),
    "unknown-document": ("fact-missing",),
    "passes-without-agent": ("action-not-needed",),
}
_TOO_MANY_ERRORS = "failed tool calls, the limit is"


def without_consequences(findings: Sequence[Finding], task: Task, domain: Domain) -> list[Finding]:
    """Return the findings of a task without those that follow from another one."""
    failing = {at for finding in findings if _is_failing(finding) and (at := _position(finding)) is not None}
    changes = {at for at in failing if not _is_read(task, at, domain)}
    hidden = {rule for finding in findings for rule in _OF_RULES.get(finding.rule, ())}
    hidden |= {*_OF_MISSING_CHANGE} if changes else set()
    remaining = [finding for finding in findings if finding.rule not in hidden]
    if failing:
        remaining = [
            finding for finding in remaining if not (finding.rule == "gold-fails" and _TOO_MANY_ERRORS in finding.text)
        ]
        remaining = [finding for finding in remaining if not _is_after(finding, _OF_MISSING_RESULT, min(failing))]
    return list(_causes(remaining, changes))


def _causes(findings: Sequence[Finding], changes: set[int]) -> Iterator[Finding]:
    """Yield the findings, but of the actions that raise only those for which no other cause is known."""
    refused = {_position(finding) for finding in findings if _is_failing(finding) and finding.rule != "action-raises"}
    for finding in findings:
        at = _position(finding)
        follows = at in refused or any(before < at for before in changes if at is not None)
        if finding.rule != "action-raises" or not follows:
            yield finding


def _is_failing(finding: Finding) -> bool:
    return finding.rule in _FAILING and finding.severity != "warning"


def _is_after(finding: Finding, rules: Sequence[str], position: int) -> bool:
    at = _position(finding)
    return finding.rule in rules and at is not None and at >= position


def _position(finding: Finding) -> int | None:
    """Return the position of the reference action that a finding is about."""
    first, _, rest = finding.text.partition(" ")
    number = rest.partition(" ")[0].rstrip(":,;")
    return int(number) if first == "action" and number.isdecimal() else None


def _is_read(task: Task, position: int, domain: Domain) -> bool:
    """Return whether an action only reads; one of an unknown tool may write."""
    action = (task.criteria.actions or [])[position]
    tool = tools_of(domain, action.requestor).get(action.name)
    return tool is not None and tool.kind == "read"
