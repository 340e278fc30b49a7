"""Rules of attribution about calls that are not what the agent had just agreed with the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.forms import forms_of
from ..language.ids import form_of
from ..language.mentions import mentions, mentions_any
from ..language.segments import sentences
from ..language.wishes import declines, without_unwanted
from ..models import Attribution
from .facts import quoted

if TYPE_CHECKING:
    from ..models import Call
    from .deviations import Deviation
    from .facts import Facts


def dropped_part(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if a call lacks a part of the reference that the agent had proposed by its id, and the user agreed to."""
    evidence = facts.evidence
    agreed = evidence.agreement(made.message_idx)
    lacking = [value for slot in deviation.slots if not slot.got for value in slot.wanted]
    if agreed is None or deviation.wanted is None or not lacking:
        return None
    proposal, answer = (evidence.text(number) for number in agreed)
    for value in map(str, lacking):
        named = any(map(str.isdigit, value)) and any(mentions(line, value) for line in _wanted_lines(proposal))
        if named and not _is_declined(evidence.forms(value), answer):
            reason = "its call lacks a part that the user had agreed to"
            return Attribution("agent", reason, made.message_idx, f"{value}: {quoted(answer)}")
    return None


def did_other(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if a call after the user's yes is the one of the proposal and the reference, but for an id or a number.

    The call may be one that its tool has refused.
    """
    evidence, wanted = facts.evidence, deviation.wanted.arguments if deviation.wanted is not None else {}
    for made in facts.calls:
        agreed = evidence.agreement(made.message_idx) if made.call.name == deviation.tool else None
        differing = [name for name, value in wanted.items() if made.call.arguments.get(name) != value]
        if agreed is None or len(differing) != 1:
            continue
        (name,) = differing
        proposed, got = wanted[name], made.call.arguments.get(name)
        if not isinstance(got, str) or not isinstance(proposed, str):
            continue
        texts = [evidence.text(number) for number in agreed]
        alike = form_of(got) == form_of(proposed) or facts.has_failed(made)
        if alike and _is_id(proposed) and mentions(texts[0], proposed) and not _is_in(facts, got, texts):
            reason = "its call is not the one that the user had agreed to"
            return Attribution("agent", reason, made.message_idx, f"{name}: {got}, not {proposed}")
    return None


def _is_id(text: str) -> bool:
    return any(map(str.isdigit, text))


def _is_in(facts: Facts, value: str, texts: list[str]) -> bool:
    """Return whether a text names a value, or has an id or number of its record, such as the digits of a card."""
    fields = facts.evidence.records.get(value, {}).values()
    forms = [*forms_of(value), *(part for parts in fields for part in parts if _is_id(part))]
    return any(mentions_any(text, forms) for text in texts)


def _wanted_lines(text: str) -> list[str]:
    return [line for line in sentences(text) if not declines(line)]


def did_declined(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if a call has a value that the user's last words before it had declined."""
    evidence = facts.evidence
    last = evidence.texts("user", made.message_idx)[-1:]
    for slot in deviation.slots if last else ():
        for value in slot.got:
            forms = evidence.forms(value, slot.wanted) if str(value) in evidence.records else []
            if _is_declined(forms, last[0][1]):
                reason = "it did what the user had just declined"
                return Attribution("agent", reason, made.message_idx, f"{value}: {quoted(last[0][1])}")
    return None


def _is_declined(forms: list[str], text: str) -> bool:
    """Return whether a text names a value, and only as what is not wanted."""
    return mentions_any(text, forms) and not mentions_any(without_unwanted(text), forms)
