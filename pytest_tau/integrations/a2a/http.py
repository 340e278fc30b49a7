"""HTTP requests to an A2A server: their key, their limits, and what their errors say."""

from __future__ import annotations

import base64
import os
import ssl
from functools import cache
from json import JSONDecodeError
from urllib.parse import unquote, urlsplit

import httpx
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, A2AError

from ...masking import mask_secrets
from ...text import one_line
from ...variables import AGENT_KEY, AGENT_KEY_HOSTS
from .card import BEARER

#: Seconds to connect, and for the card as a whole; an answer may take as long as the trial.
CONNECTING = 10.0
#: The statuses of a server that refuses the key, or wants one.
REFUSED = (401, 403)
#: Characters of an answer in an error.
SHOWN = 300
#: The most bytes of an answer.
_MOST_BYTES = 16 << 20


def http_client() -> httpx.AsyncClient:
    """Return a client without proxies, logins of a ``.netrc`` file and redirects: a key goes to the address only."""
    transport = _LimitedTransport(verify=_certificates(), trust_env=False)
    return httpx.AsyncClient(transport=transport, timeout=httpx.Timeout(None, connect=CONNECTING), trust_env=False)


class _LimitedTransport(httpx.AsyncHTTPTransport):
    """Reads answers up to a size."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        content = bytearray()
        try:
            async for piece in response.aiter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise httpx.ReadError(f"the answer has more than {_MOST_BYTES:,} bytes", request=request)
        finally:
            await response.aclose()
        response.headers.pop("Content-Encoding", None)
        return httpx.Response(response.status_code, headers=response.headers, content=bytes(content))


@cache
def _certificates() -> ssl.SSLContext:
    """Return the certificates that the system trusts; httpx has a list of its own."""
    return ssl.create_default_context()


def key_for(agent: str, address: str) -> str:
    """Return the key that an address is sent; empty for none.

    Args:
        agent: The URL of the agent, which the user named.
        address: The address that the agent's card names. It gets the key if it is on the same host, and not with
            ``http`` instead of ``https``, or if the user named its host.
    """
    named, offered = urlsplit(agent), urlsplit(address)
    is_same = offered.hostname == named.hostname and (offered.scheme == "https" or named.scheme == "http")
    is_named = (offered.hostname or "") in os.environ.get(AGENT_KEY_HOSTS, "").lower().split()
    return os.environ.get(AGENT_KEY, "") if is_same or is_named else ""


def authorization(address: str, header: str, key: str) -> dict[str, str]:
    """Return the headers that authorize a request: by the login in the address, or by the key."""
    headers = {header: f"Bearer {key}" if header == BEARER else key} if key else {}
    parts = urlsplit(address)
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers[BEARER] = f"Basic {base64.b64encode(login.encode()).decode()}"
    return headers


def without_login(address: str) -> str:
    """Return an address without its login, as httpx logs the addresses of requests."""
    return str(httpx.URL(address).copy_with(userinfo=b""))


def describe(error: BaseException) -> tuple[int, str]:
    """Return the HTTP status of an answer, 0 if there was none, and what went wrong, without secrets.

    Args:
        error: An error of the SDK, which may come from one of another library.
    """
    causes: list[BaseException] = [error]
    while cause := causes[-1].__cause__ or causes[-1].__context__:
        causes.append(cause)
    # The innermost one has the details.
    described = filter(None, map(_described, reversed(causes)))
    status, text = next(described, (200, f"the answer is not as the protocol says: {error}"))
    return status, one_line(mask_secrets(text.strip()) or type(error).__name__, SHOWN)


def _described(error: BaseException) -> tuple[int, str] | None:
    match error:
        case httpx.HTTPStatusError(response=response):
            return response.status_code, _refusal(response)
        case JSONDecodeError(doc=document):
            return 200, f"the answer is not JSON: {document.strip() or '(empty)'}"
        case TimeoutError():
            return 0, f"no answer within {CONNECTING:g} s"
        case OSError() | httpx.RequestError():
            number = getattr(error, "errno", None) or 0
            return 0, os.strerror(number) if number > 0 else str(error)
        case A2AError():
            code = JSON_RPC_ERROR_CODE_MAP.get(type(error))
            return 200, f"error {code}: {error}" if code else str(error)
    return None


def _refusal(response: httpx.Response) -> str:
    if response.has_redirect_location:
        return f"the server redirects to {response.headers['Location']}, which is not followed: name that address"
    hint = ""
    if response.status_code in REFUSED:
        is_set = bool(os.environ.get(AGENT_KEY))
        refused = f"it refuses the key of the environment variable {AGENT_KEY}"
        hint = f"; {refused if is_set else f'if it needs a key, set {AGENT_KEY}'}"
    return ": ".join(filter(None, [f"HTTP {response.status_code}{hint}", response.text.strip()]))
