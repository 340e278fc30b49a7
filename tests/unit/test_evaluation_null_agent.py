"""What an agent that does nothing would have got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.evaluation import STRICT, passes_without_agent
from pytest_tau.evaluation.components import COMPONENTS

from .tiny import action, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

RENAMED = {"actions": [action("rename", item_id="lamp", name="Light")]}


@pytest.mark.parametrize("criteria", [None, {"actions": []}, {"actions": [], "reward_basis": ["DB"]}])
def test_a_task_that_is_done_before_anybody_speaks(domain: Domain, criteria: dict[str, Any] | None) -> None:
    assert passes_without_agent(task(criteria) if criteria else task(), domain) is True


@pytest.mark.parametrize(("phrase", "passes"), [("help you today", True), ("hello", False)])
def test_what_the_agent_says_is_the_greeting_of_every_conversation(
    domain: Domain, phrase: str, *, passes: bool
) -> None:
    wanted = task({"communicate_info": [phrase], "reward_basis": ["COMMUNICATE"]})
    assert passes_without_agent(wanted, domain) is passes


@pytest.mark.parametrize("component", ["DB", "ACTION"])
def test_a_task_that_asks_for_something(domain: Domain, component: str) -> None:
    assert passes_without_agent(task(RENAMED | {"reward_basis": [component]}), domain) is False


def test_what_has_to_be_said_may_have_been_said_before(domain: Domain) -> None:
    spoken = {"communicate_info": ["42"], "reward_basis": ["COMMUNICATE"]}
    assert passes_without_agent(task(spoken), domain) is False
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "It is 42."}]
    assert passes_without_agent(task(spoken, state={"message_history": history}), domain) is True


@pytest.mark.parametrize(("solo", "passes"), [(False, False), (True, True)])
def test_alone_an_agent_makes_the_user_s_calls_also_in_strict(domain: Domain, solo: bool, passes: bool) -> None:
    wanted = {"actions": [action("switch", "user")], "reward_basis": ["ACTION"]}
    made = {"id": "1", "name": "switch", "arguments": {}, "requestor": "assistant"}
    history = [
        {"role": "assistant", "tool_calls": [made]},
        {"role": "tool", "id": "1", "content": "on", "requestor": "assistant"},
    ]
    asked = task(wanted, state={"message_history": history})
    assert passes_without_agent(asked, domain, STRICT, solo=solo) is passes


def test_floor_is_unknown_if_a_judge_or_a_plugin_decides(domain: Domain) -> None:
    judged = task({"nl_assertions": ["x"], "reward_basis": ["NL_ASSERTION"]})
    assert passes_without_agent(judged, domain) is None
    own = task({"actions": [], "reward_basis": ["DB", "POLITENESS"]})
    assert passes_without_agent(own, domain) is None


def test_all_components_together_and_each_mode_have_a_verdict_of_their_own(domain: Domain) -> None:
    both = task({"actions": [], "reward_basis": [each.name for each in COMPONENTS]})
    assert passes_without_agent(both, domain) is True
    switch = {"id": "1", "name": "switch", "arguments": {}, "requestor": "user"}
    history = [
        {"role": "user", "tool_calls": [switch]},
        {"role": "tool", "id": "1", "requestor": "user", "content": "on"},
    ]
    wanted = task(
        {"actions": [action("switch", "user")], "reward_basis": ["ACTION"]}, state={"message_history": history}
    )
    # Asked for one after the other: neither answer is that of the other mode.
    assert [passes_without_agent(wanted, domain, STRICT, solo=solo) for solo in (False, True, False)] == [True] * 3
