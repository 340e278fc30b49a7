"""Rules of attribution about what the user has said, confirmed, or never asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language.agreement import is_plain_no, is_yes
from ..language.forms import forms_of, is_same
from ..language.ids import addresses_in
from ..language.mentions import mentions_any, short_names, user_ids_in
from ..language.numbers import numbers_in
from ..language.segments import sentences
from ..language.turns import asks_for_user_id, recommends, waits_for_yes, wants_answer
from ..language.wishes import disowns, means_all, means_everything, withdraws
from ..models import Attribution, strings_in
from ..models.notes import OTHER_WISH
from .deviations import leaves
from .facts import clipped, quoted
from .refusals import obstacle

if TYPE_CHECKING:
    from ..models import Call
    from .deviations import Deviation, Slot
    from .evidence import Evidence
    from .facts import Facts

#: Values of fewer characters are in a text by chance.
_SHORTEST = 4
_SEVERAL = 2
#: Numbers below this stand for many things.
_LEAST_NUMBER = 10


def asked_for_it(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has asked for each value that is not as in the reference, or chosen it."""
    made, evidence = deviation.made, facts.evidence
    differing = [
        (slot, value) for slot in deviation.slots for value in slot.got if not _is_as_in_scenario(evidence, slot, value)
    ]
    if made is None or deviation.by_user or facts.refused_after(made) is not None or facts.forbids(made):
        return None
    lacking = [value for slot in deviation.slots if not slot.got for value in slot.wanted]
    if any(str(value) in evidence.records for value in lacking) or _asked_for_both(facts, deviation):
        return None
    places = [_place_asked(evidence, slot, value, deviation) for slot, value in differing]
    last = max((place for place in places if place is not None), default=None)
    failed = facts.failed_before(deviation)
    # What the user says after a call that failed is an answer to that.
    if last is None or (failed is not None and failed.message_idx < last):
        return None
    repeated = facts.repeated(deviation)
    if repeated is not None and last < repeated.message_idx:  # it asked for the earlier one
        return None
    if any(_is_wish(facts, deviation, slot, value) for slot, value in differing):
        return None
    if deviation.wanted is None:
        heard = [evidence.mentioned("user", evidence.forms(value), before=made.message_idx) for _, value in differing]
        asked = None not in heard and _wants_no_more(evidence, deviation)
    else:
        known = zip(places, differing, strict=True)
        asked = all(place is not None or _contains(evidence, value, differing) for place, (_, value) in known)
    values = ", ".join(dict.fromkeys(str(value) for _, value in differing))
    what = "asked for another call" if deviation.wanted is None else "asked for other values"
    text = f"{clipped(values)}: {quoted(evidence.text(last))}"
    return Attribution("user", f"it {what} {OTHER_WISH}", last, text) if asked else None


def _is_as_in_scenario(evidence: Evidence, slot: Slot, value: Any) -> bool:
    """Return whether a value that differs is the reference's in another form, or what the scenario has in words."""
    if any(is_same(value, wanted) for wanted in slot.wanted):
        return True
    return bool(slot.wanted) and evidence.is_in_scenario(value, slot.wanted)


def _asked_for_both(facts: Facts, deviation: Deviation) -> bool:
    """Return whether a call is another one than that of the reference, and the user had asked for that one as well."""
    made, evidence = deviation.made, facts.evidence
    if made is None or len(deviation.slots) < _SEVERAL or not any(slot.wanted for slot in deviation.slots):
        return False
    wanted = [evidence.forms(value, slot.got) for slot in deviation.slots for value in slot.wanted]
    return all(evidence.mentioned("user", forms, before=made.message_idx) is not None for forms in wanted)


def _contains(evidence: Evidence, record: Any, differing: list[tuple[Slot, Any]]) -> bool:
    """Return whether one of the other values that differ is a part of a record."""
    parts = evidence.records.get(str(record), {}).get("items.name", frozenset())
    own = (evidence.records.get(str(value), {}).get("name", frozenset()) for _, value in differing if value != record)
    return any(parts & names for names in own)


def _is_wish(facts: Facts, deviation: Deviation, slot: Slot, value: Any) -> bool:
    """Return whether the scenario wants a tool's act done to what is too much, if only under a condition.

    A call on another record than that of the reference counts as too much. If the reference has no call of the tool,
    the scenario wants what is forbidden.
    """
    made, wanted, evidence = deviation.made, deviation.wanted, facts.evidence
    if made is None or value not in [text for text in strings_in(made.call.arguments) if _is_id(text)]:
        return False
    record = next((text for text in strings_in(made.call.arguments) if text in evidence.records), None)
    if slot.wanted and wanted is not None and record in [*strings_in(wanted.arguments)]:
        return False
    acts = evidence.orders_in(deviation.tool, evidence.scenario)
    done = any(action.name == deviation.tool for action in facts.reference)
    return bool(acts) and (not done or any(mentions_any(sentence, evidence.forms(value)) for sentence in acts))


def _place_asked(evidence: Evidence, slot: Slot, value: Any, deviation: Deviation) -> int | None:
    """Return the last message in which the user names a value for itself, or chooses it from several."""
    made = deviation.made
    assert made is not None, "only a call that was made has values"
    before = made.message_idx
    if [str(text) for text in leaves(made.call.arguments)].count(str(value)) > 1:
        return None  # said of another argument
    replaced = _replaced(evidence, slot, value, made)
    if any(_keeps(evidence, value, slot.wanted, old) for old in replaced):
        return None
    forms = evidence.forms(value, [*slot.wanted, *replaced])
    last = evidence.mentioned("user", forms, before=before, last=True)
    if last is None:
        return None
    other = [form for wanted in slot.wanted for form in evidence.forms(wanted, slot.got)]
    wanted_at = evidence.mentioned("user", other, before=before, last=True)
    if wanted_at is not None and wanted_at >= last:
        return None
    first = evidence.mentioned("user", forms, before=before)
    proposed = evidence.mentioned("assistant", forms, before=first)
    # A word for the other may be said of a third one: its id or price is not.
    surely = [form for form in other if any(map(str.isdigit, form))] or other
    offers = [text for _, text in evidence.texts("assistant", last) if mentions_any(text, forms)]
    chosen = any(mentions_any(text, surely) for text in offers) and not _is_recommended(offers[-1], forms, surely)
    return last if proposed is None or chosen else None


def _is_recommended(offer: str, forms: list[str], others: list[str]) -> bool:
    """Return whether the agent's last offer before a choice says that the chosen value is the right one."""
    return any(
        recommends(sentence) and mentions_any(sentence, forms) and not mentions_any(sentence, others)
        for sentence in sentences(offer)
    )


def _replaced(evidence: Evidence, slot: Slot, value: Any, made: Call) -> list[str]:
    """Return the records of a call that are of the same kind as a value of another argument: what it replaces."""
    names = evidence.records.get(str(value), {}).get("name")
    others = [argument for name, argument in made.call.arguments.items() if name != slot.name]
    return [text for text in strings_in(others) if names and evidence.records.get(text, {}).get("name") == names]


def _keeps(evidence: Evidence, value: Any, wanted: tuple[Any, ...], old: str) -> bool:
    """Return whether a record differs from that of the reference only in what the old one has as well."""
    own, other, before = (evidence.options(record) for record in (value, wanted[0] if wanted else None, old))
    differing = {field for field in own.keys() & other.keys() if own[field] != other[field]}
    return bool(differing) and all(own[field] == before.get(field) for field in differing)


def _wants_no_more(evidence: Evidence, deviation: Deviation) -> bool:
    """Return whether the user's order of a call that is too much is about the whole record."""
    made = deviation.made
    assert made is not None, "a call that is too much was made"
    orders = evidence.orders(made.call.name, made.message_idx)
    values = [str(value) for slot in deviation.slots for value in slot.got if str(value) in evidence.records]
    parts = {name for value in values for name in evidence.records[value].get("items.name", ())}
    named = len(parts) < _SEVERAL or any(
        means_all(order) or mentions_any(order, values) or all(mentions_any(order, short_names(part)) for part in parts)
        for order in orders
    )
    return bool(orders) and (
        named or len([value for slot in deviation.slots for value in slot.got if _is_id(value)]) > 1
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and any(map(str.isdigit, value))


def asked_for_less(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the scenario wants everything of a record, and the user has named some parts alone."""
    made, evidence = deviation.made, facts.evidence
    if made is None or deviation.by_user or not means_everything(evidence.scenario):
        return None
    said = evidence.texts("user", made.message_idx)
    left = [
        value for slot in deviation.slots if not slot.got for value in slot.wanted if str(value) in evidence.records
    ]
    if not left or any(means_everything(text) for _, text in said):
        return None
    if any(mentions_any(text, evidence.forms(value)) for value in left for _, text in said):
        return None
    at = [number for number, text in said if evidence.orders_in(made.call.name, text)]
    return (
        Attribution(
            "user", "it asked for less than its scenario does", at[-1] if at else said[-1][0], ", ".join(map(str, left))
        )
        if said
        else None
    )


def never_asked(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has never said a value that its scenario gives, and that the reference's call needs."""
    evidence = facts.evidence
    needed = [value for slot in deviation.slots for value in slot.wanted if _is_given(evidence, value)]
    unsaid = [value for value in needed if not _is_said_by(evidence, "user", value)]
    # What the agent has named or used itself the user need not say.
    used = [argument for call in facts.calls for argument in strings_in(call.call.arguments)]
    unsaid = [value for value in unsaid if str(value) not in used]
    unsaid = [value for value in unsaid if not _is_said_by(evidence, "assistant", value)]
    if not unsaid or deviation.by_user or (deviation.made is None and not _could_say(facts)):
        return None
    before = deviation.made.message_idx if deviation.made else None
    given_up = [number for number, text in evidence.texts("user", before) if withdraws(text)]
    last = [number for number, _ in evidence.texts("user", before)]
    at = next(reversed(given_up or last), None)
    return Attribution(
        "user", "it never said what its scenario asks for", at, ", ".join(dict.fromkeys(map(str, unsaid)))
    )


def _is_said_by(evidence: Evidence, side: str, value: Any) -> bool:
    return any(mentions_any(text, forms_of(value)) for _, text in evidence.texts(side))


def _could_say(facts: Facts) -> bool:
    """Return whether the user has left itself, after a question: who is handed over or cut off cannot say more."""
    left = facts.simulation.termination_reason == "user_stop" and facts.transfer is None
    return left and any(wants_answer(text) for _, text in facts.evidence.texts("assistant", after=0))


def asked_too_late(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has asked for what the reference has only after the agent's call."""
    made, evidence = deviation.made, facts.evidence
    if made is None or deviation.by_user or any(slot.name == deviation.record for slot in deviation.slots):
        return None  # what is done to another record may follow as the next request
    for slot in deviation.slots:
        heard = all(evidence.is_heard(value, made.message_idx) for value in slot.got)
        for value in slot.wanted if heard else ():
            forms = evidence.forms(value, slot.got) if str(value) in evidence.records else []
            at = evidence.mentioned("user", forms)
            if at is not None and at > made.message_idx and mentions_any(evidence.scenario, forms):
                before = evidence.texts("user", made.message_idx)
                return Attribution(
                    "user",
                    "it asked for it only after the call",
                    before[-1][0] if before else at,
                    quoted(evidence.text(at)),
                )
    return None


def _is_given(evidence: Evidence, value: Any) -> bool:
    text = str(value)
    return len(text) >= _SHORTEST and any(map(str.isdigit, text)) and mentions_any(evidence.scenario, forms_of(value))


def gave_up(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user has withdrawn a request that the agent was about to fulfil."""
    evidence = facts.evidence
    if deviation.made is not None or deviation.by_user or obstacle(facts, deviation) is not None:
        return None
    for number, text in reversed(evidence.texts("user")):
        asked = evidence.texts("assistant", number)
        if not (withdraws(text) and asked and waits_for_yes(asked[-1][1])) or is_yes(text):
            continue
        if facts.names(asked[-1][1], deviation):
            return Attribution("user", "it withdrew a request of its scenario", number, quoted(text))
    return None


def declined(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the user's last answer to a request for a yes was no, and the request named a missing call."""
    evidence = facts.evidence
    answered = [number for number, _ in evidence.texts("user") if _answers_proposal(facts, number, deviation)]
    if deviation.made is not None or deviation.by_user or not answered:
        return None
    refused = obstacle(facts, deviation)
    if not is_plain_no(evidence.text(answered[-1])) or (refused is not None and refused > answered[-1]):
        return None
    return Attribution(
        "user", "it declined what its scenario asks for", answered[-1], quoted(evidence.text(answered[-1]))
    )


def _answers_proposal(facts: Facts, number: int, deviation: Deviation) -> bool:
    """Return whether the agent's last words before a message ask for a yes to a missing call."""
    asked = facts.evidence.texts("assistant", number)[-1:]
    return any(
        waits_for_yes(text) and facts.names(text, deviation) and not facts.names_others(text, deviation)
        for _, text in asked
    )


def invented(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if a call failed with an id that the user had made up.

    The right record was never found, or the call that failed is the missing one but for that id.
    """
    evidence = facts.evidence
    if deviation.made is not None or (deviation.by_user and not _is_unknown(facts)):
        return None
    wanted = {text for text in strings_in(deviation.wanted.arguments) if _is_id(text)} if deviation.wanted else set()
    seen = {text for call in facts.calls if not facts.has_failed(call) for text in strings_in(call.call.arguments)}
    for call in facts.calls:
        for text in strings_in(call.call.arguments) if facts.has_failed(call) else ():
            if (
                (wanted & seen and not _is_all_that_differs(text, call, deviation))
                or not _is_id(text)
                or len(text) < _SHORTEST
                or mentions_any(evidence.scenario, forms_of(text))
                or evidence.is_shown(text)
            ):
                continue
            if never_looked_up(facts):
                return None
            at = evidence.mentioned("user", [text], before=call.message_idx)
            of_agent = evidence.mentioned("assistant", [text], before=at)
            if at is not None and of_agent is None:
                return Attribution("user", "it named something that its scenario does not have", at, text)
    return None


def _is_all_that_differs(text: str, call: Call, deviation: Deviation) -> bool:
    """Return whether a call is the missing one but for a text."""
    wanted = deviation.wanted
    own = {name: value for name, value in call.call.arguments.items() if value != text}
    return (
        wanted is not None
        and call.call.name == deviation.tool
        and len(own) < len(call.call.arguments)
        and own == {name: value for name, value in wanted.arguments.items() if name in own}
    )


def disowned(facts: Facts, deviation: Deviation) -> Attribution | None:
    """Apply if the agent had found the record of a missing call, and the user said that it is not the one it means.

    What its scenario says, such as a date, the user may miss in a record.
    """
    evidence = facts.evidence
    if deviation.made is not None or deviation.by_user:
        return None
    refused = obstacle(facts, deviation)
    wanted = [value for slot in deviation.slots if slot.name == deviation.record for value in slot.wanted]
    records = [value for value in wanted if _is_id(value) and value in evidence.records]
    for number, text in evidence.texts("user", refused):
        found = any(mentions_any(said, records) for _, said in evidence.texts("assistant", number)[-1:])
        missed = [number.text for number in numbers_in(text) if number.value >= _LEAST_NUMBER]
        if found and disowns(text) and not mentions_any(evidence.scenario, missed):
            return Attribution("user", "it did not recognise the record of its task", number, quoted(text))
    return None


def never_looked_up(facts: Facts) -> list[str]:
    """Return the e-mail addresses that the scenario gives, the user has said, and no call of the agent's has."""
    used = {text for call in facts.calls for text in strings_in(call.call.arguments)}
    said = [text for _, text in facts.evidence.texts("user")]
    given = addresses_in(facts.evidence.scenario)
    return [each for each in given if each not in used and any(mentions_any(text, [each]) for text in said)]


def withheld(facts: Facts) -> Attribution | None:
    """Apply if the agent never found who the user is, who has not said an address or an id that its scenario gives."""
    evidence = facts.evidence
    unsaid = [detail for detail in _sought(facts) if not _is_said_by(evidence, "user", detail)]
    if not unsaid or never_looked_up(facts):
        return None
    last = evidence.texts("user")
    return Attribution(
        "user", "it did not say what its scenario gives it to be found by", last[-1][0] if last else None, unsaid[0]
    )


def _is_unknown(facts: Facts) -> bool:
    """Return whether the agent has looked for something, and always in vain."""
    return bool(looked := _looked(facts)) and all(map(facts.has_failed, looked))


def _looked(facts: Facts) -> list[Call]:
    return [call for call in facts.domain_calls if call.result is not None and call != facts.transfer]


def _sought(facts: Facts) -> list[str]:
    """Return what the scenario gives to an agent that looked for the user in vain, or that asked for its id."""
    evidence = facts.evidence
    looked = _looked(facts)
    if _is_unknown(facts):
        return [*addresses_in(evidence.scenario), *_of_look_ups(facts, looked)]
    asked = any(asks_for_user_id(text) for _, text in evidence.texts("assistant"))
    return user_ids_in(evidence.scenario) if asked and not evidence.records else []


def _of_look_ups(facts: Facts, failed: list[Call]) -> list[str]:
    """Return what the scenario gives, and the reference uses with a tool of a call that failed.

    The user could have said it: it has spoken since the last call failed that was another one than those before.
    """
    last = next(call for call in failed if call.call.arguments == failed[-1].call.arguments)
    if not any(text.strip() for _, text in facts.evidence.texts("user", after=last.message_idx)):
        return []
    tools = {call.call.name for call in failed}
    actions = (facts.task and facts.task.criteria.actions) or ()
    values = [value for action in actions if action.name in tools for value in strings_in(action.arguments)]
    return [value for value in values if _is_given(facts.evidence, value)]
