"""Rules of attribution about what a user's scenario says and the user did not: a wish taken back, a condition."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..language.mentions import mentions, mentions_any, short_names
from ..language.segments import sentences
from ..language.tokens import plain_words
from ..language.wishes import extreme_in, numbers_of, reconsidered, refused_in, speaks_of_price, withdraws
from ..models import Attribution, strings_in
from .facts import quoted
from .heading import refusals

if TYPE_CHECKING:
    from ..models import Call
    from .deviations import Deviation, Slot
    from .evidence import Evidence
    from .facts import Facts

#: Words for a thing begin alike: a bag and baggage.
_STEM = 3
#: Shorter words do not show what is refused: card does, and all does not.
_LETTERS = 4


def kept_wish(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the user agreed to what its scenario takes back: "if asked to confirm, only exchange the lamp"."""
    evidence = facts.evidence
    agreed = evidence.agreement(made.message_idx)
    said = [text for _, text in evidence.texts("user", made.message_idx)]
    if agreed is None or facts.forbids(made) or any(reconsidered(text) or withdraws(text) for text in said):
        return None
    taken_back = _part_taken_back if deviation.wanted is not None else _call_taken_back
    sentence = taken_back(evidence, deviation, made)
    if sentence is None or not _is_refused(evidence, sentence, agreed[1]):
        return None
    return Attribution("user", "it agreed to what its scenario takes back", agreed[1], quoted(sentence))


def _is_refused(evidence: Evidence, sentence: str, before: int) -> bool:
    """Return whether the agent has refused what the sentence has as its condition, if it has one."""
    condition = refused_in(sentence)
    if condition is None:
        return True
    texts = [refused for _, text in evidence.texts("assistant", before) for refused in refusals(text)]
    stems = _stems(condition)
    return any(not stems or stems & _stems(text) for text in texts)


def _stems(text: str) -> set[str]:
    return {word[:_LETTERS] for word in plain_words(text) if len(word) >= _LETTERS}


def _part_taken_back(evidence: Evidence, deviation: Deviation, made: Call) -> str | None:
    """Return the sentence in which the scenario is content with the parts of a call that the reference has as well."""
    extra = [value for slot in deviation.slots if len(slot.got) > len(slot.wanted) for value in slot.got]
    parts = [value for value in extra if _own_names(evidence, value)]
    kept = [
        text
        for text in strings_in(deviation.wanted.arguments if deviation.wanted else {})
        if text in {*strings_in(made.call.arguments)} and _own_names(evidence, text)
    ]
    lacking = [value for slot in deviation.slots if len(slot.got) <= len(slot.wanted) for value in slot.wanted]
    if not parts or not kept or lacking:
        return None
    for sentence in sentences(evidence.scenario):
        rest = reconsidered(sentence)
        names_kept = rest and any(mentions_any(rest, evidence.forms(value, parts)) for value in kept)
        if names_kept and not any(mentions_any(rest, evidence.forms(value, kept)) for value in parts):
            return sentence
    return None


def _call_taken_back(evidence: Evidence, deviation: Deviation, made: Call) -> str | None:
    """Return the sentence in which the scenario gives up the act of a call that the reference does not have."""
    values = [text for text in strings_in(made.call.arguments) if text in evidence.records]
    forms = [form for value in values for form in evidence.forms(value)]
    for before, sentence in pairwise(["", *sentences(evidence.scenario)]):
        about = evidence.orders_in(deviation.tool, sentence) or mentions_any(sentence, forms)
        if reconsidered(sentence) and (
            about or (mentions_any(before, forms) and not _names_records(evidence, sentence))
        ):
            return sentence
    return None


def _names_records(evidence: Evidence, text: str) -> bool:
    return mentions_any(text, evidence.records)


def _own_names(evidence: Evidence, value: Any) -> bool:
    return "name" in evidence.records.get(str(value), {})


def kept_silent(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the scenario has words for each value of the reference, and the user said none and agreed to others."""
    agreed = facts.evidence.agreement(made.message_idx)
    if agreed is None or deviation.wanted is None or facts.forbids(made):
        return None
    found = [_unsaid(facts.evidence, slot, made) for slot in deviation.slots]
    if not found or not all(found):
        return None
    return Attribution("user", "it never said what its scenario asks for", agreed[1], "; ".join(filter(None, found)))


def _unsaid(evidence: Evidence, slot: Slot, made: Call) -> str | None:
    """Return the words of the scenario for the values of an argument that the user has not said, nor any for others."""
    if not slot.got or len(slot.got) != len(slot.wanted):
        return None
    left, words = list(slot.wanted), []
    for got in slot.got:
        wanted = next((value for value in left if _is_like(evidence, got, value)), None)
        if wanted is None:
            return None
        left.remove(wanted)
        word = _count_unsaid(evidence, slot, wanted, made) if type(wanted) is int else None
        word = word or _option_unsaid(evidence, got, wanted, made)
        if not word:
            return None
        words.append(word)
    return ", ".join(words)


def _is_like(evidence: Evidence, one: Any, other: Any) -> bool:
    """Return whether two values are numbers, or records with the same options."""
    if type(one) is int and type(other) is int:
        return True
    options = [evidence.options(value).keys() for value in (one, other)]
    return bool(options[0]) and options[0] == options[1]


def _said(evidence: Evidence, made: Call) -> list[str]:
    return [text for _, text in evidence.texts("user", made.message_idx)]


def _count_unsaid(evidence: Evidence, slot: Slot, wanted: int, made: Call) -> str | None:
    """Return a number of things that the scenario has, if the user has not spoken of these at all."""
    for thing in (word[:_STEM] for word in slot.name.split("_") if len(word) > _STEM):
        spoken_of = any(thing in text.lower() for text in _said(evidence, made))
        if not spoken_of and numbers_of(evidence.scenario, thing) == {wanted}:
            return f"{slot.name}: {wanted}"
    return None


def _option_unsaid(evidence: Evidence, got: Any, wanted: Any, made: Call) -> str | None:
    """Return an option, or the price, of which the scenario has a word and the user has not spoken at all."""
    own, other, said = evidence.options(wanted), evidence.options(got), _said(evidence, made)
    names = _names_of_kind(evidence, wanted, made)
    about = [sentence for sentence in sentences(evidence.scenario) if mentions_any(sentence, names)]
    for field in own:
        word = field.rpartition(".")[2]
        texts = [text for text in own[field] if len(text) > 1]
        heard = any(mentions_any(text, [word, *own[field], *other[field]]) for text in said)
        if own[field] != other[field] and not heard and any(mentions_any(text, [word, *texts]) for text in about):
            return word
    extreme = extreme_in(evidence.scenario)
    prices = [evidence.price(value) for value in (got, wanted)]
    if extreme is None or None in prices or any(speaks_of_price(text) for text in said):
        return None
    paid, best = (price or 0.0 for price in prices)
    return "price" if ((best < paid) if extreme == "least" else (best > paid)) else None


def _names_of_kind(evidence: Evidence, value: Any, made: Call) -> list[str]:
    """Return how people name the record of a call that a value replaces: one with the same options, and a name."""
    kind = evidence.options(value).keys()
    records = [evidence.records[text] for text in strings_in(made.call.arguments) if text in evidence.records]
    same = [record for record in records if {field for field in record if "." in field} == set(kind)]
    return [form for record in same for name in record.get("name", ()) for form in short_names(name)]


def chose_record(facts: Facts, deviation: Deviation, made: Call) -> Attribution | None:
    """Apply if the user chose another record by its id, when the agent had named both."""
    evidence = facts.evidence
    for slot in deviation.slots:
        got, wanted = slot.got, slot.wanted
        if len(got) != 1 or len(wanted) != 1 or not _is_listed(evidence, got[0], wanted[0]):
            continue
        chosen = [number for number, text in evidence.texts("user", made.message_idx) if mentions(text, got[0])]
        right = [number for number, text in evidence.texts("user", made.message_idx) if mentions(text, wanted[0])]
        offer = evidence.texts("assistant", chosen[0])[-1:] if chosen and not right else []
        if offer and mentions(offer[0][1], got[0]) and mentions(offer[0][1], wanted[0]):
            text = f"{got[0]}: {quoted(evidence.text(chosen[0]))}"
            return Attribution("user", "it chose another record than its task has", chosen[0], text)
    return None


def _is_listed(evidence: Evidence, *values: Any) -> bool:
    return all(isinstance(value, str) and value in evidence.listed for value in values)
