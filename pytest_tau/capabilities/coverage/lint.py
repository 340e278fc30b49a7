"""The line of ``tau lint``: what the reference actions name, and what is tied to sentences of the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigurationError
from ...policy import sentences_of_domain
from ...references import stated_rules
from .exercised import declared_points, named_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import LintView
    from ...environment import Domain
    from ...models import Task

_KINDS = {
    "tools": "tools",
    "parameters": "parameters",
    "values": "values of closed choices",
    "pairs": "pairs of writes",
}


async def lint(view: LintView) -> list[str]:
    """Return the line of a domain; nothing is carried out for it."""
    if view.task is not None:
        return []
    return [
        f"coverage by reference actions: {', '.join(_parts(view.domain, view.tasks))} (tau coverage lists the rest)"
    ]


def _parts(domain: Domain, tasks: Sequence[Task]) -> Iterator[str]:
    named_points = {point for task in tasks for point in named_by(task, domain)}
    points = declared_points(domain)
    for kind, words in _KINDS.items():
        of_kind = [point for point in points if point.kind == kind]
        if of_kind:
            yield f"{sum(point in named_points for point in of_kind)} of {len(of_kind)} {words}"
    try:
        rules = stated_rules(domain)
    except ConfigurationError:  # which is a finding of its own
        rules = ()
    sentences = sentences_of_domain(domain, rules)
    if sentences:
        tied = sum(bool(sentence.ties) for sentence in sentences)
        yield f"a rule or a value for {tied} of {len(sentences)} sentences of the policy"
