"""The retail domain: lookups, what each tool refuses and in which order, and what it does to orders and gift cards.

One long file, because everything here works on the same small database.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from pytest_tau.environment import Environment
from pytest_tau.errors import ConfigurationError
from pytest_tau_domains.retail import domain
from pytest_tau_domains.retail.models import Order, Product, RetailDB, User
from pytest_tau_domains.retail.tools import RetailTools

if TYPE_CHECKING:
    from pathlib import Path

HOME = {"address1": "1 Elm St", "address2": "", "city": "Oslo", "country": "USA", "state": "TX", "zip": "00001"}
AWAY = {"address1": "9 Fir Rd", "address2": "B", "city": "Bonn", "country": "USA", "state": "IN", "zip": "90009"}

#: Product, available, price and options of each variant.
VARIANTS: dict[str, tuple[str, bool, float, dict[str, str]]] = {
    "lamp-s": ("lamp", True, 10.1, {"size": "S"}),
    "lamp-m": ("lamp", True, 30.35, {"size": "M"}),
    "lamp-l": ("lamp", True, 20.0, {"size": "L"}),
    "lamp-x": ("lamp", False, 40.0, {"size": "X"}),
    "desk-s": ("desk", True, 200.0, {"legs": "4"}),
    "desk-l": ("desk", True, 301.5, {"legs": "6"}),
    "pen-0": ("pen", True, 0.0, {"ink": "none"}),
    "pen-1": ("pen", True, 0.1, {"ink": "red"}),
    "pen-2": ("pen", True, 0.2, {"ink": "blue"}),
    "pen-3": ("pen", True, 0.3, {"ink": "green"}),
}
PENS = {"item_ids": ["pen-0", "pen-0", "pen-0"], "new_item_ids": ["pen-1", "pen-2", "pen-3"]}


def order(order_id: str, status: str, paid_by: str, *item_ids: str) -> dict[str, Any]:
    """An order of Ada's."""
    items = [
        {
            "name": VARIANTS[i][0].title(),
            "product_id": VARIANTS[i][0],
            "item_id": i,
            "price": VARIANTS[i][2],
            "options": VARIANTS[i][3],
        }
        for i in item_ids
    ]
    paid = {"transaction_type": "payment", "amount": sum(item["price"] for item in items), "payment_method_id": paid_by}  # type: ignore[misc]
    record = {"order_id": order_id, "user_id": "ada_berg_1", "address": HOME, "items": items, "status": status}
    return {**record, "fulfillments": [], "payment_history": [paid]}


def agent_data() -> dict[str, Any]:
    """Ada has five orders, a card, PayPal and two gift cards; Bo has nothing but a gift card."""
    products: dict[str, Any] = {}
    for item_id, (product_id, available, price, options) in VARIANTS.items():
        product = {"name": product_id.title(), "product_id": product_id, "variants": {}}
        products.setdefault(product_id, product)["variants"][item_id] = {
            "item_id": item_id,
            "options": options,
            "available": available,
            "price": price,
        }
    orders = [
        order("#P1", "pending", "card", "lamp-s", "lamp-s", "desk-s"),
        order("#P2", "pending", "rich", "lamp-s"),
        order("#P3", "pending", "card", "pen-0", "pen-0", "pen-0"),
        order("#D1", "delivered", "card", "lamp-s", "lamp-s", "desk-s"),
        order("#D2", "delivered", "card", "pen-0", "pen-0", "pen-0"),
        order("#S1", "processed", "card", "lamp-s"),
    ]
    ada = {
        "user_id": "ada_berg_1",
        "name": {"first_name": "Ada", "last_name": "Berg"},
        "address": HOME,
        "email": "Ada.Berg@example.com",
        "payment_methods": {
            "card": {"source": "credit_card", "id": "card", "brand": "visa", "last_four": "1234"},
            "rich": {"source": "gift_card", "id": "rich", "balance": 100.0},
            "poor": {"source": "gift_card", "id": "poor", "balance": 0.5},
            "pal": {"source": "paypal", "id": "pal"},
        },
        "orders": [entry["order_id"] for entry in orders],
    }
    bo = {
        **ada,
        "user_id": "bo_dahl_2",
        "name": {"first_name": "Bo", "last_name": "Dahl"},
        "email": "bo@example.com",
        "payment_methods": {"bos": {"source": "gift_card", "id": "bos", "balance": 5000.0}},
        "orders": [],
    }
    users = {"ada_berg_1": ada, "bo_dahl_2": bo}
    return copy.deepcopy({"products": products, "users": users, "orders": {o["order_id"]: o for o in orders}})


PRISTINE = RetailDB.model_validate(agent_data())


def make_environment(db: RetailDB = PRISTINE) -> Environment:
    return Environment(domain_name="retail", policy="", agent=RetailTools(db.fork()))


@pytest.fixture
def env() -> Environment:
    return make_environment()


def ask(env: Environment, name: str, **arguments: Any) -> Any:
    """The call must succeed; its result as JSON."""
    return json.loads(text_of(env, name, **arguments))


def text_of(env: Environment, name: str, **arguments: Any) -> str:
    reply = env.call(name, arguments)
    assert not reply.error, reply.content
    assert reply.content is not None
    return reply.content


def refusal(env: Environment, name: str, **arguments: Any) -> str:
    """The call must fail and change nothing."""
    before = env.agent_db.fork()
    reply = env.call(name, arguments)
    assert reply.error, reply.content
    assert before.changes(env.agent_db) == []
    return str(reply.content).removeprefix("Error: ")


def balance(env: Environment, method_id: str) -> Any:
    return ask(env, "get_user_details", user_id="ada_berg_1")["payment_methods"][method_id]["balance"]


def change(order_id: str, old: str, new: str, method: str = "card") -> dict[str, Any]:
    """Arguments of both tools that swap items; ids parted by blanks."""
    return {
        "order_id": order_id,
        "item_ids": old.split(),
        "new_item_ids": new.split(),
        "payment_method_id": method,
    }


class TestLookups:
    def test_records_come_whole(self, env: Environment) -> None:
        assert ask(env, "get_user_details", user_id="bo_dahl_2") == agent_data()["users"]["bo_dahl_2"]
        assert ask(env, "get_product_details", product_id="lamp") == agent_data()["products"]["lamp"]
        assert ask(env, "get_item_details", item_id="desk-l") == {
            "item_id": "desk-l",
            "options": {"legs": "6"},
            "available": True,
            "price": 301.5,
        }

    def test_an_order_has_its_empty_fields_too(self, env: Environment) -> None:
        found = ask(env, "get_order_details", order_id="#D1")
        nulls = [name for name, value in found.items() if value is None]
        assert {name: value for name, value in found.items() if value is not None} == agent_data()["orders"]["#D1"]
        assert nulls == [
            "cancel_reason",
            "exchange_items",
            "exchange_new_items",
            "exchange_payment_method_id",
            "exchange_price_difference",
            "return_items",
            "return_payment_method_id",
        ]

    @pytest.mark.parametrize("email", ["Ada.Berg@example.com", "ada.berg@EXAMPLE.com"])
    def test_an_email_is_found_in_any_case(self, env: Environment, email: str) -> None:
        assert text_of(env, "find_user_id_by_email", email=email) == "ada_berg_1"

    def test_a_name_is_found_in_any_case(self, env: Environment) -> None:
        assert text_of(env, "find_user_id_by_name_zip", first_name="ADA", last_name="berg", zip="00001") == "ada_berg_1"

    @pytest.mark.parametrize(
        ("name", "arguments", "text"),
        [
            ("get_order_details", {"order_id": "P1"}, "Order not found"),
            ("get_order_details", {"order_id": ["#P1"]}, "Order not found"),
            ("get_product_details", {"product_id": "lamp-s"}, "Product not found"),
            ("get_item_details", {"item_id": "lamp"}, "Item not found"),
            ("get_item_details", {"item_id": {}}, "Item not found"),
            ("get_user_details", {"user_id": "ADA_BERG_1"}, "User not found"),
            ("find_user_id_by_email", {"email": " bo@example.com"}, "User not found"),
            ("find_user_id_by_email", {"email": 5}, "User not found"),
            ("find_user_id_by_name_zip", {"first_name": "Ada", "last_name": "Dahl", "zip": "00001"}, "User not found"),
            ("find_user_id_by_name_zip", {"first_name": "Ada", "last_name": "Berg", "zip": "00002"}, "User not found"),
            ("find_user_id_by_name_zip", {"first_name": "Ada", "last_name": "Berg", "zip": 1}, "User not found"),
            ("find_user_id_by_name_zip", {"first_name": "Ada ", "last_name": "Berg", "zip": "00001"}, "User not found"),
            ("find_user_id_by_name_zip", {"first_name": "Ada", "last_name": None, "zip": "00001"}, "User not found"),
        ],
    )
    def test_misses(self, env: Environment, name: str, arguments: dict[str, Any], text: str) -> None:
        assert refusal(env, name, **arguments) == text

    def test_product_types_are_text_sorted_by_code_point(self) -> None:
        data = agent_data()
        data["products"]["pen"]["name"] = "LED Pen"
        data["products"]["lamp"]["name"] = "Lamp"
        env = make_environment(RetailDB.model_validate(data))
        assert text_of(env, "list_all_product_types") == '{"Desk": "desk", "LED Pen": "pen", "Lamp": "lamp"}'

    def test_the_other_two(self, env: Environment) -> None:
        assert text_of(env, "transfer_to_human_agents", summary="") == "Transfer successful"
        assert text_of(env, "calculate", expression="2 * (1.005 + 3)") == "8.01"
        assert refusal(env, "calculate", expression="abs(1)") == "Invalid characters in expression"


class TestCancel:
    def test_a_card_gets_its_money_back(self, env: Environment) -> None:
        cancelled = ask(env, "cancel_pending_order", order_id="#P1", reason="ordered by mistake")
        assert (cancelled["status"], cancelled["cancel_reason"]) == ("cancelled", "ordered by mistake")
        payment, refund = cancelled["payment_history"]
        assert refund == {**payment, "transaction_type": "refund"}
        assert balance(env, "rich") == 100.0

    def test_a_gift_card_is_credited(self, env: Environment) -> None:
        ask(env, "cancel_pending_order", order_id="#P2", reason="no longer needed")
        assert balance(env, "rich") == 110.1

    def test_after_a_change_of_payment_every_entry_is_refunded(self, env: Environment) -> None:
        ask(env, "modify_pending_order_payment", order_id="#P2", payment_method_id="card")
        cancelled = ask(env, "cancel_pending_order", order_id="#P2", reason="no longer needed")
        assert [(e["transaction_type"], e["payment_method_id"]) for e in cancelled["payment_history"]] == [
            ("payment", "rich"),
            ("payment", "card"),
            ("refund", "rich"),
            ("refund", "rich"),
            ("refund", "card"),
            ("refund", "rich"),
        ]
        assert balance(env, "rich") == 130.3  # refunded by the change, then twice more

    def test_a_method_that_is_gone_stops_it_halfway(self) -> None:
        data = agent_data()
        data["orders"]["#P2"]["payment_history"].append(
            {"transaction_type": "payment", "amount": 1, "payment_method_id": "gone"}
        )
        env = make_environment(RetailDB.model_validate(data))
        reply = env.call("cancel_pending_order", {"order_id": "#P2", "reason": "no longer needed"})
        assert (reply.error, reply.content) == (True, "Error: Payment method not found")
        assert balance(env, "rich") == 110.1
        assert ask(env, "get_order_details", order_id="#P2")["status"] == "pending"
        assert len(ask(env, "get_order_details", order_id="#P2")["payment_history"]) == 2

    @pytest.mark.parametrize(
        ("order_id", "reason", "text"),
        [
            ("#X", "boredom", "Order not found"),
            ("#S1", "boredom", "Non-pending order cannot be cancelled"),
            ("#P1", "No longer needed", "Invalid reason"),
            ("#P1", ["no longer needed"], "Invalid reason"),
        ],
    )
    def test_refusals(self, env: Environment, order_id: str, reason: Any, text: str) -> None:
        assert refusal(env, "cancel_pending_order", order_id=order_id, reason=reason) == text


class TestExchange:
    def test_it_is_noted_and_nothing_moves(self, env: Environment) -> None:
        before = agent_data()["orders"]["#D1"]
        arguments = change("#D1", "lamp-s desk-s lamp-s", "lamp-m desk-l lamp-l", "pal")
        after = ask(env, "exchange_delivered_order_items", **arguments)
        assert after["status"] == "exchange requested"
        assert after["exchange_items"] == ["desk-s", "lamp-s", "lamp-s"]
        assert after["exchange_new_items"] == ["desk-l", "lamp-l", "lamp-m"]
        assert after["exchange_payment_method_id"] == "pal"
        assert after["exchange_price_difference"] == 131.65
        assert (after["items"], after["payment_history"]) == (before["items"], before["payment_history"])

    def test_the_difference_is_rounded_before_the_gift_card_is_asked(self) -> None:
        data = agent_data()
        data["users"]["ada_berg_1"]["payment_methods"]["poor"]["balance"] = 0.6
        env = make_environment(RetailDB.model_validate(data))
        after = ask(env, "exchange_delivered_order_items", order_id="#D2", **PENS, payment_method_id="poor")
        assert after["exchange_price_difference"] == 0.6
        assert balance(env, "poor") == 0.6

    @pytest.mark.parametrize("nothing", [[], "", {}])
    def test_no_items_make_a_difference_of_integer_zero(self, env: Environment, nothing: Any) -> None:
        empty = {"order_id": "#D1", "item_ids": nothing, "new_item_ids": nothing, "payment_method_id": "card"}
        after = text_of(env, "exchange_delivered_order_items", **empty)
        assert '"exchange_items": [], "exchange_new_items": []' in after
        assert '"exchange_price_difference": 0,' in after

    def test_the_same_item_will_do(self, env: Environment) -> None:
        after = ask(env, "exchange_delivered_order_items", **change("#D1", "lamp-s", "lamp-s"))
        assert after["exchange_price_difference"] == 0.0

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            (change("#X", "a", "b", "no"), "Order not found"),
            (change("#P1", "a", "b c", "no"), "Non-delivered order cannot be exchanged"),
            (change("#D1", "lamp-s pen-0 desk-l", "b", "no"), "Number of pen-0 not found."),
            (change("#D1", "lamp-s lamp-s lamp-s", "b", "no"), "Number of lamp-s not found."),
            (change("#D1", "lamp-s", "b c", "no"), "The number of items to be exchanged should match."),
            (change("#D1", "lamp-s desk-s", "desk-l b", "no"), "Variant not found"),
            (change("#D1", "lamp-s desk-s", "lamp-x b", "no"), "New item lamp-x not found or available"),
            (change("#D1", "lamp-s", "lamp-m", "no"), "Payment method not found"),
            (change("#D1", "lamp-s", "lamp-m", "bos"), "Payment method not found"),
            (
                change("#D1", "lamp-s", "lamp-m", "poor"),
                "Insufficient gift card balance to pay for the price difference",
            ),
            (change("#D1", "lamp-s", "lamp-m") | {"item_ids": "lamp-s"}, "Number of l not found."),
            (change("#D1", "lamp-s", "lamp-m") | {"new_item_ids": [["lamp-m"]]}, "Variant not found"),
            (change("#D1", "lamp-s", "lamp-m") | {"payment_method_id": None}, "Payment method not found"),
        ],
    )
    def test_refusals(self, env: Environment, arguments: dict[str, Any], text: str) -> None:
        assert refusal(env, "exchange_delivered_order_items", **arguments) == text

    @pytest.mark.parametrize("field", ["item_ids", "new_item_ids"])
    def test_null_is_no_list(self, env: Environment, field: str) -> None:
        refusal(env, "exchange_delivered_order_items", **change("#D1", "", "") | {field: None})

    def test_it_works_once(self, env: Environment) -> None:
        ask(env, "exchange_delivered_order_items", **change("#D1", "lamp-s", "lamp-m"))
        again = refusal(env, "exchange_delivered_order_items", **change("#D1", "desk-s", "desk-l"))
        assert again == "Non-delivered order cannot be exchanged"


class TestChangeOfItems:
    def test_one_item(self, env: Environment) -> None:
        after = ask(env, "modify_pending_order_items", **change("#P1", "desk-s", "desk-l"))
        assert after["status"] == "pending (item modified)"
        assert after["items"][2] == {
            "name": "Desk",
            "product_id": "desk",
            "item_id": "desk-l",
            "price": 301.5,
            "options": {"legs": "6"},
        }
        assert after["payment_history"][1:] == [
            {"transaction_type": "payment", "amount": 101.5, "payment_method_id": "card"}
        ]

    def test_every_item_gets_price_and_options_of_the_last_pair(self, env: Environment) -> None:
        after = ask(env, "modify_pending_order_items", **change("#P1", "desk-s lamp-s", "desk-l lamp-m"))
        assert [(i["name"], i["item_id"], i["price"], i["options"]) for i in after["items"]] == [
            ("Lamp", "lamp-m", 30.35, {"size": "M"}),
            ("Lamp", "lamp-s", 10.1, {"size": "S"}),
            ("Desk", "desk-l", 30.35, {"size": "M"}),
        ]
        assert after["payment_history"][1]["amount"] == 101.5 + (30.35 - 10.1)

    def test_a_pair_may_hit_what_the_one_before_has_put_there(self) -> None:
        data = agent_data()
        data["orders"]["#P1"]["items"][1]["item_id"] = "lamp-m"
        env = make_environment(RetailDB.model_validate(data))
        after = ask(env, "modify_pending_order_items", **change("#P1", "lamp-s lamp-m", "lamp-m lamp-l"))
        assert [item["item_id"] for item in after["items"]] == ["lamp-l", "lamp-m", "desk-s"]

    def test_the_difference_keeps_its_noise(self, env: Environment) -> None:
        after = ask(env, "modify_pending_order_items", order_id="#P3", **PENS, payment_method_id="card")
        assert after["payment_history"][1]["amount"] == 0.6000000000000001

    def test_the_gift_card_is_asked_for_the_noise_too(self) -> None:
        data = agent_data()
        data["users"]["ada_berg_1"]["payment_methods"]["poor"]["balance"] = 0.6
        env = make_environment(RetailDB.model_validate(data))
        text = refusal(env, "modify_pending_order_items", order_id="#P3", **PENS, payment_method_id="poor")
        assert text == "Insufficient gift card balance to pay for the new item"

    def test_a_gift_card_pays_and_is_rounded(self, env: Environment) -> None:
        ask(env, "modify_pending_order_items", order_id="#P3", **PENS, payment_method_id="rich")
        assert balance(env, "rich") == 99.4

    def test_a_cheaper_item_is_refunded(self) -> None:
        data = agent_data()
        data["orders"]["#P1"]["items"][2]["item_id"] = "desk-l"
        data["orders"]["#P1"]["items"][2]["price"] = 301.5
        env = make_environment(RetailDB.model_validate(data))
        after = ask(env, "modify_pending_order_items", **change("#P1", "desk-l", "desk-s", "poor"))
        assert after["payment_history"][1] == {
            "transaction_type": "refund",
            "amount": 101.5,
            "payment_method_id": "poor",
        }
        assert balance(env, "poor") == 102.0

    def test_no_items_make_a_refund_of_zero(self, env: Environment) -> None:
        after = text_of(env, "modify_pending_order_items", **change("#P1", "", "", "rich"))
        assert '"status": "pending (item modified)"' in after
        assert '{"transaction_type": "refund", "amount": 0.0, "payment_method_id": "rich"}' in after
        assert balance(env, "rich") == 100.0

    def test_the_product_s_options_are_not_shared(self, env: Environment) -> None:
        ask(env, "modify_pending_order_items", **change("#P1", "lamp-s lamp-s", "lamp-m lamp-l"))
        db = env.agent_db
        assert isinstance(db, RetailDB)
        db.orders["#P1"].items[0].options["size"] = "changed"
        assert db.order("#P1").items[1].options == db.item("lamp-l").options == {"size": "L"}

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            (change("#X", "a", "b", "no"), "Order not found"),
            (change("#D1", "a", "b c", "no"), "Non-pending order cannot be modified"),
            (change("#P1", "lamp-s pen-0", "b", "no"), "pen-0 not found"),
            (change("#P1", "lamp-s", "b c", "no"), "The number of items to be exchanged should match"),
            (
                change("#P1", "lamp-s lamp-s", "lamp-s b", "no"),
                "The new item id should be different from the old item id",
            ),
            (change("#P1", "lamp-s lamp-s", "b lamp-s", "no"), "Variant not found"),
            (change("#P1", "lamp-s", "lamp-x", "no"), "New item lamp-x not found or available"),
            (change("#P1", "lamp-s", "lamp-m", "no"), "Payment method not found"),
            (change("#P1", "lamp-s", "lamp-m", "poor"), "Insufficient gift card balance to pay for the new item"),
        ],
    )
    def test_refusals(self, env: Environment, arguments: dict[str, Any], text: str) -> None:
        assert refusal(env, "modify_pending_order_items", **arguments) == text

    def test_afterwards_only_the_address_can_be_changed(self, env: Environment) -> None:
        ask(env, "modify_pending_order_items", **change("#P1", "lamp-s", "lamp-m"))
        refused = "Non-pending order cannot be modified"
        assert refusal(env, "modify_pending_order_items", **change("#P1", "desk-s", "desk-l")) == refused
        payment = refusal(env, "modify_pending_order_payment", order_id="#P1", payment_method_id="pal")
        assert payment == "There should be exactly one payment for a pending order"
        cancel = refusal(env, "cancel_pending_order", order_id="#P1", reason="no longer needed")
        assert cancel == "Non-pending order cannot be cancelled"
        assert ask(env, "modify_pending_order_address", order_id="#P1", **AWAY)["address"] == AWAY


class TestChangeOfPayment:
    def test_from_gift_card_to_card(self, env: Environment) -> None:
        after = ask(env, "modify_pending_order_payment", order_id="#P2", payment_method_id="card")
        assert after["status"] == "pending"
        assert after["payment_history"][1:] == [
            {"transaction_type": "payment", "amount": 10.1, "payment_method_id": "card"},
            {"transaction_type": "refund", "amount": 10.1, "payment_method_id": "rich"},
        ]
        assert balance(env, "rich") == 110.1

    def test_from_card_to_gift_card(self) -> None:
        data = agent_data()
        data["users"]["ada_berg_1"]["payment_methods"]["rich"]["balance"] = 220.2  # to the cent
        env = make_environment(RetailDB.model_validate(data))
        ask(env, "modify_pending_order_payment", order_id="#P1", payment_method_id="rich")
        assert balance(env, "rich") == 0.0

    @pytest.mark.parametrize(
        ("order_id", "method", "text"),
        [
            ("#X", "no", "Order not found"),
            ("#D1", "no", "Non-pending order cannot be modified"),
            ("#P1", "no", "Payment method not found"),
            ("#P1", ["pal"], "Payment method not found"),
            ("#P1", "card", "The new payment method should be different from the current one"),
            ("#P1", "rich", "Insufficient gift card balance to pay for the order"),
        ],
    )
    def test_refusals(self, env: Environment, order_id: str, method: Any, text: str) -> None:
        assert refusal(env, "modify_pending_order_payment", order_id=order_id, payment_method_id=method) == text

    @pytest.mark.parametrize("history", [[], ["refund"], ["payment", "refund"]])
    def test_the_history_must_be_one_payment(self, history: list[str]) -> None:
        data = agent_data()
        data["orders"]["#P1"]["payment_history"] = [
            {"transaction_type": kind, "amount": 1, "payment_method_id": "card"} for kind in history
        ]
        env = make_environment(RetailDB.model_validate(data))
        text = refusal(env, "modify_pending_order_payment", order_id="#P1", payment_method_id="card")
        assert text == "There should be exactly one payment for a pending order"

    def test_it_works_once(self, env: Environment) -> None:
        ask(env, "modify_pending_order_payment", order_id="#P1", payment_method_id="pal")
        again = refusal(env, "modify_pending_order_payment", order_id="#P1", payment_method_id="card")
        assert again == "There should be exactly one payment for a pending order"


class TestReturn:
    @pytest.mark.parametrize("method", ["card", "rich", "poor"])
    def test_to_the_first_method_or_any_gift_card(self, env: Environment, method: str) -> None:
        arguments = {"order_id": "#D1", "item_ids": ["lamp-s", "desk-s", "lamp-s"], "payment_method_id": method}
        after = ask(env, "return_delivered_order_items", **arguments)
        assert after["status"] == "return requested"
        assert after["return_items"] == ["desk-s", "lamp-s", "lamp-s"]
        assert after["return_payment_method_id"] == method
        assert len(after["payment_history"]) == 1
        assert (balance(env, "rich"), balance(env, "poor")) == (100.0, 0.5)

    def test_of_nothing(self, env: Environment) -> None:
        arguments = {"order_id": "#D1", "item_ids": [], "payment_method_id": "card"}
        assert ask(env, "return_delivered_order_items", **arguments)["return_items"] == []

    @pytest.mark.parametrize(
        ("order_id", "items", "method", "text"),
        [
            ("#X", ["no"], "no", "Order not found"),
            ("#P1", ["no"], "no", "Non-delivered order cannot be returned"),
            ("#D1", ["no"], "no", "Payment method not found"),
            ("#D1", ["no"], "bos", "Payment method not found"),
            ("#D1", ["no"], "pal", "Payment method should be the original payment method"),
            ("#D1", ["lamp-s", "no"], "card", "Some item not found"),
            ("#D1", ["desk-s", "desk-s"], "rich", "Some item not found"),
            ("#D1", "desk-s", "rich", "Some item not found"),
        ],
    )
    def test_refusals(self, env: Environment, order_id: str, items: Any, method: str, text: str) -> None:
        arguments = {"order_id": order_id, "item_ids": items, "payment_method_id": method}
        assert refusal(env, "return_delivered_order_items", **arguments) == text

    def test_a_missing_owner(self) -> None:
        data = agent_data()
        data["orders"]["#D1"]["user_id"] = "nobody"
        env = make_environment(RetailDB.model_validate(data))
        arguments = {"order_id": "#D1", "item_ids": [], "payment_method_id": "card"}
        assert refusal(env, "return_delivered_order_items", **arguments) == "User not found"


class TestAddresses:
    def test_of_an_order(self, env: Environment) -> None:
        assert ask(env, "modify_pending_order_address", order_id="#P1", **AWAY)["address"] == AWAY
        assert ask(env, "get_order_details", order_id="#P2")["address"] == HOME
        assert ask(env, "get_user_details", user_id="ada_berg_1")["address"] == HOME

    def test_of_a_user(self, env: Environment) -> None:
        assert ask(env, "modify_user_address", user_id="ada_berg_1", **AWAY)["address"] == AWAY
        assert ask(env, "get_order_details", order_id="#P1")["address"] == HOME
        assert text_of(env, "find_user_id_by_name_zip", first_name="ada", last_name="berg", zip="90009") == "ada_berg_1"

    def test_fields_keep_their_order_whatever_that_of_the_arguments(self, env: Environment) -> None:
        after = ask(env, "modify_user_address", **dict(reversed(AWAY.items())), user_id="bo_dahl_2")
        assert list(after["address"]) == list(AWAY)

    @pytest.mark.parametrize(
        ("name", "arguments", "text"),
        [
            ("modify_pending_order_address", {"order_id": "#X", **AWAY}, "Order not found"),
            ("modify_pending_order_address", {"order_id": "#D1", **AWAY}, "Non-pending order cannot be modified"),
            ("modify_pending_order_address", {"order_id": "#P1", **AWAY, "zip": 9}, "zip of an address must be text"),
            ("modify_user_address", {"user_id": "nobody", **AWAY, "zip": 9}, "User not found"),
            (
                "modify_user_address",
                {"user_id": "bo_dahl_2", **AWAY, "address2": None},
                "address2 of an address must be text",
            ),
        ],
    )
    def test_refusals(self, env: Environment, name: str, arguments: dict[str, Any], text: str) -> None:
        assert refusal(env, name, **arguments) == text


class TestDatabase:
    def test_what_nested_records_do_not_know_is_dropped(self) -> None:
        data = agent_data()
        data["orders"]["#P1"]["gift_wrap"] = data["users"]["bo_dahl_2"]["name"]["title"] = "x"
        assert RetailDB.model_validate(data).equals(PRISTINE)

    def test_what_the_database_does_not_know_is_refused(self) -> None:
        with pytest.raises(ValidationError, match="shops"):
            RetailDB.model_validate({**agent_data(), "shops": {}})

    def test_numbers_may_be_text_but_text_no_number(self) -> None:
        data = agent_data()
        data["products"]["pen"]["variants"]["pen-1"]["price"] = "1e-1"
        assert RetailDB.model_validate(data).item("pen-1").price == 0.1
        data["users"]["bo_dahl_2"]["address"]["zip"] = 90009
        with pytest.raises(ValidationError, match="zip"):
            RetailDB.model_validate(data)

    def test_method_is_recognised_by_its_source(self) -> None:
        data = agent_data()
        data["users"]["bo_dahl_2"]["payment_methods"]["bos"]["source"] = "cash"
        with pytest.raises(ValidationError, match="source"):
            RetailDB.model_validate(data)

    def test_fields_of_records(self) -> None:
        assert list(Product.model_fields) == ["name", "product_id", "variants"]
        assert list(User.model_fields) == ["user_id", "name", "address", "email", "payment_methods", "orders"]
        assert list(Order.model_fields)[:7] == [
            "order_id",
            "user_id",
            "address",
            "items",
            "status",
            "fulfillments",
            "payment_history",
        ]

    def test_environments_do_not_share_what_they_change(self, env: Environment) -> None:
        ask(env, "cancel_pending_order", order_id="#P2", reason="no longer needed")
        ask(env, "modify_user_address", user_id="bo_dahl_2", **AWAY)
        assert make_environment().agent_db.equals(PRISTINE)
        assert PRISTINE.model_dump(mode="json") == RetailDB.model_validate(agent_data()).dump()


class TestDeclaration:
    def test_tools_in_order_with_their_kinds(self, env: Environment) -> None:
        assert [(tool.name, tool.kind) for tool in env.tools()] == [
            ("calculate", "generic"),
            ("cancel_pending_order", "write"),
            ("exchange_delivered_order_items", "write"),
            ("find_user_id_by_name_zip", "read"),
            ("find_user_id_by_email", "read"),
            ("get_order_details", "read"),
            ("get_product_details", "read"),
            ("get_item_details", "read"),
            ("get_user_details", "read"),
            ("list_all_product_types", "read"),
            ("modify_pending_order_address", "write"),
            ("modify_pending_order_items", "write"),
            ("modify_pending_order_payment", "write"),
            ("modify_user_address", "write"),
            ("return_delivered_order_items", "write"),
            ("transfer_to_human_agents", "generic"),
        ]
        assert all(tool.mutates == (tool.kind == "write") for tool in env.tools())

    def test_there_is_no_user_side_and_no_solo(self, tmp_path: Path) -> None:
        folder = tmp_path / "domains" / "retail"
        folder.mkdir(parents=True)
        (folder / "db.json").write_text(json.dumps(agent_data()))
        (folder / "policy.md").write_text("the policy")
        loaded = domain.load(tmp_path)
        assert loaded.environment().policy == "the policy"
        assert loaded.environment().dump()["user"] is None
        assert loaded.environment().call("get_user_details", {}, "user").content == "Error: User tools not available"
        with pytest.raises(ConfigurationError, match="cannot be run solo"):
            loaded.environment(solo=True)

    def test_the_policy_knows_tools_and_statuses_by_their_names(self) -> None:
        policy = (domain.folder / "policy.md").read_text(encoding="utf-8")
        assert "`ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE.`" in policy
        statuses = Order.model_fields["status"].annotation.__args__
        assert all(f"`{status}`" in policy for status in statuses)
        named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", policy))
        assert named <= set(RetailTools.tool_infos)
