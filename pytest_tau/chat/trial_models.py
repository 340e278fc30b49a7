"""The model calls of one trial: attributed to a role, counted, recorded or replayed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, get_args

from ..actors import current_actor
from ..clock import run_steadily
from ..errors import BudgetError, ConfigurationError, MissingModelError, ModelError, TauError
from ..models import ModelUsage, clone
from .prices import first_listed
from .requests import ChatReply, ChatRequest, ModelArguments, Role
from .retries import CallClock, RetryClock, count_retries

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping

    from ..models import TerminationReason
    from .prices import Price, PriceCheck
    from .requests import ChatModel

T = TypeVar("T")


@dataclass(frozen=True)
class LLM:
    """A model and the arguments of its calls.

    Attributes:
        name: Its name, with its provider as litellm spells it: ``openai/gpt-4.1``.
        chat: The chat model that makes the calls.
        args: Arguments of each call: ``temperature``, ``max_tokens`` …
    """

    name: str
    chat: ChatModel
    args: Mapping[str, Any] = field(default_factory=dict, repr=False)


class Tape(Protocol):
    """Records the model calls of one trial, or answers them from a recording.

    Attributes:
        times: The readings of the recorded trial's clock; empty if nothing is replayed.
    """

    times: list[str]

    async def answer(
        self, role: Role, request: ChatRequest, ask: Callable[[ChatRequest], Awaitable[ChatReply]]
    ) -> ChatReply:
        """Return the answer to a request, from the model or from the recording.

        Raises:
            ReplayError: The recording has no such request.
            RecordingEnded: The recorded conversation ended here.
            ModelError: The model failed, now or when it was recorded.
        """
        ...

    def finish(
        self, reason: TerminationReason, error: str | None, times: list[str], *, timed_out: bool = False
    ) -> None:
        """End the recording of a trial that has a verdict.

        Args:
            reason: How its conversation ended.
            error: What went wrong, if anything did.
            times: The readings of the clock, in ISO 8601.
            timed_out: The wall clock ended it.

        Raises:
            ReplayError: The recording goes on.
            OSError: The recording cannot be written.
        """
        ...

    def abandon(self) -> None:
        """End the recording of a trial without a verdict; calls that were made are kept for the next recording."""
        ...


class TrialModel:
    """The chat model of one role of one trial. Its calls are recorded and replayed with the trial.

    Attributes:
        name: The model's name.
        args: Arguments of each call, unless a call says otherwise.
    """

    def __init__(self, role: Role, llm: LLM, models: TrialModels) -> None:
        self.name, self.args = llm.name, ModelArguments(clone(dict(llm.args)))
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
        """Call the model.

        Args:
            messages: The conversation in OpenAI chat format, oldest first.
            tools: The tools that the model may call, as OpenAI tool schemas.
            tool_choice: ``auto`` (default) or ``required``.
            response_format: A JSON schema for the answer, as OpenAI's ``response_format``.
            args: Arguments of this call, over those of the run.

        Raises:
            ModelError: The model or its provider failed.
            ReplayError: A replayed trial makes a request that was not recorded.
        """
        request = ChatRequest(
            model=self.name,
            messages=messages,
            tools=tools or [],
            tool_choice=(tool_choice or "auto") if tools else None,
            response_format=response_format,
            args=self.args | args,
        )
        return await self._models.call(self._role, request, self._llm.chat)

    def complete_sync(self, *args: Any, **kwargs: Any) -> ChatReply:
        """Call the model like ``complete`` from blocking code: in a thread, as this package runs it, or in a script.

        Raises:
            RuntimeError: Called on a running event loop; await ``complete`` there.
        """
        return self._models.run_blocking(self.complete(*args, **kwargs))


@dataclass(frozen=True, kw_only=True)
class CallPolicy:
    """What applies to each model call of a trial.

    Attributes:
        chat: Makes the run's own chat model, for calls of models that no role was given; None for any.
        embeddings: Returns the run's embedding model, which answers a request with a JSON array that has a list of
            numbers for each message; None if there is none.
        budget: USD that the trial may spend; None for no limit.
        budget_problem: Returns, before each call of a model, why the run may spend no more; None if it may.
        price_check: Refuses calls of unknown price; None without a budget.
        prices: The user's price list.
        on_cost: Called with the USD of each answer of a model.
        on_call: Called with each call: its role, the request, and the answer or the error.
    """

    chat: Callable[[], ChatModel] | None = None
    embeddings: Callable[[], ChatModel] | None = None
    budget: float | None = None
    budget_problem: Callable[[], str | None] | None = None
    price_check: PriceCheck | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    on_cost: Callable[[float], None] | None = None
    on_call: Callable[[Role, ChatRequest, ChatReply | None, TauError | None], None] | None = None


class TrialModels:
    """The models of one trial.

    Args:
        llms: The models, by role.
        tape: Records or replays the calls; None for plain calls.
        seed: The trial's seed, sent with each call of the agent and the user that has none of its own.
        policy: What applies to each call.

    Attributes:
        tape: The tape, as given.
        policy: The policy, as given.
        usage: The calls, tokens and costs so far, by role.
        loop: The event loop of the trial, once it runs.
        keep_open: Calls may follow the end of the conversation, so the creator of this object ends the recording.
        finish_args: The arguments for ``Tape.finish``, if the recording was kept open.
        live_cost: USD of the calls that were made, without those that a recording has answered.
        out_of_budget: The first refusal of a call because of a budget.
        retries: The time that calls spent on retries, by role.
        calling: The time that calls took, by role.
        asked: The roles that have made a request, answered or not.
        client_error: Why the last call of a participant with a client of its own has failed, unless its request was
            wrong; None if it was answered.
    """

    def __init__(
        self,
        llms: Mapping[Role, LLM] | None = None,
        tape: Tape | None = None,
        seed: int | None = None,
        policy: CallPolicy | None = None,
    ) -> None:
        self._llms, self.tape, self._seed, self.policy = dict(llms or {}), tape, seed, policy or CallPolicy()
        self.usage: dict[Role, ModelUsage] = {}
        self.loop: asyncio.AbstractEventLoop | None = None
        self.keep_open = False
        self.finish_args: tuple[TerminationReason, str | None, list[str], bool] | None = None
        self.live_cost = 0.0
        self.out_of_budget: BudgetError | None = None
        self.retries: dict[Role, RetryClock] = {role: RetryClock() for role in get_args(Role)}
        self.calling: dict[Role, CallClock] = {role: CallClock() for role in get_args(Role)}
        self.asked: set[Role] = set()
        self.client_error: TauError | None = None
        self._failures: list[BaseException] = []

    def reseed(self, seed: int | None) -> None:
        """Use another seed in the calls of participants that are made from now on."""
        self._seed = seed

    @property
    def roles(self) -> list[Role]:
        """The roles that have a model."""
        return list(self._llms)

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the calls, by role; they may have keys."""
        return {role: dict(llm.args) for role, llm in self._llms.items()}

    def get(self, role: Role) -> TrialModel | None:
        """Return the model of a role; None if it has none."""
        llm = self._llms.get(role)
        if llm is None:
            return None
        seeded = role != "judge" and self._seed is not None
        return TrialModel(role, replace(llm, args={"seed": self._seed, **llm.args}) if seeded else llm, self)

    def has_raised(self, error: BaseException) -> bool:
        """Return whether a model call of the trial raised this very exception."""
        return any(error is failure for failure in self._failures)

    async def ask(self, role: Role, request: ChatRequest) -> ChatReply:
        """Return the answer of a role's chat model to a request; of the run's own one if the role has none.

        Raises:
            ModelError: The model failed, or there is none.
            ReplayError: A replayed trial makes a request that was not recorded.
        """
        llm = self._llms.get(role)
        return await self.call(role, request, llm.chat if llm else self.policy.chat() if self.policy.chat else None)

    async def call(self, role: Role, request: ChatRequest, chat: ChatModel | None) -> ChatReply:
        """Return the answer to a request, from the model or from the recording, and count it.

        Raises:
            MissingModelError: There is no model, and no recording of its answer.
        """
        self.asked.add(role)
        try:
            reply = await self._call(role, request, chat)
        except TauError as error:
            self._failures.append(error)
            if self.policy.on_call is not None:
                self.policy.on_call(role, request, None, error)
            raise
        if self.policy.on_call is not None:
            self.policy.on_call(role, request, reply, None)
        return reply

    async def _call(self, role: Role, request: ChatRequest, chat: ChatModel | None) -> ChatReply:
        try:
            with count_retries(self.retries[role]), self.calling[role].counting():
                ask = functools.partial(self._ask_model, role, chat)
                reply = await (ask(request) if self.tape is None else self.tape.answer(role, request, ask))
        except ConfigurationError as error:
            # Such as a library that is not installed: not a fault of the participant.
            raise ModelError(str(error), kind="bad_request") from error
        finally:
            if self.retries[role].timeouts:
                self._usage(role, request).timeouts = self.retries[role].timeouts
        for usage in self._usages(role, request):
            _count(usage, reply)
        return reply

    async def _ask_model(self, role: Role, chat: ChatModel | None, request: ChatRequest) -> ChatReply:
        """Call the model, unless a budget is spent."""
        if role != "judge":  # without its verdict, the conversation would have been paid for in vain
            await self._refuse_without_money(role, request, chat)
        if chat is None:
            raise MissingModelError(f"{request.model}: this trial has no model for the agent")
        # What the chat model sends is this call, and not another one.
        token = _ATTRIBUTION.set(None)
        try:
            reply = await _call_chat(chat, request)
        finally:
            _ATTRIBUTION.reset(token)
        price = first_listed(self.policy.prices, reply.model, request.model)
        if reply.cost is None and reply.usage is not None and price is not None:
            reply = reply.model_copy(update={"cost": price.cost(reply.usage)})
        if self.policy.price_check is not None:
            self.policy.price_check.after(request, is_priced=price is not None or reply.cost is not None)
        if reply.cost:
            self.live_cost += reply.cost
            if self.policy.on_cost is not None:
                self.policy.on_cost(reply.cost)
        return reply

    async def _refuse_without_money(self, role: Role, request: ChatRequest, chat: ChatModel | None) -> None:
        if self.policy.price_check is not None and role != "retrieval":
            try:
                await self.policy.price_check.before(chat, request)
            except BudgetError as unpriced:
                self.out_of_budget = self.out_of_budget or unpriced
                raise
        problem, of_run = self.policy.budget_problem() if self.policy.budget_problem else None, True
        if problem is None and self.policy.budget is not None and self.live_cost >= self.policy.budget:
            problem, of_run = (
                f"the budget of the trial, ${self.policy.budget:g}, is spent (${self.live_cost:.4f})",
                False,
            )
        if problem is not None:
            error = BudgetError(problem, of_run=of_run)
            self.out_of_budget = self.out_of_budget or error
            raise error

    def run_blocking(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end from blocking code, on the trial's own loop if that runs.

        Raises:
            RuntimeError: This is a running event loop.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            if self.loop is not None and self.loop.is_running():
                return asyncio.run_coroutine_threadsafe(call, self.loop).result()
            return run_steadily(call)
        call.close()
        raise RuntimeError(
            "a blocking model call would block the event loop that must answer it: await complete() instead"
        )

    def _usage(self, role: Role, request: ChatRequest) -> ModelUsage:
        """Return the usage of a role, with the name of the requested model in it."""
        return _with_model(self.usage.setdefault(role, ModelUsage()), request.model)

    def _usages(self, role: Role, request: ChatRequest) -> Iterator[ModelUsage]:
        """Yield the usage of a role, and that of its actor if the calling code has named one."""
        usage = self._usage(role, request)
        yield usage
        actor = current_actor()
        if role == "agent" and actor is not None:
            yield _with_model(usage.actors.setdefault(actor, ModelUsage()), request.model)


def _with_model(usage: ModelUsage, model: str) -> ModelUsage:
    names = usage.model.split(", ") if usage.model else []
    usage.model = ", ".join([*names, *([model] if model not in names else [])])
    return usage


def _count(usage: ModelUsage, reply: ChatReply) -> None:
    usage.calls += 1
    usage.seconds += reply.seconds
    if reply.usage is not None:
        usage.prompt_tokens += reply.usage.prompt_tokens
        usage.completion_tokens += reply.usage.completion_tokens
        usage.cached_tokens += reply.usage.cached_tokens
    usage.cut_replies += reply.finish_reason == "length"
    usage.filtered_replies += reply.finish_reason == "content_filter"
    if reply.cost is None:
        usage.unpriced_calls += 1
    else:
        usage.known_cost += reply.cost


async def _call_chat(chat: ChatModel, request: ChatRequest) -> ChatReply:
    """Call the model; whatever a foreign model raises or returns instead of a reply is a fault of the model."""
    try:
        reply: object = await chat.complete(request)
    except TauError:
        raise
    except Exception as error:
        raise ModelError(f"{request.model}: {type(error).__name__}: {error}", kind="bad_request") from error
    if not isinstance(reply, ChatReply):
        problem = f"{request.model}: complete(): expected a ChatReply, got a {type(reply).__name__}"
        raise ModelError(problem, kind="bad_request")
    return reply


#: The trial and the role that calls of the running code belong to.
_ATTRIBUTION: contextvars.ContextVar[tuple[TrialModels, Role] | None] = contextvars.ContextVar(
    "tau_attribution", default=None
)


@contextlib.contextmanager
def attribute_calls(models: TrialModels, role: Role) -> Iterator[None]:
    """Attribute the model calls that are made through this package meanwhile to a role of a trial."""
    token = _ATTRIBUTION.set((models, role))
    try:
        yield
    finally:
        _ATTRIBUTION.reset(token)


def current_attribution() -> tuple[TrialModels, Role] | None:
    """Return the trial and the role that calls of the running code belong to; None outside of trials."""
    return _ATTRIBUTION.get()
