"""Checks of how the user has ended the conversation: while the agent waited, or before everything was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...language import (
    agrees_at_once,
    closes,
    details_in,
    hands_over,
    hesitates,
    mentions_refusal,
    sentences,
    waits_for_yes,
    words,
)
from ...models import STOP_TOKENS, AssistantMessage, UserMessage
from .conversation import quote, words_of
from .details import Lazily
from .facts import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conversation import Conversation

_STOP = STOP_TOKENS[0]
#: How many of the last sentences of the agent ask for the confirmation.
_LAST = 3
#: Arguments that say who the user is, which may be found out in another way.
_IDENTIFYING = frozenset(("user_id", "customer_id", "id"))
#: Letters of a word that says what a request is about.
_LONG_WORD = 5


def stopped_while_asked(conversation: Conversation) -> Iterator[Finding]:
    """Find a stop by which the user agrees to what the agent will do only after a confirmation.

    A user that declines, or that says nothing of the question, may end the conversation.
    """
    stop = conversation.stop
    if stop is None or stop[1].stop_token != _STOP:
        return
    number, message = stop
    answer = words_of(message)
    if not agrees_at_once(answer) or hesitates(answer):
        return
    agent_text = conversation.agent_said(number)
    end = "\n".join(sentences(agent_text, ".!?:")[-_LAST:])
    asks = waits_for_yes(end) and not hands_over(end)
    if asks and not closes(end.splitlines()[-1] if end else ""):
        yield Finding(
            "stop-while-asked", number, f"asked {quote(agent_text)}, the user agreed and stopped: {quote(answer)}"
        )


def stopped_before_request(conversation: Conversation) -> Iterator[Finding]:
    """Find a stop before the last request was made: nothing that identifies it was said or called.

    A request of a script is identified by the words that no earlier one has; one of prose by the ids of the scenario
    that are arguments of a reference action. A user that has said and called nothing has made no request. If the agent
    has refused anything, the user may leave, and a scripted user that gives up says so.
    """
    stop = conversation.stop
    if stop is None or stop[1].stop_token != _STOP or stop[1].misunderstanding or _refused(conversation):
        return
    if not any(
        message.tool_calls or words_of(message) for message in conversation.messages if isinstance(message, UserMessage)
    ):
        yield Finding("stop-before-request", stop[0], "the user stopped; it has said nothing")
    elif missing := _missing_words(conversation) or _missing_ids(conversation):
        yield Finding("stop-before-request", stop[0], f"the user stopped; never mentioned: {missing}")


def _missing_words(conversation: Conversation) -> str:
    script = conversation.task.scenarios[-1].script
    if script is None or not script.requests[1:]:
        return ""
    *earlier, last = (set(words(request.say)) for request in script.requests)
    last_words = {word for word in last.difference(*earlier) if len(word) >= _LONG_WORD}
    is_mentioned = any(not last_words.isdisjoint(words(text)) for text in conversation.texts)
    return repr(script.requests[-1].say) if last_words and not is_mentioned else ""


def _missing_ids(conversation: Conversation) -> str:
    given_details, said_details = Lazily([conversation.scenario]), Lazily(conversation.texts)
    actions = [action for action in conversation.task.criteria.actions or [] if action.requestor == "assistant"]
    for action in reversed(actions):
        arguments = {name: value for name, value in action.arguments.items() if name not in _IDENTIFYING}
        ids = [detail for detail in details_in(_values(arguments)) if detail.kind == "id" and given_details.has(detail)]
        if ids and not any(said_details.has(detail) for detail in ids):
            return ", ".join(detail.text for detail in ids)
    return ""


def _refused(conversation: Conversation) -> bool:
    texts = (message.text for message in conversation.messages[1:] if isinstance(message, AssistantMessage))
    return any(mentions_refusal(text) or hands_over(text) for text in texts) or any(
        "transfer" in call.name
        for message in conversation.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls or ()
    )


def _values(arguments: object) -> str:
    if isinstance(arguments, dict):
        return " ; ".join(map(_values, arguments.values()))
    if isinstance(arguments, list):
        return " ; ".join(map(_values, arguments))
    return str(arguments)
