"""Messages of the agent that the scripted user has not understood: texts, replies, the report, and the fault."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from ..evaluation.component_reports import Line, more_line
from ..language.tokens import alphanumeric_words
from ..models import AssistantMessage, Attribution, ToolMessage, call_as_text
from ..text import listed, plural
from .facts import clipped, first_line, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..models import Message
    from ..models.messages import Misunderstanding
    from .facts import Facts

#: Messages that a report shows.
_MOST = 5
_ADVICE = "add `answers` or `facts` to the task's script, or let a model play the user (--tau-user-llm MODEL)"
#: The last messages of the agent that show whether it got anywhere.
_LAST = 6
#: The similarity of the words of two messages, from 0 to 1, from which on they are nearly the same.
_ALIKE = 0.85
#: So many calls must have failed, and none succeeded, for an agent that got nowhere by its calls.
_FAILED = 3
#: The faults of the agent.
REPEATED, CALLS_FAILED = "it repeated a message that the user had answered", "its calls failed, and none succeeded"
NOTHING_DONE = "the user did not understand the agent, which asked no question there and made no successful call"


class UnclearReply(NamedTuple):
    """A reply of the user to a text of the agent.

    Attributes:
        message_idx: The number of the reply, from 0.
        heard: The agent's text.
        said: The reply.
        kind: How the text was misunderstood; None if it was not.
    """

    message_idx: int
    heard: str
    said: str
    kind: Misunderstanding | None

    @property
    def text(self) -> str:
        """The message and the reply, on one line."""
        return f"{quoted(self.heard)!r} was answered {clipped(self.said)!r}"


def _replies(messages: Iterable[Message]) -> list[UnclearReply]:
    found, heard = [], ""
    for number, message in enumerate(messages):
        if message.role == "assistant":
            heard = message.text if message.has_text_content() else heard
        elif message.role == "user" and message.has_text_content():
            found.append(UnclearReply(number, heard, message.text, message.misunderstanding))
    return found


def misunderstood_in(messages: Sequence[Message]) -> list[UnclearReply]:
    """Return what the scripted user of a conversation has not understood, oldest first."""
    if not any(each.misunderstanding for each in messages if each.role == "user"):
        return []  # as in nearly all trials
    return [each for each in _replies(messages) if each.kind]


def _summary(replies: Sequence[UnclearReply]) -> str:
    """Return in words what the user did: ``did not understand 2 of 6 messages and gave up``."""
    deaf = sum(each.kind not in (None, "gave up") for each in replies)
    parts = [f"did not understand {deaf} of {plural(len(replies), 'message')}"] if deaf else []
    return " and ".join([*parts, *(["gave up"] if any(each.kind == "gave up" for each in replies) else [])])


def misunderstood_lines(messages: Sequence[Message]) -> list[Line]:
    """Return the beginning of the report of a failure whose user has not understood the agent, or gave up."""
    replies, fault = _replies(messages), whose_misunderstanding(messages)
    if fault is None:
        return []
    lines = [Line("head", f"the scripted user {_summary(replies)}:")]
    alike: dict[tuple[str, str, str], list[str]] = {}
    for each in replies:
        if each.kind:
            alike.setdefault((quoted(each.heard), clipped(each.said), each.kind), []).append(str(each.message_idx))
    for (heard, said, kind), numbers in [*alike.items()][:_MOST]:
        where = f"message{'s' * (len(numbers) > 1)} {listed(numbers, _MOST)}"
        lines += [Line("agent", f"  agent  {heard}"), Line("user", f"  user   {said}   [{kind}, {where}]")]
    advice = {"user": [_ADVICE], "undecided": [f"if what the agent said was clear, {_ADVICE}"]}.get(fault.party, [])
    return [*lines, *more_line([*alike], _MOST), *(Line("note", f"  {each}") for each in advice)]


def misunderstood(facts: Facts) -> Attribution | None:
    """Apply if the user has not understood the agent, or gave up, before the right final state was out of reach."""
    found = misunderstood_in(facts.simulation.messages)
    if not found or facts.simulation.outcome != "failed" or _too_late(facts, found[0].message_idx):
        return None
    return whose_misunderstanding(facts.simulation.messages)


def whose_misunderstanding(messages: Sequence[Message]) -> Attribution | None:
    """Return whose fault it is that the user has not understood the agent, or gave up; None if neither happened.

    It is the agent's if its last calls failed, or if it repeated what the user had answered. It is the user's if there
    are messages that it did not understand, and the agent did not just repeat them. Else it is undecided: a message
    that is repeated may be clear or not, an agent that neither asked nor did anything may have talked nonsense, and a
    user that gives up may lack an answer.
    """
    replies = _replies(messages)
    found = [each for each in replies if each.kind]
    if not found:
        return None
    last, first = replies[-1], found[0]
    failed = _failed_calls(messages[replies[max(0, len(replies) - _LAST)].message_idx :])
    if failed is not None:
        return Attribution("agent", CALLS_FAILED, last.message_idx, failed)
    if _is_repeated(replies):
        began = next(each for each in replies if _is_alike(each.heard, last.heard))
        if began.kind is None:
            return Attribution("agent", REPEATED, last.message_idx, quoted(last.heard))
        reason = "the agent repeated a message that the user had not understood"
        return Attribution("undecided", reason, began.message_idx, quoted(last.heard))
    unclear = None
    if first.kind == "gave up":
        unclear = (last, "the user gave up, and had understood every message")
    elif not _got_anywhere(messages) and not any("?" in each.heard for each in found):
        unclear = (first, NOTHING_DONE)
    if unclear is not None:
        reply, reason = unclear
        return Attribution("undecided", reason, reply.message_idx, quoted(reply.heard))
    return Attribution("user", f"it {_summary(replies)}", first.message_idx, quoted(first.heard))


def repeats(messages: Sequence[Message]) -> bool:
    """Return whether at least half of the agent's last messages, calls and all, are the same as another one of them."""
    own = [each for each in messages if isinstance(each, AssistantMessage)][-_LAST:]
    done = {(each.text, *(call_as_text(call.name, call.arguments) for call in each.tool_calls or ())) for each in own}
    return len(done) * 2 <= len(own)


def _got_anywhere(messages: Iterable[Message]) -> bool:
    """Return whether a call of the agent succeeded."""
    return any(isinstance(each, ToolMessage) and each.requestor == "assistant" and not each.error for each in messages)


def _failed_calls(messages: Iterable[Message]) -> str | None:
    """Return the error of the agent's last call, if it made several and all failed."""
    results = [each for each in messages if isinstance(each, ToolMessage) and each.requestor == "assistant"]
    alone = len(results) >= _FAILED and all(each.error for each in results)
    return first_line(results[-1].content or "") if alone else None


def _is_repeated(replies: Sequence[UnclearReply]) -> bool:
    """Return whether the last message, and at least half of the last ones, are nearly the same as another one."""
    heard = [each.heard for each in replies[-_LAST:]]
    again = [any(_is_alike(text, other) for other in heard[:at] + heard[at + 1 :]) for at, text in enumerate(heard)]
    return again[-1] and sum(again) * 2 >= len(again)


def _is_alike(one: str, other: str) -> bool:
    words = [alphanumeric_words(text) for text in (one, other)]
    return SequenceMatcher(a=words[0], b=words[1], autojunk=False).ratio() >= _ALIKE


def _too_late(facts: Facts, message_idx: int) -> bool:
    divergence = facts.divergence
    at = divergence.message_idx if divergence is not None and divergence.kind == "diverged" else None
    return at is not None and at < message_idx
