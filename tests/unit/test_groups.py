"""Groups of trials: what is pooled, what is a variant of what, and how runs are matched."""

from __future__ import annotations

import pytest

from pytest_tau.runner import item_id
from pytest_tau.runs.groups import (
    Group,
    TaskId,
    Variant,
    count_tasks,
    distinguish,
    find_variants,
    match_groups,
    split_variants,
)

LONG = "[mobile]data|roaming[PERSONA:None]"


def of_domain(task, parameters="", domain="retail"):
    return Group("", parameters, domain, task)


def of_test(name, task, parameters="", domain="retail"):
    return Group(f"test_a.py::{name}", parameters, domain, task)


class TestNodeIds:
    """The group of a node id."""

    @pytest.mark.parametrize(
        ("node_id", "task", "expected"),
        [
            ("retail::refund[trial-0]", "refund", ("", "")),
            ("retail::refund[A-trial-12]", "refund", ("", "A")),
            ("retail::refund[some-agent-B-1-trial-2]", "refund", ("", "some-agent-B-1")),
            (f"retail::{item_id(LONG)}[A-trial-0]", LONG, ("", "A")),
            ("t/b.tau.json::refund[trial-0]", "refund", ("t/b.tau.json", "")),
            ("t/b.tau.json::refund[A-trial-0]", "refund", ("t/b.tau.json", "A")),
            ("test_a.py::test_x[refund-trial-0]", "refund", ("test_a.py::test_x", "")),
            ("test_a.py::TestB::test_x[refund-trial-0]", "refund", ("test_a.py::TestB::test_x", "")),
            ("test_a.py::test_x[A-refund-trial-0]", "refund", ("test_a.py::test_x", "A")),
            ("test_a.py::test_x[refund-trial-0-A]", "refund", ("test_a.py::test_x", "A")),
            ("test_a.py::test_x[A-refund-two-trial-0-B-1]", "refund-two", ("test_a.py::test_x", "A-B-1")),
            (f"test_a.py::test_x[A-{item_id(LONG)}-trial-3]", LONG, ("test_a.py::test_x", "A")),
            ("", "refund", ("", "")),
        ],
    )
    def test_without_task_and_trial(self, node_id, task, expected):
        group = Group.of(node_id, "retail", task)
        assert (group.test, group.parameters) == expected
        assert (group.domain, group.task_id) == ("retail", task)

    def test_a_parameter_that_looks_like_a_trial(self):
        group = Group.of("test_a.py::test_x[trial-7-refund-trial-0]", "retail", "refund")
        assert group.parameters == "trial-7"

    def test_a_parameter_that_is_called_like_the_task(self):
        groups = {Group.of(f"t.py::test_x[a-b-{task}-trial-0]", "retail", task).variant for task in ("a", "b", "a-b")}
        assert groups == {Variant("t.py::test_x", "a-b")}

    def test_a_bracket_in_a_parameter(self):
        assert Group.of("retail::refund[a[0]-trial-1]", "retail", "refund").parameters == "a[0]"
        assert Group.of("t.py::test_x[a[0]-refund-trial-1]", "retail", "refund").parameters == "a[0]"

    @pytest.mark.parametrize("test", ["retail::other[A-trial-{}]", "test_a.py::test_x[A-other-trial-{}]"])
    def test_trials_of_a_task_that_a_fixture_replaced_are_pooled(self, test):
        """The simulation has another task id than the item; it cannot be cut out, but it is the same for all trials."""
        assert len({Group.of(test.format(number), "retail", "refund") for number in range(3)}) == 1

    def test_equal_ids_in_two_files_are_two_tasks(self):
        one, two = (Group.of(f"{name}.json::refund[trial-0]", "retail", "refund") for name in "ab")
        assert one != two
        assert (one.task, two.task) == (TaskId("retail", "a.json", "refund"), TaskId("retail", "b.json", "refund"))
        assert count_tasks([one, two]) == 2

    def test_tests_on_one_task_are_two_groups_of_one_task(self):
        one, two = (Group.of(f"t.py::test_{name}[refund-trial-0]", "retail", "refund") for name in "ab")
        assert one != two
        assert count_tasks([one, two]) == 1


class TestVariants:
    """Tests that are variants of each other."""

    def test_none_in_a_plain_run(self):
        assert find_variants([of_domain("a"), of_domain("b"), of_domain("a", domain="telecom")]) == {}
        assert find_variants([]) == {}

    def test_none_if_tests_have_no_task_in_common(self):
        assert find_variants([of_test("test_x", "a"), of_test("test_y", "b"), of_domain("c")]) == {}

    def test_none_if_files_have_equal_ids(self):
        assert find_variants([Group(f"{name}.json", "", "retail", "a") for name in "xy"]) == {}

    def test_parameters_of_one_test_name_the_variants(self):
        groups = [of_domain("a", "B"), of_domain("a", "A"), Group("x.json", "A", "retail", "a")]
        assert find_variants(groups) == {Variant("", "A"): "A", Variant("", "B"): "B"}
        assert list(find_variants(groups).values()) == ["A", "B"]

    def test_their_names_are_in_order_of_the_numbers_in_them(self):
        names = ["turn-12", "turn-2", "(none)", "10", "9"]
        groups = [of_test("test_x", "a", name) for name in names]
        assert list(find_variants(groups).values()) == ["9", "10", "(none)", "turn-2", "turn-12"]

    def test_parameters_are_variants_also_if_no_task_has_both(self):
        assert len(find_variants([of_test("test_x", "a", "A"), of_test("test_x", "b", "B")])) == 2

    def test_tests_on_one_task(self):
        found = find_variants([of_test("test_x", "a"), of_test("test_y", "a"), of_domain("b")])
        assert list(found.values()) == ["task items", "test_x", "test_y"]

    def test_tests_with_parameters(self):
        found = find_variants([of_test(test, "a", name) for test in ("test_x", "test_y") for name in "AB"])
        assert list(found.values()) == ["test_x[A]", "test_x[B]", "test_y[A]", "test_y[B]"]

    def test_tests_of_one_name_have_their_file(self):
        found = find_variants([Group(f"{name}.py::test_x", "", "retail", "a") for name in "pq"])
        assert list(found.values()) == ["p.py::test_x", "q.py::test_x"]

    def test_a_test_without_parameters_among_others(self):
        assert list(find_variants([of_domain("a"), of_domain("b", "A")]).values()) == ["(no parameters)", "A"]

    def test_split(self):
        groups = [of_domain("a", "B"), of_domain("a", "A"), of_domain("b", "A")]
        assert split_variants(groups) == {"A": groups[1:], "B": groups[:1]}
        assert split_variants(groups[1:]) == {"": groups[1:]}

    def test_what_distinguishes_groups(self):
        groups = [of_domain("a", "A"), of_domain("a", "B"), of_domain("b", "A")]
        assert list(distinguish(groups).values()) == ["A", "B", ""]
        files = [Group(f"{name}.json", "", "retail", "a") for name in "xy"]
        assert list(distinguish([*files, of_domain("b")]).values()) == ["x.json", "y.json", ""]
        both = [Group(f"{name}.json", agent, "retail", "a") for name in "xy" for agent in "AB"]
        assert list(distinguish(both).values()) == ["x.json, A", "x.json, B", "y.json, A", "y.json, B"]


class TestMatching:
    """Groups of two runs."""

    def test_the_same(self):
        groups = [of_domain("a", "A"), of_domain("a", "B"), of_test("test_x", "a")]
        assert match_groups(groups, groups[:2]) == {each: each for each in groups[:2]}

    def test_one_test_of_a_task_in_each_run(self):
        """The test was renamed, or a result file of another program names none."""
        assert match_groups([of_domain("a")], [of_test("test_x", "a", "A")]) == {
            of_test("test_x", "a", "A"): of_domain("a")
        }

    def test_several_tests_are_not_guessed(self):
        assert match_groups([of_domain("a")], [of_domain("a", "A"), of_domain("a", "B")]) == {}
        assert match_groups([of_domain("a", "A")], [of_domain("a", "A"), of_domain("a", "B")]) == {
            of_domain("a", "A"): of_domain("a", "A")
        }

    def test_other_tasks_and_domains_are_not_matched(self):
        assert match_groups([of_domain("a")], [of_domain("b"), of_domain("a", domain="telecom")]) == {}
