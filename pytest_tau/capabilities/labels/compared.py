"""The labels of runs next to what the tool says of the same trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from .agreement import Agreement, Rate, corrected_rate
from .questions import questions_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...models import Simulation
    from .questions import Question
    from .table import Label, Subject


class Difference(NamedTuple):
    """A case in which people and the tool differ.

    Attributes:
        question: The question, with the tool's answer.
        label: The answer of people.
    """

    question: Question
    label: Label


class Compared:
    """Agreement of each judge, each rule and the party at fault with labels by people.

    Attributes:
        of: The agreement, by the kind of label and whose answers are compared.
        differences: The cases that differ, in the order of the trials.
        rates: By judge, how many statements it found met, and how many it judged, labelled or not.
        unused: The labels whose simulation or item no run has.
    """

    def __init__(self, labels: Mapping[Subject, Label]) -> None:
        self._labels = labels
        self.unused = dict(labels)
        self.of: dict[tuple[str, str], Agreement] = defaultdict(Agreement)
        self.differences: list[Difference] = []
        self.rates: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, simulations: Iterable[Simulation]) -> None:
        """Add the trials of a run."""
        for simulation in simulations:
            for question in questions_of(simulation):
                if question.subject.kind == "statement":
                    self.rates[question.by][question.answer] += 1
                label = self._labels.get(question.subject)
                if label is None:
                    continue
                self.unused.pop(question.subject, None)
                self.of[question.subject.kind, question.by].pairs[label.label, question.answer] += 1
                if label.label != question.answer:
                    self.differences.append(Difference(question, label))

    def corrected(self, judge: str) -> Rate | None:
        """Return the share of a judge's statements that people would find met; None if that cannot be said."""
        agreement, seen = self.of.get(("statement", judge), Agreement()), self.rates[judge]
        errors = agreement.sensitivity("met"), agreement.specificity("met")
        return corrected_rate(seen["met"], seen.total(), *errors)

    @property
    def judge_kappa(self) -> float | None:
        """Return Cohen's kappa over all labelled statements; None without one, or if one label is all that is said."""
        statements = [agreement for (kind, _), agreement in self.of.items() if kind == "statement"]
        return Agreement(sum((agreement.pairs for agreement in statements), Counter())).kappa
