"""A conversation with an A2A server, by the SDK's client."""

from __future__ import annotations

import asyncio
import os
import uuid
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from a2a.client import ClientCallContext, ClientConfig, ClientFactory
from a2a.client.card_resolver import parse_agent_card
from a2a.helpers import get_artifact_text, get_message_text
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)

from ...carried import carried
from ...errors import ConfigurationError, ParticipantError
from ...masking import mask_secrets
from ...models.json_values import writable
from ...variables import AGENT_KEY, AGENT_KEY_HOSTS
from .card import BEARER, card_url, choose_interface, server_url, wanted_key
from .http import CONNECTING, REFUSED, authorization, describe, http_client, key_for, without_login

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from a2a.client import Client
    from a2a.types import AgentCard, AgentInterface

T = TypeVar("T")


class KeyRefusedError(ConfigurationError):
    """A server refuses the key, or requires one that is not set."""


class Answer(NamedTuple):
    """An agent's answer to a message.

    Attributes:
        text: The text parts of its message, or of its task.
        state: The state of its task, such as ``input-required``; ``completed`` for a message.
        context: The id of the conversation; empty if the agent gives none.
        task: The id of the task; empty for a message.
    """

    text: str
    state: str
    context: str
    task: str = ""


class Connection:
    """A client of one server, which speaks as its card says.

    A request raises a ``ParticipantError`` if the server cannot be reached or does not answer as the protocol says, a
    ``KeyRefusedError`` if it refuses the key, and what ``open`` raises.

    Args:
        spec: ``a2a:URL``.
    """

    def __init__(self, spec: str) -> None:
        self._spec, self._name = spec, mask_secrets(spec)
        self._http = http_client()
        self._client: Client | None = None
        self._address = ""
        self._headers: dict[str, str] = {}

    async def open(self) -> Client:
        """Return the client for the interface that the card offers; the card is read once.

        Raises:
            ConfigurationError: The server cannot be reached, its card cannot be read, or its version is not supported.
            KeyRefusedError: It refuses the key, or requires one that is not set.
        """
        if self._client is None:
            url = card_url(self._spec)
            card = await self._fetch_card(url)
            try:
                interface = choose_interface(card, url)
                self._authorize(card, interface)
            except ConfigurationError as error:
                raise type(error)(f"agent {self._name!r}: {mask_secrets(str(error))}") from None
            card.ClearField("supported_interfaces")
            card.supported_interfaces.append(interface)
            self._client = ClientFactory(ClientConfig(streaming=False, httpx_client=self._http)).create(card)
        return self._client

    async def send(self, text: str, metadata: Mapping[str, str], context: str, task: str) -> Answer:
        """Send a text, and return the answer.

        Args:
            text: The text.
            metadata: Metadata of the message, under ``tau``.
            context: The id of the conversation; empty at its beginning.
            task: The id of the task that waits for input; empty if none does.
        """
        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, context_id=context, task_id=task)
        message.parts.append(Part(text=writable(text)))
        message.metadata.update({"tau": dict(metadata)})
        configuration = SendMessageConfiguration(accepted_output_modes=["text/plain"])
        request = SendMessageRequest(message=message, configuration=configuration)
        client = await self.open()

        async def response() -> StreamResponse:
            [event] = [event async for event in client.send_message(request, context=self._context())]
            return event

        event = await self._call("sending a message", response())
        if event.HasField("task"):
            return _answer_of(event.task)
        return Answer(get_message_text(event.message), "completed", event.message.context_id)

    async def ask(self, task: str) -> Answer:
        """Return the answer that a task has by now."""
        client = await self.open()
        request = client.get_task(GetTaskRequest(id=task), context=self._context())
        return _answer_of(await self._call("asking for a task", request))

    async def cancel(self, task: str) -> None:
        """Cancel a task."""
        client = await self.open()
        request = client.cancel_task(CancelTaskRequest(id=task), context=self._context())
        await self._call("cancelling a task", request)

    async def close(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    def _context(self) -> ClientCallContext:
        return ClientCallContext(service_parameters={**carried.get(), **self._headers})

    async def _call(self, action: str, request: Awaitable[T]) -> T:
        try:
            return await request
        # Of several libraries, whatever the server sends.
        except Exception as error:  # noqa: BLE001
            status, problem = describe(error)
        text = f"{self._name}: {action} at {self._address}: {problem}"
        raise KeyRefusedError(text) if status in REFUSED else ParticipantError(text, side="agent")

    async def _fetch_card(self, url: str) -> AgentCard:
        headers = authorization(url, BEARER, os.environ.get(AGENT_KEY, ""))
        try:
            # Not by the SDK's resolver, which logs the card.
            async with asyncio.timeout(CONNECTING):
                response = await self._http.get(without_login(url), headers=headers)
            return parse_agent_card(response.raise_for_status().json())
        # As above: a card may be anything.
        except Exception as error:  # noqa: BLE001
            status, problem = describe(error)
        name, shown = f"agent {self._name!r}", mask_secrets(url)
        if not status:
            raise ConfigurationError(f"{name}: no A2A server can be reached there: {problem}")
        if status == 200:
            raise ConfigurationError(f"{name}: the agent card at {shown} cannot be read: {problem}")
        kind = KeyRefusedError if status in REFUSED else ConfigurationError
        raise kind(f"{name}: there is no agent card at {shown} ({problem})")

    def _authorize(self, card: AgentCard, interface: AgentInterface) -> None:
        """Set the headers of requests, and take a login out of the address."""
        address, (header, is_required) = interface.url, wanted_key(card)
        key = key_for(server_url(self._spec), address)
        if is_required and not os.environ.get(AGENT_KEY):
            raise KeyRefusedError(f"the agent card requires a key: set the environment variable {AGENT_KEY}")
        if is_required and not key:
            host = without_login(address).split("/")[2].partition(":")[0]
            raise KeyRefusedError(
                f"the agent card names another server, {address}, and requires a key: set the environment "
                f"variable {AGENT_KEY_HOSTS} to {host} to send it the key of {AGENT_KEY}"
            )
        self._address, self._headers = mask_secrets(address), authorization(address, header, key)
        interface.url = without_login(address)


def _answer_of(task: Task) -> Answer:
    state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").replace("_", "-").lower()
    status = get_message_text(task.status.message)
    result = "\n".join(filter(None, map(get_artifact_text, task.artifacts)))
    # A completed task has its result in artifacts; what is asked of the user, or went wrong, is in the status.
    text = (result or status) if state == "completed" else (status or result)
    if not text:
        texts = [get_message_text(message) for message in task.history if message.role == Role.ROLE_AGENT]
        text = texts[-1] if texts else ""
    return Answer(text, state, task.context_id, task.id)
