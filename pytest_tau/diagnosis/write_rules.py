"""Rules about a write that differs from the reference, as rules about a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models import Attribution, Call
    from .deviations import Deviation
    from .facts import Facts


def at_first(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to the first write that is not as in the reference."""

    def apply(facts: Facts) -> Attribution | None:
        return _proved(facts, rule(facts, facts.deviations[0])) if facts.deviations else None

    return apply


def at_any(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any write that is not as in the reference, the first one that fits."""

    def apply(facts: Facts) -> Attribution | None:
        applied = (_proved(facts, rule(facts, deviation)) for deviation in facts.deviations)
        return next((fault for fault in applied if fault is not None), None)

    return apply


def at_call(rule: Callable[[Facts, Deviation, Call], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any call of the agent's that is not as in the reference."""

    def at(facts: Facts, deviation: Deviation) -> Attribution | None:
        made = deviation.made
        return None if made is None or deviation.by_user else rule(facts, deviation, made)

    return at_any(at)


def at_first_call(
    rule: Callable[[Facts, Deviation, Call], Attribution | None],
) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to the first write that is not as in the reference, if it is a call of the agent's."""

    def at(facts: Facts, deviation: Deviation) -> Attribution | None:
        made = deviation.made
        return None if made is None or deviation.by_user else rule(facts, deviation, made)

    return at_first(at)


def at_missing(rule: Callable[[Facts, Deviation], Attribution | None]) -> Callable[[Facts], Attribution | None]:
    """Return a rule that applies to any write of the agent's that is missing."""

    def at(facts: Facts, deviation: Deviation) -> Attribution | None:
        return rule(facts, deviation) if deviation.made is None and not deviation.by_user else None

    return at_any(at)


def _proved(facts: Facts, fault: Attribution | None) -> Attribution | None:
    """Return a fault; not of a user to whom its task says nothing, from which it could not depart."""
    return None if fault is not None and fault.party == "user" and not facts.evidence.has_scenario else fault
