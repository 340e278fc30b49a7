"""Agents that are prompted as τ-bench's: an action in text, with and without a thought, and examples.

Source: τ-bench (2024), agent strategies ``act``, ``react`` and ``few-shot``; the texts are our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ...chat.action_text import ActionText
from ...errors import ConfigurationError
from ..dialogue import Dialogue
from ..prompts import llm_system_message
from .examples import drawn_examples
from .llm import LLMAgent

if TYPE_CHECKING:
    from ..context import ParticipantContext


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
