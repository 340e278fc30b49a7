"""Money: the cover of payment methods, the balances of gift cards, the payment history of orders."""

from pytest_tau.environment import ToolError

from .models import GiftCard, Order, Payment, PaymentMethod, RetailDB, User


def require_cover(method: PaymentMethod, amount: float, purpose: str) -> None:
    """Refuse a gift card with a balance below the amount; of other methods the shop knows no limit."""
    if not can_cover(method, amount):
        raise ToolError(f"Insufficient gift card balance to pay for the {purpose}")


def credit(db: RetailDB, user_id: str, method_id: str, amount: float) -> None:
    """Put an amount on a gift card, or take a negative one off it; other methods are settled outside of the shop."""
    method = db.payment_method(user_id, method_id)
    if isinstance(method, GiftCard):
        card = method.model_copy(update={"balance": round(method.balance + amount, 2)})
        db.users[user_id].payment_methods[method_id] = card


def refund_everything(db: RetailDB, order: Order) -> None:
    """Send each amount of the history back to where it came from, and add that to the history.

    Source: the reference, where earlier refunds are refunded, too, and gift cards keep what they got if a later
    entry names a method that the owner no longer has.
    """
    refunds = []
    for entry in order.payment_history:
        credit(db, order.user_id, entry.payment_method_id, entry.amount)
        refunds.append(entry.model_copy(update={"transaction_type": "refund"}))
    order.payment_history += refunds


def sole_payment(order: Order) -> Payment:
    """Return the one entry of the history; refused where there are more, or where it is a refund."""
    if [entry.transaction_type for entry in order.payment_history] != ["payment"]:
        raise ToolError("There should be exactly one payment for a pending order")
    return order.payment_history[0]


def move_payment(db: RetailDB, order: Order, payment: Payment, method_id: str) -> None:
    """Take a payment from another method and give it back to the one that made it."""
    amount, old_id = payment.amount, payment.payment_method_id
    order.payment_history += [
        Payment(transaction_type="payment", amount=amount, payment_method_id=method_id),
        Payment(transaction_type="refund", amount=amount, payment_method_id=old_id),
    ]
    credit(db, order.user_id, method_id, -amount)
    credit(db, order.user_id, old_id, amount)


def settle(db: RetailDB, order: Order, difference: float, method_id: str) -> None:
    """Take a price difference from a method, or give it back where it is negative.

    Source: the reference, where the amount keeps its floating-point noise, and no difference makes a refund of 0.
    """
    entry = Payment(
        transaction_type="payment" if difference > 0 else "refund",
        amount=abs(difference),
        payment_method_id=method_id,
    )
    order.payment_history.append(entry)
    credit(db, order.user_id, method_id, -difference)


def can_cover(method: PaymentMethod, amount: float) -> bool:
    """Return whether the shop may charge the amount to the method."""
    return not isinstance(method, GiftCard) or method.balance >= amount


def order_total(order: Order) -> float:
    """Return what was paid for an order when it was placed, in USD."""
    return order.payment_history[0].amount


def gift_cards(user: User) -> list[GiftCard]:
    """Return the gift cards in a profile."""
    return [method for method in user.payment_methods.values() if isinstance(method, GiftCard)]


def net_paid(order: Order) -> float:
    """Return what the customer has paid for an order, less what came back, in USD."""
    signs = {"payment": 1, "refund": -1}
    return round(sum(signs[entry.transaction_type] * entry.amount for entry in order.payment_history), 2)
