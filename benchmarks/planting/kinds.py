"""The kinds of faults, and the rules of ``tau lint`` that are about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import references, scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from .right import Fault, Right

_CALLS = ("action-raises", "bad-arguments", "gold-breaks-rule", "gold-fails")
#: What the texts of a user leave open.
_CHOICES = ("open-choice", "two-values", "vague-wish", "unasked-change")
_VALUES = ("fact-missing", "contradicted-fact")


class Kind(NamedTuple):
    """A kind of fault.

    Attributes:
        plant: Yields tasks with such a fault, of a right one.
        rules: The rules of ``tau lint`` that are about it.
        needs: What a task must have, so that a fault of this kind can be planted in it.
    """

    plant: Callable[[Right, Random], Iterator[Fault]]
    rules: tuple[str, ...]
    needs: str


KINDS: dict[str, Kind] = {
    "wrong-argument": Kind(
        references.wrong_argument,
        (*_CALLS, *_VALUES, *_CHOICES),
        "a write that is graded and succeeds with another value that is no id",
    ),
    "other-record": Kind(
        references.other_record,
        (*_CALLS, *_VALUES, *_CHOICES, "one-of-several", "not-all"),
        "a write that is graded and succeeds with the id of another record",
    ),
    "refused-write": Kind(
        references.refused_write,
        (*_CALLS, *_VALUES),
        "a write that is graded and fails with another value",
    ),
    "forbidden-write": Kind(
        references.forbidden_write,
        (*_CALLS, *_VALUES),
        "a right reference that writes nothing, and a tool whose verb is in the text and that succeeds all the same",
    ),
    "dropped-write": Kind(
        references.dropped_write,
        ("gold-breaks-rule", "gold-fails", "passes-without-agent", "communicate-not-done", "not-all"),
        "a write that is graded and that no other one needs",
    ),
    "other-amount": Kind(
        references.other_amount, ("communicate-unknown", "communicate-not-done"), "a required statement with a number"
    ),
    "wrong-assertion": Kind(references.wrong_assertion, ("gold-fails",), "a statement about the final state"),
    "dropped-choice": Kind(
        scenarios.dropped_choice,
        (*_CHOICES, "fact-missing"),
        "a sentence about a value that another one of the schema, or of the user's own records, can replace",
    ),
    "dropped-value": Kind(
        scenarios.dropped_value, (*_CHOICES, "fact-missing"), "a sentence with a value that no record near the task has"
    ),
    "two-variants": Kind(
        scenarios.two_variants, _CHOICES, "a record without its id in the text, and reads that show a second one"
    ),
    "budget": Kind(scenarios.budget, ("over-budget",), "one write that enters a price of at least 5, without refund"),
}
