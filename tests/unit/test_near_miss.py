"""Near misses: what a trial that passed has omitted before a change, by hand-made conversations with the shop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from talks import Talk, bundled

from pytest_tau import load_domain
from pytest_tau.capabilities.near_miss.omissions import omissions_of, rules_before_writes
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import NO_NOTES, Notes, RewardInfo, Simulation, Task
from pytest_tau.policy import Rule

if TYPE_CHECKING:
    from .commands import Tau

DATA = Path(__file__).parents[3] / "shared" / "tau2-data"


def pending() -> tuple[Any, Any]:
    """Return an order of the shop that can be cancelled, and its customer."""
    db: Any = bundled("retail")[0].environment().agent_db
    order = next(order for order in db.orders.scan() if order.status == "pending")
    return order, db.users.peek(order.user_id)


def greeted(user: Any) -> Talk:
    """Return a conversation in which the customer is identified, and has not named an order."""
    talk = Talk(bundled("retail")[0]).user(f"My email is {user.email}. Please cancel my order.")
    return talk.call("find_user_id_by_email", email=user.email)


def omitted(talk: Talk, reward: float = 1.0, info: Notes = NO_NOTES) -> list[str] | None:
    """Return what the agent has omitted if the conversation passes, and its successful calls are the reference's."""
    calls = [call for message in talk.messages for call in getattr(message, "tool_calls", None) or ()]
    actions = [{"action_id": str(n), "name": call.name, "arguments": call.arguments} for n, call in enumerate(calls)]
    task = talk.task.model_dump(mode="json") | {"evaluation_criteria": {"actions": actions}}
    simulation = Simulation(
        id="one", task_id="by-hand", messages=talk.messages, termination_reason="user_stop",
        reward_info=RewardInfo(reward=reward), info=info,
    )  # fmt: skip
    found = omissions_of(simulation, Task.model_validate(task), talk.domain)
    return None if found is None else [omission.omitted for omission in found]


def cancelled(talk: Talk, order: Any) -> Talk:
    return talk.call("cancel_pending_order", order_id=order.order_id, reason="no longer needed")


def test_a_right_conversation_omits_nothing() -> None:
    order, user = pending()
    talk = greeted(user).call("get_user_details", user_id=user.user_id)
    talk.call("get_order_details", order_id=order.order_id).agreed(f"I will cancel {order.order_id}.")
    assert omitted(cancelled(talk, order)) == []


def test_a_change_without_agreement() -> None:
    order, user = pending()
    talk = greeted(user).call("get_user_details", user_id=user.user_id)
    talk.call("get_order_details", order_id=order.order_id)
    assert omitted(cancelled(talk, order)) == ["confirmed"]


def test_a_change_of_a_record_that_was_not_read() -> None:
    order, user = pending()
    talk = greeted(user).call("get_user_details", user_id=user.user_id).agreed(f"I will cancel {order.order_id}.")
    assert omitted(cancelled(talk, order)) == ["read"]


def test_a_change_for_a_customer_who_was_not_identified() -> None:
    order, _ = pending()
    talk = Talk(bundled("retail")[0]).user(f"Please cancel {order.order_id}.")
    talk.call("get_order_details", order_id=order.order_id).agreed(f"I will cancel {order.order_id}.")
    assert omitted(cancelled(talk, order)) == ["verified"]


def test_a_right_value_that_nothing_had_shown_was_guessed() -> None:
    order, user = pending()
    talk = greeted(user)
    assert "known" in (omitted(cancelled(talk, order)) or ())
    # One that the user names, or that a result has, was not.
    named = Talk(bundled("retail")[0]).user(f"My email is {user.email}. Please cancel {order.order_id}.")
    assert "known" not in (omitted(cancelled(named, order)) or ())
    read = greeted(user).call("get_user_details", user_id=user.user_id)
    assert "known" not in (omitted(cancelled(read, order)) or ())


def test_a_result_of_the_same_message_comes_too_late() -> None:
    order, user = pending()
    talk = greeted(user).calls(
        ("get_user_details", {"user_id": user.user_id}),
        ("cancel_pending_order", {"order_id": order.order_id, "reason": "no longer needed"}),
    )
    assert "known" in (omitted(talk) or ())


@pytest.mark.parametrize(("wish", "expected"), [("my default address", []), ("my new flat", ["stated"])])
def test_an_order_may_go_to_the_default_address_without_its_zip_code(wish: str, expected: list[str]) -> None:
    order, user = pending()
    talk = (
        greeted(user).call("get_user_details", user_id=user.user_id).call("get_order_details", order_id=order.order_id)
    )
    talk.user(f"Send it to {wish} instead.").agreed(f"I will send {order.order_id} to {wish}.")
    talk.call("modify_pending_order_address", order_id=order.order_id, **user.address.model_dump())
    assert omitted(talk) == expected


def test_a_refused_change_counts_for_nothing() -> None:
    order, user = pending()
    talk = greeted(user).call("cancel_pending_order", order_id=order.order_id, reason="a whim")
    assert omitted(talk) == []


def test_only_trials_that_passed_and_agents_that_did_not_see_the_reference_are_looked_at() -> None:
    order, user = pending()
    talk = cancelled(greeted(user), order)
    assert omitted(talk, reward=0.0) is None
    assert omitted(talk, info=Notes(saw_reference=("agent",))) is None


def test_a_rule_demands_one_of_four_things() -> None:
    with pytest.raises(ConfigurationError, match="before_write: expected read, verified, stated, confirmed or None"):
        Rule("asks", "Ask.", lambda _: (), before_write="asked")  # type: ignore[arg-type]


@pytest.mark.skipif(not DATA.is_dir(), reason="the official data are not here")
def test_rules_that_the_policy_of_the_data_does_not_state_are_not_checked() -> None:
    official = {
        name: {rule.name for rule in rules_before_writes(load_domain(name, DATA))} for name in ("telecom", "retail")
    }
    assert official["retail"] == {
        "identification", "read-before-write", "stated-details", "seen-version", "stated-version", "confirmation"
    }  # fmt: skip
    assert official["telecom"] == {"identification", "confirmation"}
    own = {rule.name for rule in rules_before_writes(load_domain("telecom"))}
    assert own - official["telecom"] == {"own-records", "read-before-write", "bill-stated", "chosen-amount"} & own


def test_the_command_looks_at_files_of_other_tools(tau: Tau, tmp_path: Path) -> None:
    order, user = pending()
    talk = cancelled(greeted(user).call("get_user_details", user_id=user.user_id), order)
    simulation = {
        "id": "one",
        "task_id": "by-hand",
        "trial": 0,
        "termination_reason": "user_stop",
        "reward_info": {"reward": 1.0},
        "messages": [message.model_dump(mode="json", exclude_none=True) for message in talk.messages],
    }
    failed = simulation | {"id": "two", "trial": 1, "reward_info": {"reward": 0.0}}
    task = talk.task.model_dump(mode="json", exclude_none=True)
    document = {
        "info": {"environment_info": {"domain_name": "retail"}},
        "tasks": [task],
        "simulations": [simulation, failed],
    }
    file = tmp_path / "heron.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    shown = tau("near-miss", file)
    assert shown.status == 0
    assert shown.lines[0] == "heron by-hand trial 0"
    assert "retail: 1 of 1 passed trial (100.0%) right for the wrong reason:" in shown.out
    found = tau("near-miss", file, "--json").json
    assert found["domains"] == {"retail": {"passed": 1, "near_misses": 1}}
    kinds = [omission["omitted"] for omission in found["near_misses"][0]["omissions"]]
    assert kinds == ["read", "stated", "confirmed"]
    assert tau("near-miss", file, "--domain", "retial").status == 2
