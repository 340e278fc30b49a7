"""An agent behind an A2A address."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...carried import carried
from ...documents import DocumentError, parse_json
from ...endpoint.listener import body_of
from ...errors import ConfigurationError, ModelError, ParticipantError
from ...masking import mask_secrets
from ...text import one_line
from .a2a_protocol import (
    ANSWERED,
    BEARER,
    HOST_VARIABLE,
    KEY_VARIABLE,
    PREFIX,
    WORKING,
    Answer,
    cancel_request,
    card_url,
    chosen_interface,
    get_request,
    parse_answer,
    send_request,
)

if TYPE_CHECKING:
    import aiohttp

    from ..own_loop import AgentTrial
    from .a2a_protocol import Interface

#: Seconds to connect, and for the card as a whole; an answer may take as long as the trial.
_CONNECTING = 10.0
#: Seconds to cancel a task at the end of a trial.
_CANCELLING = 2.0
#: The most bytes of an answer.
_MOST_BYTES = 16 << 20
#: Seconds before a task is asked for again: the first time, and at most.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
#: Characters of an answer in an error.
_SHOWN = 300
#: The statuses of a server that refuses the key, or wants one.
_REFUSED = (401, 403)
#: The statuses by which a server sends a request elsewhere.
_REDIRECTED = (301, 302, 303, 307, 308)


class _KeyError(ConfigurationError):
    """A server refuses the key, or requires one that is not set."""


class A2AAgent:
    """Sends each text of a trial to an A2A server, in one conversation.

    Args:
        spec: ``a2a:URL``.
        trial: The trial.
    """

    def __init__(self, spec: str, trial: AgentTrial) -> None:
        self._spec, self._trial = spec, trial
        self._http: aiohttp.ClientSession | None = None
        self._interface: Interface | None = None
        self._numbers = itertools.count(1)
        self._context = self._task = self._working = ""

    async def run(self, text: str) -> str:
        """Return the text of the agent's answer; a task that is worked on is asked for until it has one.

        Raises:
            ParticipantError: The server cannot be reached, refuses the message, or answers without a text.
            ModelError: The server refuses the key, which is a setting of the run and not a fault of the agent.
        """
        try:
            answer = await self._answered(text)
        except _KeyError as error:
            fault = ModelError(str(error), kind="authentication")
            self._trial.bridge.fail(fault)  # an exception alone would count against the agent
            raise fault from error
        except ConfigurationError as error:  # the card was another one when the run began
            raise ParticipantError(str(error), side="agent") from error
        self._context = answer.context or self._context
        # A task that is done takes no further message; the conversation goes on with a new one.
        self._task = answer.task if answer.state == "input-required" else ""
        if answer.state not in ANSWERED:
            said = f": {one_line(mask_secrets(answer.text), _SHOWN)}" if answer.text else ""
            raise ParticipantError(f"{self._name}: the task is {answer.state or 'in no state'}{said}", side="agent")
        if not answer.text.strip():
            raise ParticipantError(f"{self._name} answered without a text", side="agent")
        return answer.text

    async def close(self) -> None:
        """Cancel the task that is not done, and close the connections."""
        if self._http is None:
            return
        try:
            if self._interface is not None and (self._working or self._task):
                request = cancel_request(self._interface, self._working or self._task)
                # The answer does not matter: the task may have ended meanwhile.
                with contextlib.suppress(ParticipantError, ConfigurationError, TimeoutError):
                    await asyncio.wait_for(self._call(self._http, self._interface, *request), _CANCELLING)
        finally:
            await self._http.close()

    @property
    def _name(self) -> str:
        return mask_secrets(self._spec)

    async def _answered(self, text: str) -> Answer:
        if self._http is None:
            self._http = _http()
        if self._interface is None:
            self._interface = await _fetch_interface(self._http, self._spec)
        interface = self._interface
        request = send_request(interface, text, self._metadata(), self._context, self._task)
        answer = await self._call(self._http, interface, *request)
        pause = _FIRST_PAUSE
        while answer.state in WORKING:
            self._working = answer.task
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
            answer = await self._call(self._http, interface, *get_request(interface, answer.task))
        self._working = ""
        return answer

    def _metadata(self) -> dict[str, Any]:
        trial = self._trial
        names = ("mcp_url", "base_url", "api_key", "policy")
        return {"tau": {name: getattr(trial, name) for name in names}}

    async def _call(
        self, http: aiohttp.ClientSession, interface: Interface, method: str, params: dict[str, Any]
    ) -> Answer:
        import aiohttp

        number = next(self._numbers)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        key = _key(interface.url, interface.key_header) if interface.gets_key else {}
        headers = {"A2A-Version": interface.version, **carried.get(), **key}
        where = f"{self._name}: {method} at {mask_secrets(interface.url)}"
        try:
            async with http.post(interface.url, json=body, headers=headers, allow_redirects=False) as response:
                _refuse_redirect(response)
                status, content = response.status, await _read(response)
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise ParticipantError(f"{where}: {_described(error)}", side="agent") from error
        try:
            return _parsed(content)
        except ValueError as error:
            shown = "" if status == 200 else f"HTTP {status}{_hint(status)}: "
            problem = mask_secrets(f"{where}: {shown}{error}")
            if status in _REFUSED:
                raise _KeyError(problem) from None
            raise ParticipantError(problem, side="agent") from None


def check_server(spec: str) -> None:
    """Check that a server can be reached and speaks a supported version of the protocol.

    Args:
        spec: ``a2a:URL``.

    Raises:
        ConfigurationError: It does not, or its card cannot be read.
    """

    async def fetch() -> None:
        async with _http() as http:
            await _fetch_interface(http, spec)

    # In a thread of its own: an event loop may be running in this one.
    with ThreadPoolExecutor(1, "tau-a2a") as pool:
        pool.submit(asyncio.run, fetch()).result()


def _http() -> aiohttp.ClientSession:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING)
    return aiohttp.ClientSession(timeout=timeout)


async def _fetch_interface(http: aiohttp.ClientSession, spec: str) -> Interface:
    import aiohttp

    url = card_url(spec)
    name = f"agent {mask_secrets(spec)!r}"
    try:
        status, content = await _get(http, url)
    except (TimeoutError, aiohttp.ClientError, OSError) as error:
        raise ConfigurationError(f"{name}: no A2A server can be reached there: {_described(error)}") from error
    shown = mask_secrets(url)
    if status != 200:
        kind = _KeyError if status in _REFUSED else ConfigurationError
        raise kind(f"{name}: there is no agent card at {shown} (HTTP {status}{_hint(status)})")
    try:
        card = parse_json(content)
    except DocumentError as error:
        raise ConfigurationError(f"{name}: the agent card at {shown} cannot be read: {error}") from None
    try:
        interface = chosen_interface(card, url)
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {mask_secrets(str(error))}") from None
    if interface.needs_key and not os.environ.get(KEY_VARIABLE):
        raise _KeyError(f"{name}: the agent card requires a key: set the environment variable {KEY_VARIABLE}")
    interface = interface._replace(gets_key=_gets_key(spec, interface))
    if interface.needs_key and not interface.gets_key:
        host = urlsplit(interface.url).hostname
        raise _KeyError(
            f"{name}: the agent card names another server, {mask_secrets(interface.url)}, and requires a key: set the "
            f"environment variable {HOST_VARIABLE} to {host} to send it the key of {KEY_VARIABLE}"
        )
    return interface


async def _get(http: aiohttp.ClientSession, url: str) -> tuple[int, bytes]:
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=_CONNECTING)
    async with http.get(url, timeout=timeout, headers=_key(url, BEARER), allow_redirects=False) as response:
        _refuse_redirect(response)
        return response.status, await _read(response)


def _refuse_redirect(response: aiohttp.ClientResponse) -> None:
    """Refuse to send the request, and a key, to where the server says."""
    import aiohttp

    if response.status in _REDIRECTED:
        target = mask_secrets(response.headers.get("Location", "nowhere"))
        raise aiohttp.ClientPayloadError(f"the server redirects to {target}, which is not followed: name that address")


def _gets_key(spec: str, interface: Interface) -> bool:
    """Return whether an address that a card names may be sent the key: it is that of the agent, or is named for it."""
    named, found = urlsplit(spec.removeprefix(PREFIX)), urlsplit(interface.url)
    if found.hostname is not None and found.hostname in os.environ.get(HOST_VARIABLE, "").lower().split():
        return True
    return found.hostname == named.hostname and (found.scheme == "https" or named.scheme == "http")


def _key(url: str, header: str) -> dict[str, str]:
    """Return the header with the agent's key, if there is one; an address with a login has its own."""
    key = os.environ.get(KEY_VARIABLE)
    if not key or (header == BEARER and urlsplit(url).username is not None):
        return {}
    return {header: f"Bearer {key}" if header == BEARER else key}


def _hint(status: int) -> str:
    if status not in _REFUSED:
        return ""
    refused = f"; it refuses the key of the environment variable {KEY_VARIABLE}"
    return refused if os.environ.get(KEY_VARIABLE) else f"; if it needs a key, set {KEY_VARIABLE}"


async def _read(response: aiohttp.ClientResponse) -> bytes:
    import aiohttp

    content = await body_of(response, _MOST_BYTES)
    if content is None:
        raise aiohttp.ClientPayloadError(f"the answer has more than {_MOST_BYTES:,} bytes")
    return content


def _parsed(content: bytes) -> Answer:
    """Return the answer in a JSON-RPC response."""
    shown = one_line(content.decode("utf-8", errors="replace"), _SHOWN)
    try:
        response = parse_json(content)
    except DocumentError:
        raise ValueError(f"the answer is not JSON: {shown or '(empty)'}") from None
    response = response if isinstance(response, dict) else {}
    if error := response.get("error"):
        code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else ("", error)
        raise ValueError(f"error {code}: {one_line(str(text), _SHOWN)}")
    try:
        return parse_answer(response.get("result"))
    except ValueError as problem:
        raise ValueError(f"{problem}, got {shown}") from None


def _described(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {_CONNECTING:g} s"
    cause = getattr(error, "os_error", error)  # aiohttp's texts have the details of its connection
    text = os.strerror(cause.errno) if isinstance(cause, OSError) and cause.errno else str(error)
    return one_line(mask_secrets(text) or type(error).__name__, _SHOWN)
