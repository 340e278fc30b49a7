from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import Record, Table
from pytest_tau.environment.database import Database
from pytest_tau.evaluation.components.db import check_db, same_state

from . import tiny
from .tiny import action, agent, call, check, graded, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import RewardInfo

RENAMED = action("rename", item_id="lamp", name="Light")


def match(info: RewardInfo) -> bool:
    assert info.db_check is not None
    assert info.db_check.db_reward == float(info.db_check.db_match)
    assert info.db_check.db_match is (info.db_diff == [])
    return info.db_check.db_match


def renamed(name: str, item_id: str = "lamp") -> Any:
    return agent(call("rename", item_id=item_id, name=name))


def tagged(tag: str) -> Any:
    return agent(call("tag", item_id="desk", tag=tag))


OFF = check("phone_on", "user", value=False)
TAGS = [action("tag", item_id="desk", tag=tag) for tag in ("red", "soft")]


@pytest.mark.parametrize(
    ("criteria", "made", "matches"),
    [
        pytest.param({"actions": [RENAMED]}, [renamed("Light")], True, id="what-the-actions-leave"),
        pytest.param({"actions": [RENAMED]}, [], False, id="nothing"),
        pytest.param({"actions": [RENAMED]}, [renamed("light")], False, id="another-value"),
        pytest.param(
            {"actions": [RENAMED]},
            [renamed("x"), agent(call("look", item_id="desk")), renamed("fails", "sofa"), renamed("Light")],
            True,
            id="the-way-does-not-count",
        ),
        pytest.param({"actions": TAGS}, [tagged("red"), tagged("soft")], True, id="order-in-lists"),
        pytest.param({"actions": TAGS}, [tagged("soft"), tagged("red")], False, id="another-order-in-lists"),
        pytest.param({}, [renamed("Light")], True, id="neither-actions-nor-assertions"),
        pytest.param({"actions": []}, [], True, id="no-actions"),
        pytest.param({"actions": []}, [renamed("Light")], False, id="no-actions-and-a-change"),
        pytest.param({"env_assertions": []}, [], True, id="no-assertions"),
        pytest.param({"env_assertions": []}, [renamed("Light")], False, id="no-assertions-and-a-change"),
        pytest.param({"env_assertions": [OFF]}, [], True, id="assertions-alone"),
        pytest.param({"env_assertions": [OFF]}, [renamed("Light")], False, id="assertions-alone-and-a-change"),
    ],
)
def test_which_state_is_wanted(domain: Domain, criteria: dict[str, Any], made: list[Any], matches: bool) -> None:
    assert match(graded(domain, task({**criteria, "reward_basis": ["DB"]}), *made)) is matches


def test_both_sides_count(domain: Domain) -> None:
    wanted = task({"actions": [RENAMED, action("switch", "user")], "reward_basis": ["DB"]})
    rename = agent(call("rename", item_id="lamp", name="Light"))
    assert match(graded(domain, wanted, rename, user(call("switch"))))
    info = graded(domain, wanted, rename)
    assert not match(info)
    assert [(d.side, d.path, d.expected, d.got) for d in info.db_diff or []] == [("user", "phone/on", True, False)]


def test_json_types_count(domain: Domain) -> None:
    wanted = task({"actions": [action("price", item_id="lamp", price=1)], "reward_basis": ["DB"]})
    assert match(graded(domain, wanted, agent(call("price", item_id="lamp", price=1))))
    for other in (1.0, True, "1"):
        info = graded(domain, wanted, agent(call("price", item_id="lamp", price=other)))
        assert not match(info)
        (difference,) = info.db_diff or []
        assert (difference.path, difference.expected, difference.got) == ("items/lamp/price", 1, other)
        assert type(difference.got) is type(other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_tasks_that_differ_in_a_number_that_json_lacks_have_reference_states_of_their_own(
    domain: Domain, value: float
) -> None:
    for price in (None, value):
        wanted = task({"actions": [action("price", item_id="lamp", price=price)], "reward_basis": ["DB"]})
        assert match(graded(domain, wanted, agent(call("price", item_id="lamp", price=None)))) is (price is None)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_call_with_a_number_that_json_lacks_is_malformed_and_changes_nothing(domain: Domain, value: float) -> None:
    wanted = task({"actions": [], "reward_basis": ["DB"]})
    made = call("price", item_id="lamp", price=value)
    assert (made.arguments, made.malformed) == ({}, json.dumps({"item_id": "lamp", "price": value}))
    assert match(graded(domain, wanted, agent(made)))
    stored = agent(made).model_dump_json()
    assert match(graded(domain, wanted, json.loads(stored)))
    # As other programs store it: JSON with NaN.
    raw = {"role": "assistant", "tool_calls": [{"name": "price", "arguments": {"item_id": "lamp", "price": value}}]}
    assert match(graded(domain, wanted, raw))
    answer = domain.environment().answer(made)
    assert (answer.error, answer.content) == (
        True,
        f"Error: arguments of 'price' must be a JSON object: price: {json.dumps(value)} is not JSON",
    )


def test_there_is_no_sync_between_reference_actions(domain: Domain) -> None:
    """So the same call on both ways leaves different phones. An oddity of the reference on which scores depend."""
    wanted = task({"actions": [action("count", by=2)], "reward_basis": ["DB"]})
    info = graded(domain, wanted, agent(call("count", by=2)))
    assert [(d.side, d.path, d.expected, d.got) for d in info.db_diff or []] == [("user", "phone/shown", 0, 2)]
    assert info.reward == 0.0


def test_differences_show_the_side_that_lacks_a_value(domain: Domain) -> None:
    wanted = task({"actions": [action("remove", item_id="lamp")], "reward_basis": ["DB"]})
    info = graded(
        domain, wanted, agent(call("remove", item_id="desk")), user(call("write_note", note_id="n", text="x"))
    )
    assert [(d.side, d.path, d.missing) for d in info.db_diff or []] == [
        ("agent", "items/desk", "got"),
        ("agent", "items/lamp", "expected"),
        ("user", "notes/n", "expected"),
    ]


def test_what_task_and_history_did_is_in_both_states(domain: Domain) -> None:
    history = [
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "name": "count", "arguments": {}}],
        },
        {"role": "tool", "id": "1", "content": "4"},
        {"role": "user", "content": "Go on"},
    ]
    state = {"initialization_data": {"agent_data": {"counter": 3}}, "message_history": history}
    wanted = task({"actions": [RENAMED], "reward_basis": ["DB"]}, state=state)
    rename = agent(call("rename", item_id="lamp", name="Light"))
    assert match(graded(domain, wanted, *history, rename))
    assert not match(graded(domain, wanted, *history))


def test_dates_are_shown_as_text() -> None:
    from datetime import date

    class Day(Record):
        when: date

    class Diary(Database):
        days: Table[Day]

    class Holder:
        user_db = None

        def __init__(self, when: str) -> None:
            self.agent_db = Diary.model_validate({"days": {"d": {"when": when}}})

    findings = check_db(Holder("2025-01-02"), Holder("2025-01-01"))  # type: ignore[arg-type]
    (difference,) = findings.differences
    assert (difference.path, difference.expected, difference.got) == ("days/d/when", "2025-01-01", "2025-01-02")


def test_without_a_reference_state_everything_matches(domain: Domain) -> None:
    final = domain.environment()
    final.call("count", {})
    findings = check_db(final, None)
    assert findings.check.db_match
    assert findings.differences == []
    assert same_state(final, None)


def test_a_side_that_a_domain_lacks_is_not_compared(domain: Domain) -> None:
    class Alone:
        user_db = None

        def __init__(self, made: int) -> None:
            environment = domain.environment()
            for _ in range(made):
                environment.call("count", {})
            self.agent_db = environment.agent_db

    for one, other, equal in ((Alone(1), Alone(1), True), (Alone(1), Alone(2), False)):
        assert same_state(one, other) is equal  # type: ignore[arg-type]
        assert check_db(one, other).check.db_match is equal  # type: ignore[arg-type]
    half = Alone(0)
    for pair in ((domain.environment(), half), (half, domain.environment())):
        assert same_state(*pair)  # type: ignore[arg-type]
        assert check_db(*pair).check.db_match  # type: ignore[arg-type]


def test_states_are_the_same_if_those_of_both_sides_are(domain: Domain) -> None:
    reference, by_user, by_agent = (domain.environment() for _ in range(3))
    by_user.call("switch", {}, "user")
    by_agent.call("count", {})
    assert [same_state(final, reference) for final in (domain.environment(), by_user, by_agent)] == [True, False, False]


def test_a_replayed_conversation_is_graded_in_solo_mode(domain: Domain) -> None:
    wanted = task({"actions": [RENAMED, action("switch", "user")], "reward_basis": ["DB"]}, ticket="Do it.")
    alone = [agent(call("rename", item_id="lamp", name="Light")), agent(call("switch"))]
    assert match(graded(domain, wanted, *alone, solo=True))
    assert not match(graded(domain, wanted, *alone))  # with a user about, the agent has no such tool
    assert tiny.graded(domain, wanted, *alone, solo=True).reward == 1.0
