"""The turn-taking of the user: when they speak, go on, stop, wait, or show that they listen.

Source: τ²-bench v1.0.1, full-duplex user, with its default policy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .user import Spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....models import ToolCall
    from ....participants import Incoming
    from ..ticks import Action
    from .user import UserMind


class Patience(NamedTuple):
    """The thresholds of the user's policy, in ticks.

    Attributes:
        wait_other: Silence of the agent that is exceeded before the user speaks.
        wait_self: Silence of the user, likewise.
        yield_interrupted: Speech of the agent that began after the user's, at which the user stops.
        yield_interrupting: Speech of the agent that began before the user's, likewise. Without the former, the user
            never stops.
        interval: Whether to interrupt is decided in each tick whose number it divides; None for every tick.
    """

    wait_other: int = 5
    wait_self: int = 25
    yield_interrupted: int | None = 5
    yield_interrupting: int | None = 25
    interval: int | None = 10

    @classmethod
    def of(cls, tick: float) -> Patience:
        """Return the thresholds for a length of ticks in seconds."""
        return cls(*(int(seconds / tick) for seconds in (1.0, 5.0, 1.0, 5.0, 2.0)))


class Emitted(NamedTuple):
    """What the user does in a tick.

    Attributes:
        text: The words of the tick.
        speech: Whether the user speaks.
        action: The action, and why; None while results are waited for.
        info: The reason.
        calls: Tool calls.
        stop: The text ends the conversation.
    """

    text: str = ""
    speech: bool = False
    action: Action | None = None
    info: str | None = None
    calls: Sequence[ToolCall] = ()
    stop: bool = False


class UserTurns:
    """The user, tick by tick.

    Attributes:
        since_self: Ticks since the user spoke.
        since_other: Ticks since the agent spoke.
        run_self: Ticks in a row in which the user has spoken.
        run_other: Ticks in a row in which the agent has spoken.
        waiting: The user waits for results.
        queue: What they have yet to say.
        buffer: What the agent has said since the user's last reply: text, and whether it was speech.
    """

    def __init__(self, mind: UserMind, patience: Patience) -> None:
        self._mind, self._patience = mind, patience
        self.since_self = self.since_other = self.run_self = self.run_other = 0
        self.waiting = self._delivering = self._acknowledging = False
        self._ticks = 0
        self.queue: list[str] = []
        self.buffer: list[tuple[str, bool]] = []

    async def tick(self, text: str, speech: bool, results: Incoming | None = None) -> Emitted:
        """Return what the user does, given what the agent did in the tick before.

        Args:
            text: The words of the agent.
            speech: Whether the agent has spoken.
            results: The results of the calls that the user made; None if there are none.
        """
        self._ticks += 1
        self.buffer.append((text, speech))
        self.since_other, self.run_other = (0, self.run_other + 1) if speech else (self.since_other + 1, 0)
        if results is not None:
            self.waiting = False
            emitted = await self._answer(results)
        elif self.waiting:
            self.since_self += 1
            emitted = Emitted()
        else:
            emitted = await self._act()
        self.waiting = self.waiting or bool(emitted.calls)
        self.run_self = self.run_self + 1 if emitted.speech or emitted.calls else 0
        return emitted

    @property
    def heard(self) -> str:
        """Return what the agent has said since the user's last reply."""
        return "".join(text for text, _ in self.buffer)

    async def _act(self) -> Emitted:
        action, info = self._while_talking() if self.queue else await self._while_listening()
        emitted = Emitted(action=action, info=info)
        if action == "keep_talking":
            emitted = emitted._replace(text=self.queue.pop(0), speech=True)
            if not self.queue:
                self._acknowledging = self._delivering = False
        elif action == "stop_talking":
            self.queue, self._acknowledging = [], False
        elif action == "backchannel":
            self.queue, self._acknowledging = list(self._mind.backchannel()), True
            emitted = emitted._replace(text=self.queue.pop(0), speech=True)
        elif action == "generate_message":
            spoken = await self._reply(None)
            if spoken.calls or spoken.stop is not None:
                return emitted._replace(
                    calls=spoken.calls, text=spoken.stop or "", speech=not spoken.calls, stop=not spoken.calls
                )
            self.queue = list(spoken.chunks)
            if self.queue:
                emitted = emitted._replace(text=self.queue.pop(0), speech=True)
            else:
                emitted = Emitted(action="wait", info="Nothing to say yet.")
        self.since_self = 0 if emitted.speech else self.since_self + 1
        return emitted

    async def _reply(self, results: Incoming | None) -> Spoken:
        spoken = await self._mind.reply("" if results is not None else self.heard, results)
        if results is None and spoken != Spoken():
            self.buffer = []
        return spoken

    async def _answer(self, results: Incoming) -> Emitted:
        """Answer results: what is said begins in the next tick."""
        spoken = await self._reply(results)
        if spoken.calls:
            return Emitted(calls=spoken.calls)
        if spoken.stop is not None:
            return Emitted(text=spoken.stop, speech=True, stop=True)
        self.queue, self._delivering = list(spoken.chunks), True
        self.since_self += 1
        return Emitted()

    def _while_talking(self) -> tuple[Action, str]:
        if self._acknowledging:
            return "keep_talking", "Backchannel in progress"
        if not self.run_other:
            return "keep_talking", "No interruption"
        threshold, name = self._patience.yield_interrupted, "when_interrupted"
        if self._delivering:
            threshold, name = self._patience.yield_interrupting, "when_interrupting (delivering_tool_result)"
        elif 0 < self.run_self < self.run_other:
            threshold, name = self._patience.yield_interrupting, "when_interrupting"
        may_yield = self._patience.yield_interrupted is not None
        if may_yield and threshold is not None and self._overlap() >= threshold:
            return "stop_talking", f"Interruption above threshold ({name}), stop."
        return "keep_talking", f"Interruption below threshold ({name}), ignore"

    def _overlap(self) -> int:
        """Return for how many ticks the agent has spoken without a pause, since the user's last reply."""
        ticks = 0
        for _, speech in reversed(self.buffer):
            if not speech:
                break
            ticks += 1
        return ticks

    async def _while_listening(self) -> tuple[Action, str]:
        listens, patience = bool(self._overlap()), self._patience
        if listens and (patience.interval is None or self._ticks % patience.interval == 0):
            interrupts, acknowledges = await self._mind.decide(self.heard)
            if interrupts:
                return "generate_message", "Callback decided to interrupt."
            if acknowledges:
                return "backchannel", "Callback decided to backchannel."
        if self.since_other > patience.wait_other and self.since_self > patience.wait_self:
            return "generate_message", "Both silence thresholds met."
        return "wait", "Listening to ongoing speech." if listens else "Silence, waiting for thresholds."
