"""Agents played by a chat model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ..errors import ConfigurationError, ModelError, ParticipantError
from .adapters import BuiltIn
from .dialogue import Dialogue
from .prompts import built_in, resolution_steps, system_message

if TYPE_CHECKING:
    from .context import Incoming, ParticipantContext, Reply


class LLMAgent(BuiltIn):
    """A chat model that is told the policy. Alone, it works from the ticket, and has to call a tool each turn.

    Raises:
        ConfigurationError: There is no model, the prompt lacks the policy, or the context budget is too small.
    """

    name: ClassVar[str] = "llm"

    def __init__(self, context: ParticipantContext) -> None:
        system = system_message(context, self._template(context), self._values(context))
        self._dialogue = Dialogue(context, self.name, system)
        self._tool_choice = "required" if context.solo else None

    async def respond(self, message: Incoming) -> Reply:
        """The model's next message.

        Raises:
            ParticipantError: It was empty, or no chat message: the agent's failure, so it is not asked again.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The model or its provider failed.
        """
        self._dialogue.hear(message)
        return await self._dialogue.say(tool_choice=self._tool_choice)

    def _template(self, context: ParticipantContext) -> str:
        return built_in("agent_solo" if context.solo else "agent")

    def _values(self, context: ParticipantContext) -> dict[str, str]:
        return {"policy": context.instructions}


class LLMSoloAgent(LLMAgent):
    """The agent that works alone, by the name that says so.

    Raises:
        ConfigurationError: There is a user.
    """

    name = "llm-solo"

    def __init__(self, context: ParticipantContext) -> None:
        if not context.solo:
            raise ConfigurationError("agent 'llm-solo' works without a user: add --tau-solo, or name the agent 'llm'")
        super().__init__(context)


class LLMGuidedAgent(LLMAgent):
    """An agent that is told the task's reference actions: what is left of a failure is not for want of a plan.

    Raises:
        ConfigurationError: The task has no reference actions, or there is no user.
    """

    name = "llm-gt"
    with_arguments: ClassVar[bool] = True

    def __init__(self, context: ParticipantContext) -> None:
        if context.solo:
            raise ConfigurationError(f"agent {self.name!r} works with a user: leave out --tau-solo")
        super().__init__(context)

    def _template(self, context: ParticipantContext) -> str:
        return built_in("agent_gt")

    def _values(self, context: ParticipantContext) -> dict[str, str]:
        steps = resolution_steps(context.task, with_arguments=self.with_arguments)
        return {"policy": context.instructions, "steps": steps}


class LLMGuidedAgentNoArgs(LLMGuidedAgent):
    """The same, told the names of the actions only."""

    name = "llm-gt-noargs"
    with_arguments = False


class EndpointAgent(LLMAgent):
    """The agent under test behind a URL that speaks OpenAI's chat format. It is told the policy and nothing else.

    What its server does wrong, it does wrong: a fault of the server counts against the agent.
    """

    name = "endpoint"
    #: Faults of the run's own settings, which would strike every task alike and say nothing about the agent: the key,
    #: the model's name, the account. A full context window ends the conversation by a reason of its own, and counts.
    _NOT_ITS_FAULT = frozenset({"authentication", "unknown_model", "quota", "context_window"})

    async def respond(self, message: Incoming) -> Reply:
        """The endpoint's next message.

        Raises:
            ParticipantError: It was empty, no chat message, or the server failed.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The run calls the endpoint with a wrong key or a wrong model, or without credit.
        """
        try:
            return await super().respond(message)
        except ModelError as error:
            if error.kind in self._NOT_ITS_FAULT:
                raise
            raise ParticipantError(f"the agent's server failed: {error}", side="agent") from error

    def _template(self, context: ParticipantContext) -> str:
        return "{{policy}}"
