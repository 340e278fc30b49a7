"""The record of what a scripted user has understood of its agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .parser import Sentence

#: How a message of the agent was taken:
#:
#: - ``understood``: a rule of the reading has answered it;
#: - ``not understood``: no rule has; the user said so, or gave what it knows instead of an answer;
#: - ``yes or no to which``: it asks which, what, where or how; the reply has a yes or a no, and no fact;
#: - ``gave up``: the user's patience is exhausted, and the reply ends the conversation.
#:
#: All but the first are stored with the reply, as ``UserMessage.misunderstanding``.
Outcome: TypeAlias = Literal["understood", "not understood", "yes or no to which", "gave up"]

#: A question that begins with what it asks for.
_WHICH = re.compile(
    r"^\W*(?:(?:and|so|then|now|also|okay|ok|great|sure|thanks|thank you|please tell me)\b\W*)*"
    r"(?:(?:for|in|on|to|with|from|of|by) )?(?:which|what|whose|who|when|where|how (?:many|much))\b[^?]*\?",
    re.IGNORECASE,
)


class Understanding(NamedTuple):
    """The understanding of one message of the agent; ``ScriptedUser.understandings`` has one for each reply with text.

    A user that replies to the texts of a stored conversation has the same record as the one that took part in it.

    Attributes:
        heard: The agent's text.
        said: The user's reply.
        outcome: How the text was taken.
    """

    heard: str
    said: str
    outcome: Outcome


def asks_which(sentences: Iterable[Sentence]) -> bool:
    """Return whether one of the sentences is a question that yes or no does not answer."""
    return any(_WHICH.match(sentence.text) for sentence in sentences)
