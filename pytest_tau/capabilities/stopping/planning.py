"""What a run can show before it is made: the smallest loss, the tasks and trials that a loss needs, its cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from ...analysis import POWER, Losses, pass_hat_k_interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...analysis import Gate
    from ...runs import TrialRecord

#: How alike tasks are, unless an earlier run shows it: the sum of the parameters of the beta distribution of their
#: rates of passing. Of two, a task is as likely to pass seldom as often; two thirds of the variance are of trials.
LIKENESS = 2.0
#: No more tasks, and no more trials of a task, are looked for.
MOST_TASKS, MOST_TRIALS = 100_000, 1000
#: With fewer tasks, not even the loss of all of them is significant: its p-value is 0.5 ** tasks.
FEWEST_TASKS = 5


class Population(NamedTuple):
    """The tasks, as far as a comparison of runs depends on them.

    Attributes:
        rate: The mean rate of passing.
        within: The mean variance of a trial within its task, from 0 to 0.25.
        guessed: Whether the variance is assumed, not measured.
        together: How many tasks move with a task, itself included; the mean over tasks. 1 without clusters.
    """

    rate: float
    within: float
    guessed: bool
    together: float = 1.0

    @classmethod
    def guess(cls, rate: float) -> Population:
        """Return a population of a mean rate whose tasks differ widely."""
        return cls(rate, rate * (1 - rate) * LIKENESS / (LIKENESS + 1), guessed=True)

    @classmethod
    def of(cls, records: Iterable[TrialRecord], rate: float | None = None) -> Population | None:
        """Return the population that an earlier run shows; None without a verdict.

        Args:
            records: The trials of the earlier run.
            rate: The mean rate, if another one is expected.
        """
        tasks: dict[Any, list[bool]] = defaultdict(list)
        clusters: dict[Any, tuple[str, str] | None] = {}
        for record in records:
            if record.ran:
                tasks[record.group].append(record.passed)
                clusters[record.group] = record.moves_with
        if not tasks:
            return None
        seen = fmean(fmean(outcomes) for outcomes in tasks.values())
        several = [outcomes for outcomes in tasks.values() if len(outcomes) > 1]
        sizes = Counter((place,) if cluster is None else cluster for place, cluster in enumerate(clusters.values()))
        together = sum(size**2 for size in sizes.values()) / len(tasks)
        if rate is not None or not several:
            return cls.guess(seen if rate is None else rate)._replace(together=together)
        within = fmean(_variance(sum(outcomes), len(outcomes)) for outcomes in several)
        return cls(seen, within, guessed=False, together=together)


def _variance(passed: int, trials: int) -> float:
    return passed * (trials - passed) / (trials * (trials - 1))


def smallest_loss(tasks: Population, number: int, before: float, after: float) -> float | None:
    """Return the loss that is significant with a probability of 80 %; None if there is none.

    Args:
        tasks: The population of the tasks.
        number: How many tasks are compared.
        before: The number of trials of each in the earlier run.
        after: The same in the later run.
    """
    return _losses(tasks, number, before, after).smallest() if number / tasks.together >= FEWEST_TASKS else None


def _losses(tasks: Population, number: int, before: float, after: float) -> Losses:
    return Losses.planned(tasks.rate, tasks.within, number, before, after, number / tasks.together)


def _shows(tasks: Population, number: int, trials: int, loss: float) -> bool:
    if number / tasks.together < FEWEST_TASKS or loss > tasks.rate:
        return False
    return _losses(tasks, number, trials, trials).power(loss / tasks.rate) >= POWER


def tasks_needed(tasks: Population, trials: int, loss: float) -> int | None:
    """Return how many tasks, with so many trials each in both runs, show a loss; None if too many."""
    return _least(lambda number: _shows(tasks, number, trials, loss), MOST_TASKS)


def trials_needed(tasks: Population, number: int, loss: float) -> int | None:
    """Return how many trials of each of so many tasks, in both runs, show a loss; None if no number does."""
    return _least(lambda trials: _shows(tasks, number, trials, loss), MOST_TRIALS)


def _least(enough: Any, most: int) -> int | None:
    """Return the least number that is enough, as every greater one is; None if even the most are not."""
    if not enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Unanswerable(NamedTuple):
    """A gate of which no result of the run differs clearly.

    Attributes:
        low: Where the interval begins if every trial passes; None for a single task, or cluster of tasks, which has no
            interval.
        needed: How many tasks a clear result needs.
        unit: What moves by itself: ``task``, or ``cluster of tasks``.
    """

    low: float | None
    needed: int
    unit: str = "task"

    def __str__(self) -> str:
        begins = f"even if every trial passes, its 95 % interval begins at {self.low or 0:.3f}"
        reason = f"a single {self.unit} has no interval" if self.low is None else begins
        return f"{reason}; {self.needed} tasks are needed for a clear result"


def unanswerable(gate: Gate, tasks: int, together: float = 1.0) -> Unanswerable | None:
    """Return why a run of so many tasks cannot answer a gate of a pass rate; None if it can, or for another gate.

    The value decides whether the gate is met. But if even the best result has the bound within its 95 % interval, the
    opposite verdict is never far. Of a bound of 1, which no number of tasks shows, nothing is said.

    Args:
        gate: The gate.
        tasks: How many tasks there are.
        together: How many tasks move with a task, itself included.
    """
    if not gate.name.startswith("pass^") or gate.operator not in (">=", ">") or tasks < 1:
        return None

    def answers(number: int) -> bool:
        low = _lowest(number, together)
        return low is not None and low >= gate.bound

    needed = None if answers(tasks) else _least(answers, MOST_TASKS // 10)
    unit = "cluster of tasks" if together > 1 else "task"
    return Unanswerable(_lowest(tasks, together), needed, unit) if needed is not None else None


def _lowest(tasks: int, together: float) -> float | None:
    """Return where the interval of so many tasks that all pass begins; None if they have none."""
    interval = pass_hat_k_interval([(1, 1)] * int(tasks / together), 1)
    return interval.low if interval is not None else None


class Usage(NamedTuple):
    """What a trial takes, on average.

    Attributes:
        sent: Tokens sent; None if not known.
        received: Tokens received; None if not known.
        usd: Its cost; None if not known.
        seconds: Its duration; None if not known.
    """

    sent: float | None = None
    received: float | None = None
    usd: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, records: Iterable[TrialRecord]) -> Usage:
        """Return what the trials of an earlier run took."""
        all_records = list(records)
        called = [record for record in all_records if record.model_usage]
        costs = [cost for record in called if (cost := record.cost) is not None]
        timed = [record.duration for record in all_records if record.duration]
        return cls(
            _mean([float(sum(used.prompt_tokens for used in record.model_usage.values())) for record in called]),
            _mean([float(sum(used.completion_tokens for used in record.model_usage.values())) for record in called]),
            _mean(costs) if len(costs) == len(called) else None,
            _mean(timed),
        )

    def priced(self, sent: float, received: float) -> Usage:
        """Return the same at other prices, in USD per million tokens sent and received."""
        if self.sent is None or self.received is None:
            return self
        return self._replace(usd=(self.sent * sent + self.received * received) / 1e6)

    def of_trials(self, trials: int, concurrency: int) -> dict[str, Any]:
        """Return what so many trials take: tokens, USD, and hours if so many run at a time."""
        return {
            "trials": trials,
            "tokens_sent": None if self.sent is None else ceil(self.sent * trials),
            "tokens_received": None if self.received is None else ceil(self.received * trials),
            "usd": None if self.usd is None else self.usd * trials,
            "hours": None if self.seconds is None else self.seconds * trials / concurrency / 3600,
        }


def _mean(values: list[float]) -> float | None:
    return fmean(values) if values else None
