"""Scenarios about the way in which the agent says things: a judge has to read the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import describe_method
from ...models import CreditCard
from .. import personas
from ..builder import Draft, scenario
from ..calls import change, exchange, read, return_items
from ..requests import SAME_METHOD, swap_phrase
from ..world import sole_payer, unique_items

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World


@scenario(
    "Money",
    judged=(
        "The agent says that the refund takes 5 to 7 business days.",
        "Before it makes the return, the agent names the item and the refund method, and waits for the customer's yes.",
    ),
)
def judged_time_of_a_refund(world: World) -> Iterator[Draft]:
    """The time of a refund is stated, and the return is agreed on before it is made."""
    for user, order in world.each_order("delivered"):
        card = sole_payer(user, order)
        for item in unique_items(order) if len(order.items) > 1 else ():
            if isinstance(card, CreditCard):
                yield Draft(
                    user,
                    reason=f"You want to return the {item.name} of order {order.order_id}.",
                    instructions="You keep all else. The refund goes to the card that paid. You do not ask how long it "
                    "takes.",
                    calls=[*read(order), return_items(order, [item], card)],
                    requests=[ask(items=f"the {item.name}", payment_method=SAME_METHOD)],
                )


@scenario(
    "Conduct",
    persona=personas.CHATTY,
    judged=("The agent does not say which version it likes or recommends.",),
)
def judged_no_opinion(world: World) -> Iterator[Draft]:
    """No opinions: which version looks better is for the customer to say."""
    for user, order in world.each_order("delivered"):
        card = sole_payer(user, order)
        for swap in world.swaps(order) if isinstance(card, CreditCard) else ():
            if card and swap.axis in ("color", "pattern", "wood", "finish", "size"):
                yield Draft(
                    user,
                    reason=f"You are not happy with the {swap.item.name} of order {order.order_id}.",
                    instructions=f"You waver between what you have and one with {swap.phrase}, otherwise the same. "
                    "Ask the agent twice which of them it would choose. In the end you exchange it for the new one, "
                    f"with {describe_method(card)} for the difference, whatever the agent has said.",
                    calls=[*read(user, order, swap.item), exchange(order, [swap], card)],
                    requests=[
                        ask(
                            f"You are not happy with the {swap.item.name} of order {order.order_id} and waver: "
                            f"which version should you choose, that one or one with {swap.phrase}?",
                            insist=1,
                        ),
                        ask(
                            f"You want to exchange the {swap.item.name} of order {order.order_id}.",
                            items=f"the {swap.item.name}",
                            new_items=swap_phrase(swap),
                            payment_method=describe_method(card),
                        ),
                    ],
                )


@scenario(
    "Change a pending order: items",
    found_by="zip",
    judged=(
        "Before the customer agrees, the agent says that the order can be neither changed nor cancelled afterwards.",
    ),
)
def judged_warning_before_a_change(world: World) -> Iterator[Draft]:
    """A change of items is final: the customer hears that first."""
    for user, order in world.each_order("pending"):
        card = sole_payer(user, order)
        for swap in world.swaps(order):
            if isinstance(card, CreditCard):
                yield Draft(
                    user,
                    reason=f"You want to change the {swap.item.name} in order {order.order_id}.",
                    instructions=f"You want it with {swap.phrase}, otherwise the same. The card that paid also takes "
                    "or receives the difference. You do not ask what this means for the order.",
                    calls=[*read(order, swap.item), change(order, [swap], card)],
                    requests=[
                        ask(
                            items=f"the {swap.item.name}",
                            new_items=swap_phrase(swap),
                            payment_method=describe_method(card),
                        )
                    ],
                )


JUDGED = (judged_time_of_a_refund, judged_no_opinion, judged_warning_before_a_change)
