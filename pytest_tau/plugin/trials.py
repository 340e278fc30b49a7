"""Trials inside test items: under way on the run's event loop, kept on the disk as they end, told to pytest in turn."""

from __future__ import annotations

import queue
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ..chat import Recorder
from ..participants import ParticipantSource, load_source
from ..runner import Trial
from .active import Case, active_of
from .models import cassette_path, spend, usage_property

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..chat import TrialModels
    from ..environment import Environment
    from ..models import Message, Simulation
    from ..participants import Side


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

    Attributes:
        setting: As given.
        elapsed: Seconds that it took, once it has ended.
    """

    def __init__(self, item: pytest.Item, setting: Setting) -> None:
        self.setting, self.elapsed = setting, 0.0
        self._item, self._active = item, active_of(item.config)
        self._told: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._problem: str | None = None
        self._kept = False
        number = setting.trial
        settings = setting.case.config.simulation
        seed = self._active.seed(number)
        trial = Trial(setting.case.task, setting.case.domain, setting.environment, settings, number, seed)
        trial.models, trial.on_message = setting.models, self._told.put
        agent, user = self._source("agent", setting.agent), self._source("user", setting.user)
        self._future = self._active.loop.submit(self._run(trial, agent, user))
        self._future.add_done_callback(lambda _: self._told.put(None))

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
        """Everything that was paid for, before anything else can fail."""
        unjudged = simulation.outcome == "error" and self.setting.models.roles
        if not simulation.model_usage and not unjudged:
            return
        spend(self._item, self.setting.models)
        self._kept = True
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
            properties.append(usage_property(self.setting.case, self.setting.models))
        if self._kept:
            properties.append(("tau_results_problem", self._problem) if self._problem else ("tau_results", True))
        if isinstance(self.setting.models.tape, Recorder):
            self._item.stash[RECORDED] = cassette_path(self._item, self.setting.case, self.setting.trial)
        return properties


#: The trial of an item that was started before the item's turn.
AHEAD = pytest.StashKey[RunningTrial]()
#: Where the cassette of an item lies that was recorded now.
RECORDED = pytest.StashKey[Path]()
#: Seconds that such a trial took.
ELAPSED = pytest.StashKey[float]()


def ahead_of(item: pytest.Item) -> RunningTrial | None:
    """The item's trial, where it was started ahead and its result has not been used."""
    return item.stash.get(AHEAD, None)


def run_trial(item: pytest.Item, setting: Setting) -> Simulation:
    """Hold a trial, or wait for the one that was started ahead; of which a rerun makes a new one."""
    ahead = ahead_of(item)
    if ahead is None:
        if ELAPSED in item.stash:
            del item.stash[ELAPSED]  # of the run before a rerun
        return RunningTrial(item, setting).wait()
    del item.stash[AHEAD]
    try:
        return ahead.wait()
    finally:
        item.stash[ELAPSED] = ahead.elapsed
