"""Users that are prompted as τ-bench's: with a thought, and with a check of each reply.

Source: τ-bench (2024), user strategies ``react``, ``verify`` and ``reflection``; the texts are our own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from ...chat.requests import text_of
from ...chat.spoken_part import SpokenPart
from ..dialogue import Dialogue
from ..prompts import built_in, llm_system_message
from .llm import LLMUser

if TYPE_CHECKING:
    from ..context import Incoming, ParticipantContext, Reply

_VERDICT = re.compile(r"\b(true|false)\b", re.IGNORECASE)


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
        """Return the model's next message that passes the check, or the last attempt.

        Raises:
            ParticipantError: A message was empty, or no chat message.
            ContextWindowError: The newest messages do not fit into the context.
            ModelError: The model or its provider failed.
        """
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
        del rejected
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
