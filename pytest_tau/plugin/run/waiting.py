"""An item waits for its trial: hooks are called with the messages, and the item gets the simulation and its facts."""

from __future__ import annotations

import queue
from typing import TYPE_CHECKING, Any, NoReturn

from ...clock import steady_time
from ...errors import BudgetError
from ...text import error_line
from ..context.budget import skip_without_money
from ..context.event_loop import BorrowedLoop
from ..context.run_state import require_context
from ..items import item_state
from .asyncio_fixtures import fixture_loop
from .item_facts import set_facts
from .models import usage_of
from .outcomes import result_of
from .restore import check_reuse
from .setup import task_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from ...models import Message, Simulation
    from .trials import TrialFuture


def run_trial(
    request: pytest.FixtureRequest, make: Callable[[Any, Any], TrialFuture], agent: Any, user: Any
) -> Simulation:
    """Run the trial of a test, or wait for the one that was prefetched or restored; a rerun runs a new one.

    Args:
        request: The request of a fixture of the test.
        make: Makes the trial of an agent and a user.
        agent: The agent of the fixtures.
        user: Their user.

    Raises:
        HarnessError: Anything but the agent failed.
    """
    __tracebackhide__ = True
    state = item_state(request.node)
    trial: TrialFuture | None = state.prefetched
    if trial is None:
        loop = fixture_loop(request)
        state.trial = trial = make(agent, user)
        trial.start(BorrowedLoop(loop) if loop else None)
    else:
        check_reuse(trial, agent, user)
    return result_of(request.node, wait_for(trial))


def wait_for(trial: TrialFuture) -> Simulation:
    """Wait for the trial of an item and return its result; call the hooks, in the thread that pytest runs in.

    Raises:
        Exception: A hook raised it; the trial has finished, and its result is stored.
    """
    trial.is_taken = True
    try:
        return _follow(trial)
    except BaseException as error:  # of a hook or a time limit of another plugin; Ctrl-C
        if isinstance(error, KeyboardInterrupt):
            require_context(trial.item.config).interrupt()
        give_up(trial, error)
        raise
    finally:
        trial.leave()


def give_up(trial: TrialFuture, error: BaseException) -> None:
    """End the trial because its test cannot wait for it, and report what there is of it.

    Args:
        trial: The trial.
        error: The exception that ends the test.
    """
    trial.interrupt(error_line(f"{type(error).__name__}: {error}".removesuffix(": ")))
    if trial.interrupted is not None:
        item_state(trial.item).simulation = trial.interrupted
        set_facts(trial, trial.interrupted)


def _follow(trial: TrialFuture) -> Simulation:
    item = trial.item
    hooks = item.ihook  # each access looks the hooks up again, which takes time
    failure: Exception | None = None
    try:
        started = hooks.pytest_tau_simulation_started
        started(item=item, task=task_for(started, trial.spec.task), trial=trial.trial.number)
    except Exception as error:  # noqa: BLE001 - a hook of another plugin may raise anything
        failure = error
    while (message := _next_message(trial)) is not None:
        try:
            hooks.pytest_tau_message(item=item, message=message)
        except Exception as error:  # noqa: BLE001 - a hook of another plugin may raise anything
            failure = failure or error
    require_context(item.config).logs.add_to_test(trial.logged)
    try:
        simulation = trial.result()
    except BudgetError as error:
        _skip(trial, error)
    set_facts(trial, simulation)
    hooks.pytest_tau_simulation_finished(item=item, simulation=simulation)
    if failure is not None:
        raise failure
    return simulation


def _next_message(trial: TrialFuture) -> Message | None:
    """Return the next message, None after the last one; report each second that it takes."""
    while True:
        try:
            return trial.messages.get(timeout=1.0)
        except queue.Empty:
            waiting = trial.item.ihook.pytest_tau_trials_waiting
            waiting(trials={trial.test: steady_time() - trial.began})


def _skip(trial: TrialFuture, error: BudgetError) -> NoReturn:
    """Report a trial that the budget of the run has stopped as not run, with what it has cost."""
    item_state(trial.item).report.usage = usage_of(trial.spec, trial.trial.models)
    skip_without_money(trial.item, f"{error}, which has stopped this trial", is_priced=error.is_priced)
