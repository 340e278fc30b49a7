"""Metrics of gates: their values and intervals, what they can still become, and why there is no value."""

from __future__ import annotations

from math import inf

import pytest

from pytest_tau.analysis.gates.metrics import METRICS, by_task, metric_named
from pytest_tau.analysis.statistics import (
    mean_interval,
    percentile_interval,
    ratio_interval,
)
from pytest_tau.capability import FactColumn
from pytest_tau.capability.calls import NamedColumn

from .test_gates import planned_tasks, record, records, verdict

ERRORS = METRICS["errors"]

COLUMNS = [
    NamedColumn("made_up", FactColumn("answered", "answered", metric=True, most=1, events="asked")),
    NamedColumn("made_up", FactColumn("wait", "wait", metric=True, events="waits")),
    NamedColumn("made_up", FactColumn("wait.half", "wait", metric=True, events="waits", percent=50)),
    NamedColumn("made_up", FactColumn("loud", "loud", metric=True)),
]
EVENTS = {each.column.name: metric_named(each.column.name, COLUMNS) for each in COLUMNS}


def made_up(task, **facts):
    """A trial with facts of a capability."""
    return record(task, facts={"made_up": facts})


def listed(trials, **planned):
    """The trials of each task, with how many were planned."""
    return list(by_task(trials, planned_tasks(**planned)).values())


class TestTrials:
    def test_those_that_wait_were_planned_and_have_not_ended(self):
        ended = [record(trial=0), record(trial=1, outcome="error"), record(trial=2, excluded="x")]
        for planned, waiting in ((5, 2), (3, 0), (1, 0)):
            assert listed(ended, t=planned)[0].waiting == waiting

    def test_how_many_a_task_must_have(self):
        names = {"pass^1": 1, "pass^3": 3, "errors": 1, "reward": 1}
        assert {name: metric_named(name).trials for name in names} == names
        assert EVENTS["answered"].trials == 1


class TestExcluded:
    def test_a_gate_says_how_many_trials_it_leaves_out(self):
        """Those with a fault of the user; the share of errors is among all trials."""
        trials = [*records(a="pf"), record("a", trial=2, excluded="x")]
        told = "over 2 trials, 1 more excluded because of the user"
        assert {name: verdict(f"{name}>=0", trials).basis for name in ("pass^1", "reward", "errors")} == {
            **dict.fromkeys(("pass^1", "reward"), told),
            "errors": "",
        }


class TestErrors:
    def test_the_interval_is_of_errors_among_all_trials(self):
        found = listed(records(a="ppe", b="pee", c="ppp"))
        assert ERRORS.interval(found) == ratio_interval([(1, 3), (2, 3), (0, 3)], proportion=True)

    def test_trials_excluded_for_a_fault_of_the_user_are_among_all_trials(self):
        """One error among four trials, of which two are excluded."""
        found = listed([*records(a="pe"), *(record("a", trial=number, excluded="x") for number in (2, 3))], a=5)
        assert ERRORS.value(found) == 0.25
        assert ERRORS.reach(found) == (0.2, 0.4, True)
        assert ERRORS.interval([*found, *found]) == ratio_interval([(1, 4), (1, 4)], proportion=True)
        assert ERRORS.value(listed([record("a", excluded="x")])) == 0

    def test_all_waiting_ones_can_become_errors(self):
        assert ERRORS.reach(listed(records(a="pe"), a=4)) == (0.25, 0.75, True)
        assert ERRORS.reach(listed(records(a="e"), b=1)) == (0.5, 1, True)

    def test_without_a_trial_nothing_is_certain(self):
        assert ERRORS.reach(listed([], a=4)) == (0, 1, False)
        assert ERRORS.reach([]) == metric_named("pass^1").reach([]) == (0, 1, False)


class TestMeans:
    def test_only_what_is_a_share_has_the_interval_of_one(self):
        same = [record(task, turns=1) for task in "abcdefgh"]
        values = [[1.0]] * 8
        assert mean_interval(values) != mean_interval(values, proportion=True)
        assert METRICS["reward"].interval(listed(same)) == mean_interval(values, proportion=True)

    def test_equal_counts_have_no_interval(self):
        """Eight tasks of one turn each do not show that every other task has one turn, too."""
        same = [record(task, turns=1) for task in "abcdefgh"]
        assert METRICS["turns"].interval(listed(same)) is None
        different = [*same, record("i", turns=3)]
        assert METRICS["turns"].interval(listed(different)) == mean_interval([[1.0]] * 8 + [[3.0]])

    def test_waiting_trials_can_have_every_value(self):
        reward, turns = METRICS["reward"], METRICS["turns"]
        trials = [record("a", reward=1.0, turns=4), record("b", outcome="failed", reward=0.5, turns=2)]
        assert reward.reach(listed(trials)) == (0.75, 0.75, True)
        assert reward.reach(listed(trials, b=3)) == (1.5 / 4, 3.5 / 4, True)
        assert turns.reach(listed(trials)) == (3, 3, True)
        assert turns.reach(listed(trials, b=3)) == (6 / 4, inf, True)

    def test_without_a_trial_nothing_is_certain(self):
        assert METRICS["reward"].reach([]) == (0, 1, False)
        assert METRICS["reward"].reach(listed([], a=1)) == (0, 1, False)
        assert METRICS["turns"].reach([]) == (0, inf, False)

    def test_why_there_is_no_value(self):
        assert METRICS["reward"].lacking(listed(records(a="e"))) == "no trial has a verdict"
        assert metric_named("pass^4").lacking([]) == "no trial has a verdict"
        assert metric_named("loud", COLUMNS).lacking(listed(records(a="p"))) == "no trial has a value of 'made_up'"
        open_ones = "0.333 to 1.000, as 2 tasks have fewer than 2 trials with a verdict and failed none"
        assert metric_named("pass^2").lacking(listed(records(a="pp", b="p", c="p"))) == open_ones


class TestEvents:
    """Over the events of all trials, and not over the means of trials, which have different numbers of them."""

    trials = (
        made_up("a", answered=1.0, asked=1, wait=2.0, waits=[1.0, 3.0]),
        made_up("b", answered=0.5, asked=6, wait=6.0, waits=[5.0, 6.0, 7.0]),
        made_up("c", answered=0.0, asked=1, wait=None, waits=[]),
        made_up("d"),
    )

    def test_a_trial_counts_as_often_as_it_has_events(self):
        found = listed(self.trials)
        assert EVENTS["answered"].value(found) == 0.5
        assert EVENTS["wait"].value(found) == pytest.approx(22 / 5)
        assert EVENTS["wait.half"].value(found) == 5
        assert EVENTS["answered"].interval(found) == ratio_interval(
            [(1.0, 1), (3.0, 6), (0.0, 1), (0, 0)], proportion=True
        )
        assert EVENTS["wait.half"].interval(found) == percentile_interval([[1.0, 3.0], [5.0, 6.0, 7.0]], 0.5)

    def test_the_trials_that_have_a_value_are_told(self):
        told = EVENTS["answered"].each(listed(self.trials))
        assert [(each.task_id, value) for each, value in told] == [("a", 1.0), ("b", 0.5), ("c", 0.0)]

    def test_nothing_is_certain_while_a_trial_waits(self):
        assert EVENTS["answered"].reach(listed(self.trials)) == (0.5, 0.5, True)
        assert EVENTS["answered"].reach(listed(self.trials, a=2)) == (0, 1, True)
        assert EVENTS["wait"].reach(listed(self.trials, a=2)) == (0, inf, True)
        assert EVENTS["answered"].reach([]) == (0, 1, False)
