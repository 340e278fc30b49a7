"""What a task exercises, by its reference and in a conversation."""

from __future__ import annotations

from typing import Literal

import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.capabilities.coverage.exercised import declared_points, exercised, exercised_in, named_by, points_of
from pytest_tau.environment.functions import domain_of
from pytest_tau.models import Task
from pytest_tau.references.choices import choices_in, choices_taken


class Shop:
    """A shop whose state is plain data."""

    def __init__(self) -> None:
        self.orders = {
            "o1": {"status": "open", "paid": True},
            "o2": {"status": "sent", "paid": True},
            "o3": {"status": "open", "paid": True},
        }


def get_order(shop: Shop, order_id: str) -> dict:
    """Return an order.

    Args:
        order_id: Its id.
    """
    return shop.orders[order_id]


def close_order(shop: Shop, order_id: str, reason: Literal["late", "unwanted"], note: str = "") -> str:
    """Close an order.

    Args:
        order_id: Its id.
        reason: Why.
        note: Anything else.
    """
    shop.orders[order_id]["status"] = "closed"
    return "closed"


def task(*actions, task_id="one"):
    calls = [{"action_id": str(at), "name": name, "arguments": given} for at, (name, given) in enumerate(actions)]
    return Task.model_validate(
        {
            "id": task_id,
            "user_scenario": {"instructions": "Close my order."},
            "evaluation_criteria": {"actions": calls, "reward_basis": ["DB"]},
        }
    )


@pytest.fixture
def shop():
    spec = domain_of(
        "shop", tools=[get_order, close_order], make=Shop, snapshot=vars, reads={"get_order"}, policy="Be kind."
    )
    return spec.load()


def texts(points, kind):
    return sorted(point.text for point in points if point.kind == kind)


def test_the_points_of_a_domain_over_functions(shop):
    points = points_of(shop)
    assert texts(points, "tools") == ["close_order", "get_order"]
    assert "close_order.note" in texts(points, "parameters")
    assert texts(points, "values") == ["close_order.reason = late", "close_order.reason = unwanted"]
    assert texts(points, "records") == ["orders.paid = true", "orders.status = open", "orders.status = sent"]
    assert texts(points, "pairs") == ["close_order + close_order"]
    assert not texts(declared_points(shop), "records")


def test_gold_exercises_what_its_calls_name_and_touch(shop):
    found = exercised(task(("close_order", {"order_id": "o1", "reason": "late"})), shop)
    assert texts(found, "tools") == ["close_order"]
    assert texts(found, "parameters") == ["close_order.order_id", "close_order.reason"]
    assert texts(found, "values") == ["close_order.reason = late"]
    assert texts(found, "records") == ["orders.paid = true", "orders.status = open"]
    assert not texts(found, "pairs")


def test_two_writes_are_a_pair_and_a_read_is_not(shop):
    twice = [("close_order", {"order_id": each, "reason": "late"}) for each in ("o1", "o2")]
    assert texts(exercised(task(*twice), shop), "pairs") == ["close_order + close_order"]
    assert not texts(exercised(task(("get_order", {"order_id": "o1"}), twice[0]), shop), "pairs")


def test_a_refused_write_is_not_in_a_pair(shop):
    calls = [("close_order", {"order_id": each, "reason": "late"}) for each in ("o1", "o9")]
    refused = task(*calls)
    assert not texts(exercised(refused, shop), "pairs")
    assert texts(named_by(refused, shop), "pairs") == ["close_order + close_order"]


def test_what_is_unknown_is_no_point(shop):
    assert not exercised(task(("sell_order", {"order_id": "o1"})), shop)
    assert texts(named_by(task(("get_order", {"order": "o1"})), shop), "parameters") == []


def test_a_conversation_of_gold_exercises_what_gold_does():
    domain = load_domain("mock")
    played = next(each for each in domain.tasks() if each.criteria.actions)
    simulation = simulate(played, domain=domain, agent="gold", user="gold")
    assert exercised_in(simulation.messages, played, domain) == exercised(played, domain)


def test_calls_inside_of_calls_count():
    domain = load_domain("banking_knowledge")
    tools = {action.arguments["agent_tool_name"] for each in domain.tasks() for action in each.criteria.actions or ()
             if action.name == "call_discoverable_agent_tool"}  # fmt: skip
    named = {point.name for each in domain.tasks() for point in named_by(each, domain) if point.kind == "tools"}
    assert tools
    assert tools <= named


def test_choices_are_enumerations_booleans_and_quoted_alternatives():
    schema = {
        "$defs": {"Leg": {"properties": {"cabin": {"enum": ["low", "high"]}}}},
        "properties": {
            "legs": {"items": {"$ref": "#/$defs/Leg"}},
            "fast": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "why": {"type": "string", "description": 'Either "late" or "lost".'},
            "id": {"type": "string", "description": 'Such as "a1".'},
            "days": {"additionalProperties": {"properties": {"open": {"type": "boolean"}}}},
        },
    }
    every = ["legs.cabin = low", "legs.cabin = high", "fast = true", "fast = false", "why = late", "why = lost"]
    assert [each.text for each in choices_in(schema)] == [*every, "days.open = true", "days.open = false"]
    value = {"legs": [{"cabin": "low"}, {"cabin": 1}], "fast": None, "why": "lost", "id": "a1", "more": True}
    assert [each.text for each in choices_taken(value, schema)] == ["legs.cabin = low", "why = lost"]
    days = {"days": {"monday": {"open": True}, "sunday": {"open": False}}}
    assert [each.text for each in choices_taken(days, schema, {"sunday"})] == ["days.open = false"]
    assert len([*choices_taken(days, schema)]) == 2
