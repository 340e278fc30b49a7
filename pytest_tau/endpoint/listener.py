"""The HTTP listener of the process, on loopback, which passes requests to the trial whose token is in the path."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import secrets
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..background import BackgroundLoop
from ..errors import ConfigurationError, TauError, install_extra
from ..proxies import loopback_exemption
from ..variables import environment_variables
from .formats.common import COMMENT, EVENT_STREAM, event
from .routes import ROUTES, not_served
from .session import TOKEN_PREFIX, Address, is_of_trial, mask_tokens
from .wire import TRIAL_ENDED, Problem, TrialState, WireReply, WireRequest, problem_of, reply_to

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from typing import TypeVar

    from ..chat import ChatReply
    from .formats import EndpointRequest
    from .session import ToolOutcome, TrialSession

    T = TypeVar("T")


def mask_tokens_in_logs() -> None:
    """Mask tokens in all log records of the process from now on; once, however often it is called.

    A filter of a logger does not see the records of the loggers below it, and a handler is the user's.
    """
    factory = logging.getLogRecordFactory()
    if not isinstance(factory, _MaskingFactory):
        logging.setLogRecordFactory(_MaskingFactory(factory))


class _MaskingFactory:
    """Makes log records, without the tokens of trials in their messages."""

    def __init__(self, factory: Callable[..., logging.LogRecord]) -> None:
        self._factory = factory

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._factory(*args, **kwargs)
        try:
            message = record.getMessage()
        except Exception:  # noqa: BLE001 - a mistake in a call of the log is reported where the record is written
            return record
        if is_of_trial(message):
            record.msg, record.args = mask_tokens(message), ()
        return record


#: The most bytes of the body of a request.
MAX_BODY = 32 << 20
#: Seconds until the first comment of a stream whose answer is not there yet, and between two of them.
KEEP_ALIVE = 3.0
#: Seconds after which a trial's event loop that has not begun to answer is taken to be blocked by its agent.
BLOCKED = 20.0
#: Seconds that clients have to read their answers when the process ends.
_CLOSING_TIME = 1.0


async def _stop() -> None:
    listener = _LISTENERS.pop(os.getpid(), None)
    if listener is not None:
        await listener.stop()


_LOOP = BackgroundLoop("tau-endpoint", closing=_stop)
_STARTING = threading.Lock()
#: By process: a forked child has no listener.
_LISTENERS: dict[int, Listener] = {}


def open_session(session: TrialSession) -> Address:
    """Serve a trial, and return its addresses; any thread.

    Raises:
        ConfigurationError: The extra ``endpoint`` is not installed.
    """
    with _STARTING:
        process = os.getpid()
        if process not in _LISTENERS:
            mask_tokens_in_logs()
            os.environ.update(loopback_exemption(environment_variables()))
            _LISTENERS[process] = Listener(load_web())
        return _LISTENERS[process].open(session)


def close_session(address: Address) -> None:
    """End the service of a trial; any thread. Open requests are answered with an error that clients do not retry."""
    listener = _LISTENERS.get(os.getpid())
    if listener is not None:
        listener.close(address.api_key)


def load_web(purpose: str = "the endpoint for models") -> Any:
    """Return ``aiohttp.web``, imported if it was not yet.

    Args:
        purpose: What needs it, for the error.

    Raises:
        ConfigurationError: aiohttp is not installed, or does not work.
    """
    try:
        return importlib.import_module("aiohttp.web")
    except ImportError as error:
        problem = f"{purpose} needs aiohttp: {install_extra('endpoint')} ({error})"
        raise ConfigurationError(problem) from error


class _OnItsLoop:
    """A trial's session whose methods can be awaited on the listener's loop."""

    def __init__(self, session: TrialSession) -> None:
        self._session = session

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        return self._session.loop  # another one after the conversation than in it

    async def complete(self, request: EndpointRequest) -> ChatReply:
        return await self._run(self._session.complete(request))

    def tools(self) -> Sequence[Any]:
        return self._session.tools()

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> ToolOutcome:
        return await self._run(self._session.call_tool(name, arguments))

    async def _run(self, call: Coroutine[Any, Any, T]) -> T:
        begun = threading.Event()

        async def begin() -> T:
            begun.set()
            return await call

        try:
            loop = self.loop
        except RuntimeError as error:
            call.close()
            raise TauError(str(error)) from None
        work = begin()
        try:
            future = asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:  # the loop is closed
            work.close()
            call.close()
            raise TauError(TRIAL_ENDED.message) from None
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait({waiting}, timeout=BLOCKED)
        except asyncio.CancelledError:
            waiting.cancel()
            raise
        if not begun.is_set() and not waiting.done():
            future.cancel()
            call.close()
            raise TauError(
                f"the event loop of the trial has been blocked for {BLOCKED:g} s: an async agent must use an async "
                "client; one with a blocking client needs functions that are not async, which have a thread"
            )
        return await waiting


@dataclass(eq=False)
class _Entry:
    """A trial that is served; used on the listener's loop.

    Attributes:
        session: The trial.
        state: What is kept of it from one request to the next.
        tasks: The handlers of its open requests.
        closed: It has ended.
    """

    session: _OnItsLoop
    state: TrialState = field(default_factory=TrialState)
    tasks: set[asyncio.Future[Any]] = field(default_factory=set)
    closed: bool = False

    def close(self) -> None:
        self.closed = True
        for task in [*self.tasks, *self.state.unanswered.values()]:
            task.cancel()

    async def run(self, work: Awaitable[WireReply]) -> WireReply:
        """Await a reply; the end of the trial is one, too."""
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            # By close(), by the trial on its own loop, or because the process ends.
            # A connection that stayed open would delay the end of the process.
            return replace(reply_to(TRIAL_ENDED), closes=True)
        except Exception as error:  # noqa: BLE001 - a client must get an answer, whatever a handler raises
            return reply_to(problem_of(error))
        finally:
            self.tasks.discard(task)


class Listener:
    """Listens on a free port of loopback until the process ends.

    Args:
        web: The module ``aiohttp.web``.
    """

    def __init__(self, web: Any) -> None:
        self._web = web
        self._entries: dict[str, _Entry] = {}
        self.port: int = _LOOP.submit(self._start()).result()

    async def _start(self) -> int:
        # Neither requests nor errors are logged: their paths have the tokens.
        quiet = logging.Logger("pytest_tau.endpoint", logging.CRITICAL + 1)  # noqa: LOG001 - with no handlers
        self._server = self._web.Server(self._serve, access_log=None, logger=quiet)
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(self._server, "127.0.0.1", 0, backlog=1024)
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Stop listening, and disconnect every client."""
        self._listening.close()
        await self._server.shutdown(_CLOSING_TIME)

    def open(self, session: TrialSession) -> Address:
        """Serve a trial."""
        token = TOKEN_PREFIX + secrets.token_urlsafe(24)
        self._entries[token] = _Entry(_OnItsLoop(session))
        home = f"http://127.0.0.1:{self.port}/t/{token}"
        return Address(f"{home}/v1", token, f"{home}/mcp", home)

    def close(self, token: str) -> None:
        """End the service of a trial."""
        entry = self._entries.pop(token, None)
        if entry is not None:
            _LOOP.get().call_soon_threadsafe(entry.close)

    async def _serve(self, request: Any) -> Any:
        target = self._find(request)
        if isinstance(target, Problem):
            return self._response(reply_to(target))
        entry, suffix = target
        handler = ROUTES.get((request.method, suffix))
        if handler is None:
            return self._response(reply_to(not_served(request.method, suffix)))
        body = await body_of(request, MAX_BODY)
        if body is None:
            problem = f"the body of the request is larger than {MAX_BODY >> 20} MB"
            return self._response(reply_to(Problem(413, problem, code="request_too_large")))
        headers = {name.lower(): value for name, value in request.headers.items()}
        reply = await entry.run(handler(entry.session, WireRequest(body, headers, entry.state)))
        if reply.later is not None:
            return await self._stream(request, entry, reply.later)
        return self._response(reply)

    def _find(self, request: Any) -> tuple[_Entry, str] | Problem:
        """Return the trial of a request, and the end of its path."""
        folder, _, path = str(request.path).removeprefix("/").partition("/")
        token, _, rest = path.partition("/")
        entry = self._entries.get(token) if folder == "t" else None
        if entry is None:
            text = (
                "the address is not that of a running trial: expected http://127.0.0.1:PORT/t/TOKEN/…, with the token "
                "of a trial that has not ended"
            )
            return Problem(401, text, "authentication_error", "invalid_token")
        keys = {request.headers.get("x-api-key", ""), request.headers.get("Authorization", "").removeprefix("Bearer ")}
        if any(key != token and key in self._entries for key in keys):
            text = "the key is the token of another trial than the address: use base_url and api_key of one trial"
            return Problem(401, text, "authentication_error", "invalid_api_key")
        return entry, f"/{rest}"

    async def _stream(self, request: Any, entry: _Entry, later: Awaitable[WireReply]) -> Any:
        """Send a reply as soon as it is there, and comments until then."""
        work = asyncio.ensure_future(entry.run(later))
        finished, _ = await asyncio.wait({work}, timeout=KEEP_ALIVE)
        if finished:
            return self._response(work.result())
        response = self._web.StreamResponse(headers={"Content-Type": EVENT_STREAM, "Cache-Control": "no-cache"})
        try:
            await response.prepare(request)
            while not finished:
                await response.write(COMMENT)
                finished, _ = await asyncio.wait({work}, timeout=KEEP_ALIVE)
            reply = work.result()
            # The status was sent already, so an error is an event.
            await response.write(reply.body if reply.status < 400 else event(reply.body.decode(), "error"))
            await response.write_eof()
        except ConnectionError:
            work.cancel()  # the client has disconnected; the call of the model goes on
        return response

    def _response(self, reply: WireReply) -> Any:
        headers = {**reply.headers, **({"Content-Type": reply.content_type} if reply.content_type else {})}
        response = self._web.Response(status=reply.status, body=reply.body, headers=headers)
        if reply.closes:
            response.force_close()
        return response


async def body_of(request: Any, limit: int) -> bytes | None:
    """Return the body of a request or a response; None if it has more bytes than the limit."""
    if (request.content_length or 0) > limit:
        return None
    body = bytearray()
    async for piece in request.content.iter_any():
        body += piece
        if len(body) > limit:
            return None
    return bytes(body)
