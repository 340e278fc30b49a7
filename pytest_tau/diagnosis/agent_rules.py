"""Rules of attribution about the agent: each names what it has done, and in which message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..evaluation.components.policy import PolicyComponent
from ..language.agreement import is_yes
from ..language.forms import forms_of
from ..language.mentions import mentions_any, short_names
from ..language.turns import mentions_refusal
from ..language.vocabulary import follows, words
from ..language.wishes import asks_for_person, extreme_in, means_all, numbers_of, withdraws
from ..models import Attribution, call_as_text, strings_in
from .facts import first_line, quoted
from .refusals import obstacle
from .turning_point import HANDED_OVER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models import Call
    from ..policy import RecordedBreach
    from .deviations import Deviation
    from .evidence import Evidence
    from .facts import Facts

#: Texts of fewer characters are not invented.
_SHORTEST = 4
#: Words for a thing begin alike: a bag and baggage.
_STEM = 3


def failed_first(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent had first made a call on the same record that its tool refused."""
    failed = facts.failed_before(deviation)
    if failed is None or failed.result is None:
        return None
    text = f"{call_as_text(failed.call.name, failed.call.arguments)}: {first_line(failed.result.content or '')}"
    return Attribution(
        "agent", "the tool refused its first call, and it then did something else", failed.message_idx, text
    )


def made_impossible(facts: Facts, _: Deviation, made: Call) -> Attribution | None:
    """Apply if the tool refused a call of the reference after the agent's call had made it impossible."""
    refused = facts.refused_after(made)
    if refused is None or refused.result is None:
        return None
    text = f"{call_as_text(refused.call.name, refused.call.arguments)}: {first_line(refused.result.content or '')}"
    reason = "its call made a required one impossible, which its tool then refused"
    return Attribution("agent", reason, made.message_idx, text)


def did_again(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the agent made a call again that had succeeded, and the user had said nothing between the two."""
    repeated = facts.repeated(deviation)
    if repeated is None or facts.evidence.texts("user", made.message_idx, after=repeated.message_idx):
        return None
    text = f"{call_as_text(made.call.name, made.call.arguments)}, as in message {repeated.message_idx}"
    return Attribution("agent", "it made a call again that had succeeded", made.message_idx, text)


def ignored_wish(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the user has asked for the value of the reference, and the agent used another one."""
    evidence = facts.evidence
    for slot in deviation.slots:
        for value in slot.wanted:
            forms = evidence.forms(value, slot.got)
            at = evidence.mentioned("user", forms, before=made.message_idx, last=True)
            other = [form for got in slot.got for form in evidence.forms(got, slot.wanted)]
            later = evidence.mentioned("user", other, before=made.message_idx, last=True)
            if at is not None and later is None and slot.got:
                reason = "it used another value than the user had asked for"
                text = f"{slot.name}: {', '.join(map(str, slot.got))}; the user: {quoted(evidence.text(at))}"
                return Attribution("agent", reason, made.message_idx, text)
    return None


def ignored_number(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the user has said how many of something it wants, and the agent used another number."""
    evidence = facts.evidence
    for slot in deviation.slots:
        numbers = [value for value in (*slot.got, *slot.wanted) if type(value) is int]
        things = {word[:_STEM] for word in slot.name.split("_") if len(word) > _STEM}
        if (len(slot.got), len(slot.wanted), len(numbers)) != (1, 1, 2):
            continue
        got, wanted = numbers
        for at, text in evidence.texts("user", made.message_idx):
            if any(wanted in (said := numbers_of(text, thing)) and got not in said for thing in things):
                reason = "it used another number than the user had asked for"
                return Attribution(
                    "agent", reason, made.message_idx, f"{slot.name}: {got}; message {at}: {quoted(text)}"
                )
    return None


def chose_number(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the agent chose a number, or yes or no, for something of which neither side had spoken."""
    said = [text.lower() for side in ("user", "assistant") for _, text in facts.evidence.texts(side, made.message_idx)]
    for slot in deviation.slots:
        thing = slot.name.rpartition("_")[2][:_STEM]
        chosen = len(slot.got) == len(slot.wanted) == 1 and (type(slot.got[0]) is int or slot.got[0] in ("yes", "no"))
        if chosen and not any(thing in text for text in said):
            reason = "it chose a value for what it had not asked, and the user had not said"
            return Attribution("agent", reason, made.message_idx, f"{slot.name}: {slot.got[0]}")
    return None


def missed_extreme(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user wanted the cheapest or the most expensive, and a tool had shown a better one."""
    made, evidence = deviation.made, facts.evidence
    if made is None:
        return None
    extreme = _extreme(evidence, made)
    if extreme is None:
        return None
    for slot in deviation.slots:
        for got, wanted in zip(slot.got, slot.wanted, strict=False):
            fault = _dearer(extreme, made, ([got], evidence.price(got)), ([wanted], evidence.price(wanted)))
            if fault is not None:
                return fault
    return None


def missed_extreme_in_sum(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the user wanted the cheapest or the most expensive, and those of the reference are so together."""
    evidence = facts.evidence
    extreme = _extreme(evidence, made)
    for slot in deviation.slots if extreme is not None and deviation.wanted is not None else ():
        paid, best = (_cost(evidence, values, made) for values in (slot.got, slot.wanted))
        fault = _dearer(extreme, made, paid, best)
        if fault is not None:
            return fault
    return None


def _extreme(evidence: Evidence, made: Call) -> str | None:
    """Return whether the user wanted the cheapest or the most expensive when it last spoke of either."""
    wishes = [extreme_in(text) for _, text in evidence.texts("user", made.message_idx)]
    return next((wish for wish in reversed(wishes) if wish), None)


def _dearer(
    extreme: str | None, made: Call, taken: tuple[list[Any], float | None], better: tuple[list[Any], float | None]
) -> Attribution | None:
    (got, paid), (wanted, best) = taken, better
    if paid is None or best is None or not ((best < paid) if extreme == "least" else (best > paid)):
        return None
    wish = "cheapest" if extreme == "least" else "most expensive"
    reason = f"it did not take the {wish} one, which a tool had shown"
    text = "; ".join(f"{', '.join(map(str, values))}: {cost:g}" for values, cost in ((got, paid), (wanted, best)))
    return Attribution("agent", reason, made.message_idx, text)


def _cost(evidence: Evidence, values: Iterable[Any], made: Call) -> tuple[list[Any], float | None]:
    """Return the records among some values, and what they cost together in the class that a call takes."""
    costs = {value: evidence.cost(value, strings_in(made.call.arguments), made.message_idx) for value in values}
    known = {value: cost for value, cost in costs.items() if cost is not None}
    return [*known], sum(known.values()) if known else None


def invented(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the agent used a value that neither the user had said nor a tool had shown."""
    evidence = facts.evidence
    for slot in deviation.slots:
        for value in slot.got:
            if not isinstance(value, str) or len(value) < _SHORTEST or not any(map(str.isdigit, value)):
                continue
            forms = forms_of(value)
            said = any(mentions_any(text, forms) for _, text in evidence.texts("user", made.message_idx))
            if not (said or evidence.is_shown(value) or mentions_any(facts.policy, forms)):
                reason = "it used a value that neither the user had said nor a tool had shown"
                return Attribution("agent", reason, made.message_idx, f"{slot.name}: {value}")
    return None


def not_agreed(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the agent used a value that it had not named to the user, who had not asked for it."""
    evidence = facts.evidence
    for slot in deviation.slots:
        for value in slot.got:
            forms = evidence.forms(value, slot.wanted)
            before = made.message_idx
            if (
                forms
                and not evidence.is_heard(value, before, slot.wanted)
                and str(value) in evidence.records
                and evidence.texts("user", before)
                and not evidence.is_other_meant(value, before)
            ):
                reason = "it used a value that the user had neither asked for nor heard of"
                return Attribution("agent", reason, made.message_idx, f"{slot.name}: {value}")
    return None


def did_more(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if a call changes a whole record, and the agent had named only a part of it to the user."""
    evidence = facts.evidence
    if deviation.wanted is not None:
        return None
    records = [evidence.records[text] for text in strings_in(made.call.arguments) if text in evidence.records]
    parts = {name for record in records for field, names in record.items() if field == "items.name" for name in names}
    if len(records) != 1 or len(parts) < 2:
        return None
    asked = [text for _, text in evidence.texts("assistant", made.message_idx)]
    said = evidence.orders(made.call.name, made.message_idx)
    unnamed = [part for part in sorted(parts) if not any(mentions_any(text, short_names(part)) for text in asked)]
    if unnamed and len(unnamed) < len(parts) and not any(map(means_all, said)):
        reason = "its call was about more than it had named to the user"
        return Attribution("agent", reason, made.message_idx, f"not named: {', '.join(unnamed)}")
    return None


def unasked(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if a call is not part of the reference, and neither side has named anything of it before."""
    evidence = facts.evidence
    if deviation.wanted is not None:
        return None
    values = [value for slot in deviation.slots for value in slot.got if evidence.forms(value)]
    if not values or any(evidence.is_heard(value, made.message_idx) for value in values):
        return None
    return Attribution("agent", "it made a call that the user had not asked for", made.message_idx, deviation.text)


def broke_rule_that_counts(facts: Facts, _: Deviation, made: Call) -> Attribution | None:
    """Apply if the call that differs breaks a rule that is a factor of the reward."""
    return _broken_by(made, [breach for breach in facts.breaches if breach.rule in facts.counting_rules])


def broke_rule(facts: Facts, _: Deviation, made: Call) -> Attribution | None:
    """Apply if the call that differs breaks a rule of the policy."""
    return _broken_by(made, facts.breaches)


def _broken_by(made: Call, breaches: Iterable[RecordedBreach]) -> Attribution | None:
    for breach in breaches:
        call = breach.call
        if breach.message_idx == made.message_idx and call and call["arguments"] == made.call.arguments:
            return Attribution(
                "agent", f"it broke the rule {breach.rule!r} of the policy", made.message_idx, breach.evidence
            )
    return None


def broke_counted_rule(facts: Facts) -> Attribution | None:
    """Apply if a rule of the policy was broken that is a factor of the reward: whatever else is wrong, it fails."""
    info = facts.simulation.reward_info
    lost = [name for name, value in ((info and info.reward_breakdown) or {}).items() if value < 1]
    breach = next((breach for breach in facts.breaches if breach.rule in facts.counting_rules), None)
    if PolicyComponent.name not in lost or breach is None:
        return None
    return Attribution("agent", f"it broke the rule {breach.rule!r} of the policy", breach.message_idx, breach.evidence)


def forgot_sibling(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent made the same change to other records, and forgot one."""
    if deviation.wanted is None:
        return None
    others = [action for action in facts.reference if action.name == deviation.tool and action is not deviation.wanted]
    made = [
        call
        for call in facts.calls
        if any(call.call.name == action.name and call.call.arguments == action.arguments for action in others)
        and call.result is not None
        and not call.result.error
    ]
    ids = _own_ids(deviation, made)
    evidence = facts.evidence
    if (
        not made
        or not ids
        or any(mentions_any(text, ids) for _, text in evidence.texts("assistant", after=made[0].message_idx))
        or any(mentions_refusal(text) and mentions_any(text, ids) for _, text in evidence.texts("assistant"))
        or any(withdraws(text) for _, text in evidence.texts("user"))
        or evidence.declined() is not None
        or any(ids[0] in strings_in(call.call.arguments) for call in facts.calls if call.call.name in facts.mutating)
        or obstacle(facts, deviation) is not None
    ):
        return None
    after = evidence.texts("assistant", after=made[-1].message_idx)
    at = after[0][0] if after else made[-1].message_idx
    return Attribution("agent", "it forgot one of several records", at, ", ".join(ids))


def _own_ids(deviation: Deviation, others: list[Any]) -> list[str]:
    taken = {str(value) for call in others for value in call.call.arguments.values()}
    wanted = deviation.wanted
    values = [str(value) for value in wanted.arguments.values() if isinstance(value, str)] if wanted else []
    return [value for value in values if value not in taken and any(map(str.isdigit, value))][:1]


def never_asked_user(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user was to make a call that the agent has never asked it to make."""
    if not deviation.by_user or deviation.made is not None or facts.evidence.declined() is not None:
        return None
    phrases = facts.phrases(deviation.tool)
    own = [word for word in deviation.tool.lower().split("_") if len(word) > 2]
    for _, text in facts.evidence.texts("assistant"):
        heard = words(text)
        if all(word in heard for word in own) or any(follows(phrase, heard) for phrase in phrases):
            return None
    transfer = facts.transfer
    last = facts.evidence.texts("assistant")
    at = transfer.message_idx if transfer is not None else last[-1][0] if last else None
    return Attribution("agent", "it never asked the user to make a required call", at, deviation.text)


def transferred(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent handed the user over, who had not asked for it, instead of making a missing call."""
    transfer, evidence = facts.transfer, facts.evidence
    if transfer is None or deviation.made is not None:
        return None
    before = evidence.texts("user", transfer.message_idx)
    if any(asks_for_person(text) for _, text in before) or evidence.declined() is not None:
        return None
    offered = evidence.texts("assistant", before[-1][0])[-1:] if before else []
    if offered and is_yes(before[-1][1]) and mentions_any(offered[0][1], ["transfer", "human agent", "human"]):
        return None
    text = call_as_text(transfer.call.name, transfer.call.arguments)
    return Attribution("agent", HANDED_OVER, transfer.message_idx, text)
