from __future__ import annotations

import itertools
from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from pytest_tau.analysis.metrics import Range, fewer_trials, pass_hat_k

RESULTS = st.lists(
    st.integers(0, 5).flatmap(lambda trials: st.tuples(st.just(trials), st.integers(0, trials))), max_size=5
)


@given(RESULTS, st.integers(1, 5))
def test_it_is_the_share_of_choices_of_k_trials_that_all_pass(results: list[tuple[int, int]], k: int) -> None:
    rates = []
    for trials, passed in results:
        outcomes = [True] * passed + [False] * (trials - passed)
        choices = list(combinations(outcomes, k))
        if choices:
            rates.append((sum(all(choice) for choice in choices) / len(choices),) * 2)
        elif trials:
            rates.append((0.0, float(passed == trials)))
    found = pass_hat_k(results, k)
    if any(trials >= k for trials, _ in results):
        low, high = (sum(ends) / len(rates) for ends in zip(*rates, strict=True))
        assert found == pytest.approx((low, high) if low < high else low)
    else:
        assert found is None


@given(RESULTS)
def test_it_never_rises_with_k(results: list[tuple[int, int]]) -> None:
    found = [rate for k in range(1, 6) if (rate := pass_hat_k(results, k)) is not None]
    ends = [rate if isinstance(rate, Range) else Range(rate, rate) for rate in found]
    for fewer, more in itertools.pairwise(ends):
        assert more.low <= fewer.low + 1e-9
        assert more.high <= fewer.high + 1e-9


def test_examples() -> None:
    assert pass_hat_k([(4, 4), (4, 2)], 1) == 0.75
    assert pass_hat_k([(4, 4), (4, 2)], 2) == pytest.approx((1 + 1 / 6) / 2)
    assert pass_hat_k([(4, 4), (4, 2)], 4) == 0.5
    assert pass_hat_k([], 1) is None


def test_a_task_that_lost_trials_counts_for_each_k() -> None:
    """It must neither take a column from the whole run, nor raise pass^k by being left out."""
    assert pass_hat_k([(4, 4), (1, 0)], 1) == 0.5
    assert pass_hat_k([(4, 4), (1, 0)], 2) == 0.5
    assert pass_hat_k([(3, 3), (2, 0)], 3) == 0.5
    assert pass_hat_k([(3, 3), (2, 1)], 3) == 0.5
    assert pass_hat_k([(3, 3), (2, 2)], 3) == Range(0.5, 1.0)
    assert f"{pass_hat_k([(3, 3), (2, 2)], 3):.3f}" == "0.500 to 1.000"
    assert pass_hat_k([(3, 3), (0, 0)], 3) == 1.0
    assert pass_hat_k([(1, 1)], 2) is None


def test_any_iterable_will_do() -> None:
    assert pass_hat_k(iter([(1, 1), (1, 0)]), 1) == 0.5


def test_tasks_with_fewer_trials_are_said() -> None:
    assert fewer_trials([(3, 3), (2, 0), (1, 1)]) == (
        "2 tasks with fewer than 3 trials: for a greater k, 0 if one failed, else open"
    )
    assert fewer_trials(iter([(2, 2), (2, 0)])) == ""
    assert fewer_trials([(1, 1), (0, 0)]) == ""
    assert fewer_trials([]) == ""
