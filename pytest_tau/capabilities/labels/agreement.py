"""Agreement of two raters: Cohen's kappa, sensitivity and specificity, and a rate corrected for a judge's errors.

Source: Cohen (1960) for kappa; Rogan and Gladen (1978) for the corrected rate, with the interval of Lang and Reiczigel
(2014).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from ...analysis import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

_Z = NormalDist().inv_cdf(0.975)


class Rate(NamedTuple):
    """A share with its 95 % interval.

    Attributes:
        value: The share; None without a case.
        of: The number of cases.
        interval: The interval; None without a case.
    """

    value: float | None
    of: int
    interval: Interval | None

    @classmethod
    def among(cls, some: int, of: int) -> Rate:
        """Return the share of some cases among all."""
        return cls(some / of, of, wilson(some / of, of)) if of else cls(None, 0, None)


@dataclass
class Agreement:
    """How often a rater and people say the same.

    Attributes:
        pairs: How often each pair of a label by people and an answer of the rater occurs.
    """

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> Agreement:
        """Return the agreement of pairs, each the label by people and the answer of the rater."""
        return cls(Counter(pairs))

    @property
    def cases(self) -> int:
        """Return the number of cases."""
        return self.pairs.total()

    @property
    def agreement(self) -> Rate:
        """Return the share of cases in which both say the same."""
        return Rate.among(sum(many for (people, rater), many in self.pairs.items() if people == rater), self.cases)

    @property
    def kappa(self) -> float | None:
        """Return Cohen's kappa; None without a case, or if one label is all that either says."""
        if not self.cases:
            return None
        people, rater = Counter[str](), Counter[str]()
        for (label, answer), many in self.pairs.items():
            people[label] += many
            rater[answer] += many
        chance = sum(people[label] * rater[label] for label in people) / self.cases**2
        observed = self.agreement.value
        return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)

    def sensitivity(self, label: str) -> Rate:
        """Return how often the rater says a label where people do."""
        return self._share(label, meets=True)

    def specificity(self, label: str) -> Rate:
        """Return how often the rater does not say a label where people do not."""
        return self._share(label, meets=False)

    def _share(self, label: str, *, meets: bool) -> Rate:
        cases = [(rater, many) for (people, rater), many in self.pairs.items() if (people == label) is meets]
        right = sum(many for rater, many in cases if (rater == label) is meets)
        return Rate.among(right, sum(many for _, many in cases))


def corrected_rate(met: int, of: int, sensitivity: Rate, specificity: Rate) -> Rate | None:
    """Return the rate that people would find, given the rate that a judge finds and its errors on labelled cases.

    Args:
        met: The number of statements that the judge finds met.
        of: The number of statements.
        sensitivity: Of the judge, on labelled statements.
        specificity: Likewise.

    Returns:
        None if the errors are not known for both labels, or if the judge is no better than chance.
    """
    if not of or sensitivity.value is None or specificity.value is None:
        return None
    gain = sensitivity.value + specificity.value - 1
    if gain <= 0:
        return None
    value = min(max((met / of + specificity.value - 1) / gain, 0.0), 1.0)
    return Rate(value, of, _interval(met / of, of, sensitivity, specificity))


def _interval(rate: float, of: int, sensitivity: Rate, specificity: Rate) -> Interval:
    assert sensitivity.value is not None
    assert specificity.value is not None
    trials = of + _Z**2
    seen = (of * rate + _Z**2 / 2) / trials
    positives, negatives = sensitivity.of + 2, specificity.of + 2
    hit = (sensitivity.of * sensitivity.value + 1) / positives
    rejected = (specificity.of * specificity.value + 1) / negatives
    gain = hit + rejected - 1
    if gain <= 0:
        return Interval(0.0, 1.0)
    centre = (seen + rejected - 1) / gain
    of_positives, of_negatives = hit * (1 - hit) / positives, rejected * (1 - rejected) / negatives
    shift = 2 * _Z**2 * (centre * of_positives - (1 - centre) * of_negatives)
    variance = seen * (1 - seen) / trials + centre**2 * of_positives + (1 - centre) ** 2 * of_negatives
    reach = _Z * sqrt(variance) / gain
    return Interval(max(0.0, centre + shift - reach), min(1.0, centre + shift + reach))
