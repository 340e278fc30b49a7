"""The source of domains for stored simulations, and the domain of a file that names none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..errors import ConfigurationError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from ..environment import Domain


class DomainSource(Protocol):
    """The source of domains."""

    def names(self) -> Sequence[str]:
        """Return the name of every domain."""
        ...

    def load(self, name: str) -> Domain:
        """Return a domain.

        Raises:
            ConfigurationError: There is none of this name, or no data of it.
        """
        ...


def recognise_domain(called: Counter[str], domains: DomainSource) -> str | None:
    """Return the name of the domain whose tools were called; None if several could be it, or none."""
    scores: dict[frozenset[str], tuple[int, str]] = {}
    for name in domains.names():
        try:
            spec = domains.load(name).spec
        except ConfigurationError:  # no data of this one
            continue
        tools = frozenset(spec.agent_tools.tool_infos) | frozenset(
            spec.user_tools.tool_infos if spec.user_tools else ()
        )
        score = sum(count for tool, count in called.items() if tool in tools)
        scores.setdefault(tools, (score, name))  # variants of a domain have the same tools
    best = sorted(scores.values(), reverse=True)[:2]
    if not best or best[0][0] == 0 or (len(best) > 1 and best[0][0] == best[1][0]):
        return None
    return best[0][1]
