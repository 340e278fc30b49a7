"""The model calls of one trial: bound to who makes them, tallied, recorded or replayed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ConfigurationError, ModelError, TauError
from ..models import ModelUsage
from .requests import ChatReply, ChatRequest, ModelArguments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping

    from ..models import TerminationReason
    from .requests import ChatModel, Role


@dataclass(frozen=True)
class LLM:
    """A model that is to be called, and how.

    Attributes:
        name: Its name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        chat: What makes the calls.
        args: Arguments of each call: ``temperature``, ``max_tokens`` …
    """

    name: str
    chat: ChatModel
    args: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Tape(Protocol):
    """Records the model calls of one trial, or answers them from a recording.

    Attributes:
        times: What the clock of the recorded trial told; empty where nothing is replayed.
    """

    times: list[str]

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """The answer to a request, from the model or from the recording.

        Args:
            role: For whom.
            request: What is asked.
            ask: Asks the model itself.

        Raises:
            ReplayError: The recording has no such request.
            RecordingEnded: The recorded conversation ended here.
            ModelError: The model failed, now or when it was recorded.
        """
        ...

    def finish(self, reason: TerminationReason, error: str | None, times: list[str], *, by_clock: bool = False) -> None:
        """The trial has ended with a verdict.

        Args:
            reason: How its conversation ended.
            error: What had gone wrong, where something had.
            times: What the clock told, in ISO 8601.
            by_clock: The wall clock ended it.

        Raises:
            ReplayError: The recording goes on.
            OSError: The recording cannot be written.
        """
        ...

    def abandon(self) -> None:
        """The trial has ended without a verdict; calls that were made are kept for the next recording."""
        ...


class TrialModel:
    """A chat model as one participant of one trial sees it. Its calls are recorded and replayed with the trial.

    Attributes:
        name: The model's name.
        args: Arguments of each call, unless a call says otherwise.
    """

    def __init__(self, role: Role, llm: LLM, models: TrialModels) -> None:
        self.name, self.args = llm.name, ModelArguments(llm.args)
        self._role, self._llm, self._models = role, llm, models

    async def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        *,
        tool_choice: str | None = None,
        response_format: dict[str, Any] | None = None,
        **args: Any,
    ) -> ChatReply:
        """Ask the model.

        Args:
            messages: The conversation in OpenAI chat format, oldest first.
            tools: What the model may call, as OpenAI tool schemas.
            tool_choice: ``auto`` (default) or ``required``.
            response_format: A JSON schema for the answer, as OpenAI's ``response_format``.
            args: Arguments of this call, over those of the run.

        Raises:
            ModelError: The model or its provider failed.
            ReplayError: A replayed trial asks what was not recorded.
        """
        request = ChatRequest(
            model=self.name,
            messages=messages,
            tools=tools or [],
            tool_choice=(tool_choice or "auto") if tools else None,
            response_format=response_format,
            args=self.args | args,
        )
        return await self._models.ask(self._role, request, self._llm.chat)

    def complete_sync(self, *args: Any, **kwargs: Any) -> ChatReply:
        """Like ``complete``, for code that blocks: in a thread, as this package runs it, or in a plain script.

        Raises:
            RuntimeError: Called on a running event loop; await ``complete`` there.
        """
        return self._models.run_blocking(self.complete(*args, **kwargs))


class TrialModels:
    """Every model of one trial.

    Args:
        llms: The models, by role; a role without one has none.
        tape: Records or replays; None for plain calls.
        seed: The trial's seed, sent with each call of the agent and the user that has none of its own.

    Attributes:
        tape: As given.
        usage: What the calls came to so far, by role.
        loop: The event loop that the trial runs on, once it does.
        chat: Makes the run's own chat model, for calls of models that no role was given; None for any.
        keep_open: Calls may follow once the conversation has ended, so whoever made this ends the recording.
        ended: How the conversation ended, as ``Tape.finish`` takes it, where the recording was kept open.
        spent: USD that were counted already.
    """

    def __init__(
        self, llms: Mapping[Role, LLM] | None = None, tape: Tape | None = None, seed: int | None = None
    ) -> None:
        self._llms, self.tape, self._seed = dict(llms or {}), tape, seed
        self.usage: dict[Role, ModelUsage] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.chat: Callable[[], ChatModel] | None = None
        self.keep_open = False
        self.ended: tuple[TerminationReason, str | None, list[str], bool] | None = None
        self.spent = 0.0

    @property
    def roles(self) -> list[Role]:
        """The roles that have a model."""
        return list(self._llms)

    def of(self, role: Role) -> TrialModel | None:
        """The model of a role; None where it has none."""
        llm = self._llms.get(role)
        if llm is None:
            return None
        seeded = role != "judge" and self._seed is not None
        return TrialModel(role, replace(llm, args={"seed": self._seed, **llm.args}) if seeded else llm, self)

    async def ask(self, role: Role, request: ChatRequest, chat: ChatModel) -> ChatReply:
        """Have a request answered, by the model or from the recording, and tally it."""
        try:
            if self.tape is None:
                reply = await _asked(chat, request)
            else:
                reply = await self.tape.answer(role, request, functools.partial(_asked, chat))
        except ConfigurationError as error:
            # Such as a library that is not installed; no fault of whoever asked.
            raise ModelError(str(error), kind="bad_request") from error
        self._tally(role, request, reply)
        return reply

    def run_blocking(self, call: Coroutine[Any, Any, ChatReply]) -> ChatReply:
        """Run a call to its end from code that blocks, on the trial's own loop where that runs.

        Raises:
            RuntimeError: This is a running event loop.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            if self.loop is not None and self.loop.is_running():
                return asyncio.run_coroutine_threadsafe(call, self.loop).result()
            return asyncio.run(call)
        call.close()
        raise RuntimeError("a blocking model call would stop the event loop that it waits for: await complete() here")

    def _tally(self, role: Role, request: ChatRequest, reply: ChatReply) -> None:
        usage = self.usage.setdefault(role, ModelUsage())
        names = usage.model.split(", ") if usage.model else []
        usage.model = ", ".join([*names, *([request.model] if request.model not in names else [])])
        usage.calls += 1
        usage.seconds += reply.seconds
        if reply.usage is not None:
            usage.prompt_tokens += reply.usage.prompt_tokens
            usage.completion_tokens += reply.usage.completion_tokens
        if reply.cost is None:
            usage.unpriced_calls += 1
        else:
            usage.known_cost += reply.cost


async def _asked(chat: ChatModel, request: ChatRequest) -> ChatReply:
    """The model's answer; whatever a foreign model raises or gives instead is a fault of the model."""
    try:
        reply: object = await chat.complete(request)
    except TauError:
        raise
    except Exception as error:
        raise ModelError(f"{request.model}: {type(error).__name__}: {error}", kind="bad_request") from error
    if not isinstance(reply, ChatReply):
        problem = f"{request.model}: complete() returned a {type(reply).__name__}; expected a ChatReply"
        raise ModelError(problem, kind="bad_request")
    return reply


#: Whose code is running: calls that it makes through us belong to this trial and this role.
_CALLER: contextvars.ContextVar[tuple[TrialModels, Role] | None] = contextvars.ContextVar("tau_caller", default=None)


@contextlib.contextmanager
def calling(models: TrialModels, role: Role) -> Iterator[None]:
    """While this holds, model calls made through this package belong to a role of a trial."""
    token = _CALLER.set((models, role))
    try:
        yield
    finally:
        _CALLER.reset(token)


def caller() -> tuple[TrialModels, Role] | None:
    """The trial and the role that the running code belongs to; None outside of trials."""
    return _CALLER.get()
