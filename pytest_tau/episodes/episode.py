"""One conversation that is stepped by who plays one of its sides."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, EpisodeError, ParticipantError, TauError
from ..models import (
    CAPABILITY_LIMIT,
    FAULTS,
    LIMITS,
    NO_NOTES,
    ConversationEnded,
    Notes,
    Simulation,
    clone,
    simulation_id,
)
from ..orchestrator import Limits
from ..participants import ParticipantSource, default_user, load_source
from ..participants.actions import ActionReader
from ..runner import SimulationSettings, TrialRunner, prepare_trial
from ..runs.jsonl import append_simulation
from .seat import Seat
from .step import SideView, StateMeter, StepResult

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from ..environment import Domain, Environment
    from ..models import Message, Task
    from ..participants import ParticipantContext, Side

#: Reasons by which an episode is cut off, and neither side has ended it.
_CUT_OFF = LIMITS | {CAPABILITY_LIMIT, "timeout", "context_window_exceeded"}
_OTHER: dict[Side, Side] = {"agent": "user", "user": "agent"}


class Episode:
    """One conversation of a task, stepped by who plays one side; graded like a trial of a test run.

    An episode belongs to the event loop on which it is started. Any number of them can run on one loop::

        async with Episode(task, domain=domain, user="scripted") as episode:
            while not episode.done:
                await episode.step(await policy(episode.messages, episode.tools))
            print(episode.reward)

    Args:
        task: What is to be done.
        domain: Where.
        side: The side that is played by steps.
        agent: The agent, if the user is played: a specification as ``simulate`` takes it. By default a model if the
            settings have one for the agent, else ``rules``.
        user: The user, if the agent is played. By default ``llm`` if the settings have a model for the user, else
            ``scripted``; none if the agent works alone.
        trial: Which repetition of the task this is.
        seed: The seed that the other side and the models are given.
        settings: Limits, grading, solo mode, policy, models. By default there is no limit of time.
        measure_state: Measure ``state`` of partial credit before and after each of one's own calls: ``state_change`` of
            a step is the difference. It takes a comparison of the databases for each call.

    Raises:
        ConfigurationError: The other side cannot be used, one's own side was named, or the domain cannot be run so.
            Or ``state`` is to be measured, and the task has no reference or the domain's state cannot be compared.
        TaskFormatError: The task does not fit the domain.
    """

    def __init__(  # noqa: PLR0913 - the public call, as simulate; everything but task and domain has a default
        self,
        task: Task,
        *,
        domain: Domain,
        side: Side = "agent",
        agent: Any = None,
        user: Any = None,
        trial: int = 0,
        seed: int | None = None,
        settings: SimulationSettings | None = None,
        measure_state: bool = False,
    ) -> None:
        settings = settings or SimulationSettings(limits=Limits())
        other = _other_side(side, agent, user, settings)
        self.task, self.side, self.trial, self.seed = task, side, trial, seed
        self._trial = prepare_trial(task, domain, settings, trial, seed, self._note)
        self.domain = self._trial.domain
        self._seat = Seat(side)
        sources = {side: ParticipantSource("episode", self._seat), _OTHER[side]: load_source(other, _OTHER[side])}
        self._runner = TrialRunner(self._trial, sources["agent"], sources["user"])
        self._context = context = self._trial.context(side)
        self._tools = [tool.openai_schema for tool in context.tools]
        parameters = {tool.name: tuple(tool.parameters.get("properties", ())) for tool in context.tools}
        self._reader = ActionReader(side, parameters, settings.solo)
        self._view = SideView(side, context)
        self._task: asyncio.Task[Simulation] | None = None
        self._meter = StateMeter(task, self.domain, side) if measure_state else None
        self._busy = self._closed = False
        self._simulation: Simulation | None = None
        self._last = StepResult()

    # What an episode has

    @property
    def prompt(self) -> list[dict[str, Any]]:
        """The messages before one's own first one, in OpenAI chat format.

        The system message is that of the built-in participant ``llm``. The other side's messages have the role
        ``user``, one's own ``assistant``. Empty before ``start``.
        """
        return self._view.prompt

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation so far as one's own side sees it: the prompt, and all that followed, in OpenAI chat format.

        One's own messages are as they were recorded: an action that was read as a call is a tool call.
        """
        return self._view.messages

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The tools of one's own side as OpenAI tool schemas."""
        return clone(self._tools)

    @property
    def trajectory(self) -> list[Message]:
        """The whole conversation so far, with the other side's calls, oldest first; also if the episode was closed."""
        return clone(self._view.trajectory)

    @property
    def environment(self) -> Environment:
        """The environment of the conversation, for reading: only changes by the conversation's calls are graded."""
        return self._trial.environment

    @property
    def context(self) -> ParticipantContext:
        """The context of a participant on one's own side: tools, instructions, its part of the task."""
        return self._context

    @property
    def done(self) -> bool:
        """Return whether the episode is over: it has ended, or was closed."""
        return self._closed or self._simulation is not None

    @property
    def terminated(self) -> bool:
        """Return whether one of the sides has ended the conversation."""
        return self._last.terminated

    @property
    def truncated(self) -> bool:
        """Return whether a limit has ended the conversation."""
        return self._last.truncated

    @property
    def reward(self) -> float:
        """The reward of the verdict; 0 before the end."""
        return self._simulation.reward if self._simulation else 0.0

    @property
    def simulation(self) -> Simulation | None:
        """The simulation with its verdict once the episode has ended; None before, and if it was closed before."""
        return self._simulation

    # What one can do

    async def start(self) -> StepResult:
        """Begin the conversation, and return when it is one's own turn.

        Raises:
            EpisodeError: It has begun, or was closed.
            ConfigurationError: A participant cannot be used, or the task needs what the settings lack.
            TaskFormatError: The task does not fit the domain.
            TauError: The other side, a provider or the harness failed; of the class of the cause.
        """
        if self._closed or self._task is not None:
            state = "was closed" if self._closed else "has begun"
            raise EpisodeError(f"{self._name} {state}: make a new episode for another conversation")
        self._task = asyncio.ensure_future(self._runner.run())
        self._task.add_done_callback(lambda _: self._seat.wake())
        result = await self._until_own_turn(None)
        self._view.end_prompt()
        return result

    async def step(self, action: str | dict[str, Any] | Message) -> StepResult:
        """Say or call something, and return when it is one's own turn again, or when the conversation is over.

        Args:
            action: A message in OpenAI chat format, a message of ``pytest_tau.models``, or a text. A text is read as
                one or several calls if it is a JSON object with ``name`` and ``arguments`` or a list of such, a call
                such as ``get_order(order_id="W1")``, or has one of them in a fenced block.

        Returns:
            The new messages. An action that cannot be read, and a call that fails, are answered by an error; both count
            as failed tool calls.

        Raises:
            EpisodeError: The episode has not begun or is over, another step is under way, or the action is not a
                text or a message of one's own side. The episode goes on.
            TauError: The other side, a provider or the harness failed; of the class of the cause. The episode is over,
                and ``simulation`` has the conversation.
            asyncio.CancelledError: The step was cancelled; the episode is closed.
        """
        self._check_turn()
        message, read_as = self._reader.read(action)
        self._seat.answer(message)
        return await self._until_own_turn(read_as)

    def save(self, path: Path | str) -> Path:
        """Append the simulation to a file of simulations, which ``tau view`` and the other commands read.

        Args:
            path: The file, or a folder for ``simulations.jsonl``.

        Returns:
            The file.

        Raises:
            EpisodeError: The episode has no simulation yet, or was closed before its end without ``abandon``.
            OSError: The file cannot be written.
        """
        if self._simulation is None:
            state = "was closed before its end" if self._closed else "is not over"
            raise EpisodeError(f"{self._name} {state}: there is no simulation to save")
        return append_simulation(Path(path), self.domain, self.task, self._simulation)

    async def close(self) -> None:
        """End the episode; a conversation under way is cancelled and has no simulation. Nothing stays on the loop."""
        if self._task is None:
            self._trial.environment.close()
        elif not self._task.done():
            self._check_loop(self._task)
            self._task.cancel()
            await asyncio.wait({self._task})
        self._closed = True

    async def abandon(self, reason: str) -> Simulation:
        """End the episode before its end, and return the conversation so far as a simulation without a verdict.

        Args:
            reason: Why it has not ended; the error of the simulation, which is an infrastructure error.

        Raises:
            EpisodeError: The episode has a simulation.
        """
        if self._simulation is not None:
            raise EpisodeError(f"{self._name} is over ({self._simulation.termination_reason})")
        await self.close()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        started = next((message.timestamp for message in self._view.trajectory if message.timestamp), now)
        self._simulation = Simulation(
            id=simulation_id(self.task.id, self.trial, self.seed, started),
            task_id=self.task.id,
            trial=self.trial,
            seed=self.seed,
            start_time=started,
            end_time=now,
            termination_reason="infrastructure_error",
            error=reason,
            messages=self.trajectory,
            info=Notes(solo=True) if self._context.solo else NO_NOTES,
        )
        return self._simulation

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # How it is done

    @property
    def _name(self) -> str:
        return f"the episode of task {self.task.id!r}"

    def _note(self, message: Message) -> None:
        self._view.trajectory.append(message)
        if self._meter is not None:
            self._meter.note(message, self.environment)

    def _check_turn(self) -> None:
        if self._busy:
            raise EpisodeError(f"{self._name}: a step is under way: await it; two players need an episode each")
        if self._closed:
            raise EpisodeError(f"{self._name} was closed")
        if self._simulation is not None:
            reason = self._simulation.termination_reason
            raise EpisodeError(f"{self._name} is over ({reason}): make a new episode for another conversation")
        if self._task is None:
            raise EpisodeError(f"{self._name} has not begun: await start(), or use 'async with'")
        self._check_loop(self._task)

    def _check_loop(self, task: asyncio.Task[Any]) -> None:
        if task.get_loop() is not asyncio.get_running_loop():
            raise EpisodeError(f"{self._name} belongs to another event loop: use it where it was started")

    async def _until_own_turn(self, read: str | list[dict[str, Any]] | None) -> StepResult:
        """Wait for one's own turn or the end, and return what has happened."""
        self._busy = True
        try:
            if not (self._seat.is_asked or self._ended):
                await self._seat.change()
        except asyncio.CancelledError:
            await self.close()
            raise
        finally:
            self._busy = False
        new = self._view.update(self._seat.given, own_first=read is not None)
        self._last = StepResult(clone(new), read)
        if self._ended:
            self._last = self._finish(new, read)
        if self._meter is not None:
            self._last = replace(self._last, state_change=self._meter.take())
        return self._last

    @property
    def _ended(self) -> bool:
        return self._task is not None and self._task.done()

    def _finish(self, new: list[dict[str, Any]], read: str | list[dict[str, Any]] | None) -> StepResult:
        """Return the result of the last step."""
        assert self._task is not None
        if self._task.cancelled():
            raise EpisodeError(f"{self._name} was closed")
        try:
            simulation = self._simulation = self._task.result()
        except TauError:
            self._closed = True  # it cannot be run
            raise
        reason = simulation.termination_reason
        if self._is_fault(simulation):
            raise _error_of(simulation, self._runner.fault, _OTHER[self.side]) from self._runner.fault
        truncated = reason in _CUT_OFF or reason == "user_error"
        return StepResult(clone(new), read, simulation.reward, not truncated, truncated)

    def _is_fault(self, simulation: Simulation) -> bool:
        """Return whether something other than one's own side has failed."""
        reason = simulation.termination_reason
        if simulation.reward_info is None:
            return True
        # One's own side has no code that can fail: without an exception, the clock has ended the user's turn.
        own_time = self.side == "user" and reason == "user_error" and self._runner.fault is None
        other_failed = self.side == "user" and reason == "agent_error"
        return other_failed or (reason in FAULTS and not own_time)


def _other_side(side: Side, agent: Any, user: Any, settings: SimulationSettings) -> Any:
    """Return the specification of the other side."""
    if side not in _OTHER:
        raise ConfigurationError(f"side: expected 'agent' or 'user', got {side!r}")
    own, other = (agent, user) if side == "agent" else (user, agent)
    if own is not None:
        raise ConfigurationError(f"{side}={own!r}: the {side} is played by steps; name the {_OTHER[side]}")
    if side == "user":
        if settings.solo:
            raise ConfigurationError("solo mode has no user to play")
        return other if other is not None else "llm" if "agent" in settings.llms else "rules"
    if other is not None and not settings.solo:
        return other
    if other not in (None, "dummy"):
        raise ConfigurationError(f"user={other!r}: solo mode has no user")
    return default_user(None, solo=settings.solo, llm="user" in settings.llms)


def _error_of(simulation: Simulation, cause: BaseException | None, other: Side) -> TauError:
    """Return the error of an episode without a verdict."""
    if isinstance(cause, TauError) and not isinstance(cause, ConversationEnded):
        return cause
    text = (simulation.error or simulation.termination_reason).strip().splitlines()[-1]
    if simulation.termination_reason in (f"{other}_error", "user_error"):
        return ParticipantError(f"the {other} failed: {text}", side=other)
    return TauError(f"the conversation has no verdict ({simulation.termination_reason}): {text}")
