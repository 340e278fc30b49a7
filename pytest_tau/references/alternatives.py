"""Admissible alternatives: other values of a slot with which the reference can be carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..evaluation.components.env_assertion import check_env_assertions
from .arguments import with_other_id
from .rules import breaches_in, carried_out
from .slots import addressed, fields_of, records_listed, slots_of
from .twins import twins
from .wishes import Wishes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain, Environment
    from ..models import Action, Task
    from .slots import Slot

#: The components for which it matters in which state a conversation ends, or with which calls.
_GRADES_STATES = {"DB", "ACTION"}
#: As many alternatives of a slot are tried.
_MOST = 8


class OpenChoice(NamedTuple):
    """A slot with an alternative that neither the scenario nor the policy excludes.

    Attributes:
        action: The position of the reference action.
        name: Its tool.
        argument: The path of the argument, such as ``payment_method_id``.
        value: The value that the reference has.
        alternatives: The others, each admissible.
        is_present: Whether the record that is written has the value already.
        why: What remains to choose from, and which words would close it.
    """

    action: int
    name: str
    argument: str
    value: str | int
    alternatives: tuple[str | int, ...]
    is_present: bool
    why: str


class References:
    """Carries out the reference of a task, with another value of a slot where one is given."""

    def __init__(self, task: Task, domain: Domain) -> None:
        self._task, self._domain = task, domain
        self._actions: Sequence[Action] = task.criteria.actions or []
        self.before: list[Environment] = []
        self.after = domain.environment(task)
        self._failing = set()
        for position, action in enumerate(self._actions):
            self.before.append(self.after.fork())
            if self.after.call(action.name, action.arguments, action.requestor).error:
                self._failing.add(position)

    def admits(self, slot: Slot, value: str) -> bool:
        """Return whether the write succeeds with another value, the rest succeeds, and no rule of calls is broken.

        Nor does it count if it leads to the same state.
        """
        changed = slot.action.model_copy(update={"arguments": slot.filled(value)})
        return self._admit(slot.position, [changed, *self._actions[slot.position + 1 :]])

    def admits_throughout(self, value: str, other: str) -> bool:
        """Return the same for another id in each action that has a value."""
        changes = [{"arguments": with_other_id(action.arguments, value, other)} for action in self._actions]
        pairs = zip(self._actions, changes, strict=True)
        return self._admit(0, [action.model_copy(update=change) for action, change in pairs])

    def _admit(self, begin: int, rest: Sequence[Action]) -> bool:
        environment = self.before[begin].fork()
        for position, action in enumerate(rest, begin):
            failed = environment.call(action.name, action.arguments, action.requestor).error
            if failed and position not in self._failing:
                return False
        actions = [*self._actions[:begin], *rest]
        return self._is_worse(environment) and self._broken(actions) <= self._broken(self._actions)

    def _is_worse(self, environment: Environment) -> bool:
        """Return whether a final state is another one, or is without what the task states where nothing else counts."""
        if not _GRADES_STATES.isdisjoint(self._task.criteria.reward_basis):
            return not environment.equals(self.after)
        stated = self._task.criteria.env_assertions or []
        met = check_env_assertions(stated, self.after)
        return all(check.met for check in met) and not all(
            check.met for check in check_env_assertions(stated, environment)
        )

    def has_records_named(self, names: Sequence[str]) -> bool:
        """Return whether a name is that of a field of the domain's records."""
        return not fields_of(self._domain).isdisjoint(names)

    def present(self, slot: Slot) -> bool:
        """Return whether a record that the write addresses has the value already."""
        records = addressed(slot.action.arguments, self.before[slot.position])
        return any(slot.value in _texts(record) for record in records.values() if record != slot.group.owner)

    def _broken(self, actions: Sequence[Action]) -> set[str]:
        """Return the rules of calls that actions break."""
        messages = carried_out(self._task, self._domain, actions)
        return {breach.rule for breach in breaches_in(messages, self._task, self._domain)}


def open_choices(task: Task, domain: Domain) -> list[OpenChoice]:
    """Return the slots of a reference with an admissible alternative, and no word of the scenario about them."""
    return [*_open(task, domain)] if domain.spec.agent_db.cheap_to_fork else []


def _open(task: Task, domain: Domain) -> Iterator[OpenChoice]:
    wishes, reference, listed = Wishes(task), None, set()
    told = Wishes(task, with_ticket=False)  # who the user is has to be known to the user itself
    unsaid = [slot for slot in slots_of(task, domain) if not wishes.is_about(slot)]
    for slot in [*unsaid, *(slot for slot in records_listed(task, domain) if not told.is_about_record(slot))]:
        key = (slot.argument, slot.value)
        if key in listed or not slot.others or is_replacement(slot):
            continue
        reference = reference or References(task, domain)
        present = reference.present(slot)
        if present and slot.is_enumeration:
            continue  # what is not mentioned stays
        others = [value for value in slot.others[:_MOST] if not _is_accepted(task, slot, value)]
        fitting = tuple(value for value in others if reference.admits(slot, value))
        if fitting:
            listed.add(key)
            values = " and ".join([slot.value, *fitting])
            why = f"{values} fit; no word of the scenario is about the {_subject(slot)}, nor excludes one of them"
            alternatives = tuple(map(slot.typed, fitting))
            value = slot.typed(slot.value)
            yield OpenChoice(slot.position, slot.action.name, slot.path, value, alternatives, present, why)
    yield from _of_twins(task, domain, wishes, listed)


def _of_twins(task: Task, domain: Domain, wishes: Wishes, listed: set[tuple[str, str]]) -> Iterator[OpenChoice]:
    """Yield the records that have a twin: all words of the scenario fit both."""
    reference = None
    for slot, others in twins(task, domain, wishes):
        if (slot.argument, slot.value) in listed:
            continue
        reference = reference or References(task, domain)
        free = [other for other in others[:_MOST] if not _is_accepted(task, slot, other)]
        fitting = tuple(other for other in free if reference.admits_throughout(slot.value, other))
        if fitting:
            listed.add((slot.argument, slot.value))
            values = " and ".join([slot.value, *fitting])
            why = f"{values} fit: they differ in nothing but ids, of which the scenario has none"
            yield OpenChoice(slot.position, slot.action.name, slot.path, slot.value, fitting, False, why)


def _is_accepted(task: Task, slot: Slot, value: str) -> bool:
    """Return whether another right outcome of the task makes the call of a slot with a value."""
    calls = [action for outcome in task.criteria.outcomes or [] for action in outcome.actions]
    wanted = slot.filled(value)
    return any(action.name == slot.action.name and action.arguments == wanted for action in calls)


def is_replacement(slot: Slot) -> bool:
    """Return whether a slot takes the place of another argument of the same group, such as a new item of an old one."""
    others = {name: value for name, value in slot.action.arguments.items() if name != slot.path.partition(".")[0]}
    return not _texts(others).isdisjoint(slot.group.members)


def _subject(slot: Slot) -> str:
    return " ".join(part for part in slot.argument.split("_") if part not in ("id", "ids"))


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {text for part in parts for text in _texts(part)}
