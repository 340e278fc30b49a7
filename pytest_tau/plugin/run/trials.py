"""Trials inside test items: under way on the run's event loop, kept on the disk as they end, told to pytest in turn."""

from __future__ import annotations

import queue
import time
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ...chat import Recorder, TrialModels
from ...participants import ParticipantSource, load_source
from ...runner import Trial
from ..context.run_context import Case, active_of
from ..report.records import RESTORED
from ..store.previous_run import restored_simulation
from .fixtures import ELAPSED, case_of
from .models import cassette_path, spend, usage_property

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...environment import Environment
    from ...models import Message, Simulation
    from ...participants import Side


class Setting(NamedTuple):
    """What a trial is held with.

    Attributes:
        case: Task, domain and settings.
        trial: Which repetition of the task.
        environment: The databases and tools.
        models: The models that are called.
        agent: What plays the agent: one of the three forms, or a source of them.
        user: What plays the user.
    """

    case: Case
    trial: int
    environment: Environment
    models: TrialModels
    agent: Any
    user: Any


class RunningTrial:
    """A trial under way. Its item waits for it, and tells the hooks of it, when its turn comes.

    Args:
        item: The test item.
        setting: What the trial is held with.
        restored: What came of it in an earlier run, where this one goes on with that; it is not held again.

    Attributes:
        setting: As given.
        elapsed: Seconds that it took, once it has ended.
    """

    def __init__(self, item: pytest.Item, setting: Setting, restored: Simulation | None = None) -> None:
        self.setting, self.elapsed = setting, 0.0
        self._item, self._active, self._restored = item, active_of(item.config), restored
        self._told: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._problem: str | None = None
        self._future: Future[Simulation] = self._start() if restored is None else self._ended(restored)
        self._future.add_done_callback(lambda _: self._told.put(None))

    def _start(self) -> Future[Simulation]:
        setting, number = self.setting, self.setting.trial
        self._active.run_log.begin(self._item.session, self._active)
        settings = setting.case.config.simulation
        seed = self._active.seed(number)
        trial = Trial(setting.case.task, setting.case.domain, setting.environment, settings, number, seed)
        trial.models, trial.on_message = setting.models, self._told.put
        agent, user = self._source("agent", setting.agent), self._source("user", setting.user)
        return self._active.loop.submit(self._run(trial, agent, user))

    def _ended(self, simulation: Simulation) -> Future[Simulation]:
        self.elapsed = simulation.duration
        for message in simulation.messages:
            self._told.put(message)
        future: Future[Simulation] = Future()
        future.set_result(simulation)
        return future

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._future.done()

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called, from another thread, once it has ended."""
        self._future.add_done_callback(lambda _: call())

    def cancel(self) -> None:
        """End it without a result, unless it has one."""
        self._future.cancel()

    def wait(self) -> Simulation:
        """The finished trial; its hooks are called here, in the thread that pytest runs in.

        Raises:
            Exception: Whatever a hook raises, once the trial has ended and its result is kept.
        """
        try:
            return self._followed()
        finally:
            self.cancel()  # where a hook or Ctrl-C has ended the waiting, nobody wants it any more

    def _followed(self) -> Simulation:
        item, setting = self._item, self.setting
        hooks = item.ihook  # found anew each time it is asked for, which takes a while
        hooks.pytest_tau_simulation_started(item=item, task=setting.case.task, trial=setting.trial)
        failure: Exception | None = None
        while (message := self._told.get()) is not None:
            try:
                hooks.pytest_tau_message(item=item, message=message)
            except Exception as error:  # noqa: BLE001 - a foreign hook may raise anything
                failure = failure or error
        simulation = self._future.result()
        # A rerun tells what came of it, and not also what came of the run before.
        properties = dict(self._properties(simulation))
        item.user_properties[:] = [told for told in item.user_properties if told[0] not in properties]
        item.user_properties += properties.items()
        hooks.pytest_tau_simulation_finished(item=item, simulation=simulation)
        if failure is not None:
            raise failure
        return simulation

    def _source(self, side: Side, target: Any) -> ParticipantSource:
        if isinstance(target, ParticipantSource):
            return target
        return load_source(target, side, self.setting.case.config.folder)

    async def _run(self, trial: Trial, agent: ParticipantSource, user: ParticipantSource) -> Simulation:
        start = time.perf_counter()
        try:
            simulation = await trial.run(agent, user)
        finally:
            self.elapsed = time.perf_counter() - start
        self._keep(simulation)
        return simulation

    def _keep(self, simulation: Simulation) -> None:
        """Everything, before anything else can fail."""
        spend(self._item, self.setting.models)
        self._problem = self._active.run_log.keep(self._item.nodeid, self.setting.case, simulation)

    def _properties(self, simulation: Simulation) -> list[tuple[str, object]]:
        properties: list[tuple[str, object]] = [
            ("tau_domain", self.setting.case.domain.name),
            ("tau_task", simulation.task_id),
            ("tau_trial", self.setting.trial),
            ("tau_reward", simulation.reward),
            ("tau_outcome", simulation.outcome),
        ]
        if simulation.replay_differences:
            properties.append(("tau_replay_differences", len(simulation.replay_differences)))
        if simulation.model_usage:
            used = simulation.model_usage if self._restored is not None else None
            properties.append(usage_property(self.setting.case, self.setting.models, used))
        properties.append(("tau_results_problem", self._problem) if self._problem else ("tau_results", True))
        if self._restored is not None:
            properties.append(("tau_restored", True))
        if isinstance(self.setting.models.tape, Recorder):
            self._item.stash[RECORDED] = cassette_path(self._item, self.setting.case, self.setting.trial)
        return properties


#: The trial of an item that was started before the item's turn.
AHEAD = pytest.StashKey[RunningTrial]()
#: Where the cassette of an item lies that was recorded now.
RECORDED = pytest.StashKey[Path]()


def ahead_of(item: pytest.Item) -> RunningTrial | None:
    """The item's trial, where it was started ahead and its result has not been used."""
    return item.stash.get(AHEAD, None)


def restore(item: pytest.Item) -> None:
    """Have what came of an item's trial in an earlier run told again in its turn, where this run goes on with that."""
    simulation = restored_simulation(item)
    if simulation is None:
        return
    case = case_of(item)
    assert case is not None, "what was restored has a case"
    settings, active = case.config.simulation, active_of(item.config)
    # For tests that look at what has come of it.
    environment = case.domain.environment(case.task, settings.solo, settings.policy, replay_history=False)
    environment.replay(simulation.messages)
    models = TrialModels({}, seed=active.seed(simulation.trial))
    sides = active.source("agent", case.config), active.source("user", case.config)
    item.stash[AHEAD] = RunningTrial(item, Setting(case, simulation.trial, environment, models, *sides), simulation)
    item.stash[RESTORED] = True


def run_trial(item: pytest.Item, setting: Setting) -> Simulation:
    """Hold a trial, or wait for the one that was started ahead; of which a rerun makes a new one."""
    ahead = ahead_of(item)
    if ahead is None:
        if ELAPSED in item.stash:
            del item.stash[ELAPSED]  # of the run before a rerun
        item.stash[RESTORED] = False
        return RunningTrial(item, setting).wait()
    del item.stash[AHEAD]
    try:
        return ahead.wait()
    finally:
        item.stash[ELAPSED] = ahead.elapsed
