"""The faults of simulated users in a summary and a comparison, with the rates that they affect."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analysis import pass_1
from ...runs import find_variants
from ...text import plural
from .facts import NOT_UNDERSTOOD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...capability import Compared, Measured
    from ...runs import TrialRecord


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
        undecided: The number of them with such a message of which it is not known whether the agent or the user failed.
        lost: The number of messages that scripted users did not understand.
        lost_trials: The number of trials with such a message.
        gave_up: The number of trials in which the scripted user gave up.
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
    undecided: int = 0
    lost: int = 0
    lost_trials: int = 0
    gave_up: int = 0

    @classmethod
    def of(cls, trials: Sequence[Measured]) -> UserFaults:
        """Return the faults of these trials."""
        graded = [trial for trial in trials if trial.record.outcome != "error"]
        ran: list[TrialRecord] = [trial.record for trial in graded]
        valid = [trial.record for trial in graded if trial.facts.valid]
        checks = Counter(check for trial in graded for check in trial.facts.checks)
        pooled = not find_variants(record.group for record in ran)
        again = any(record.attempts > 1 for record in ran)
        failed = [(_party(trial.record), trial) for trial in graded if trial.record.outcome == "failed"]
        return cls(
            trials=len(ran),
            faulty=len(ran) - len(valid),
            excluded=sum(record.excluded is not None for record in ran),
            checks=tuple(sorted(checks.items(), key=lambda check: (-check[1], check[0]))),
            rate=pass_1((record, record.passed) for record in ran) if pooled else None,
            valid_rate=pass_1((record, record.passed) for record in valid) if pooled else None,
            discarded=sum(record.attempts - 1 for record in ran),
            first_rate=pass_1((record, _first_passed(record)) for record in ran) if again and pooled else None,
            failed=len(failed),
            not_understood=sum(party == "user" and NOT_UNDERSTOOD in trial.facts.checks for party, trial in failed),
            undecided=sum(
                party == "undecided" and (trial.facts.lost > 0 or trial.facts.gave_up) for party, trial in failed
            ),
            lost=sum(trial.facts.lost for trial in graded),
            lost_trials=sum(trial.facts.lost > 0 for trial in graded),
            gave_up=sum(trial.facts.gave_up for trial in graded),
        )

    @property
    def of_failures(self) -> list[str]:
        """Return how many failures are, or may be, those of a user that did not understand the agent."""
        counted = (
            (self.not_understood, "the user did not understand the agent"),
            (self.undecided, "undecided whether the agent or the user failed"),
        )
        return [
            f"{number:,} of {plural(self.failed, 'failure')}: {explanation}"
            for number, explanation in counted
            if number
        ]

    @property
    def of_scripted(self) -> str:
        """What scripted users did not understand, and how many gave up, whoever is at fault; empty if none did."""
        lost = f"did not understand {plural(self.lost, 'message')} in {plural(self.lost_trials, 'trial')}"
        left = f"gave up in {plural(self.gave_up, 'trial')}"
        behaviour = " and ".join(text for text, number in ((lost, self.lost), (left, self.gave_up)) if number)
        return behaviour and f"the scripted user {behaviour}"

    @property
    def parts(self) -> list[str]:
        """Return the parts of a line of the summary; none if no user has made a fault."""
        if not self.faulty and not self.discarded:
            return []
        texts = [f"{self.faulty:,} of {plural(self.trials, 'trial')}"]
        texts += [f"{name} {number:,}" for name, number in self.checks]
        texts += [f"pass^1 {_shown(self.rate)} with these trials"] if self.rate is not None else []
        texts += [f"{_shown(self.valid_rate)} without them"] if self.rate is not None else []
        texts += ["rates exclude them"] if self.excluded else []
        texts += [f"{plural(self.discarded, 'attempt')} discarded"] if self.discarded else []
        return [*texts, *([f"pass^1 {self.first_rate:.3f} of first attempts"] if self.first_rate is not None else [])]


def _party(record: TrialRecord) -> str | None:
    return record.info.blame.party if record.info.blame else None


def _first_passed(record: TrialRecord) -> bool:
    return record.passed if record.first_reward is None else record.first_reward >= 1


def _shown(rate: float | None) -> str:
    return "unknown" if rate is None else f"{rate:.3f}"


def summary(trials: Sequence[Measured]) -> Iterator[str]:
    """Yield the failures of users that did not understand the agent, what scripted users did, and the users' faults."""
    faults = UserFaults.of(trials)
    yield from filter(None, [", ".join(faults.of_failures), faults.of_scripted, ", ".join(faults.parts)])


def comparison(compared: Compared) -> list[str]:
    """Return the faults of the users of two runs, if they made any."""
    both = [UserFaults.of(side) for side in (compared.before, compared.after)]
    if not any(faults.faulty for faults in both):
        return []
    texts = []
    for faults in both:
        # Trials of variants are not pooled, so they have no rate together.
        rates = (
            f" (pass^1 {faults.rate:.3f} with them, {_shown(faults.valid_rate)} without them)"
            if faults.rate is not None
            else ""
        )
        texts.append(f"{faults.faulty:,} of {plural(faults.trials, 'trial')}{rates}")
    return [f"faults of the user: {' -> '.join(texts)}"]
