"""Several matters of one customer in one conversation, and remarks that have nothing to do with them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ..._kit.combine import mention
from ..._kit.formatting import join_sentences
from ..._kit.transfer import TRANSFER
from .builder import Draft, Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from .world import Record, World

#: More matters in one conversation fit hardly any customer.
MAX_REQUESTS = 4
_ATTEMPTS = 50
#: Ids of accounts, cards and transactions.
_ID = re.compile(r"\b(?:cc|chk2?|sav|biz|dbc|b?txn)_\w+")
#: What no second matter in the conversation may be about, by the words of a call.
_SHARED = ("change_user_email", "refer", "phone number", "credit_card_application", "open_bank_account", "check_amount")
#: What people mention in passing.
_REMARKS = (
    "the app has a nicer color now",
    "your sister wants to become a customer, too",
    "it is snowing where you are",
    "you wrote to the bank last year as well",
    "the branch in your street has closed",
    "you are on a train",
)


class Matter(NamedTuple):
    """A scenario with one of its drafts, identified by ``key``."""

    key: tuple[str, int]
    scenario: Scenario
    draft: Draft


class MatterPool:
    """All drafts of scenarios."""

    def __init__(self, world: World, scenarios: Iterable[Scenario]) -> None:
        self._matters = {
            scenario.task_id: [
                Matter((scenario.task_id, number), scenario, draft)
                for number, draft in enumerate(scenario.drafts(world))
            ]
            for scenario in scenarios
        }
        by_customer: dict[str, list[Matter]] = defaultdict(list)
        for matters in self._matters.values():
            for matter in matters:
                if _combinable(matter.draft):
                    by_customer[matter.draft.caller["user_id"]].append(matter)
        self._by_customer = list(by_customer.values())

    def draw(self, rng: random.Random, count: int) -> tuple[tuple[object, ...], Scenario, Draft] | None:
        """Draw so many matters of one customer, none in the way of another, with a key; None where chance fails."""
        if count == 1:
            return rng.choice(self._matters[rng.choice(list(self._matters))])
        for _ in range(_ATTEMPTS):
            chosen = _independent(rng, rng.choice(self._by_customer), count)
            if len(chosen) == count:
                return tuple(matter.key for matter in chosen), *_combined(chosen)
        return None


def _combinable(draft: Draft) -> bool:
    """Return whether a matter can be one of several: it ends no conversation, and has a plain request."""
    ends = any(call.name == TRANSFER for call in draft.calls)
    return draft.identified and not (ends or draft.fallback or draft.then or draft.communicate)


def _touched(draft: Draft) -> set[str]:
    text = f"{draft.calls} {draft.tables} {draft.reason}"
    return set(_ID.findall(text)) | {words for words in _SHARED if words in text}


def _independent(rng: random.Random, matters: list[Matter], count: int) -> list[Matter]:
    """Draw up to so many matters that touch different things."""
    chosen: list[Matter] = []
    touched: set[str] = set()
    products: set[str] = set()
    for matter in rng.sample(matters, len(matters)):
        products_named = set(
            re.findall(r"\b[A-Z][\w-]+ (?:Account|Card|Cash Back)\b|\b\w+ card\b", matter.draft.reason)
        )
        if (
            touched & _touched(matter.draft)
            or products & products_named
            or matter.scenario in [other.scenario for other in chosen]
        ):
            continue
        chosen.append(matter)
        touched |= _touched(matter.draft)
        products |= products_named
        if len(chosen) == count:
            break
    return chosen


def _combined(matters: list[Matter]) -> tuple[Scenario, Draft]:
    """Return one scenario of several: each is put once the one before is dealt with."""
    first, *rest = matters
    drafts = [matter.draft for matter in matters]
    scenario = Scenario(
        task_id=f"{len(matters)}-matters",
        drafts=lambda _world: [],
        purpose=" Then: ".join(matter.scenario.purpose for matter in matters),
        rule="; ".join(dict.fromkeys(matter.scenario.rule for matter in matters)),
    )
    return scenario, replace(
        first.draft,
        calls=[call for draft in drafts for call in draft.calls],
        documents=list(dict.fromkeys(name for draft in drafts for name in draft.documents)),
        instructions=join_sentences(draft.instructions for draft in drafts),
        then=[(matter.draft.reason, matter.draft.details) for matter in rest],
        tables=_merged(draft.tables for draft in drafts),
        known=join_sentences(draft.known for draft in drafts),
        declines=list(dict.fromkeys(words for draft in drafts for words in draft.declines)),
    )


def _merged(parts: Iterable[object]) -> dict[str, dict[str, Record]]:
    merged: dict[str, dict[str, Record]] = defaultdict(dict)
    for part in parts:
        assert isinstance(part, dict)
        for name, records in part.items():
            merged[name] |= records
    return dict(merged)


def add_remarks(rng: random.Random, draft: Draft, count: int) -> Draft:
    """Return the draft with so many remarks that have nothing to do with it, made with the first request."""
    if not count:
        return draft
    mentioned = mention(rng.sample(_REMARKS, min(count, len(_REMARKS))))
    return replace(draft, known=join_sentences([draft.known, mentioned.known]), remarks=mentioned.said)
