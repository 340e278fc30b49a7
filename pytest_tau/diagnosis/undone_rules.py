"""Rules of attribution about writes that the agent did not make: refused, given up, or only said to be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.agreement import agrees_at_once, asks_to_proceed
from ..language.claims import claims_in
from ..language.mentions import mentions_any
from ..language.segments import sentences
from ..language.turns import announced_in, closes, waits_for_yes, wants_answer
from ..language.wishes import asks_for_person, disowns, withdraws, without_unwanted
from ..models import Attribution, call_as_text, strings_in
from . import user_evidence
from .facts import clipped, first_line, quoted
from .refusals import asks_for_act, has_act, is_only_act, may_be_refused, refusal

if TYPE_CHECKING:
    from .deviations import Deviation
    from .facts import Facts


def withdrew(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if a call is missing, and a tool had refused another call of the agent's on the same record.

    Of a record that the agent has changed otherwise, the call has more of the missing one. What was refused after a
    call that had made the state wrong may be its consequence.
    """
    ids = {str(value) for slot in deviation.slots if slot.name == deviation.record for value in slot.wanted}
    rest = {str(value) for slot in deviation.slots for value in slot.wanted} - ids
    last = facts.evidence.texts("assistant")[-1:]
    if last and has_act(facts, last[0][1], deviation.tool) and wants_answer(last[0][1]) and not closes(last[0][1]):
        return None  # it offered the right one at last
    for call in facts.calls:
        if facts.is_after_divergence(call):
            continue
        own = {str(value) for value in call.call.arguments.values() if isinstance(value, str | int)}
        failed = call.result is not None and call.result.error and call.call.name in facts.mutating
        redone = any(
            later.call.name == call.call.name
            and later.message_idx > call.message_idx
            and later.result is not None
            and not later.result.error
            for later in facts.calls
        )
        like = call.call.name == deviation.tool or own & rest or not _has_changed(facts, ids)
        if failed and own & ids and like and not redone and call.result is not None:
            text = f"{call_as_text(call.call.name, call.call.arguments)}: {first_line(call.result.content or '')}"
            return Attribution("agent", "it gave up after a call that its tool refused", call.message_idx, text)
    return None


def _has_changed(facts: Facts, ids: set[str]) -> bool:
    """Return whether a write of the agent's on a record has succeeded."""
    done = [call for call in facts.calls if call.call.name in facts.mutating and not facts.has_failed(call)]
    return any(ids & {*strings_in(call.call.arguments)} for call in done)


def never_looked_up(facts: Facts) -> Attribution | None:
    """Apply if the agent never found the user, and has not tried an e-mail address that it had said."""
    wanted = [str(value) for deviation in facts.deviations for slot in deviation.slots for value in slot.wanted]
    found = not wanted or any(value in facts.evidence.records for value in wanted)
    given = user_evidence.never_looked_up(facts)
    at = facts.evidence.mentioned("user", given) if given and not found else None
    following = facts.evidence.texts("assistant", after=at) if at is not None else []
    if not following:
        return None
    return Attribution("agent", "it did not look up what the user gave to be found by", following[0][0], given[0])


def claimed(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent has said that it made a change that is missing, right after no other one."""
    evidence = facts.evidence
    done = [call.message_idx for call in facts.calls if call.call.name in facts.mutating and not facts.has_failed(call)]
    for number, text in evidence.texts("assistant"):
        since = max((at for at, _ in evidence.texts("user", number)), default=0)
        if any(since <= at <= number for at in done):
            continue
        for claim in claims_in(text):
            if claim.verb:
                act = is_only_act(facts, claim.verb, deviation.tool)
                about = claim.is_of(deviation.tool) and (act or facts.is_about(claim.text, deviation))
            else:  # "your reservation now has two bags" is a claim if the user has just agreed to that
                about = facts.names_record(claim.text, deviation) and facts.agreed(number)
            if about and not _is_told_again(facts, claim.text, deviation):
                return Attribution("agent", "it said that it had done what it had not", number, quoted(claim.text))
    return None


def never_asked(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user never said a value that the call needs, and the agent could not go on without it.

    It could if it has said that it made the call, or the user has agreed to its proposal of the call.
    """
    if deviation.made is None and (claimed(facts, deviation) is not None or _was_agreed(facts, deviation)):
        return None
    if deviation.made is None and facts.is_diverged_by_agent:
        return None  # what is missing may be missing because of the wrong call
    return user_evidence.never_asked(facts, deviation)


def _was_agreed(facts: Facts, deviation: Deviation) -> bool:
    """Return whether the user has agreed to a proposal of what a missing call does to its record."""
    proposals = [facts.evidence.text(asked) for asked, _ in facts.evidence.agreements()]
    return any(facts.names_record(text, deviation) and asks_for_act(facts, text, deviation.tool) for text in proposals)


def _is_told_again(facts: Facts, text: str, deviation: Deviation) -> bool:
    """Return whether a text names a record that a write which was made has, and the missing one does not have."""
    wanted = {str(value) for slot in deviation.slots for value in slot.wanted}
    return any(
        mentions_any(text, ({*strings_in(call.call.arguments)} & facts.evidence.records.keys()) - wanted)
        for call in facts.calls
        if call.call.name in facts.mutating and not facts.has_failed(call)
    )


def not_done(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has agreed to a missing call that the agent had proposed."""
    evidence = facts.evidence
    for asked, number in evidence.agreements():
        proposal, text = evidence.text(asked), evidence.text(number)
        if not _agrees(text) or facts.names_others(text, deviation) or asks_for_person(text):
            continue
        if not facts.names(proposal, deviation) or _is_of_other_record(facts, proposal, deviation):
            continue
        following = evidence.texts("assistant", after=number)
        done = [call for call in facts.calls if call.message_idx > number and call.call.name in facts.mutating]
        meant = following and any(call.message_idx <= following[0][0] for call in done)
        if following and not meant and asks_to_proceed(proposal) and not _goes_on(following[0][1]):
            reason = "it did not make a call that the user had agreed to"
            transfer = facts.transfer
            at = following[0][0] if transfer is None else transfer.message_idx
            return Attribution("agent", reason, at, quoted(text))
    return None


def _goes_on(text: str) -> bool:
    """Return whether the agent says that it acts now, or asks for something more before it does."""
    return bool(announced_in(text)) or (wants_answer(text) and not closes(text))


def _is_of_other_record(facts: Facts, proposal: str, deviation: Deviation) -> bool:
    """Return whether a proposal does not name what the missing call is done to, which a tool has shown."""
    record = [value for slot in deviation.slots if slot.name == deviation.record for value in slot.wanted]
    known = [value for value in record if str(value) in facts.evidence.records]
    return bool(known) and facts.names_other_record(proposal, deviation) and not mentions_any(proposal, known)


def _agrees(text: str) -> bool:
    first = sentences(text)[0]
    return agrees_at_once(first) and not first.endswith("?")


def refused(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent has refused a missing call which no rule of the policy forbids."""
    at = refusal(facts, deviation)
    if deviation.made is not None or at is None:
        return None
    number, sentence = at
    if not may_be_refused(facts, deviation) and not facts.names_record(sentence, deviation):
        return None
    if _took_back(facts, deviation, number):
        return None
    return Attribution("agent", "it refused a required call that no rule forbids", number, clipped(sentence))


def _took_back(facts: Facts, deviation: Deviation, refused_at: int) -> bool:
    """Return whether the agent has offered what it had refused, or made such a call on the same record."""
    wanted = {str(value) for slot in deviation.slots for value in slot.wanted} & facts.evidence.records.keys()
    texts = facts.evidence.texts("assistant", after=refused_at)
    return any(waits_for_yes(text) and _may_be_about(facts, text, deviation) for _, text in texts) or any(
        call.call.name == deviation.tool and not facts.has_failed(call) and wanted & {*strings_in(call.call.arguments)}
        for call in facts.calls
        if call.message_idx > refused_at
    )


def _may_be_about(facts: Facts, text: str, deviation: Deviation) -> bool:
    """Return whether a text has a word for a missing call, or names its record and has a word for no other one."""
    act = has_act(facts, text, deviation.tool)
    return facts.names_record(text, deviation) if act is None else act


def ignored_request(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has asked for a missing call by its values, and has not withdrawn that."""
    evidence = facts.evidence
    orders = [(number, text) for number, text in evidence.texts("user") if asks_for_act(facts, text, deviation.tool)]
    asked = [number for number, text in orders if facts.names(without_unwanted(text), deviation)]
    following = evidence.texts("assistant", after=asked[0]) if asked else []
    if not following or any(withdraws(text) for _, text in evidence.texts("user", after=asked[0] - 1)):
        return None
    if any(disowns(text) for _, text in evidence.texts("user", after=asked[0] - 1)):
        return None
    if _was_declined(facts, deviation):
        return None
    if any(facts.names_other_record(text, deviation) for number, text in orders if number > asked[0]):
        return None  # it then asked for that of something else
    reason = "it did not do what the user had asked for"
    return Attribution("agent", reason, following[0][0], quoted(evidence.text(asked[0])))


def _was_declined(facts: Facts, deviation: Deviation) -> bool:
    """Return whether the user's last answer to a request for a yes is no, and the request may be for a missing call."""
    request, answer = facts.evidence.declined() or ("", "")
    if not request or facts.names_other_record(request, deviation) or has_act(facts, answer, deviation.tool):
        return False
    return has_act(facts, request, deviation.tool) is not False


def refused_by_tool(facts: Facts) -> Attribution | None:
    """Apply if the tool has refused a required call of the agent's, which did not succeed later."""
    refused = facts.refused_by_tool()
    if facts.divergence is None or refused is None or refused.result is None:
        return None
    reason = "the tool refused a required call, and it did not succeed later"
    evidence = f"{facts.divergence.text}; {first_line(refused.result.content or '')}"
    return Attribution("agent", reason, refused.message_idx, evidence)
