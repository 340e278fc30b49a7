"""A connection to one server process: its thread runs the SDK's event loop, and ends with the process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import shlex
import subprocess
import tempfile
import threading
import weakref
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from ...clock import run_steadily
from ...errors import ConfigurationError, ToolError, ToolServerError, install_extra
from ...text import shorten

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
    from typing import TextIO

#: The thread of a connection: its name begins with this, and ends with the name of the domain.
_THREAD = "tau-mcp-"
#: Seconds that a server and its children have to end; the SDK takes at most six.
_CLOSING_TIME = 8.0
#: What stands for the id of a trial in a command and in environment variables.
_TRIAL = "{trial}"
#: Bytes of the server's standard error that are shown.
_SHOWN = 1500


def require_sdk() -> None:
    """Import the SDK, which takes long, before anything is timed.

    Raises:
        ConfigurationError: It is not installed.
    """
    try:
        import mcp.client.session
        import mcp.client.stdio  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(f"mcp_domain needs the extra 'mcp': {install_extra('mcp')} ({error})") from None


class Launch(NamedTuple):
    """How a server is started.

    Attributes:
        name: The name of the domain.
        command: The program and its arguments.
        folder: The working directory.
        env: Environment variables, in addition to those that the SDK passes on.
        timeout: Seconds for its start, and for each answer.
        reset: A command that is run before the server is started; empty for none.
    """

    name: str
    command: Sequence[str]
    folder: Path
    env: Mapping[str, str] | None
    timeout: float
    reset: Sequence[str] = ()

    @property
    def is_shared(self) -> bool:
        """Return whether no part of it names the trial."""
        given = (*self.command, *self.reset, *(self.env or {}).values())
        return not any(_TRIAL in part for part in given)

    def of_trial(self) -> Launch:
        """Return the same with ``{trial}`` replaced by an id that no other server has."""
        name = f"tau-{secrets.token_hex(6)}"

        def filled(parts: Sequence[str]) -> list[str]:
            return [part.replace(_TRIAL, name) for part in parts]

        env = None if self.env is None else dict(zip(self.env, filled([*self.env.values()]), strict=True))
        return self._replace(command=filled(self.command), env=env, reset=filled(self.reset))

    def run_reset(self) -> None:
        """Run the command that sets the state back, if there is one.

        Raises:
            ToolServerError: It fails, or does not end in time.
        """
        if not self.reset:
            return
        from mcp.client.stdio import get_default_environment

        shown = f"the command that resets the tool server of domain {self.name!r}"
        try:
            subprocess.run(  # noqa: S603 - the domain's own command; no shell
                self.reset,
                cwd=self.folder,
                env={**get_default_environment(), **(self.env or {})},
                timeout=self.timeout,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=True,
            )
        except subprocess.TimeoutExpired:
            problem = f"did not end within {self.timeout:g} s"
        except subprocess.CalledProcessError as error:
            said = error.stdout[-_SHOWN:].decode(errors="replace").strip()
            problem = f"ended with exit status {error.returncode}" + (f"; its output:\n{said}" if said else "")
        except OSError as error:
            problem = f"could not be started: {error}"
        else:
            return
        raise ToolServerError(f"{shown} {problem}")


class Connection:
    """A connection to a server process of its own.

    The process ends when ``close`` is called, when nothing refers to the connection any more, or with this process.

    Raises:
        ToolServerError: The server does not start.
    """

    def __init__(self, launch: Launch) -> None:
        self._thread = _Thread(launch)
        self._finalizer = weakref.finalize(self, self._thread.end, wait=True)
        self._thread.start()

    def request(self, make: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        """Return the answer to a request.

        Args:
            make: Makes the request on the SDK's session.

        Raises:
            ToolError: The server refuses the request.
            ToolServerError: The server has ended, or does not answer in time.
        """
        return self._thread.request(make)

    def close(self) -> None:
        """End the process; does not wait for it."""
        self._thread.end(wait=False)


class _Thread:
    """The thread of a connection; knows nothing about it, so that an abandoned connection is closed."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._ready: Future[Any] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._ending = False
        self._said, self._reading = "", threading.Lock()
        # Read under its name: the position in an open file is shared with the server that writes to it.
        number, name = tempfile.mkstemp(prefix="tau-mcp-")
        self._stderr, self._file = os.fdopen(number, "w", encoding="utf-8"), Path(name)
        self._thread = threading.Thread(target=self._run, name=f"{_THREAD}{launch.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()
        try:
            self._ready.result(self._launch.timeout)
        except TimeoutError:
            self.end(wait=False)
            raise self._lost(f"did not answer within {self._launch.timeout:g} s after its start") from None
        except OSError as error:
            raise self._lost(f"could not be started: {error}") from None
        except Exception as error:  # noqa: BLE001 - whatever the SDK makes of a server that ends
            raise self._lost(f"ended during its start ({_innermost(error)})") from None

    def request(self, make: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        loop = self._loop
        if loop is None or not self._thread.is_alive():
            raise self._lost("has ended")
        future = asyncio.run_coroutine_threadsafe(make(self._ready.result()), loop)
        try:
            return future.result(self._launch.timeout)
        except TimeoutError:
            future.cancel()
            self.end(wait=False)
            raise self._lost(f"did not answer within {self._launch.timeout:g} s") from None
        except Exception as error:  # noqa: BLE001 - the SDK's errors, of the server or of the connection
            if _is_refusal(error):
                raise ToolError(str(error)) from None
            self.end(wait=False)
            raise self._lost(f"ended or broke the protocol ({_innermost(error)})") from None

    def end(self, *, wait: bool) -> None:
        # A second cancellation would interrupt the SDK while it ends the process.
        if self._loop is not None and self._task is not None and not self._ending:
            self._ending = True
            with contextlib.suppress(RuntimeError):  # the loop is closed already
                self._loop.call_soon_threadsafe(self._task.cancel)
        # A thread that is started but has no loop yet finds this flag.
        self._ready.cancel()
        if wait and self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(_CLOSING_TIME)

    def _run(self) -> None:
        try:
            with contextlib.suppress(asyncio.CancelledError):
                run_steadily(self._serve())
        finally:
            with self._reading:
                self._said = self._end_of_stderr()
                self._stderr.close()
                with contextlib.suppress(OSError):  # Windows: a child of the server has it open
                    self._file.unlink()

    async def _serve(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        launch = self._launch
        try:
            async with _connected(launch.command, launch.folder, launch.env, self._stderr) as session:
                if self._ready.set_running_or_notify_cancel():
                    self._ready.set_result(session)
                    await asyncio.Event().wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error if isinstance(error, Exception) else RuntimeError("cancelled"))
            elif not isinstance(error, Exception):
                raise

    def _lost(self, what: str) -> ToolServerError:
        launch = self._launch
        text = f"the tool server of domain {launch.name!r} {what}: {shorten(shlex.join(launch.command))}"
        with self._reading:
            said = self._said if self._stderr.closed else self._end_of_stderr()
        return ToolServerError(f"{text}\nits standard error:\n{said}" if said else text)

    def _end_of_stderr(self) -> str:
        with self._file.open("rb") as file:
            file.seek(max(0, self._file.stat().st_size - _SHOWN))
            return file.read(_SHOWN).decode(errors="replace").strip()


def _innermost(error: BaseException) -> str:
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return f"{type(error).__name__}: {error}"


@contextlib.asynccontextmanager
async def _connected(
    command: Sequence[str], folder: Path, env: Mapping[str, str] | None, stderr: TextIO
) -> AsyncIterator[Any]:
    """Start a server and yield a session with it; the server and its children end with the block.

    The SDK starts the server in a process group of its own. It closes the server's input, waits two seconds, and then
    ends the group.
    """
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    logging.getLogger("mcp.client.stdio").addFilter(_name_printed)
    given = dict(env) if env is not None else None
    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=given, cwd=folder)

    class Session(ClientSession):
        """A session that returns what the server answered; ``ResultSchema`` checks it."""

        async def validate_tool_result(self, name: str, result: Any) -> None:
            del name, result

    async with stdio_client(parameters, errlog=stderr) as streams, Session(*streams) as session:
        await session.initialize()
        yield session


def _name_printed(record: logging.LogRecord) -> bool:
    """Name the domain and the line if a server has printed between its messages: the SDK logs a traceback of itself."""
    error = record.exc_info[1] if record.exc_info else None
    thread = record.threadName or ""
    if isinstance(error, ValidationError) and thread.startswith(_THREAD):
        record.msg = (
            "domain %r: its tool server printed to its standard output, which is for messages of MCP: %r was ignored; "
            "print to standard error"
        )
        record.args = thread.removeprefix(_THREAD), shorten(str(error.errors()[0]["input"]))
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


def _is_refusal(error: BaseException) -> bool:
    """Return whether a server answered a request with an error, such as one about the arguments."""
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code != CONNECTION_CLOSED
