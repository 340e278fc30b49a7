"""The size of runs: bounds of looks, predictions, and what a plan says."""

from __future__ import annotations

import random
from collections import Counter
from math import comb
from statistics import NormalDist, fmean
from typing import NamedTuple

import pytest
from trial_records import trial_record

from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.paired import Pair, Paired, PassCount
from pytest_tau.analysis.power import Losses
from pytest_tau.analysis.statistics import binomial
from pytest_tau.capabilities.stopping.looks import judge, plan_looks
from pytest_tau.capabilities.stopping.planned import draw_key
from pytest_tau.capabilities.stopping.planning import (
    Population,
    Usage,
    smallest_loss,
    tasks_needed,
    trials_needed,
    unanswerable,
)
from pytest_tau.capabilities.stopping.plugin import DOUBT, PREDICTIONS
from pytest_tau.capabilities.stopping.predictive import FEWEST_TASKS, Cell, probabilities, probability_at_least
from pytest_tau.capabilities.stopping.spending import bounds, spent
from pytest_tau.models import ModelUsage
from pytest_tau.runs.groups import TaskId
from pytest_tau.runs.record import TrialRecord

NORMAL = NormalDist()


def drawn(rate: float, loss: float, tasks: int, trials: int, generator: random.Random) -> list[Pair]:
    """Return two runs of tasks whose rates vary widely; the later one has lost so much."""
    found = []
    for _ in range(tasks):
        chance = generator.betavariate(rate * 2, (1 - rate) * 2)
        counts = [binomial(trials, each, generator) for each in (chance, chance * (1 - loss / rate))]
        found.append(Pair(*(PassCount(trials, each) for each in counts)))
    return found


class Ended(NamedTuple):
    """A simulated run: the share of its trials that were run, whether it passed, and what the full run says."""

    share: float
    verdict: bool
    full: bool


def gated(rate: float, seed: int) -> Ended:
    """Run a gate of 0.8 with 50 tasks and 4 trials each as ``--tau-stop-early=0.99`` does."""
    generator = random.Random(f"{rate}, {seed}")
    chances = [generator.betavariate(rate * 2, (1 - rate) * 2) for _ in range(50)]
    passed = [[generator.random() < chance for _ in range(4)] for chance in chances]
    full = sum(map(sum, passed)) >= 160
    for number in range(200 // PREDICTIONS, 200, 200 // PREDICTIONS):
        rounds, more = divmod(number, 50)
        runs = [rounds + (task < more) for task in range(50)]
        cells = Counter(Cell(run, sum(each[:run]), 4 - run) for run, each in zip(runs, passed, strict=True))
        chance = probability_at_least(cells, 0.8)
        if chance is not None and not 0.01 * DOUBT < chance < 1 - 0.01 * DOUBT:
            return Ended(number / 200, chance > 0.5, full)
    return Ended(1.0, full, full)


def compared(found: list[Pair]) -> Ended:
    """Compare two runs at the looks."""
    whole = Paired(found)
    full = whole.difference < 0 and whole.p < 0.05
    for look in plan_looks(len(found)):
        if judge(Paired(found[: look.tasks]), look).loss:
            return Ended(look.tasks / len(found), True, full)
    return Ended(1.0, False, full)


def pairs(*counts: tuple[int, int, int]) -> list[Pair]:
    """Return so many tasks that passed that often, of four trials in each run."""
    return [Pair(PassCount(4, before), PassCount(4, after)) for number, before, after in counts for _ in range(number)]


class TestBounds:
    """The published bounds of Lan and DeMets for O'Brien-Fleming spending."""

    def test_five_looks(self) -> None:
        found = [NORMAL.inv_cdf(1 - level) for level in bounds((0.2, 0.4, 0.6, 0.8, 1.0), 0.025)]
        assert found == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=0.001)

    def test_one_look_has_the_whole_level(self) -> None:
        assert bounds((1.0,), 0.025) == pytest.approx([0.025], abs=1e-6)

    def test_spending_begins_with_nothing_and_ends_with_the_level(self) -> None:
        assert spent(0.025, 0.0) == 0
        assert spent(0.025, 1.0) == 0.025
        shares = [spent(0.025, number / 10) for number in range(11)]
        assert shares == sorted(shares)

    def test_chances_of_crossing_add_up_to_the_level(self) -> None:
        shares = (0.25, 0.6, 1.0)
        limits = [NORMAL.inv_cdf(1 - level) for level in bounds(shares, 0.1)]
        generator, crossed, runs = random.Random(5), 0, 20_000
        for _ in range(runs):
            place, before = 0.0, 0.0
            for share, limit in zip(shares, limits, strict=True):
                place += generator.gauss(0, (share - before) ** 0.5)
                before = share
                if place / share**0.5 >= limit:
                    crossed += 1
                    break
        assert crossed / runs == pytest.approx(0.1, abs=0.007)


class TestLooks:
    """Where a comparison is looked at, and what a look decides."""

    def test_places(self) -> None:
        looks = plan_looks(50)
        assert [look.tasks for look in looks] == [10, 20, 30, 40, 50]
        assert looks[-1].spent == pytest.approx(0.025)
        assert [look.tasks for look in plan_looks(12)] == [8, 10, 12]
        assert [look.tasks for look in plan_looks(3)] == [3]
        assert plan_looks(0) == ()

    def test_a_loss_within_the_level_of_the_look_decides(self) -> None:
        looks = plan_looks(50)
        worse = Paired(pairs((20, 4, 0)))
        seen = judge(worse, looks[1])
        assert seen.loss
        assert seen.p == pytest.approx(worse.p / 2)
        early = judge(Paired(pairs((9, 4, 0), (1, 4, 4))), looks[0])
        assert early.p < 0.025
        assert not early.loss

    def test_a_gain_is_no_loss(self) -> None:
        looks = plan_looks(50)
        seen = judge(Paired(pairs((20, 0, 4))), looks[1])
        assert not seen.loss
        assert seen.p > 0.99


class TestPredictions:
    """The probability of the final verdict."""

    def test_too_few_tasks_say_nothing(self) -> None:
        cells = {Cell(1, 1, 3): FEWEST_TASKS - 1, Cell(0, 0, 4): 20}
        assert probability_at_least(cells, 0.8) is None

    @pytest.mark.exhaustive
    def test_it_is_what_the_model_gives_by_simulation(self) -> None:
        generator, met, fitting = random.Random(11), 0, 0
        seen = [1, 1, 1, 0, 1, 1, 0, 1, 1, 1]
        for _ in range(60_000):
            mean = generator.betavariate(0.5, 0.5)
            likeness = generator.choice([0.1, 0.25, 0.6, 1.5, 4.0, 10.0, 25.0, 60.0])
            chances = [generator.betavariate(mean * likeness, (1 - mean) * likeness) for _ in seen]
            first = sorted(generator.random() < chance for chance in chances)
            if sum(first) == sum(seen):
                fitting += 1
                ordered = [sum(generator.random() < chance for _ in range(3)) for chance in chances]
                met += sum(ordered) + sum(seen) >= 0.8 * 40
        found = probability_at_least(Counter(Cell(1, one, 3) for one in seen), 0.8)
        assert fitting > 1500
        assert found == pytest.approx(met / fitting, abs=0.04)

    def test_nothing_is_left_open_at_the_end(self) -> None:
        done = {Cell(4, 4, 0): 8, Cell(4, 0, 0): 2}
        assert probability_at_least(done, 0.8) == 1
        assert probability_at_least(done, 0.81) == 0
        assert probability_at_least(done, 0.8, strict=True) == 0

    def test_pass_hat_k_counts_tasks_that_pass_together(self) -> None:
        half = {Cell(4, 3, 0): 10}
        assert probability_at_least(half, comb(3, 2) / comb(4, 2), 2) == 1
        assert probability_at_least(half, 0.51, 2) == 0

    @pytest.mark.parametrize("passed", [0, 5, 10])
    def test_more_passes_are_more_probable_to_meet(self, passed: int) -> None:
        def chance(number: int) -> float:
            cells = {Cell(1, 1, 3): number, Cell(1, 0, 3): 20 - number}
            found = probability_at_least(cells, 0.7)
            assert found is not None
            return found

        assert chance(passed) < chance(passed + 5)

    def test_both_directions_of_a_gate_add_up(self) -> None:
        from pytest_tau.analysis.gates.metrics import TaskTrials
        from pytest_tau.runs.groups import Group

        records = [record(f"t{number}", passed=number % 3 > 0) for number in range(12)]
        tasks = {Group("", "", "mock", each.task_id): TaskTrials([each], 0, 2) for each in records}
        up = probabilities(Gate.parse("pass^1>=0.7"), tasks)[""]
        down = probabilities(Gate.parse("pass^1<0.7"), tasks)[""]
        assert up is not None
        assert down == pytest.approx(1 - up)
        assert probabilities(Gate.parse("cost<=1"), tasks) == {"": None}
        errors = probabilities(Gate.parse("errors<=0.5"), tasks)[""]
        assert errors is not None
        assert errors > 0.99


class TestSimulated:
    """Few runs that end early end otherwise than the full run; ``benchmarks`` has the table."""

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
    def test_gates(self, rate: float) -> None:
        found = [gated(rate, number) for number in range(150)]
        assert sum(each.verdict != each.full for each in found) <= 5
        share = fmean(each.share for each in found)
        assert share < (0.8 if rate == 0.8 else 0.25)

    @pytest.mark.parametrize(("loss", "low", "high"), [(0.0, 0.0, 0.06), (0.12, 0.68, 0.92), (0.24, 0.97, 1.0)])
    def test_comparisons(self, loss: float, low: float, high: float) -> None:
        generator = random.Random(f"test {loss}")
        found = [compared(drawn(0.7, loss, 50, 4, generator)) for _ in range(200)]
        assert low <= fmean(each.verdict for each in found) <= high
        assert fmean(each.full for each in found) - fmean(each.verdict for each in found) <= 0.03
        assert (fmean(each.share for each in found) < 0.9) is (loss > 0)


class TestDrawing:
    """The order of tasks."""

    def test_a_task_keeps_its_place_whatever_else_is_selected(self) -> None:
        tasks = [TaskId("mock", "", f"t{number}") for number in range(30)]
        ordered = sorted(tasks, key=lambda task: draw_key(300, task))
        assert ordered != tasks
        assert sorted(tasks[::2], key=lambda task: draw_key(300, task)) == [
            each for each in ordered if each in tasks[::2]
        ]
        assert sorted(tasks, key=lambda task: draw_key(301, task)) != ordered


def record(task: str, *, passed: bool = True, trial: int = 0, **values: object) -> TrialRecord:
    return trial_record(task, trial, "passed" if passed else "failed", **values)


class TestPlanning:
    """What a run can show before it is made."""

    def test_the_population_of_a_run(self) -> None:
        records = [record(f"t{task}", passed=trial < task, trial=trial) for task in range(5) for trial in range(4)]
        found = Population.of(records)
        assert found is not None
        assert found.rate == 0.5
        assert found.within == pytest.approx(fmean([0, 0.25, 1 / 3, 0.25, 0]))
        assert not found.guessed
        assert Population.of([]) is None

    def test_excluded_trials_are_not_part_of_the_population(self) -> None:
        records = [record("t0"), record("t1"), record("t1", passed=False, trial=1, excluded="x")]
        assert Population.of(records) == Population.guess(1.0)

    def test_single_trials_show_no_variance(self) -> None:
        assert Population.of([record("t0"), record("t1", passed=False)]) == Population.guess(0.5)
        assert Population.of([record("t0"), record("t0", passed=False, trial=1)], 0.9) == Population.guess(0.9)

    def test_the_smallest_loss_is_found_four_times_out_of_five(self) -> None:
        loss = smallest_loss(Population.guess(0.7), 50, 4, 4)
        assert loss is not None
        generator = random.Random(8)
        compared = [Paired(drawn(0.7, loss, 50, 4, generator)) for _ in range(300)]
        assert fmean(each.p < 0.05 and each.difference < 0 for each in compared) == pytest.approx(0.8, abs=0.06)

    def test_fewer_than_five_tasks_show_nothing(self) -> None:
        assert smallest_loss(Population.guess(0.99), 4, 100, 100) is None
        assert trials_needed(Population.guess(0.99), 4, 0.99) is None

    def test_five_tasks_show_the_loss_that_the_comparison_states_afterwards(self) -> None:
        before, after = PassCount(4, 4), PassCount(4, 0)
        planned = smallest_loss(Population(1.0, 0.0, guessed=False), 5, 4, 4)
        found = Paired([Pair(before, after)] * 5)
        assert found.p < 0.05
        assert planned is not None
        assert found.smallest_loss == pytest.approx(planned)

    def test_what_a_loss_takes_is_the_least_that_shows_it(self) -> None:
        population = Population.guess(0.7)
        tasks = tasks_needed(population, 4, 0.1)
        assert tasks is not None
        assert (smallest_loss(population, tasks, 4, 4) or 1) <= 0.1 < (smallest_loss(population, tasks - 1, 4, 4) or 1)
        trials = trials_needed(population, 50, 0.1)
        assert trials is not None
        assert (smallest_loss(population, 50, trials, trials) or 1) <= 0.1
        assert tasks_needed(population, 4, 0.8) is None
        assert tasks_needed(population, 1, 0.0001) is None

    def test_power_of_no_loss_is_that_of_a_false_alarm(self) -> None:
        assert Losses.planned(0.7, 0.14, 50, 4, 4).power(0.0) == pytest.approx(0.025)

    def test_gates_that_no_result_answers(self) -> None:
        found = unanswerable(Gate.parse("pass^1>=0.9"), 20)
        assert found is not None
        assert found.low == pytest.approx(0.839, abs=0.001)
        assert unanswerable(Gate.parse("pass^1>=0.9"), found.needed) is None
        assert unanswerable(Gate.parse("pass^1>=0.9"), found.needed - 1) is not None
        assert "even if every trial passes, its 95 % interval begins at 0.839; 35 tasks" in str(found)
        for other in ("pass^1>=1", "pass^1<0.9", "errors<=0.01", "cost<=1"):
            assert unanswerable(Gate.parse(other), 20) is None

    def test_a_single_task_answers_no_gate_as_it_has_no_interval(self) -> None:
        for bound, needed in (("0.1", 2), ("0.9", 35)):
            found = unanswerable(Gate.parse(f"pass^1>={bound}"), 1)
            text = f"a single task has no interval; {needed} tasks are needed for a clear result"
            assert found is not None
            assert (found.low, found.needed, str(found)) == (None, needed, text)

    def test_the_loss_is_found_as_often_with_unequal_trials_of_agents_that_nearly_always_pass(self) -> None:
        """Without the test that redistributes outcomes, the stated loss was found in 0.56 of comparisons."""
        generator = random.Random(8)
        for rate, tasks, before, after in ((0.97, 50, 1, 4), (0.97, 30, 1, 10), (0.95, 50, 2, 8)):
            loss = smallest_loss(Population(rate, rate * (1 - rate), guessed=False), tasks, before, after)
            assert loss is not None
            found = 0
            for _ in range(200):
                pairs = [
                    Pair(
                        PassCount(before, binomial(before, rate, generator)),
                        PassCount(after, binomial(after, rate - loss, generator)),
                    )
                    for _ in range(tasks)
                ]
                compared = Paired(pairs)
                found += compared.p < 0.05 and compared.difference < 0
            assert found / 200 >= 0.74, (rate, tasks)

    def test_tasks_that_move_together_show_less(self) -> None:
        records = [
            record(f"t{task}", passed=task % 4 > 0 or trial > 0, trial=trial, cluster=f"c{task % 10}")
            for task in range(40)
            for trial in range(2)
        ]
        found, alone = (
            Population.of(records),
            Population.of([each.model_copy(update={"cluster": ""}) for each in records]),
        )
        assert found is not None
        assert alone is not None
        assert (found.together, alone.together) == (4, 1)
        assert (smallest_loss(found, 40, 2, 2) or 1) > (smallest_loss(alone, 40, 2, 2) or 1)
        assert smallest_loss(found, 16, 2, 2) is None
        gate = Gate.parse("pass^1>=0.8")
        assert unanswerable(gate, 40) is None
        assert str(unanswerable(gate, 40, 4)).startswith(
            "even if every trial passes, its 95 % interval begins at 0.722"
        )
        assert str(unanswerable(gate, 4, 4)).startswith("a single cluster of tasks has no interval")

    def test_costs(self) -> None:
        used = ModelUsage(model="m", calls=2, prompt_tokens=1000, completion_tokens=100, known_cost=0.5)
        found = Usage.of(
            [record("t0", model_usage={"agent": used, "user": used}, duration=36.0), record("t1", duration=36.0)]
        )
        assert found == Usage(2000, 200, 1.0, 36.0)
        assert found.of_trials(100, 10) == {
            "trials": 100,
            "tokens_sent": 200_000,
            "tokens_received": 20_000,
            "usd": 100.0,
            "hours": 0.1,
        }
        assert found.priced(2, 10).usd == pytest.approx(0.006)
        assert Usage.of([record("t0")]).priced(2, 10).usd is None
