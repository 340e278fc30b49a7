"""Variations of a draft: other addresses, and remarks that have nothing to do with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_tau.models import Request

from ..._kit.combine import add_remarks
from ..formatting import format_address
from .data.people import make_address
from .data.places import PLACES

if TYPE_CHECKING:
    import random

    from ..._kit.combine import Call
    from ..models import Address
    from .builder import Draft

_STREETS = (
    "Alder", "Bellflower", "Chandler", "Dogwood", "Elmhurst", "Fennel", "Granary", "Heather", "Ironwood", "Juniper",
    "Kestrel", "Lantern", "Millrace", "Nutmeg", "Orchard", "Pebble", "Quince", "Rookery", "Saddler", "Tannery",
)  # fmt: skip
_WAYS = ("Street", "Road", "Lane", "Avenue", "Court", "Terrace")
#: What people mention in passing; ``{order}`` is an order of theirs that nothing is to be done about.
_REMARKS = (
    "your neighbor has the very same doorbell as you",
    "it has been raining since this morning",
    "you liked the wrapping paper of the last parcel",
    "your cousin works in a shop, too",
    "you have shopped here since spring",
    "the website looks different from last year",
    "order {order} is fine as it is",
    "you have told a friend about order {order}",
)


class _Streets:
    """A source of names of streets, in the place of Faker."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def street_name(self) -> str:
        """Return a name such as ``Quince Lane``."""
        return f"{self._rng.choice(_STREETS)} {self._rng.choice(_WAYS)}"


def change_addresses(rng: random.Random, draft: Draft) -> Draft:
    """Return the draft with every place to move to replaced by another one."""
    for place in PLACES.values():
        other = make_address(rng, _Streets(rng), rng.randrange(1_000_000))
        draft = _replace_address(draft, place, other)
    return draft


def _replace_address(draft: Draft, place: Address, other: Address) -> Draft:
    old, new = format_address(place), format_address(other)
    if old not in draft.instructions and old not in draft.reason:
        return draft
    return replace(
        draft,
        reason=draft.reason.replace(old, new),
        instructions=draft.instructions.replace(old, new),
        requests=[Request.model_validate_json(part.model_dump_json().replace(old, new)) for part in draft.requests],
        calls=[_replace_in_call(call, place, other) for call in draft.calls],
    )


def _replace_in_call(call: Call, place: Address, other: Address) -> Call:
    here = place.model_dump()
    if here.items() <= call.arguments.items():
        return call._replace(arguments={**call.arguments, **other.model_dump()})
    return call


def mention_some(rng: random.Random, draft: Draft, count: int) -> Draft:
    """Return the draft with so many remarks that have nothing to do with it."""
    text = f"{draft} {draft.calls}"
    others = [order_id for order_id in draft.caller.orders if order_id not in text]
    usable = [remark for remark in _REMARKS if others or "{order}" not in remark]
    remarks = rng.sample(usable, min(count, len(usable)))
    return add_remarks(draft, [remark.replace("{order}", rng.choice(others or [""])) for remark in remarks])
