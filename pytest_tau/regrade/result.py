"""Stored and fresh verdicts side by side: of one simulation, and of a file's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..analysis.metrics import pass_hat_k
from ..runs.result_entries import Unreadable
from .reward_diff import reward_differences

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ..models import RewardInfo
    from ..policy import PolicyReport
    from .replay_diff import ReplayDifference

#: Rates are shown up to this k.
_MOST_TRIALS = 8


@dataclass(frozen=True)
class Regraded:
    """A simulation with both of its verdicts.

    Attributes:
        entry: Where in the file.
        id: The simulation's own id.
        stored: The file's verdict; None if it has none.
        fresh: Ours.
        expected: The stored reward that the fresh one is compared with; None if nothing can be compared.
        without_judge: Both exclude the NL assertions, because there is no judge.
        replay_differences: The replayed results that differ from the recorded ones.
        rules: Rules of the profile, each of which alone makes the verdict differ from the official one.
        policy: What the rules of the domain's policy found; None if they were not checked.
    """

    entry: str
    id: str
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

    @property
    def agrees(self) -> bool | None:
        """Return whether both rewards are equal, within the reference's tolerance; None if nothing can be compared."""
        return None if self.expected is None else abs(self.expected - self.fresh.reward) <= 1e-6

    @property
    def reasons(self) -> list[str]:
        """Return what makes the two verdicts differ, a line each; empty if they agree."""
        if self.agrees is not False:
            return []
        changed = [f"by the rule {rule}" for rule in self.rules]
        flipped = [f"replay: {difference}" for difference in self.replay_differences if difference.flipped]
        return changed + reward_differences(self.stored, self.fresh) + flipped


@dataclass
class FileReport:
    """The results of regrading one file.

    Attributes:
        path: The file.
        kind: Whose format it has, in words.
        domain: The domain that it was graded on; None if there is none.
        results: Its simulations, in order.
        unreadable: What could not be read or graded.
        errors: Simulations that a strict replay refuses.
    """

    path: Path
    kind: str
    domain: str | None = None
    results: list[Regraded] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    errors: list[Unreadable] = field(default_factory=list)

    def add(self, result: Regraded | Unreadable, *, strict_replay: bool = False) -> None:
        """Add a simulation; with a strict replay, one whose replay differs is an error."""
        if isinstance(result, Unreadable):
            self.unreadable.append(result)
        elif strict_replay and (differing := result.replay_differences):
            problem = f"replayed results that differ: {len(differing)}; first {differing[0]}"
            self.errors.append(Unreadable(result.entry, problem))
        else:
            self.results.append(result)

    def extend(self, other: FileReport) -> None:
        """Add the simulations of the next part of the file."""
        self.results += other.results
        self.unreadable += other.unreadable
        self.errors += other.errors

    @property
    def differing(self) -> list[Regraded]:
        """Return the simulations whose rewards differ."""
        return [result for result in self.results if result.agrees is False]

    @property
    def agreeing(self) -> int:
        """Return the number of simulations with equal rewards."""
        return sum(result.agrees is True for result in self.results)

    @property
    def lost(self) -> int:
        """Return the number of simulations with infrastructure errors, which rates exclude.

        Source: τ²-bench v1.0.1.
        """
        return sum(result.termination_reason == "infrastructure_error" for result in self.results)

    def rates(self) -> tuple[dict[int, float], dict[int, float]]:
        """Return pass^k by k, stored and fresh."""
        ran = [result for result in self.results if result.termination_reason != "infrastructure_error"]
        stored = [(result.task_id, result.stored.passed) for result in ran if result.stored is not None]
        return _rates(stored), _rates([(result.task_id, result.fresh.passed) for result in ran])


def _rates(passed: Iterable[tuple[str, bool]]) -> dict[int, float]:
    trials: dict[str, list[bool]] = {}
    for task_id, one in passed:
        trials.setdefault(task_id, []).append(one)
    counts = [(len(all_of), sum(all_of)) for all_of in trials.values()]
    most = max((ran for ran, _ in counts), default=0)
    return {k: rate for k in range(1, min(most, _MOST_TRIALS) + 1) if (rate := pass_hat_k(counts, k)) is not None}
