"""The arithmetic of the comparison of two runs, against enumeration and closed forms."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from fractions import Fraction
from math import sqrt
from statistics import NormalDist, fmean

import pytest

from pytest_tau.analysis import chance, paired
from pytest_tau.analysis.chance import SMALLEST, Seen, Values, tails
from pytest_tau.analysis.paired import Change, Pair, Paired, PassCount
from pytest_tau.analysis.statistics import binomial

NORMAL = NormalDist()
KEPT, LOST, GAINED, NEVER = (
    Pair(PassCount(1, one), PassCount(1, two)) for one, two in ((1, 1), (1, 0), (0, 1), (0, 0))
)


def pair(before: tuple[int, int], after: tuple[int, int]) -> Pair:
    """Trials and how many of them passed, of both runs."""
    return Pair(PassCount(*before), PassCount(*after))


class TestRates:
    """What is compared."""

    def test_of_a_task(self):
        found = pair((4, 3), (2, 1))
        assert (found.before.share, found.after.share, found.change) == (0.75, 0.5, -0.25)
        assert str(found.before) == "3 of 4"

    def test_each_task_weighs_the_same_however_many_trials_it_has(self):
        found = Paired([pair((4, 3), (3, 1)), pair((1, 0), (5, 2)), pair((2, 2), (2, 2))])
        assert found.before == pytest.approx((3 / 4 + 0 + 1) / 3)
        assert found.after == pytest.approx((1 / 3 + 2 / 5 + 1) / 3)
        assert found.difference == pytest.approx(found.after - found.before)


class TestTails:
    """The distribution of a sum of random numbers."""

    @pytest.mark.parametrize("sizes", [{1: 1}, {3: 1}, {1: 2}, {1: 1, 2: 1}, {1: 5}, {1: 3, 2: 2}, {2: 1, 3: 3, 7: 2}])
    def test_it_is_that_of_every_sign_one_by_one(self, sizes):
        numbers = list(Counter(sizes).elements())
        sums = [sum(signed) for signed in itertools.product(*((-number, number) for number in numbers))]
        for found in set(sums):
            below, above = tails(self.signed(sizes, found))
            assert above == pytest.approx(fmean((total > found) + (total == found) / 2 for total in sums))
            assert below == pytest.approx(1 - above)

    @staticmethod
    def signed(sizes, found):
        """Numbers with random signs; that one of them has the whole sum is of no importance."""
        parts = {Values(-size, 2 * size, (0.5, 0.5)): Seen(number, 0) for size, number in sizes.items()}
        first = next(iter(parts))
        return {**parts, first: Seen(parts[first].numbers, found)}

    def test_numbers_need_not_be_symmetric(self):
        """Two of 0 (0.5), 3 (0.25) and 6 (0.25), and one of -2 (0.9) and 5 (0.1)."""
        parts = {Values(0, 3, (0.5, 0.25, 0.25)): Seen(2, 6), Values(-2, 7, (0.9, 0.1)): Seen(1, -2)}
        # 4 is found: two numbers make 6 with a chance of 0.3125, and 0 or 3 with 0.5; with 5, any sum is above.
        below, equal = 0.9 * 0.5, 0.9 * 0.3125
        assert tails(parts) == pytest.approx((below + equal / 2, 1 - below - equal / 2))

    def test_what_takes_too_long_is_rounded(self, monkeypatch):
        generator = random.Random(4)
        pairs = []
        for _ in range(60):
            trials, rate = (generator.choice([8, 9, 10]), generator.choice([9, 10])), generator.random()
            shares = (rate, rate * 0.93)
            pairs.append(pair(*((n, binomial(n, share, generator)) for n, share in zip(trials, shares, strict=True))))
        exact = Paired(pairs).p
        assert 0.001 < exact < 0.5
        monkeypatch.setattr(chance, "_MOST_PRODUCTS", 100_000)
        assert chance._grid(Paired(pairs)._parts(signs=False)) > 10
        rounded = Paired(pairs).p
        assert rounded != exact
        assert rounded == pytest.approx(exact, rel=0.1)
        assert Paired([Pair(each.after, each.before) for each in pairs]).p == pytest.approx(rounded)

    def test_of_many_tasks_it_is_nearly_normal(self):
        """Of 100,000 signs the sum 632 is two standard deviations from 0."""
        below, above = tails(self.signed({1: 100_000}, 632))
        assert above == pytest.approx(1 - NORMAL.cdf(632 / sqrt(100_000)), rel=1e-3)
        assert below == pytest.approx(1 - above)

    def test_the_least_is_not_0(self):
        assert tails(self.signed({1: 1000}, 1000)) == (pytest.approx(1), SMALLEST)


class TestProbability:
    """The test over tasks."""

    def test_what_leads_as_far_counts_half_of_what_leads_further(self):
        found = Paired([LOST] * 3 + [GAINED])
        assert found.p == 2 * (1 / 16 + 4 / 16 / 2)
        assert Paired([LOST]).p == 0.5 * 2 * 0.5

    @pytest.mark.parametrize(
        "counts",
        [
            [((1, 1), (3, 2)), ((1, 0), (3, 1)), ((2, 1), (2, 0))],
            [((4, 4), (1, 0)), ((2, 2), (3, 1)), ((1, 1), (2, 2)), ((3, 1), (3, 2))],
            [((1, 0), (4, 4)), ((2, 0), (1, 1))],
        ],
    )
    def test_where_numbers_of_trials_differ_outcomes_are_redistributed(self, counts):
        """Every order of every task's outcomes, one by one; tasks with equal numbers keep the size of their change."""
        pairs = [pair(*each) for each in counts]
        found = sum(Fraction(two, after) - Fraction(one, before) for (before, one), (after, two) in counts)
        side = 1 if found > 0 else -1

        def tail(*tasks):
            sums = [side * sum(each) for each in itertools.product(*tasks)]
            return sum((total > side * found) + Fraction(total == side * found, 2) for total in sums) / len(sums)

        changes = [Fraction(two, after) - Fraction(one, before) for (before, one), (after, two) in counts]
        signs = [[-change, change] for change in changes]
        orders = [
            [
                Fraction(sum(place >= before for place in passed), after)
                - Fraction(sum(place < before for place in passed), before)
                for passed in itertools.combinations(range(before + after), one + two)
            ]
            if before != after
            else both
            for ((before, one), (after, two)), both in zip(counts, signs, strict=True)
        ]
        assert Paired(pairs).p == pytest.approx(float(min(1, 2 * max(tail(*signs), tail(*orders)))))

    def test_identical_agents_are_rarely_called_different_whatever_their_numbers_of_trials(self):
        """Signs alone are significant in 0.38 of such comparisons of 30 tasks, 0.10 of those of 50."""
        generator = random.Random(31)
        for tasks, rate, before, after in ((30, 0.97, 1, 10), (50, 0.95, 4, 1), (20, 0.9, 1, 4)):
            losses = gains = 0
            for _ in range(400):
                pairs = [
                    pair(*((trials, binomial(trials, rate, generator)) for trials in (before, after)))
                    for _ in range(tasks)
                ]
                found = Paired(pairs)
                losses += found.p < 0.05 and found.difference < 0
                gains += found.p < 0.05 and found.difference > 0
            assert losses <= 0.025 * 400, (tasks, rate)
            assert gains <= 0.025 * 400, (tasks, rate)

    def test_a_single_trial_of_each_task_is_no_evidence_of_a_loss_of_some(self):
        """16 of 16 before, and 123 of 128 now, lost on five tasks."""
        found = Paired([pair((1, 1), (8, 7))] * 5 + [pair((1, 1), (8, 8))] * 11)
        assert found.p > 0.5
        assert found.interval.low < 0 <= found.interval.high

    def test_a_loss_is_found(self):
        found = Paired([pair((1, 1), (4, 1))] * 12 + [pair((1, 1), (4, 4))] * 20)
        assert found.p < 0.01
        assert found.interval.high < 0


class TestInterval:
    """Means of random subsets."""

    def test_subsets_that_are_not_empty_are_equally_likely(self):
        changes = Counter({Change(3, 1): 1, Change(-2, 2): 2})
        means = paired._subset_means(changes, 1, 7000)
        assert len(means) == 7000
        numbers = list(changes.elements())
        subsets = [
            sum(change.total for change in subset) / sum(change.tasks for change in subset)
            for size in range(1, len(numbers) + 1)
            for subset in itertools.combinations(numbers, size)
        ]
        found = Counter(means)
        for mean, ways in Counter(subsets).items():
            assert found[mean] == pytest.approx(1000 * ways, abs=5 * sqrt(1000 * ways))
        assert set(found) == set(subsets)

    @pytest.mark.parametrize(
        ("share", "value"), [(0.0, 1), (0.124, 1), (0.125, 1), (0.126, 2), (0.5, 2), (0.51, 3), (0.875, 3), (1.0, 3)]
    )
    def test_half_of_what_equals_a_quantile_lies_below_it(self, share, value):
        assert paired._mid_quantile([1, 2, 2, 3], share) == value

    def test_it_is_that_of_all_subsets(self):
        """Eight tasks, all 255 subsets."""
        passed = [(3, 1), (2, 0), (3, 3), (2, 3), (3, 0), (1, 2), (0, 1), (3, 2)]
        numbers = [after - before for before, after in passed]
        subsets = [
            fmean(subset) for size in range(1, len(numbers) + 1) for subset in itertools.combinations(numbers, size)
        ]
        low, high = Paired([pair((3, before), (3, after)) for before, after in passed], samples=40_000).interval
        for end, side in ((low, -1), (high, 1)):
            beyond = [sum((mean / 3 - at) * side > 0 for mean in subsets) / 255 for at in (end - 1e-6, end + 1e-6)]
            assert min(beyond) - 0.006 <= 0.025 <= max(beyond) + 0.006

    def test_the_empty_subset_is_one_of_all(self):
        """Four of six tasks lost: of 64 subsets, those of the two that did not change, and the empty one, are 4."""
        found = Paired([pair((4, 4), (4, 2))] * 3 + [pair((4, 4), (4, 3))] + [pair((4, 4), (4, 4))] * 2)
        assert found.p == 4 / 64
        assert found.interval == (-0.5, 0)

    def test_it_excludes_0_if_and_only_if_the_difference_is_significant(self):
        generator = random.Random(5)
        seen = []
        for _ in range(400):
            trials = generator.choice([2, 3, 4])
            before, after = ([generator.randint(0, trials) for _ in range(generator.choice([6, 7, 12]))] for _ in "ab")
            pairs = [pair((trials, one), (trials, two)) for one, two in zip(before, after, strict=False)]
            found = Paired(pairs, samples=1000)
            if len(pairs) >= 6 and len({each.change for each in pairs}) > 1:
                assert (found.interval.low <= 0 <= found.interval.high) is (found.p >= 0.05), pairs
                mirrored = Paired([Pair(each.after, each.before) for each in pairs], samples=1000).interval
                assert found.interval == (-mirrored.high, -mirrored.low)
                seen.append(found.p < 0.05)
        assert 10 < sum(seen) < len(seen)

    def test_where_numbers_of_trials_differ_it_agrees_with_the_test(self):
        generator, seen = random.Random(8), Counter()
        for _ in range(300):
            sides = [[(n := generator.randint(1, 5), generator.randint(0, n)) for _ in range(9)] for _ in "ab"]
            pairs = [pair(*each) for each in zip(*sides, strict=True)]
            found = Paired(pairs, samples=1000)
            assert (found.interval.low <= 0 <= found.interval.high) is (found.p >= 0.05), pairs
            assert found.interval.low <= found.difference <= found.interval.high
            seen[found.p < 0.05] += 1
        assert min(seen.values()) > 5

    @pytest.mark.parametrize(("before", "after", "loss"), [(1, 10, -0.02), (10, 1, 0.02), (1, 10, 0.1)])
    def test_where_numbers_of_trials_differ_it_has_the_truth(self, before, after, loss):
        """Means of subsets alone have it in 0.62 to 0.89 of comparisons."""
        generator, covered = random.Random(9), 0
        for number in range(200):
            runs = ((before, 0.97), (after, 0.97 - loss))
            pairs = [pair(*((n, binomial(n, rate, generator)) for n, rate in runs)) for _ in range(30)]
            low, high = Paired(pairs, seed=number, samples=500).interval
            covered += low <= -loss <= high
        assert covered >= 0.95 * 200

    def test_it_is_of_ten_thousand_subsets_and_the_seed(self):
        pairs = [pair((4, number % 5), (4, number * 3 % 5)) for number in range(30)]
        assert Paired(pairs).interval == Paired(pairs, samples=10_000).interval
        assert len({Paired(pairs, seed=seed, samples=501).interval for seed in range(4)}) > 1

    @pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2), (0, 0)])
    def test_where_all_changed_alike_it_is_what_none_of_so_many_tasks_has_shown(self, before, after):
        low, high = Paired([pair((2, before), (2, after))] * 10).interval
        unseen = 1 - 0.025 ** (1 / 10)
        centre = (after - before) / 2 * (1 - unseen)
        assert (low, high) == pytest.approx((centre - unseen, centre + unseen))

    def test_it_ends_at_a_change_of_everything(self):
        assert Paired([LOST] * 9).interval.low == -1
        assert Paired([GAINED] * 9).interval.high == 1
        assert Paired([LOST] * 9).interval.high == pytest.approx(-Paired([GAINED] * 9).interval.low)

    def test_a_run_has_the_same_numbers_in_each_version(self):
        generator = random.Random(2)
        pairs = [pair((4, generator.randint(0, 4)), (4, generator.randint(0, 3))) for _ in range(25)]
        assert Paired(pairs).interval == pytest.approx((-0.3333333333333333, 0.019230769230769232), abs=1e-9)


class TestPower:
    """The chance that a loss is found."""

    @staticmethod
    def chance(loss, variance, tasks):
        """The test's threshold is 1.96 standard deviations under no difference, where the loss adds to the variance."""
        limit = NORMAL.inv_cdf(0.975) * sqrt((variance + loss**2) / tasks)
        return NORMAL.cdf((loss - limit) / sqrt(variance / tasks))

    def test_of_no_loss_it_is_the_level_of_one_side(self):
        pairs = [pair((4, 3), (4, 2)), pair((4, 1), (4, 2)), pair((4, 4), (4, 4))] * 4
        assert paired.losses(pairs).power(0.0) == pytest.approx(0.025)

    @pytest.mark.parametrize("trials", [1, 4])
    @pytest.mark.parametrize("share", [0.1, 0.3])
    def test_where_everything_passes_only_trials_vary(self, trials, share):
        model = paired.losses([pair((trials, trials), (trials, trials))] * 40)
        assert model.power(share) == pytest.approx(self.chance(share, share * (1 - share) / trials, 40))

    @pytest.mark.parametrize("share", [0.1, 0.3])
    def test_where_half_of_the_tasks_pass_tasks_lose_differently(self, share):
        """Each passing task loses the share, the others nothing: a variance of a quarter of its square."""
        model = paired.losses([pair((2, 2), (2, 2)), pair((2, 0), (2, 0))] * 20)
        variance = (1 - share) * share * 0.5 / 2 + share**2 / 4
        assert model.rate == 0.5
        assert model.power(share) == pytest.approx(self.chance(share / 2, variance, 40))

    @pytest.mark.parametrize("share", [0.1, 0.5])
    def test_trials_that_vary_by_themselves_are_half_of_what_is_believed_at_least(self, share):
        """Of four trials two pass, before and now: a variance of 1/3 without bias, and no differences are seen."""
        model = paired.losses([pair((4, 2), (4, 2))] * 40)
        later = (1 - share) * (1 / 3 + share * (1 / 2 - 1 / 3))
        variance = (1 / 3 / 4 + later / 4) / 2
        assert model.power(share) == pytest.approx(self.chance(share / 2, variance, 40))

    @pytest.mark.parametrize("share", [0.2, 0.6])
    def test_differences_that_are_seen_vary_as_later_trials_will(self, share):
        """Before 3 of 4 and 1 of 4; now 0 of 2 and 2 of 2: changes of -3/4 and 3/4."""
        model = paired.losses([pair((4, 3), (2, 0)), pair((4, 1), (2, 2))] * 20)
        within = 3 / 12  # of before; of now, there is none
        later = (1 - share) * (within + share * (1 / 2 - within))
        variance = 9 / 16 + later / 2 + share**2 * (1 / 4 - within)
        assert model.power(share) == pytest.approx(self.chance(share / 2, variance, 40))

    def test_a_drift_of_all_tasks_is_no_variance(self):
        model = paired.losses([pair((1, 1), (1, 0))] * 40)
        # Pooled, one of two trials passes: 1/2 before and now.
        later = 0.9 * (1 / 2 + 0.1 * (1 - 1 / 2))
        assert model.power(0.1) == pytest.approx(self.chance(0.1, (1 / 2 + later) / 2, 40))

    def test_a_single_trial_is_pooled_with_those_of_the_other_run(self):
        single = pair((1, 1), (3, 1))
        assert paired._variance_within(single.before, single) == pytest.approx(2 * 2 / (4 * 3))
        assert paired._variance_within(single.after, single) == pytest.approx(1 * 2 / (3 * 2))
        two = pair((2, 1), (3, 3))
        assert paired._variance_within(two.before, two) == pytest.approx(1 / 2)

    def test_a_loss_of_everything_without_any_variance_is_found_or_not(self):
        assert paired.losses([KEPT] * 40).power(1.0) == 1.0
        assert paired.losses([KEPT] * 3).power(1.0) == 0.0

    def test_the_smallest_loss_has_the_power_and_counts_what_passes(self):
        pairs = [pair((2, 2), (2, 2)), pair((2, 0), (2, 0))] * 20
        for power in (0.5, 0.8):
            found = paired.losses(pairs).smallest(power)
            assert paired.losses(pairs).power(found / 0.5) == pytest.approx(power, abs=1e-6)
        assert Paired(pairs).smallest_loss == paired.losses(pairs).smallest(0.8)

    def test_five_tasks_can_show_a_loss_and_four_cannot(self):
        assert Paired([KEPT] * 5).smallest_loss is not None
        assert Paired([KEPT] * 4).smallest_loss is None

    def test_a_power_that_nothing_reaches_gives_none(self):
        pairs = [KEPT] * 3 + [NEVER] * 27
        most = paired.losses(pairs).power(1.0)
        assert 0.1 < most < 0.9
        assert paired.losses(pairs).smallest(most + 0.01) is None
        assert paired.losses(pairs).smallest(most - 0.01) is not None


class TestClusters:
    """Tasks that move together are one observation."""

    def test_signs_are_those_of_clusters(self):
        """Two clusters of three lost tasks each, and a task that gained: two signs of 3, and one of 1."""
        found = Paired([LOST] * 6 + [GAINED], clusters=[*"aaabbb", None])
        sums = [sum(signed) for signed in itertools.product((-3, 3), (-3, 3), (-1, 1))]
        assert found.p == pytest.approx(2 * fmean((total < -5) + (total == -5) / 2 for total in sums))
        assert found.difference == Paired([LOST] * 6 + [GAINED]).difference == pytest.approx(-5 / 7)
        assert (found.independent, found.unit_name) == (3, "cluster")

    def test_clusters_of_one_task_each_change_nothing(self):
        pairs = [LOST] * 7 + [GAINED] * 2 + [KEPT] * 4
        found, alone = Paired(pairs, clusters=range(13)), Paired(pairs)
        assert found.unit_name == "task"
        assert (found.p, found.interval, found.smallest_loss) == (alone.p, alone.interval, alone.smallest_loss)

    def test_a_single_cluster_shows_nothing(self):
        found = Paired([LOST] * 30, clusters=["a"] * 30)
        assert (found.p, found.interval, found.smallest_loss) == (0.5, None, None)

    def test_clusters_that_changed_alike_leave_open_what_so_many_observations_do(self):
        found = Paired([LOST] * 30, clusters=[place // 5 for place in range(30)])
        assert found.interval == Paired([LOST] * 6).interval

    def test_outcomes_are_redistributed_within_tasks_and_even_tasks_of_a_cluster_move_together(self):
        pairs = [pair((1, 1), (4, 1)), *[pair((2, 2), (2, 0))] * 8]
        found, alone = Paired(pairs, clusters=[None, *"aaaabbbb"]), Paired(pairs)
        assert alone.p < 0.01
        assert found.p == pytest.approx(2 / 2**3 / 2)  # the least of three signs, counted half

    def test_what_may_be_seen_is_a_greater_loss(self):
        pairs, labels = [KEPT] * 30 + [LOST] * 2 + [GAINED] * 2 + [NEVER] * 6, [place % 10 for place in range(40)]
        assert Paired(pairs, clusters=labels).smallest_loss > Paired(pairs).smallest_loss

    def test_false_alarms_stay_below_the_level_and_intervals_have_the_truth(self):
        """Ten templates of five tasks; on half of them the later agent is another one, no better in all."""
        generator = random.Random(12)
        alarms = alone = covered = 0
        for _ in range(200):
            pairs = []
            for _ in range(10):
                before = after = generator.betavariate(1.4, 0.6)
                if generator.random() < 0.5:
                    after = generator.betavariate(1.4, 0.6)
                pairs += [pair(*((2, binomial(2, each, generator)) for each in (before, after))) for _ in range(5)]
            found = Paired(pairs, samples=500, clusters=[place // 5 for place in range(50)])
            alarms += found.p < 0.05
            alone += Paired(pairs).p < 0.05
            covered += found.interval.low <= 0 <= found.interval.high
        assert alarms / 200 <= 0.08
        assert covered / 200 >= 0.92
        assert alone / 200 >= 0.15
