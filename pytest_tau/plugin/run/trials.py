"""Trials inside test items: they run on the event loop, are stored when they finish, and are reported in item order."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

import pytest

from ...clock import steady_time
from ...errors import BudgetError, ConfigurationError
from ...participants.containment import participant_traceback
from ...runner import TrialRunner, refuse_failing_reference
from ...runs.manifest_diff import diff_values
from ...stalls import TRIAL_TIME, TrialTime
from ...text import error_line, printable
from ..context.budget import skip_without_money
from ..context.event_loop import BorrowedLoop
from ..context.run_state import require_context, run_state
from ..items import item_state
from ..makers import SIDES, inputs_of
from ..store.trial_log import TrialLog
from .asyncio_fixtures import fixture_loop
from .foreign import note_foreign
from .item_facts import BY_PARTICIPANT, set_facts, set_fault
from .models import usage_facts
from .outcomes import result_of
from .setup import sources_of, task_for

if TYPE_CHECKING:
    import logging
    from collections.abc import Awaitable, Callable

    from ...models import Message, Simulation
    from ...participants import ParticipantSource
    from ...runner import Trial
    from ...stalls import Stall
    from ..context.event_loop import RunningLoop
    from ..items import TaskSpec


@dataclass(eq=False)
class TrialFuture:
    """A trial of an item, which fixtures or hooks have set up, and what comes of it once it is started.

    When pytest runs the item, the item waits for it and calls the hooks with its messages.

    Attributes:
        item: The test item.
        spec: Task, domain and settings.
        trial: The trial.
        agent: The agent: one of the forms of agents, or a source of them.
        user: The simulated user, likewise.
        tau_trial: The value of the fixture of this name; None without it.
        lost: Whether code of another trial has blocked its event loop, and another one is to be made.
        elapsed: Seconds that the trial took, once it has finished.
    """

    item: pytest.Item
    spec: TaskSpec
    trial: Trial
    agent: Any
    user: Any
    tau_trial: Any = None
    elapsed: float = field(default=0.0, init=False)
    lost: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._context = require_context(self.item.config)
        self._loop: BorrowedLoop | RunningLoop | None = None
        self._repeatable = False
        self._restored: Simulation | None = None
        self._logged: list[logging.LogRecord] = []
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._problem: str | None = None
        self._log: TrialLog | None = None
        self._fault: BaseException | None = None
        self._after: list[Callable[[Simulation], Awaitable[None]]] = []
        self._runner: TrialRunner | None = None
        # A signal may come while the main thread stores the simulation.
        self._storing = threading.RLock()
        self._is_stored = False
        self._graded: Simulation | None = None
        self._interrupted: Simulation | None = None
        self._ending, self._ended = threading.Lock(), False
        self._future: Future[Simulation] = Future()  # a signal may come while the trial is started

    def start(self, loop: BorrowedLoop | RunningLoop | None = None, *, repeatable: bool = False) -> Self:
        """Start the trial.

        Args:
            loop: The event loop on which it runs; None for that of the run.
            repeatable: Another one can be made of the item, if this one is lost.
        """
        self._loop, self._repeatable, self.began = loop, repeatable, steady_time()
        return self._with_future(self._start())

    def restore(self, simulation: Simulation) -> Self:
        """Take the simulation from the previous run, instead of running the trial again."""
        self._restored, self.began = simulation, steady_time()
        return self._with_future(self._as_finished(simulation))

    def _with_future(self, future: Future[Simulation]) -> Self:
        self._future = future
        future.add_done_callback(lambda _: self._end())
        return self

    def _start(self) -> Future[Simulation]:
        self._context.writer.start(self.item.session, self._context.config)
        self._context.logs.attach()
        if self._context.log_folder is not None:
            self._log = TrialLog(self._context.log_folder, self.item.nodeid)
            self.trial.models.observe(self._log.add_call)
        # A trial without a model ends sooner than a message reaches the other thread.
        listens = self._log is not None or self._has_listeners()
        self.trial = trial = replace(
            self.trial,
            on_message=self._add_message if listens else None,
            # A fixture may have made the agent of it; one that overrides tau_trial may return a plain number.
            agent_trial=getattr(self.tau_trial, "opened", None),
        )
        self._context.running.add(self)
        self._after = self.item.config.hook.pytest_tau_after_trial(
            item=self.item, spec=self.spec, number=trial.number, models=trial.models
        )
        agent, user = sources_of(self._context, self.spec, self.agent, self.user)
        self._runner = runner = TrialRunner(trial, agent, user)
        limit = self.spec.config.simulation.foreign_seconds
        timed = TrialTime(self.item.nodeid, limit, lambda stall: self._conclude(runner, agent, stall))
        work = self._run(runner, agent, timed)
        return (self._loop or self._context.loop).submit(work, timed)

    def _conclude(self, runner: TrialRunner, agent: ParticipantSource, stall: Stall) -> None:
        """End the trial on another event loop, since its own is blocked and was given up."""

        async def conclude() -> Simulation:
            simulation = await runner.conclude(stall)
            return self._completed(runner, simulation, agent)

        def settle(concluded: Future[Simulation]) -> None:
            with contextlib.suppress(InvalidStateError):  # the trial was cancelled
                error = concluded.exception()
                if error is not None:
                    self._future.set_exception(error)
                else:
                    self._future.set_result(concluded.result())

        if self._is_ended():
            return
        if self._repeatable and stall.trial != self.item.nodeid:
            self.lost = True
            runner.abandon()
            lost: Future[Simulation] = Future()
            lost.add_done_callback(settle)
            lost.set_exception(problem := RuntimeError("the trial was lost: its event loop was blocked"))
            self._end_log(None, problem)
        else:
            self._context.loop.submit(conclude()).add_done_callback(settle)

    def _is_ended(self) -> bool:
        """Return whether the trial has been ended; it counts as ended from then on."""
        with self._ending:
            ended, self._ended = self._ended, True
        return ended

    def _end(self) -> None:
        self._context.running.discard(self)
        self._messages.put(None)

    def _as_finished(self, simulation: Simulation) -> Future[Simulation]:
        self.elapsed = simulation.duration
        for message in simulation.messages if self._has_listeners() else ():
            self._messages.put(message)
        future: Future[Simulation] = Future()
        future.set_result(simulation)
        return future

    def _has_listeners(self) -> bool:
        return bool(self.item.ihook.pytest_tau_message.get_hookimpls())

    def _add_message(self, message: Message) -> None:
        self._messages.put(message)
        if self._log is not None:
            self._log.add_message(message)

    def check_reuse(self, agent: Any, user: Any) -> None:
        """Check that a simulation of the previous run had the participants that hooks and fixtures make now.

        Raises:
            ConfigurationError: It had others; names both.
        """
        if self._restored is None or not self._restored.conditions:
            return
        made = sources_of(self._context, self.spec, agent, user)
        now: dict[str, Any] = {side: source.name for side, source in zip(SIDES, made, strict=True)}
        then: dict[str, Any] = {side: self._restored.conditions.get(side) for side in SIDES}
        if differences := diff_values("", then, now):
            label = run_state(self.item.config).paths.resume_label
            problem = "the earlier run had another participant; start a new run without"
            raise ConfigurationError("\n  ".join([f"{label}: {problem} {label}", *differences]))

    @property
    def test(self) -> str:
        """Return the node id of its test."""
        return self.item.nodeid

    @property
    def done(self) -> bool:
        """Return whether the trial has finished."""
        return self._future.done()

    def add_done_callback(self, call: Callable[[], None]) -> None:
        """Have something called, in another thread, once the trial has finished."""
        self._future.add_done_callback(lambda _: call())

    def keep(self, why: str) -> None:
        """Store what there is of the trial, which is about to be ended, unless it has finished.

        Args:
            why: What ends it.
        """
        if not self.done and self._runner is not None:
            simulation = self._graded or self._runner.interrupted(printable(why))
            if simulation is not None and self._store(simulation):
                self._interrupted = simulation

    def interrupt(self, why: str) -> None:
        """End the trial, unless it has finished, and store what there is of it.

        Args:
            why: What ends it.
        """
        self.keep(why)
        self._future.cancel()

    def give_up(self, error: BaseException) -> None:
        """End the trial because its test cannot wait for it, and report what there is of it.

        Args:
            error: The exception that ends the test.
        """
        self.interrupt(error_line(f"{type(error).__name__}: {error}".removesuffix(": ")))
        if self._interrupted is not None:
            item_state(self.item).simulation = self._interrupted
            self._set_facts(self._interrupted)

    async def arrive(self) -> None:
        """Wait for the trial on the event loop on which it runs."""
        with contextlib.suppress(Exception):  # ``wait`` raises it
            await asyncio.wrap_future(self._future)

    def wait(self) -> Simulation:
        """Wait for the trial and return its result; call the hooks, in the thread that pytest runs in.

        Raises:
            Exception: A hook raised it; the trial has finished, and its result is stored.
        """
        try:
            return self._follow()
        except BaseException as error:  # of a hook or a time limit of another plugin; Ctrl-C
            if isinstance(error, KeyboardInterrupt):
                self._context.interrupt()
            self.give_up(error)
            raise
        finally:
            self._future.cancel()
            if self._loop is not None:
                self._loop.join()

    def _follow(self) -> Simulation:
        item = self.item
        hooks = item.ihook  # each access looks the hooks up again, which takes time
        started = hooks.pytest_tau_simulation_started
        started(item=item, task=task_for(started, self.spec.task), trial=self.trial.number)
        failure: Exception | None = None
        while (message := self._next_message()) is not None:
            try:
                hooks.pytest_tau_message(item=item, message=message)
            except Exception as error:  # noqa: BLE001 - a hook of another plugin may raise anything
                failure = failure or error
        self._context.logs.add_to_test(self._logged)
        try:
            simulation = self._result()
        except BudgetError as error:
            self._skip(error)
        self._set_facts(simulation)
        hooks.pytest_tau_simulation_finished(item=item, simulation=simulation)
        if failure is not None:
            raise failure
        return simulation

    def _next_message(self) -> Message | None:
        """Return the next message, None after the last one; report each second that it takes."""
        while True:
            try:
                return self._messages.get(timeout=1.0)
            except queue.Empty:
                waiting = self.item.ihook.pytest_tau_trials_waiting
                waiting(trials={self.item.nodeid: steady_time() - self.began})

    def _skip(self, error: BudgetError) -> NoReturn:
        """Report a trial that the budget of the run has stopped as not run, with what it has cost."""
        item_state(self.item).report.usage = usage_facts(self.spec, self.trial.models)
        skip_without_money(self.item, f"{error}, which has stopped this trial", is_priced=error.is_priced)

    def _result(self) -> Simulation:
        problem = self._future.exception()
        if problem is not None and not isinstance(problem, Exception | pytest.skip.Exception | pytest.fail.Exception):
            # pytest's state does not survive any other exception in a fixture; Ctrl-C is raised in this thread alone.
            raise RuntimeError(f"the trial was ended by {type(problem).__name__}") from problem
        # An agent that runs in this thread may have caught the exception of a time limit.
        return self._interrupted or self._future.result()

    async def _run(self, runner: TrialRunner, agent: ParticipantSource, timed: TrialTime) -> Simulation:
        start = steady_time()
        TRIAL_TIME.set(timed)
        try:
            with self._context.logs.collecting(self._logged):
                await refuse_failing_reference(self.trial, self.item.path)
                self._graded = simulation = await runner.run()
                await self._add_facts(simulation)
            if self._is_ended():
                raise asyncio.CancelledError  # noqa: TRY301 - its loop was given up, and it is stored already
            return self._completed(runner, simulation, agent)
        except BaseException as error:
            self._end_log(None, error)
            raise
        finally:
            self.elapsed = steady_time() - start

    def _completed(self, runner: TrialRunner, simulation: Simulation, agent: ParticipantSource) -> Simulation:
        """Return the simulation of a trial that has ended, stored."""
        has_budget = self.spec.config.models.has_budget
        note_foreign(simulation, agent, self.trial.models, is_costed=has_budget or self._context.gates_cost)
        runner.note_late_calls(simulation)
        self._context.late_calls.append(runner.late_calls)
        if inputs := inputs_of(self.item):
            simulation.info = replace(simulation.info, inputs=inputs)
        # Other faults, as of a provider, have no frames of a participant's code that would explain them.
        self._fault = runner.fault if simulation.termination_reason in BY_PARTICIPANT else None
        self._end_log(simulation)
        self._store(simulation)
        return simulation

    async def _add_facts(self, simulation: Simulation) -> None:
        """Do what capabilities do after the verdict; one that is cancelled, as by Ctrl-C, does not lose the trial."""
        try:
            for each in self._after:
                await each(simulation)
        except asyncio.CancelledError:
            if not self._is_ended():
                self._store(simulation)
            raise

    def _end_log(self, simulation: Simulation | None, error: BaseException | None = None) -> None:
        if self._log is not None:
            text = None if self._fault is None else participant_traceback(self._fault, self.trial.models.arguments)
            self._log.end(simulation, error, text)

    def _store(self, simulation: Simulation) -> bool:
        """Store the simulation, before anything else can fail; return whether none was stored before."""
        with self._storing:
            if self._is_stored:
                return False
            self._is_stored = True
            self._problem = self._context.writer.write(self.item.nodeid, self.spec, simulation)
            self._problem = self._problem or (self._log.problem if self._log else None)
        return True

    def _set_facts(self, simulation: Simulation) -> None:
        set_facts(self.item, self.spec, self.trial, simulation, is_restored=self._restored is not None)
        set_fault(self.item, self.trial.models, simulation, self._fault)
        item_state(self.item).report.results_problem = self._problem


def run_trial(request: pytest.FixtureRequest, trial: TrialFuture) -> Simulation:
    """Run the trial of a test, or wait for the one that was prefetched; a rerun runs a new one.

    Raises:
        HarnessError: Anything but the agent failed.
    """
    __tracebackhide__ = True
    item, state = request.node, item_state(request.node)
    prefetched: TrialFuture | None = state.prefetched
    state.prefetched = None
    if prefetched is None:
        loop = fixture_loop(request)
        state.elapsed, state.restored = None, False
        return result_of(item, trial.start(BorrowedLoop(loop) if loop else None).wait())
    prefetched.check_reuse(trial.agent, trial.user)
    try:
        simulation = prefetched.wait()
    finally:
        state.elapsed = prefetched.elapsed
    return result_of(item, simulation)
