"""Checks of how the user has ended the conversation: while the agent waited, or before everything was asked for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...language import agrees_at_once, closes, hands_over, hesitates, mentions_refusal, waits_for_yes, words
from ...models import STOP_TOKENS, AssistantMessage, UserMessage
from .conversation import quote, words_of
from .details import Lazily, details_in
from .facts import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conversation import Conversation

_STOP = STOP_TOKENS[0]
_ENDS = re.compile(r"(?<=[.?!:])\s+|\n+")
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
    said = conversation.agent_said(number)
    end = " ".join([each for each in _ENDS.split(said.strip()) if each][-_LAST:])
    asks = waits_for_yes(end) and not hands_over(end)
    if asks and not closes(end.splitlines()[-1] if end else ""):
        yield Finding("stop-while-asked", number, f"asked {quote(said)}, the user agreed and stopped: {quote(answer)}")


def stopped_before_request(conversation: Conversation) -> Iterator[Finding]:
    """Find a stop before the last request was made: nothing that identifies it was said or called.

    A request of a script is identified by the words that no earlier one has; one of prose by the ids of the scenario
    that are arguments of a reference action. A user that has said and called nothing has made no request. If the agent
    has refused anything, the user may leave, and a scripted user that gives up says so.
    """
    stop = conversation.stop
    if stop is None or stop[1].stop_token != _STOP or stop[1].misunderstanding or _refused(conversation):
        return
    if not any(each.tool_calls or words_of(each) for each in conversation.messages if isinstance(each, UserMessage)):
        yield Finding("stop-before-request", stop[0], "the user stopped; it has said nothing")
    elif missing := _missing_words(conversation) or _missing_ids(conversation):
        yield Finding("stop-before-request", stop[0], f"the user stopped; never mentioned: {missing}")


def _missing_words(conversation: Conversation) -> str:
    script = conversation.task.scenarios[-1].script
    if script is None or not script.requests[1:]:
        return ""
    *earlier, last = (set(words(each.say)) for each in script.requests)
    own = {each for each in last.difference(*earlier) if len(each) >= _LONG_WORD}
    said = any(not own.isdisjoint(words(text)) for text in conversation.texts)
    return repr(script.requests[-1].say) if own and not said else ""


def _missing_ids(conversation: Conversation) -> str:
    given, said = Lazily([conversation.scenario]), Lazily(conversation.texts)
    actions = [each for each in conversation.task.criteria.actions or [] if each.requestor == "assistant"]
    for action in reversed(actions):
        named = {name: value for name, value in action.arguments.items() if name not in _IDENTIFYING}
        ids = [each for each in details_in(_values(named)) if each.kind == "id" and given.has(each)]
        if ids and not any(said.has(each) for each in ids):
            return ", ".join(each.text for each in ids)
    return ""


def _refused(conversation: Conversation) -> bool:
    texts = (each.text for each in conversation.messages[1:] if isinstance(each, AssistantMessage))
    return any(mentions_refusal(text) or hands_over(text) for text in texts) or any(
        "transfer" in call.name
        for each in conversation.messages
        if isinstance(each, AssistantMessage)
        for call in each.tool_calls or ()
    )


def _values(arguments: object) -> str:
    if isinstance(arguments, dict):
        return " ; ".join(map(_values, arguments.values()))
    if isinstance(arguments, list):
        return " ; ".join(map(_values, arguments))
    return str(arguments)
