from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings, strategies as st

from pytest_tau.evaluation import OFFICIAL, STRICT
from pytest_tau.evaluation.components.action import calls_of, check_actions, matches
from pytest_tau.models import Action, ToolCall

from . import tiny
from .tiny import action, agent, call, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain


def wanted(name: str, requestor: Any = "assistant", /, compare: list[str] | None = None, **arguments: Any) -> Action:
    return Action.model_validate(action(name, requestor, compare=compare, **arguments))


def found(grading: Any, actions: list[Action], *messages: Any) -> list[bool]:
    return [check.action_match for check in check_actions(actions, messages, grading, lambda name: None)]


AB = {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("compare", "made", "official", "strict"),
    [
        pytest.param(None, AB, True, True, id="equal"),
        pytest.param(None, {"a": 1}, True, False, id="a-subset-of-the-arguments"),
        pytest.param(None, {}, True, False, id="no-arguments"),
        pytest.param(None, AB | {"c": 0}, False, False, id="an-argument-more"),
        pytest.param(None, {"a": 2, "b": "x"}, False, False, id="another-value"),
        pytest.param(None, {"a": 1.0, "b": "x"}, True, True, id="1-equals-1.0"),
        pytest.param(None, {"a": "1", "b": "x"}, False, False, id="text-is-no-number"),
        pytest.param([], {}, True, True, id="nothing-compared"),
        pytest.param([], {"z": 9}, True, True, id="nothing-compared-at-all"),
        pytest.param(["a"], {"a": 1, "b": "other", "c": 0}, True, True, id="one-compared"),
        pytest.param(["a"], {"a": 2, "b": "x"}, False, False, id="the-compared-one-differs"),
        pytest.param(["a"], {"b": "x"}, False, False, id="the-compared-one-is-missing"),
        pytest.param(["z"], AB, True, True, id="compared-but-in-neither"),
        pytest.param(["z"], AB | {"z": 0}, False, False, id="compared-but-only-in-the-call"),
    ],
)
def test_arguments(compare: list[str] | None, made: dict[str, Any], official: bool, strict: bool) -> None:
    reference, actual = wanted("f", compare=compare, **AB), ToolCall(name="f", arguments=made)
    assert matches(reference, actual, OFFICIAL) is official
    assert matches(reference, actual, STRICT) is strict


def test_lists_are_compared_in_order() -> None:
    reference = wanted("f", items=[1, 2])
    assert matches(reference, call("f", items=[1, 2]), OFFICIAL)
    assert not matches(reference, call("f", items=[2, 1]), OFFICIAL)


def test_names_must_be_equal() -> None:
    assert not matches(wanted("f", compare=[]), call("g"), OFFICIAL)
    assert not matches(wanted("f", compare=[]), call("F"), OFFICIAL)


def test_the_requestor_counts_only_in_strict() -> None:
    by_user = wanted("f", "user", a=1)
    assert matches(by_user, call("f", a=1), OFFICIAL)
    assert not matches(by_user, call("f", a=1), STRICT)
    assert matches(by_user, call("f", "user", a=1), STRICT)


def test_one_call_may_satisfy_several_actions_but_not_in_strict() -> None:
    twice = [wanted("f", a=1), wanted("f", a=1)]
    assert found(OFFICIAL, twice, agent(call("f", a=1))) == [True, True]
    assert found(STRICT, twice, agent(call("f", a=1))) == [True, False]
    assert found(STRICT, twice, agent(call("f", a=1)), agent(call("f", a=1))) == [True, True]


def test_strict_finds_a_call_for_as_many_actions_as_possible() -> None:
    # The first action would take the only call that the second can have.
    actions = [wanted("f", compare=[]), wanted("f", a=1)]
    assert found(STRICT, actions, agent(call("f", a=1), call("f", a=2))) == [True, True]
    chain = [wanted("f", compare=["a"], a=1), wanted("f", compare=["b"], b=1), wanted("f", compare=["c"], c=1)]
    calls = [call("f", a=1, b=1), call("f", b=1, c=1), call("f", a=1)]
    assert found(STRICT, chain, agent(None, *calls)) == [True, True, True]


def test_order_of_calls_does_not_count() -> None:
    actions = [wanted("f"), wanted("g")]
    for grading in (OFFICIAL, STRICT):
        assert found(grading, actions, agent(call("g")), agent(call("f"))) == [True, True]


def test_calls_of_both_sides_in_any_message_are_found() -> None:
    messages = [agent("Hi"), agent("Wait", call("a"), call("b")), user(call("c")), agent(call("d"))]
    assert [made.name for made in calls_of(messages)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("grading", [OFFICIAL, STRICT])
def test_a_malformed_call_matches_nothing(grading: Any) -> None:
    broken = ToolCall(name="f", arguments={}, malformed="{")
    assert calls_of([agent(broken)]) == []
    assert found(grading, [wanted("f", compare=[]), wanted("f")], agent(broken)) == [False, False]


def test_failed_call_matches(domain: Domain) -> None:
    gold = task({"actions": [action("remove", item_id="sofa")], "reward_basis": ["ACTION"]})
    assert tiny.graded(domain, gold, agent(call("remove", item_id="sofa"))).reward == 1.0


def test_checks_carry_action_kind_and_value() -> None:
    kinds = {"f": "write"}
    made, missing = check_actions([wanted("f"), wanted("g")], [agent(call("f"))], OFFICIAL, kinds.get)
    assert (made.action.name, made.action_match, made.action_reward, made.tool_type) == ("f", True, 1.0, "write")
    assert (missing.action_match, missing.action_reward, missing.tool_type) == (False, 0.0, None)


def test_without_actions_there_are_no_checks() -> None:
    assert check_actions([], [agent(call("f"))], OFFICIAL, lambda name: None) == []


SMALL = st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=2)
ACTIONS = st.lists(st.tuples(SMALL, st.sampled_from([None, [], ["a"]])), max_size=4)


def most(candidates: list[set[int]], taken: frozenset[int] = frozenset()) -> int:
    """How many actions can get a call of their own, by trying everything."""
    if not candidates:
        return 0
    without = most(candidates[1:], taken)
    return max([without, *(1 + most(candidates[1:], taken | {c}) for c in candidates[0] - taken)])


@settings(deadline=None)
@given(ACTIONS, st.lists(SMALL, max_size=4))
def test_strict_never_finds_more_than_official_and_always_as_much_as_there_is(golds: Any, made: Any) -> None:
    actions = [wanted("f", compare=compare, **arguments) for arguments, compare in golds]
    calls = [call("f", **arguments) for arguments in made]
    messages = [agent(None, *calls)]
    official, strict = found(OFFICIAL, actions, *messages), found(STRICT, actions, *messages)
    assert all(o or not s for o, s in zip(official, strict, strict=True))
    candidates = [{i for i, c in enumerate(calls) if matches(a, c, STRICT)} for a in actions]
    assert sum(strict) == most(candidates)
