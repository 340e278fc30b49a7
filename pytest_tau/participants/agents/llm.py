"""Agents and a user played by a chat model.

Source: τ-bench (2024), agent strategies ``act``, ``react`` and ``few-shot``; the texts are our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...chat.action_text import ActionText
from ...errors import ConfigurationError, ModelError, ParticipantError
from ..base import BuiltIn
from ..dialogue import Dialogue
from ..programs.a2a_card import KEY_VARIABLE
from ..prompts import default_template, has_ticket, llm_system_message, resolution_steps, system_message
from .examples import drawn_examples

if TYPE_CHECKING:
    from ..context import Incoming, ParticipantContext, Reply


#: Calls of the user's model for one message. The user is not under test: an empty message would only spoil the trial.
_ATTEMPTS = 3


class LLMAgent(BuiltIn):
    """A chat model with the policy. Without a user it works from the ticket, and must call a tool each turn.

    Raises:
        ConfigurationError: There is no model, the prompt lacks the policy, or the context budget is too small.
    """

    name: ClassVar[str] = "llm"

    def __init__(self, context: ParticipantContext) -> None:
        #: Official solo prompts have the ticket: no message with it follows.
        self._knows_ticket = has_ticket(context) and not context.history
        self._dialogue = self._make_dialogue(context)
        self._tool_choice = "required" if context.solo else None

    async def respond(self, message: Incoming) -> Reply:
        """Return the model's next message.

        Raises:
            ParticipantError: It was empty, or no chat message: the agent's failure, so there is no second call.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The model or its provider failed.
        """
        if self._knows_ticket:
            self._knows_ticket = False  # the first message is the ticket
        else:
            self._dialogue.hear(message)
        return await self._dialogue.say(tool_choice=self._tool_choice)

    def _make_dialogue(self, context: ParticipantContext) -> Dialogue:
        return Dialogue(context, self.name, self._system_message(context))

    def _system_message(self, context: ParticipantContext) -> str:
        return llm_system_message(context)


class LLMSoloAgent(LLMAgent):
    """The agent without a user, under a name of its own.

    Raises:
        ConfigurationError: There is a user.
    """

    name = "llm-solo"

    def __init__(self, context: ParticipantContext) -> None:
        if not context.solo:
            raise ConfigurationError("agent 'llm-solo' works without a user: add --tau-solo, or use the agent 'llm'")
        super().__init__(context)


class LLMGuidedAgent(LLMAgent):
    """An agent that gets the task's reference actions, so that no failure is due to a missing plan.

    Raises:
        ConfigurationError: The task has no reference actions, or there is no user.
    """

    name = "llm-gt"
    needs_reference = True
    with_arguments: ClassVar[bool] = True

    def __init__(self, context: ParticipantContext) -> None:
        if context.solo:
            raise ConfigurationError(f"agent {self.name!r} works with a user: remove --tau-solo")
        super().__init__(context)

    def _system_message(self, context: ParticipantContext) -> str:
        steps = resolution_steps(context.whole_task, with_arguments=self.with_arguments)
        template = default_template(context, "agent_gt")
        return system_message(context, template, {"policy": context.instructions, "steps": steps})


class LLMGuidedAgentNoArgs(LLMGuidedAgent):
    """The same agent with the names of the actions only."""

    name = "llm-gt-noargs"
    with_arguments = False


class EndpointAgent(LLMAgent):
    """The agent under test behind a URL with OpenAI's chat API. Its system message is the policy and nothing else.

    A fault of its server counts against the agent.
    """

    name = "endpoint"
    #: Faults of the run's own settings, which affect every task alike: the key, the model's name, the account. An
    #: exceeded context window ends the conversation by a reason of its own, and counts.
    _NOT_ITS_FAULT = frozenset({"authentication", "unknown_model", "quota", "context_window"})

    async def respond(self, message: Incoming) -> Reply:
        """Return the endpoint's next message.

        Raises:
            ParticipantError: It was empty, no chat message, or the server failed.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The run calls the endpoint with a wrong key or a wrong model, or without credit.
        """
        try:
            return await super().respond(message)
        except ModelError as error:
            if error.kind == "authentication":
                hint = f"the agent's server refuses the key, which is that of the environment variable {KEY_VARIABLE}"
                raise ModelError(f"{hint}: {error}", kind=error.kind) from error
            if error.kind in self._NOT_ITS_FAULT:
                raise
            raise ParticipantError(f"the agent's server failed: {error}", side="agent") from error

    def _system_message(self, context: ParticipantContext) -> str:
        return system_message(context, "{{policy}}", {"policy": context.instructions})


class LLMUser(BuiltIn):
    """A chat model with the scenario.

    To the model its own messages are the assistant's and the agent's are the user's; it sees its own tool calls
    only. It ends the conversation by a stop token in a message without calls.

    Raises:
        ConfigurationError: There is no model, the prompt lacks the scenario, or the context budget is too small.
    """

    name: ClassVar[str] = "llm"

    def __init__(self, context: ParticipantContext) -> None:
        self._dialogue = self._make_dialogue(context)
        self._attempts = 1 if context.protocol.is_official else _ATTEMPTS

    async def respond(self, message: Incoming) -> Reply:
        """Return the model's next message.

        Raises:
            ParticipantError: It was empty, or no chat message, in every attempt.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The model or its provider failed.
        """
        self._dialogue.hear(message)
        return await self._dialogue.say(attempts=self._attempts)

    def _make_dialogue(self, context: ParticipantContext) -> Dialogue:
        return Dialogue(context, self.name, llm_system_message(context))


class ActAgent(LLMAgent):
    """A chat model that writes each call and each answer as an action in text, without function calling.

    Raises:
        ConfigurationError: There is no model, the prompt lacks the policy, or the context budget is too small.
    """

    name = "act"
    thinks: ClassVar[bool] = False

    def _make_dialogue(self, context: ParticipantContext) -> Dialogue:
        if context.model is None:
            return super()._make_dialogue(context)  # which reports it
        strict = context.prompting.text_protocol == "tau1"
        model = ActionText(context.model, thought=self.thinks, speaks=not context.solo, strict=strict)
        return Dialogue(context, self.name, self._system_message(context), model, may_be_empty=strict)


class ReactAgent(ActAgent):
    """The same, with a thought before each action."""

    name = "react"
    thinks = True


class FewShotAgent(LLMAgent):
    """The agent ``llm`` with conversations about other tasks in its system message, drawn by the trial's seed.

    Raises:
        ConfigurationError: There are no examples, or none of another task.
    """

    name = "few-shot"

    def _system_message(self, context: ParticipantContext) -> str:
        prompting = context.prompting
        if prompting.examples is None:
            raise ConfigurationError(
                "agent 'few-shot' needs examples: add --tau-agent-examples FILE, JSON lines or a stored run"
            )
        examples = drawn_examples(prompting.examples, prompting.num_examples, context.task.id, context.seed)
        parts = [f"Example {number}:\n{text}" for number, text in enumerate(examples, 1)]
        return "\n\n".join([llm_system_message(context), *parts])
