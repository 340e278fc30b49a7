"""Stored and fresh verdicts side by side: of one simulation, and of a file's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..analysis.metrics import PassRate, fewer_trials, pass_hat_k
from ..runs.groups import split_variants
from ..runs.results.entries import Unreadable
from .comparing import OTHER_ACTIONS, OTHER_ASSERTIONS, reward_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ..models import Attribution, RewardInfo
    from ..policy import PolicyReport
    from ..runs.groups import Group
    from .replay_diff import ReplayDifference

#: Rates are shown up to this k.
_MOST_TRIALS = 8
#: Why rates exclude simulations of a run.
REPLACED, EXCLUDED, ERRORS = "replaced by later ones", "not counted by the run", "other errors"


@dataclass(frozen=True)
class Regraded:
    """A simulation with both of its verdicts.

    Attributes:
        entry: Where in the file.
        id: The simulation's own id.
        group: The trials that it is pooled with.
        stored: The file's verdict; None if it has none.
        fresh: Ours.
        expected: The stored reward that the fresh one is compared with; None if nothing can be compared.
        not_compared: Why nothing can be compared; empty if it can.
        error: What went wrong in the run, such as an end of the conversation for an unknown reason.
        blame: The party at fault by the fresh verdict; None if it passed, or was not asked.
        without_judge: Both exclude the NL assertions, because there is no judge.
        replay_differences: The replayed results that differ from the recorded ones.
        rules: Rules of the profile, each of which alone makes the verdict differ from the official one.
        policy: What the rules of the domain's policy found; None if they were not checked.
        uncounted: Why rates exclude it, as in the summary of its run; empty if they count it.
    """

    entry: str
    id: str
    group: Group
    task_id: str
    trial: int
    termination_reason: str
    solo: bool
    stored: RewardInfo | None
    fresh: RewardInfo
    expected: float | None
    without_judge: bool = False
    replay_differences: list[ReplayDifference] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    policy: PolicyReport | None = None
    uncounted: str = ""
    not_compared: str = ""
    error: str = ""
    blame: Attribution | None = None

    @property
    def agrees(self) -> bool | None:
        """Return whether both rewards are equal, within the reference's tolerance; None if nothing can be compared."""
        return None if self.expected is None else abs(self.expected - self.fresh.reward) <= 1e-6

    @property
    def is_notable(self) -> bool:
        """Return whether a report for people has a row for it.

        It has one if the rewards differ, if a rule has changed one, or if the stored one is about something else.
        """
        return self.agrees is False or bool(self.rules) or self.is_about_others

    @property
    def is_about_others(self) -> bool:
        """Return whether the stored verdict is about criteria of another task."""
        return self.not_compared.startswith((OTHER_ACTIONS, OTHER_ASSERTIONS))

    @property
    def reasons(self) -> list[str]:
        """Return what makes the two verdicts differ, or why they are not compared, a line each; empty if they agree."""
        if self.agrees is None:
            return [f"not compared: {self.not_compared}"]
        if self.agrees:
            return []
        changed = [f"by the rule {rule}" for rule in self.rules]
        flipped = [f"replay: {difference}" for difference in self.replay_differences if difference.flipped]
        return changed + reward_differences(self.stored, self.fresh, self.error) + flipped


@dataclass
class Tally:
    """Numbers of regraded simulations.

    Attributes:
        counts: How many simulations there are of each kind: ``all``, ``agree``, ``differ``, ``not compared``,
            ``without judge``, ``lost`` (to infrastructure errors), ``departing`` (in their replay), ``changed`` (by a
            rule), ``null`` (on tasks that pass without an agent) and ``null passed``; and how many tool results are not
            as recorded: ``results``, and ``flipped`` ones.
        rules: How many verdicts each rule of the profile has changed.
        stored: The numbers of trials and of passed ones by group, as stored, without those that rates exclude.
        fresh: The same, as graded again.
        uncounted: How many simulations rates exclude, by reason.
        uncompared: How many simulations are not compared, by reason.
        policies: How many conversations have an entry of the policy's rules (``found``), were ``checked``, have
            ``broken`` a rule, and have ``passed`` nevertheless.
        broken: How many conversations have broken each rule of the policy.
        problems: Why a rule of the policy could not be checked, by its name.
    """

    counts: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    stored: dict[Group, tuple[int, int]] = field(default_factory=dict)
    fresh: dict[Group, tuple[int, int]] = field(default_factory=dict)
    uncounted: Counter[str] = field(default_factory=Counter)
    uncompared: Counter[str] = field(default_factory=Counter)
    policies: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, result: Regraded) -> None:
        """Count a simulation."""
        lost = result.termination_reason == "infrastructure_error"
        marked = bool((result.fresh.info or {}).get("passes_without_agent"))
        flipped = sum(difference.flipped for difference in result.replay_differences)
        self.counts.update(("all", {True: "agree", False: "differ", None: "not compared"}[result.agrees]))
        self.counts.update(
            {
                "without judge": result.without_judge,
                "lost": lost,
                "departing": bool(result.replay_differences),
                "results": len(result.replay_differences),
                "flipped": flipped,
                "changed": bool(result.rules),
                "null": marked,
                "null passed": marked and result.fresh.passed,
            }
        )
        self.rules.update(result.rules)
        counted = not (lost or result.uncounted)
        self.uncounted.update([result.uncounted] if result.uncounted else ())
        self.uncompared.update([result.not_compared.partition(", those of task")[0]] if result.not_compared else ())
        _note(self.stored, result.group, result.stored, counted=counted)
        _note(self.fresh, result.group, result.fresh, counted=counted)
        if result.policy is not None:
            self._add_policy(result.policy, passed=result.fresh.passed, counted=not result.uncounted)

    def _add_policy(self, policy: PolicyReport, *, passed: bool, counted: bool) -> None:
        self.problems |= policy.problems
        self.policies["found"] += 1
        if policy.score is not None and counted:
            broken = bool(policy.breaches)
            self.policies.update({"checked": 1, "broken": broken, "passed": broken and passed})
            self.broken.update(list(policy.counts))

    def extend(self, other: Tally) -> None:
        """Add the simulations of another tally."""
        for name in ("counts", "rules", "policies", "broken", "problems", "uncounted", "uncompared"):
            getattr(self, name).update(getattr(other, name))
        for mine, theirs in ((self.stored, other.stored), (self.fresh, other.fresh)):
            for group, (ran, passed) in theirs.items():
                before = mine.get(group, (0, 0))
                mine[group] = before[0] + ran, before[1] + passed


def _note(trials: dict[Group, tuple[int, int]], group: Group, verdict: RewardInfo | None, *, counted: bool) -> None:
    """Count a trial; without a trial that counts, its group is known nevertheless, as it may be a variant."""
    ran, passed = trials.get(group, (0, 0))
    counts = counted and verdict is not None
    trials[group] = ran + counts, passed + (counts and verdict is not None and verdict.passed)


@dataclass
class FileReport:
    """The results of regrading one file.

    Attributes:
        path: The file.
        kind: Whose format it has, in words.
        domain: The domain that it was graded on; None if there is none.
        results: Its simulations, in order.
        tally: The numbers of all of its simulations, those without a result in ``results`` included.
        unreadable: What could not be read or graded.
        errors: Simulations that a strict replay refuses.
        only_notable: Whether results that are not notable are only counted, so that a file of any size needs no more
            memory.
        other_data: The call that shows that the run was made on other data than it was graded on, so that grading has
            ended there; empty if there is none.
    """

    path: Path
    kind: str
    domain: str | None = None
    results: list[Regraded] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    unreadable: list[Unreadable] = field(default_factory=list)
    errors: list[Unreadable] = field(default_factory=list)
    only_notable: bool = False
    other_data: str = ""

    def add(self, result: Regraded | Unreadable, *, strict_replay: bool = False) -> None:
        """Add a simulation; with a strict replay, one whose replay differs is an error."""
        if isinstance(result, Unreadable):
            self.unreadable.append(result)
        elif strict_replay and (differing := result.replay_differences):
            problem = f"replayed results that differ: {len(differing)}; first {differing[0]}"
            self.errors.append(Unreadable(result.entry, problem))
        else:
            self.tally.add(result)
            if not self.only_notable or result.is_notable:
                self.results.append(result)

    def extend(self, other: FileReport) -> None:
        """Add the simulations of the next part of the file."""
        self.results += other.results
        self.tally.extend(other.tally)
        self.unreadable += other.unreadable
        self.errors += other.errors
        self.other_data = self.other_data or other.other_data

    @property
    def differing(self) -> list[Regraded]:
        """Return the simulations whose rewards differ."""
        return [result for result in self.results if result.agrees is False]

    @property
    def agreeing(self) -> int:
        """Return the number of simulations with equal rewards."""
        return self.tally.counts["agree"]

    @property
    def about_others(self) -> list[Regraded]:
        """Return the simulations whose stored verdicts are about criteria of another task."""
        return [result for result in self.results if result.is_about_others]

    @property
    def lost(self) -> int:
        """Return the number of simulations with infrastructure errors, which rates exclude.

        Source: τ²-bench v1.0.1.
        """
        return self.tally.counts["lost"]

    def rates(self) -> tuple[dict[int, PassRate], dict[int, PassRate]]:
        """Return pass^k by k, stored and fresh; none if there are several domains or variants."""
        parts = self.rates_of_parts()
        return parts.get("", ({}, {}))

    def fewer_trials(self) -> str:
        """Return a note on the tasks that have fewer trials than others; empty if there are none."""
        return fewer_trials(trials for trials in self.tally.fresh.values() if trials[0])

    def rates_of_parts(self) -> dict[str, tuple[dict[int, PassRate], dict[int, PassRate]]]:
        """Return pass^k of each domain and variant by its name, empty if there is only one, as ``rates`` does."""
        tally = self.tally
        return {
            name: (_rates(tally.stored, groups), _rates(tally.fresh, groups))
            for name, groups in _parts(tally.fresh).items()
        }


def _parts(groups: Iterable[Group]) -> dict[str, list[Group]]:
    """Return the groups of each domain and variant by its name, which is empty if there is only one."""
    of_domains: dict[str, list[Group]] = {}
    for group in groups:
        of_domains.setdefault(group.domain, []).append(group)
    return {
        ", ".join(part for part in (domain if len(of_domains) > 1 else "", variant) if part): found
        for domain, its in of_domains.items()
        for variant, found in split_variants(its).items()
    }


def _rates(trials: Mapping[Group, tuple[int, int]], groups: Iterable[Group]) -> dict[int, PassRate]:
    """Return pass^k of groups by k.

    Args:
        trials: The numbers of trials and of passed ones.
        groups: The groups.
    """
    counts = [trials[group] for group in groups if trials[group][0]]
    most = max((ran for ran, _ in counts), default=0)
    return {k: rate for k in range(1, min(most, _MOST_TRIALS) + 1) if (rate := pass_hat_k(counts, k)) is not None}
