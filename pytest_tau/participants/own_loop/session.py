"""The model endpoint of one trial: the model calls of its agent, and its tools."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ...actors import named_by_framework
from ...chat import ChatRequest
from ...errors import ConfigurationError, ContextWindowError, MissingModelError, ModelError, TauError
from ...models import ConversationEnded

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from ...chat import ChatReply, TrialModels
    from ...endpoint import Address, EndpointRequest, ToolOutcome
    from .bridge import Bridge

#: The model name that stands for ``--tau-agent-llm``.
TAU = "tau"
#: The most model calls of an agent in one trial, so that a loop that does not end is cut off.
MAX_MODEL_CALLS = 200


class AgentSession:
    """Answers the requests that an agent makes to the endpoint of its trial.

    Args:
        models: The models of the trial.
        bridge: Carries out tool calls, and attaches the model's answers to them.
        tools: The tools of the trial.
        other_loop: Returns the event loop for requests outside of the conversation; None if there can be none.

    Attributes:
        overflow: The error of the latest request, if it was longer than the model's context window.
    """

    def __init__(
        self,
        models: TrialModels | None,
        bridge: Bridge,
        tools: Sequence[Any],
        other_loop: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self.overflow: ContextWindowError | None = None
        self._models, self._bridge, self._tools, self._other_loop = models, bridge, tools, other_loop
        self._calls = 0
        self._address: Address | None = None
        self._lock = threading.Lock()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop on which requests are answered: that of the conversation while it goes on.

        Raises:
            RuntimeError: The conversation has not begun, or is over.
        """
        loop = self._bridge.loop or (self._other_loop() if self._other_loop else None)
        if loop is None:
            raise RuntimeError("the agent has called its model outside of the conversation")
        return loop

    @property
    def address(self) -> Address:
        """The address of the endpoint, opened at the first use.

        Raises:
            ConfigurationError: The packages of the extra ``endpoint`` are not installed.
        """
        from ...endpoint import open_session

        with self._lock:
            if self._address is None:
                try:
                    self._address = open_session(self)
                except ConfigurationError as error:
                    # The agent cannot call its model, whatever it makes of the exception: not its own fault.
                    self._bridge.fail(ModelError(str(error), kind="bad_request"))
                    raise
            return self._address

    def close(self) -> None:
        """Answer no request any more."""
        with self._lock:
            address, self._address = self._address, None
        if address is not None:
            from ...endpoint import close_session

            close_session(address)

    async def complete(self, request: EndpointRequest) -> ChatReply:
        """Return the answer of the agent's model to a request.

        Raises:
            ModelError: The model failed, there is none, or the agent has made too many calls.
            ReplayError: A replayed trial makes a request that was not recorded.
        """
        self._count_call()
        self._bridge.memory.ask(request.messages)
        try:
            actor = self._actor(request.model)
            with named_by_framework(actor):
                reply = await self._ask(request)
        except ContextWindowError as error:
            self.overflow = error  # an agent may shorten its request
            raise
        except TauError as error:
            self._bridge.fail(error)
            raise
        self.overflow = None
        self._bridge.model_answered(reply.message, _names(request.tools), actor)
        self._add_facts()
        return reply

    def count_unmade(self) -> None:
        """Add what was lost between the agent and its model to the facts of the trial, at its end."""
        usage = self._models.ledger.usage.get("agent") if self._models else None
        if usage is not None:
            usage.unmade_calls, memory = self._bridge.unmade, self._bridge.memory
            usage.lost_results, usage.lost_texts = memory.lost_results, memory.lost_texts

    def tools(self) -> Sequence[Any]:
        """Return the tools of the trial."""
        return self._tools

    async def call_tool(self, name: str, arguments: Any) -> ToolOutcome:
        """Call a tool of the trial; an unknown one has an error as its result.

        Raises:
            RuntimeError: No message is being answered.
            asyncio.CancelledError: The conversation ended before the call was answered.
        """
        return await self._bridge.acall(name, arguments)

    def _actor(self, model: str) -> str | None:
        """Return who makes a request: the actor after the name of the model, else the only one that speaks.

        Raises:
            ParticipantError: It is not declared.
        """
        actors, parts = self._bridge.actors, model.partition(":")
        if parts[0] != TAU or not parts[1]:
            return actors.only
        actors.check(parts[2])
        return parts[2]

    async def _ask(self, asked: EndpointRequest) -> ChatReply:
        if self._models is None:
            raise MissingModelError("this trial has no models")
        of_trial = self._models.get("agent")
        if of_trial is None and asked.model.partition(":")[0] == TAU:
            problem = (
                f"the agent asks for the model {asked.model!r}, which stands for --tau-agent-llm: add "
                "--tau-agent-llm MODEL, or for simulate() llms={'agent': LLM(…)} in its settings"
            )
            raise MissingModelError(problem)
        # What the agent asks for is what is tested: its parameters win over those of the run.
        args = {**(of_trial.args if of_trial else {}), **asked.args}
        choice = asked.tool_choice
        if choice is not None and not isinstance(choice, str):
            args["tool_choice"] = choice  # the choice of one function is an argument like others
            choice = None
        request = ChatRequest(
            model=of_trial.name if of_trial else asked.model,
            messages=asked.messages,
            tools=asked.tools,
            tool_choice=choice if asked.tools else None,
            response_format=asked.response_format,
            args=args,
        )
        return await self._models.ask("agent", request)

    def _count_call(self) -> None:
        self._calls += 1
        if self._calls > MAX_MODEL_CALLS:
            problem = f"the agent has made {MAX_MODEL_CALLS} model calls, the limit of a trial"
            self._bridge.fail(ConversationEnded("max_steps", problem))
            raise ModelError(problem, kind="quota")

    def _add_facts(self) -> None:
        answer = self._bridge.answer
        usage = self._models.ledger.usage.get("agent") if self._models else None
        if usage is not None:
            usage.malformed_calls += answer.malformed
            usage.unknown_tools += answer.unknown


def _names(tools: Sequence[dict[str, Any]]) -> set[str]:
    return {str(tool.get("function", {}).get("name")) for tool in tools}
