"""Intervals by resampling tasks, and percentiles."""

from __future__ import annotations

import random
from statistics import fmean, pvariance

import pytest

from pytest_tau.analysis.statistics import (
    Interval,
    binomial,
    mean_interval,
    pass_hat_k_interval,
    percentile,
    proportion_interval,
)


class TestPassHatK:
    """The interval of pass^k."""

    def test_it_lies_around_the_value_and_is_the_same_each_time(self):
        results = [(4, 4)] * 30 + [(4, 2)] * 10 + [(4, 0)] * 10
        for k, value in ((1, 0.7), (2, (30 + 10 / 6) / 50), (4, 0.6)):
            found = pass_hat_k_interval(results, k)
            assert found is not None
            assert found.low < value < found.high
            assert found == pass_hat_k_interval(list(reversed(results)), k)
        assert pass_hat_k_interval(results, 1) != pass_hat_k_interval(results, 1, seed=1)

    def test_more_tasks_and_less_confidence_make_it_narrower(self):
        few, many = [(1, 1)] * 16 + [(1, 0)] * 4, [(1, 1)] * 160 + [(1, 0)] * 40
        widths = [
            interval.high - interval.low
            for results, level in ((few, 0.95), (few, 0.8), (many, 0.95))
            if (interval := pass_hat_k_interval(results, 1, level=level))
        ]
        assert len(widths) == 3
        assert widths[0] > widths[1] > widths[2]

    def test_of_single_trials_it_is_close_to_wilsons(self):
        """160 of 200: 0.739 to 0.850."""
        found = pass_hat_k_interval([(1, 1)] * 160 + [(1, 0)] * 40, 1)
        assert found == pytest.approx((0.739, 0.850), abs=0.01)

    def test_trials_of_one_task_are_not_taken_for_tasks(self):
        """Ten tasks that pass always or never say no more with a hundred trials each than with one."""
        once = pass_hat_k_interval([(1, 1)] * 6 + [(1, 0)] * 4, 1)
        often = pass_hat_k_interval([(100, 100)] * 6 + [(100, 0)] * 4, 1)
        assert once == often

    def test_where_all_tasks_are_alike_it_is_wilsons(self):
        """n / (n + z²) with 20 tasks: 20 / 23.841."""
        assert pass_hat_k_interval([(3, 3)] * 20, 3) == pytest.approx((0.8389, 1.0), abs=1e-4)
        assert pass_hat_k_interval([(3, 0)] * 20, 1) == pytest.approx((0.0, 0.1611), abs=1e-4)

    def test_tasks_without_k_trials_do_not_count_and_one_task_gives_none(self):
        assert pass_hat_k_interval([(4, 2), (1, 1), (1, 0)], 2) is None
        assert pass_hat_k_interval([(2, 1), (2, 2), (1, 0)], 2) is not None
        assert pass_hat_k_interval([], 1) is None

    def test_it_has_the_truth_as_often_as_it_says(self):
        """Forty tasks, four trials each, whose rates have a mean of 0.7; 150 runs, so that ± 0.018 is noise."""
        generator, inside = random.Random(7), 0
        for _ in range(150):
            rates = [generator.betavariate(2.1, 0.9) for _ in range(40)]
            found = pass_hat_k_interval([(4, binomial(4, rate, generator)) for rate in rates], 1)
            assert found is not None
            inside += found.low <= 0.7 <= found.high
        assert 0.91 <= inside / 150 <= 0.99


class TestOthers:
    """Intervals of means and shares."""

    def test_a_mean_over_trials_weighs_tasks_by_their_trials(self):
        values = [[1.0, 3.0], [2.0], [4.0, 4.0, 4.0], [0.5]] * 10
        found = mean_interval(values)
        assert found is not None
        assert found.low < fmean(value for task in values for value in task) < found.high
        assert found == mean_interval(values)

    def test_of_the_same_value_everywhere_nothing_is_left_open(self):
        assert mean_interval([[0.25, 0.25]] * 5) == (0.25, 0.25)
        assert mean_interval([[0.1, 0.1, 0.1], [0.1]] * 9) == pytest.approx((0.1, 0.1))

    def test_one_task_gives_none(self):
        assert mean_interval([[1.0, 2.0], []]) is None
        assert proportion_interval([(4, 1)]) is None

    def test_a_share_that_is_nothing_so_far_may_yet_be_something(self):
        found = proportion_interval([(2, 0)] * 20)
        assert found is not None
        assert found.low == 0
        assert 0.1 < found.high < 0.2
        some = proportion_interval([(2, 1)] * 3 + [(2, 0)] * 17)
        assert some is not None
        assert 0 <= some.low < 3 / 40 < some.high

    def test_thousands_of_different_values_are_resampled_too(self):
        generator = random.Random(3)
        found = mean_interval([[generator.random() for _ in range(2)] for _ in range(2285)])
        assert found is not None
        assert found.low < 0.5 < found.high
        assert found.high - found.low == pytest.approx(2 * 1.96 * (1 / 24 / 2285) ** 0.5, rel=0.1)

    def test_format_rounds_to_the_given_digits(self):
        assert Interval(0.79, 0.89456).format() == "0.790 to 0.895"
        assert Interval(0.79, 0.89456).format(2) == "0.79 to 0.89"


class TestPercentiles:
    """Interpolated between neighbours."""

    @pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 2.5), (0.95, 3.85), (1.0, 4.0), (1 / 3, 2.0)])
    def test_of_four_values(self, share, expected):
        assert percentile([4.0, 1.0, 3.0, 2.0], share) == pytest.approx(expected)

    def test_of_one_and_of_none(self):
        assert percentile([7.0], 0.95) == 7.0
        assert percentile([], 0.5) is None


class TestBinomial:
    """Draws of how many succeed."""

    @pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.777, 0.999])
    def test_mean_and_variance_are_those_of_the_distribution(self, share):
        generator = random.Random(5)
        drawn = [binomial(50, share, generator) for _ in range(4000)]
        variance = 50 * share * (1 - share)
        assert fmean(drawn) == pytest.approx(50 * share, abs=4 * (variance / 4000) ** 0.5)
        assert pvariance(drawn) == pytest.approx(variance, rel=0.15)

    def test_certain_ones_are_certain(self):
        generator = random.Random(1)
        assert [binomial(9, share, generator) for share in (0.0, 1.0)] == [0, 9]
        assert binomial(0, 0.5, generator) == 0
