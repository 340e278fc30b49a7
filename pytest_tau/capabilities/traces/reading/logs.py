"""Logs of several agents in the forms of Who&When and AgentRx: a conversation each, whose messages have names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from .messages import ROLES, Said, text_of
from .pairing import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: What a name has after it: a thought, or the agent that is spoken to.
_ASIDE: Final = re.compile(r"(.+?)\s*(\(.*\))")


def is_dialogue(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a log in one of these forms."""
    return next(_entries(value), None) is not None


def dialogue_of(value: Mapping[str, Any]) -> Conversation:
    """Return a log as a conversation: its messages in order, and what people have found wrong in it."""
    who_and_when = "history" in value
    key = value.get("question_ID") if who_and_when else value.get("trajectory_id")
    messages = [_said(entry) for entry in _entries(value)]
    system = "\n".join(message.text or "" for message in messages if message.role == "system") or None
    conversation = Conversation(
        str(key or "") or None, system, [message for message in messages if message.role != "system"]
    )
    conversation.traces, conversation.scopes = [conversation.key or "log"], ["Who&When" if who_and_when else "AgentRx"]
    conversation.spans = [""] * len(conversation.messages)
    conversation.complete = bool(conversation.messages) and conversation.messages[-1].role == "assistant"
    request = text_of(value.get("question" if who_and_when else "instruction"))
    if request and all(message.role != "user" for message in conversation.messages):
        conversation.notes.append(f"the request, which the log does not repeat: {request}")
    if who_and_when and value.get("mistake_agent"):
        where, why = value.get("mistake_step"), value.get("mistake_reason")
        conversation.notes.append(f"message {where}: the mistake of {value['mistake_agent']}, by its label: {why}")
    return conversation


def _entries(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a log; none of another object."""
    entries: Any = value.get("history")
    if "trajectory_id" in value:
        steps = value.get("steps")
        parts = [step.get("substeps") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
        entries = [entry for part in parts if isinstance(part, list) for entry in part]
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and "content" in entry and ("role" in entry or "name" in entry):
            yield entry


def _said(entry: Mapping[str, Any]) -> Said:
    """Return a message: of the agent that it names, be it a program that runs code, else of its role."""
    role, name = str(entry.get("role") or ""), str(entry.get("name") or "")
    text = text_of(entry.get("content"))
    known = ROLES.get(role) if role.islower() else None
    if known is not None and not (name and known in ("user", "assistant")):
        return Said(known, text)
    actor = _ASIDE.fullmatch(name or role)
    if actor is None:
        return Said("assistant", text, name=name or role)
    return Said("assistant", f"{actor[2]} {text or ''}", name=actor[1])
