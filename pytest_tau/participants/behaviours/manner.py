"""The manner of a scripted user: what a behaviour changes in the replies of a user that cooperates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ...models import UserScript


class Heard(NamedTuple):
    """What a user answers.

    Attributes:
        text: The agent's text.
        reply: The number of the user's reply, from 0.
        request: The sentence of the user's current request.
        refuses: Whether the agent refuses something.
        confirms: Whether the agent asks for a confirmation.
    """

    text: str
    reply: int
    request: str
    refuses: bool
    confirms: bool


class Manner:
    """The manner of a user that cooperates; subclasses change some of it. One object is made for each conversation.

    Args:
        rng: A source of random numbers, seeded by the trial.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def script(self, script: UserScript) -> UserScript:
        """Return the script that the user follows."""
        return script

    def instead(self, heard: Heard) -> str:
        """Return what the user says instead of an answer, which it then gives later; empty to answer."""
        del heard
        return ""

    def value(self, name: str, value: str) -> str:
        """Return the value of a fact that the agent has asked for."""
        del name
        return value

    def facts(self, sentences: Sequence[str]) -> list[str]:
        """Return those of the sentences with facts that the user says now."""
        return list(sentences)

    def reply(self, text: str, heard: Heard) -> str:
        """Return what the user says, given what a user that cooperates would say."""
        del heard
        return text
