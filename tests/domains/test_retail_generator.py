"""The bundled retail data and tasks: that they agree with themselves, play through, and ask for what they grade."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from for_each import for_each

from pytest_tau import simulate
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.evaluation import BUILT_IN_JUDGES, Evaluation, profile_named
from pytest_tau.runner import SimulationSettings
from pytest_tau_domains._kit.transfer import TRANSFER
from pytest_tau_domains._kit.verify import play
from pytest_tau_domains.retail import domain as spec
from pytest_tau_domains.retail.models import GiftCard, RetailDB
from pytest_tau_domains.retail.tasks.builder import build_tasks
from pytest_tau_domains.retail.tasks.generator import SMALL
from pytest_tau_domains.retail.tasks.scenarios import SCENARIOS
from pytest_tau_domains.retail.tasks.verify import environment_of, verify
from pytest_tau_domains.retail.tasks.world import World, unique_items

if TYPE_CHECKING:
    from pytest_tau.models import Action, Task
    from pytest_tau.models.tasks import Instructions

pytestmark = pytest.mark.exhaustive

DOMAIN = spec.load()
DB = cast("RetailDB", DOMAIN.environment().agent_db)
ALL = DOMAIN.tasks(split=None)
TASKS = {task.id: task for task in ALL}
WRITING = {name for name, info in DOMAIN.environment().tool_infos.items() if info.kind == "write"}


def settings(grading: str = "official", judge: str = "accept") -> SimulationSettings:
    return SimulationSettings(evaluation=Evaluation(profile_named(grading), BUILT_IN_JUDGES[judge]))


def altered(task: Task, **criteria: Any) -> Task:
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update=criteria)})


def actions(task: Task) -> list[Action]:
    return task.criteria.actions or []


def instructions_of(task: Task) -> Instructions:
    return cast("Instructions", task.user_scenario.instructions)


every_task = for_each(TASKS)


# The files


def test_scenario_without_a_fitting_customer_is_reported() -> None:
    nobody = replace(SCENARIOS[0], steps=[lambda cases: iter(())])
    with pytest.raises(ConfigurationError, match=f"scenario '{nobody.task_id}'"):
        build_tasks([nobody], World(DB))


def test_splits() -> None:
    sizes = {split: len(DOMAIN.tasks(split)) for split in DOMAIN.splits}
    assert sizes == {"base": 86, "small": 12, "train": 58, "test": 28, "judged": 3, "full": 89}
    train, test, base = (set(DOMAIN.splits[split]) for split in ("train", "test", "base"))
    assert not train & test
    assert train | test == base
    assert base.isdisjoint(DOMAIN.splits["judged"])
    assert set(DOMAIN.splits["small"]) == set(SMALL) <= base
    assert DOMAIN.splits["full"] == list(TASKS)
    for split in ("base", "train", "test"):
        used = {action.name for task in DOMAIN.tasks(split) for action in actions(task)}
        assert used >= {*WRITING, TRANSFER}


# The data


def test_ids_are_unique_and_of_their_shape() -> None:
    items = [item_id for product in DB.products.scan() for item_id in product.variants]
    assert len({*items, *DB.products}) == len(items) + len(DB.products)
    assert all(re.fullmatch(r"\d{10}", number) for number in (*items, *DB.products))
    assert all(re.fullmatch(r"#W\d{7}", order_id) for order_id in DB.orders)
    assert all(re.fullmatch(r"[a-z]+_[a-z]+_\d{4}", user_id) for user_id in DB.users)
    methods = [method_id for user in DB.users.scan() for method_id in user.payment_methods]
    assert len(set(methods)) == len(methods)
    parcels = [number for o in DB.orders.scan() for parcel in o.fulfillments for number in parcel.tracking_id]
    assert len(set(parcels)) == len(parcels)


@for_each({product.name: product for product in DB.products.scan()})
def test_variants_differ(product: Any) -> None:
    variants = list(product.variants.values())
    assert 6 <= len(variants) <= 10
    assert len({tuple(sorted(v.options.items())) for v in variants}) == len(variants)
    assert len({v.price for v in variants}) == len(variants)
    assert {tuple(v.options) for v in variants} == {tuple(variants[0].options)}
    assert any(v.available for v in variants)
    assert all(not f"{v.price:.2f}".endswith("0") for v in variants)


def test_customers_are_distinguishable() -> None:
    users = list(DB.users.scan())
    assert len({user.email for user in users}) == len(users)
    assert all(user.email.endswith("@example.com") for user in users)
    names = Counter((user.name.first_name, user.name.last_name) for user in users)
    assert max(names.values()) == 2
    assert len({(user.name.first_name, user.name.last_name, user.address.zip) for user in users}) == len(users)
    assert all(
        isinstance(method, GiftCard) is (method.source == "gift_card")
        for user in users
        for method in user.payment_methods.values()
    )
    assert all(m.balance > 0 for u in users for m in u.payment_methods.values() if isinstance(m, GiftCard))


def test_orders_and_customers_refer_to_each_other() -> None:
    owned = [(user.user_id, order_id) for user in DB.users.scan() for order_id in user.orders]
    assert sorted(owned) == sorted((order.user_id, order.order_id) for order in DB.orders.scan())


@for_each({order.order_id: order for order in DB.orders.scan()})
def test_an_order_agrees_with_itself(order: Any) -> None:
    for item in order.items:
        variant = DB.variant(item.product_id, item.item_id)
        assert (item.name, item.price, item.options) == (
            DB.product(item.product_id).name,
            variant.price,
            variant.options,
        )
    history = order.payment_history
    assert history[0].transaction_type == "payment"
    assert {entry.payment_method_id for entry in history} <= set(DB.user(order.user_id).payment_methods)
    paid = sum(entry.amount * (1 if entry.transaction_type == "payment" else -1) for entry in history)
    due = 0 if order.status == "cancelled" else sum(item.price for item in order.items)
    assert paid == pytest.approx(due)
    sent = [item_id for parcel in order.fulfillments for item_id in parcel.item_ids]
    waiting = "pending" in order.status or order.status == "cancelled"
    assert sorted(sent) == ([] if waiting else sorted(item.item_id for item in order.items))
    assert (order.cancel_reason is not None) is (order.status == "cancelled")
    assert (order.return_items is not None) is (order.status == "return requested")
    assert (order.exchange_items is not None) is (order.status == "exchange requested")


def test_there_are_parcels_for_elsewhere_and_items_bought_twice() -> None:
    orders = list(DB.orders.scan())
    assert any(order.address != DB.user(order.user_id).address for order in orders)
    assert any(len(unique_items(order)) < len(order.items) for order in orders)
    assert any(len(order.fulfillments) == 2 for order in orders)
    assert any(len(order.payment_history) == 3 for order in orders)


# The tasks


@every_task
def test_every_reference_action_succeeds_and_what_it_needs_can_be_known(task: Task) -> None:
    verify(task, DB)


def passes(task: Task, messages: Any) -> bool:
    from pytest_tau import evaluate

    return bool(evaluate(task, messages, domain=DOMAIN, judge=BUILT_IN_JUDGES["accept"]).reward == 1)


@every_task
def test_phrases_are_said_only_by_the_agent(task: Task) -> None:
    heard = f"{task.user_scenario} Hi! How can I help you today?".lower()
    for phrase in task.criteria.communicate_info or []:
        assert phrase.lower() not in heard
        assert "," not in phrase
        assert not re.fullmatch(r"\d+\.\d?0?", phrase)


@every_task
def test_texts_are_whole(task: Task) -> None:
    texts = str(task.user_scenario)
    assert not re.search(r"[{}]|\bNone\b|  ", texts)
    assert instructions_of(task).domain == "retail"
    assert re.fullmatch(r"[a-z0-9-]{3,40}", task.id)
    assert task.description
    assert task.description.purpose


@every_task
def test_bases(task: Task) -> None:
    transferred = any(action.name == TRANSFER for action in actions(task))
    basis = task.criteria.reward_basis
    assert basis[:2] == ["DB", "COMMUNICATE"]
    assert ("ACTION" in basis) is (transferred or task.id == "an-id-is-not-enough")
    assert ("NL_ASSERTION" in basis) is (task.id in DOMAIN.splits["judged"])


def test_customers_are_found_in_both_ways_and_are_many() -> None:
    ways = Counter(actions(task)[0].name for task in ALL)
    assert set(ways) == {"find_user_id_by_email", "find_user_id_by_name_zip"}
    assert min(ways.values()) > 15
    callers = Counter(re.sub(r" (Your|You).*", "", instructions_of(task).known_info or "") for task in ALL)
    assert len(callers) >= 45
    assert max(callers.values()) <= 5


def test_a_rejecting_judge_fails_the_judged_tasks() -> None:
    for task in DOMAIN.tasks("judged"):
        assert simulate(task, domain=DOMAIN, agent="gold", settings=settings(judge="reject")).reward == 0


# What the policy alone enforces: the tool would do it, and the task then fails


@pytest.mark.parametrize(
    ("task_id", "tool"),
    [
        ("address-after-a-change", "modify_pending_order_address"),
        ("exchange-for-the-same", "exchange_delivered_order_items"),
        ("cancel-for-a-flatmate", "cancel_pending_order"),
        ("cancel-for-a-better-price", "cancel_pending_order"),
        ("new-home-but-not-for-parcels", "modify_pending_order_address"),
        ("a-new-card-in-the-profile", "modify_user_address"),
    ],
)
def test_what_is_forbidden_but_possible_fails(task_id: str, tool: str) -> None:
    task = TASKS[task_id]
    arguments = FORBIDDEN[task_id](task)
    forbidden = actions(task)[0].model_copy(update={"action_id": "forbidden", "name": tool, "arguments": arguments})
    disobedient = altered(task, actions=[*actions(task), forbidden])
    reply = DOMAIN.environment().call(tool, arguments)
    if task_id == "exchange-for-the-same":
        disobedient = altered(task, actions=[*actions(task)[:-1], forbidden])
    assert not reply.error, reply.content
    messages = simulate(disobedient, domain=DOMAIN, agent="gold", settings=settings()).messages
    assert not passes(task, messages)


def order_named(task: Task) -> str:
    """The first order id in the customer's text."""
    return cast("re.Match[str]", re.search(r"#W\d+", str(task.user_scenario)))[0]


def elsewhere() -> dict[str, str]:
    return {
        "address1": "1 A Street",
        "address2": "",
        "city": "Reno",
        "state": "NV",
        "country": "USA",
        "zip": "89501",
    }


def pending_order(task: Task) -> str:
    user = DB.user(DOMAIN.environment().call(actions(task)[0].name, actions(task)[0].arguments).content or "")
    return next(i for i in user.orders if DB.order(i).status == "pending")


def same_again(task: Task) -> dict[str, Any]:
    returned = actions(task)[-1].arguments
    return {**returned, "new_item_ids": returned["item_ids"]}


FORBIDDEN: dict[str, Any] = {
    "address-after-a-change": lambda task: {"order_id": order_named(task), **elsewhere()},
    "exchange-for-the-same": same_again,
    "cancel-for-a-flatmate": lambda task: {"order_id": order_named(task), "reason": "no longer needed"},
    "cancel-for-a-better-price": lambda task: {"order_id": order_named(task), "reason": "no longer needed"},
    "new-home-but-not-for-parcels": lambda task: {"order_id": pending_order(task), **elsewhere()},
    "a-new-card-in-the-profile": lambda task: {"user_id": next(iter(DB.users)), **elsewhere()},
}


# Verification


def test_verify_finds_what_is_wrong_with_a_task() -> None:
    task = TASKS["return-two-of-three"]
    identify, look, give_back = actions(task)
    verify(task, DB)
    broken = {
        "not found": [identify.model_copy(update={"name": "find_usr"})],
        "where should the agent know": [identify, give_back],
        "is not needed": [identify, look, *[move_home(task)] * 2],
        "doing nothing passes": [identify, look],
    }
    for problem, bad in broken.items():
        with pytest.raises(TaskFormatError, match=problem) as caught:
            verify(altered(task, actions=bad, communicate_info=[]), DB)
        assert caught.value.task_id == task.id
    assert play([identify, look], environment_of(DB)).agent_db.equals(DB)


def move_home(task: Task) -> Action:
    """The default address becomes what it is."""
    user = DB.user(DOMAIN.environment().call(actions(task)[0].name, actions(task)[0].arguments).content or "")
    order = next(action for action in actions(task) if action.name == "get_order_details").arguments["order_id"]
    arguments = {"user_id": user.user_id, **DB.order(order).address.model_dump()}
    return actions(task)[0].model_copy(update={"name": "modify_user_address", "arguments": arguments})
