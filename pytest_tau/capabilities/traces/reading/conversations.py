"""Conversations of the calls of models that belong together: each message once, calls with their results."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from ....text import plural
from .conventions import SETTINGS, Step
from .messages import REDACTED, Said, joined
from .pairing import Conversation, Pairing, Results, with_calls_of_agents
from .spans import UNSURE
from .spool import prefixes

if TYPE_CHECKING:
    from .spool import Group

#: Messages that two histories must have in common for one to continue the other, if its beginning is cut off.
_OVERLAP: Final = 2


@dataclass
class _Thread:
    """A conversation while it is put together."""

    steps: list[Step]
    messages: list[Said] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)
    discarded: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def marks(self) -> list[bytes]:
        """The messages in a form that can be compared, each on its own."""
        return [next(prefixes([message])) for message in self.messages]

    @property
    def asked(self) -> set[bytes]:
        """The messages of the user in that form."""
        return {mark for mark, message in zip(self.marks, self.messages, strict=True) if message.role == "user"}

    @property
    def traces(self) -> set[str]:
        return {step.trace for step in self.steps}


def conversations_of(group: Group) -> tuple[list[Conversation], list[str]]:
    """Return the conversations of a group, or why it has none."""
    steps = [step for chain in group.chains for step in chain]
    if problem := _unreadable(steps, group):
        return [], [problem]
    threads = [_thread(chain) for chain in group.chains if any(step.has_messages for step in chain)]
    merged_threads = _joined(sorted(threads, key=lambda thread: thread.steps[0].start), by_key=bool(group.key))
    pool = Results(group.tools)
    conversations = [_finished(thread, group.key or None, pool) for thread in merged_threads]
    if len(conversations) > 1 and group.key:
        for conversation in conversations:
            conversation.notes.append(f"{len(conversations)} conversations have the key {group.key!r}")
    return conversations, []


def _unreadable(steps: list[Step], group: Group) -> str:
    """Return why no conversation can be made of steps; empty if one can."""
    texts = [
        message
        for step in steps
        for message in (*step.asked, *(answer_message for answer in step.answers for answer_message in answer))
    ]
    of_user = [message for message in texts if message.role == "user"]
    relevant = of_user or [message for message in texts if message.role == "assistant" and not message.calls]
    if any(message.calls or (message.text and message.text.strip() not in REDACTED) for message in relevant):
        return ""
    scope = next((step.scope for step in (*steps, *group.tools) if step.scope), "")
    setting = next(hint for start, hint in SETTINGS if scope.startswith(start))
    if any(message.missing == "redacted" for message in relevant):
        why = "its texts are redacted, and other copies of them are not used"
    elif any(step.elsewhere for step in steps):
        why = "its texts are in other files (gen_ai.input.messages.ref), which are not read"
    elif cut := next((name for step in steps for name in step.cut), ""):
        limits = "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"
        why = f"{cut} is cut off: a limit on attributes ({limits}) is too small"
    else:
        why = f"no texts were recorded ({scope or 'unknown instrumentation'}): {setting}"
    traces = sorted({step.trace for step in (*steps, *group.tools)})
    files = ", ".join(sorted({step.file for step in (*steps, *group.tools)}))
    place = f"{files}: conversation {group.key!r}" if group.key else f"{files}: trace {traces[0]}"
    calls = [step.call.name for step in group.tools if step.call]
    return f"{place}: {why}" + (f"; calls that were recorded: {', '.join(calls)}" if calls else "")


def _thread(steps: list[Step]) -> _Thread:
    """Return what calls of models say that continue each other: the last history and the last answer.

    An earlier copy of a message may have what the later one has lost: its text, its time.
    """
    thread = _Thread(steps)
    for step in steps:
        history = [copy.copy(message) for message in step.asked if message.role != "system"]
        systems = [message.text for message in step.asked if message.role == "system" and message.text]
        thread.systems = systems or thread.systems
        answer = [copy.copy(message) for message in _chosen(step, steps)]
        if step.error is not None and not answer:
            thread.discarded += 1
            if step is not steps[-1]:
                continue
        for message in answer:
            message.span, message.time = step.id, step.end or step.start
            message.name = message.name or step.agent
        for message in takewhile(lambda message: message.role != "assistant", reversed(history)):
            message.time = step.start
        marks = thread.marks
        known = next(
            (n for n, message in enumerate(history) if n >= len(marks) or next(prefixes([message])) != marks[n]),
            len(history),
        )
        for old, new in zip(thread.messages[:known], history, strict=False):
            _fill(new, old)
        thread.messages = joined([*history, *answer])
    return thread


def _chosen(step: Step, steps: list[Step]) -> list[Said]:
    """Return the answer that a later request contains, of several."""
    if len(step.answers) < 2:
        return step.answers[0] if step.answers else []
    later = [list(prefixes(other.asked)) for other in steps if other.start > step.start]
    request_mark = (list(prefixes(step.asked)) or [b""])[-1]
    for answer in step.answers:
        mark = list(prefixes(answer, request_mark))[-1:]
        if mark and any(mark[0] in marks for marks in later):
            return answer
    return step.answers[0]


def _fill(new: Said, old: Said) -> None:
    """Complete a message by an earlier copy of it."""
    if not new.text and old.text:
        new.text, new.missing = old.text, old.missing
    new.span, new.time, new.name = old.span or new.span, old.time or new.time, new.name or old.name
    for call, before in zip(new.calls, old.calls, strict=False):
        call.id = call.id or before.id


def _joined(threads: list[_Thread], *, by_key: bool) -> list[_Thread]:
    """Return the conversations that threads of one group are.

    Args:
        threads: The threads, in the order of their starts.
        by_key: Whether they have a key in common.
    """
    carried = any(
        sum(message.role == "user" for message in step.asked) > 1 for thread in threads for step in thread.steps
    )
    same_user = any(step.key and step.key == step.user for thread in threads for step in thread.steps)
    merged: list[_Thread] = []
    for thread in threads:
        if not any(_join(earlier, thread, carried=carried or same_user, by_key=by_key) for earlier in reversed(merged)):
            merged.append(thread)
    return [thread for thread in merged if not any(_is_beside(thread, other, by_key=by_key) for other in merged)]


def _join(earlier: _Thread, new: _Thread, *, carried: bool, by_key: bool) -> bool:
    """Add a later thread to one that is kept, if it continues, repeats or replaces it.

    Args:
        earlier: The thread that is kept; it is changed.
        new: The later one.
        carried: Whether requests repeat earlier turns, so that one that does not begins something else.
        by_key: Whether a key says that they belong together.
    """
    old, now = earlier.marks, new.marks
    common = next((n for n, (a, b) in enumerate(zip(old, now, strict=False)) if a != b), min(len(old), len(now)))
    if common and _is_answer(earlier.messages[common:]):
        for before, after in zip(earlier.messages[:common], new.messages, strict=False):
            _fill(after, before)
        return _replace(earlier, new, new.messages, discarded=common < len(old))
    if common and _is_answer(new.messages[common:]):
        return _replace(earlier, new, earlier.messages, discarded=True)
    if any(message.role == "assistant" for message in earlier.messages[:common]):
        dropped = len(old) - common
        earlier.notes.append(
            f"message {common}: the history was changed from here on; {dropped} earlier messages are skipped"
        )
        return _replace(earlier, new, [*earlier.messages[:common], *new.messages[common:]], discarded=False)
    at, overlap = _overlap(old, now)
    if overlap:
        if at:
            earlier.notes.append(
                f"message {len(old) - overlap}: earlier messages were replaced in the history, they are kept"
            )
        return _replace(earlier, new, [*earlier.messages, *new.messages[at + overlap :]], discarded=False)
    first = new.steps[0]
    summary = any(message.missing == "compaction" for message in first.asked)
    nothing = all(message.role == "system" for message in first.asked)
    shared, other = bool(earlier.traces & new.traces), earlier.systems != new.systems
    follows = all(step.end <= first.start + UNSURE for step in earlier.steps)
    appended = (
        first.delta or summary or nothing or (not carried and follows and (by_key or shared) and not (shared and other))
    )
    if appended and not (new.asked and new.asked <= earlier.asked and other):
        if summary:
            earlier.notes.append(f"message {len(old)}: a summary has replaced the history before it, which is kept")
        return _replace(earlier, new, [*earlier.messages, *new.messages], discarded=False)
    return False


def _replace(earlier: _Thread, new: _Thread, messages: list[Said], *, discarded: bool) -> bool:
    earlier.messages, earlier.steps = joined(messages), [*earlier.steps, *new.steps]
    earlier.discarded += new.discarded + discarded
    earlier.systems, earlier.notes = (
        new.systems if messages is new.messages else earlier.systems,
        [*earlier.notes, *new.notes],
    )
    return True


def _is_answer(messages: list[Said]) -> bool:
    return not messages or (len(messages) == 1 and messages[0].role == "assistant")


def _overlap(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    """Return where in a new history the end of an old one stands, and its length; 0 for none."""
    for at in range(min(_OVERLAP + 1, len(new))):
        for size in range(min(len(old), len(new) - at), _OVERLAP - 1, -1):
            if old[-size:] == new[at : at + size]:
                return at, size
    return 0, 0


def _is_beside(thread: _Thread, other: _Thread, *, by_key: bool) -> bool:
    """Return whether calls of models only serve another conversation: a router, a title, a check."""
    longer = (len(other.messages), -other.steps[0].start) > (len(thread.messages), -thread.steps[0].start)
    if thread is other or not longer:
        return False
    shared, differs = bool(thread.traces & other.traces), thread.systems != other.systems
    same = thread.asked <= other.asked and (shared or (by_key and differs))
    beside = same or (shared and differs and len(thread.asked) == 1)
    if beside:
        other.notes.append(f"{plural(len(thread.steps), 'call')} of models that serve the conversation skipped")
    return beside


_MISSING: Final = {
    "hidden": "its text was not recorded",
    "redacted": "its text is redacted",
    "cut": "its text is cut off",
    "result": "no result is recorded",
    "compaction": "it is a summary of earlier messages",
}


def _finished(thread: _Thread, key: str | None, pool: Results) -> Conversation:
    """Return a conversation whose calls have their results, in their order, and what is missing in it."""
    conversation = Conversation(key, system="\n".join(thread.systems) or None, notes=thread.notes)
    messages = list(with_calls_of_agents(thread.messages, thread.steps, pool))
    pairing = Pairing(conversation, pool, key or "".join(sorted(thread.traces)))
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        results = []
        while message.calls and at < len(messages) and messages[at].role == "tool":
            results.append(messages[at])
            at += 1
        pairing.add(message, results, messages[at] if at < len(messages) else None)
    for number, message in enumerate(conversation.messages):
        if message.missing and not (message.missing == "hidden" and message.calls):
            conversation.notes.append(
                f"message {number}: {_MISSING.get(message.missing, message.missing + ' is skipped')}"
            )
    _describe(conversation, thread)
    return conversation


def _describe(conversation: Conversation, thread: _Thread) -> None:
    steps = thread.steps
    conversation.traces = list(dict.fromkeys(step.trace for step in steps))
    conversation.scopes = sorted({step.scope for step in steps if step.scope})
    conversation.files = sorted({step.file for step in steps if step.file})
    conversation.tools = max((step.tools for step in steps), key=len)
    conversation.start = min((step.start for step in steps if step.start), default=0)
    conversation.end = max(step.end for step in steps)
    for step in steps:
        conversation.own |= step.own
    if (
        conversation.messages
        and conversation.messages[-1].role == "user"
        and "termination_reason" not in conversation.own
    ):
        conversation.complete = False
        conversation.notes.append(f"message {len(conversation.messages) - 1}: no answer is recorded")
    if thread.discarded:
        conversation.notes.append(f"{plural(thread.discarded, 'call')} of models whose answer was not used skipped")
    if cut := Counter(name for step in steps for name in step.cut):
        conversation.notes += [f"{name} is cut off in {plural(number, 'span')}" for name, number in cut.items()]
    totals = Counter[str]()
    for step in steps:
        totals.update(step.usage)
    models = list(dict.fromkeys(step.model for step in steps if step.model))
    seconds = sum(max(0, step.end - step.start) for step in steps) / 1e9
    priced = sum("known_cost" in step.usage for step in steps)
    calls = int(sum(step.usage.get("calls", 1) for step in steps))
    conversation.usage = {**totals, "model": ", ".join(models), "calls": calls, "seconds": seconds}
    conversation.usage["unpriced_calls"] = calls - (calls if priced == len(steps) else priced)
