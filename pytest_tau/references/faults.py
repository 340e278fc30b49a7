"""What a scenario says against its own reference, and wishes without an end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..language.mentions import has_word
from ..language.names import is_name_of_cost
from ..language.scenarios import (
    compared_in,
    names_of_all_own,
    names_one,
    qualifies_all,
    says_otherwise,
    settles_refusal,
    speaks_of_several,
    spending_limits,
    wants_only_if,
)
from ..language.tokens import stems_in
from ..policy.ways_round import load_ways_round
from ..text import one_line
from .alternatives import References
from .slots import is_write, records_of, slots_of
from .variants import replacements, similar, unasked_changes
from .wishes import Wishes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..environment import Change, Domain, Environment
    from ..models import Action, Task

_LEAST = 2
#: Characters of a sentence that are shown.
_SHOWN = 120


class Fault(NamedTuple):
    """What a scenario leaves open, or says against its reference.

    Attributes:
        kind: The name of the check.
        text: What was found.
        proof: What shows it.
        change: What to write instead.
    """

    kind: str
    text: str
    proof: str
    change: str


def faults(task: Task, domain: Domain) -> list[Fault]:
    """Return the faults of a task's scenario that are seen without a conversation."""
    if not domain.spec.agent_db.cheap_to_fork:
        return []
    wishes, reference = Wishes(task), References(task, domain)
    actions = [*(task.criteria.actions or [])]
    writes = [(position, action) for position, action in enumerate(actions) if is_write(action, reference.after)]
    return [
        *_replaced(task, domain, wishes),
        *_named_twice(task, domain, wishes),
        *_wider_word(task, domain, wishes),
        *_over_budget(writes, reference, wishes),
        *_one_of_several(writes, wishes),
        *_not_all(writes, reference, wishes),
        *_without_else(wishes),
        *_ways_round(actions, domain, reference, wishes),
    ]


def _replaced(task: Task, domain: Domain, wishes: Wishes) -> Iterator[Fault]:
    """Check ``unasked-change`` and ``vague-wish``: an option changes without a word; "similar" fits several."""
    for replacement in replacements(task, domain):
        slot = replacement.slot
        name = f"action {slot.position} ({slot.action.name}): {slot.path}"
        what = slot.group.owner.get("name", slot.value)
        if silent := unasked_changes(replacement, wishes):
            changed = replacement.changed()
            shown = ", ".join(f"{option} {changed[option][0]!r} to {changed[option][1]!r}" for option in silent)
            text = f"{name}: the {what} changes in what no word of the scenario is about: {shown}"
            change = f"say that the {' and the '.join(silent)} may change, or to what"
            yield Fault("unasked-change", text, f"{replacement.old} is replaced by {slot.value}", change)
        elif others := similar(replacement, wishes):
            text = f"{name}: a similar {what}: {slot.value} and {' and '.join(others)} have all that the scenario names"
            change = "say 'the same' with what differs, or name the other options"
            yield Fault("vague-wish", text, f"all of these are available: {', '.join([slot.value, *others])}", change)


def _named_twice(task: Task, domain: Domain, wishes: Wishes) -> Iterator[Fault]:
    """Check ``two-values``: two values of a slot are named, and another one in the sentence about the call."""
    for slot in slots_of(task, domain):
        told = wishes.named(slot) if slot.is_enumeration and not slot.group.is_of_records else []
        if slot.value not in told or len(told) < _LEAST:
            continue
        verb = stems_in(slot.action.name.partition("_")[0])
        asking = [sentence for sentence in wishes.sentences if verb & stems_in(sentence)]
        asked = {value for sentence in asking for value in wishes.named(slot, sentence)}
        if asked and slot.value not in asked:
            text = (
                f"action {slot.position} ({slot.action.name}): {slot.path} {slot.value!r}: the scenario also names "
                f"{' and '.join(sorted(map(repr, asked)))}, in the sentence about this call"
            )
            proof = f"no sentence with {slot.action.name.partition('_')[0]!r} has {slot.value!r}"
            yield Fault("two-values", text, proof, f"say {slot.value!r} where the call is asked for")


def _wider_word(task: Task, domain: Domain, wishes: Wishes) -> Iterator[Fault]:
    """Check ``two-values``: a comparison over a word that is part of the names of two values."""
    for slot in slots_of(task, domain):
        own = slot.value.replace("_", " ").lower()
        spoken = [value.replace("_", " ").lower() for value in slot.others]
        wider = [words for words in spoken if has_word(words, own)]
        compared = compared_in(wishes.text, own)
        if slot.is_enumeration and wider and compared and not any(words in wishes.text for words in wider):
            text = f"action {slot.position} ({slot.action.name}): {compared!r} may also mean {wider[0]!r}"
            proof = f"{own!r} and {wider[0]!r} are values of {slot.path}"
            yield Fault("two-values", text, proof, f"say whether {wider[0]!r} is meant as well")
            return


def _over_budget(writes: list[tuple[int, Action]], reference: References, wishes: Wishes) -> Iterator[Fault]:
    """Check ``over-budget``: a write costs more than the only limit that the scenario has."""
    limits = spending_limits(wishes.text)
    if len(limits) != 1:
        return
    limit = limits.pop()
    states = [*reference.before, reference.after]
    costs = {position: _cost(states[position], states[position + 1]) for position, _ in writes}
    for position, action in writes:
        # Another write of the same record may pay back, such as a change after an upgrade.
        back = sum(min(costs[place], 0) for place, other in writes if place != position and _share(action, other))
        if (cost := costs[position] + back) > limit:
            text = f"action {position} ({action.name}) costs ${cost:.2f}, and the scenario allows ${limit:g}"
            proof = f"the state after the call has ${cost:.2f} more"
            yield Fault("over-budget", text, proof, "correct the limit, or say what it is for")


def _share(one: Action, other: Action) -> bool:
    """Return whether two calls have a text in common, such as the id of a record."""
    return any(isinstance(value, str) and value in other.arguments.values() for value in one.arguments.values())


def _cost(before: Environment, after: Environment) -> float:
    """Return the amounts in what a write adds; of one that adds none, by how much it changes those that there are."""
    changes = before.agent_db.changes(after.agent_db)
    added = [change for change in changes if change.missing == "expected" and any(_amounts_in(change, change.got))]
    return sum(
        sum(_amounts_in(change, change.got)) - sum(_amounts_in(change, change.expected)) for change in added or changes
    )


def _amounts_in(change: Change, value: Any) -> Iterator[float]:
    return _amounts({change.path.rpartition("/")[2]: value})


def _amounts(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, int | float) and not isinstance(part, bool) and is_name_of_cost(name):
                yield -part if value.get("transaction_type") == "refund" else part
            else:
                yield from _amounts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _amounts(part)


def _one_of_several(writes: list[tuple[int, Action]], wishes: Wishes) -> Iterator[Fault]:
    """Check ``one-of-several``: the scenario names one record, and the reference writes to several with one tool."""
    by_tool: dict[tuple[str, str], list[str]] = {}
    for _, action in writes:
        for name, value in action.arguments.items():
            if name.endswith("_id") and isinstance(value, str):
                known = by_tool.setdefault((action.name, name), [])
                known += [value] if value not in known else []
    for (tool, name), values in by_tool.items():
        noun = name.removesuffix("_id")
        verb = stems_in(tool.partition("_")[0])
        asked = "\n".join(sentence for sentence in wishes.sentences if verb & stems_in(sentence))
        single = names_one(asked, noun)
        if len(values) > 1 and single and not speaks_of_several(wishes.text, noun):
            text = f"{single!r}, but the reference calls {tool} for {len(values)}: {', '.join(values)}"
            change = f"say that the {noun}s are several, or which"
            yield Fault("one-of-several", text, f"{name} has {len(values)} values in the reference", change)


def _not_all(writes: list[tuple[int, Action]], reference: References, wishes: Wishes) -> Iterator[Fault]:
    """Check ``not-all``: the user wants something for all of its records, some cannot, and nothing is said of these."""
    asked = [sentence for sentence in wishes.sentences if reference.has_records_named(names_of_all_own(sentence))]
    if not asked or any(map(qualifies_all, asked)) or any(map(settles_refusal, wishes.sentences)):
        return
    for position, action in writes:
        environment = reference.before[position]
        for name, value in action.arguments.items():
            own = _siblings(value, environment) if isinstance(value, str) and name.endswith("_id") else []
            written = {str(other.arguments.get(name)) for _, other in writes}
            if left := [record for record in own if record not in written]:
                text = f"{one_line(asked[0], _SHOWN)!r}: the reference leaves {', '.join(left)} as they are"
                change = "say what the user does where it is not possible, or which are meant"
                yield Fault(
                    "not-all", text, f"of {len(own)} of the user's, {len(left)} are not in the reference", change
                )
                return


def _siblings(value: str, environment: Environment) -> list[str]:
    """Return the list of ids in a record that has a value among others."""
    for _, record in records_of(environment):
        for part in record.values():
            if isinstance(part, list) and len(part) > 1 and value in part:
                return [*map(str, part)]
    return []


def _without_else(wishes: Wishes) -> Iterator[Fault]:
    """Check ``no-else``: the user wants something only under a condition, and nothing is said of the other case."""
    for sentence in wishes.sentences:
        if wants_only_if(sentence) and not says_otherwise(wishes.text):
            text = f"{one_line(sentence, _SHOWN)!r}: nothing says what the user does if not"
            yield Fault("no-else", text, "no sentence begins the other case", "say what the user wants otherwise")
            return


def _ways_round(actions: list[Action], domain: Domain, reference: References, wishes: Wishes) -> Iterator[Fault]:
    """Check ``way-round``: what the user wants is refused, and a way that the policy leaves is not settled."""
    start = reference.before[0] if reference.before else reference.after
    for way in load_ways_round(domain.spec):
        for record in way.found(start.agent_db, wishes.text, actions):
            text = f"{record}, and the reference refuses: the user may still {way.name}"
            yield Fault("way-round", text, record, f"say whether the user will {way.name}")
