"""Rules of attribution about the task: what it requires cannot be known, or is one of several right ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import Attribution
from ..references import not_brought_about
from ..references.values import unstated
from ..text import listed

if TYPE_CHECKING:
    from ..references import OpenChoice
    from .deviations import Deviation
    from .facts import Facts

_MOST = 2


def only_open_choices(facts: Facts) -> Attribution | None:
    """Apply if nothing differs from the reference but values that the task leaves open."""
    found = facts.deviations
    if not found or any(deviation.made is None or deviation.wanted is None or deviation.by_user for deviation in found):
        return None
    chosen = [_choice(facts, deviation) for deviation in found]
    if not all(chosen):
        return None
    open_slots = [choice for choices in chosen for choice in choices]
    first = found[0].made
    reason = f"it leaves open {listed([*dict.fromkeys(choice.argument for choice in open_slots)], _MOST)}"
    return Attribution("task", reason, first.message_idx if first else None, open_slots[0].why)


def _choice(facts: Facts, deviation: Deviation) -> list[OpenChoice]:
    """Return the open choices that explain every argument of a call that differs; none if one is not explained.

    A choice that several calls of a tool have alike is open in each of them.
    """
    choices = [choice for choice in facts.open_choices if choice.name == deviation.tool]
    found = []
    for slot in deviation.slots:
        fitting = [
            choice
            for choice in choices
            if choice.argument.partition(".")[0] == slot.name
            and choice.value in slot.wanted
            and any(value in choice.alternatives for value in slot.got)
        ]
        if len(slot.got) != len(slot.wanted) or len(fitting) < len(slot.wanted):
            return []
        found += fitting
    return found


def requires_what_is_refused(facts: Facts) -> Attribution | None:
    """Apply if all that differs are calls of the reference that their tools refuse, and that succeeded otherwise."""
    found = facts.deviations
    if not found or not all(
        deviation.made is not None and len(deviation.slots) == 1 and facts.is_impossible(deviation)
        for deviation in found
    ):
        return None
    first = found[0]
    reason = "it requires a call that its tool refuses"
    return Attribution("task", reason, first.made.message_idx if first.made else None, first.text)


def requires_what_nobody_knows(facts: Facts) -> Attribution | None:
    """Apply if nothing differs but values of the reference that come from nowhere, and a tool has shown the agent's."""
    found, task, domain = facts.deviations, facts.task, facts.domain
    if not found or task is None or domain is None:
        return None
    slots = [slot for deviation in found for slot in deviation.slots]
    wanted = [value for slot in slots for value in slot.wanted]
    known = all(facts.evidence.is_shown(value) for slot in slots for value in slot.got)
    if (
        not known
        or any(map(facts.evidence.is_shown, wanted))
        or any(deviation.made is None or deviation.wanted is None for deviation in found)
    ):
        return None
    nowhere = {each.value: each for each in unstated(task, domain)}
    if not wanted or not all(isinstance(value, str) and value in nowhere for value in wanted):
        return None
    first = found[0]
    reason = "it requires a value that comes from nowhere"
    at = first.made.message_idx if first.made else None
    return Attribution("task", reason, at, f"{first.text}: {nowhere[wanted[0]].looked}")


def requires_what_is_not_done(facts: Facts) -> Attribution | None:
    """Apply if all that was not said are amounts that the writes of the reference do not bring about."""
    info, task, domain = facts.simulation.reward_info, facts.task, facts.domain
    unsaid = [check.info for check in (info and info.communicate_checks) or () if not check.met]
    if facts.divergence is not None or not unsaid or task is None or domain is None:
        return None
    found = {each.statement: each for each in not_brought_about(task, domain)}
    if not all(text in found for text in unsaid):
        return None
    reason = "it requires an amount that its reference actions do not bring about"
    return Attribution("task", reason, None, f"{unsaid[0]}: {found[unsaid[0]].asked}")
