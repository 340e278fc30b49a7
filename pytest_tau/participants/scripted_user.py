"""A user without a model: it goes by the task's script, understands by tables of words, and is always the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import MultiToolMessage, ToolCall, ToolMessage, UserMessage
from .adapters import BuiltIn
from .scripted_device import Device, reported
from .scripted_memory import Memory
from .scripted_prose import script_of
from .scripted_reading import read
from .scripted_words import REFERRING, facts_in, has_all, words

if TYPE_CHECKING:
    from collections.abc import Collection, Generator, Iterator
    from typing import TypeAlias

    from ..models import Goal
    from .context import Incoming, ParticipantContext, Reply
    from .scripted_device import Step
    from .scripted_reading import Reading, Sentence

    #: Calls that are made before something can be said; each is answered with its result.
    Acting: TypeAlias = Generator[ToolCall, ToolMessage, str]

STOP, TRANSFER = "###STOP###", "###TRANSFER###"
_YES, _NO = "Yes, please.", "No, thank you."
_MOST_STEPS = 12


class ScriptedUser(BuiltIn):
    """Answers by ``task.user_scenario.script``, or where a task has none, by what its prose gives away."""

    def __init__(self, context: ParticipantContext) -> None:
        tools = list(context.tools)
        self._device = Device(tools)
        self._script = script_of(context.task, tools)
        self._memory = Memory(self._script)
        self._acting: Acting | None = None
        self._opened = any(isinstance(message, UserMessage) and message.text for message in context.past)

    async def respond(self, message: Incoming) -> Reply:
        """What the user does about the agent's text or about the result of its own call."""
        try:
            if self._acting is None:
                self._acting = self._answer(message.content or "")
                call = next(self._acting)
            else:
                call = self._acting.send(_result(message))
        except StopIteration as end:
            self._acting = None
            return UserMessage(content=end.value)
        return UserMessage(tool_calls=[call])

    def _answer(self, text: str) -> Acting:
        """The whole turn: what is done, then what is said."""
        reading, memory = read(text), self._memory
        if reading.any("transfers"):
            return f"All right, thank you. {TRANSFER}"
        parts = [] if self._opened else [self._open()]
        steps = self._device.steps(reading)[:_MOST_STEPS]
        did = yield from self._do(steps)
        parts += [*did, *self._tell(reading, {step.sentence for step in steps})]
        parts = parts or (yield from self._react(reading))
        if memory.is_tired():
            return f"This is getting us nowhere. I give up. {STOP}"
        return " ".join(parts)

    def _open(self) -> str:
        self._opened = True
        return self._memory.put_request()

    # What was asked for

    def _do(self, steps: list[Step]) -> Generator[ToolCall, ToolMessage, list[str]]:
        """Carry out what the agent wants done on the device."""
        parts = []
        for step in steps:
            if self._declined(step.sentence):
                parts.append(_NO)
                self._memory.note("declined", step.sentence)
            elif step.missing:
                parts.append(f"Which {' and '.join(step.missing).replace('_', ' ')} do you mean?")
            else:
                parts.append((yield from self._carry_out(step)))
        return parts

    def _carry_out(self, step: Step) -> Acting:
        result = yield _call(step.tool, step.arguments)
        if step.is_wrong(result.content or ""):
            # It was as it should be; a person would have seen that first.
            result = yield _call(step.tool, step.arguments)
        said = reported(step.tool, result.content or "", error=result.error)
        self._memory.note("did", step.tool, said)
        return said

    def _tell(self, reading: Reading, done: set[str]) -> list[str]:
        """Answers to questions: what the script has ready, facts, and yes or no; ``done`` are sentences dealt with."""
        answers = self._memory.answers(reading)
        if answers:
            return answers
        refused = reading.any("refuses") and not reading.any("confirms")
        told = [part for name in self._asked(reading, done) if (part := self._memory.fact(name, again=not refused))]
        return told + self._decide(reading, offers=not told and (not refused or self._taken(reading.text)))

    def _asked(self, reading: Reading, done: Collection[str] = ()) -> list[str]:
        """Facts that the text asks for."""
        known = tuple(self._memory.facts)
        names: list[str] = []
        before: tuple[str, ...] = ()
        for sentence in reading.sentences:
            if "asks" in sentence and "confirms" not in sentence and sentence.text not in done:
                refers = not REFERRING.isdisjoint(sentence.words)
                names += facts_in(sentence.words, known) or (facts_in(before, known) if refers else [])
            before = sentence.words
        return list(dict.fromkeys(names))

    def _decide(self, reading: Reading, *, offers: bool) -> list[str]:
        """Yes or no to what is to be confirmed, and to what is offered where that counts."""
        decided = [
            self._decision(sentence, reading.text)
            for sentence in reading.sentences
            if "confirms" in sentence or (offers and sentence.is_offer)
        ]
        if decided:
            self._memory.note("decided", reading.text)
        # To several questions at once there is one yes only if it holds for all.
        return [min(decided, key=_YES.__eq__)] if decided else []

    def _decision(self, sentence: Sentence, text: str) -> str:
        taken, declined = (_named(phrases, sentence.words) for phrases in (self._script.accepts, self._script.declines))
        if "or" in sentence.words and taken and declined:
            return f"{taken.capitalize()}, please, not {declined}."
        return _YES if self._agrees(sentence, text) else _NO

    def _agrees(self, sentence: Sentence, text: str) -> bool:
        if self._declined(text):
            return False
        wanted = self._taken(text) or "confirms" in sentence or self._memory.concerns(sentence.words)
        return wanted or "extra" not in sentence

    def _declined(self, text: str) -> bool:
        return bool(_named(self._script.declines, words(text)))

    def _taken(self, text: str) -> bool:
        return not self._declined(text) and bool(_named(self._script.accepts, words(text)))

    # Where nothing was asked for

    def _react(self, reading: Reading) -> Generator[ToolCall, ToolMessage, list[str]]:
        """To refusals, to news, to goodbyes, and to what is not understood."""
        memory = self._memory
        if reading.any("refuses"):
            again = memory.refused()
            return [again] if again else (yield from self._go_on())
        # A question in passing does not hide the news of an agent that asks whether there is anything else.
        heard = not reading.is_open or reading.any("closes")
        if heard and (reading.any("news", "parts", "works") or memory.is_answered(reading)):
            return (yield from self._go_on())
        if reading.any("greets"):
            return [memory.put_request()]
        if reading.any("waits") and not reading.is_open:
            return ["All right."]
        return memory.answers(reading, again=True) or [self._puzzled(reading)]

    def _puzzled(self, reading: Reading) -> str:
        asked = self._asked(reading)
        if asked:
            return f"I do not know the {asked[0].replace('_', ' ')}."
        return f"I am not sure what you mean. {self._memory.put_request()}"

    def _go_on(self) -> Generator[ToolCall, ToolMessage, list[str]]:
        """The current request is dealt with, if the user can see that: to the next one, or goodbye."""
        memory = self._memory
        if memory.is_last and not memory.gave_in:
            for goal in self._script.goals:
                unmet = yield from self._check(goal)
                if unmet:
                    return [f"It is not solved yet. {unmet}"]
        following = memory.next_request()
        return [following or f"Thank you, that was all. {STOP}"]

    def _check(self, goal: Goal) -> Acting:
        """What the device says where a goal is not met; nothing where it is."""
        result = yield _call(goal.tool, goal.arguments)
        shown = result.content or ""
        said = reported(goal.tool, shown, error=result.error)
        self._memory.note("did", goal.tool, said)
        return "" if all(expected.lower() in shown.lower() for expected in goal.expects) else said


def _named(phrases: list[str], text: tuple[str, ...]) -> str:
    """The first of the phrases whose words all occur in a text; empty where there is none."""
    return next((phrase for phrase in phrases if has_all(phrase, text)), "")


def _call(tool: str, arguments: dict[str, object]) -> ToolCall:
    return ToolCall(name=tool, arguments=dict(arguments), requestor="user")


def _result(message: Incoming) -> ToolMessage:
    results: Iterator[ToolMessage] = iter(message.tool_messages if isinstance(message, MultiToolMessage) else ())
    return message if isinstance(message, ToolMessage) else next(results)
