"""The rules of the shop's policy that a conversation alone can show to be broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from pytest_tau.policy import (
    Rule,
    bounded,
    confirmation,
    done_claims,
    identification,
    mentions,
    no_text_with_calls,
    one_call_at_a_time,
    own_records,
    read_before_write,
    short_names,
    stated_details,
    transfer_notice,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

    from .models import RetailDB

_CONFIRM = (
    "Ahead of every call that changes an order or a profile, spell out what will change and wait for a clear yes."
)
#: The fingerprints of the official policy's sentences about what comes before a change.
_AUTHENTICATED = (("79f8e71bddc8", "0bfb15f9298c"),)
_STATUS_CHECKED = (("6b1bb7165872", "634bc7ba628d", "be51db0f1b64", "c8a213fd5515"),)
_LISTED = (("e9f400cad88c",),)
_FINDS = ("find_user_id_by_email", "find_user_id_by_name_zip")
#: Tools that show or change what belongs to a customer.
_GUARDED = (
    "get_user_details",
    "get_order_details",
    "cancel_pending_order",
    "modify_pending_order_address",
    "modify_pending_order_items",
    "modify_pending_order_payment",
    "modify_user_address",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
)
_SWAPS = ("modify_pending_order_items", "exchange_delivered_order_items")


def _found(call: MadeCall) -> str | None:
    return call.result if call.name in _FINDS and not call.failed else None


def _owner(call: MadeCall, _: Trajectory) -> str | None:
    if "user_id" in call.arguments:
        return str(call.arguments["user_id"])
    value: Any = call.value
    return value.get("user_id") if "order_id" in call.arguments and isinstance(value, dict) else None


def _record(call: MadeCall, _: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    if order_id := call.arguments.get("order_id"):
        yield f"order {order_id}", [order_id]


def _order(call: MadeCall, trajectory: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    """Yield the order of a call, by its id or by an item of it."""
    if order_id := call.arguments.get("order_id"):
        yield f"order {order_id}", [order_id, *_items(trajectory, call, order_id).values()]


def _named(call: MadeCall, trajectory: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    """Yield what the customer must have heard: the order by its id or by an item of it, and items that are chosen."""
    zip_code, order_id, chosen = call.arguments.get("zip"), call.arguments.get("order_id"), _ids(call, "item_ids")
    if zip_code and not any(mentions(turn.text, zip_code) for turn in trajectory.user_texts(before=call)):
        yield f"zip code {zip_code}", [zip_code, *(["default"] if zip_code == _default_zip(trajectory, call) else [])]
    if not order_id:
        return
    items = _items(trajectory, call, order_id)
    orders_read = {
        earlier.arguments["order_id"] for earlier in trajectory.before(call) if "order_id" in earlier.arguments
    }
    if orders_read != {order_id}:  # else there is no doubt which one is meant
        yield f"order {order_id}", [order_id, *items, *_words(items.values())]
    if set(chosen) != set(items):
        for item in dict.fromkeys(chosen):
            yield f"item {item} ({items.get(item, 'not in the order')})", [item, *_words([items.get(item, item)])]


def _default_zip(trajectory: Trajectory, call: MadeCall) -> str | None:
    """Return the zip code of the default address to which an order is to go, if the customer has spoken of it.

    Which one it is was read before the call.
    """
    spoken = any(mentions(turn.text, "default") for turn in trajectory.user_texts(before=call))
    if not spoken or "order_id" not in call.arguments:
        return None
    profiles = (
        earlier.value
        for earlier in trajectory.before(call)
        if earlier.name == "get_user_details" and not earlier.failed
    )
    addresses = [profile.get("address") for profile in profiles if isinstance(profile, dict)]
    return next((str(address.get("zip")) for address in addresses if isinstance(address, dict)), None)


def _words(names: Iterable[str]) -> list[str]:
    """Return names of products as people say them: a garden hose is often called a hose, or one of two hoses."""
    return [
        spoken_name
        for name in names
        if name
        for spoken_name in ([name] if name.endswith(" Set") else short_names(name))
    ]


def _ids(call: MadeCall, name: str) -> list[str]:
    """Return the ids of a list; an empty text, with which models fill lists up, is none."""
    value = call.arguments.get(name)
    return [str(item_id) for item_id in value if item_id != ""] if isinstance(value, list) else []


def _items(trajectory: Trajectory, call: MadeCall, order_id: Any) -> dict[str, str]:
    """Return the names of the items of an order by their ids, as far as they were shown before a call."""
    names: dict[str, str] = {}
    for earlier in trajectory.before(call):
        if earlier.arguments.get("order_id") == order_id and isinstance(earlier.value, dict):
            items = earlier.value.get("items")
            names |= {str(item.get("item_id")): str(item.get("name")) for item in items or () if isinstance(item, dict)}
    return names


def _unseen_version(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield calls for a version that no result had shown."""
    for call in trajectory.writes:
        for item in _ids(call, "new_item_ids") if call.name in _SWAPS else ():
            is_shown = (f'"item_id": "{item}"' in (earlier.result or "") for earlier in trajectory.before(call))
            if not _versions(trajectory, call, item) and not any(is_shown):
                yield trajectory.breach(call, f"item {item} was not shown as a version of a product")


def _other_version(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield calls for another version of a product than the one that the agent described to the customer.

    What describes the present item describes no other version.
    """
    for call in trajectory.writes:
        if call.name not in _SWAPS:
            continue
        agent_text = " ".join(turn.text for turn in trajectory.agent_texts(before=call)[-2:])
        old, new = _ids(call, "item_ids"), _ids(call, "new_item_ids")
        for item, versions in ((item, _versions(trajectory, call, item)) for item in new):
            present = {value for old_item in old for value in versions.get(old_item, ())}
            described = {
                version: sum(
                    mentions(agent_text, value) for value in options if version == item or value not in present
                )
                for version, options in versions.items()
                if version not in old or version == item
            }
            others = [version for version in described if version not in new]
            better = max(others, key=lambda each: described[each], default=None)
            if better is None or mentions(agent_text, item) or _is_chosen(trajectory, call, item):
                continue
            if described[better] > described[item]:
                options = ", ".join(versions[item])
                yield trajectory.breach(call, f"item {item} ({options}), but {', '.join(versions[better])} was named")


def _is_chosen(trajectory: Trajectory, call: MadeCall, item: str) -> bool:
    """Return whether the customer has chosen a version by its price in the last words before a call."""
    answers = trajectory.user_texts(before=call)
    products = (
        earlier.value.get("variants")
        for earlier in trajectory.before(call)
        if earlier.name == "get_product_details" and not earlier.failed
    )
    prices = [versions[item].get("price") for versions in products if isinstance(versions, dict) and item in versions]
    return bool(answers) and any(mentions(answers[-1].text, price) for price in prices if price is not None)


def _versions(trajectory: Trajectory, call: MadeCall, item: str) -> dict[str, list[str]]:
    """Return the options of all versions of the product of an item by their ids, as far as they were shown."""
    for earlier in trajectory.before(call):
        if earlier.name == "get_item_details" and not earlier.failed and earlier.arguments.get("item_id") == item:
            return {item: [*map(str, earlier.value.get("options", {}).values())]}
        versions = (
            earlier.value.get("variants") if earlier.name == "get_product_details" and not earlier.failed else None
        )
        if isinstance(versions, dict) and item in versions:
            return {name: [*map(str, version["options"].values())] for name, version in versions.items()}
    return {}


def _same_item(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield exchanges of an item for the very same one."""
    for call in trajectory.of_tool("exchange_delivered_order_items"):
        pairs = zip(_ids(call, "item_ids"), _ids(call, "new_item_ids"), strict=False)
        same = [old for old, new in pairs if old == new]
        if same:
            yield trajectory.breach(call, f"item {same[0]} is exchanged for itself")


def _address_after_items(trajectory: Trajectory) -> Iterator[Breach]:
    """Yield changes of the address of orders whose items were changed before."""
    for call in trajectory.of_tool("modify_pending_order_address"):
        state = trajectory.shared_state_before(call)
        order = cast("RetailDB", state.agent_db).orders.peek(str(call.arguments.get("order_id"))) if state else None
        if order is not None and order.status == "pending (item modified)":
            yield trajectory.breach(call, f"the status of the order is {order.status!r}")


_RULES = [
    one_call_at_a_time("Never make two calls at once, and never put text beside a call."),
    no_text_with_calls("Never make two calls at once, and never put text beside a call."),
    replace(
        identification(
            "Before anything else, find the customer's user id, in one of two ways:", by=_found, guarded=_GUARDED
        ),
        editions=_AUTHENTICATED,
    ),
    own_records(
        "Decline whatever concerns somebody else's profile or orders.",
        by=_found,
        owner=_owner,
        private=("get_user_details",),
    ),
    replace(
        read_before_write("Read it before you promise anything.", needs=_record, reads=("get_order_details",)),
        editions=_STATUS_CHECKED,
    ),
    replace(stated_details(_CONFIRM, needs=_named), editions=_LISTED),
    Rule(
        "seen-version",
        "another **available** variant of the **same product**",
        _unseen_version,
        needs_dialog=True,
        before_write="read",
        editions=(("3a51884737f9", "8a8cbe6b9972"),),
    ),
    Rule("stated-version", _CONFIRM, _other_version, needs_dialog=True, before_write="stated", editions=_LISTED),
    replace(confirmation(_CONFIRM, needs=_order), editions=_LISTED),
    done_claims("Say only what a tool, the customer or this policy has told you.", ids=("order_id",)),
    transfer_notice("Then send this notice, with nothing added:"),
    Rule(
        "exchange-differs",
        "The tool would take the very same item: you do not.",
        _same_item,
        absolute=True,
        editions=(("8a8cbe6b9972",),),
    ),
    Rule(
        "address-after-items",
        "The address tool would still take `pending (item modified)`: do not use it then.",
        _address_after_items,
    ),
]
RULES = bounded(_RULES)
