"""The faults of simulated users, with the rates that they affect."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from ...runs.groups import find_variants
from ...text import plural
from ...validity import GAVE_UP, NOT_UNDERSTOOD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ...runs.record import TrialRecord


@dataclass(frozen=True)
class UserFaults:
    """The faults of the simulated users of some trials.

    Attributes:
        trials: The number of trials with a verdict.
        faulty: The number of them in which the user has made a fault.
        excluded: The number of them that are excluded from rates.
        checks: In how many trials each check has found something, the most frequent first.
        rate: pass^1 of all trials with a verdict; None if there is none, or for several variants.
        valid_rate: pass^1 without the trials in which the user has made a fault.
        discarded: The number of attempts that were run again.
        first_rate: pass^1 of the first attempts; None if no trial was run again.
        failed: The number of failed trials.
        not_understood: The number of them that are put on the user because it did not understand the agent.
        gave_up: The number of them that are put on the user because it gave up, although it had understood the agent.
    """

    trials: int
    faulty: int
    excluded: int
    checks: tuple[tuple[str, int], ...]
    rate: float | None
    valid_rate: float | None
    discarded: int = 0
    first_rate: float | None = None
    failed: int = 0
    not_understood: int = 0
    gave_up: int = 0

    @classmethod
    def of(cls, records: Sequence[TrialRecord]) -> UserFaults:
        """Return the faults of these trials."""
        ran = [record for record in records if record.outcome != "error"]
        checks = Counter(check for record in ran for check in record.user_faults)
        pooled = not find_variants(record.group for record in ran)
        again = any(record.attempts for record in ran)
        of_user = [
            record for record in ran if record.outcome == "failed" and (record.blame or {}).get("party") == "user"
        ]
        deaf = sum(NOT_UNDERSTOOD in record.user_faults for record in of_user)
        return cls(
            trials=len(ran),
            faulty=sum(bool(record.user_faults) for record in ran),
            excluded=sum(record.excluded for record in ran),
            checks=tuple(sorted(checks.items(), key=lambda found: (-found[1], found[0]))),
            rate=pass_1((record, record.passed) for record in ran) if pooled else None,
            valid_rate=pass_1((record, record.passed) for record in ran if not record.user_faults) if pooled else None,
            discarded=sum(max(0, record.attempts - 1) for record in ran),
            first_rate=pass_1((record, _first_passed(record)) for record in ran) if again and pooled else None,
            failed=sum(record.outcome == "failed" for record in ran),
            not_understood=deaf,
            gave_up=sum({NOT_UNDERSTOOD, GAVE_UP}.intersection(record.user_faults) == {GAVE_UP} for record in of_user),
        )

    @property
    def of_failures(self) -> list[str]:
        """Return how many failures are those of a user that did not understand the agent; none if there are none."""
        found = ((self.not_understood, "the user did not understand the agent"), (self.gave_up, "the user gave up"))
        return [f"{number:,} of {plural(self.failed, 'failure')}: {what}" for number, what in found if number]

    @property
    def parts(self) -> list[str]:
        """Return the parts of a line of the summary; none if no user has made a fault."""
        if not self.faulty and not self.discarded:
            return []
        found = [f"{self.faulty:,} of {plural(self.trials, 'trial')}"]
        found += [f"{name} {number:,}" for name, number in self.checks]
        found += [f"pass^1 {_shown(self.rate)} with these trials"] if self.rate is not None else []
        found += [f"{_shown(self.valid_rate)} without them"] if self.rate is not None else []
        found += ["rates exclude them"] if self.excluded else []
        found += [f"{plural(self.discarded, 'attempt')} discarded"] if self.discarded else []
        return [*found, *([f"pass^1 {self.first_rate:.3f} of first attempts"] if self.first_rate is not None else [])]


def _first_passed(record: TrialRecord) -> bool:
    return record.passed if record.first_reward is None else record.first_reward >= 1


def pass_1(trials: Iterable[tuple[TrialRecord, bool]]) -> float | None:
    """Return pass^1 of trials, each with whether it counts as passed."""
    tasks: dict[object, list[bool]] = {}
    for record, passed in trials:
        tasks.setdefault(record.group, []).append(passed)
    return fmean(fmean(each) for each in tasks.values()) if tasks else None


def _shown(rate: float | None) -> str:
    return "unknown" if rate is None else f"{rate:.3f}"
