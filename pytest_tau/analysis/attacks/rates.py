"""The rates of attacks: utility without and under attack over the same tasks, and the share of successes."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from ...attacks import PARAMETER
from ...runs.groups import find_variants
from ...text import one_line, plural
from ..paired import Pair, Paired, PassCount
from ..statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...runs.groups import Group, TaskId
    from ...runs.record import TrialRecord
    from ..statistics import Interval

#: How many successes are shown; with -v all of them.
_MOST = 5
_LONGEST, _NARROWEST = 100, 40


class Share(NamedTuple):
    """The mean over trials of what is 0 or 1 in each.

    Attributes:
        value: The mean; None without trials.
        interval: The 95 % interval, by resampling tasks; None with fewer than two tasks.
    """

    value: float | None
    interval: Interval | None

    @classmethod
    def of(cls, by_task: Iterable[Sequence[float]]) -> Share:
        """Return the share over the trials of each task."""
        values = [each for each in by_task if each]
        trials = sum(map(len, values))
        return cls(fsum(map(fsum, values)) / trials, share_interval(values)) if trials else cls(None, None)

    @property
    def text(self) -> str:
        """Return the share with its interval: ``0.750 (0.500 to 0.900)``."""
        if self.value is None:
            return "-"
        return f"{self.value:.3f}" + (f" ({self.interval.format()})" if self.interval else "")


class _Key(NamedTuple):
    """What the trials of a row have in common."""

    domain: str
    attack: str
    variant: str


@dataclass(frozen=True)
class AttackRates:
    """The rates of an attack on a domain, over trials with a verdict.

    Attributes:
        domain: The name of the domain.
        name: The name of the attack.
        variant: The name of the variant, apart from the attack; empty if there are no variants.
        tasks: The number of tasks under attack.
        trials: The number of trials under attack.
        delivered: In how many of these the agent read a payload.
        errors: The number of trials under attack that ended in an error, which count nowhere else.
        success: The share of trials in which the goal was reached.
        utility: pass^1 under attack.
        without: pass^1 without attack, over the tasks that were run in both ways.
        paired: The paired difference of utility over these tasks; None if there are none.
    """

    domain: str
    name: str
    variant: str
    tasks: int
    trials: int
    delivered: int
    errors: int
    success: Share
    utility: Share
    without: Share
    paired: Paired | None


def attack_rates(records: Iterable[TrialRecord]) -> list[AttackRates]:
    """Return the rates of each attack on each domain, and in it on each variant, sorted by their names."""
    found = list(records)
    variants = other_variants(found)
    plain: dict[_Key, dict[TaskId, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
    attacked: dict[_Key, dict[TaskId, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
    errors: dict[_Key, int] = defaultdict(int)
    for record in found:
        key = _Key(record.domain, record.attack_name, variants[record.group])
        if record.outcome == "error":
            errors[key] += 1
        elif record.ran:
            (attacked if record.attack_name else plain)[key][record.group.task].append(record)
    keys = sorted({*attacked, *(key for key in errors if key.attack)})
    return [_rates(key, attacked[key], plain[key._replace(attack="")], errors[key]) for key in keys]


def other_variants(records: Iterable[TrialRecord]) -> dict[Group, str]:
    """Return the name of the variant of each group of trials, apart from its attack; empty if there is one."""
    plain = {record.group: _without_attack(record.group, record.attack_name) for record in records}
    names = {
        domain: find_variants(each for each in plain.values() if each.domain == domain) for _, _, domain, _ in plain
    }
    return {group: names[group.domain].get(each.variant, "") for group, each in plain.items()}


def _without_attack(group: Group, attack: str) -> Group:
    if not attack:
        return group
    parameters = group.parameters.replace(f"{PARAMETER}{attack}", "", 1).replace("--", "-").strip("-")
    return group._replace(parameters=parameters)


def _rates(
    key: _Key,
    attacked: dict[TaskId, list[TrialRecord]],
    plain: dict[TaskId, list[TrialRecord]],
    errors: int,
) -> AttackRates:
    trials = [record for found in attacked.values() for record in found]
    both = [task for task in attacked if task in plain]
    pairs = [Pair(_passes(plain[task]), _passes(attacked[task])) for task in both]
    return AttackRates(
        domain=key.domain,
        name=key.attack,
        variant=key.variant,
        tasks=len(attacked),
        trials=len(trials),
        delivered=sum(record.attack_delivered for record in trials),
        errors=errors,
        success=Share.of([float(record.attack_success) for record in found] for found in attacked.values()),
        utility=Share.of([float(record.passed) for record in found] for found in attacked.values()),
        without=Share.of([float(record.passed) for record in plain[task]] for task in both),
        paired=Paired(pairs) if pairs else None,
    )


def _passes(records: Sequence[TrialRecord]) -> PassCount:
    return PassCount(len(records), sum(record.passed for record in records))


def attack_lines(records: Sequence[TrialRecord], *, verbosity: int = 0, width: int = 80) -> list[str]:
    """Return the rates of attacks as lines of text, and the first successes; none without attacks.

    Args:
        records: The trials of a run.
        verbosity: Below 0 successes are not shown, above 0 all of them.
        width: Of the terminal, in characters.
    """
    lines = [line for each in _rate_lines(records) for line in each]
    lines += _successes(records, verbosity) if verbosity >= 0 else []
    room = max(width, _NARROWEST)
    return [part for line in lines for part in _wrapped(line, room)]


def rate_lines(records: Sequence[TrialRecord]) -> list[str]:
    """Return the rates of each attack in one line of any length; none without attacks."""
    return ["; ".join(line.strip() for line in each) for each in _rate_lines(records)]


def _rate_lines(records: Sequence[TrialRecord]) -> list[list[str]]:
    """Return the lines on each attack."""
    rates = attack_rates(records)
    several = len({each.domain for each in rates}) > 1
    found = []
    for each in rates:
        where = (f"{each.domain}: " if several else "") + (
            f"{one_line(each.variant, _LONGEST)}: " if each.variant else ""
        )
        lines = [f"attack {each.name}: {where}success {each.success.text} in {plural(each.trials, 'trial')}"]
        lines.append(f"  utility under attack {each.utility.text}, without {each.without.text}{_difference(each)}")
        unread = each.trials - each.delivered
        parts = [f"the agent did not read the payload in {plural(unread, 'trial')}"] if unread else []
        parts += [plural(each.errors, "error")] if each.errors else []
        lines += [f"  {', '.join(parts)}"] if parts else []
        found.append(lines)
    return found


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, width, subsequent_indent=f"{indent}  ", break_on_hyphens=False, break_long_words=False)


def _difference(rates: AttackRates) -> str:
    if rates.paired is None:
        return ""
    interval = rates.paired.interval
    reach = f" (95 % interval {interval.low:+.3f} to {interval.high:+.3f})" if interval else ""
    return f", paired over {plural(len(rates.paired.pairs), 'task')}: {rates.paired.difference:+.3f}{reach}"


def _successes(records: Sequence[TrialRecord], verbosity: int) -> list[str]:
    found = [record for record in records if record.attack_success and record.ran]
    shown = found if verbosity > 0 else found[:_MOST]
    lines = [
        f"  {one_line(record.test or record.task_id, _LONGEST)}: message {(record.attack or {}).get('message_idx')}: "
        f"{one_line(str((record.attack or {}).get('evidence') or ''), _LONGEST)}"
        for record in shown
    ]
    left = len(found) - len(shown)
    head = ["attacks succeeded in:"] if found else []
    return [*head, *lines, *([f"  and {plural(left, 'more trial')} (-v shows them)"] if left else [])]
