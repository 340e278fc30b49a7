"""Rules of attribution about records that the agent has not read, though its tools had listed them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.forms import forms_of
from ..language.mentions import mentions_any
from ..models import Attribution, strings_in
from .evidence import scalars, value_of
from .refusals import has_like_act

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .deviations import Deviation
    from .facts import Facts

#: Texts of fewer characters are in many records.
_SHORTEST = 4


def never_looked(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if a tool had listed the record of a missing call, and the agent did nothing with it, nor with another.

    If the agent had named it, it was with others, and the user has chosen none of them.
    """
    evidence = facts.evidence
    if deviation.wanted is None or _has_done_another(facts, deviation):
        return None
    used = _used(facts)
    unseen = [
        text
        for text in strings_in(deviation.wanted.arguments)
        if text in evidence.listed
        and text not in used
        and text not in evidence.records
        and (not _is_named(facts, "assistant", [text]) or _is_one_of_several(facts, text))
    ]
    if not unseen or not _is_asked(facts, deviation):
        return None
    return Attribution("agent", "it never looked at the record, which its tool had listed", _at(facts), unseen[0])


def never_read(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if what a missing call needs is in a record of which a tool had listed the id, and the agent read others.

    Neither side had said it, and no tool had shown it: a call with the id that was not read shows it.
    """
    if deviation.wanted is None or _has_done_another(facts, deviation):
        return None
    needed = [text for text in strings_in(deviation.wanted.arguments) if len(text) >= _SHORTEST]
    unseen = [text for text in needed if not facts.evidence.is_shown(text) and not _is_said(facts, text)]
    known = any(map(str.isdigit, "".join(unseen))) and _is_asked(facts, deviation)
    for text, shown in _unread(facts) if known else ():
        if all(value.lower() in shown for value in unseen):
            reason = "it never read a record that its tool had listed, and which has what the call needs"
            return Attribution("agent", reason, _at(facts), f"{text}: {', '.join(unseen)}")
    return None


def _unread(facts: Facts) -> Iterator[tuple[str, set[str]]]:
    """Yield each id that was listed with those that the agent has read, with what the same tool shows of it."""
    if facts.task is None or facts.domain is None:
        return
    environment, used = None, _used(facts)
    for call in facts.domain_calls:
        (name, value), *more = call.call.arguments.items() or [("", None)]
        if more or not isinstance(value, str) or call.call.name in facts.mutating or facts.has_failed(call):
            continue
        for text in facts.evidence.siblings(value):
            if text in used:
                continue
            used.add(text)
            environment = environment or facts.domain.environment(facts.task)
            result = environment.call(call.call.name, {name: text}, "assistant")
            if not result.error:
                yield text, {shown.lower() for shown in scalars(value_of(result.content or ""))}


def _has_done_another(facts: Facts, deviation: Deviation) -> bool:
    """Return whether the agent has made another call instead, or one with the same tool for another record."""
    others = any(each.made is not None for each in facts.deviations)
    return others or any(call.call.name == deviation.tool for call in facts.calls)


def _is_one_of_several(facts: Facts, text: str) -> bool:
    others = facts.evidence.siblings(text)
    return _is_named(facts, "assistant", others) and not _is_named(facts, "user", [text, *others])


def _used(facts: Facts) -> set[str]:
    return {text for call in facts.calls for text in strings_in(call.call.arguments)}


def _is_asked(facts: Facts, deviation: Deviation) -> bool:
    return any(has_like_act(text, deviation.tool) for _, text in facts.evidence.texts("user"))


def _is_named(facts: Facts, side: str, texts: list[str]) -> bool:
    return any(mentions_any(said, texts) for _, said in facts.evidence.texts(side))


def _is_said(facts: Facts, text: str) -> bool:
    return any(_is_named(facts, side, forms_of(text)) for side in ("user", "assistant"))


def _at(facts: Facts) -> int | None:
    return facts.transfer.message_idx if facts.transfer is not None else facts.forgotten_at()
