"""Checks of what the scripted user has recorded of itself: what it did not understand, and that it gave up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...diagnosis.misunderstandings import misunderstood_in
from .facts import GAVE_UP, NOT_UNDERSTOOD, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conversation import Conversation


def not_understood(conversation: Conversation) -> Iterator[Finding]:
    """Find messages that the scripted user did not understand, and which-questions that it answered by yes or no."""
    return (each for each in _recorded(conversation) if each.check == NOT_UNDERSTOOD)


def gave_up(conversation: Conversation) -> Iterator[Finding]:
    """Find that the patience of the scripted user was exhausted."""
    return (each for each in _recorded(conversation) if each.check == GAVE_UP)


def _recorded(conversation: Conversation) -> Iterator[Finding]:
    for each in misunderstood_in(conversation.messages):
        if each.message_idx >= conversation.start:
            yield Finding(GAVE_UP if each.kind == "gave up" else NOT_UNDERSTOOD, each.message_idx, each.text)
