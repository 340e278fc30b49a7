"""The state of a conversation of the rules agent: what has been read and done, and which orders are meant."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..._kit import dialog
from ..._kit.dialog import Declined
from ..models import GiftCard, Order, Product, User
from ..payments import order_total
from .parsing import mentions, order_ids

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_tau.environment import Values

    from ..._kit.dialog import Talk
    from ..models import OrderItem, PaymentMethod, Variant


@dataclass(frozen=True)
class Plan(dialog.Plan):
    """A change that the customer has not agreed to yet.

    Attributes:
        swaps: The items that change, each with its new version.
        last: Whether it has to come after all others, as it closes the order to them.
    """

    swaps: tuple[tuple[OrderItem, Variant], ...] = ()
    last: bool = False


@dataclass(kw_only=True)
class Session(dialog.Session[Plan]):
    """The state of a conversation: what has been read and done.

    Attributes:
        values: The values of the policy that it goes by.
        order_id: The order that was mentioned last.
        proposed: Changes that were summed up and neither agreed to nor dropped.
    """

    values: Values
    order_id: str = ""
    proposed: list[Plan] = field(default_factory=list)

    def proposed_for(self, order: Order) -> Plan | None:
        """Return the proposed change of an order, if there is one."""
        return next((plan for plan in self.proposed if plan.call.arguments.get("order_id") == order.order_id), None)

    # Records

    def user(self) -> Talk[User]:
        """Return the customer's profile."""
        return User.model_validate_json((yield from self.look("get_user_details", user_id=self.user_id)))

    def order(self, order_id: str) -> Talk[Order]:
        """Return one of the customer's orders; somebody else's is not even read."""
        if order_id not in (yield from self.user()).orders:
            raise Declined(f"order {order_id} is not among your orders, and I can speak about your own only")
        self.order_id = order_id
        return Order.model_validate_json((yield from self.look("get_order_details", order_id=order_id)))

    def orders(self) -> Talk[list[Order]]:
        """Return all of the customer's orders."""
        return (yield from self._each((yield from self.user()).orders))

    def _each(self, order_ids: Iterable[str]) -> Talk[list[Order]]:
        orders: list[Order] = []
        for order_id in order_ids:
            orders += [(yield from self.order(order_id))]
        return orders

    def product(self, product_id: str) -> Talk[Product]:
        """Return a product with its versions."""
        text = yield from self.look("get_product_details", product_id=product_id)
        return Product.model_validate_json(text)

    def catalogue(self) -> Talk[dict[str, str]]:
        """Return the ids of all products by name."""
        ids: dict[str, str] = json.loads((yield from self.look("list_all_product_types")))
        return ids

    def paid_by(self, order: Order) -> Talk[PaymentMethod]:
        """Return the method that paid for an order when it was placed."""
        return (yield from self.user()).payment_methods[order.payment_history[0].payment_method_id]

    # Which order

    def find_order(self, text: str, *statuses: str) -> Talk[Order]:
        """Find the one order that is meant; see :meth:`find_orders`."""
        orders = yield from self.find_orders(text, *statuses)
        if len(orders) > 1:
            raise Declined("I can do that for one order at a time only; please tell me one order id")
        self.order_id = orders[0].order_id
        return orders[0]

    def find_orders(self, text: str, *statuses: str) -> Talk[list[Order]]:
        """Find the orders that are meant: by id, items, state, what was mentioned last, or on request.

        Args:
            text: What the customer says.
            statuses: The states in which an order can be meant where it is not named.
        """
        orders = yield from self._find_mentioned(text, statuses)
        if not orders and self.order_id and not self._is_new(text):
            orders = [(yield from self.order(self.order_id))]
        if not orders:
            text += " " + (yield from self.ask("Which order is it? Please tell me the order id."))
            orders = yield from self._find_mentioned(text, statuses)
        if not orders:
            raise Declined("I do not find the order that you mean")
        return orders

    def _is_new(self, text: str) -> bool:
        """Return whether the text is about an order that has not been mentioned."""
        return bool(re.search(r"\ban order\b|\banother order\b|\bthat I bought\b", text))

    def _find_mentioned(self, text: str, statuses: tuple[str, ...]) -> Talk[list[Order]]:
        if named_orders := (yield from self._each(order_ids(text))):
            return _pick_by_total(text, named_orders)
        orders = yield from self.orders() if _needs_all(text, self.order_id) else _nothing()
        fitting = [order for order in orders if not statuses or order.status in statuses]
        if re.search(r"\b(?:everything|every|all|all of) (?:(?:of )?my orders|orders?|that)\b", text.lower()):
            return fitting
        with_item = [order for order in orders if any(mentions(text, item.name) for item in order.items)]
        for group in ([order for order in with_item if order in fitting], with_item, fitting):
            if len(group) == 1:
                return group
        return []


def _nothing() -> Talk[list[Order]]:
    return []
    yield


def _needs_all(text: str, mentioned: str) -> bool:
    """Return whether all orders have to be read, because none is named and none was mentioned."""
    return not mentioned or bool(re.search(r"\bevery|\ball\b|\ban order\b|\bthat I bought\b|\bone with\b", text))


def _pick_by_total(text: str, orders: list[Order]) -> list[Order]:
    """Return the one of several orders that is compared by its total; all where none is."""
    if re.search(r"\b(?:cost more|dearer|more expensive|most expensive)\b", text.lower()):
        return [max(orders, key=order_total)]
    if re.search(r"\b(?:cost less|cheaper)\b", text.lower()):
        return [min(orders, key=order_total)]
    return orders


def refund_time(method: PaymentMethod, values: Values) -> str:
    """Return how long a refund takes."""
    return "at once" if isinstance(method, GiftCard) else f"within {values['refund_days']} business days"
