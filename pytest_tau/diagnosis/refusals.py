"""What a text says of a call: its act, as a word for what the tool does, and whether the agent refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.claims import acts_in, has_synonyms, words_for_act, words_like_act
from ..language.turns import points_at_thing, says_not_found, speaks_of_own
from .heading import refusals

if TYPE_CHECKING:
    import re

    from ..policy import RecordedBreach
    from .deviations import Deviation
    from .facts import Facts


def refusal(facts: Facts, deviation: Deviation) -> tuple[int, str] | None:
    """Return the first sentence in which the agent refuses a missing call, with the number of its message."""
    for number, text in facts.evidence.texts("assistant"):
        for sentence in refusals(text):
            own = speaks_of_own(sentence) and not says_not_found(sentence)
            if own and is_refused_in(facts, sentence, deviation):
                return number, sentence
    return None


def obstacle(facts: Facts, deviation: Deviation) -> int | None:
    """Return the message in which the agent refused a missing call, or in which its tool did."""
    refused, failed = refusal(facts, deviation), facts.refused_by_tool()
    return refused[0] if refused else failed.message_idx if failed else None


def is_refused_in(facts: Facts, sentence: str, deviation: Deviation) -> bool:
    """Return whether a refusal is one of a missing call: not of another act, nor of other records."""
    if facts.names_record(sentence, deviation):
        return True
    if facts.names_other_record(sentence, deviation):
        return False
    act = has_act(facts, sentence, deviation.tool)
    if act is not None:
        return act
    return facts.is_about(sentence, deviation) and points_at_thing(sentence)


def may_be_refused(facts: Facts, deviation: Deviation) -> bool:
    """Return whether a refusal of a call's act is one of this call: not if the policy forbids such a call."""
    forbidden = [
        each for each in facts.deviations if any(is_breach(breach, each) for breach in facts.reference_breaches)
    ]
    return not any(_act(each.tool) == _act(deviation.tool) for each in forbidden)


def is_breach(breach: RecordedBreach, deviation: Deviation) -> bool:
    """Return whether a breach in the reference is the call of it that differs."""
    call, wanted = breach.call, deviation.wanted
    return bool(call and wanted and (call["name"], call["arguments"]) == (wanted.name, wanted.arguments))


def has_act(facts: Facts, text: str, tool: str) -> bool | None:
    """Return whether a text has a word for what a tool does; None if it has none for any tool."""
    heard = acts_in(text)
    if any(map(_act(tool).fullmatch, heard)):
        return True
    return False if any(_act(other).fullmatch(word) for other in facts.mutating for word in heard) else None


def has_like_act(text: str, tool: str) -> bool:
    """Return whether a text has a word for what a tool does, or for an act that people take for it."""
    like = words_like_act(tool.partition("_")[0].lower())
    return any(map(like.fullmatch, acts_in(text)))


def asks_for_act(facts: Facts, text: str, tool: str) -> bool:
    """Return whether a text has a word for what a tool does; if none is known, whether it is of no other tool."""
    act = has_act(facts, text, tool)
    return bool(act) or (act is None and not has_synonyms(tool.partition("_")[0].lower()))


def is_only_act(facts: Facts, verb: str, tool: str) -> bool:
    """Return whether a word says what a tool does, and no other one that changes something."""
    return [other for other in facts.mutating if _act(other).fullmatch(verb)] == [tool]


def _act(tool: str) -> re.Pattern[str]:
    return words_for_act(tool.partition("_")[0].lower())
