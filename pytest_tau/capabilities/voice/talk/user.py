"""What a simulated user says and decides while the policy of turns asks it."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, NamedTuple

from ....models import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .... import Conversation, Ending
    from ....chat import TrialModel
    from ....models import ToolCall
    from ....participants import Incoming
    from ..ticks import SpeechInsert
    from .conditions import Conditions, EffectSchedule
    from .speech import Pace

BACKCHANNELS = ("uh-huh", "mm-hmm")
_CHECKS_IN = ("Hello? Are you still there?", "Hello? Can you hear me?")
_GIVES_UP = "I will call again later. ###STOP###"
_ASKS_BACK = "Sorry, could you say that again?"
_MOST_ASKED_BACK = 2
#: Texts by which an agent asks for a moment, and for how many ticks a user then waits until they check in.
_MOMENT = re.compile(
    r"(?:[^.?]*\b(?:(?:a|one) (?:moment|second)|still (?:looking|working|checking))\b[^.?]*\.?)+", re.IGNORECASE
)
_MOST_WAITED = 40
#: How often a user answers a question early, has missed something, and shows that they listen, where they may.
_ANSWERS_EARLY, _MISSES, _SHOWS = 0.5, 0.1, 0.4
#: A user interrupts after so many words, and shows that they listen after so many sentences.
_LEAST_WORDS, _LEAST_SENTENCES = 5, 2
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)")
_INTERRUPT = (
    "Below is a phone call. The agent is speaking now, and the last line is incomplete. Has the user heard enough to "
    "answer or to correct the agent at once, so that they would interrupt? If the agent has said fewer than about five "
    "words of this turn, they would not. Answer with YES or NO only."
)
_LISTEN = (
    "Below is a phone call. The agent is speaking now, and the last line is incomplete. Would the user say a word such "
    "as 'uh-huh' now, to show that they listen? Only after two full sentences of this turn, not at a question, not if "
    "they did so lately, and about once in five sentences. If in doubt, answer NO. Answer with YES or NO only."
)


class Spoken(NamedTuple):
    """What the user says next: chunks of speech, calls, or a text that ends the conversation; nothing to listen on."""

    chunks: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()
    stop: str | None = None


class UserMind:
    """A user of texts in a conversation of ticks.

    It answers what it has heard, checks in twice when nothing is said, and then gives up. If a model plays the user,
    the model decides when to interrupt; else rules do: the user interrupts an agent that goes on after a question, and
    now and then asks to hear something again.

    Attributes:
        reply_message: What is said now, as a message.
        tic: The tic in what was said last.
        ending: How the last reply ends the conversation; None if it does not.
        text: The text of a stop.
    """

    def __init__(
        self,
        conversation: Conversation,
        conditions: Conditions,
        effects: EffectSchedule,
        pace: Pace,
        seed: int,
        model: TrialModel | None,
    ) -> None:
        self._conversation, self._conditions, self._effects, self._pace = conversation, conditions, effects, pace
        self._model, self._rng = model, random.Random(f"{seed} decisions")  # noqa: S311 - not for secrets
        self._words = random.Random(seed + 100)  # noqa: S311 - likewise
        self._checked_in = self._asked_back = 0
        self._asks_back = False
        self._waited = 0
        self.tic: SpeechInsert | None = None
        self.reply_message: UserMessage | None = None
        self.ending: Ending | None = None

    async def reply(self, heard: str, results: Incoming | None) -> Spoken:
        """Return what the user says next; nothing if the agent has asked for a moment.

        Args:
            heard: What the agent has said since the last reply; empty if nothing.
            results: The results of the user's calls, which are to be answered; None if there are none.
        """
        heard = _tidy(heard)
        if results is None and _MOMENT.fullmatch(heard) and self._waited < _MOST_WAITED:
            self._waited += 1
            return Spoken()
        self._waited, self.tic = 0, None
        message = await self._said(heard, results)
        self.reply_message = message
        if message.tool_calls:
            return Spoken(calls=message.tool_calls)
        self.ending = self._conversation.stop(message)
        if self.ending is not None:
            return Spoken(stop=message.text)
        text, self.tic = self._effects.utterance(message.text)
        return Spoken(chunks=self._pace.chunks(text))

    async def _said(self, heard: str, results: Incoming | None) -> UserMessage:
        if self._asks_back:
            self._asks_back = False
            return UserMessage(content=_ASKS_BACK)
        if results is None and not heard:
            self._checked_in += 1
            checks = self._checked_in <= len(_CHECKS_IN)
            return UserMessage(content=_CHECKS_IN[self._checked_in - 1] if checks else _GIVES_UP)
        self._checked_in = 0
        message = AssistantMessage(content=heard) if results is None else results
        reply = await self._conversation.ask("user", message)
        assert isinstance(reply, UserMessage), "a user replies"
        return reply

    async def decide(self, heard: str) -> tuple[bool, bool]:
        """Return whether the user interrupts, and whether they show that they listen."""
        may_listen, heard = self._conditions.use_llm_backchannel, _tidy(heard)
        if self._model is not None:
            interrupts = self._conditions.interrupts and await self._yes(_INTERRUPT, heard)
            return interrupts, may_listen and not interrupts and await self._yes(_LISTEN, heard)
        draw = self._rng.random()
        if self._conditions.interrupts and len(heard.split()) >= _LEAST_WORDS:
            if 0 <= heard.rfind("?") < len(heard) - 1:
                return draw < _ANSWERS_EARLY, False
            if draw < _MISSES and self._asked_back < _MOST_ASKED_BACK:
                self._asked_back += 1
                self._asks_back = True
                return True, False
        sentences = len(_SENTENCE_END.findall(heard))
        listens = sentences >= _LEAST_SENTENCES and not heard.endswith("?") and draw >= 1 - _SHOWS
        return False, may_listen and listens

    def backchannel(self) -> Sequence[str]:
        """Return the chunks of a word by which the user shows that they listen."""
        return self._pace.chunks(self._words.choice(BACKCHANNELS))

    async def _yes(self, question: str, heard: str) -> bool:
        """Return what the model answers; anything but yes is no."""
        assert self._model is not None
        lines = [
            f"{'AGENT' if message.role == 'assistant' else 'USER'}: {message.content}"
            for message in self._conversation.messages
            if message.role in ("assistant", "user") and message.content
        ]
        lines.append(f"AGENT: {heard} [still speaking]")
        request = [{"role": "user", "content": f"{question}\n\n" + "\n".join(lines[-100:])}]
        answer = await self._conversation.of_side("user", self._model.complete(request))
        return str(answer.message.get("content") or "").strip().upper() == "YES"


def _tidy(heard: str) -> str:
    """Return words that were heard without the blanks of silent ticks."""
    return re.sub(r" {2,}", " ", heard).strip()
