"""Partial credit: each number on conversations made by hand, and what holds for all of them."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.environment import Change
from pytest_tau.evaluation import CustomComponent
from pytest_tau.evaluation.assignment import best_assignment
from pytest_tau.evaluation.evaluate import evaluate
from pytest_tau.evaluation.partial import _SHARE_OF, COUNTS, SHARES, _progress, current_state
from pytest_tau.evaluation.state import _leaves_of
from pytest_tau.models import CustomCheck, RewardInfo, ToolMessage

from . import tiny
from .tiny import STOP, action, agent, call, check, graded, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("tiny"))


def partial(verdict: RewardInfo) -> dict[str, float | None]:
    assert verdict.partial is not None
    return verdict.partial


def said(made: Any, content: str = "done", *, error: bool = False) -> list[Any]:
    """A call of the agent with its result."""
    return [agent(made), ToolMessage(id="", content=content, error=error)]


RENAMES = task(
    {
        "actions": [action("rename", item_id="lamp", name="x"), action("rename", item_id="desk", name="y")],
        "reward_basis": ["DB", "ACTION"],
    }
)


def test_every_number_has_its_name_in_order(domain: Domain) -> None:
    assert list(partial(graded(domain, RENAMES))) == [*SHARES, *COUNTS]


def test_a_perfect_conversation_has_every_share(domain: Domain) -> None:
    done = [*said(call("rename", item_id="lamp", name="x")), *said(call("rename", item_id="desk", name="y"))]
    verdict = graded(domain, RENAMES, *done)
    assert verdict.reward == 1
    assert partial(verdict) == {
        **dict.fromkeys(("progress", "state", "actions", "actions.write", "selection", "arguments"), 1.0),
        **dict.fromkeys(("assertions", "phrases", "statements", "actions.read")),
        **dict.fromkeys(COUNTS, 0),
    }


def test_half_of_the_changes_is_half_of_the_progress(domain: Domain) -> None:
    found = partial(graded(domain, RENAMES, *said(call("rename", item_id="desk", name="y"))))
    assert (found["state"], found["actions"], found["selection"], found["arguments"]) == (0.5, 0.5, 0.5, 1)
    assert found["progress"] == 0.5


@pytest.mark.parametrize("first", [0, 1])
def test_pairing_is_by_the_best_arguments_and_not_by_order(domain: Domain, first: int) -> None:
    made = [call("rename", item_id="desk", name="other"), call("rename", item_id="lamp", name="x")]
    ordered = [made[first], made[1 - first]]
    found = partial(graded(domain, RENAMES, *said(ordered[0]), *said(ordered[1])))
    assert (found["selection"], found["arguments"], found["actions"]) == (1, 0.75, 0.5)
    assert found["extra_writes"] == 0


def test_one_more_equal_argument_outweighs_that_the_call_has_failed(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="x")]})
    other, failed = call("rename", item_id="desk", name="y"), call("rename", item_id="lamp", name="y")
    for order in ([said(other), said(failed, "Error: busy", error=True)], [said(failed, error=True), said(other)]):
        assert partial(graded(domain, wanted, *order[0], *order[1]))["arguments"] == 0.5


def test_a_call_that_succeeded_is_taken_before_an_equal_one_that_failed(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="x")]})
    made = call("rename", item_id="lamp", name="x")
    for order in ([said(made, error=True), said(made)], [said(made), said(made, error=True)]):
        assert partial(graded(domain, wanted, *order[0], *order[1]))["extra_writes"] == 0


def test_reads_and_writes_are_counted_apart(domain: Domain) -> None:
    wanted = task({"actions": [action("look", item_id="lamp"), action("remove", item_id="lamp")]})
    look = said(call("look", item_id="lamp"))
    found = partial(graded(domain, wanted, *look, *look, *look, *said(call("count")), *said(call("nothing"))))
    assert (found["actions"], found["actions.read"], found["actions.write"]) == (0.5, 1, 0)
    assert (found["extra_reads"], found["extra_writes"]) == (2, 1)  # an unknown tool is neither


def test_a_failed_call_is_not_an_extra_one(domain: Domain) -> None:
    failed = said(call("rename", item_id="lamp", name="x"), "Error: busy", error=True)
    done = said(call("rename", item_id="lamp", name="x"))
    for order in ([*failed, *done], [*done, *failed]):
        found = partial(graded(domain, RENAMES, *order))
        assert (found["failed_calls"], found["extra_writes"]) == (1, 0)


def test_a_call_of_the_other_side_is_no_pair(domain: Domain) -> None:
    wanted = task({"actions": [action("switch", "user")]})
    assert partial(graded(domain, wanted, agent(call("switch"))))["selection"] == 0
    assert partial(graded(domain, wanted, user(call("switch"))))["selection"] == 1
    assert partial(evaluate(wanted, [agent(call("switch")), STOP], domain=domain, solo=True))["selection"] == 1


@pytest.mark.parametrize(
    ("actions", "made", "shares"),
    [
        # 1 + 0, and crosswise 1/2 + 1/2
        ([action("f", a=1, b=1), action("f", a=1, b=2)], [call("f", a=1, b=1), call("f", a=9, b=1)], (1, 0.5, 0.5)),
        ([action("f", a=1, b=2)], [call("f", a=1, b=9), call("f", a=1, b=2, c=3, d=4, e=5)], (1, 0.5, 0)),
        ([action("f", compare=["a"], a=1, b=1)], [call("f", a=1, b=2)], (1, 1, 1)),
        ([action("f", compare=["a"], a=1, b=1)], [call("f", a=2, b=1)], (1, 0, 0)),
        ([action("g", compare=[], a=1)], [call("g", z=2)], (1, 1, 1)),
        ([action("f", compare=["a"], a=1), action("f", compare=[], a=1)], [call("f", a=2), call("f", a=3)], (1, 0.5, 0.5)),
        ([action("f", a=1, b=2, c=3)], [call("f", a=1, b=2, d=3)], (1, 0.5, 0)),
    ],
    ids=["equal-pairs-before-a-greater-sum", "share-and-not-number", "compared-equal", "compared-different",
         "nothing-compared", "nothing-compared-of-one", "spelt-wrong"],
)  # fmt: skip
def test_selection_arguments_and_actions(domain: Domain, actions: Any, made: Any, shares: tuple[float, ...]) -> None:
    found = partial(graded(domain, task({"actions": actions}), agent(None, *made)))
    assert (found["selection"], found["arguments"], found["actions"]) == shares


def test_nothing_to_measure_is_none(domain: Domain) -> None:
    verdict = graded(domain, task({"reward_basis": ["DB", "COMMUNICATE"]}), *said(call("count")))
    found = partial(verdict)
    assert {name: value for name, value in found.items() if value is not None} == {"progress": 1.0, "failed_calls": 0}
    assert verdict.reward == 1


def test_an_empty_reference_counts_what_should_not_have_been_done(domain: Domain) -> None:
    found = partial(graded(domain, task({"actions": []}), *said(call("count"))))
    assert (found["actions"], found["selection"], found["arguments"]) == (None, None, None)
    assert (found["extra_writes"], found["state"], found["progress"]) == (1, 0, 0)


def test_the_state_is_measured_by_leaves_of_both_sides(domain: Domain) -> None:
    # The reference changes a name. The conversation does, too, and adds a record with 5 leaves.
    wanted = task({"actions": [action("rename", item_id="lamp", name="x")]})
    done = [*said(call("rename", item_id="lamp", name="x")), *said(call("add", item_id="n", tags=[]))]
    assert partial(graded(domain, wanted, *done))["state"] == pytest.approx(1 / 6)


def test_assertions_phrases_and_statements_are_shares(domain: Domain) -> None:
    criteria = {
        "communicate_info": ["one", "two", "three", "four"],
        "reward_basis": ["ENV_ASSERTION", "COMMUNICATE"],
        "env_assertions": [check("named", item_id="lamp", name="Lamp"), check("named", item_id="none", name="x")],
    }
    found = partial(graded(domain, task(criteria), agent("one and three and two")))
    assert (found["assertions"], found["phrases"], found["statements"]) == (0.5, 0.75, None)
    assert found["progress"] == 0.625


def test_statements_need_a_judge(domain: Domain) -> None:
    from pytest_tau.evaluation import BUILT_IN_JUDGES

    wanted = task({"nl_assertions": ["kind"], "reward_basis": ["NL_ASSERTION"]})
    assert partial(graded(domain, wanted))["statements"] is None
    found = partial(graded(domain, wanted, judge=BUILT_IN_JUDGES["reject"]))
    assert (found["statements"], found["progress"]) == (0, 0)


def test_a_conversation_that_was_cut_off_has_a_progress_below_1(domain: Domain) -> None:
    done = [*said(call("rename", item_id="lamp", name="x")), *said(call("rename", item_id="desk", name="y"))]
    for made, expected in ((done[:2], (0.5 + 0.5) / 3), (done, 2 / 3)):
        verdict = evaluate(RENAMES, made, domain=domain, termination_reason="max_steps")
        assert verdict.reward == 0
        assert partial(verdict)["progress"] == pytest.approx(expected)


class Half(CustomComponent):
    name = "HALF"

    def evaluate(self, task: Any, messages: Any, environment: Any) -> CustomCheck | float:
        return 0.5


def test_a_component_of_a_plugin_counts_as_its_factor(domain: Domain) -> None:
    wanted = task({"actions": [], "reward_basis": ["DB", "HALF"]})
    assert partial(graded(domain, wanted, evaluators=[Half()]))["progress"] == 0.75


def test_partial_action_reward_has_the_fields_of_tau2(domain: Domain) -> None:
    verdict = graded(domain, RENAMES, *said(call("rename", item_id="desk", name="y")))
    half = {"correct": 1, "count": 2, "proportion": 0.5}
    assert verdict.partial_action_reward == {"total": half, "read": None, "write": half}
    assert graded(domain, task({"actions": []})).partial_action_reward is None


def test_verdicts_without_it_load() -> None:
    assert RewardInfo.model_validate({"reward": 1.0}).partial is None


# What holds for all


CALLS = st.builds(
    lambda name, item, text: call(name, item_id=item, name=text),
    st.sampled_from(["f", "g"]),
    st.sampled_from("abc"),
    st.sampled_from("xy"),
)


@settings(max_examples=60, deadline=None)
@given(wanted=st.lists(CALLS, max_size=6), made=st.lists(CALLS, max_size=8), seed=st.integers(0, 99))
def test_the_order_of_independent_calls_does_not_matter(wanted: list[Any], made: list[Any], seed: int) -> None:
    criteria = {"actions": [action(each.name, **each.arguments) for each in wanted]}
    shuffled = made[:]
    random.Random(seed).shuffle(shuffled)
    found = [
        partial(graded(SHARED_DOMAIN[0], task(criteria), *itertools.chain(*map(said, order))))
        for order in (made, shuffled)
    ]
    assert found[0] == found[1]
    assert all(value is None or 0 <= value <= 1 for name, value in found[0].items() if name in SHARES)


SHARED_DOMAIN: list[Domain] = []


@pytest.fixture(autouse=True)
def _shared(domain: Domain) -> None:
    SHARED_DOMAIN[:] = [domain]


@settings(max_examples=150, deadline=None)
@given(
    table=st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(0, 9), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )
)
def test_no_assignment_is_better_than_the_best(table: list[list[int]]) -> None:
    found = best_assignment(table)
    rows, columns = len(table), len(table[0])
    assert len(found) == len({row for row, _ in found}) == len({column for _, column in found}) == min(rows, columns)
    turned = table if rows <= columns else [list(each) for each in zip(*table, strict=True)]
    tried = itertools.permutations(range(len(turned[0])), len(turned))
    best = max(sum(turned[row][column] for row, column in enumerate(order)) for order in tried)
    assert sum(table[row][column] for row, column in found) == best


def test_40_actions_and_200_calls_are_assigned() -> None:
    # To try all assignments would take longer than the universe lasts.
    draw = random.Random(1)
    assert len(best_assignment([[draw.randrange(10**6) for _ in range(200)] for _ in range(40)])) == 40


def test_the_state_of_a_conversation_under_way(domain: Domain) -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="Light"), action("count", by=2)]})
    environment = domain.environment(wanted)
    assert current_state(wanted, domain, environment) == 0.0
    environment.execute("rename", {"item_id": "lamp", "name": "Light"})
    assert current_state(wanted, domain, environment) == 0.5
    environment.execute("rename", {"item_id": "desk", "name": "Table"})
    assert current_state(wanted, domain, environment) == pytest.approx(1 / 3)
    environment.execute("rename", {"item_id": "desk", "name": "Desk"})
    environment.execute("count", {"by": 2})
    assert current_state(wanted, domain, environment) == 1.0


def test_a_task_without_a_reference_has_no_state(domain: Domain) -> None:
    for criteria, known in (({}, False), ({"actions": []}, True), ({"env_assertions": []}, True)):
        wanted = task(criteria)
        assert (current_state(wanted, domain, domain.environment(wanted)) is not None) is known


def test_nothing_is_assigned_to_nothing() -> None:
    assert best_assignment([]) == best_assignment([[], []]) == []


@pytest.mark.parametrize(
    ("factors", "progress"),
    [
        ({"of a plugin": 1.0, "another": 0.0}, 0.5),
        ({"of a plugin": 0.5}, 0.5),
        ({"NL_ASSERTION": 0.0}, 0.0),
        ({"NL_ASSERTION": 1.0, "another": 0.0}, 0.0),
        ({"NL_ASSERTION": 1.0}, 1.0),
    ],
)
def test_a_component_without_a_share_counts_if_it_is_not_met_or_a_plugins(
    factors: dict[str, float], progress: float
) -> None:
    verdict = RewardInfo(reward=0.0, reward_breakdown=factors)
    assert _progress(dict.fromkeys(_SHARE_OF.values()), verdict) == progress


def test_another_order_of_records_is_one_fact() -> None:
    change = Change("items (order)", ["a", "b"], ["b", "a"])
    assert [*_leaves_of("agent", change)] == ["agent items (order)"]
