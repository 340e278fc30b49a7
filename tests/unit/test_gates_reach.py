"""Metrics of gates while trials are waiting: what a value can still become, when it is certain, what is lacking."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError
from math import inf

import pytest

from pytest_tau.analysis.design.predictive import Cell
from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.metrics import METRICS, by_task, metric_named
from pytest_tau.analysis.statistics import mean_interval, proportion_interval, share_interval
from pytest_tau.errors import ConfigurationError
from pytest_tau.runs.groups import Group

from .test_gates import record, records

ERRORS, VALID = METRICS["errors"], METRICS["user_valid"]


def tasks(trials, **planned):
    """The trials of each task, with what was planned."""
    return by_task(trials, {Group("", "", "mock", task): number for task, number in planned.items()})


def listed(trials, **planned):
    return list(tasks(trials, **planned).values())


class TestWaiting:
    def test_it_is_what_was_planned_without_what_has_ended(self):
        ended = [record(trial=0), record(trial=1, outcome="error", reward=0.0), record(trial=2, excluded=True)]
        assert listed(ended, t=5)[0].waiting == 2
        assert listed(ended, t=3)[0].waiting == 0
        assert listed(ended, t=1)[0].waiting == 0


class TestErrors:
    def test_a_task_with_one_trial_counts(self):
        assert (ERRORS.trials, VALID.trials, METRICS["reward"].trials) == (1, 1, 1)
        with pytest.raises(FrozenInstanceError):
            ERRORS.trials = 2

    def test_the_interval_is_of_errors_among_all_trials(self):
        found = listed(records(a="ppe", b="pee", c="ppp"))
        assert ERRORS.interval(found) == proportion_interval([(3, 1), (3, 2), (3, 0)])

    def test_the_reach_ends_at_all_waiting_ones_being_errors(self):
        assert ERRORS.reach(listed(records(a="pe"), a=4)) == (0.25, 0.75, True)
        assert ERRORS.reach(listed(records(a=""), a=4)) == (0.0, 1.0, False)
        assert ERRORS.reach([]) == (0.0, 1.0, False)

    def test_they_are_predicted_from_errors_among_trials(self):
        assert ERRORS.cells(listed(records(a="ppe", b="pp"), a=4, b=2)) == Counter([Cell(3, 1, 1), Cell(2, 0, 0)])


class TestUserValid:
    def test_excluded_trials_count_and_errors_do_not(self):
        trials = [
            record(trial=0),
            record(trial=1, user_faults=("made-up-detail",)),
            record(trial=2, user_faults=("made-up-detail",), excluded=True),
            record(trial=3),
            record(trial=4, outcome="error", reward=0.0),
        ]
        assert VALID.value(listed(trials)) == 0.5
        assert VALID.interval(listed([*trials, record("u")])) == proportion_interval([(4, 2), (1, 1)])
        assert VALID.reach(listed(trials, t=9)) == (2 / 8, 6 / 8, True)
        assert VALID.value([]) is None

    def test_without_a_verdict_nothing_is_certain(self):
        assert VALID.reach([]) == (0.0, 1.0, False)
        assert VALID.reach(listed([], t=2)) == (0.0, 1.0, False)
        assert VALID.reach(listed(records(a="p"), a=1)) == (1.0, 1.0, True)


class TestMeans:
    def test_the_reach_ends_at_the_most_for_all_waiting_ones(self):
        reward = METRICS["reward"]
        assert reward.reach(listed(records(a="pf"), a=4)) == (0.25, 0.75, True)
        assert reward.reach(listed(records(a="pff"), a=3)) == (1 / 3, 1 / 3, True)
        assert reward.reach([]) == (0.0, 1.0, False)
        assert METRICS["turns"].reach([]) == (0.0, inf, False)

    def test_the_interval_of_partial_credit_is_of_shares_and_that_of_numbers_is_not(self):
        same = [record(task, partial={"progress": 0.5}, turns=4) for task in "abcd"]
        assert METRICS["progress"].interval(listed(same)) == share_interval([[0.5]] * 4)
        assert METRICS["turns"].interval(listed(same)) == mean_interval([[4]] * 4)
        assert METRICS["progress"].interval(listed(same)) != mean_interval([[0.5]] * 4)

    def test_what_is_lacking(self):
        progress = METRICS["progress"]
        assert progress.lacking([]) == "no trial has a verdict"
        assert progress.lacking(listed(records(a="e"))) == "no trial has a verdict"
        assert progress.lacking(listed(records(a="p"))) != "no trial has a verdict"
        assert metric_named("pass^4").lacking([]) == "no task has 4 trials with a verdict (at most 0)"

    def test_a_rule_is_kept_in_the_trials_in_which_it_was_checked(self):
        checked = [
            record("a", policy={"checked": ["confirm"]}),
            record("b", policy={"checked": ["confirm"], "counts": {"confirm": 2}}),
            record("c", policy={"checked": ["other"]}),
        ]
        kept = metric_named("policy.confirm")
        assert kept.value(listed(checked)) == 0.5
        assert kept.reach([]) == (0.0, 1.0, False)
        assert kept.lacking(listed(checked[2:])) == "no trial was checked against the rule 'confirm'"
        assert kept.interval(listed(checked)) == share_interval([[1.0], [0.0]])


class TestBounds:
    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("pass^1>=80", "'pass^1 >= 80' can never be met, as pass^1 is from 0 to 1: write 0.8 for 80 %"),
            ("pass^1>=100", "from 0 to 1: write 1 for 100 %"),
            ("pass^1>=100.5", "from 0 to 1"),
            ("pass^1>1", "can never be met, as pass^1 is from 0 to 1"),
            ("turns<-1", "can never be met, as turns is at least 0"),
        ],
    )
    def test_a_bound_that_nothing_meets(self, text, says):
        with pytest.raises(ConfigurationError) as error:
            Gate.parse(text)
        assert str(error.value).endswith(says)

    @pytest.mark.parametrize("text", ["reward>=inf", "reward>=-inf", "reward<=1e999"])
    def test_a_bound_that_is_no_number(self, text):
        with pytest.raises(ConfigurationError, match="expected a number after"):
            Gate.parse(text)

    def test_a_long_text_is_cut(self):
        def said(length):
            with pytest.raises(ConfigurationError) as error:
                Gate.parse("x" * length)
            return str(error.value)

        assert "…" not in said(80)
        assert said(81).endswith(f"got '{'x' * 79}…'")

    def test_it_cannot_be_changed(self):
        with pytest.raises(FrozenInstanceError):
            Gate.parse("pass^1>=0.5").bound = 0.1

    def test_the_interval_includes_the_bound_only_inside(self):
        trials = [record(str(number), outcome="passed" if number % 2 else "failed") for number in range(20)]
        value = Gate.parse("pass^1>=0.4").verdict(by_task(trials))
        assert "0.4 lies within the interval" in str(value)
        for end in value.interval:
            assert "lies within" not in str(
                value._replace(gate=value.gate.__class__(None, "reward", value.gate.metric, ">=", end))
            )


class TestPredicted:
    def test_only_what_is_open_takes_the_prediction(self):
        open_, settled = tasks(records(a="pp"), a=4), tasks(records(a="ffff"), a=4)
        gate = Gate.parse("pass^1>=0.6")
        (before,) = gate.verdicts(open_)
        assert not before.met
        (found,) = gate.verdicts(open_, {"": True}, "predicted")
        assert (found.met, found.why) == (True, "predicted")
        (found,) = gate.verdicts(settled, {"": True, "another": True}, "predicted")
        assert (found.met, found.why) == (False, None)

    def test_trials_under_attack_count_for_their_metrics_and_for_errors(self):
        attacked = Group("", "attack-none", "mock", "t")
        assert not attacked.is_attacked
        gate = Gate.parse("errors<=0.5")
        assert len(gate.tasks(tasks(records(a="pe", b="e")))) == 2

    def test_the_probability_is_that_of_the_bound_with_its_rounding(self):
        outcomes = {f"t{number}": "pf" if number % 2 else "pp" for number in range(20)}
        open_ = tasks(records(**outcomes), **dict.fromkeys(outcomes, 4))
        at_least, more = (Gate.parse(f"pass^1{operator}0.75").probabilities(open_)[""] for operator in (">=", ">"))
        at_most, less = (Gate.parse(f"pass^1{operator}0.75").probabilities(open_)[""] for operator in ("<=", "<"))
        assert at_least + less == pytest.approx(1)
        assert more + at_most == pytest.approx(1)
        assert 0 < more < at_least < 1
