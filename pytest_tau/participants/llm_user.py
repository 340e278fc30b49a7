"""The user simulator: a customer played by a chat model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .adapters import BuiltIn
from .dialogue import Dialogue
from .prompts import built_in, system_message

if TYPE_CHECKING:
    from .context import Incoming, ParticipantContext, Reply

#: How often the model is asked for one message. The user is not under test: an empty message would only cost the trial.
_ATTEMPTS = 3


class LLMUser(BuiltIn):
    """A chat model that is told the scenario.

    To the model its own messages are the assistant's and the agent's are the user's; of tool calls it sees its own
    only. It ends the conversation by a stop token in a message without calls.

    Raises:
        ConfigurationError: There is no model, the prompt lacks the scenario, or the context budget is too small.
    """

    def __init__(self, context: ParticipantContext) -> None:
        template = built_in("user_tools" if context.tools else "user")
        system = system_message(context, template, {"scenario": context.instructions})
        self._dialogue = Dialogue(context, "llm", system)

    async def respond(self, message: Incoming) -> Reply:
        """The model's next message.

        Raises:
            ParticipantError: It was empty, or no chat message, however often it was asked for.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The model or its provider failed.
        """
        self._dialogue.hear(message)
        return await self._dialogue.say(attempts=_ATTEMPTS)
