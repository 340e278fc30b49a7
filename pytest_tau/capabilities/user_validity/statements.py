"""Checks of what the user has said: details from nowhere, and secrets of its scenario."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ...language import asks_when, details_in, has_condition, sentences, wants_answer, wants_booking, wants_secret
from .conversation import quote, text_of, words_of
from .details import Lazily
from .facts import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...language import Detail
    from .conversation import Conversation


def made_up(conversation: Conversation) -> Iterator[Finding]:
    """Find e-mail addresses, ids, dates and numbers that neither the scenario nor the conversation has given before."""
    known, number_read = Lazily([conversation.scenario]), 0
    for number, message in enumerate(conversation.messages):
        if message.role == "user" and number >= conversation.start:
            for detail in details_in(words_of(message)):
                for earlier in conversation.messages[number_read:number]:
                    known.add(text_of(earlier))
                number_read = number
                if not (known.has(detail) or _is_forced(conversation, detail, number)):
                    quoted = quote(words_of(message), detail.text)
                    yield Finding(
                        "made-up-detail", number, f"the {detail.kind} {detail.text} was given nowhere: {quoted}"
                    )


def _is_forced(conversation: Conversation, detail: Detail, number: int) -> bool:
    """Return whether the scenario asks for a booking and has no date, so that the user has to choose the dates.

    The agent must have asked for them. It is the task that lacks them then.
    """
    agent_text = conversation.agent_said(number)
    if detail.kind != "date" or not asks_when(agent_text):
        return False
    scenario = conversation.instructions
    return wants_booking(scenario) and not any(other.kind == "date" for other in details_in(scenario))


def secrets(conversation: Conversation) -> Iterator[Finding]:
    """Find details that the scenario wants to be kept, or to be given only when the agent asks, given away unasked."""
    for detail, if_asked in _secrets_in(conversation.instructions):
        yield from _given_away(conversation, detail.value, detail.text, if_asked=if_asked)


@functools.lru_cache(maxsize=512)
def _secrets_in(scenario: str) -> tuple[tuple[Detail, bool], ...]:
    """Return the details that a scenario wants to be kept, and whether each may be given when the agent asks."""
    return tuple(
        (detail, has_condition(sentence))
        for sentence in sentences(scenario)
        if wants_secret(sentence)
        for detail in details_in(sentence)
        # The user may say a detail that another sentence of the scenario has, too.
        if scenario.count(detail.text) == 1
    )


def _given_away(conversation: Conversation, value: str, text: str, *, if_asked: bool) -> Iterator[Finding]:
    for number, user_text in conversation.user_texts():
        if not any(detail.value == value for detail in details_in(user_text)):
            continue
        before = Lazily(conversation.texts[:number])
        known = any(before.has(detail) for detail in details_in(user_text) if detail.value == value)
        is_asked = if_asked and number > conversation.start + 1 and wants_answer(conversation.agent_said(number))
        if not known and not is_asked:
            yield Finding("unasked-secret", number, f"the scenario wants {text} to be kept: {quote(user_text, text)}")
        return
