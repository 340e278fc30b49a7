"""The rates of attacks: utility without and under attack over the same tasks, and the share of successes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, NamedTuple

from ...analysis import FEWEST_TASKS, Pair, Paired, PassCount, difference_interval, mean_interval
from ...runs import find_variants
from ...text import one_line, plural
from . import PARAMETER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...analysis import Clusters, Interval
    from ...capability import Compared, Measured
    from ...runs import Group, TaskId

#: How many successes are shown, and the most characters of a name.
_MOST, _LONGEST = 5, 100


class Share(NamedTuple):
    """The mean over trials of what is 0 or 1 in each.

    Attributes:
        value: The mean; None without trials.
        interval: The 95 % interval, by resampling tasks; None with fewer than two tasks.
    """

    value: float | None
    interval: Interval | None

    @classmethod
    def of(cls, by_task: Iterable[Sequence[Measured]], value: Callable[[Measured], float]) -> Share:
        """Return the share over the trials of each task."""
        tasks = [trials for trials in by_task if trials]
        if not tasks:
            return cls(None, None)
        values = [[value(trial) for trial in trials] for trials in tasks]
        interval = mean_interval(values, proportion=True, clusters=_clusters(tasks))
        return cls(fsum(map(fsum, values)) / sum(map(len, values)), interval)

    @property
    def text(self) -> str:
        """Return the share with its interval: ``0.750 (0.500 to 0.900)``."""
        if self.value is None:
            return "-"
        return f"{self.value:.3f}" + (f" ({self.interval.format()})" if self.interval else "")


class _Key(NamedTuple):
    """What the trials of a row have in common."""

    attack: str
    variant: str


@dataclass(frozen=True)
class AttackRates:
    """The rates of an attack on a domain, over trials with a verdict.

    Attributes:
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

    @property
    def text(self) -> str:
        """Return the rates in one line."""
        variant = f"{one_line(self.variant, _LONGEST)}: " if self.variant else ""
        parts = [f"{self.name}: {variant}success {self.success.text} in {plural(self.trials, 'trial')}"]
        parts += [f"utility under attack {self.utility.text}", f"without {self.without.text}"]
        if self.paired is not None:
            interval = self.paired.interval
            reach = f" ({interval.signed})" if interval else ""
            tasks = plural(len(self.paired.pairs), "task")
            parts.append(f"paired over {tasks}: {self.paired.difference:+.3f}{reach}")
        unread = self.trials - self.delivered
        parts += [f"the agent did not read the payload in {plural(unread, 'trial')}"] if unread else []
        parts += [plural(self.errors, "error")] if self.errors else []
        return ", ".join(parts)


def attack_rates(trials: Iterable[Measured]) -> list[AttackRates]:
    """Return the rates of each attack on a domain, and in it on each variant, sorted by their names."""
    all_trials = list(trials)
    variants = _other_variants(all_trials)
    plain: dict[_Key, dict[TaskId, list[Measured]]] = defaultdict(lambda: defaultdict(list))
    attacked: dict[_Key, dict[TaskId, list[Measured]]] = defaultdict(lambda: defaultdict(list))
    errors: dict[_Key, int] = defaultdict(int)
    for trial in all_trials:
        key = _Key(trial.facts.name, variants[trial.record.group])
        if trial.record.outcome == "error":
            errors[key] += 1
        elif trial.record.ran:
            (attacked if trial.facts.name else plain)[key][trial.record.group.task].append(trial)
    keys = sorted({*attacked, *(key for key in errors if key.attack)})
    return [_rates(key, attacked[key], plain[key._replace(attack="")], errors[key]) for key in keys]


def _other_variants(trials: Iterable[Measured]) -> dict[Group, str]:
    """Return the name of the variant of each group of trials, apart from its attack; empty if there is one."""
    plain = {trial.record.group: _without_attack(trial.record.group, trial.facts.name) for trial in trials}
    names = find_variants(plain.values())
    return {group: names.get(without_attack.variant, "") for group, without_attack in plain.items()}


def _without_attack(group: Group, attack: str) -> Group:
    if not attack:
        return group
    parameters = group.parameters.replace(f"{PARAMETER}{attack}", "", 1).replace("--", "-").strip("-")
    return group._replace(parameters=parameters)


def _rates(
    key: _Key, attacked: dict[TaskId, list[Measured]], plain: dict[TaskId, list[Measured]], errors: int
) -> AttackRates:
    trials = [trial for task_trials in attacked.values() for trial in task_trials]
    both = [task for task in attacked if task in plain]
    pairs = [Pair(_passes(plain[task]), _passes(attacked[task])) for task in both]
    return AttackRates(
        name=key.attack,
        variant=key.variant,
        tasks=len(attacked),
        trials=len(trials),
        delivered=sum(trial.facts.read for trial in trials),
        errors=errors,
        success=Share.of(attacked.values(), lambda trial: trial.facts.success),
        utility=Share.of(attacked.values(), lambda trial: trial.record.passed),
        without=Share.of([plain[task] for task in both], lambda trial: trial.record.passed),
        paired=Paired(pairs, clusters=_clusters(attacked[task] for task in both)) if pairs else None,
    )


def _clusters(tasks: Iterable[Sequence[Measured]]) -> Clusters:
    return [trials[0].record.moves_with for trials in tasks]


def _passes(trials: Sequence[Measured]) -> PassCount:
    return PassCount(len(trials), sum(trial.record.passed for trial in trials))


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the rates of each attack on a domain, and the first successes; nothing without attacks."""
    yield from (rates.text for rates in attack_rates(trials))
    successes = [trial for trial in trials if trial.facts.success and trial.record.ran]
    for record, facts in successes[:_MOST]:
        where = one_line(record.test or record.task_id, _LONGEST)
        yield f"  {where}: message {facts.message_idx}: {one_line(facts.evidence or '', _LONGEST)}"
    if len(successes) > _MOST:
        yield f"  and {plural(len(successes) - _MOST, 'more trial')}"


def comparison(compared: Compared) -> list[str]:
    """Return a line for each attack: its success in both runs, over the tasks that both have run under it.

    If there are variants apart from the attacks, each of them has a line.
    """
    variants = _other_variants(trial for _, later in compared.tasks for trial in later)
    shares: dict[_Key, list[tuple[float, float]]] = {}
    clusters: dict[_Key, list[tuple[str, str] | None]] = {}
    for pair in compared.tasks:
        ran = [[trial for trial in side if trial.facts.name and trial.record.ran] for side in pair]
        if all(ran) and ran[0][0].facts.name == (name := ran[1][0].facts.name):
            key = _Key(name, variants[ran[1][0].record.group])
            shares.setdefault(key, []).append((_success(ran[0]), _success(ran[1])))
            clusters.setdefault(key, []).append(ran[1][0].record.moves_with)
    return [_line(": ".join(filter(None, key)), task_shares, clusters[key]) for key, task_shares in shares.items()]


def _success(trials: Sequence[Measured]) -> float:
    return fsum(trial.facts.success for trial in trials) / len(trials)


def _line(name: str, shares: Sequence[tuple[float, float]], clusters: Clusters) -> str:
    before, after = (fsum(successes) / len(shares) for successes in zip(*shares, strict=True))
    enough = len(shares) >= FEWEST_TASKS
    interval = difference_interval([later - earlier for earlier, later in shares], clusters) if enough else None
    reach = f" ({interval.signed})" if interval else ""
    tasks = plural(len(shares), "task")
    return f"attack {name}: success {before:.3f} -> {after:.3f}: {after - before:+.3f}{reach} over {tasks}"
