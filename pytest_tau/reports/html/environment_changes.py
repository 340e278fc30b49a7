"""The changes of each call of a conversation: the calls carried out again on a fresh environment of the task.

After each call the states of both sides are compared with those before it, the state with the one that the reference
actions leave, and the assertions are run; so a check can be shown at the message that met or broke it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...environment import canonical, same_result, shared_reference
from ...errors import TauError, ToolServerError
from ...evaluation.components.db import check_db, same_state
from ...evaluation.components.env_assertion import check_env_assertions
from ...evaluation.evidence import StateChange, StateHistory, Turned
from ...models import calls_in
from ...regrade.recognition import worked_alone
from .json_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...environment import Change, Database, Domain, Environment
    from ...models import Call, EnvAssertion, Simulation, Task

#: Characters of a value that is shown.
_LONGEST_VALUE = 4000
#: The tasks whose histories are kept: trials of a task are near each other.
_MOST_TASKS = 100


class StateHistories:
    """Returns the histories of conversations, each found once for all trials of a task that make the same changes.

    Trials of a task often do: those that pass have to. A call is the same with the same arguments and the same result.
    """

    def __init__(self) -> None:
        self._tasks: dict[tuple[int, int | None, str, bool], _OfTask] = {}
        self._declared: dict[tuple[str, bool], Environment] = {}

    def of(
        self, simulation: Simulation, calls: Sequence[Call], task: Task, domain: Domain, *, solo: bool
    ) -> StateHistory:
        """Return the history of a conversation.

        Args:
            simulation: The conversation.
            calls: Its calls.
            task: Its task; one object for all trials of it.
            domain: Where it took place.
            solo: Whether the agent worked alone.
        """
        positions: list[int] = []
        try:
            declared = self._environment(task, domain, solo=solo)
            carried_out = _carried_out(calls, len(simulation.messages) - 1)
            changing = [
                numbered_call
                for numbered_call in carried_out
                if declared.mutates(numbered_call[1].call.name, numbered_call[1].call.requestor)
            ]
            positions = [position for position, _ in changing]
            # A verdict with the differences is shown with these.
            listed = bool(simulation.reward_info and simulation.reward_info.db_diff)
            outcome = simulation.reward_info.compared_outcome if simulation.reward_info else None
            of_task = self._of_task(task, outcome, domain, solo=solo)
            history = of_task.history([call for _, call in changing], listed=listed)
            return _placed(history, positions)
        except _StoppedError as stopped:
            return _placed(stopped.history, positions)
        except (TauError, RecursionError) as error:
            return StateHistory(note=f"Changes to the environment are not shown: {error}")

    def _of_task(self, task: Task, outcome: int | None, domain: Domain, *, solo: bool) -> _OfTask:
        key = (id(task), outcome, domain.name, solo)
        if key not in self._tasks:
            if len(self._tasks) == _MOST_TASKS:
                self._tasks.clear()
            self._tasks[key] = _OfTask(task, outcome, domain, solo=solo)
        return self._tasks[key]

    def _environment(self, task: Task, domain: Domain, *, solo: bool) -> Environment:
        """Return an environment of the domain, to be asked for its tools only.

        Raises:
            TauError: The initial state of the task cannot be made.
        """
        key = (domain.name, solo)
        if key not in self._declared:
            self._declared[key] = domain.environment(task, solo=solo, replay_history=False)
            self._declared[key].close()
        return self._declared[key]


def _carried_out(calls: Iterable[Call], last: int) -> Iterator[tuple[int, Call]]:
    """Yield the calls that were carried out, each with its position.

    Args:
        calls: The calls of a conversation.
        last: The number of its last message, whose calls may not have been made.
    """
    for position, call in enumerate(calls):
        pending = call.result is None and call.message_idx == last
        unmade = call.result is not None and not call.result.executed
        if not pending and not unmade and call.call.malformed is None:
            yield position, call


def state_history(simulation: Simulation, task: Task, domain: Domain) -> StateHistory:
    """Carry out the calls of a conversation again and look at what each of them changes."""
    calls, solo = calls_in(simulation.messages), worked_alone(simulation, domain)
    return StateHistories().of(simulation, calls, task, domain, solo=solo)


class _OfTask:
    """The histories of the trials of a task, each by its calls, next to one of its right outcomes."""

    def __init__(self, task: Task, outcome: int | None, domain: Domain, *, solo: bool) -> None:
        self._task, self._outcome, self._domain, self._solo = task, outcome, domain, solo
        self._found: dict[tuple[Any, ...], StateHistory] = {}

    def history(self, calls: Sequence[Call], *, listed: bool) -> StateHistory:
        """Return the history of calls that may change something; positions in it are those among these calls.

        Args:
            calls: The calls.
            listed: Whether the differences from the reference are known.

        Raises:
            _StoppedError: The replay cannot go on.
            TauError: There is no environment of the task.
        """
        key = (listed, *map(_identity, calls))
        if key not in self._found:
            environment = self._domain.environment(self._task, solo=self._solo, replay_history=False)
            try:
                self._found[key] = self._followed(calls, environment, listed=listed)
            finally:
                environment.close()
        return self._found[key]

    def _followed(self, calls: Sequence[Call], environment: Environment, *, listed: bool) -> StateHistory:
        """Carry out calls.

        Raises:
            _StoppedError: The replay cannot go on.
            TauError: There is no reference.
        """
        watch = _Watch(environment, self._reference, self._task)
        try:
            for position, call in enumerate(calls):
                if (note := watch.carry_out(position, call)) is not None:
                    raise _StoppedError(StateHistory(watch.changes, note=note))
            environment.sync()
            return watch.history(listed=listed)
        except ToolServerError as error:
            note = f"Further changes to the environment are not shown: {error}"
            raise _StoppedError(StateHistory(watch.changes, note=note)) from None

    @cached_property
    def _reference(self) -> Environment | None:
        """The environment after the reference actions, for reading only; None if the task has no criteria for it."""
        criteria = self._task.criteria
        gated = criteria.actions is not None or criteria.env_assertions is not None
        return shared_reference(self._domain, self._task.of_outcome(self._outcome)) if gated else None


class _StoppedError(Exception):
    """The replay cannot go on; the history until then is not used for other conversations."""

    def __init__(self, history: StateHistory) -> None:
        self.history = history


def _identity(recorded_call: Call) -> tuple[Any, ...]:
    """Return a value that is equal for calls whose replays are equal."""
    call, result = recorded_call.call, recorded_call.result
    outcome = None if result is None else (result.error, result.fault, result.content)
    return call.name, canonical(call.arguments), call.requestor, outcome


def _placed(history: StateHistory, positions: Sequence[int]) -> StateHistory:
    """Return a history over some of the calls with their positions among all calls."""

    def placed(turned: Turned) -> Turned:
        return turned if turned.call is None else turned._replace(call=positions[turned.call])

    return replace(
        history,
        changes={positions[number]: changes for number, changes in history.changes.items()},
        database=placed(history.database) if history.database else None,
        assertions=[placed(assertion) for assertion in history.assertions],
    )


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
        is_comparable = recorded is not None and recorded.fault is None and not result.error
        if is_comparable and recorded is not None and not same_result(recorded.content, result.content):
            self._other_results += 1
        changes = [change for pair in before.databases_with(environment) for change in _changes(*pair)]
        if changes:
            self.changes[position] = changes
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
