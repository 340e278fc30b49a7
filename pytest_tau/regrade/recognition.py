"""Recognition of what a stored simulation does not say: its domain, and whether its agent worked alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ConfigurationError
from ..models import AssistantMessage, calls_in

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain
    from ..models import Simulation


class DomainSource(Protocol):
    """The source of domains."""

    def names(self) -> Sequence[str]:
        """Return the name of every domain."""
        ...

    def load(self, name: str, run: Mapping[str, Any] | None = None) -> Domain:
        """Return a domain.

        Args:
            name: Its name.
            run: The manifest of the stored run that it is loaded for, which may have changed it; None for none.

        Raises:
            ConfigurationError: There is no domain of this name, or its data is missing.
        """
        ...


def recognise_domain(called: Counter[str], domains: DomainSource) -> str | None:
    """Return the name of the domain whose tools were called; None if several could be it, or none.

    Of variants, which have the data of one folder, it is the one with the fewest tools that has all that were called.
    """
    scores: dict[tuple[Path, frozenset[str]], tuple[int, str]] = {}
    for name in domains.names():
        try:
            domain = domains.load(name)
        except ConfigurationError:  # no data of this one
            continue
        spec = domain.spec
        tools = frozenset(spec.agent_tools.tool_infos) | frozenset(
            spec.user_tools.tool_infos if spec.user_tools else ()
        )
        score = sum(count for tool, count in called.items() if tool in tools)
        scores.setdefault((domain.folder, tools), (score, name))
    most = max((score for score, _ in scores.values()), default=0)
    best = [variant for variant, (score, _) in scores.items() if score == most > 0]
    if len({folder for folder, _ in best}) != 1:
        return None
    return scores[min(best, key=lambda variant: len(variant[1]))][1]


def worked_alone(simulation: Simulation, domain: Domain) -> bool:
    """Return whether the agent had no user: the simulation says so, or the agent made a user's call that succeeded."""
    if simulation.info.solo:
        return True
    spec = domain.spec
    users = spec.user_tools.tool_infos.keys() - spec.agent_tools.tool_infos if spec.user_tools else ()
    return bool(users) and any(
        made.call.name in users
        and made.result is not None
        and not made.result.error
        and isinstance(simulation.messages[made.message_idx], AssistantMessage)
        for made in calls_in(simulation.messages)
    )
