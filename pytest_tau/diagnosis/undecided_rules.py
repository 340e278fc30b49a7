"""Rules of attribution where nothing is proved: each says what would decide."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from ..evaluation import components_of
from ..language.forms import is_same
from ..models import Attribution, call_as_text
from .turning_point import HANDED_OVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..models import Party
    from .facts import Facts

#: An entry of a list, or a field of it.
_LIST = re.compile(r"(.+?)/\d+(?:/\w+)?$")
_SEVERAL = 2
_CENT = 0.006
#: Whose fault it may be that something was not said.
_UNSAID: tuple[Party, ...] = ("agent", "user", "task")


def only_forms(facts: Facts) -> Attribution | None:
    """Apply if all that differs from the reference is the form of a value."""
    slots = [slot for deviation in facts.deviations for slot in deviation.slots]
    made = [deviation.made for deviation in facts.deviations]
    pairs = [pair for slot in slots for pair in zip(slot.got, slot.wanted, strict=False)]
    first = made[0] if made else None
    if first is None or None in made or any(len(slot.got) != len(slot.wanted) for slot in slots):
        return None
    if not pairs or not all(is_same(*pair) for pair in pairs):
        return None
    reason = "only the form of a value differs: whether the policy or a tool says which one decides"
    return Attribution("undecided", reason, first.message_idx, facts.deviations[0].text, ("agent", "task"))


def only_split(facts: Facts) -> Attribution | None:
    """Apply if the states differ only in the entries of one list, whose numbers have the same sum, as of payments."""
    info, divergence = facts.simulation.reward_info, facts.divergence
    differences = (info and info.db_diff) or []
    lists = {_LIST.match(each.path) for each in differences}
    places = {found[1] for found in lists if found is not None}
    if divergence is None or None in lists or len(places) != 1 or len(differences) < _SEVERAL:
        return None
    expected, got = ([*_numbers(getattr(each, side) for each in differences)] for side in ("expected", "got"))
    if not expected or not got or not math.isclose(sum(expected), sum(got), abs_tol=_CENT):
        return None
    reason = "amounts differ that are the same in sum: whether the policy asks for a call for each decides"
    return Attribution("undecided", reason, divergence.message_idx, divergence.text, ("agent", "task"))


def _numbers(values: Iterable[Any]) -> Iterator[float]:
    for value in values:
        if isinstance(value, dict):
            yield from _numbers(value.values())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield float(value)


def state_undecided(facts: Facts) -> Attribution | None:
    """Apply if the state is wrong, and nothing shows whose fault it is."""
    divergence = facts.divergence
    if divergence is None:
        return None
    transfer = facts.transfer
    first = facts.deviations[0] if facts.deviations else None
    if divergence.kind == "diverged":
        reason = "a call made the state wrong: who chose its values decides"
        if facts.agreed(divergence.message_idx):
            reason = "the agent proposed a wrong call and the user agreed: what its scenario wants decides"
        return Attribution("undecided", reason, divergence.message_idx, divergence.text)
    if first is not None and first.made is not None:
        made = first.made
        text = f"{divergence.text}; {call_as_text(made.call.name, made.call.arguments)}"
        return Attribution("undecided", "a call has other arguments: who chose them decides", made.message_idx, text)
    if divergence.call["requestor"] == "user":
        return Attribution(
            "undecided", "the user did not make a required call: whether it could decides", None, divergence.text
        )
    if transfer is not None:
        text = f"{divergence.text}; {call_as_text(transfer.call.name, transfer.call.arguments)}"
        reason = f"{HANDED_OVER}: whether the user had to ask for one decides"
        return Attribution("undecided", reason, transfer.message_idx, text)
    at = facts.forgotten_at()
    return Attribution(
        "undecided", "a required call was not made: whether the user asked for it decides", at, divergence.text
    )


def unmet(facts: Facts) -> Attribution | None:
    """Apply to whatever was not met: a phrase, a call, a statement."""
    info = facts.simulation.reward_info
    if info is None:
        return None
    # The last component of the table first: what was never said or called explains more than a wrong state.
    omissions = (each.omission(info) for each in reversed(components_of(info)) if each.gates(info))
    found = next((one for one in omissions if one is not None), None)
    if found is not None:
        return Attribution(
            "undecided", f"{found.reason}: whether it was asked for decides", None, found.evidence, _UNSAID
        )
    failed = [name for name, value in (info.reward_breakdown or {}).items() if value < 1]
    return Attribution("undecided", "a check was not met", None, ", ".join(failed) or "the reward is below 1", _UNSAID)
