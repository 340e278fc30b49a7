"""Trials inside test items: they run on the run's event loop, are stored as they end, and are reported in turn."""

from __future__ import annotations

import json
import queue
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from ...chat import Recorder, TrialModels
from ...participants import ParticipantSource, load_source
from ...runner import Trial
from ..context.run_state import require_context
from ..items import item_state
from .models import cassette_path, spend, usage_facts

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from ...environment import Environment
    from ...models import Message, Simulation
    from ...participants import Side
    from ..items import TaskSpec


class TrialInputs(NamedTuple):
    """What a trial runs with.

    Attributes:
        spec: Task, domain and settings.
        trial: The number of the trial, from 0.
        environment: The databases and tools.
        models: The models that are called.
        agent: What plays the agent: one of the three forms, or a source of them.
        user: What plays the user.
    """

    spec: TaskSpec
    trial: int
    environment: Environment
    models: TrialModels
    agent: Any
    user: Any


class TrialFuture:
    """A trial that runs. Its item waits for it, and calls the hooks with its messages, when its turn comes.

    Args:
        item: The test item.
        inputs: What the trial runs with.
        restored: The trial's simulation from an earlier run; it is not run again.

    Attributes:
        inputs: As given.
        elapsed: Seconds that the trial took, once it has ended.
    """

    def __init__(self, item: pytest.Item, inputs: TrialInputs, restored: Simulation | None = None) -> None:
        self.inputs, self.elapsed = inputs, 0.0
        self._item, self._context, self._restored = item, require_context(item.config), restored
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._problem: str | None = None
        self._future: Future[Simulation] = self._start() if restored is None else self._finished(restored)
        self._future.add_done_callback(lambda _: self._messages.put(None))

    def _start(self) -> Future[Simulation]:
        inputs, number = self.inputs, self.inputs.trial
        self._context.writer.start(self._item.session, self._context.config)
        settings = inputs.spec.config.simulation
        seed = self._context.seed(number)
        trial = Trial(inputs.spec.task, inputs.spec.domain, inputs.environment, settings, number, seed)
        trial.models, trial.on_message = inputs.models, self._messages.put
        agent, user = self._source("agent", inputs.agent), self._source("user", inputs.user)
        return self._context.loop.submit(self._run(trial, agent, user))

    def _finished(self, simulation: Simulation) -> Future[Simulation]:
        self.elapsed = simulation.duration
        for message in simulation.messages:
            self._messages.put(message)
        future: Future[Simulation] = Future()
        future.set_result(simulation)
        return future

    @property
    def done(self) -> bool:
        """Return whether the trial has ended."""
        return self._future.done()

    def when_ended(self, call: Callable[[], None]) -> None:
        """Call something, from another thread, once the trial has ended."""
        self._future.add_done_callback(lambda _: call())

    def cancel(self) -> None:
        """End the trial without a result, unless it has one."""
        self._future.cancel()

    def wait(self) -> Simulation:
        """Wait for the trial and return its result; hooks are called here, in the thread that pytest runs in.

        Raises:
            Exception: Whatever a hook raises, once the trial has ended and its result is stored.
        """
        try:
            return self._followed()
        finally:
            self.cancel()  # if a hook or Ctrl-C has ended the waiting, nobody wants the result any more

    def _followed(self) -> Simulation:
        item, inputs = self._item, self.inputs
        hooks = item.ihook  # looked up anew at each access, which takes a while
        hooks.pytest_tau_simulation_started(item=item, task=inputs.spec.task, trial=inputs.trial)
        failure: Exception | None = None
        while (message := self._messages.get()) is not None:
            try:
                hooks.pytest_tau_message(item=item, message=message)
            except Exception as error:  # noqa: BLE001 - a foreign hook may raise anything
                failure = failure or error
        simulation = self._future.result()
        self._note(simulation)
        hooks.pytest_tau_simulation_finished(item=item, simulation=simulation)
        if failure is not None:
            raise failure
        return simulation

    def _source(self, side: Side, target: Any) -> ParticipantSource:
        if isinstance(target, ParticipantSource):
            return target
        return load_source(target, side, self.inputs.spec.config.folder)

    async def _run(self, trial: Trial, agent: ParticipantSource, user: ParticipantSource) -> Simulation:
        start = time.perf_counter()
        try:
            simulation = await trial.run(agent, user)
        finally:
            self.elapsed = time.perf_counter() - start
        self._store(simulation)
        return simulation

    def _store(self, simulation: Simulation) -> None:
        """Store everything, before anything else can fail."""
        spend(self._item, self.inputs.models)
        self._problem = self._context.writer.write(self._item.nodeid, self.inputs.spec, simulation)

    def _note(self, simulation: Simulation) -> None:
        """Note the facts of the trial on the item, in place of those of a run before a rerun."""
        item, inputs, state = self._item, self.inputs, item_state(self._item)
        state.usage = None
        if simulation.model_usage:
            restored_usage = simulation.model_usage if self._restored is not None else None
            state.usage = usage_facts(inputs.spec, inputs.models, restored_usage)
        state.results_problem = self._problem
        if isinstance(inputs.models.tape, Recorder):
            state.cassette = cassette_path(item, inputs.spec, inputs.trial)
        set_properties(
            item,
            tau_domain=inputs.spec.domain.name,
            tau_task=simulation.task_id,
            tau_trial=inputs.trial,
            tau_reward=simulation.reward,
            tau_outcome=simulation.outcome,
            tau_usage=json.dumps(state.usage) if state.usage else None,
            tau_restored=True if self._restored is not None else None,
        )


def set_properties(item: pytest.Item, **properties: object) -> None:
    """Set the documented user properties of an item, in place of their former values; None removes one."""
    item.user_properties[:] = [each for each in item.user_properties if each[0] not in properties]
    item.user_properties += [(name, value) for name, value in properties.items() if value is not None]


def run_trial(item: pytest.Item, inputs: TrialInputs) -> Simulation:
    """Run a trial, or wait for the one that was prefetched; a rerun runs a new one."""
    state = item_state(item)
    started, state.prefetched = state.prefetched, None
    if started is None:
        state.elapsed, state.restored = None, False
        return TrialFuture(item, inputs).wait()
    try:
        return started.wait()
    finally:
        state.elapsed = started.elapsed
