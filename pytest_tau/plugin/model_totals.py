"""What the model calls of a run came to: for the summary, and for the estimates of later runs."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from ..runner import RunConfig

_SUMS = (
    "calls",
    "prompt_tokens",
    "completion_tokens",
    "known_cost",
    "unpriced_calls",
    "malformed_calls",
    "unknown_tools",
)


class ModelTotals:
    """Sums of model usage, by role."""

    def __init__(self) -> None:
        self._roles: dict[str, dict[str, Any]] = {}
        self._live: dict[str, list[Any]] = defaultdict(lambda: [0, 0, 0.0, 0])
        self._replayed = self._trials = 0

    def add(self, task: str, usage: str) -> None:
        """Add a trial's usage.

        Args:
            task: ``domain::task``.
            usage: What the trial told, as JSON.
        """
        told = json.loads(usage)
        self._trials += 1
        self._replayed += told["replayed"]
        for role, used in told["roles"].items():
            sums = self._roles.setdefault(role, {"models": {}, **dict.fromkeys(_SUMS, 0)})
            sums["models"] |= dict.fromkeys(used["model"].split(", "))
            for name in _SUMS:
                sums[name] += used[name]
        if not told["replayed"]:
            roles = told["roles"].values()
            sums_of_trial = [sum(used[name] for used in roles) for name in ("calls", "known_cost", "unpriced_calls")]
            self._live[task] = [old + new for old, new in zip(self._live[task], [1, *sums_of_trial], strict=True)]

    def lines(self) -> list[str]:
        """A line for each role, and one for the sum."""
        found = [f"{role} {', '.join(sums['models'])}: {_told(sums)}" for role, sums in sorted(self._roles.items())]
        if len(found) > 1:
            sums = {name: sum(role[name] for role in self._roles.values()) for name in _SUMS}
            found.append(f"models together: {_told(sums)}")
        if self._replayed and found:
            which = "all" if self._replayed == self._trials else f"{self._replayed} of {self._trials} trials"
            found[-1] += f" ({which} replayed: nothing was spent on {'it' if self._trials == 1 else 'them'})"
        return found

    def remember(self, config: pytest.Config, run: RunConfig) -> None:
        """Keep what was really called, for later estimates."""
        from .costs import models_of, remember

        remember(config, models_of(run), dict(self._live))


def _told(sums: dict[str, Any]) -> str:
    told = [f"{sums['calls']:,} call{'s' * (sums['calls'] != 1)}"]
    told.append(f"{sums['prompt_tokens']:,} + {sums['completion_tokens']:,} tokens")
    if sums["unpriced_calls"] == sums["calls"]:
        told.append("cost unknown")
    else:
        unpriced = sums["unpriced_calls"]
        told.append(f"${sums['known_cost']:,.4f}" + (f" and {unpriced:,} calls of unknown price" if unpriced else ""))
    told += [f"{sums['malformed_calls']} malformed tool calls"] if sums["malformed_calls"] else []
    told += [f"{sums['unknown_tools']} calls of unknown tools"] if sums["unknown_tools"] else []
    return ", ".join(told)
