"""What an agent hears and says in a tick, and how an agent of texts takes its turns."""

from __future__ import annotations

import re
from collections.abc import Sequence  # noqa: TC003 - a NamedTuple
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ....errors import ParticipantError
from ....models import AssistantMessage, UserMessage, clone
from ....participants import Adapter, BuiltIn, LLMAgent, as_message, short_repr
from ..ticks import SOUNDS, TICK_SECONDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from ....models import ToolCall
    from ....participants import Incoming, Reply

#: Words by which a listener asks the speaker to go on.
_CONTINUERS = re.compile(r"(?:(?:uh[- ]?huh|mm[- ]?hmm|yeah|right|okay|ok|i see)[\s.,!]*)*", re.IGNORECASE)
_REPEAT = re.compile(r"\b(?:could|can|would) you (?:please )?(?:repeat|say) (?:that|it)\b", re.IGNORECASE)
#: Letters and digits that are said one by one: ``W, 5, 7``.
_SPELLED = re.compile(
    r"(?<![\w,])(?:[A-Za-z0-9]|dash|underscore|hash)(?:, (?:[A-Za-z0-9]|dash|underscore|hash))+(?!\w)"
)
_SIGNS = {"dash": "-", "underscore": "_", "hash": "#"}
#: Words of the agent's own that it is reminded of after it was interrupted.
_REMINDED = 12


class Heard(NamedTuple):
    """What an agent hears and knows in a tick.

    Attributes:
        tick: The number of the tick.
        text: The words that have arrived; sounds are in brackets, such as ``[cough]``.
        sound: With ``--tau-voice-sound``, the sound of these words: G.711's μ-law, 8,000 bytes a second. The ticks of
            an utterance have equal parts of it, which may be longer or shorter than a tick.
        speech: Somebody is heard, whether or not with words.
        muffled: What is heard is not spoken into the phone.
        said: What the agent has said so far of the utterance that goes on; empty if it is silent.
        left: What it has left to say, without the words that it has begun.
        results: The results of its last calls: a ``ToolMessage``, or a ``MultiToolMessage``; None if there are none.
        seconds: The length of a tick.
    """

    tick: int
    text: str = ""
    sound: bytes = b""
    speech: bool = False
    muffled: bool = False
    said: str = ""
    left: str = ""
    results: Incoming | None = None
    seconds: float = TICK_SECONDS

    @property
    def speaks(self) -> bool:
        """Return whether the agent speaks."""
        return bool(self.said or self.left)


class Say(NamedTuple):
    """What an agent does in a tick.

    Attributes:
        text: What it says next, after what it has left to say.
        hush: It drops what it has left to say, before ``text``.
        calls: Tool calls: a ``ToolCall``, or a dict in OpenAI chat format.
        stop: It ends the conversation when it has said everything.
    """

    text: str = ""
    hush: bool = False
    calls: Sequence[Any] = ()
    stop: bool = False


class TickAgent:
    """An agent that hears and speaks tick by tick, for ``--tau-mode voice``.

    A subclass defines ``tick``; its constructor may ask for what that of any other agent may, such as ``tools`` and
    ``policy``. What it says lasts as long as its words take. ``greeting`` is what it says first.
    """

    def tick(self, heard: Heard) -> Say | str | None:
        """Return what the agent does: a ``Say``, a text that it says next, or None for nothing; sync or async."""
        raise NotImplementedError

    def respond(self, message: Any) -> Any:
        """Refuse to answer a text.

        Raises:
            ParticipantError: Always.
        """
        raise ParticipantError(f"{type(self).__name__} speaks in ticks: add --tau-mode voice", side="agent")


@dataclass(frozen=True)
class Manners:
    """How an agent of texts takes its turns. An agent may have its own, as the attribute ``manners``.

    Attributes:
        end_silence: Seconds of silence after which the user's turn is over.
        thinking: Seconds until it has an answer.
        delay: Further seconds until it begins to speak.
        interjects: What it says into each longer turn of the user; empty to let the user finish.
        yields: It falls silent when the user speaks over it.
        heeds_muffled: It answers what is not spoken into the phone.
        holds: Seconds after such words in which it does not begin to speak.
        fillers: What it says while it calls tools: the first at once, the next ones when it has been silent for long.
        repeats: It repeats what it said last, if it is asked to.
        joins_spelled: It joins what is spelled: ``W, 5, 7`` is ``W57``.
        reminder: After it was interrupted, the user's text begins with what it had said. An agent with a method
            ``interrupted(said, seconds)`` is called instead.
    """

    end_silence: float = 0.4
    thinking: float = 0.6
    delay: float = 0.0
    interjects: str = ""
    yields: bool = True
    heeds_muffled: bool = False
    holds: float = 0.0
    fillers: tuple[str, ...] = ()
    repeats: bool = False
    joins_spelled: bool = False
    reminder: bool = True


#: Those of an agent by rules, which cannot learn them from a prompt.
BY_RULES = Manners(
    holds=2.2,
    fillers=("One moment, please.", "I am still looking into it."),
    repeats=True,
    joins_spelled=True,
    reminder=False,
)
#: The words of the user's turn into which an agent interjects.
_INTO_WORDS = 5
#: Seconds of silence after which an agent that works says so.
_WORKS_ON = 4.0


class AgentTurns:
    """The turn-taking of an agent of texts.

    It is asked when a turn of the user is over, and says what it answers. Words of the user that come before it speaks
    are kept for its next turn.

    Args:
        ask: Asks the agent, and returns its reply and whether that ends the conversation.
        manners: How it takes its turns.
        greeting: What it says first.
        note_cut: Called with what it had said when it was interrupted, and for how many seconds; None for an agent
            without a method for that.
        hear: Called with the sound of a turn, before the agent is asked about it; likewise.
    """

    def __init__(
        self,
        ask: Callable[[Incoming], Awaitable[tuple[Reply, bool]]],
        manners: Manners,
        greeting: str,
        note_cut: Callable[[str, float], Awaitable[None]] | None = None,
        hear: Callable[[bytes], Awaitable[None]] | None = None,
    ) -> None:
        self._ask, self._manners, self._note_cut, self._began = ask, manners, note_cut, 0
        self._hear, self._sound, self._kept_sound = hear, b"", b""
        self._turn, self._kept, self._silent = "", "", 0
        self._thinks_until: int | None = None
        self._calls: Sequence[ToolCall] = ()
        self._reply: tuple[Reply, bool] | None = None
        self._waits_for_results = False
        self._cut, self._last, self._quiet, self._fillers = "", greeting, 0, 0
        self._began_over = self._interjected = False
        self._disturbed: int | None = None

    async def tick(self, heard: Heard) -> Say:
        """Return what the agent does."""
        self._quiet = 0 if heard.speaks else self._quiet + 1
        self._began = self._began if heard.said else heard.tick
        self._listen(heard)
        if heard.speaks and self._is_interrupted(heard):
            if self._note_cut is None:
                self._cut = heard.said
            else:
                await self._note_cut(heard.said.strip(), (heard.tick - self._began) * heard.seconds)
            return Say(hush=True)
        if heard.results is not None:
            self._waits_for_results = False
            await self._think(heard, heard.results)
        elif self._turn_is_over(heard):
            if repeated := self._repeated():
                return Say(text=repeated)
            if self._hear is not None and (sound := self._kept_sound + self._sound):
                await self._hear(sound)
            await self._think(heard, UserMessage(content=self._take_turn()))
        return self._speak(heard)

    @property
    def _works(self) -> bool:
        return self._waits_for_results or self._reply is not None

    def _listen(self, heard: Heard) -> None:
        if heard.speech and heard.muffled:
            self._disturbed = heard.tick
        counts = heard.speech and (not heard.muffled or self._manners.heeds_muffled)
        self._silent = 0 if counts else self._silent + 1
        if counts:
            self._began_over = heard.speaks if not self._turn else self._began_over
            self._turn += heard.text
            self._sound += heard.sound
        elif self._began_over and _CONTINUERS.fullmatch(self._words()):
            self._turn, self._sound = "", b""  # the user only shows that they listen
        elif self._turn and not self._turn.endswith(" "):
            self._turn += " "

    def _is_interrupted(self, heard: Heard) -> bool:
        return self._manners.yields and heard.speech and not _CONTINUERS.fullmatch(self._words())

    def _turn_is_over(self, heard: Heard) -> bool:
        if self._works or heard.speaks or not self._words():
            return False
        return self._silent * heard.seconds >= self._manners.end_silence - 1e-6

    def _words(self) -> str:
        return " ".join(SOUNDS.sub("", self._turn).split())

    def _repeated(self) -> str:
        if not self._manners.repeats or not _REPEAT.search(self._words()):
            return ""
        self._turn, self._cut, self._sound = "", "", b""
        return self._last

    def _take_turn(self) -> str:
        text = " ".join(filter(None, [self._kept, self._words()]))
        if self._manners.joins_spelled:
            text = _SPELLED.sub(_joined, text)
        if self._cut and self._manners.reminder:
            words = self._cut.split()
            text = f'[You were interrupted after: "{" ".join(words[-_REMINDED:])}"] {text}'
        self._turn = self._kept = self._cut = ""
        self._sound = self._kept_sound = b""
        self._interjected = False
        self._fillers = 0
        return text

    async def _think(self, heard: Heard, message: Incoming) -> None:
        self._reply = await self._ask(message)
        seconds = self._manners.thinking
        if isinstance(message, UserMessage):
            seconds += self._manners.delay
        self._thinks_until = heard.tick + round(seconds / heard.seconds)

    def _speak(self, heard: Heard) -> Say:
        """Return the reply when it is there; until then, perhaps that the agent works on it."""
        if self._may_interject(heard):
            self._interjected = True
            return Say(text=self._manners.interjects)
        due = self._thinks_until is not None and heard.tick >= self._thinks_until
        reply = self._reply
        if reply is None or not due:
            return self._filler(heard)
        message, stops = reply
        if message.has_text_content() and not message.tool_calls and not self._may_begin(heard):
            return Say()
        self._reply = self._thinks_until = None
        self._waits_for_results = bool(message.tool_calls)
        if message.has_text_content():
            self._kept, self._turn, self._last = self._words(), "", message.text
            self._kept_sound, self._sound = self._sound, b""
            return Say(text=message.text, calls=message.tool_calls or (), stop=stops)
        filler = self._filler(heard, at_once=True)
        return Say(text=filler.text, calls=message.tool_calls or (), stop=stops)

    def _may_begin(self, heard: Heard) -> bool:
        """Return whether the user is silent, and has not just spoken to somebody else."""
        since = self._disturbed
        disturbed = since is not None and (heard.tick - since) * heard.seconds < self._manners.holds
        return self._silent > 0 and (heard.speaks or not disturbed)

    def _may_interject(self, heard: Heard) -> bool:
        long = not self._silent and len(self._turn.split()) >= _INTO_WORDS
        return bool(self._manners.interjects) and long and not self._interjected and not heard.speaks

    def _filler(self, heard: Heard, *, at_once: bool = False) -> Say:
        first = self._fillers == 0
        if not self._works or heard.speaks or not self._may_begin(heard) or self._fillers >= len(self._manners.fillers):
            return Say()
        if not (at_once if first else self._quiet * heard.seconds >= _WORKS_ON):
            return Say()
        self._fillers += 1
        return Say(text=self._manners.fillers[self._fillers - 1])


def _joined(match: re.Match[str]) -> str:
    return "".join(_SIGNS.get(part.lower(), part) for part in match.group().split(", "))


def manners_of(participant: object, domain_agents: Iterable[type | str]) -> Manners:
    """Return the manners of an agent of texts: its own, or those that go with what it is."""
    target = participant.target if isinstance(participant, Adapter) else participant
    declared = getattr(target, "manners", None)
    if isinstance(declared, Manners):
        return declared
    kind = type(target)
    of_domain = kind in domain_agents or f"{kind.__module__}:{kind.__qualname__}" in domain_agents
    by_rules = isinstance(target, BuiltIn) and not isinstance(target, LLMAgent)
    return BY_RULES if of_domain or by_rules else Manners()


def as_say(returned: Any) -> Say:
    """Return what an agent does in a tick, given what its ``tick`` has returned.

    Raises:
        ParticipantError: It has none of the forms.
    """
    if returned is None:
        return Say()
    if isinstance(returned, str):
        return Say(text=returned)
    if not isinstance(returned, Say):
        problem = f"tick() returned {short_repr(returned)}; expected a Say, a text or None"
        raise ParticipantError(problem, side="agent")
    if not isinstance(returned.text, str):
        raise ParticipantError(f"the text of a Say: expected a text, got {short_repr(returned.text)}", side="agent")
    return returned


def message_of(calls: Sequence[Any]) -> AssistantMessage:
    """Return a message with calls.

    Raises:
        ParticipantError: A call cannot be used.
    """
    message = as_message({"tool_calls": list(calls)}, "agent")
    assert isinstance(message, AssistantMessage), "an agent replies"
    return clone(message)
