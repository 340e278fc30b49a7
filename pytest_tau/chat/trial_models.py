"""The models of one trial: each call is attributed to a role, counted, and recorded or replayed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..clock import run_steadily
from ..errors import BudgetError, ConfigurationError, MissingModelError, ModelError, TauError
from ..models import clone
from .call_policy import CallPolicy
from .ledger import CallLedger
from .prices import first_listed
from .requests import ChatReply, ChatRequest, ModelArguments, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping
    from typing import TypeAlias

    from ..models import TerminationReason
    from .call_policy import LLM
    from .requests import ChatModel
    from .tape import Tape

    #: Called with a call: its role, the request, and the answer or the error.
    CallObserver: TypeAlias = Callable[[Role, ChatRequest, ChatReply | None, TauError | None], None]

T = TypeVar("T")


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


class TrialModels:
    """The models of one trial.

    Args:
        llms: The models, by role.
        tape: Records or replays the calls; None for plain calls.
        seed: The trial's seed, sent with each call of the agent and the user that has none of its own.
        policy: What applies to each call.
        ledger: The account of the calls; None for one that is empty.

    Attributes:
        tape: The tape, as given.
        policy: The policy, as given.
        ledger: The account of the calls so far.
    """

    def __init__(
        self,
        llms: Mapping[Role, LLM] | None = None,
        tape: Tape | None = None,
        seed: int | None = None,
        policy: CallPolicy | None = None,
        ledger: CallLedger | None = None,
    ) -> None:
        self._llms, self._seed = dict(llms or {}), seed
        self.tape: Final = tape
        self.policy: Final = policy or CallPolicy()
        self.ledger: Final = ledger or CallLedger()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._observers: list[CallObserver] = []
        self._keeps_recording = False
        self._recorded_end: tuple[TerminationReason, str | None, list[str]] | None = None

    def beside(self, llms: Mapping[Role, LLM], tape: Tape | None = None) -> TrialModels:
        """Return models for calls that are not made by the trial, but under its policy, and out of its budget.

        Args:
            llms: The models, by role.
            tape: Records or replays the calls; None for plain calls.
        """
        models = TrialModels(llms, tape, policy=self.policy, ledger=CallLedger(spent=self.ledger.spent))
        models._observers = self._observers
        return models

    def run_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make blocking calls on the event loop of the trial, which runs."""
        self._loop = loop

    def observe(self, observer: CallObserver) -> None:
        """Have something called with each call: its role, the request, and the answer or the error."""
        self._observers.append(observer)

    def reseed(self, seed: int | None) -> None:
        """Use another seed in the calls of participants that are made from now on."""
        self._seed = seed

    @property
    def keeps_recording(self) -> bool:
        """Whether calls may follow the end of the conversation, so that ``close_recording`` ends the recording."""
        return self._keeps_recording

    def keep_recording(self) -> None:
        """Leave the end of the recording to ``close_recording``, since calls may follow the conversation."""
        self._keeps_recording = True

    def end_recording(self, reason: TerminationReason, error: str | None, times: list[str]) -> None:
        """End the recording of a conversation that has a verdict, now or when it is closed.

        Args:
            reason: How the conversation ended.
            error: What went wrong, if anything did.
            times: The readings of the clock, in ISO 8601.

        Raises:
            ReplayError: The recording goes on.
            OSError: The recording cannot be written.
        """
        self._recorded_end = reason, error, times
        if not self._keeps_recording:
            self._finish_tape()

    def close_recording(self) -> None:
        """End a recording that was kept open, also if it has no conversation.

        Raises:
            ReplayError: The recording goes on.
            OSError: The recording cannot be written.
        """
        if self._keeps_recording:
            self._finish_tape()

    def _finish_tape(self) -> None:
        reason, error, times = self._recorded_end or ("agent_stop", None, [])
        if self.tape is not None:
            self.tape.finish(reason, error, times, timed_out=reason == "timeout")

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
        self.ledger.asked.add(role)
        try:
            reply = await self._call(role, request, chat)
        except TauError as error:
            self.ledger.note_failure(error)
            for observe in self._observers:
                observe(role, request, None, error)
            raise
        for observe in self._observers:
            observe(role, request, reply, None)
        return reply

    async def _call(self, role: Role, request: ChatRequest, chat: ChatModel | None) -> ChatReply:
        try:
            with self.ledger.timing(role, request):
                ask = functools.partial(self._ask_model, role, chat)
                reply = await (ask(request) if self.tape is None else self.tape.answer(role, request, ask))
        except ConfigurationError as error:
            # Such as a library that is not installed: not a fault of the participant.
            raise ModelError(str(error), kind="bad_request") from error
        self.ledger.count(role, request, reply)
        return reply

    async def _ask_model(self, role: Role, chat: ChatModel | None, request: ChatRequest) -> ChatReply:
        """Call the model, unless a budget is spent."""
        if role != "judge":  # without its verdict, the conversation would have been paid for in vain
            try:
                await self._check_budgets(role, request, chat)
            except BudgetError as refusal:
                self.ledger.note_refusal(refusal)
                raise
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
            self.ledger.spend(reply.cost)
            if self.policy.on_cost is not None:
                self.policy.on_cost(reply.cost)
        return reply

    async def _check_budgets(self, role: Role, request: ChatRequest, chat: ChatModel | None) -> None:
        """Check that the run and the trial may spend more.

        Raises:
            BudgetError: They may not, or the price of the call is unknown.
        """
        policy, spent = self.policy, self.ledger.spent
        if policy.price_check is not None and role != "retrieval":
            await policy.price_check.before(chat, request)
        problem = policy.budget_problem() if policy.budget_problem else None
        if problem is not None:
            raise BudgetError(problem, of_run=True)
        if policy.budget is not None and spent >= policy.budget:
            raise BudgetError(f"the budget of the trial, ${policy.budget:g}, is spent (${spent:.4f})", of_run=False)

    def run_blocking(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end from blocking code, on the trial's own loop if that runs.

        Raises:
            RuntimeError: This is a running event loop.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            if self._loop is not None and self._loop.is_running():
                return asyncio.run_coroutine_threadsafe(call, self._loop).result()
            return run_steadily(call)
        call.close()
        raise RuntimeError(
            "a blocking model call would block the event loop that must answer it: await complete() instead"
        )


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
