"""Sums over the model calls of many trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models import OUT_OF_TIME
from ..text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..models import ModelUsage
    from ..runs.record import TrialRecord

_SUMS = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "known_cost",
    "unpriced_calls",
    "cached_tokens",
    "cut_replies",
    "filtered_replies",
    "timeouts",
    "malformed_calls",
    "unknown_tools",
    "unmade_calls",
)


class UsageTotals:
    """Sums of model usage, by role."""

    def __init__(self) -> None:
        self._roles: dict[str, dict[str, Any]] = {}
        self._replayed = self._reused = self._trials = self._stopped = 0

    def add(self, usage: Mapping[str, ModelUsage], *, replayed: bool = False, reused: bool = False) -> None:
        """Add a trial's usage.

        Args:
            usage: It, by role.
            replayed: There was no cost: the calls were answered from a cassette.
            reused: There was none either: the trial was taken from an earlier run.
        """
        self._trials += 1
        self._replayed += replayed
        self._reused += reused
        self._add(usage)

    def add_stopped(self, usage: Mapping[str, ModelUsage]) -> None:
        """Add the calls of trials that a budget has stopped, so that they have no result."""
        self._stopped += sum(used.calls for used in usage.values())
        self._add(usage)

    def _add(self, usage: Mapping[str, ModelUsage]) -> None:
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
        free = [
            f"{'all' if count == self._trials else f'{count} of {self._trials} trials'} {how}"
            for count, how in ((self._replayed, "replayed"), (self._reused, "reused from the earlier run"))
            if count
        ]
        if free and found:
            found[-1] += f" ({', '.join(free)} at no cost)"
        if self._stopped and found:
            found[-1] += f"; {plural(self._stopped, 'call')} of trials that the budget stopped"
        return found


def format_tokens(sent: int, received: int, cached: int = 0) -> str:
    """Return tokens as text, with the share of sent tokens that the provider has read from its cache, if there are any.

    Args:
        sent: Tokens sent, cached ones included.
        received: Tokens received.
        cached: Tokens sent that were read from the cache.
    """
    share = f" ({cached / sent:.0%} cached)" if cached and sent else ""
    return f"{sent:,} tokens sent{share}, {received:,} received"


def time_limit_line(records: Iterable[TrialRecord]) -> str | None:
    """Return where time limits struck: in conversations, and in attempts of model calls; None if none did."""
    ended, attempts = 0, dict[str, int]()
    for record in records:
        ended += (record.error or "").startswith(OUT_OF_TIME)
        for role, used in record.usage.items():
            if used.timeouts:
                attempts[role] = attempts.get(role, 0) + used.timeouts
    parts = [f"{plural(ended, 'conversation')} cut off (--tau-timeout)"] if ended else []
    if attempts:
        roles = ", ".join(f"{role} {number}" for role, number in sorted(attempts.items()))
        parts.append(f"{plural(sum(attempts.values()), 'attempt')} of model calls (--tau-llm-timeout): {roles}")
    return f"time limits struck: {'; '.join(parts)}" if parts else None


def _format_sums(sums: dict[str, Any]) -> str:
    parts = [plural(sums["calls"], "call")]
    parts.append(format_tokens(sums["prompt_tokens"], sums["completion_tokens"], sums["cached_tokens"]))
    if not sums["calls"]:
        return "no answer"
    if sums["unpriced_calls"] == sums["calls"]:
        parts.append("cost unknown")
    else:
        unpriced = sums["unpriced_calls"]
        parts.append(
            f"${sums['known_cost']:,.4f}" + (f" and {plural(unpriced, 'call')} with unknown price" if unpriced else "")
        )
    parts += [f"{plural(sums['cut_replies'], 'answer')} cut off by length"] if sums["cut_replies"] else []
    parts += [f"{plural(sums['filtered_replies'], 'answer')} cut off by a filter"] if sums["filtered_replies"] else []
    parts += [plural(sums["malformed_calls"], "malformed tool call")] if sums["malformed_calls"] else []
    parts += [f"{plural(sums['unknown_tools'], 'call')} to unknown tools"] if sums["unknown_tools"] else []
    parts += [f"{plural(sums['unmade_calls'], 'tool call')} not made by the agent"] if sums["unmade_calls"] else []
    return ", ".join(parts)
