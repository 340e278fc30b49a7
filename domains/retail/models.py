"""Records of the shop; the order of fields is the order in which the agent reads them. Money is in USD."""

from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import ConfigDict, Field

from pytest_tau.environment import Database, Record, Table, ToolError

OrderStatus: TypeAlias = Literal[
    "processed",
    "pending",
    "pending (item modified)",
    "delivered",
    "cancelled",
    "exchange requested",
    "return requested",
]
CancelReason: TypeAlias = Literal["no longer needed", "ordered by mistake"]

R = TypeVar("R", bound=Record)


class _Part(Record):
    """Base of the records inside the database. Source: the reference drops fields that they do not have."""

    model_config = ConfigDict(extra="ignore")


class Variant(_Part):
    """One version of a product that can be ordered."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(_Part):
    """A type of product with its variants by item id."""

    name: str
    product_id: str
    variants: dict[str, Variant]


class FullName(_Part):
    """The name of a person."""

    first_name: str
    last_name: str


class Address(_Part):
    """The address of a customer or of a parcel."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class CreditCard(_Part):
    """A card; ``last_four`` are digits of its number."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class GiftCard(_Part):
    """Money kept with the shop, the only method whose balance it knows."""

    source: Literal["gift_card"]
    id: str
    balance: float


class PayPal(_Part):
    """A PayPal account."""

    source: Literal["paypal"]
    id: str


PaymentMethod: TypeAlias = Annotated[CreditCard | GiftCard | PayPal, Field(discriminator="source")]


class User(_Part):
    """A customer with payment methods by id and the ids of orders."""

    user_id: str
    name: FullName
    address: Address
    email: str
    payment_methods: dict[str, PaymentMethod]
    orders: list[str]


class OrderItem(_Part):
    """An ordered variant, at the price and with the options it had then."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class Fulfillment(_Part):
    """A shipment."""

    tracking_id: list[str]
    item_ids: list[str]


class Payment(_Part):
    """Money that moved; ``amount`` is never negative."""

    transaction_type: Literal["payment", "refund"]
    amount: float
    payment_method_id: str


class Order(_Part):
    """An order; the fields from ``cancel_reason`` on say what the customer has asked for since."""

    order_id: str
    user_id: str
    address: Address
    items: list[OrderItem]
    status: OrderStatus
    fulfillments: list[Fulfillment]
    payment_history: list[Payment]
    cancel_reason: CancelReason | None = None
    exchange_items: list[str] | None = None
    exchange_new_items: list[str] | None = None
    exchange_payment_method_id: str | None = None
    exchange_price_difference: float | None = None
    return_items: list[str] | None = None
    return_payment_method_id: str | None = None


class RetailDB(Database):
    """The shop's database. Its methods look up shared records, for reading only, or raise ``ToolError``."""

    products: Table[Product]
    users: Table[User]
    orders: Table[Order]

    def product(self, product_id: str) -> Product:
        """Return the product with this id."""
        return _found("Product", self.products, product_id)

    def user(self, user_id: str) -> User:
        """Return the user with this id."""
        return _found("User", self.users, user_id)

    def order(self, order_id: str) -> Order:
        """Return the order with this id."""
        return _found("Order", self.orders, order_id)

    def item(self, item_id: str) -> Variant:
        """Return the variant with this item id, of whatever product."""
        for product in self.products.scan() if isinstance(item_id, str) else ():
            if item_id in product.variants:
                return product.variants[item_id]
        raise ToolError("Item not found")

    def variant(self, product_id: str, item_id: str) -> Variant:
        """Return the variant with this item id, of this product."""
        variants = self.product(product_id).variants
        if not isinstance(item_id, str) or item_id not in variants:
            raise ToolError("Variant not found")
        return variants[item_id]

    def payment_method(self, user_id: str, method_id: str) -> PaymentMethod:
        """Return the method with this id in this user's profile."""
        methods = self.user(user_id).payment_methods
        if not isinstance(method_id, str) or method_id not in methods:
            raise ToolError("Payment method not found")
        return methods[method_id]


def _found(kind: str, table: Table[R], key: object) -> R:
    # Arguments come unchecked from a model: an id may be any JSON value.
    record = table.peek(key) if isinstance(key, str) else None
    if record is None:
        raise ToolError(f"{kind} not found")
    return record
