"""The conversation in ticks: both sides hear each other one tick late, and speak when they like."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from .... import Ending
from ....models import AssistantMessage, UserMessage
from ....participants import Adapter
from ..participants.agents import AgentTurns, Heard, Say, as_say, manners_of, message_of
from ..ticks import NON_DIRECTED, SOUNDS
from .conditions import EffectSchedule, heard_through
from .speech import Mouth, Pace
from .timeline import CallTime, Side, Sound, Timeline, Utterance
from .turns import Emitted, Patience, UserTurns
from .user import UserMind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from .... import Conversation
    from ....chat import TrialModel
    from ....models import ToolCall
    from ....participants import Incoming, Reply, TextStream
    from ..audio.ears import Ears, Part
    from ..ticks import SpeechInsert
    from .conditions import Conditions

#: The spread of the time that a tool takes, and its longest time in seconds.
_SPREAD, _LONGEST = 0.5, 10.0


class TalkSettings(NamedTuple):
    """The settings of a conversation in ticks.

    Attributes:
        pace: How fast both sides speak.
        tool_seconds: The median of the time that a tool takes.
        seconds: The most seconds of talk.
        seed: The seed of everything that is drawn.
        ears: What hears the user's words with sound; None for none.
    """

    pace: Pace
    tool_seconds: float
    seconds: float
    seed: int
    ears: Ears | None = None


class Talk:
    """One conversation in ticks.

    Attributes:
        timeline: What has happened so far.
    """

    def __init__(
        self,
        conversation: Conversation,
        conditions: Conditions,
        settings: TalkSettings,
        user_model: TrialModel | None,
        domain_agents: Iterable[type | str],
    ) -> None:
        self.timeline = Timeline(tick_seconds=settings.pace.tick)
        self._conversation, self._settings = conversation, settings
        effects = EffectSchedule(conditions, settings.seed, settings.pace.tick)
        self._agent = AgentSide(conversation, settings, self.timeline, domain_agents)
        self._user = UserSide(conversation, conditions, settings, self.timeline, effects, user_model)

    async def run(self) -> Ending:
        """Hold the conversation to its end."""
        agent, user = self._agent, self._user
        agent_speech: str | None = None
        heard = Heard(0)
        try:
            for tick in range(int(self._settings.seconds / self._settings.pace.tick)):
                self.timeline.ticks = tick + 1
                emitted = await user.tick(tick, agent_speech)
                if emitted.stop:
                    agent.mouth.speak(tick)
                    await agent.drop_stream()
                    return user.ending
                agent_speech = await agent.tick(heard._replace(tick=tick))
                heard = user.arrived
                if ending := self._conversation.limit() or agent.ending or self._conversation.cut_off():
                    await agent.drop_stream()
                    return ending
            return Ending("max_steps", error=f"no end after {self._settings.seconds:g} s of talk")
        finally:
            agent.finish(self.timeline.ticks)
            user.finish(self.timeline.ticks)


class AgentSide:
    """The agent: its mouth, its calls, and what it does in a tick.

    Attributes:
        mouth: What it has yet to say.
    """

    def __init__(
        self,
        conversation: Conversation,
        settings: TalkSettings,
        timeline: Timeline,
        domain_agents: Iterable[type | str],
    ) -> None:
        self._conversation, self._settings, self._timeline = conversation, settings, timeline
        self.mouth = Mouth(settings.pace)
        self.mouth.say(conversation.greeting)
        self._act = self._act_of(domain_agents)
        self._results: tuple[int, Incoming] | None = None
        self._stops: Ending | None = None
        self._reply: AssistantMessage | None = None
        self._calls = 0
        self._stream: TextStream | None = None
        self._speaks_stream = False

    @property
    def ending(self) -> Ending | None:
        """Return how the agent has ended the conversation; None while it speaks, and if it has not."""
        return None if self.mouth.speaks else self._stops

    async def tick(self, heard: Heard) -> str | None:
        """Let the agent act, and return what it says in the tick; None for silence."""
        results = None
        if self._results is not None and heard.tick >= self._results[0]:
            results, self._results = self._results[1], None
        mouth = self.mouth
        heard = heard._replace(said=mouth.said, left=mouth.left, results=results, seconds=self._settings.pace.tick)
        say = await self._act(heard)
        if say.hush:
            mouth.hush(heard.tick)
            await self.drop_stream()
        mouth.say(say.text)
        if say.calls:
            await self._call(heard.tick, say.calls)
        if say.stop:
            self._stops = self._stops or Ending("agent_stop")
        if self._reply is not None and say.text and say.text == self._reply.text:
            self._speaks_stream = self._stream is not None
        while self._speaks_stream and mouth.runs_dry:
            await self._read_on()
        speech = mouth.speak(heard.tick)
        self._record()
        return speech

    async def drop_stream(self) -> None:
        """Close the stream of which the agent speaks, if there is one."""
        if self._stream is not None:
            stream, self._stream, self._speaks_stream = self._stream, None, False
            await self._conversation.of_side("agent", stream.close())

    async def _read_on(self) -> None:
        """Say the next words of a stream; at its end, look whether all of it ends the conversation."""
        stream = self._stream
        assert stream is not None, "it is spoken"
        begun = stream.text
        more = await self._conversation.of_side("agent", stream.words())
        if more:
            self.mouth.go_on(begun, more)
            return
        self._stops = self._stops or self._conversation.stop(AssistantMessage(content=stream.text))
        await self.drop_stream()

    def finish(self, tick: int) -> None:
        """Record what was being said when the conversation ended."""
        self.mouth.hush(tick)
        self._record()

    def _record(self) -> None:
        for start, end, text, rest in self.mouth.over:
            number = len(self._conversation.messages)
            self._conversation.record(self._message(text))
            self._timeline.utterances.append(
                Utterance(side="agent", start=start, end=end, text=text, rest=rest, message_idx=number)
            )
        self.mouth.over.clear()

    def _message(self, text: str | None, calls: Sequence[ToolCall] | None = None) -> AssistantMessage:
        """Return what is said or called as a message, with the cost and the thoughts of the reply that it is of."""
        reply = self._reply
        is_of_reply = reply is not None and text and reply.text and (text in reply.text or reply.text in text)
        if reply is None or not (calls or is_of_reply):
            return AssistantMessage(content=text, tool_calls=list(calls) if calls else None)
        self._reply = None
        return reply.model_copy(update={"content": text, "tool_calls": list(calls) if calls else None})

    async def _call(self, tick: int, calls: Sequence[ToolCall]) -> None:
        number = len(self._conversation.messages)
        message = self._message(None, calls)
        self._conversation.record(message)
        _, results = await self._conversation.run_tools(message)
        end = tick + self._settings.pace.ticks(sum(self._tool_seconds() for _ in calls))
        self._results = end, results
        _note_calls(self._timeline, "agent", (tick, end, number), calls, results)

    def _tool_seconds(self) -> float:
        self._calls += 1
        draw = random.Random(f"{self._settings.seed} tool {self._calls}")  # noqa: S311 - not for secrets
        return min(draw.lognormvariate(log(self._settings.tool_seconds), _SPREAD), _LONGEST)

    def _act_of(self, domain_agents: Iterable[type | str]) -> Callable[[Heard], Awaitable[Say]]:
        """Return what the agent does in a tick: what it says itself, or what its turns as an agent of texts are."""
        conversation, agent = self._conversation, self._conversation.sides["agent"]
        if isinstance(agent, Adapter) and callable(getattr(agent.target, "tick", None)):
            return lambda heard: conversation.of_side("agent", self._own_act(agent, heard))
        manners = manners_of(agent, domain_agents)
        if isinstance(agent, Adapter) and not manners.repeats:  # what is repeated has to be known
            agent.keep_streams()
        note_cut, hear = self._method("interrupted"), self._method("hear_sound")
        return AgentTurns(self._ask, manners, conversation.greeting, note_cut, hear).tick

    def _method(self, name: str) -> Callable[..., Awaitable[Any]] | None:
        """Return a method of the agent; None if it has none of this name."""
        agent = self._conversation.sides["agent"]
        if not isinstance(agent, Adapter) or not callable(getattr(agent.target, name, None)):
            return None
        return lambda *given: self._conversation.of_side("agent", agent.call(name, *given))

    async def _own_act(self, agent: Adapter, heard: Heard) -> Say:
        say = as_say(await agent.call("tick", heard))
        if not say.calls:
            return say
        return say._replace(calls=self._conversation.accept("agent", message_of(say.calls)).tool_calls or ())

    async def _ask(self, message: Incoming) -> tuple[Reply, bool]:
        reply = await self._conversation.ask("agent", message)
        assert isinstance(reply, AssistantMessage), "an agent replies"
        agent = self._conversation.sides["agent"]
        if isinstance(agent, Adapter) and agent.stream is not None:
            self._stream = agent.stream
        self._reply = reply
        return reply, self._conversation.stop(reply) is not None


@dataclass
class _Open:
    """An utterance of the user that goes on: its first tick, what was said of the whole text, and what it is.

    ``arriving`` is what the agent has yet to hear of it, by the tick; None without sound.
    """

    start: int
    whole: str
    action: str
    reply: UserMessage | None = None
    tic: SpeechInsert | None = None
    said: str = ""
    heard: str = ""
    arriving: list[Part] | None = None


class UserSide:
    """The user: their turns, their calls, and what arrives of their words.

    Attributes:
        arrived: What the agent hears of the last tick.
    """

    def __init__(
        self,
        conversation: Conversation,
        conditions: Conditions,
        settings: TalkSettings,
        timeline: Timeline,
        effects: EffectSchedule,
        model: TrialModel | None,
    ) -> None:
        self._conversation, self._pace, self._timeline, self._effects = conversation, settings.pace, timeline, effects
        self._ears = settings.ears
        self._mind = UserMind(conversation, conditions, effects, settings.pace, settings.seed, model)
        self._turns = UserTurns(self._mind, Patience.of(settings.pace.tick))
        self.arrived = Heard(0)
        self._results: Incoming | None = None
        self._open: _Open | None = None
        self._sound: list[str] = []
        self._muffled = False

    @property
    def ending(self) -> Ending:
        """Return how the user has ended the conversation."""
        return self._mind.ending or Ending("user_stop")

    async def tick(self, tick: int, agent_said: str | None) -> Emitted:
        """Return what the user does, who hears what the agent has said in the tick before; None for silence."""
        results, self._results = self._results, None
        words = " " if agent_said is None else agent_said
        emitted = await self._turns.tick(words, agent_said is not None, results)
        if emitted.calls:
            await self._call(tick, emitted.calls)
        if emitted.stop or (emitted.speech and self._open is None):
            action = "backchannel" if emitted.action == "backchannel" else "generate_message"
            self._open = _Open(tick, "".join([emitted.text, *self._turns.queue]), action)
            if action != "backchannel":
                self._open.reply, self._open.tic = self._mind.reply_message, self._mind.tic
            if self._ears is not None and not emitted.stop:
                self._open.arriving = await self._ears.parts(self._open.whole, tick, 1 + len(self._turns.queue))
        self.arrived = self._arrives(tick, emitted)
        if self._open is not None:
            if emitted.speech:
                self._open.said += emitted.text
                self._open.heard += self.arrived.text
            if not emitted.speech or not self._turns.queue:
                self._close(tick + emitted.speech)
        return emitted

    def _arrives(self, tick: int, emitted: Emitted) -> Heard:
        """Return what the agent hears of a tick: the user's words without what is lost, or other sounds."""
        effects = self._effects.tick(user_speaks=emitted.speech)
        if emitted.speech:
            if self._sound:  # cut off by the user's own words
                self._timeline.sounds[-1] = self._timeline.sounds[-1].model_copy(update={"end": tick})
                self._sound = []
            if self._open is not None and self._open.arriving is not None:
                text, heard = self._open.arriving.pop(0) if self._open.arriving else ("", b"")
                return Heard(tick, text, heard, speech=True)
            if effects.lost and emitted.text.strip():
                self._timeline.drops.append(tick)
            return Heard(tick, heard_through(emitted.text, effects), speech=True)
        if effects.insert is not None:
            self._sound = self._pace.chunks(effects.insert.text)
            self._muffled = effects.insert.type == NON_DIRECTED
            sound = Sound(start=tick, end=tick + len(self._sound), text=effects.insert.text, type=effects.insert.type)
            self._timeline.sounds.append(sound)
        if not self._sound:
            return Heard(tick)
        return Heard(tick, self._sound.pop(0), speech=True, muffled=self._muffled)

    def finish(self, tick: int) -> None:
        """Record what was being said when the conversation ended."""
        if self._open is not None:
            self._close(tick)

    def _close(self, tick: int) -> None:
        utterance, self._open = self._open, None
        assert utterance is not None, "an utterance goes on"
        number = None
        if utterance.reply is not None:
            number = len(self._conversation.messages)
            text = " ".join(SOUNDS.sub("", utterance.said).split()) if utterance.tic else utterance.said
            self._conversation.record(utterance.reply.model_copy(update={"content": text.strip()}))
        self._timeline.utterances.append(
            Utterance(
                side="user",
                start=utterance.start,
                end=tick,
                text=utterance.said.strip(),
                action=utterance.action,
                rest=utterance.whole[len(utterance.said) :].strip(),
                heard=utterance.heard.strip() if utterance.heard.strip() != utterance.said.strip() else "",
                tic=utterance.tic,
                message_idx=number,
            )
        )

    async def _call(self, tick: int, calls: Sequence[ToolCall]) -> None:
        number = len(self._conversation.messages)
        reply = self._mind.reply_message or UserMessage()
        message = reply.model_copy(update={"content": None, "tool_calls": list(calls)})
        self._conversation.record(message)
        _, self._results = await self._conversation.run_tools(message)
        _note_calls(self._timeline, "user", (tick, tick + 1, number), calls, self._results)


def _note_calls(
    timeline: Timeline, side: Side, place: tuple[int, int, int], calls: Sequence[ToolCall], results: Incoming
) -> None:
    start, end, number = place
    timeline.calls += [
        CallTime(side=side, start=start, end=end, name=call.name, error=result.error, message_idx=number)
        for call, result in zip(calls, getattr(results, "tool_messages", [results]), strict=True)
    ]
