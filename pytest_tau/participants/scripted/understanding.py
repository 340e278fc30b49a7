"""The record of what a scripted user has understood of its agent."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

#: How a message of the agent was taken:
#:
#: - ``understood``: a rule of the reading has answered it;
#: - ``not understood``: no rule has; the user said so, or gave what it knows instead of an answer;
#: - ``yes or no to which``: it asks which, what, where or how; the reply has a yes or a no, and no fact;
#: - ``gave up``: the user's patience is exhausted, and the reply ends the conversation.
#:
#: All but the first are stored with the reply, as ``UserMessage.misunderstanding``.
Outcome: TypeAlias = Literal["understood", "not understood", "yes or no to which", "gave up"]


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
