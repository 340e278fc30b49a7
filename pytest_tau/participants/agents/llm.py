"""Agents and users played by a chat model.

Source: τ-bench (2024), agent strategies ``act``, ``react`` and ``few-shot``, user strategies ``react``, ``verify`` and
``reflection``; the texts are our own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from ...chat.action_text import ActionText
from ...chat.requests import text_of
from ...chat.spoken_part import SpokenPart
from ...errors import ConfigurationError, ModelError, ParticipantError
from ...variables import AGENT_KEY
from ..base import BuiltIn
from ..dialogue import Dialogue
from ..prompts import built_in, default_template, has_ticket, llm_system_message, resolution_steps, system_message
from .examples import drawn_examples

if TYPE_CHECKING:
    from ..context import Incoming, ParticipantContext, Reply


#: Calls of the user's model for one message. The user is not under test: an empty message would only spoil the trial.
_ATTEMPTS = 3

_VERDICT = re.compile(r"\b(true|false)\b", re.IGNORECASE)


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
        """Return the model's next message. One that cannot be used is the agent's failure: there is no second call."""
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
            ModelError: The run calls the endpoint with a wrong key or a wrong model, or without credit.
        """
        try:
            return await super().respond(message)
        except ModelError as error:
            if error.kind == "authentication":
                hint = f"the agent's server refuses the key, which is that of the environment variable {AGENT_KEY}"
                raise ModelError(f"{hint} ({error})", kind=error.kind) from error
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
        """Return the model's next message that can be used."""
        self._dialogue.hear(message)
        return await self._dialogue.say(attempts=self._attempts)

    def _make_dialogue(self, context: ParticipantContext) -> Dialogue:
        return Dialogue(context, self.name, llm_system_message(context))


class ActAgent(LLMAgent):
    """A chat model that writes each call and each answer as an action in text, without function calling."""

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


class ReactUser(LLMUser):
    """A simulated user that thinks before each message; the agent reads the message only."""

    name: ClassVar[str] = "react"

    def _make_dialogue(self, context: ParticipantContext) -> Dialogue:
        model = SpokenPart(context.model) if context.model is not None else None
        return Dialogue(context, self.name, llm_system_message(context), model)


class VerifyUser(LLMUser):
    """A simulated user of which each message is checked against the scenario, and written again if it is refused.

    A refused message is not part of its history; the last one is sent whatever the check says. Messages with calls
    of tools are not checked.
    """

    name: ClassVar[str] = "verify"
    #: The most attempts of a message, unless the run has another number.
    most: ClassVar[int] = 3

    def __init__(self, context: ParticipantContext) -> None:
        super().__init__(context)
        self._model, self._scenario = context.model, context.instructions
        self._most = context.prompting.attempts or self.most

    async def respond(self, message: Incoming) -> Reply:
        """Return the model's next message that passes the check, or the last attempt."""
        self._dialogue.hear(message)
        transcript = self._transcript()
        rejected: list[dict[str, str]] = []
        while True:
            reply = await self._again(rejected)
            if reply.tool_calls or len(rejected) + 1 >= self._most:
                break
            accepted, reason = await self._check(transcript, reply.text)
            if accepted:
                break
            self._dialogue.take_back()
            rejected.append({"content": reply.text, "reason": reason})
        if rejected:
            reply.raw_data = {**(reply.raw_data or {}), "rejected": rejected}
        return reply

    async def _again(self, rejected: list[dict[str, str]]) -> Reply:
        """Return a message, the first one or one after those that were refused."""
        return await self._dialogue.say(attempts=self._attempts)

    async def _check(self, transcript: str, said: str) -> tuple[bool, str]:
        """Return whether a message fits the scenario, and what the check says. Without a verdict it does."""
        found = await self._ask("user_check", transcript, said)
        verdicts = _VERDICT.findall(found)
        return not verdicts or verdicts[-1].lower() == "true", found.strip()

    async def _ask(self, prompt: str, transcript: str, said: str, reason: str = "") -> str:
        """Return the answer of the user's model to a question about a message."""
        assert self._model is not None, "the dialogue has reported a missing model"
        values = {"scenario": self._scenario, "transcript": transcript, "message": said, "reason": reason}
        text = re.sub(r"\{\{(\w+)\}\}", lambda found: values[found[1]], built_in(prompt))
        reply = await self._model.complete([{"role": "user", "content": text}])
        return reply.text

    def _transcript(self) -> str:
        """Return the conversation as a third person reads it; the calls of the user are not in it."""
        names = {"user": "Agent", "assistant": "Customer"}
        lines = [(names.get(each["role"]), text_of(each)) for each in self._dialogue.messages]
        return "\n".join(f"{name}: {text}" for name, text in lines if name and text)


class ReflectionUser(VerifyUser):
    """The same; after a refused message, the model is first asked what was wrong with it."""

    name = "reflection"
    most = 2

    async def _again(self, rejected: list[dict[str, str]]) -> Reply:
        if not rejected:
            return await super()._again(rejected)
        last = rejected[-1]
        advice = await self._ask("user_reflection", self._transcript(), last["content"], last["reason"])
        last["reflection"] = advice.strip()
        note: dict[str, Any] = {"said": last["content"], "advice": advice.strip()}
        text = re.sub(r"\{\{(\w+)\}\}", lambda found: str(note[found[1]]), built_in("user_again"))
        return await self._dialogue.say_after(text, attempts=self._attempts)
