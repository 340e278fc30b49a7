"""The changes of each call of a conversation: the calls carried out again on a fresh environment of the task.

After each call the states of both sides are compared with those before it, the state with the one that the reference
actions leave, and the assertions are run; so a check can be shown at the message that met or broke it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...environment import canonical, same_result
from ...errors import TauError, ToolServerError
from ...evaluation.components.db import check_db, same_state
from ...evaluation.components.env_assertion import check_env_assertions
from ...evaluation.evidence import StateChange, StateHistory, Turned
from ...models import paired_calls
from ...regrade.recognition import worked_alone
from .json_text import value_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ...environment import Change, Database, Domain, Environment
    from ...models import EnvAssertion, PairedCall, Simulation, Task

#: Characters of a value that is shown.
_LONGEST_VALUE = 4000
#: The histories that are kept: trials of a task are near each other.
_MOST_HISTORIES = 200


class StateHistories:
    """Returns the histories of conversations, each found once for all trials of a task that make the same changes.

    Trials of a task often do: those that pass have to. A call is the same with the same arguments and the same result.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], tuple[Task, StateHistory]] = {}

    def of(self, simulation: Simulation, task: Task, domain: Domain) -> StateHistory:
        """Return the history of a conversation.

        Args:
            simulation: The conversation.
            task: Its task; one object for all trials of it, as its reference state is computed once for each object.
            domain: Where it took place.
        """
        solo = worked_alone(simulation, domain)
        try:
            environment = domain.environment(task, solo=solo, replay_history=False)
        except (TauError, RecursionError) as error:
            return _unknown(error)
        try:
            calls = list(_changing_calls(simulation, environment))
            key = (id(task), solo, *(_text(made) for _, made in calls))
            if key not in self._found:
                history = _followed([made for _, made in calls], environment, task, domain)
                if len(self._found) == _MOST_HISTORIES:
                    self._found.clear()
                self._found[key] = task, history
            return _placed(self._found[key][1], [position for position, _ in calls])
        except _StoppedError as stopped:
            return _placed(stopped.history, [position for position, _ in calls])
        except ToolServerError as error:
            return _unknown(error)
        finally:
            environment.close()


def state_history(simulation: Simulation, task: Task, domain: Domain) -> StateHistory:
    """Carry out the calls of a conversation again and look at what each of them changes."""
    return StateHistories().of(simulation, task, domain)


class _StoppedError(Exception):
    """The replay cannot go on; the history until then is not used for other conversations."""

    def __init__(self, history: StateHistory) -> None:
        self.history = history


def _unknown(error: Exception) -> StateHistory:
    return StateHistory(note=f"Changes to the environment are not shown: {error}")


def _changing_calls(simulation: Simulation, environment: Environment) -> Iterator[tuple[int, PairedCall]]:
    """Yield the calls that were carried out and may change something, each with its position among all calls."""
    last = len(simulation.messages) - 1
    for position, made in enumerate(paired_calls(simulation.messages)):
        pending = made.result is None and made.message_idx == last
        unmade = made.result is not None and not made.result.executed
        if pending or unmade or made.call.malformed is not None:
            continue
        if environment.mutates(made.call.name, made.call.requestor):
            yield position, made


def _text(made: PairedCall) -> str:
    """Return a text that is equal for calls whose replays are equal."""
    call, result = made.call, made.result
    found = None if result is None else [result.error, result.fault, result.content]
    return canonical([call.name, call.arguments, call.requestor, found])


def _followed(calls: Sequence[PairedCall], environment: Environment, task: Task, domain: Domain) -> StateHistory:
    """Carry out calls; positions in the history are those among these calls.

    Raises:
        _StoppedError: The replay cannot go on.
    """
    gated = task.criteria.actions is not None or task.criteria.env_assertions is not None
    try:
        watch = _Watch(environment, domain.reference_environment(task) if gated else None, task)
    except (TauError, RecursionError) as error:
        raise _StoppedError(_unknown(error)) from None
    try:
        for position, made in enumerate(calls):
            if (note := watch.carry_out(position, made)) is not None:
                raise _StoppedError(StateHistory(watch.changes, note=note))
        environment.sync()
        return watch.history()
    except ToolServerError as error:
        note = f"Further changes to the environment are not shown: {error}"
        raise _StoppedError(StateHistory(watch.changes, note=note)) from None


def _placed(history: StateHistory, positions: Sequence[int]) -> StateHistory:
    """Return a history over some of the calls with their positions among all calls."""

    def placed(turned: Turned) -> Turned:
        return turned if turned.call is None else turned._replace(call=positions[turned.call])

    return replace(
        history,
        changes={positions[number]: changes for number, changes in history.changes.items()},
        database=placed(history.database) if history.database else None,
        assertions=[placed(each) for each in history.assertions],
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

    def carry_out(self, position: int, made: PairedCall) -> str | None:
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

    def history(self) -> StateHistory:
        """Return the whole history."""
        note = None
        if self._other_results:
            many = self._other_results > 1
            results = f"{self._other_results} results" if many else "One result"
            note = (
                f"{results} of calls that change something {'are' if many else 'is'} not as recorded on the data at "
                "hand; the changes shown are those on this data."
            )
        wrong = self._database is not None and not self._database.holds
        differences = check_db(self._environment, self._reference).differences if wrong else []
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
