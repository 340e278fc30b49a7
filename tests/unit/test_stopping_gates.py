"""What is predicted of a gate that is not settled, and from what."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.metrics import by_task
from pytest_tau.capabilities.stopping.predictive import (
    FEWEST_TASKS,
    Cell,
    cells_of,
    probabilities,
    probability_at_least,
)

from .test_gates import planned_tasks, record, records


class TestPredicted:
    """What is predicted of a gate that is not settled, and from what."""

    def waiting(self, passed=7, failed=3, errors=0):
        """Tasks with one of two trials."""
        outcomes = ["passed"] * passed + ["failed"] * failed + ["error"] * errors
        trials = [record(str(number), 0, outcome) for number, outcome in enumerate(outcomes)]
        return by_task(trials, planned_tasks(**{str(number): 2 for number in range(len(outcomes))}))

    @pytest.mark.parametrize(
        ("operator", "strict", "below"),
        [(">=", False, False), (">", True, False), ("<=", True, True), ("<", False, True)],
    )
    def test_the_probability_is_of_the_bound_and_the_direction(self, operator, strict, below):
        above = probability_at_least({Cell(1, 1, 1): 7, Cell(1, 0, 1): 3}, 0.6, strict=strict)
        assert 0.05 < above < 0.95
        (found,) = probabilities(Gate.parse(f"pass^1{operator}0.6"), self.waiting()).values()
        assert found == pytest.approx(1 - above if below else above)

    def test_errors_are_predicted_from_all_trials(self):
        above = probability_at_least({Cell(1, 0, 1): 9, Cell(1, 1, 1): 2}, 0.2)
        (found,) = probabilities(Gate.parse("errors>=0.2"), self.waiting(6, 3, 2)).values()
        assert found == pytest.approx(above)

    def test_what_is_settled_has_a_probability_of_0_or_1(self):
        tasks = self.waiting()
        for text, expected in (("pass^1>=0.9", 0.0), ("pass^1>=0.3", 1.0), ("reward>=0.9", 0.0)):
            assert probabilities(Gate.parse(text), tasks) == {"": expected}

    def test_errors_count_trials_that_are_excluded(self):
        trials = [*records(a="pe"), *(record("a", trial=number, excluded="x") for number in (2, 3))]
        tasks = by_task(trials, planned_tasks(a=5))
        assert cells_of(Gate.parse("errors<=1"), tasks.values()) == Counter([Cell(4, 1, 1)])
        tasks = by_task(records(a="ppe", b="pp"), planned_tasks(a=4, b=2))
        assert cells_of(Gate.parse("errors<=1"), tasks.values()) == Counter([Cell(3, 1, 1), Cell(2, 0, 0)])

    @pytest.mark.parametrize("text", ["pass^1>=0.5", "pass^1<0.5"])
    def test_too_few_tasks_have_no_probability(self, text):
        assert probabilities(Gate.parse(text), self.waiting(FEWEST_TASKS - 4, 3)) == {"": None}

    @pytest.mark.parametrize("text", ["reward>=0.6", "duration<=0.6"])
    def test_metrics_that_are_not_predicted_have_no_probability(self, text):
        assert probabilities(Gate.parse(text), self.waiting()) == {"": None}

    def test_the_probability_at_the_bound_itself(self):
        outcomes = {f"t{number}": "pf" if number % 2 else "pp" for number in range(20)}
        tasks = by_task(records(**outcomes), planned_tasks(**dict.fromkeys(outcomes, 4)))
        at_least, more = (probabilities(Gate.parse(f"pass^1{operator}0.75"), tasks)[""] for operator in (">=", ">"))
        at_most, less = (probabilities(Gate.parse(f"pass^1{operator}0.75"), tasks)[""] for operator in ("<=", "<"))
        assert at_least + less == pytest.approx(1)
        assert more + at_most == pytest.approx(1)
        assert 0 < more < at_least < 1
