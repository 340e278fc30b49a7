"""Gates: what they say, what they come to, and when that is settled."""

from __future__ import annotations

import itertools
import random

import pytest
from trial_records import trial_record as record

from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.gate import Verdict
from pytest_tau.analysis.gates.metrics import by_task
from pytest_tau.analysis.statistics import Interval, wilson
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import ModelUsage
from pytest_tau.runs.groups import Group


def records(**tasks):
    """Trials from letters: ``a="pf"`` is a task that passed and failed; ``e`` is an error."""
    outcomes = {"p": "passed", "f": "failed", "e": "error"}
    return [record(task, trial, outcomes[one]) for task, told in tasks.items() for trial, one in enumerate(told)]


def planned_tasks(**tasks):
    """How many trials each task will have, by its name."""
    return {Group("", "", "mock", task): number for task, number in tasks.items()}


def verdict(text, trials, planned=None):
    return Gate.parse(text).verdict(by_task(trials, planned_tasks(**planned or {})))


class TestGrammar:
    """[domain:]metric OP value."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("pass^1>=0.8", "pass^1 >= 0.8"),
            (" telecom:pass^4 > .5 ", "telecom:pass^4 > 0.5"),
            ("errors<=0.02", "errors <= 0.02"),
            ("mock:tool-errors < 1e1", "mock:tool-errors < 10"),
            ("telecom-workflow:cost<=0.25", "telecom-workflow:cost <= 0.25"),
        ],
    )
    def test_good_ones(self, text, told):
        assert str(Gate.parse(text)) == told
        assert Gate.parse(told) == Gate.parse(text)

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("", "expected [domain:]metric OP value"),
            ("pass^1", "expected [domain:]metric OP value"),
            (">=0.8", "expected [domain:]metric OP value"),
            ("pass^1=0.8", "expected one of >=, >, <=, <, got '='"),
            ("pass^1=>0.8", "got '=>'"),
            ("pass^1>=high", "expected a number after >=, got 'high'"),
            ("pass^0>=0.8", "unknown metric 'pass^0'"),
            ("pass^>=0.8", "pass^K for any K from 1"),
            ("error<=0", "did you mean 'errors'"),
            ("rewards>0", "(known: calls, cost, "),
            ("rewards>0", "reward, tool-errors, turns)"),
        ],
    )
    def test_invalid_gates_are_reported_with_the_valid_ones(self, text, told):
        with pytest.raises(ConfigurationError) as error:
            Gate.parse(text)
        assert told in str(error.value)


class TestValues:
    """What a gate comes to."""

    def test_pass_hat_k_is_over_trials_that_ran(self):
        trials = records(a="pp", b="pf", c="fe", d="ee")
        assert verdict("pass^1>=0.5", trials).value == pytest.approx((1 + 0.5 + 0) / 3)
        assert verdict("pass^2>=0.5", trials).value == pytest.approx(1 / 3)
        assert str(verdict("pass^3>=0.5", trials)).endswith("missed: no task has 3 trials with a verdict (at most 2)")

    def test_a_task_that_failed_and_lost_a_trial_does_not_raise_pass_hat_k(self):
        trials = records(a="ppp", b="ffe")
        for k in (1, 2, 3):
            assert verdict(f"pass^{k}>=0.9", trials).value == 0.5
        assert str(verdict("pass^3>=0.9", trials)) == (
            "gate pass^3 >= 0.9: 0.500 (95 % interval 0.000 to 1.000): missed, but 0.9 lies within the interval"
        )

    def test_where_lost_trials_decide_so_is_the_gate(self):
        trials = records(a="ppp", b="ppe", c="fff")
        why = "0.333 to 0.667, as 1 task has fewer than 3 trials with a verdict and failed none"
        assert str(verdict("pass^3>=0.5", trials)) == f"gate pass^3 >= 0.5: not decided: {why}"
        assert verdict("pass^3>=0.5", trials).met is None
        assert str(verdict("pass^3>=0.3", trials)) == f"gate pass^3 >= 0.3: met: {why}"
        assert str(verdict("pass^3>0.7", trials)) == f"gate pass^3 > 0.7: missed: {why}"
        assert verdict("pass^2>=0.5", trials).value == pytest.approx(2 / 3)

    def test_trials_without_a_verdict_decide_nothing(self):
        assert str(verdict("pass^1>=0.5", records(a="ee"))) == "gate pass^1 >= 0.5: not decided: no trial has a verdict"

    def test_errors_are_a_share_of_all_trials(self):
        found = verdict("errors<=0.3", records(a="pp", b="pf", c="fe", d="ee"))
        assert found.value == 3 / 8
        assert not found.met

    def test_means_are_over_trials_with_a_verdict(self):
        trials = [
            record("a", 0, reward=1.0, duration=2.0, turns=3, calls=4, failed_calls=1),
            record("b", 0, "failed", reward=0.5, duration=4.0, turns=5, calls=0),
            record("c", 0, "error", duration=99.0, turns=99, calls=99),
        ]
        for name, value in (("reward", 0.75), ("duration", 3), ("turns", 4), ("calls", 2), ("tool-errors", 0.5)):
            assert verdict(f"{name}>=0", trials).value == value

    def test_a_cost_that_is_not_known_meets_no_gate(self):
        priced, unpriced = ModelUsage(calls=1, known_cost=0.5), ModelUsage(calls=2, unpriced_calls=1, known_cost=0.1)
        trials = [record("a", model_usage={"agent": priced, "user": priced}), record("b", model_usage={})]
        assert verdict("cost<=0.5", trials).value == 0.5
        found = verdict("cost<=9", [*trials, record("c", model_usage={"agent": unpriced})])
        assert not found.met
        assert str(found) == "gate cost <= 9: not decided: it is unknown for 1 trial"

    def test_of_a_domain_only_its_trials_count(self):
        trials = [record("a", domain="one"), record("a", 0, "failed", domain="two")]
        assert [verdict(f"{name}:pass^1>0", trials).value for name in ("one", "two")] == [1.0, 0.0]
        assert str(verdict("three:pass^1>=0", trials)) == "gate three:pass^1 >= 0: not decided: no trial was run"

    @pytest.mark.parametrize(
        ("operator", "met"), [(">=", (False, True, True)), (">", (False, False, True)), ("<", (True, False, False))]
    )
    def test_each_operator(self, operator, met):
        trials = [record(str(number), 0, "passed" if number < 7 else "failed") for number in range(10)]
        assert tuple(verdict(f"pass^1{operator}{bound}", trials).met for bound in (0.71, 0.7, 0.69)) == met

    def test_value_is_shown_with_its_interval(self):
        trials = [record(str(number), 0, "passed" if number < 86 else "failed") for number in range(100)]
        found = verdict("pass^1>=0.7", trials)
        assert found.interval.low < 0.86 < found.interval.high
        assert str(found) == f"gate pass^1 >= 0.7: 0.860 (95 % interval {found.interval.format()}): met"
        assert str(verdict("pass^1>=0.8", trials)).endswith(": met, but 0.8 lies within the interval")
        assert str(verdict("pass^1>=0.95", trials)).endswith("): missed")
        assert str(verdict("pass^1>=0.5", records(a="p"))) == "gate pass^1 >= 0.5: 1.000: met"


class TestSettled:
    """When trials that are waiting can change nothing any more."""

    def test_a_value_that_can_no_longer_reach_the_bound(self):
        """Of 10 tasks 3 have failed: at most 0.7."""
        trials = [record(str(number), 0, "failed") for number in range(3)]
        planned = {str(number): 1 for number in range(10)}
        assert verdict("pass^1>0.7", trials, planned).why == "at most 0.700 whatever the remaining trials give"
        assert verdict("pass^1>=0.7", trials, planned).why == "the remaining trials decide"

    def test_a_value_that_can_no_longer_fall_below_it(self):
        trials = [record(str(number)) for number in range(8)]
        found = verdict("pass^1>=0.8", trials, {str(number): 1 for number in range(10)})
        assert found.met
        assert found.value == 1.0
        assert found.why == "at least 0.800 whatever the remaining trials give"

    def test_tasks_that_failed_count_although_their_trials_are_not_complete(self):
        """Four tasks have passed four times. The other six cannot any more, even if their trials are errors."""
        trials = records(**{f"a{number}": "pppp" for number in range(4)}, **{f"b{number}": "f" for number in range(6)})
        planned = dict.fromkeys([one.task_id for one in trials], 4)
        assert verdict("pass^4>=0.5", trials, planned).why == "at most 0.400 whatever the remaining trials give"
        assert verdict("pass^4>=0.4", trials, planned).met is True
        assert verdict("pass^4>=0.5", trials[:16], planned).met is None

    def test_what_grows_without_bound_is_only_ever_settled_from_below(self):
        trials = [record(str(number), duration=10.0) for number in range(5)]
        planned = {str(number): 1 for number in range(10)}
        assert verdict("duration<4", trials, planned).why == "at least 5.000 whatever the remaining trials give"
        assert verdict("duration<6", trials, planned).why == "the remaining trials decide"

    @pytest.mark.exhaustive
    @pytest.mark.parametrize("text", ["pass^1>=0.6", "pass^2>=0.5", "pass^2<0.5", "errors<=0.2", "reward>0.4"])
    def test_whatever_the_rest_brings_it_is_as_settled(self, text, monkeypatch):
        """Every way in which a few trials can end, among them errors."""
        generator, gate, settled = random.Random(11), Gate.parse(text), 0
        # It decides nothing, and takes nearly all of the time of a verdict.
        monkeypatch.setattr(type(gate.metric), "interval", lambda *_: None)
        for _ in range(60):
            planned = {name: generator.randint(1, 3) for name in "abc"}
            told = {name: "".join(generator.choices("ppffe", k=generator.randint(0, planned[name]))) for name in "abc"}
            waiting = {name: planned[name] - len(told[name]) for name in "abc"}
            counts = {Group("", "", "mock", name): planned[name] for name in "abc"}
            if sum(waiting.values()) > 6:
                continue
            # The order of a task's trials is of no importance.
            ways = [itertools.combinations_with_replacement("pfe", number) for number in waiting.values()]
            ends = set()
            for rest in itertools.product(*ways):
                full = {name: told[name] + "".join(more) for name, more in zip("abc", rest, strict=True)}
                ends.add(gate.verdict(by_task(records(**full))).met)
            found = gate.settled(by_task(records(**told), counts))
            if found is not None:
                settled += 1
                assert ends == {found}, (told, planned)
        assert settled > 5


class TestVariants:
    """A gate applies to each variant of a test."""

    def both(self, first, second):
        return [
            record("t", trial, {"p": "passed", "f": "failed"}[one], test=f"mock::t[{name}-trial-{trial}]")
            for name, told in (("A", first), ("B", second))
            for trial, one in enumerate(told)
        ]

    def test_each_has_a_verdict(self):
        found = Gate.parse("pass^1>=0.5").verdicts(by_task(self.both("pp", "ff")))
        assert [(verdict.variant, verdict.value, verdict.met) for verdict in found] == [("A", 1, True), ("B", 0, False)]
        assert str(found[1]) == "gate pass^1 >= 0.5 for B: 0.000: missed"

    def test_a_single_one_is_not_named(self):
        (found,) = Gate.parse("pass^1>=0.5").verdicts(by_task(self.both("pp", "")))
        assert str(found) == "gate pass^1 >= 0.5: 1.000: met"

    def test_of_a_domain_without_trials_there_is_one(self):
        (found,) = Gate.parse("shop:pass^1>=0.5").verdicts(by_task(self.both("pp", "ff")))
        assert str(found) == "gate shop:pass^1 >= 0.5: not decided: no trial was run"

    def test_settled_if_one_misses_it_or_all_meet_it(self):
        planned = {Group("", name, "mock", "t"): 4 for name in "AB"}
        gate = Gate.parse("pass^1>=0.5")
        outcomes = {("pp", "fff"): False, ("pp", "f"): None, ("ppp", "pp"): True, ("pp", ""): None}
        for told, expected in outcomes.items():
            assert gate.settled(by_task(self.both(*told), planned)) is expected


class TestEdges:
    """What is meant to be equal is, for each operator."""

    @pytest.mark.parametrize(("operator", "met"), [(">=", True), (">", False), ("<=", True), ("<", False)])
    @pytest.mark.parametrize("error", [-1e-12, 0.0, 1e-12])
    def test_of_a_value_that_is_equal_but_for_rounding(self, operator, met, error):
        assert Gate.parse(f"reward{operator}0.3").holds(0.3 + error) is met


class TestBounds:
    """A bound that no value meets is refused."""

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("pass^1>=80", "'pass^1 >= 80' can never be met, as pass^1 is from 0 to 1: write 0.8 for 80 %"),
            ("errors>=1.5", "'errors >= 1.5' can never be met, as errors is from 0 to 1: write 0.015 for 1.5 %"),
            ("reward>=100", "'reward >= 100' can never be met, as reward is from 0 to 1: write 1 for 100 %"),
            ("reward>=100.5", "'reward >= 100.5' can never be met, as reward is from 0 to 1"),
            ("pass^1>1", "'pass^1 > 1' can never be met, as pass^1 is from 0 to 1"),
            ("duration<0", "'duration < 0' can never be met, as duration is at least 0"),
            ("turns<-1", "'turns < -1' can never be met, as turns is at least 0"),
        ],
    )
    def test_the_values_there_are_and_percentages_are_named(self, text, told):
        with pytest.raises(ConfigurationError) as error:
            Gate.parse(text)
        assert str(error.value) == told

    @pytest.mark.parametrize("text", ["pass^1>=1", "pass^1<=0", "duration<1e9"])
    def test_the_ends_of_the_range_are_bounds(self, text):
        Gate.parse(text)

    @pytest.mark.parametrize("bound", ["inf", "-inf", "nan", "1e999"])
    def test_a_bound_is_finite(self, bound):
        with pytest.raises(ConfigurationError, match="expected a number after >=, got"):
            Gate.parse(f"duration>={bound}")

    @pytest.mark.parametrize("text", ["pass^2>=0.5", "errors<=0.5", "reward>=0.5"])
    def test_equal_gates_are_one_key(self, text):
        assert {Gate.parse(text): 1}[Gate.parse(text)] == 1

    def test_a_long_text_is_cut(self):
        def said(length):
            with pytest.raises(ConfigurationError) as error:
                Gate.parse("x" * length)
            return str(error.value)

        assert "…" not in said(80)
        assert said(81).endswith(f"got '{'x' * 79}…'")

    @pytest.mark.parametrize(("bound", "within"), [(0.5, False), (0.6, True), (0.9, False)])
    def test_a_bound_at_the_end_of_the_interval_is_not_within_it(self, bound, within):
        found = Verdict(Gate.parse(f"reward>={bound}"), 0.95, Interval(0.5, 0.9), met=True)
        assert str(found).endswith("lies within the interval") is within


class TestWorst:
    """The trials that a missed gate names."""

    def test_equal_ones_are_in_the_order_of_their_tests(self):
        trials = [record(task, turns=turns, test=task) for task, turns in (("c", 9), ("a", 9), ("d", 2), ("b", 9))]
        for shuffled in (trials, trials[::-1]):
            worst = Gate.parse("turns<=5").worst(by_task(shuffled, {}))
            assert [(each.test, value) for each, value in worst] == [("a", 9), ("b", 9), ("c", 9)]


class TestClusters:
    """Tasks that move together."""

    def clustered(self, *labels):
        return [record(f"t{number}", trial, cluster=label) for number, label in enumerate(labels) for trial in range(2)]

    def test_the_interval_is_over_clusters_and_says_so(self):
        found = verdict("pass^1>=0.5", self.clustered("a", "a", "a", "b", "b", "", ""))
        assert found.interval == Interval(*wilson(1.0, 4))
        assert str(found) == "gate pass^1 >= 0.5: 1.000 (95 % interval over 4 clusters 0.510 to 1.000): met"

    def test_of_one_cluster_it_says_that_there_is_none(self):
        told = "(no interval: its tasks are one cluster): met"
        assert told in str(verdict("pass^1>=0.5", self.clustered("a", "a")))
        assert told in str(verdict("errors<=0.5", self.clustered("a", "a")))

    def test_a_label_of_a_single_task_changes_nothing(self):
        alone = verdict("pass^1>=0.5", self.clustered("", "", ""))
        assert str(verdict("pass^1>=0.5", self.clustered("a", "b", ""))) == str(alone)

    @pytest.mark.parametrize("metric", ["reward>=0", "turns>=0", "errors<=1", "pass^2>=0"])
    def test_of_each_metric(self, metric):
        outcomes = [("failed", "passed")[(task + trial) % 3 > 0] for task in range(12) for trial in range(2)]
        alone = [record(f"t{n // 2}", n % 2, each, turns=n) for n, each in enumerate(outcomes)]
        found = verdict(
            metric, [each.model_copy(update={"cluster": f"c{int(each.task_id[1:]) % 4}"}) for each in alone]
        )
        assert found.clusters == 4
        assert found.interval is not None
        assert found.interval != verdict(metric, alone).interval
