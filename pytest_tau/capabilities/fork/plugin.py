"""``--tau-fork RUN``: trials continue stored conversations from a message on, and the rate at each is shown."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

import pytest

from ...capability import run_of
from ...errors import ConfigurationError, TauError
from ...text import listed, one_line, plural, printable
from . import capability
from .trial import Turn
from .turns import chosen_turns, is_preferred

if TYPE_CHECKING:
    from ...capability import RunHandle, RunTask
    from ...models import Simulation, TrialResult
    from ...runs import StoredTrial, TrialRecord
    from . import ForkSettings
    from .trial import ForkFacts

#: The most differences from the stored conversation that are shown.
_MOST = 3
_LONGEST = 160


def make_fork(config: pytest.Config, settings: ForkSettings) -> Fork:
    """Read the stored run, and return what continues its conversations.

    Raises:
        pytest.UsageError: There is no such run, it has no conversations, or an option goes without ``--tau-fork``.
    """
    run = run_of(config)
    if settings.fork is None:
        alone = next(name for name in ("fork_turn", "fork_trial", "fork_restore") if run.source(name) is not None)
        raise pytest.UsageError(f"{run.label(alone)}: expected --tau-fork RUN as well, which is continued")
    fork = Fork(run, settings)
    try:
        fork.read()
    except (TauError, OSError) as error:
        raise pytest.UsageError(f"{run.label('fork')}: {error}") from error
    run.declare_part()
    return fork


class Fork:
    """The stored conversations that are continued."""

    def __init__(self, run: RunHandle, settings: ForkSettings) -> None:
        self._run, self._settings, self._name = run, settings, str(settings.fork)
        self._stored: dict[tuple[str, str], StoredTrial] = {}

    def read(self) -> None:
        """Read the conversations: of each task the trial that is continued.

        Raises:
            ConfigurationError: There is no such run, or it has no conversation that can be continued.
            OSError: A file cannot be opened.
        """
        run = self._run.stored("fork")
        self._name, trial = run.name, self._settings.fork_trial
        for stored_trial in run.trials():
            key, simulation = (stored_trial.domain, stored_trial.simulation.task_id), stored_trial.simulation
            before = self._stored.get(key)
            if is_preferred(simulation, before and before.simulation, trial):
                self._stored[key] = stored_trial
        if not self._stored:
            which = f"a trial {trial}" if trial is not None else "a conversation"
            raise ConfigurationError(f"{run.path}: expected {which} to continue, found none")

    def pytest_tau_plan(self, specs: list[RunTask], test: pytest.Function | None) -> None:
        """Replace the tasks of domains and files by what continues their conversations.

        Raises:
            ConfigurationError: A number is not that of a message of the agent or the user.
        """
        if test is None:
            specs[:] = [variant for spec in specs for variant in self._turns(spec)]

    def _turns(self, spec: RunTask) -> list[RunTask]:
        """Return the messages from which a task is continued; none if it has no conversation."""
        stored = self._find(spec.domain.name, spec.task.id)
        if stored is None:
            return []
        restore: Any = self._settings.fork_restore
        turns = chosen_turns(stored.simulation, self._settings.fork_turn, self._name, spec.task)
        return [
            spec.variant(f"turn-{turn}", capability.name, Turn(self._name, stored.simulation, turn, restore))
            for turn in turns
        ]

    def pytest_tau_may_restore(self, simulation: Simulation) -> bool:
        """Return whether the simulation of an earlier session continues the same run."""
        facts = _facts(simulation)
        return facts is not None and facts.run == self._name

    def _find(self, domain: str, task: str) -> StoredTrial | None:
        return self._stored.get((domain, task)) or self._stored.get(("", task))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Refuse tests that would begin a conversation of their own.

        Raises:
            pytest.UsageError: There is such a test, or no task has a stored conversation.
        """
        label = self._run.label("fork")
        trials = {item: spec for item in items if (spec := self._run.task_of(item)) is not None}
        node_ids = [item.nodeid for item, spec in trials.items() if not _has_turn(spec)]
        if node_ids:
            raise pytest.UsageError(
                f"{label}: {listed(node_ids, _MOST)}: expected tasks of a domain or a task file; "
                "a test with the marker tau begins a conversation of its own"
            )
        if not trials and not session.testsfailed:
            known = sorted({task for _, task in self._stored})
            raise pytest.UsageError(
                f"{label}: no selected task has a conversation in {self._name}: {listed(known, 10)}"
            )

    def pytest_report_header(self) -> str:
        """Show the run that is continued."""
        return printable(f"tau: fork: continues conversations of {self._name}")

    def pytest_sessionfinish(self) -> None:
        """Add to the summary the rate at each message, and what could not be restored."""
        tasks: dict[tuple[str, str], dict[int, list[TrialRecord]]] = defaultdict(lambda: defaultdict(list))
        differences: dict[str, list[str]] = {}
        for record in self._run.records:
            if (facts := _facts(record)) is not None:
                tasks[record.domain, record.task_id][facts.message].append(record)
                if facts.differences:
                    differences[record.test] = facts.differences
        for (domain, task), records_by_turn in sorted(tasks.items()):
            turns, stored = dict(sorted(records_by_turn.items())), self._find(domain, task)
            self._run.line(f"fork: {_origin(next(iter(turns.values()))[0], stored)}")
            for turn, records in turns.items():
                text, markup = _turn_line(turn, records, stored)
                self._run.line(f"fork: {text}", **markup)
            if verdict := _last_recoverable(turns):
                self._run.line(f"fork: {verdict}")
            text, incomplete = _restored(
                [facts for records in turns.values() for record in records if (facts := _facts(record))]
            )
            self._run.line(f"fork: {text}", yellow=incomplete)
        if differences:
            test, others = next(iter(differences.items()))
            text = (
                f"in {plural(len(differences), 'trial')} the beginning is not as it was, so that what a side "
                f"remembers may differ: {test}: {one_line('; '.join(others[:_MOST]), _LONGEST)}"
            )
            self._run.line(f"fork: warning: {text}", yellow=True)


def _has_turn(spec: RunTask) -> bool:
    return any(isinstance(active.variant, Turn) for active in spec.config.simulation.capabilities)


def _facts(result: TrialResult) -> ForkFacts | None:
    facts: ForkFacts | None = capability.read(result.facts)
    return facts


def _origin(record: TrialRecord, stored: StoredTrial | None) -> str:
    """Return which trial is continued, and the participants that are others than the stored ones."""
    from ...runs import Group

    facts, now, before, variant = _facts(record), record.conditions or {}, {}, ""
    assert facts is not None, "it was collected by its turn"
    if stored is not None:
        before = stored.simulation.conditions or {}
        variant = Group.of(stored.test, record.domain, record.task_id).parameters
    trial = f"trial {facts.trial} [{variant}]" if variant else f"trial {facts.trial}"
    parts = [f"{record.domain}::{record.task_id}", f"{trial} of {facts.run}", facts.outcome]
    others = [side for side in ("agent", "user") if side in now and now[side] != before.get(side)]
    parts += [f"{side} {now[side]} instead of {before.get(side) or 'an unknown one'}" for side in others]
    return ", ".join(one_line(part, _LONGEST) for part in parts)


def _turn_line(turn: int, records: list[TrialRecord], stored: StoredTrial | None) -> tuple[str, dict[str, bool]]:
    """Return the line about the trials from a message on, with its colours."""
    from ...analysis import wilson

    graded = [record for record in records if record.outcome != "error"]
    # What repeats the stored conversation, by its seed, says nothing new, unless all there is does.
    ran = [record for record in graded if (facts := _facts(record)) is not None and not facts.repeats] or graded
    passed, errors, repeats = sum(record.passed for record in ran), len(records) - len(graded), len(graded) - len(ran)
    message_text = f" ({_said(stored.simulation, turn)})" if stored is not None else ""
    more = f"; not counted: {plural(repeats, 'trial')} that repeats the stored one" if repeats else ""
    more += f"; {plural(errors, 'error')}" if errors else ""
    if not ran:
        return f"message {turn}{message_text}: no trial has a verdict{more}", {"yellow": True}
    interval = wilson(passed / len(ran), len(ran))
    verdict = "recoverable" if passed else "lost"
    text = (
        f"{passed} of {len(ran)} passed, {passed / len(ran):.3f} (95 % interval {interval.format()}): {verdict}{more}"
    )
    return f"message {turn}{message_text}: {text}", {"green": bool(passed), "red": not passed}


def _said(simulation: Simulation, turn: int) -> str:
    """Return what was said at this message in the stored conversation."""
    message = cast("Any", simulation.messages[turn])
    who = "agent" if message.role == "assistant" else "user"
    calls = ", ".join(call.name for call in message.tool_calls or [])
    return f"stored: {who} {f'calls {calls}' if calls else repr(one_line(message.text, 50))}"


def _last_recoverable(turns: dict[int, list[TrialRecord]]) -> str:
    """Return where the conversation was lost, if there are several turns."""
    rates = {turn: any(record.passed for record in records) for turn, records in turns.items()}
    good = [turn for turn, passed in rates.items() if passed]
    after = [turn for turn, passed in rates.items() if not passed and (not good or turn > good[-1])]
    if len(rates) < 2:
        return ""
    if not good:
        return "no trial passed from any of these messages: lost before, or not to be solved by this agent"
    return f"recoverable up to message {good[-1]}" + (f", lost from message {after[0]} on" if after else "")


def _restored(forks: list[ForkFacts]) -> tuple[str, bool]:
    """Return how each side got the beginning, the worst way in any of these trials, and whether one did not get it."""
    words = {
        "none": "takes no history and does not know the messages before: with {side}=replay it is sent them again",
        "history": "was created with the messages before; what else it had remembered is lost",
        "replay": "was sent the messages before again, which restores what it remembers",
    }
    worst_ways = [
        (side, next(how for how in words if any(fork.restored.get(side) == how for fork in forks)))
        for side in forks[0].restored
    ]
    text = "; ".join(f"the {side} {words[how].format(side=side)}" for side, how in worst_ways)
    return text, any(how == "none" for _, how in worst_ways)
