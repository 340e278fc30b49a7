"""The line of ``tau lint``: which values of the policy a task notices, or how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import ConfigurationError
from ...policy import policy_sentences
from ...runs import stored_strength
from ...text import plural
from .varying import changeable_names

if TYPE_CHECKING:
    from ...capability import LintView
    from ...environment import Domain


async def lint(view: LintView) -> list[str]:
    """Return the line of a domain; none for data without a policy, whose tasks can be checked all the same."""
    if view.task is not None:
        return []
    stored = stored_strength(view.domain, "vary")
    try:
        return [f"values of the policy: {stored.line if stored else _declared(view.domain)}"]
    except ConfigurationError:
        return []


def _declared(domain: Domain) -> str:
    names = changeable_names(domain)
    if names:
        return f"{len(names)} can be changed (tau vary {domain.name} lists those that no task notices)"
    numbers = sum(any(map(str.isdigit, each.text)) for each in policy_sentences(domain.environment().policy))
    return f"none is declared; {plural(numbers, 'sentence')} of the policy state a number"
