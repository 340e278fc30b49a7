"""Sums over the model calls of many trials."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..models import OUT_OF_TIME, ModelUsage
from ..text import plural, shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from ..runs.record import TrialRecord

#: Characters of the name of an actor that are shown.
_LONGEST_NAME = 40
_SUMS = tuple(name for name in ModelUsage.model_fields if name not in ("model", "actors"))


def total_usage(parts: Collection[ModelUsage]) -> ModelUsage:
    """Return the sums of usages; the names of different models are joined."""
    names = dict.fromkeys(name for used in parts for name in used.model.split(", ") if name)
    actors = {
        actor: total_usage([used.actors[actor] for used in parts if actor in used.actors])
        for actor in sorted({actor for used in parts for actor in used.actors})
    }
    sums = {name: sum(getattr(used, name) for used in parts) for name in _SUMS}
    return ModelUsage(model=", ".join(names), actors=actors, **sums)


class UsageTotals:
    """Sums of model usage, by role."""

    def __init__(self) -> None:
        self._roles: dict[str, list[ModelUsage]] = defaultdict(list)
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
            self._roles[role].append(used)

    def lines(self) -> list[str]:
        """Return a line for each role, and one for the sum; the last one says which prices are unknown."""
        roles = {role: total_usage(parts) for role, parts in sorted(self._roles.items())}
        alone = len(roles) == 1
        role_lines = [
            f"{role} {total.model}: {_format_sums(total, says_unknown=alone)}{_by_actor(total)}"
            for role, total in roles.items()
        ]
        if not alone and roles:
            role_lines.append(f"models together: {_format_sums(total_usage(roles.values()), says_unknown=True)}")
        free = [
            f"{'all' if count == self._trials else f'{count} of {self._trials} trials'} {how}"
            for count, how in ((self._replayed, "replayed"), (self._reused, "reused from the earlier run"))
            if count
        ]
        if free and role_lines:
            role_lines[-1] += f" ({', '.join(free)} at no cost)"
        if self._stopped and role_lines:
            role_lines[-1] += f"; {plural(self._stopped, 'call')} of trials that the budget stopped"
        return role_lines


def _by_actor(total: ModelUsage) -> str:
    """Return the calls of each actor of a role, and the number of calls without a name; empty without actors."""
    if not total.actors:
        return ""
    parts = [
        f"{shorten(actor, _LONGEST_NAME)} {_format_sums(used, says_unknown=False)}"
        for actor, used in total.actors.items()
    ]
    unnamed = total.calls - sum(used.calls for used in total.actors.values())
    parts += [f"without a name {plural(unnamed, 'call')}"] if unnamed else []
    return f" ({'; '.join(parts)})"


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
        for role, used in record.model_usage.items():
            if used.timeouts:
                attempts[role] = attempts.get(role, 0) + used.timeouts
    parts = [f"{plural(ended, 'conversation')} cut off (--tau-timeout)"] if ended else []
    if attempts:
        roles = ", ".join(f"{role} {number}" for role, number in sorted(attempts.items()))
        parts.append(f"{plural(sum(attempts.values()), 'attempt')} of model calls (--tau-llm-timeout): {roles}")
    return f"time limits struck: {'; '.join(parts)}" if parts else None


def _format_sums(used: ModelUsage, *, says_unknown: bool) -> str:
    if not used.calls:
        return "no answer"
    parts = [plural(used.calls, "call")]
    parts.append(format_tokens(used.prompt_tokens, used.completion_tokens, used.cached_tokens))
    if used.unpriced_calls < used.calls:
        unpriced = f" and {plural(used.unpriced_calls, 'call')} with unknown price"
        parts.append(f"${used.known_cost:,.4f}{unpriced if used.unpriced_calls and says_unknown else ''}")
    elif says_unknown:
        parts.append("cost unknown")
    flaws = [
        (used.cut_replies, f"{plural(used.cut_replies, 'answer')} cut off by length"),
        (used.filtered_replies, f"{plural(used.filtered_replies, 'answer')} cut off by a filter"),
        (used.malformed_calls, plural(used.malformed_calls, "malformed tool call")),
        (used.unknown_tools, f"{plural(used.unknown_tools, 'call')} to unknown tools"),
        (used.unmade_calls, f"{plural(used.unmade_calls, 'tool call')} not made by the agent"),
        (used.lost_results, f"{plural(used.lost_results, 'result')} not in the last requests"),
        (used.lost_texts, f"{plural(used.lost_texts, 'message')} of the user not in the last requests"),
    ]
    return ", ".join([*parts, *(text for number, text in flaws if number)])
