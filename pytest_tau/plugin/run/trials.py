"""Trials that were started: they run on an event loop, and are stored when they end, whatever ends them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import queue
import threading
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import pytest

from ...clock import steady_time
from ...participants.containment import participant_traceback
from ...runner import TrialRunner, refuse_failing_reference
from ...stalls import TRIAL_TIME, TrialTime
from ...text import printable
from ..context.run_state import require_context
from ..makers import inputs_of
from ..store.trial_log import TrialLog
from .foreign import note_foreign
from .setup import sources_of

if TYPE_CHECKING:
    import logging
    from collections.abc import Awaitable, Callable, Sequence

    from ...models import Message, Simulation
    from ...participants import ParticipantSource
    from ...runner import Trial
    from ...stalls import Stall
    from ..context.event_loop import BorrowedLoop, RunningLoop
    from ..items import TaskSpec
    from ..store.writer import ResultWriter

#: The participant that has broken off a conversation, by how it ended.
BY_PARTICIPANT = {"agent_error": "agent", "user_error": "user"}


class TrialFuture:
    """A trial of an item that is started, and its result once it has ended.

    It runs on an event loop, in another thread than pytest; ``wait_for`` takes its result to the item.

    Args:
        item: The test item.
        spec: Task, domain and settings.
        trial: The trial.
        agent: The agent: one of the forms of agents, or a source of them.
        user: The simulated user, likewise.

    Attributes:
        item, spec, agent, user: The arguments of these names.
        trial: The trial, which reports its messages here if anyone wants them.
        messages: Its messages for the hooks, as they come; None after the last one.
        logged: The records that were logged in its course.
        restored: Its simulation, if it was taken from the previous run.
        began: When it was started.
        elapsed: Seconds that it took, once it has ended.
        fault: The exception of a participant that has ended the conversation; None if none has.
        interrupted: What was stored of it when it was ended from outside; None if it was not.
        lost: Whether code of another trial has blocked its event loop, and another one is to be made.
        is_taken: Whether the item has it: if the item is run again, it gets another one.
    """

    def __init__(self, item: pytest.Item, spec: TaskSpec, trial: Trial, agent: Any, user: Any) -> None:
        self.item, self.spec, self.agent, self.user = item, spec, agent, user
        self._context = context = require_context(item.config)
        self._has_listeners = bool(item.ihook.pytest_tau_message.get_hookimpls())
        # A trial without a model ends sooner than a message reaches the other thread.
        listens = self._has_listeners or context.log_folder is not None
        self.trial = replace(trial, on_message=self._add_message) if listens else trial
        self.messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.logged: list[logging.LogRecord] = []
        self.restored: Simulation | None = None
        self.began = self.elapsed = 0.0
        self.fault: BaseException | None = None
        self.interrupted: Simulation | None = None
        self.lost = self.is_taken = False
        self._store = _Store(context.writer, item.nodeid, spec)
        self._log: TrialLog | None = None
        self._loop: BorrowedLoop | RunningLoop | None = None
        self._runner: TrialRunner | None = None
        self._future: Future[Simulation] = Future()  # a signal may come while the trial is started
        # Acquired once, by who ends the trial: its own coroutine, or the watch over its event loop.
        self._end = threading.Lock()

    def start(self, loop: BorrowedLoop | RunningLoop | None = None, *, repeatable: bool = False) -> Self:
        """Start the trial.

        Args:
            loop: The event loop on which it runs; None for that of the run.
            repeatable: Another one can be made of the item, if this one is lost.
        """
        context, trial = self._context, self.trial
        self._loop, self.began = loop, steady_time()
        context.writer.start(self.item.session, context.config)
        context.logs.attach()
        if context.log_folder is not None:
            self._log = TrialLog(context.log_folder, self.item.nodeid)
            trial.models.observe(self._log.add_call)
        after = self.item.config.hook.pytest_tau_after_trial(
            item=self.item, spec=self.spec, number=trial.number, models=trial.models
        )
        agent, user = sources_of(context, self.spec, self.agent, self.user)
        self._runner = runner = TrialRunner(trial, agent, user)
        context.running.add(self)
        conclude = functools.partial(self._conclude, runner, agent, repeatable)
        timed = TrialTime(self.item.nodeid, self.spec.config.simulation.foreign_seconds, conclude)
        work = self._run(runner, agent, after, timed)
        return self._with_future((loop or context.loop).submit(work, timed))

    def restore(self, simulation: Simulation) -> Self:
        """Take the simulation from the previous run, instead of running the trial again."""
        self.restored, self.began, self.elapsed = simulation, steady_time(), simulation.duration
        for message in simulation.messages if self._has_listeners else ():
            self.messages.put(message)
        future: Future[Simulation] = Future()
        future.set_result(simulation)
        return self._with_future(future)

    def _with_future(self, future: Future[Simulation]) -> Self:
        self._future = future
        future.add_done_callback(self._finish)
        return self

    def _finish(self, _: Future[Simulation]) -> None:
        self._context.running.discard(self)
        self.messages.put(None)

    def _add_message(self, message: Message) -> None:
        self.messages.put(message)
        if self._log is not None:
            self._log.add_message(message)

    @property
    def test(self) -> str:
        """Return the node id of its test."""
        return self.item.nodeid

    @property
    def done(self) -> bool:
        """Return whether the trial has finished."""
        return self._future.done()

    @property
    def results_problem(self) -> str | None:
        """Return why its simulation, or its log, could not be stored; None if it was."""
        return self._store.problem or (self._log.problem if self._log else None)

    def result(self) -> Simulation:
        """Return the simulation of a trial that has finished.

        Raises:
            RuntimeError: It was ended by an exception that pytest does not expect here.
            Exception: The exception that has ended it.
        """
        problem = self._future.exception()
        if problem is not None and not isinstance(problem, Exception | pytest.skip.Exception | pytest.fail.Exception):
            # pytest's state does not survive any other exception in a fixture; Ctrl-C is raised in this thread alone.
            raise RuntimeError(f"the trial was ended by {type(problem).__name__}") from problem
        # An agent that runs in this thread may have caught the exception of a time limit.
        return self.interrupted or self._future.result()

    def add_done_callback(self, call: Callable[[], None]) -> None:
        """Have something called, in another thread, once the trial has finished."""
        self._future.add_done_callback(lambda _: call())

    async def arrive(self) -> None:
        """Wait for the trial on the event loop on which it runs."""
        with contextlib.suppress(Exception):  # ``result`` raises it
            await asyncio.wrap_future(self._future)

    def keep(self, why: str) -> None:
        """Store what there is of the trial, which is about to be ended, unless it has finished.

        Args:
            why: What ends it.
        """
        if not self.done and self._runner is not None:
            simulation = self._runner.interrupted(printable(why))
            if simulation is not None and self._store.add(simulation):
                self.interrupted = simulation

    def interrupt(self, why: str) -> None:
        """End the trial, unless it has finished, and store what there is of it.

        Args:
            why: What ends it.
        """
        self.keep(why)
        self._future.cancel()

    def leave(self) -> None:
        """End the trial, unless it has finished, and wait until an event loop that was borrowed has stopped."""
        self._future.cancel()
        if self._loop is not None:
            self._loop.join()

    async def _run(
        self,
        runner: TrialRunner,
        agent: ParticipantSource,
        after: Sequence[Callable[[Simulation], Awaitable[None]]],
        timed: TrialTime,
    ) -> Simulation:
        start = steady_time()
        TRIAL_TIME.set(timed)
        try:
            with self._context.logs.collecting(self.logged):
                await refuse_failing_reference(self.trial, self.item.path)
                simulation = await runner.run()
                await self._add_facts(simulation, after)
            if not self._may_end():
                raise asyncio.CancelledError  # noqa: TRY301 - its loop was given up, and it is stored already
            return self._completed(runner, simulation, agent)
        except BaseException as error:
            self._end_log(None, error)
            raise
        finally:
            self.elapsed = steady_time() - start

    async def _add_facts(
        self, simulation: Simulation, after: Sequence[Callable[[Simulation], Awaitable[None]]]
    ) -> None:
        """Do what capabilities do after the verdict; one that is cancelled, as by Ctrl-C, does not lose the trial."""
        try:
            for add_facts in after:
                await add_facts(simulation)
        except asyncio.CancelledError:
            if self._may_end():
                self._store.add(simulation)
            raise

    def _may_end(self) -> bool:
        """Return whether the trial has not been ended; it counts as ended from then on."""
        return self._end.acquire(blocking=False)

    def _conclude(self, runner: TrialRunner, agent: ParticipantSource, repeatable: bool, stall: Stall) -> None:
        """End the trial on another event loop, since its own is blocked and was given up."""

        async def conclude() -> Simulation:
            return self._completed(runner, await runner.conclude(stall), agent)

        def settle(concluded: Future[Simulation]) -> None:
            with contextlib.suppress(InvalidStateError):  # the trial was cancelled
                error = concluded.exception()
                if error is not None:
                    self._future.set_exception(error)
                else:
                    self._future.set_result(concluded.result())

        if not self._may_end():
            return
        if repeatable and stall.trial != self.test:
            self.lost = True
            runner.abandon()
            problem = RuntimeError("the trial was lost: its event loop was blocked")
            with contextlib.suppress(InvalidStateError):  # the trial was cancelled
                self._future.set_exception(problem)
            self._end_log(None, problem)
        else:
            self._context.loop.submit(conclude()).add_done_callback(settle)

    def _completed(self, runner: TrialRunner, simulation: Simulation, agent: ParticipantSource) -> Simulation:
        """Return the simulation of a trial that has ended, stored."""
        is_costed = self.spec.config.models.has_budget or self._context.gates_cost
        note_foreign(simulation, agent, self.trial.models, is_costed=is_costed)
        runner.note_late_calls(simulation)
        self._context.late_calls.append(runner.late_calls)
        if inputs := inputs_of(self.item):
            simulation.info = replace(simulation.info, inputs=inputs)
        # Other faults, as of a provider, have no frames of a participant's code that would explain them.
        self.fault = runner.fault if simulation.termination_reason in BY_PARTICIPANT else None
        self._end_log(simulation)
        self._store.add(simulation)
        return simulation

    def _end_log(self, simulation: Simulation | None, error: BaseException | None = None) -> None:
        if self._log is not None:
            text = None if self.fault is None else participant_traceback(self.fault, self.trial.models.arguments)
            self._log.end(simulation, error, text)


class _Store:
    """Stores a simulation of a trial before anything else can fail: the first one, whoever ends the trial.

    Attributes:
        problem: Why it could not be written; None if it was, or if there is none yet.
    """

    def __init__(self, writer: ResultWriter, test: str, spec: TaskSpec) -> None:
        self._writer, self._test, self._spec = writer, test, spec
        self.problem: str | None = None
        self._is_full = False
        # Who ends the process waits until it is written. A signal may come while the main thread itself writes.
        self._lock = threading.RLock()

    def add(self, simulation: Simulation) -> bool:
        """Store a simulation; return whether none was stored before."""
        with self._lock:
            if self._is_full:
                return False
            self._is_full = True
            self.problem = self._writer.write(self._test, self._spec, simulation)
        return True
