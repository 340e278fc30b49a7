"""Who and what a scenario can be about: the steps by which its cases are found, in the order of the database.

A scenario's table names its steps; without a name, they are those under its id.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...._kit.cases import each, let, where
from ...models import CreditCard, GiftCard
from ...payments import can_cover, order_total
from ..cases import item, items_bought_twice, order, paid, payer, product, swap, swap_sold_out
from ..world import Swap, other_methods, sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...._kit.cases import Step
    from ..cases import Case

_REPAIRABLE = ("Stand Mixer", "Rice Cooker", "Digital Piano", "Space Heater", "Webcam", "External Drive")

_pending, _modified, _delivered = order("pending"), order("pending (item modified)"), order("delivered")
_paid, _kept = paid("pending"), paid("delivered")
_by_card = where(lambda c: isinstance(c.method, CreditCard))
_by_gift_card = where(lambda c: isinstance(c.method, GiftCard))
#: Paid by a method whose limits the shop does not know.
_unlimited = where(lambda c: c.method in other_methods(c.user, None))
_several_items = where(lambda c: len(c.order.items) > 1)
_all_different = where(lambda c: len(c.order.items) == len(unique_items(c.order)))
_two_pending = let(pending=lambda c: c.paid("pending")), where(lambda c: len(c.pending) == 2)
_gone_and_kept = *_two_pending, let(gone=lambda c: c.pending[0], kept=lambda c: c.pending[1])
_another_gift_card = where(lambda c: c.card and c.method != c.card)
_any_item = each(item=lambda c: c.order.items)
_bought_once = where(lambda c: len(c.user.orders) > 2 and c.world.is_only_one(c.user, c.item))
_any_other_method = each(new=lambda c: other_methods(c.user, None))
_version = each(swap=lambda c: c.world.swaps_of(c.item))
_stock = let(stock=lambda c: c.world.in_stock(c.world.product(c.item))), where(lambda c: len(c.stock) > 2)
_not_in_order = where(lambda c: c.product.product_id not in {item.product_id for item in c.order.items})
_cheaper = where(lambda c: c.card and c.swap.difference < 0)


def _two_swaps(cases: Iterator[Case]) -> Iterator[Case]:
    for case in cases:
        swaps = case.world.swaps(case.order)
        for first in swaps:
            for second in swaps:
                if second.item.product_id > first.item.product_id:
                    yield case.having(first=first, second=second)


FINDING: dict[str, tuple[Step, ...]] = {
    "customer": (),
    "pending": (_pending,),
    "modified": (_modified,),
    "processed": (order("processed"),),
    "parcel": (
        order("processed"), where(lambda c: len(c.order.fulfillments) == 1), let(item=lambda c: c.order.items[0]),
    ),
    "paid order": (_paid,),
    "item to return": (_kept, _several_items, item),
    # Cancelling
    "cancel-unneeded": (_paid, _by_card),
    "cancel-back-to-gift-card": (_paid, _by_gift_card, let(balance=lambda c: c.method.balance + c.total)),
    "cancel-by-product": (_paid, _any_item, _bought_once),
    "cancel-every-pending": (
        let(pending=lambda c: c.paid("pending")),
        where(lambda c: 2 <= len(c.pending) < len(c.orders)),
        where(lambda c: not any("pending" in order.status for order in c.orders if order not in c.pending)),
        let(refunds=lambda c: sum(map(order_total, c.pending))),
    ),
    "cancel-dearer-of-two": (
        let(pending=lambda c: c.world.orders(c.user, "pending")),
        where(lambda c: len(c.pending) == 2 == len(c.paid("pending"))),
        let(one=lambda c: c.pending[0], two=lambda c: c.pending[1], dearer=lambda c: max(c.pending, key=order_total)),
    ),
    "cancel-part-of-an-order": (_paid, where(lambda c: len(c.order.items) > 2), item),
    "cancel-after-a-change": (
        _modified, where(lambda c: len(c.order.payment_history) == 2 and c.order.payment_history[1].amount),
    ),
    "cancel-for-a-flatmate": (
        _paid, each(foreign=lambda c: [order for _user, order, _method in c.world.paid("pending")]),
        where(lambda c: c.foreign.user_id != c.user.user_id), let(other=lambda c: c.world.db.user(c.foreign.user_id)),
    ),
    "cancelled-already": (
        order("cancelled"), let(card=lambda c: c.user.payment_methods[c.order.payment_history[0].payment_method_id]),
        where(lambda c: isinstance(c.card, CreditCard)),
    ),
    "cancel-one-and-redirect-one": _gone_and_kept,
    # Addresses
    "parcel-to-my-own-address": (_pending, where(lambda c: c.order.address != c.user.address)),
    "parcel-where-another-went": (
        _pending, each(model=lambda c: c.orders),
        where(lambda c: c.model.address not in (c.order.address, c.user.address)),
    ),
    "wrong-flat-number": (
        _pending, where(lambda c: c.order.address.address2 not in ("", "Apt 77")),
        let(address=lambda c: c.order.address.model_copy(update={"address2": "Apt 77"})),
    ),
    "moving-house": (
        let(pending=lambda c: c.world.orders(c.user, "pending")),
        where(lambda c: 2 <= len(c.pending) < len(c.orders)),
        where(lambda c: not c.world.orders(c.user, "pending (item modified)")),
    ),
    # Payment
    "pay-by-gift-card": (
        _paid, _another_gift_card, where(lambda c: c.card.balance > c.total),
        let(balance=lambda c: c.card.balance - c.total),
    ),
    "pay-by-other-method": (_paid, _by_card, payer),
    "gift card too small": (_paid, _another_gift_card, where(lambda c: c.card.balance < c.total), payer),
    "pay-by-somebody-elses-card": (_paid, payer, where(lambda c: not isinstance(c.new, CreditCard))),
    "spare-the-gift-card": (
        _paid, _by_gift_card, where(lambda c: c.method == c.card), payer,
        let(balance=lambda c: c.card.balance + c.total),
    ),
    "address-and-payment": (_paid, payer),
    "everything-about-an-order": (_paid, payer, swap),
    "cancel-one-and-pay-one": (
        *_gone_and_kept, where(lambda c: len(c.orders) > 2),
        each(new=lambda c: other_methods(c.user, sole_payer(c.user, c.kept))),
    ),
    # Items of pending orders
    "change-an-option": (_paid, _unlimited, swap, where(lambda c: c.swap.difference > 0)),
    "change-to-the-cheapest": (
        _paid, _unlimited, item, *_stock, where(lambda c: c.stock[0].price < c.item.price),
        let(swap=lambda c: Swap(c.item, c.stock[0])),
    ),
    "change-to-the-second-choice": (
        _paid, _unlimited, each(gone=lambda c: c.world.swaps(c.order, in_stock=False)),
        each(swap=lambda c: c.world.swaps_of(c.gone.item)),
    ),
    "change-to-another-product": (_paid, product, _not_in_order, _unlimited, swap),
    "gift-card-does-not-cover-the-difference": (
        _paid, swap, where(lambda c: c.card and 0 < c.card.balance < c.swap.difference), _any_other_method,
    ),
    "change-saves-to-gift-card": (
        _paid, swap, _cheaper, let(balance=lambda c: c.card.balance - c.swap.difference),
    ),
    "change-both-of-two": (
        _paid, items_bought_twice, _version, where(lambda c: can_cover(c.method, 2 * c.swap.difference)),
        let(both=lambda c: [c.swap, c.swap], amount=lambda c: abs(2 * c.swap.difference)),
    ),
    "change-one-of-two": (
        _paid, items_bought_twice, _version, where(lambda c: can_cover(c.method, c.swap.difference)),
    ),
    "change-sold-out-then-cancel": (_paid, swap_sold_out),
    "change-within-a-limit": (
        _paid, _by_card, each(dear=lambda c: c.world.swaps(c.order)), each(cheap=lambda c: c.world.swaps(c.order)),
        let(limit=lambda c: math.ceil(max(c.cheap.difference, 0)) + 2),
        where(lambda c: c.dear.item == c.cheap.item and c.dear.difference > c.limit + 1),
    ),
    "change-again": (_modified, swap, where(lambda c: c.swap.difference)),
    "one-more-of-it": (_paid, _several_items, item),
    "change-the-right-one": (
        _paid, _any_item,
        let(twins=lambda c: [i for i in c.order.items if i.product_id == c.item.product_id and i != c.item]),
        where(lambda c: len(c.twins) == 1), let(both=lambda c: [c.item, *c.twins]), _version,
        where(lambda c: c.swap.variant.item_id != c.twins[0].item_id and can_cover(c.method, c.swap.difference)),
    ),
    # Returns
    "return-everything": (_kept, _several_items, _by_card),
    "return-two-of-three": (
        _kept, _all_different, where(lambda c: len(c.order.items) == 3),
        let(kept=lambda c: c.order.items[0], gone=lambda c: c.order.items[1:]),
    ),
    "return-one-of-two": (_kept, items_bought_twice),
    "return-to-a-gift-card": (_kept, _another_gift_card, _several_items, item),
    "return-to-the-wrong-method": (
        _kept, _unlimited, _several_items, each(wrong=lambda c: other_methods(c.user, c.method)), item,
    ),
    "return-from-two-orders": (
        let(orders=lambda c: [order for order in c.paid("delivered") if unique_items(order)]),
        where(lambda c: len(c.orders) == 2),
        let(first=lambda c: c.orders[0], second=lambda c: c.orders[1]),
        let(items=lambda c: [unique_items(order)[0] for order in c.orders]),
        let(one=lambda c: c.items[0], two=lambda c: c.items[1]),
        where(lambda c: c.one.product_id != c.two.product_id),
        let(method=lambda c: sole_payer(c.user, c.first), other=lambda c: sole_payer(c.user, c.second)),
    ),
    "return-more-afterwards": (
        order("return requested"),
        let(gone=lambda c: [item for item in c.order.items if item.item_id in c.order.return_items]),
        where(lambda c: len(c.gone) == len(c.order.return_items)),
        let(rest=lambda c: [item for item in unique_items(c.order) if item.item_id not in c.order.return_items]),
        where(lambda c: c.rest), let(left=lambda c: c.rest[0]),
    ),
    "return-the-dearest": (
        _kept, _all_different, where(lambda c: len(c.order.items) > 2),
        let(item=lambda c: max(c.order.items, key=lambda item: item.price)),
    ),
    "return-by-product": (_kept, _several_items, _any_item, _bought_once),
    "return-less-than-planned": (
        _kept, _all_different, where(lambda c: len(c.order.items) in (3, 4)),
        let(gone=lambda c: c.order.items[:-1], kept=lambda c: c.order.items[-1]),
    ),
    "return-to-a-new-gift-card": (
        where(lambda c: len(other_methods(c.user, None)) == len(c.user.payment_methods)), _kept, _several_items, item,
    ),
    # Exchanges
    "exchange-an-option": (_kept, _unlimited, swap),
    "exchange-two-items": (
        _kept, _unlimited, _two_swaps, where(lambda c: min(c.first.difference, c.second.difference) > 0),
        let(difference=lambda c: c.first.difference + c.second.difference),
    ),
    "exchange-and-one-more-thing": (_kept, _unlimited, _two_swaps),
    "exchange-for-the-same": (
        _kept, _unlimited, _several_items, item,
        where(lambda c: c.world.product(c.item).variants[c.item.item_id].available),
    ),
    "exchange-beyond-the-gift-card": (
        _kept, _unlimited, swap, where(lambda c: c.card and c.card.balance < c.swap.difference), _any_other_method,
    ),
    "exchange-saves-to-gift-card": (_kept, _unlimited, swap, _cheaper),
    "exchange-for-the-dearest": (
        _kept, _unlimited, item, *_stock, where(lambda c: c.stock[-1].price > c.item.price),
        let(swap=lambda c: Swap(c.item, c.stock[-1])),
    ),
    "exchange-sold-out-then-return": (_kept, _unlimited, _several_items, swap_sold_out),
    "exchange-what-can-be-changed": (_paid, _unlimited, swap),
    "exchange-again": (
        order("exchange requested"),
        let(rest=lambda c: [i for i in unique_items(c.order) if i.item_id not in (c.order.exchange_items or [])]),
        where(lambda c: c.rest and c.order.exchange_price_difference),
        let(left=lambda c: c.rest[0], amount=lambda c: abs(c.order.exchange_price_difference)),
    ),
    "exchange-in-two-orders": (
        let(orders=lambda c: c.world.orders(c.user, "delivered"), methods=lambda c: other_methods(c.user, None)),
        where(lambda c: len(c.orders) == 2 and c.methods),
        let(one=lambda c: c.orders[0], two=lambda c: c.orders[1], method=lambda c: c.methods[0]),
        each(first=lambda c: c.world.swaps(c.one)), each(second=lambda c: c.world.swaps(c.two)),
    ),
    "exchange-and-return": (
        _kept, _unlimited, swap, item, where(lambda c: c.item.product_id != c.swap.item.product_id),
    ),
    "exchange-for-another-product": (_kept, _unlimited, product, _not_in_order, _several_items, item),
    # Questions, and who asks
    "what-is-on-my-gift-cards": (
        let(cards=lambda c: [method for method in c.user.payment_methods.values() if isinstance(method, GiftCard)]),
        where(lambda c: len(c.cards) == 2), let(balance=lambda c: sum(card.balance for card in c.cards)),
    ),
    "what-have-i-spent": (
        let(orders=lambda c: c.paid("pending", "processed", "delivered")),
        where(lambda c: len(c.orders) == len(c.user.orders) == 3),
        let(sum=lambda c: sum(map(order_total, c.orders)), most=lambda c: max(map(order_total, c.orders))),
    ),
    "what-does-it-cost": (
        product, let(stock=lambda c: c.world.in_stock(c.product)), where(lambda c: len(c.stock) > 2),
        where(lambda c: min(variant.price for variant in c.product.variants.values()) < c.stock[0].price),
        let(cheapest=lambda c: c.stock[0], dearest=lambda c: c.stock[-1]),
    ),
    "where-is-my-refund": (
        order("cancelled"), where(lambda c: len(c.world.orders(c.user, "cancelled")) == 1),
        let(method=lambda c: c.user.payment_methods[c.order.payment_history[-1].payment_method_id]), _by_card,
        let(item=lambda c: c.order.items[0]),
    ),
    "what-did-my-neighbor-order": (
        order("processed"), where(lambda c: len(c.order.fulfillments) == 1),
        each(foreign=lambda c: [order for user in c.world.users for order in c.world.orders(user, "delivered")]),
        where(lambda c: c.foreign.user_id != c.user.user_id), let(other=lambda c: c.world.db.user(c.foreign.user_id)),
    ),
    "one-of-two-namesakes": (
        _paid, where(lambda c: len(c.world.orders(c.user, "pending")) == 1),
        where(lambda c: sum(other.name == c.user.name for other in c.world.users) == 2),
    ),
    "a-new-order": (product,),
    "a-repair": (_delivered, _any_item, where(lambda c: c.item.name in _REPAIRABLE)),
    # Several matters, and judged ones
    "three-matters": (
        where(lambda c: c.paid("delivered") and c.paid("pending")),
        let(one=lambda c: c.paid("delivered")[0], two=lambda c: c.paid("pending")[0]),
        where(lambda c: len(unique_items(c.one)) > 1),
        let(item=lambda c: unique_items(c.one)[0], method=lambda c: sole_payer(c.user, c.one)),
        each(new=lambda c: other_methods(c.user, sole_payer(c.user, c.two))),
    ),
    "exchange-and-redirect": (
        where(lambda c: other_methods(c.user, None)), let(method=lambda c: other_methods(c.user, None)[0]),
        each(one=lambda c: c.world.orders(c.user, "delivered")), each(two=lambda c: c.world.orders(c.user, "pending")),
        each(swap=lambda c: c.world.swaps(c.one)),
    ),
    "judged-time-of-a-refund": (_kept, _by_card, _several_items, item),
    "judged-no-opinion": (
        _kept, _by_card, swap, where(lambda c: c.swap.axis in ("color", "pattern", "wood", "finish", "size")),
    ),
    "judged-warning-before-a-change": (_paid, _by_card, swap),
}  # fmt: skip
