"""The bridge between an agent that runs its own loop and the orchestrator, which carries out its tool calls."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from ...actors import Actors, current_actor
from ...documents import DocumentError, parse_json
from ...endpoint.session import ToolOutcome
from ...environment.jsonable import jsonable
from ...errors import ParticipantError, TauError
from ...models import MultiToolMessage
from ..replies import as_message
from .answers import ModelAnswer, read_answer
from .memory import Memory

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ...environment.environment import Outcome
    from ...models import ToolMessage
    from ..context import Incoming, Reply
    from .answers import AnsweredCall

#: Seconds to wait for the other calls of a model's answer once the first has arrived. An agent that makes them at the
#: same time needs a fraction of it. For one that makes them one after the other, it is spent once in a trial at most.
_PATIENCE = 1.0
#: The outcome of the calls of a message after the first one, under ``--tau-agent-one-call``.
_NOT_MADE = ToolOutcome("Error: only the first call of a message is made: make this call again, alone", True)


@dataclass(eq=False)
class _Call:
    """A tool call that the agent waits for.

    Attributes:
        alone: The agent's main thread or task waits for it, so that it makes no other call at the same time.
        actor: Who makes it; None if the code around it has not named an actor.
        answer: The model's answer that the call is a part of.
        place: The call in that answer.
        since: The time of its arrival, by the clock of the event loop.
    """

    name: str
    arguments: Any
    alone: bool
    actor: str | None = None
    future: Future[ToolOutcome] = field(default_factory=Future)
    answer: ModelAnswer | None = None
    place: AnsweredCall | None = None
    since: float = 0.0


class Bridge:
    """Queues the tool calls of one agent, from any thread and any event loop, until the orchestrator has run them.

    All methods other than ``call``, ``acall`` and ``fail`` belong to the event loop of the trial.

    Args:
        tools: The names of the trial's tools.

    Attributes:
        changed: Set when there is something new for ``next_calls`` or ``check``.
        failure: The error of a model call that ends the trial.
        misuse: The error of a tool call that could not be a part of the conversation.
        answer: The latest answer of the model.
        unmade: The number of calls in the model's answers that the agent did not make, up to its latest text.
        late_calls: The tools of calls that came after the conversation, and were refused.
        outcomes: What the environment keeps of calls, by their ids.
        actors: Who speaks.
        memory: What the model is given of the conversation.
    """

    def __init__(self, tools: Collection[str]) -> None:
        self.outcomes: Mapping[str, Outcome] = {}
        self.actors, self.memory = Actors(), Memory()
        # Who has made the model's answers to the current message, by their texts.
        self._authors: dict[str, str] = {}
        self.changed = asyncio.Event()
        self.failure: BaseException | None = None
        self.misuse: ParticipantError | None = None
        self.answer = ModelAnswer()
        self.unmade = 0
        self.late_calls: list[str] = []
        # The tools of calls that did not arrive before the model's next answer, and of calls in no answer.
        self._missed: Counter[str] = Counter()
        self._others: Counter[str] = Counter()
        self._tools = frozenset(tools)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = self._ended = self._closed = self._one_by_one = False
        self._arrived: list[_Call] = []
        self._served: list[_Call] = []
        self._main: set[object] = set()

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop of the conversation while it goes on; else None."""
        return None if self._closed else self._loop

    def open(self) -> None:
        """Begin the conversation, on the event loop that runs."""
        self._loop = asyncio.get_running_loop()

    def start(self, text: str) -> None:
        """Note that the agent answers a message from now on."""
        self.memory.tell(text)
        self._running = True
        self._authors.clear()
        self.actors.start()

    def stop(self) -> None:
        """Note that the agent has answered."""
        self._running = False
        self._main.clear()
        self._missed.update(self.answer.missing)
        self._count_unmade()
        self.answer = ModelAnswer()

    def conclude(self) -> BaseException | None:
        """Return the error that ends the trial; a call that arrives from now on is one after the conversation."""
        self._ended = True
        return self.failure or self.misuse

    def close(self) -> None:
        """Close the conversation: whoever waits for a call is cancelled."""
        self._closed, self._running = True, False
        self._count_unmade()  # without those of the latest answer, which the agent may have been about to make
        for call in [*self._arrived, *self._served]:
            call.future.cancel()
        self._arrived, self._served = [], []

    def set_main(self) -> None:
        """Note that this thread, or the task that runs in it, is the main one of the agent."""
        self._main.add(_here())

    # From any thread.

    def call(self, name: str, arguments: Any) -> ToolOutcome:
        """Make a call from blocking code, and wait for its result.

        Raises:
            RuntimeError: It would block the event loop that must answer it, or no message is being answered.
            concurrent.futures.CancelledError: The conversation ended.
        """
        if _running_loop() is self._loop is not None:
            problem = (
                f"tool {name!r}: call() blocks the event loop that must answer it: use 'await acall()', or a run() "
                "that is not async, which has a thread of its own"
            )
            self._note_misuse(problem)
            raise RuntimeError(problem)
        return self._submit(name, arguments).result()

    async def acall(self, name: str, arguments: Any) -> ToolOutcome:
        """Make a call, and wait for its result on this event loop.

        Raises:
            RuntimeError: No message is being answered.
            asyncio.CancelledError: The conversation ended.
        """
        return await asyncio.wrap_future(self._submit(name, arguments))

    def _submit(self, name: str, arguments: Any) -> Future[ToolOutcome]:
        if self._loop is None:
            raise RuntimeError(f"tool {name!r} was called before the conversation began")
        if self._closed:
            raise RuntimeError(self._too_late(name))
        call = _Call(name, _plain(arguments), _here() in self._main, current_actor())
        try:
            self._loop.call_soon_threadsafe(self._arrive, call)
        except RuntimeError:  # the loop is closed
            raise RuntimeError(self._too_late(name)) from None
        return call.future

    def _too_late(self, name: str) -> str:
        """Note a call after the conversation; return the text of its error."""
        self.late_calls.append(name)
        return _late(name)

    def call_value(self, name: str, arguments: dict[str, Any]) -> Any:
        """Make a call as ``call``, and return what the function returns.

        Raises:
            Exception: What the function raises; what ``call`` raises.
        """
        return _value_of(self.call(name, arguments))

    async def acall_value(self, name: str, arguments: dict[str, Any]) -> Any:
        """Make a call as ``acall``, and return what the function returns.

        Raises:
            Exception: What the function raises; what ``acall`` raises.
        """
        return _value_of(await self.acall(name, arguments))

    # On the event loop of the trial.

    def model_answered(self, message: dict[str, Any], offered: Collection[str] = (), actor: str | None = None) -> None:
        """Note an answer of the agent's model: its calls share a message, with its text.

        Args:
            message: The answer in OpenAI chat format.
            offered: The names of the tools in the request.
            actor: Who has called the model; None if that is not known.
        """
        self._missed.update(self.answer.missing)
        self.answer = read_answer(message, self._tools, offered)
        self.answer.actor = actor
        if actor is not None and self.answer.text:
            self._authors[self.answer.text.strip()] = actor

    def author(self, text: str) -> str | None:
        """Return who says the text that the agent answers with; None if that is not known.

        It is the actor that was named last, else the one whose model has written this very text.
        """
        return self.actors.last or self._authors.get(text.strip())

    def fail(self, error: BaseException) -> None:
        """End the trial by an error of a model call; any thread."""
        self.failure = self.failure or error
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.changed.set)

    def check(self) -> None:
        """Raise what ends the trial.

        Raises:
            ModelError: A model call failed for good.
            ReplayError: A model call differs from the recorded one.
            ConversationEnded: A limit is reached.
            ParticipantError: The agent has called a tool when it could not.
        """
        error = self.failure or self.misuse
        if error is not None:
            raise error

    def next_calls(self, *, final: bool) -> Reply | None:
        """Return the next message of calls; None if none is complete.

        Args:
            final: No further call can arrive.
        """
        self._arrived = [call for call in self._arrived if not call.future.cancelled()]
        self._served = self._take_group(final=final)
        if not self._served:
            return None
        message = [{"id": _id(call), "name": call.name, "arguments": call.arguments} for call in self._served]
        fields = {"content": _take_text(self._served), "tool_calls": message, "actor": _actor(self._served)}
        return as_message(fields, "agent")

    @property
    def waiting_time(self) -> float | None:
        """The seconds until the calls that have arrived are complete; None if there are none."""
        if not self._arrived or self._loop is None:
            return None
        return max(0.0, self._arrived[0].since + _PATIENCE - self._loop.time())

    def deliver(self, message: Incoming) -> bool:
        """Give the results of the latest message of calls to the agent.

        Returns:
            Whether the agent waits for them.
        """
        results: Sequence[ToolMessage]
        results = message.tool_messages if isinstance(message, MultiToolMessage) else [message]  # type: ignore[list-item]
        served, self._served = self._served, []
        outcomes = [self._outcome_of(result) for result in results]
        for outcome in outcomes[: len(served)]:
            self.memory.receive(outcome.text)
        for call, outcome in zip_longest(served, outcomes[: len(served)], fillvalue=_NOT_MADE):
            with contextlib.suppress(InvalidStateError):  # the agent does not wait any more
                call.future.set_result(outcome)  # type: ignore[union-attr]
        return bool(served)

    def _outcome_of(self, result: ToolMessage) -> ToolOutcome:
        """Return the outcome of a call: the value itself, unless the agent is given another text than the tool's."""
        text, known = result.content or "", self.outcomes.get(result.id)
        if known is not None and known.text == text:
            return ToolOutcome(text, result.error, known.value, known.error)
        return ToolOutcome(text, result.error, None if result.error else _read(text))

    def _arrive(self, call: _Call) -> None:
        if self._closed or not self._running:
            over = self._ended or self._closed
            problem = self._too_late(call.name) if over else _late(call.name)
            if not over:
                self._note_misuse(problem)
            call.future.set_exception(RuntimeError(problem))
            return
        call.since = asyncio.get_running_loop().time()
        call.place = self.answer.claim(call.name, call.arguments)
        if call.place is not None:
            call.answer = self.answer
            # A part of the answer was carried out without this call: the agent makes them one after the other.
            self._one_by_one |= self.answer.begun
        else:
            self._others[call.name] += 1
        self._arrived.append(call)
        self.changed.set()

    def _take_group(self, *, final: bool) -> list[_Call]:
        """Remove and return the calls of the next message: all of one answer of the model, or a single other one."""
        for call in self._arrived:
            if call.answer is None:
                group = [call]
            else:
                group = [other for other in self._arrived if other.answer is call.answer]
                if not (final or self._is_complete(group)):
                    continue
            self._arrived = [other for other in self._arrived if other not in group]
            return sorted(group, key=lambda one: one.place.place if one.place else 0)
        return []

    def _is_complete(self, group: list[_Call]) -> bool:
        missing = group[0].answer is not None and group[0].answer.missing
        if not missing or self._one_by_one or any(call.alone for call in group):
            return True
        return asyncio.get_running_loop().time() >= group[0].since + _PATIENCE

    def _count_unmade(self) -> None:
        """Count the missed calls, without those that came with other arguments or after the model's next answer."""
        self.unmade += (self._missed - self._others).total()
        self._missed.clear()
        self._others.clear()

    def _note_misuse(self, problem: str) -> None:
        self.misuse = self.misuse or ParticipantError(problem, side="agent")
        self.changed.set()


def _read(text: str) -> Any:
    """Return the value of the text of a result, which is JSON or the value itself."""
    try:
        return parse_json(text)
    except DocumentError:
        return text


def _value_of(outcome: ToolOutcome) -> Any:
    """Return the value of an outcome.

    Raises:
        Exception: What the function has raised. Arguments that do not fit are a ``TypeError``, as of any function.
    """
    if isinstance(outcome.error, TauError):
        raise TypeError(str(outcome.error)) from outcome.error
    if outcome.error is not None:
        raise outcome.error
    if outcome.is_error:
        raise RuntimeError(outcome.text.removeprefix("Error: "))
    return outcome.value


def _id(call: _Call) -> str:
    return call.place.id if call.place else ""


def _actor(calls: list[_Call]) -> str | None:
    """Return who makes the calls of a message: as the code says, else as the model's request did."""
    actor = next((call.actor for call in calls if call.actor is not None), None)
    return actor or (calls[0].answer.actor if calls[0].answer else None)


def _take_text(calls: list[_Call]) -> str | None:
    """Return the text of the model's answer for the first message with calls of that answer."""
    answer = calls[0].answer
    if answer is None:
        return None
    answer.begun = True
    text, answer.text = answer.text, ""
    return text or None


def _late(name: str) -> str:
    return f"tool {name!r} was called after run() had returned: await all calls, and join all threads, in run()"


def _plain(arguments: Any) -> Any:
    """Return arguments as JSON data; as they are if they cannot be, so that the result is an error that shows them."""
    try:
        return jsonable(arguments)
    except (ValueError, TypeError, RecursionError):
        return arguments


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _here() -> object:
    """Return the task that runs; the thread if there is none."""
    return asyncio.current_task() if _running_loop() else threading.get_ident()
