"""Tasks of several sessions as tasks of one conversation: what begins a session is a call in it.

So each reader of a task or a trajectory has the sessions in their order: the replay, the reference state, and reports.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .messages import Message

T = TypeVar("T")

#: The call that begins a session, of the user's side. No participant can make it.
BEGIN_SESSION: Final = "begin_session"
#: The fields of a session that say what has happened before it; arguments of the call.
_BETWEEN = ("hours", "initialization_data", "initialization_actions")
_BASIS = ["DB", "SESSIONS"]
_NOTE, _PART = re.compile(r"\[A new conversation, (.+) later\]\n"), re.compile(r"(\d+) (day|hour|minute)")


def beginning(session: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the call that begins a session, given its JSON."""
    happened = {name: session[name] for name in _BETWEEN if session.get(name) is not None}
    return {"session": session.get("id"), "hours": 0, **happened}


def expanded(task: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a task with its sessions as one conversation; what is malformed is left for validation.

    Raises:
        ValueError: The reference actions are not in the sessions.
    """
    sessions, criteria = task["sessions"], task.get("evaluation_criteria")
    if criteria is None:
        criteria = {}
    if not isinstance(sessions, list) or not all(isinstance(session, dict) for session in sessions):
        return task
    if not sessions or not isinstance(criteria, dict):
        return task
    actions = criteria.get("actions")
    if actions is None:
        actions = []
        for position, session in enumerate(sessions):
            if position:
                call = {"name": BEGIN_SESSION, "requestor": "user", "arguments": beginning(session)}
                actions.append({"action_id": f"{BEGIN_SESSION}:{session.get('id')}", **call})
            session_actions = session.get("actions", [])
            actions += session_actions if isinstance(session_actions, list) else []
    scenario = {"user_scenario": sessions[0].get("user_scenario")} if "user_scenario" in sessions[0] else {}
    basis = criteria.get("reward_basis")
    criteria = {**criteria, "actions": actions, "reward_basis": _BASIS if basis is None else basis}
    return {**scenario, **task, "evaluation_criteria": criteria}


def sessions_problem(task: Any) -> str | None:
    """Return what is wrong with the sessions of a ``Task``; None if nothing is."""
    sessions = task.sessions or []
    ids, first = [session.id for session in sessions], sessions[0] if sessions else None
    marks = [
        str(action.arguments.get("session")) for action in task.criteria.actions or [] if action.name == BEGIN_SESSION
    ]
    repeated = next((name for name in ids if ids.count(name) > 1), None)
    before = first and (first.hours or first.initialization_data or first.initialization_actions)
    problems = {
        f"expected at least two sessions, got {len(sessions)}": len(sessions) < 2,
        f"two sessions have the id {repeated!r}: ids must be unique in a task": repeated is not None,
        "nothing happens before the first session: remove hours and initialization, or use initial_state": before,
        "the scenario of the task must be that of its first session: remove one of them": (
            first and task.user_scenario != first.user_scenario
        ),
        "a task with sessions can have neither a ticket nor a message history": task.ticket or task.message_history,
        "expected the reference actions in the sessions, not in evaluation_criteria": marks != ids[1:],
    }
    return next((problem for problem, is_so in problems.items() if is_so), None)


def beginnings(messages: Sequence[Message]) -> list[int]:
    """Return the numbers of the messages that begin the sessions of a conversation but the first."""
    calls = ((number, getattr(message, "tool_calls", None)) for number, message in enumerate(messages))
    return [number for number, tool_calls in calls if tool_calls and is_beginning(tool_calls[0])]


def is_beginning(call: Any) -> bool:
    """Return whether a call, or a reference action, begins a session."""
    begins = call.name == BEGIN_SESSION and call.requestor == "user"
    return bool(begins and getattr(call, "malformed", None) is None)


def without_beginnings(actions: Iterable[T]) -> list[T]:
    """Return the reference actions that agent or user can make: all but those that begin sessions."""
    return [action for action in actions if not is_beginning(action)]


def session_break(message: Message) -> str | None:
    """Return the text that shows where a session begins; None for a message that begins none."""
    call = next(iter(getattr(message, "tool_calls", None) or ()), None)
    if call is None or not is_beginning(call):
        return None
    hours = call.arguments.get("hours")
    return f"session {call.arguments.get('session')}" + (f", {interval(hours)} later" if hours else "")


def shown_messages(messages: Sequence[Message]) -> Iterator[tuple[int, Message]]:
    """Yield the messages of a conversation with their numbers, without the results of what begins its sessions."""
    results = {number + 1 for number in beginnings(messages)}
    return ((number, message) for number, message in enumerate(messages) if number not in results)


def openings(messages: Sequence[Message]) -> set[int]:
    """Return the numbers of the messages that no participant says: what begins a session, its result, the greeting."""
    return {number + more for number in beginnings(messages) for more in range(3)}


def heard(messages: Sequence[Message]) -> list[Message]:
    """Return the messages of a conversation without what begins its sessions, which no participant is given."""
    skipped = {number + more for number in beginnings(messages) for more in (0, 1)}
    return [message for number, message in enumerate(messages) if number not in skipped]


def remembered(task: Any, messages: Sequence[Message]) -> list[Message]:
    """Return what the caller of the last session of a conversation has taken part in, in all of its sessions.

    Args:
        task: The ``Task``.
        messages: The conversation so far.
    """
    starts, callers = [0, *beginnings(messages)], [session.caller for session in task.sessions or ()] or [""]
    ends = [*starts[1:], len(messages)]
    stretches = zip(callers, starts, ends, strict=False)
    caller = callers[len(starts) - 1]
    return [message for name, start, end in stretches if name == caller for message in heard(messages[start:end])]


def session_note(hours: float) -> str:
    """Return what the first message of a session begins with, given the time since the first one."""
    return f"[A new conversation, {interval(hours)} later]\n"


def time_passed(text: str) -> timedelta | None:
    """Return the time since the first session that the first message of a session states; None for another message."""
    note = _NOTE.match(text)
    if note is None:
        return None
    return sum((timedelta(**{f"{unit}s": int(number)}) for number, unit in _PART.findall(note[1])), timedelta())


def interval(hours: float) -> str:
    """Return a time between sessions as text: ``1 day and 2 hours``."""
    minutes = round(hours * 60)
    parts = [(minutes // 1440, "day"), (minutes % 1440 // 60, "hour"), (minutes % 60, "minute")]
    texts = [f"{number:g} {unit}{'s' * (number != 1)}" for number, unit in parts if number]
    return " and ".join(texts) or "no time"
