"""Intervals by resampling tasks, and percentiles."""

from __future__ import annotations

import random
from math import fsum, nextafter
from statistics import NormalDist, fmean, pvariance
from types import SimpleNamespace

import pytest

from pytest_tau.analysis import statistics as statistics_module
from pytest_tau.analysis.statistics import (
    RESAMPLES,
    Interval,
    binomial,
    difference_interval,
    mean_interval,
    pass_hat_k_interval,
    percentile,
    percentile_interval,
    ratio_interval,
    resampled_counts,
    student_quantile,
    wilson,
)

NORMAL = NormalDist()
#: Student's two-sided quantiles at 5 %, from a table, by degrees of freedom.
STUDENT = {
    1: 12.7062,
    2: 4.3027,
    3: 3.1824,
    4: 2.7764,
    5: 2.5706,
    9: 2.2622,
    30: 2.0423,
    47: 2.0117,
    48: 2.0106,
    57: 2.0025,
}


def by_the_book(values):
    """BCa of a ratio of sums, from equations 14.9, 14.10, 14.14 and 14.15 of Efron and Tibshirani.

    The quantiles are those of Hesterberg's expanded percentiles.
    """
    pairs = sorted({(fsum(task), len(task)) for task in values})
    counts = tuple(sum((fsum(task), len(task)) == pair for task in values) for pair in pairs)
    everyone = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    estimate = sum(top for top, _ in everyone) / sum(trials for _, trials in everyone)
    found = sorted(statistics_module._resampled(pairs, counts))
    below = sum(one < estimate - 1e-9 for one in found) + sum(abs(one - estimate) <= 1e-9 for one in found) / 2
    bias = NORMAL.inv_cdf(below / len(found))
    pulls = [top - estimate * trials for top, trials in everyone]
    acceleration = sum(pull**3 for pull in pulls) / (6 * sum(pull**2 for pull in pulls) ** 1.5)
    ends = []
    quantile = STUDENT[len(values) - 1] * (len(values) / (len(values) - 1)) ** 0.5
    for reach in (-quantile, quantile):
        shifted = bias + reach
        place = NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)) * (len(found) - 1)
        left = int(place)
        ends.append(found[left] + (found[left + 1] - found[left]) * (place - left))
    return tuple(ends)


class TestPassHatK:
    """The interval of pass^k."""

    def test_it_lies_around_the_value_and_is_the_same_each_time(self):
        results = [(4, 4)] * 30 + [(4, 2)] * 10 + [(4, 0)] * 10
        for k, value in ((1, 0.7), (2, (30 + 10 / 6) / 50), (4, 0.6)):
            found = pass_hat_k_interval(results, k)
            assert found is not None
            assert found.low < value < found.high
            assert found == pass_hat_k_interval(list(reversed(results)), k)

    def test_more_tasks_make_it_narrower(self):
        few, many = (pass_hat_k_interval([(1, 1)] * 4 * times + [(1, 0)] * times, 1) for times in (4, 40))
        assert few.high - few.low > many.high - many.low

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

    @pytest.mark.parametrize("size", [1.0, 1e6, 1e30])
    def test_of_values_that_are_equal_but_for_rounding_nothing_is_left_open(self, size):
        found = mean_interval([[0.3 * size], [(0.1 + 0.2) * size]] * 5)
        assert found is not None
        assert found.low == found.high

    @pytest.mark.parametrize("size", [1e-9, 1e-7, 1e-3, 1e6, 1e30])
    def test_the_unit_of_the_values_does_not_matter(self, size):
        """Such as the costs of trials of a cheap model, in USD."""
        values = [1, 2, 3, 5, 8, 1, 2] * 3
        one, other = mean_interval([[value] for value in values]), mean_interval([[size * value] for value in values])
        assert one is not None
        assert other == pytest.approx((one.low * size, one.high * size), rel=1e-9, abs=0)

    @pytest.mark.exhaustive
    @pytest.mark.parametrize(("tasks", "divisor"), [(300, 10), (10_000, 3e9)])
    def test_ties_in_long_sums_are_found_whatever_their_rounding(self, monkeypatch, tasks, divisor):
        """Whole numbers have exact sums; the same ones divided have not, and the same ties."""
        shares = []
        counted = statistics_module._NORMAL.inv_cdf
        monkeypatch.setattr(
            statistics_module,
            "_NORMAL",
            SimpleNamespace(cdf=NORMAL.cdf, inv_cdf=lambda p: shares.append(p) or counted(p)),
        )
        generator = random.Random(7)
        values = [generator.choice([0, *range(1, tasks // 12)]) for _ in range(tasks)]
        for by in (1, divisor):
            mean_interval([[value / by] for value in values])
        bias, *_ = shares
        assert shares[: len(shares) // 2] == shares[len(shares) // 2 :]
        assert 0 < bias < 1

    def test_large_values_that_differ_leave_something_open(self):
        found = mean_interval([[999_999.0], [1_000_001.0]] * 5)
        assert found is not None
        assert found.low < 1_000_000 < found.high

    def test_one_task_gives_none(self):
        assert mean_interval([[1.0, 2.0], []]) is None
        assert ratio_interval([(1, 4)], proportion=True) is None

    def test_a_share_that_is_nothing_so_far_may_yet_be_something(self):
        found = ratio_interval([(0, 2)] * 20, proportion=True)
        assert found is not None
        assert found.low == 0
        assert 0.1 < found.high < 0.2
        some = ratio_interval([(1, 2)] * 3 + [(0, 2)] * 17, proportion=True)
        assert some is not None
        assert 0 <= some.low < 3 / 40 < some.high

    def test_thousands_of_different_values_are_resampled_too(self):
        generator = random.Random(3)
        found = mean_interval([[generator.random() for _ in range(2)] for _ in range(2285)])
        assert found is not None
        assert found.low < 0.5 < found.high
        assert found.high - found.low == pytest.approx(2 * 1.96 * (1 / 24 / 2285) ** 0.5, rel=0.1)

    def test_it_is_shown_with_three_digits(self):
        assert Interval(0.79, 0.89456).format() == "0.790 to 0.895"
        assert Interval(-0.1, 0.0204).signed == "95 % interval -0.100 to +0.020"


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

    def test_a_draw_of_certain_chance_needs_no_randomness(self):
        class Never(random.Random):
            def getrandbits(self, _):
                raise AssertionError("nothing is drawn")

        assert binomial(7, 1.0, Never()) == 7
        assert binomial(7, 0.0, Never()) == 0
        assert binomial(0, 0.5, Never()) == 0


class TestBCa:
    """Bias and skewness are corrected as the book says."""

    @pytest.mark.parametrize(
        "values",
        [
            pytest.param([[1.0], [2.0], [2.5], [3.0], [20.0], [1.5]], id="skewed"),
            pytest.param([[1.0, 3.0], [2.0], [4.0, 4.0, 9.0], [0.5], [7.0, 7.5]], id="of-several-trials"),
            pytest.param([[-5.0], [-1.0], [0.0], [30.0]] * 12, id="many-tasks"),
            pytest.param([[1.0], [0.0]] * 9 + [[0.0]] * 40, id="few-distinct-values"),
        ],
    )
    def test_against_the_equations(self, values):
        assert mean_interval(values) == pytest.approx(by_the_book(values), rel=1e-3)

    def test_without_bias_and_skewness_it_is_of_percentiles(self):
        found = [float(number) for number in range(1001)]
        assert statistics_module._bca(found, 500.0, 0.0, 0.0, 1.0) == pytest.approx((25.0, 975.0))

    def test_an_estimate_outside_of_all_resamples_gives_their_end(self):
        found = [float(number) for number in range(1000)]
        assert statistics_module._bca(found, 5000.0, 0.0, 0.0, 1.0) == pytest.approx((998.999, 999.0), abs=1)
        low, high = statistics_module._bca(found, -5000.0, 0.0, 0.0, 1.0)
        assert (low, high) == pytest.approx((0.0, 0.001), abs=1)

    @pytest.mark.parametrize(("acceleration", "ends"), [(0.9, (0.0, 999.0)), (-0.9, (0.0, 999.0))])
    def test_past_the_pole_of_the_correction_the_extreme_is_meant(self, acceleration, ends):
        found = [float(number) for number in range(1000)]
        interval = statistics_module._bca(found, 499.5, acceleration, 0.0, 1.0)
        pole = interval.high if acceleration > 0 else interval.low
        assert pole == ends[acceleration > 0]

    def test_at_the_pole_itself_too(self):
        found, reach = [float(number) for number in range(1000)], NORMAL.inv_cdf(0.975)
        pole = next(each for each in (1 / reach, nextafter(1 / reach, 1)) if 1 - each * reach <= 0)
        assert statistics_module._bca(found, 499.5, pole, 0.0, 1.0).high == 999.0


class TestFewTasks:
    """Of few tasks, intervals are wider than the bootstrap is."""

    @pytest.mark.parametrize(("freedom", "quantile"), STUDENT.items())
    def test_students_quantile(self, freedom, quantile):
        assert student_quantile(freedom) == pytest.approx(quantile, abs=0.005)

    def test_of_many_tasks_it_is_that_of_the_normal_distribution(self):
        assert student_quantile(100_000) == pytest.approx(NORMAL.inv_cdf(0.975), abs=1e-4)

    def test_a_proportion_has_wilsons_interval_of_the_trials_that_would_vary_so(self):
        """Shares of 0.5, 0.75 and 1 in five tasks: their mean varies as that of 10.67 trials does."""
        found = pass_hat_k_interval([(4, 2), (4, 3), (4, 4), (4, 2), (4, 4)], 1)
        trials = 0.75 * 0.25 / (0.25 / 4 / 5)
        assert found.low <= wilson(0.75, trials, 2.7764).low + 1e-4
        assert found.high >= wilson(0.75, trials, 2.7764).high - 1e-4

    @pytest.mark.parametrize(
        ("alpha", "beta"),
        [(1, 1), *(pytest.param(*further, marks=pytest.mark.exhaustive) for further in [(1.4, 0.6), (7, 3)])],
    )
    def test_it_has_the_truth_as_often_as_it_says(self, alpha, beta):
        """Five tasks, four trials each: by the bootstrap alone 0.86 to 0.90; 200 runs, so that ± 0.015 is noise."""
        generator, inside = random.Random(7), 0
        for _ in range(200):
            rates = [generator.betavariate(alpha, beta) for _ in range(5)]
            found = pass_hat_k_interval([(4, binomial(4, rate, generator)) for rate in rates], 1)
            inside += found.low <= alpha / (alpha + beta) <= found.high
        assert inside / 200 >= 0.93


class TestClusters:
    """Tasks that move together are one observation."""

    def test_they_are_resampled_together(self):
        results = [(4, 4), (4, 4), (4, 1), (4, 1), (2, 0), (4, 3)]
        found = pass_hat_k_interval(results, 1, ["a", "a", "b", "b", None, None])
        assert found == ratio_interval([(2.0, 2), (0.5, 2), (0.0, 1), (0.75, 1)], proportion=True)
        assert pass_hat_k_interval(results, 1, [None] * 6) == pass_hat_k_interval(results, 1)

    def test_of_one_cluster_there_is_no_interval(self):
        assert pass_hat_k_interval([(4, 4), (4, 1)], 1, ["a", "a"]) is None
        assert mean_interval([[1.0], [2.0]], clusters=["a", "a"]) is None
        assert percentile_interval([[1.0], [2.0]], 0.5, ["a", "a"]) is None
        assert difference_interval([0.5, 0.25], ["a", "a"]) is None

    def test_clusters_that_are_all_alike_count_as_so_many_trials(self):
        assert pass_hat_k_interval([(3, 3)] * 20, 1, [place // 5 for place in range(20)]) == wilson(1.0, 4)

    def test_a_task_without_a_trial_does_not_count(self):
        assert pass_hat_k_interval([(0, 0), (3, 3), (3, 0)], 1, ["a", "a", "b"]) == pass_hat_k_interval(
            [(3, 3), (3, 0)], 1
        )

    def test_percentiles_and_differences_are_over_clusters_too(self):
        values, labels = [[float(each)] for each in range(40)], [place // 10 for place in range(40)]
        alone, together = percentile_interval(values, 0.5), percentile_interval(values, 0.5, labels)
        assert together.high - together.low > 1.5 * (alone.high - alone.low)
        changes = [0.5] * 4 + [-0.25] * 4 + [0.0] * 4
        low, high = difference_interval(changes, [place // 4 for place in range(12)])
        assert difference_interval([-each for each in changes], [place // 4 for place in range(12)]) == (-high, -low)
        assert high - low > difference_interval(changes).high - difference_interval(changes).low

    def test_it_has_the_truth_as_often_as_it_says(self):
        """Twelve templates of five tasks whose rates are one; without clusters the interval has the truth in 0.65."""
        generator, inside, without = random.Random(5), 0, 0
        for _ in range(150):
            rates = [generator.betavariate(1.4, 0.6) for _ in range(12)]
            results = [(2, binomial(2, rate, generator)) for rate in rates for _ in range(5)]
            found = pass_hat_k_interval(results, 1, [place // 5 for place in range(60)])
            alone = pass_hat_k_interval(results, 1)
            inside += found.low <= 0.7 <= found.high
            without += alone.low <= 0.7 <= alone.high
        assert inside / 150 >= 0.91
        assert without / 150 <= 0.8


class TestEvents:
    """Means and percentiles over the events of trials, which have different numbers of them."""

    @pytest.mark.parametrize("proportion", [True, False])
    def test_events_are_as_values_of_trials(self, proportion):
        tasks = [[1.0, 0.0, 1.0], [1.0], [0.0, 0.0], [1.0, 1.0, 1.0, 0.5]]
        found = ratio_interval([(sum(values), len(values)) for values in tasks] + [(0.0, 0)], proportion=proportion)
        assert found == pytest.approx(mean_interval(tasks, proportion=proportion))

    def test_the_interval_of_a_median_is_that_of_its_rank(self):
        values = [[float(number)] for number in range(1, 101)]
        low, high = percentile_interval(values, 0.5)
        reach = 1.9842 * 0.5 / 99**0.5  # Student's quantile, 99 degrees of freedom
        assert (low, high) == pytest.approx((1 + 99 * (0.5 - reach), 1 + 99 * (0.5 + reach)), rel=1e-4)

    def test_tasks_whose_events_are_alike_are_a_few_and_not_many(self):
        alone = percentile_interval([[float(number)] for number in range(100)], 0.9)
        together = percentile_interval(
            [[float(number + each) for each in range(10)] for number in range(0, 100, 10)], 0.9
        )
        assert together.low < alone.low
        assert percentile_interval([[1.0, 2.0]], 0.5) is None
        assert percentile_interval([[1.0, 2.0], [], [3.0]], 0.5) is not None


class TestRounding:
    """Numbers that differ by how they were computed are equal."""

    @pytest.mark.parametrize("trials", [1, 10, 30])
    def test_an_interval_moves_with_its_values(self, trials):
        values = [number / 20 for number in (*[0] * 10, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55)]
        low, high = mean_interval([[value] * trials for value in values])
        moved = mean_interval([[value + 1e9] * trials for value in values])
        assert moved == pytest.approx((low + 1e9, high + 1e9), abs=1e-5, rel=0)

    @pytest.mark.parametrize("value", [1e12 + 1 / 3, 1e14 / 3])
    def test_equal_means_of_tasks_have_an_interval_of_no_width(self, value):
        interval = mean_interval([[value] * trials for trials in (1, 3, 7, 11)])
        assert interval.low == interval.high

    def test_shares_that_are_equal_but_for_rounding_have_an_interval_of_equal_ones(self):
        assert 1 - 0.9999 != 0.0001
        assert mean_interval([[1 - 0.9999], [0.0001]], proportion=True) == pytest.approx(wilson(0.0001, 2))


class TestDifferences:
    """The order of two runs decides on the sign alone."""

    @pytest.mark.parametrize(
        "differences",
        [
            [0.0, -0.25, -0.25, -0.25, 0.0, -0.25, 0.0, -0.5],
            [0.5, -0.25, 0.25, 0.0, 0.1, 0.1],
            [-0.5, 0.5, 0.25, -0.25, 0.0],
        ],
    )
    def test_the_interval_of_the_other_order_is_the_mirror_image(self, differences):
        low, high = difference_interval(differences)
        assert difference_interval([-each for each in differences]) == (-high, -low)
        assert low < fmean(differences) < high
        reached = mean_interval([each] for each in differences)
        assert (low, high) == pytest.approx(reached, abs=0.05)

    @pytest.mark.parametrize("differences", [[], [0.5], [0.25] * 8])
    def test_there_is_none_of_one_task_or_of_differences_that_are_all_alike(self, differences):
        assert difference_interval(differences) is None

    def test_differences_that_are_as_their_mirror_image_have_a_symmetric_interval(self):
        low, high = difference_interval([-0.5, 0.5, 0.25, -0.25, 0.0, 0.0])
        assert low == -high < 0


class TestWilson:
    """The interval where all tasks are alike."""

    @pytest.mark.parametrize("rate", [0.0, 0.25, 0.5, 1.0])
    def test_its_ends_are_where_the_score_test_stops_rejecting(self, rate):
        """|rate - p| = z sqrt(p (1 - p) / n) at both ends, or at the one that is not 0 or 1."""
        low, high = wilson(rate, 12)
        z = NORMAL.inv_cdf(0.975)
        for end in (low, high):
            assert end == rate or abs(rate - end) == pytest.approx(z * (end * (1 - end) / 12) ** 0.5)
        assert low == 0 if rate == 0 else 0 < low < rate
        assert high == 1 if rate == 1 else rate < high < 1

    def test_a_rate_that_all_tasks_share_is_given_one(self):
        assert pass_hat_k_interval([(4, 2)] * 12, 1) == wilson(0.5, 12)
        assert ratio_interval([(1, 4)] * 12, proportion=True) == wilson(0.25, 12)
        assert mean_interval([[0.5]] * 10, proportion=True) == wilson(0.5, 10)

    def test_a_rate_at_an_end_has_that_end(self):
        assert {wilson(1.0, trials).high for trials in range(1, 200)} == {1.0}
        assert {wilson(0.0, trials).low for trials in range(1, 200)} == {0.0}


class TestResampling:
    """As many are drawn as there are, each as likely as any other."""

    def test_counts_have_the_moments_of_a_multinomial_distribution(self):
        counts = (60, 30, 10)
        drawn = resampled_counts(counts)
        assert len(drawn) == RESAMPLES
        assert {sum(each) for each in drawn} == {100}
        for place, count in enumerate(counts):
            variance = count * (1 - count / 100)
            column = [each[place] for each in drawn]
            assert fmean(column) == pytest.approx(count, abs=4 * (variance / RESAMPLES) ** 0.5)
            assert pvariance(column) == pytest.approx(variance, rel=0.15)

    @pytest.mark.parametrize(
        ("pairs", "counts"),
        [
            pytest.param([(0.0, 1), (1.0, 1)], (35, 5), id="counts-of-few-distinct-values"),
            pytest.param([(0.0, 2), (1.0, 2), (2.0, 2)], (5, 3, 2), id="tasks-with-as-many-trials"),
            pytest.param([(0.0, 1), (1.0, 3), (2.0, 2)], (5, 3, 2), id="tasks-with-unlike-numbers-of-trials"),
        ],
    )
    def test_the_ratios_vary_as_they_do_around_the_estimate(self, pairs, counts):
        """To first order, a ratio's variance is that of the tasks' deviations, over the square of what it divides by."""
        tasks, trials = sum(counts), sum(count * below for count, (_, below) in zip(counts, pairs, strict=True))
        estimate = sum(count * above for count, (above, _) in zip(counts, pairs, strict=True)) / trials
        spread = sum(
            count * (above - estimate * below) ** 2 for count, (above, below) in zip(counts, pairs, strict=True)
        )
        found = list(statistics_module._resampled(pairs, counts))
        assert len(found) == RESAMPLES
        assert tasks < trials or {below for _, below in pairs} == {1}
        assert fmean(found) == pytest.approx(estimate, abs=5 * (spread / trials**2 / RESAMPLES) ** 0.5)
        assert pvariance(found) == pytest.approx(spread / trials**2, rel=0.2)

    def test_a_run_has_the_same_intervals_in_each_version(self):
        """With more than 15 tasks for each distinct value, counts are drawn; stored reports keep their figures."""
        for tasks, interval in ((30, (0.466666666667, 0.807695019163)), (31, (0.451612903226, 0.806451612903))):
            found = pass_hat_k_interval([(1, 1)] * 20 + [(1, 0)] * (tasks - 20), 1)
            assert found == pytest.approx(interval, abs=1e-9)
        shares = [(1, 3)] * 20 + [(0, 3)] * 5 + [(2, 2)] * 3
        assert ratio_interval(shares, proportion=True) == pytest.approx((0.245093059916, 0.407691516255), abs=1e-9)
        generator = random.Random(9)
        values = [[generator.random() for _ in range(2)] for _ in range(31)]
        assert mean_interval(values) == pytest.approx((0.356289773215, 0.495938698227), abs=1e-9)
