"""The changes of each call of a conversation: the calls carried out again on a fresh environment of the task.

After each call the states of both sides are compared with those before it, the state with the one that the reference
actions leave, and the assertions are run; so a check can be shown at the message that met or broke it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...environment import same_result
from ...errors import TauError
from ...evaluation.components.db import check_db, same_state
from ...evaluation.components.env_assertion import check_env_assertions
from ...evaluation.evidence import StateChange, StateHistory, Turned
from ...regrade.recognition import worked_alone
from .json_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...environment import Change, Database, Domain, Environment
    from ...models import Call, EnvAssertion, Simulation, Task

#: Characters of a value that is shown.
_LONGEST_VALUE = 4000


def state_history(simulation: Simulation, task: Task, domain: Domain) -> StateHistory:
    """Carry out the calls of a conversation again, and look at what each of them changes.

    Args:
        simulation: The conversation.
        task: Its task; one object for all trials of it, as a domain makes the reference state of each object once.
        domain: Where it took place.
    """
    watch, environment = None, None
    try:
        solo = worked_alone(simulation, domain)
        environment = domain.environment(task, solo=solo, replay_history=False)
        criteria = task.criteria
        gated = criteria.actions is not None or criteria.env_assertions is not None
        watch = _Watch(environment, domain.shared_reference(task) if gated else None, task)
        for position, made in _carried_out(simulation.calls, len(simulation.messages) - 1):
            mutates = environment.mutates(made.call.name, made.call.requestor)
            if mutates and (note := watch.carry_out(position, made)) is not None:
                return StateHistory(watch.changes, note=note)
        environment.sync()
        # A verdict with the differences is shown with these.
        return watch.history(listed=bool(simulation.reward_info and simulation.reward_info.db_diff))
    except (TauError, RecursionError) as error:
        further, changes = ("Further changes", watch.changes) if watch else ("Changes", {})
        return StateHistory(changes, note=f"{further} to the environment are not shown: {error}")
    finally:
        if environment is not None:
            environment.close()


def _carried_out(calls: Iterable[Call], last: int) -> Iterator[tuple[int, Call]]:
    """Yield the calls that were carried out, each with its position.

    Args:
        calls: The calls of a conversation.
        last: The number of its last message, whose calls may not have been made.
    """
    for position, made in enumerate(calls):
        pending = made.result is None and made.message_idx == last
        unmade = made.result is not None and not made.result.executed
        if not pending and not unmade and made.call.malformed is None:
            yield position, made


class _Watch:
    """An environment, and what was seen of it so far."""

    def __init__(self, environment: Environment, reference: Environment | None, task: Task) -> None:
        self._environment, self._reference = environment, reference
        self._assertions: Sequence[EnvAssertion] = task.criteria.env_assertions or ()
        self.changes: dict[int, list[StateChange]] = {}
        self._other_results = 0
        self._database = Turned(self._equal(), None) if reference else None
        self._turned = [Turned(holds, None) for holds in self._held()]

    def carry_out(self, position: int, made: Call) -> str | None:
        """Make a call; returns why the replay cannot go on, if so."""
        environment, call = self._environment, made.call
        before = environment.fork()
        result = environment.call(call.name, call.arguments, call.requestor)
        recorded = made.result
        if recorded is not None and recorded.error != result.error:
            then, now = ("failed", "succeeds") if recorded.error else ("succeeded", "fails")
            return (
                f"From message {made.message_idx} on, changes to the environment are not shown: {call.name} {then} in "
                f"the conversation and {now} on the available data."
            )
        # The wording of an error does not depend on the data.
        shown = recorded is not None and recorded.fault is None and not result.error
        if shown and recorded is not None and not same_result(recorded.content, result.content):
            self._other_results += 1
        found = [each for pair in before.databases_with(environment) for each in _changes(*pair)]
        if found:
            self.changes[position] = found
            self._look(position)
        return None

    def history(self, *, listed: bool) -> StateHistory:
        """Return the whole history, without the differences from the reference if they are ``listed`` elsewhere."""
        note = None
        if self._other_results:
            many = self._other_results > 1
            results = f"{self._other_results} results" if many else "One result"
            note = (
                f"{results} of calls that change something {'are' if many else 'is'} not as recorded on the data at "
                "hand; the changes shown are those on this data."
            )
        wrong = self._database is not None and not self._database.holds
        differences = check_db(self._environment, self._reference).differences if wrong and not listed else []
        return StateHistory(self.changes, self._database, self._turned, differences, note)

    def _look(self, position: int) -> None:
        if self._database is not None and self._database.holds != (equal := self._equal()):
            self._database = Turned(equal, position)
        for number, (before, holds) in enumerate(zip(self._turned, self._held(), strict=True)):
            if before.holds != holds:
                self._turned[number] = Turned(holds, position)

    def _equal(self) -> bool:
        return same_state(self._environment, self._reference)

    def _held(self) -> list[bool]:
        return [check.met for check in check_env_assertions(self._assertions, self._environment)]


def _changes(side: str, before: Database, after: Database) -> list[StateChange]:
    return [_change(side, change) for change in before.changes(after)]


def _change(side: str, change: Change) -> StateChange:
    before = None if change.missing == "expected" else value_text(change.expected, _LONGEST_VALUE)
    after = None if change.missing == "got" else value_text(change.got, _LONGEST_VALUE)
    return StateChange(side, change.path, before, after)
