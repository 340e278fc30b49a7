"""A part of an application that exists already: it knows nothing about pytest-tau."""

from dataclasses import dataclass


@dataclass
class Order:
    order_id: str
    item: str
    status: str = "paid"


class Shop:
    """The orders of a shop."""

    def __init__(self):
        self.orders = {"o1": Order("o1", "lamp"), "o2": Order("o2", "chair", status="sent")}

    def find_order(self, order_id: str) -> Order:
        """Show an order.

        Args:
            order_id: The number of the order.
        """
        return self.orders[order_id]

    def cancel_order(self, order_id: str) -> Order:
        """Cancel an order that has not been sent.

        Args:
            order_id: The number of the order.
        """
        order = self.orders[order_id]
        if order.status == "sent":
            raise ValueError("the order has been sent")
        order.status = "cancelled"
        return order

    def is_cancelled(self, order_id: str) -> bool:
        """Return whether an order is cancelled."""
        return self.orders[order_id].status == "cancelled"
