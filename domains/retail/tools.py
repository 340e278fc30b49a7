"""The agent's tools of the retail domain."""

import json
from typing import cast

from pydantic import ValidationError

from pytest_tau.environment import ToolError, Toolkit, tool
from pytest_tau.environment.calculator import calculate

from .items import offer, require_items, swap
from .models import Address, CancelReason, GiftCard, Order, Product, RetailDB, User, Variant
from .payments import move_payment, refund_everything, require_cover, settle, sole_payment
from .values import VALUES, cancel_reasons


class RetailTools(Toolkit[RetailDB]):
    """Customers, products and orders of a shop. Source: the reference's retail domain."""

    tau_values = VALUES

    @tool("generic")
    def calculate(self, expression: str) -> str:
        """Work out a sum; the result has at most two decimals.

        Args:
            expression: Numbers, + - * / and parentheses, such as 3 * (19.99 - 5).
        """
        return calculate(expression)

    @tool("write")
    def cancel_pending_order(self, order_id: str, reason: str) -> Order:
        """Cancel a pending order and refund it: to a gift card at once, to other methods in {refund_days} business days.

        Get a yes to the order and the reason before you call.

        Args:
            order_id: The order's id with its leading #, as in #W0000000; the status must be just pending.
            reason: Either {cancel_reasons}.
        """  # noqa: E501 - the placeholder is longer than the figures
        if self.db.order(order_id).status != "pending":
            raise ToolError("Non-pending order cannot be cancelled")
        if reason not in cancel_reasons(self.tau_values):
            raise ToolError("Invalid reason")
        order = self.db.orders[order_id]
        refund_everything(self.db, order)
        order.status, order.cancel_reason = "cancelled", cast("CancelReason", reason)
        return order

    @tool("write")
    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Order:
        """Request an exchange of delivered items for available variants of the same products.

        Works once for an order, so name every item in one call. Get a yes to the whole list before you call.

        Args:
            order_id: The order's id with its leading #, as in #W0000000; the status must be delivered.
            item_ids: Items to give back; one that is given back twice is named twice.
            new_item_ids: What the customer gets for each of them, in the same order.
            payment_method_id: Pays the price difference or receives it; a method in the customer's profile.
        """
        order = self.db.order(order_id)
        if order.status != "delivered":
            raise ToolError("Non-delivered order cannot be exchanged")
        require_items(order, item_ids, "Number of {} not found.")
        if len(item_ids) != len(new_item_ids):
            raise ToolError("The number of items to be exchanged should match.")
        difference = round(offer(self.db, order, item_ids, new_item_ids, new_ones=False).difference, 2)
        require_cover(self.db.payment_method(order.user_id, payment_method_id), difference, "price difference")
        order = self.db.orders[order_id]
        order.status = "exchange requested"
        # Sorted each for itself, which loses the pairs, as in the reference.
        order.exchange_items, order.exchange_new_items = sorted(item_ids), sorted(new_item_ids)
        order.exchange_payment_method_id, order.exchange_price_difference = payment_method_id, difference
        return order

    @tool("read")
    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        """Find a customer's user id by name and zip code.

        Args:
            first_name: First name; upper or lower case does not matter.
            last_name: Last name; upper or lower case does not matter.
            zip: The zip code, five digits.
        """
        name = (_folded(first_name), _folded(last_name))
        for user in self.db.users.scan():
            if (user.name.first_name.lower(), user.name.last_name.lower()) == name and user.address.zip == zip:
                return user.user_id
        raise ToolError("User not found")

    @tool("read")
    def find_user_id_by_email(self, email: str) -> str:
        """Find a customer's user id by email address.

        Args:
            email: The address; upper or lower case does not matter.
        """
        address = _folded(email)
        for user in self.db.users.scan():
            if user.email.lower() == address:
                return user.user_id
        raise ToolError("User not found")

    @tool("read")
    def get_order_details(self, order_id: str) -> Order:
        """Read an order: items, status, address, shipments, payments, and what was asked for since.

        Args:
            order_id: The order's id with its leading #, as in #W0000000.
        """
        return self.db.order(order_id)

    @tool("read")
    def get_product_details(self, product_id: str) -> Product:
        """Read a type of product with all its variants, their options, prices and availability.

        Args:
            product_id: The id of the product, not of one of its items.
        """
        return self.db.product(product_id)

    @tool("read")
    def get_item_details(self, item_id: str) -> Variant:
        """Read one variant of a product: options, price, availability.

        Args:
            item_id: The id of the item, not of its product.
        """
        return self.db.item(item_id)

    @tool("read")
    def get_user_details(self, user_id: str) -> User:
        """Read a customer's profile: name, address, email, payment methods, ids of orders.

        Args:
            user_id: The id, such as ada_berg_1234.
        """
        return self.db.user(user_id)

    @tool("read")
    def list_all_product_types(self) -> str:
        """List the names of all products, each with its product id."""
        return json.dumps({product.name: product.product_id for product in self.db.products.scan()}, sort_keys=True)

    @tool("write")
    def modify_pending_order_address(
        self, order_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Order:
        """Send a pending order to another address. Get a yes to the new address before you call.

        Args:
            order_id: The order's id with its leading #, as in #W0000000.
            address1: House number and street.
            address2: Flat, suite or the like; empty if there is none.
            city: City.
            state: State, two letters.
            country: Country.
            zip: Zip code, five digits.
        """
        if "pending" not in self.db.order(order_id).status:
            raise ToolError("Non-pending order cannot be modified")
        address = _address(address1=address1, address2=address2, city=city, state=state, country=country, zip=zip)
        order = self.db.orders[order_id]
        order.address = address
        return order

    @tool("write")
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Order:
        """Replace items of a pending order with other available variants of the same products.

        Works once for an order, so name every item in one call; afterwards the order can be neither changed nor
        cancelled. Get a yes to the whole list before you call.

        Args:
            order_id: The order's id with its leading #, as in #W0000000; the status must be just pending.
            item_ids: Items to replace; one that is replaced twice is named twice.
            new_item_ids: What the customer gets for each of them, in the same order.
            payment_method_id: Pays the price difference or receives it; a method in the customer's profile.
        """
        order = self.db.order(order_id)
        if order.status != "pending":
            raise ToolError("Non-pending order cannot be modified")
        require_items(order, item_ids, "{} not found")
        if len(item_ids) != len(new_item_ids):
            raise ToolError("The number of items to be exchanged should match")
        variants, difference = offer(self.db, order, item_ids, new_item_ids, new_ones=True)
        require_cover(self.db.payment_method(order.user_id, payment_method_id), difference, "new item")
        order = self.db.orders[order_id]
        settle(self.db, order, difference, payment_method_id)
        swap(order, item_ids, variants)
        order.status = "pending (item modified)"
        return order

    @tool("write")
    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Order:
        """Let another method pay for a pending order; the first one gets its money back.

        Get a yes to the new method before you call.

        Args:
            order_id: The order's id with its leading #, as in #W0000000.
            payment_method_id: Another method in the customer's profile; a gift card must hold the order's total.
        """
        order = self.db.order(order_id)
        if "pending" not in order.status:
            raise ToolError("Non-pending order cannot be modified")
        method = self.db.payment_method(order.user_id, payment_method_id)
        payment = sole_payment(order)
        if payment.payment_method_id == payment_method_id:
            raise ToolError("The new payment method should be different from the current one")
        require_cover(method, payment.amount, "order")
        order = self.db.orders[order_id]
        move_payment(self.db, order, payment, payment_method_id)
        return order

    @tool("write")
    def modify_user_address(
        self, user_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> User:
        """Change the default address in a customer's profile; orders keep theirs. Get a yes before you call.

        Args:
            user_id: The id, such as ada_berg_1234.
            address1: House number and street.
            address2: Flat, suite or the like; empty if there is none.
            city: City.
            state: State, two letters.
            country: Country.
            zip: Zip code, five digits.
        """
        self.db.user(user_id)
        address = _address(address1=address1, address2=address2, city=city, state=state, country=country, zip=zip)
        user = self.db.users[user_id]
        user.address = address
        return user

    @tool("write")
    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Order:
        """Request the return of delivered items. Get a yes to the whole list and the refund method before you call.

        Works once for an order. The customer is told by email how to send the items back.

        Args:
            order_id: The order's id with its leading #, as in #W0000000; the status must be delivered.
            item_ids: Items to give back; one that is given back twice is named twice.
            payment_method_id: Receives the refund: the method that paid, or a gift card in the customer's profile.
        """
        order = self.db.order(order_id)
        if order.status != "delivered":
            raise ToolError("Non-delivered order cannot be returned")
        method = self.db.payment_method(order.user_id, payment_method_id)
        paid_by = [entry.payment_method_id for entry in order.payment_history[:1]]
        if not isinstance(method, GiftCard) and paid_by != [payment_method_id]:
            raise ToolError("Payment method should be the original payment method")
        require_items(order, item_ids, "Some item not found")
        order = self.db.orders[order_id]
        order.status = "return requested"
        order.return_items, order.return_payment_method_id = sorted(item_ids), payment_method_id
        return order

    @tool("generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        """Hand the conversation over to a person, for requests that these tools and the policy leave no way to meet.

        Args:
            summary: What the customer wants and what was tried.
        """
        return "Transfer successful"


def _folded(text: object) -> str:
    """Return the text in lower case; a value that is not a text matches no name or address."""
    if not isinstance(text, str):
        raise ToolError("User not found")
    return text.lower()


def _address(**parts: str) -> Address:
    try:
        return Address(**parts)
    except ValidationError as error:
        raise ToolError(f"{error.errors()[0]['loc'][0]} of an address must be text") from None
