from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from pytest_tau.analysis.metrics import pass_hat_k

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
            rates.append(sum(all(choice) for choice in choices) / len(choices))
    found = pass_hat_k(results, k)
    if rates:
        assert found == pytest.approx(sum(rates) / len(rates))
    else:
        assert found is None


def test_examples() -> None:
    assert pass_hat_k([(4, 4), (4, 2)], 1) == 0.75
    assert pass_hat_k([(4, 4), (4, 2)], 2) == pytest.approx((1 + 1 / 6) / 2)
    assert pass_hat_k([(4, 4), (4, 2)], 4) == 0.5
    assert pass_hat_k([], 1) is None


def test_tasks_with_fewer_trials_limit_k_for_themselves_only() -> None:
    """One task that lost trials must not take a column from the whole run."""
    assert pass_hat_k([(4, 4), (1, 0)], 1) == 0.5
    assert pass_hat_k([(4, 4), (1, 0)], 2) == 1.0
    assert pass_hat_k([(1, 1)], 2) is None


def test_any_iterable_will_do() -> None:
    assert pass_hat_k(iter([(1, 1), (1, 0)]), 1) == 0.5
