"""Several matters of one customer in one conversation."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ..._kit.combine import combine
from .cases import find_cases

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from .builder import Draft, Scenario
    from .cases import Case
    from .world import World

#: More matters in one conversation fit hardly any customer.
MAX_REQUESTS = 4
#: Scenarios that mean what they say only by themselves: they speak of all orders, of a sum over what was done, of
#: an order that only one thing distinguishes from the others, or of who is calling.
_NOT_COMBINABLE = frozenset(
    {
        "an-id-is-not-enough",
        "an-outdated-email-address",
        "cancel-by-product",
        "cancel-dearer-of-two",
        "cancel-every-pending",
        "cancel-one-and-pay-one",
        "cancel-one-and-redirect-one",
        "exchange-and-redirect",
        "exchange-in-two-orders",
        "moving-house",
        "one-of-two-namesakes",
        "parcel-to-my-own-address",
        "return-by-product",
        "return-from-two-orders",
        "three-matters",
        "what-have-i-spent",
        "where-is-my-refund",
    }
)
_ATTEMPTS = 50
_ORDER_ID = re.compile(r"#W\d{7}")


class Matter(NamedTuple):
    """A scenario with one of its cases, identified by ``key``."""

    key: tuple[str, int]
    scenario: Scenario
    case: Case

    @property
    def draft(self) -> Draft:
        """Return the draft about the case."""
        return self.scenario.draft(self.case)


class MatterPool:
    """All cases of scenarios, those of each found when they are first needed."""

    def __init__(self, world: World, scenarios: Iterable[Scenario]) -> None:
        self._world, self._scenarios = world, list(scenarios)
        self._found: dict[str, list[Matter]] = {}
        self._touches: dict[tuple[str, int], frozenset[str]] = {}

    def draw(self, rng: random.Random, count: int) -> tuple[tuple[object, ...], Draft]:
        """Draw so many matters of one customer, none in the way of another, with a key that identifies them."""
        if count == 1:
            key, scenario, case = rng.choice(self._matters_of(rng.choice(self._scenarios)))
            return key, scenario.draft(case)
        chosen: list[Matter] = []
        for _ in range(_ATTEMPTS):
            chosen = self._independent(rng, rng.choice(self._by_customer), count)
            if len(chosen) == count:
                break
        return tuple(matter.key for matter in chosen), combine([matter.draft for matter in chosen])

    def _matters_of(self, one: Scenario) -> list[Matter]:
        if one.task_id not in self._found:
            cases = enumerate(find_cases(self._world, one.steps))
            self._found[one.task_id] = [Matter((one.task_id, number), one, case) for number, case in cases]
        return self._found[one.task_id]

    @functools.cached_property
    def _by_customer(self) -> list[list[list[Matter]]]:
        """Return what can be one of several matters, by customer and scenario."""
        matters: dict[str, dict[str, list[Matter]]] = defaultdict(lambda: defaultdict(list))
        for scenario in self._scenarios:
            # After a transfer each call is graded, and with it how other matters are looked up.
            for matter in (
                ()
                if "transfer" in scenario.table or scenario.task_id in _NOT_COMBINABLE
                else self._matters_of(scenario)
            ):
                matters[matter.case.user.user_id][scenario.task_id].append(matter)
        return [list(by_scenario.values()) for by_scenario in matters.values()]

    def _independent(self, rng: random.Random, by_scenario: list[list[Matter]], count: int) -> list[Matter]:
        """Draw up to so many matters, of different scenarios, that touch different things."""
        chosen: list[Matter] = []
        touched: set[str] = set()
        for matters in rng.sample(by_scenario, len(by_scenario)):
            matter = rng.choice(matters)
            if touched & self._touched(matter) or any(_declined(matter, other) for other in chosen):
                continue
            chosen.append(matter)
            touched |= self._touched(matter)
            if len(chosen) == count:
                break
        return chosen

    def _touched(self, matter: Matter) -> frozenset[str]:
        """Return the orders and other things that no second matter in the conversation may touch."""
        if matter.key not in self._touches:
            text = _text(matter.draft)
            orders = set(_ORDER_ID.findall(text))
            touched = orders | {shared for shared in ("gift card", "modify_user_address", "profile") if shared in text}
            # A refund may change the balance of a gift card that no text names.
            histories = [self._world.db.order(order_id).payment_history for order_id in orders]
            if "gift_card_" in text + str(histories):
                touched.add("gift card")
            self._touches[matter.key] = frozenset(touched)
        return self._touches[matter.key]


def _text(draft: Draft) -> str:
    return f"{draft.reason} {draft.instructions} {draft.known} {draft.requests} {draft.calls}"


def _declined(one: Matter, other: Matter) -> bool:
    """Return whether one of the two turns down, for the whole conversation, what the other is about."""
    return any(
        set(words.split()) <= set(re.findall(r"\w+", _text(asking.draft).lower()))
        for declining, asking in ((one, other), (other, one))
        for words in declining.draft.declines
    )
