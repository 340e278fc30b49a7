"""The protocol A2A, in the versions 1.x and 0.3: the card of a server, and messages and tasks."""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ...errors import ConfigurationError
from ...masking import mask_secrets

PREFIX = "a2a:"
_CARD_PATH = ".well-known/agent-card.json"
#: The environment variable with the key of an agent that is a server.
KEY_VARIABLE = "TAU_AGENT_API_KEY"
#: The environment variable with other hosts that are sent this key, if the card names them.
HOST_VARIABLE = "TAU_AGENT_API_KEY_HOSTS"
BEARER = "Authorization"
_BINDING = "JSONRPC"
_SUPPORTED = "JSON-RPC of A2A 1.x and 0.3"

#: States of a task that the agent is still working on; it is asked again.
WORKING = frozenset({"submitted", "working"})
#: States of a task that has an answer.
ANSWERED = frozenset({"completed", "input-required"})


class Interface(NamedTuple):
    """An address of an agent.

    Attributes:
        url: Where JSON-RPC requests are posted.
        version: The version of the protocol, such as ``1.0``.
        tenant: Part of each request, if the card names it.
        key_header: The header for a key; in ``Authorization`` it is a bearer token.
        needs_key: The card requires a key.
        gets_key: The address is sent the key, if there is one.
    """

    url: str
    version: str
    tenant: str = ""
    key_header: str = BEARER
    needs_key: bool = False
    gets_key: bool = True

    @property
    def is_legacy(self) -> bool:
        """Return whether the version is 0.3, whose methods and messages have other names."""
        return self.version == "0.3"


def card_url(spec: str) -> str:
    """Return the address of the card of ``a2a:URL``.

    Raises:
        ConfigurationError: It is not a URL.
    """
    url = spec.removeprefix(PREFIX)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        example = f"expected the URL of an A2A server, such as {PREFIX}http://127.0.0.1:9999"
        raise ConfigurationError(f"agent {mask_secrets(spec)!r}: {example}")
    return url if url.endswith(".json") else urljoin(f"{url.rstrip('/')}/", _CARD_PATH)


def chosen_interface(card: Any, source: str) -> Interface:
    """Return the interface of a card that is used: JSON-RPC, in the newest version that is supported.

    Args:
        card: The card, as parsed from JSON.
        source: The address of the card, for errors.

    Raises:
        ConfigurationError: The card has no such interface, or is not a card.
    """
    offered = _offered(card) if isinstance(card, dict) else []
    header, needs_key = _key_header(card) if isinstance(card, dict) else (BEARER, False)
    if not offered:
        problem = "is not an agent card: it names no interface (supportedInterfaces, or url and protocolVersion)"
        raise ConfigurationError(f"{source} {problem}")
    usable = [
        Interface(urljoin(source, url), version, tenant, header, needs_key)
        for url, binding, version, tenant in offered
        if binding.upper() == _BINDING and (version == "0.3" or version.startswith("1."))
    ]
    if not usable:
        found = ", ".join(f"{binding} {version}" for _, binding, version, _ in offered)
        raise ConfigurationError(f"{source}: the agent speaks {found}; supported: {_SUPPORTED}")
    # The order of the card is the agent's preference; within it, the newer protocol is less ambiguous.
    return next((found for found in usable if not found.is_legacy), usable[0])


def _offered(card: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return URL, binding, version and tenant of each interface; ``supportedInterfaces`` is new in version 1.0."""
    found = [
        (entry.get("url"), entry.get("protocolBinding"), entry.get("protocolVersion"), entry.get("tenant") or "")
        for entry in _list(card.get("supportedInterfaces"))
    ]
    version = card.get("protocolVersion", "0.3")
    found.append((card.get("url"), card.get("preferredTransport") or _BINDING, version, ""))
    found += [
        (entry.get("url"), entry.get("transport"), version, "") for entry in _list(card.get("additionalInterfaces"))
    ]
    return [
        (url, binding, _minor(version), tenant)
        for url, binding, version, tenant in found
        if isinstance(url, str) and isinstance(binding, str) and isinstance(version, str) and isinstance(tenant, str)
    ]


def _key_header(card: dict[str, Any]) -> tuple[str, bool]:
    """Return the header in which an agent expects its key, and whether it requires one."""
    schemes = card.get("securitySchemes")
    headers = {name: header for name, one in _items(schemes) if (header := _header_of(one))}
    required = card.get("securityRequirements") or card.get("security")
    choices = [set(entry.get("schemes") or entry) for entry in _list(required)]
    # One of the choices is enough; an empty one needs nothing.
    usable = [names for names in choices if names <= set(headers)]
    first = next((name for names in usable for name in headers if name in names), next(iter(headers), None))
    return (headers[first] if first else BEARER), bool(usable) and all(choices)


def _header_of(scheme: dict[str, Any]) -> str | None:
    """Return the header of a security scheme, in the words of version 0.3 or 1.x; None if it needs more than a key."""
    kind = str(scheme.get("type") or next(iter(scheme), "")).lower()
    fields = scheme if "type" in scheme else scheme.get(next(iter(scheme), ""), {})
    if not isinstance(fields, dict):
        return None
    if kind.startswith("apikey"):
        name = fields.get("name")
        place = fields.get("in") or fields.get("location")
        return name if place == "header" and isinstance(name, str) and name else None
    if kind.startswith("http"):
        return BEARER if str(fields.get("scheme", "")).lower() == "bearer" else None
    return BEARER if kind.startswith(("oauth2", "openid")) else None


def _items(value: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, one) for name, one in value.items() if isinstance(one, dict)] if isinstance(value, dict) else []


def _list(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _minor(version: str) -> str:
    """Return the version without its patch number, as the protocol compares versions."""
    return ".".join(version.split(".")[:2])


# Messages and tasks


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


def _id(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _tenant(interface: Interface) -> dict[str, Any]:
    return {"tenant": interface.tenant} if interface.tenant else {}
