"""Messages and tasks of A2A, in the versions 1.x and 0.3 of the protocol."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .a2a_card import Interface

#: States of a task that the agent is still working on; it is asked again.
WORKING = frozenset({"submitted", "working"})
#: States of a task that has an answer.
ANSWERED = frozenset({"completed", "input-required"})


class Answer(NamedTuple):
    """An agent's answer to a message.

    Attributes:
        text: The text parts of its message, or of its task.
        state: The state of its task; ``completed`` for a message.
        context: The id of the conversation; empty if the agent gives none.
        task: The id of the task; empty for a message.
    """

    text: str
    state: str
    context: str
    task: str


def send_request(
    interface: Interface, text: str, metadata: dict[str, Any], context: str, task: str
) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters that send a text.

    Args:
        interface: The agent's interface.
        text: The text.
        metadata: Metadata of the message.
        context: The id of the conversation; empty at its beginning.
        task: The id of the task that waits for input; empty if none does.
    """
    legacy = interface.is_legacy
    message: dict[str, Any] = {
        "messageId": str(uuid.uuid4()),
        "role": "user" if legacy else "ROLE_USER",
        "parts": [{"kind": "text", "text": text} if legacy else {"text": text}],
        "metadata": metadata,
    }
    message |= ({"kind": "message"} if legacy else {}) | ({"contextId": context} if context else {})
    message |= {"taskId": task} if task else {}
    # 1.x waits unless it is asked not to.
    waiting = {"blocking": True} if legacy else {}
    params = {"message": message, "configuration": {"acceptedOutputModes": ["text/plain"], **waiting}}
    return "message/send" if legacy else "SendMessage", params | _tenant(interface)


def get_request(interface: Interface, task: str) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters that ask for a task."""
    return "tasks/get" if interface.is_legacy else "GetTask", {"id": task} | _tenant(interface)


def cancel_request(interface: Interface, task: str) -> tuple[str, dict[str, Any]]:
    """Return the method and the parameters that cancel a task."""
    return "tasks/cancel" if interface.is_legacy else "CancelTask", {"id": task} | _tenant(interface)


def parse_answer(result: Any) -> Answer:
    """Return the answer in a result.

    Args:
        result: A message or a task: in version 1.x that of a ``SendMessage`` has it under its kind.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(result, dict):
        found = result.get("task") or result.get("message") or result
        if isinstance(found, dict) and isinstance(found.get("status"), dict) and isinstance(found.get("id"), str):
            return _of_task(found)
        if isinstance(found, dict) and isinstance(found.get("parts"), list):
            return Answer(_text(found), "completed", _id(found, "contextId"), "")
    raise ValueError("expected a message or a task")


def _of_task(task: dict[str, Any]) -> Answer:
    status = task["status"]
    state = str(status.get("state", "")).lower().removeprefix("task_state_").replace("_", "-")
    said = _text(status.get("message"))
    made = "\n".join(filter(None, map(_text, _list(task.get("artifacts")))))
    # A completed task has its result in artifacts; what is asked of the user, or went wrong, is in the status.
    text = (made or said) if state == "completed" else (said or made)
    if state in ANSWERED and not text:
        history = [message for message in _list(task.get("history")) if "agent" in str(message.get("role")).lower()]
        text = _text(history[-1]) if history else ""
    return Answer(text, state, _id(task, "contextId"), _id(task, "id"))


def _text(container: Any) -> str:
    parts = _list(container.get("parts")) if isinstance(container, dict) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _list(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _id(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _tenant(interface: Interface) -> dict[str, Any]:
    return {"tenant": interface.tenant} if interface.tenant else {}
