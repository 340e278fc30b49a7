"""Sums over the model calls of many trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models import ModelUsage

_SUMS = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "known_cost",
    "unpriced_calls",
    "malformed_calls",
    "unknown_tools",
)


class UsageTotals:
    """Sums of model usage, by role."""

    def __init__(self) -> None:
        self._roles: dict[str, dict[str, Any]] = {}
        self._replayed = self._trials = 0

    def add(self, usage: Mapping[str, ModelUsage], *, replayed: bool = False) -> None:
        """Add a trial's usage.

        Args:
            usage: It, by role.
            replayed: There was no cost: the calls were answered from a cassette.
        """
        self._trials += 1
        self._replayed += replayed
        for role, used in usage.items():
            sums = self._roles.setdefault(role, {"models": {}, **dict.fromkeys(_SUMS, 0)})
            sums["models"] |= dict.fromkeys(used.model.split(", "))
            for name in _SUMS:
                sums[name] += getattr(used, name)

    def lines(self) -> list[str]:
        """Return a line for each role, and one for the sum."""
        roles = sorted(self._roles.items())
        found = [f"{role} {', '.join(sums['models'])}: {_format_sums(sums)}" for role, sums in roles]
        if len(found) > 1:
            sums = {name: sum(role[name] for role in self._roles.values()) for name in _SUMS}
            found.append(f"models together: {_format_sums(sums)}")
        if self._replayed and found:
            which = "all" if self._replayed == self._trials else f"{self._replayed} of {self._trials} trials"
            found[-1] += f" ({which} replayed at no cost)"
        return found


def _format_sums(sums: dict[str, Any]) -> str:
    parts = [plural(sums["calls"], "call")]
    parts.append(f"{sums['prompt_tokens']:,} + {sums['completion_tokens']:,} tokens")
    if sums["unpriced_calls"] == sums["calls"]:
        parts.append("cost unknown")
    else:
        unpriced = sums["unpriced_calls"]
        parts.append(
            f"${sums['known_cost']:,.4f}" + (f" and {plural(unpriced, 'call')} with unknown price" if unpriced else "")
        )
    parts += [plural(sums["malformed_calls"], "malformed tool call")] if sums["malformed_calls"] else []
    parts += [f"{plural(sums['unknown_tools'], 'call')} to unknown tools"] if sums["unknown_tools"] else []
    return ", ".join(parts)
