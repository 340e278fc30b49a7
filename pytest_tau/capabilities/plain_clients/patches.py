"""The places where HTTP clients send a request: each gives requests to model APIs to the trial that makes them."""

from __future__ import annotations

import asyncio
import importlib.util
import io
import secrets
import sys
from collections.abc import Callable, Iterator
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any, TypeAlias

from .exchange import Exchange, Response, model_path

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

#: A class, the name of a method, and its replacement.
Patch: TypeAlias = tuple[type, str, Callable[..., Any]]

#: Headers of a response that do not describe its decoded body.
_OF_ENCODING = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})


class Patches(MetaPathFinder):
    """Replaces methods of clients, at once or when the client is imported."""

    def __init__(self) -> None:
        self._undo: list[tuple[type, str, Any]] = []
        self._done: set[str] = set()

    def begin(self) -> None:
        """Replace the methods."""
        sys.meta_path.insert(0, self)
        for name in _CLIENTS:
            if sys.modules.get(name) is not None:
                self._patch(sys.modules[name])

    def end(self) -> None:
        """Put the methods back."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for owner, name, method in reversed(self._undo):
            setattr(owner, name, method)
        self._undo.clear()
        self._done.clear()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the module of a client, which is patched after it was imported; None for all other modules."""
        del path, target
        if name not in _CLIENTS or name in self._done:
            return None
        self._done.add(name)  # the next finder is asked
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._done.discard(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Patching(spec.loader, self._patch)
        return spec

    def _patch(self, module: ModuleType) -> None:
        if module.__name__ in self._done:
            return
        self._done.add(module.__name__)
        for owner, name, method in _CLIENTS[module.__name__](module):
            self._undo.append((owner, name, getattr(owner, name)))
            setattr(owner, name, method)


class _Patching(Loader):
    """Loads a module as its own loader does, and patches it."""

    def __init__(self, loader: Any, patch: Callable[[ModuleType], None]) -> None:
        self._loader, self._patch = loader, patch

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._patch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)  # such as get_data, for resources of the package


def _httpx(module: Any) -> Iterator[Patch]:
    """Patch httpx, and httpx2, which has the same classes."""
    send, send_async = module.HTTPTransport.handle_request, module.AsyncHTTPTransport.handle_async_request

    def made(response: Response) -> Any:
        headers = {**response.headers, "content-type": response.type}
        return module.Response(response.status, headers=headers, stream=module.ByteStream(response.body))

    def read(response: Any) -> Response:
        return _read(response.status_code, response.headers.items(), response.content)

    def handle_request(self: Any, request: Any) -> Any:
        exchange = Exchange.of(request.method, str(request.url), request.read)
        if exchange is None:
            return send(self, request)

        def ask() -> Response:
            response = send(self, request)
            response.request = request
            response.read()
            return read(response)

        return made(exchange.answer_sync(ask))

    async def handle_async_request(self: Any, request: Any) -> Any:
        # Other requests may be too large for memory.
        if model_path(request.method, str(request.url)):
            await request.aread()
        exchange = Exchange.of(request.method, str(request.url), lambda: request.content)
        if exchange is None:
            return await send_async(self, request)

        async def ask() -> Response:
            response = await send_async(self, request)
            response.request = request
            await response.aread()
            return read(response)

        return made(await exchange.answer(ask))

    yield module.HTTPTransport, "handle_request", handle_request
    yield module.AsyncHTTPTransport, "handle_async_request", handle_async_request


def _requests(module: Any) -> Iterator[Patch]:
    send_request = module.HTTPAdapter.send

    def send(self: Any, request: Any, stream: bool = False, *args: Any, **keywords: Any) -> Any:
        exchange = Exchange.of(request.method, request.url, lambda: request.body)
        if exchange is None:
            return send_request(self, request, stream, *args, **keywords)

        def ask() -> Response:
            response = send_request(self, request, False, *args, **keywords)
            return _read(response.status_code, response.headers.items(), response.content)

        from urllib3 import HTTPResponse

        answer = exchange.answer_sync(ask)
        headers = {**answer.headers, "Content-Type": answer.type}
        raw = HTTPResponse(io.BytesIO(answer.body), headers=headers, status=answer.status, preload_content=False)
        return self.build_response(request, raw)

    yield module.HTTPAdapter, "send", send


def _aiohttp(module: Any) -> Iterator[Patch]:
    request = module.ClientSession._request  # noqa: SLF001 - its public methods all call this one

    async def _request(self: Any, method: str, url: Any, **keywords: Any) -> Any:
        body = keywords.get("data")
        if body is None and keywords.get("json") is not None:
            body = self.json_serialize(keywords["json"])
        exchange = Exchange.of(method.upper(), str(url), lambda: body)
        if exchange is None:
            return await request(self, method, url, **keywords)

        async def ask() -> Response:
            response = await request(self, method, url, **{**keywords, "raise_for_status": False})
            return _read(response.status, response.headers.items(), await response.read())

        answer = await exchange.answer(ask)
        options = {name: keywords[name] for name in ("raise_for_status", "timeout", "read_bufsize") if name in keywords}
        # Its constructor differs between versions, so aiohttp itself makes the response.
        async with _Once(answer) as address:
            return await request(self, "GET", address, **options)

    yield module.ClientSession, "_request", _request


class _Once:
    """Serves a response once, at an address of loopback that only its caller knows."""

    def __init__(self, response: Response) -> None:
        self._response, self._path = response, f"/{secrets.token_urlsafe(24)}"

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{self._path}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if request.startswith(f"GET {self._path} ".encode()):
            response = self._response
            headers = {**response.headers, "content-type": response.type, "content-length": str(len(response.body))}
            lines = [f"HTTP/1.1 {response.status} -", *(f"{name}: {value}" for name, value in headers.items())]
            writer.write("\r\n".join([*lines, "connection: close", "", ""]).encode("latin-1") + response.body)
            await writer.drain()
        writer.close()


def _read(status: int, headers: Any, body: bytes) -> Response:
    kept_headers = {name.lower(): value for name, value in headers if name.lower() not in _OF_ENCODING}
    return Response(status, kept_headers.pop("content-type", ""), body, kept_headers)


#: How each client is patched, by the module with its classes.
_CLIENTS: dict[str, Callable[[Any], Iterator[Patch]]] = {
    "httpx": _httpx,
    "httpx2": _httpx,
    "requests.adapters": _requests,
    "aiohttp.client": _aiohttp,
}
