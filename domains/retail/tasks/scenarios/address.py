"""Addresses of pending orders, and the default address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...._kit.user_script import ask
from ...formatting import format_address
from .. import personas
from ..builder import Draft, scenario
from ..calls import move_profile, read, send_to
from ..data import places
from ..requests import PROFILE_STAYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..world import World

_RULE = "Change a pending order"
_HOME = "Change the default address"


@scenario(_RULE)
def parcel_to_a_new_address(world: World) -> Iterator[Draft]:
    """A pending order goes to a new address."""
    for user, order in world.each_order("pending"):
        yield Draft(
            user,
            reason=f"You want order {order.order_id} to go to another address.",
            instructions=f"It should go to {format_address(places.DENVER)}, the workshop where you spend your days. "
            "Your own address in the profile stays as it is.",
            calls=[*read(order), send_to(order, places.DENVER)],
            requests=[ask(address=format_address(places.DENVER))],
            declines=PROFILE_STAYS,
        )


@scenario(_RULE, found_by="zip", persona=personas.CHATTY)
def parcel_to_my_own_address(world: World) -> Iterator[Draft]:
    """The new address has to be read from the profile."""
    for user, order in world.each_order("pending"):
        if order.address != user.address:
            yield Draft(
                user,
                reason=f"Order {order.order_id} will go to a place where you are not any more, you fear.",
                instructions="If the order goes anywhere else than to the default address in your profile, you want it "
                "sent to that default address. You do not type addresses, the shop has it.",
                calls=[*read(user, order), send_to(order, user.address)],
                requests=[
                    ask(
                        f"Order {order.order_id} will go to a place where you are not any more, you fear. If it "
                        "goes anywhere else than to the default address in your profile, have it sent there.",
                        address="The default address in your profile. You do not type addresses, the shop has it.",
                    )
                ],
            )


@scenario(_RULE)
def parcel_where_another_went(world: World) -> Iterator[Draft]:
    """The new address has to be read from another order."""
    for user, order in world.each_order("pending"):
        for model in world.orders(user):
            if model.address not in (order.address, user.address):
                yield Draft(
                    user,
                    reason=f"You want order {order.order_id} sent to a friend.",
                    instructions=f"Order {model.order_id} had your friend's address: {order.order_id} should go to "
                    "the same one. You do not remember the street.",
                    calls=[*read(order, model), send_to(order, model.address)],
                    requests=[
                        ask(
                            address=f"The same address that order {model.order_id} went to. You do not remember the "
                            "street."
                        )
                    ],
                )


@scenario(_RULE, persona=personas.TERSE)
def wrong_flat_number(world: World) -> Iterator[Draft]:
    """Only the flat is wrong, all else has to be kept."""
    for user, order in world.each_order("pending"):
        if order.address.address2 and order.address.address2 != "Apt 77":
            address = order.address.model_copy(update={"address2": "Apt 77"})
            yield Draft(
                user,
                reason=f"The address of order {order.order_id} is not right.",
                instructions="The flat has to be 'Apt 77', everything else of that order's address is right and "
                "stays. Your profile is not to be touched, you deal with that later.",
                calls=[*read(order), send_to(order, address)],
                requests=[
                    ask(address="The flat has to be 'Apt 77'. All else of that order's address is right and stays.")
                ],
                declines=PROFILE_STAYS,
            )


@scenario(_HOME)
def moving_house(world: World) -> Iterator[Draft]:
    """A move: the profile and every pending order."""
    for user in world.users:
        pending = world.orders(user, "pending")
        if len(pending) >= 2 and len(user.orders) > len(pending) and not world.orders(user, "pending (item modified)"):
            yield Draft(
                user,
                reason="You are moving house and have to tell everybody your new address.",
                instructions=f"Your new address is {format_address(places.CHICAGO)}. You want it in your profile, "
                "and every order that is still pending should go there. Mention the orders only after the profile is "
                "done, if the agent has not.",
                calls=[
                    *read(user, *world.orders(user)),
                    move_profile(user, places.CHICAGO),
                    *(send_to(order, places.CHICAGO) for order in pending),
                ],
                unknown="You do not know which of your orders are still pending.",
                requests=[
                    ask(address=format_address(places.CHICAGO)),
                    ask(
                        f"Every order that is still pending should go to {format_address(places.CHICAGO)}, too.",
                        order_id="You do not know which are still pending: all of those.",
                    ),
                ],
            )


@scenario(_HOME)
def new_home_but_not_for_parcels(world: World) -> Iterator[Draft]:
    """The profile only; a pending order keeps its address."""
    for user, _order in world.each_order("pending"):
        yield Draft(
            user,
            reason="You want another default address.",
            instructions=f"From next month on you live at {format_address(places.RENO)}. What you have ordered so "
            "far must still go to where it was ordered to, and you say so if the agent asks or offers to change it.",
            calls=[*read(user), move_profile(user, places.RENO)],
            requests=[ask(address=format_address(places.RENO))],
            declines=["also order"],
        )


@scenario(_RULE, persona=personas.CROSS)
def address_after_a_change(world: World) -> Iterator[Draft]:
    """After a change of items the address must stay, though the tool would change it."""
    for user, order in world.each_order("pending (item modified)"):
        yield Draft(
            user,
            reason=f"Order {order.order_id} has to go to another address: {format_address(places.MEMPHIS)}.",
            instructions="You insist: the address of that order must be possible to change, since nothing has been "
            "sent. If you hear a second time that it is not, you want that address at least as the default one in your "
            "profile.",
            calls=[*read(order), move_profile(user, places.MEMPHIS)],
            requests=[
                ask(
                    insist=1,
                    fallback=f"Then you want {format_address(places.MEMPHIS)} at least as the default address in your "
                    "profile.",
                )
            ],
        )


@scenario("Records", found_by="zip")
def address_of_a_processed_order(world: World) -> Iterator[Draft]:
    """A processed order keeps its address; the profile gets the new one."""
    for user, order in world.each_order("processed"):
        if len(order.fulfillments) == 1:
            yield Draft(
                user,
                reason=f"You live elsewhere now, and order {order.order_id} should follow you.",
                instructions=f"You want the order sent to {format_address(places.SEATTLE)}, and the same address in "
                "your profile. If the order cannot be changed any more, ask for the parcel's tracking id and have the "
                "profile changed.",
                calls=[*read(order), move_profile(user, places.SEATTLE)],
                communicate=order.fulfillments[0].tracking_id,
                requests=[
                    ask(address=format_address(places.SEATTLE)),
                    ask(f"Then what is the tracking id of the parcel of order {order.order_id}?"),
                    ask(
                        "You want your new address in your profile as the default address.",
                        address=format_address(places.SEATTLE),
                    ),
                ],
            )


ADDRESSES = (
    parcel_to_a_new_address,
    parcel_to_my_own_address,
    parcel_where_another_went,
    wrong_flat_number,
    moving_house,
    new_home_but_not_for_parcels,
    address_after_a_change,
    address_of_a_processed_order,
)
