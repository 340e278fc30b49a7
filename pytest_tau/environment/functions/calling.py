"""Where the functions of a domain run: in the calling thread, or all on one event loop if one is asynchronous."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from ...background import BackgroundLoop
from ...errors import ToolServerError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable

_UNSET = object()
#: Seconds that a call may take after Ctrl-C.
_AFTER_INTERRUPT = 1.0


class FunctionCaller:
    """Calls the functions of a domain.

    If one of them is asynchronous, all run on one event loop, which is never stopped between calls: connections, locks
    and tasks of an object work as in one asyncio program.

    Attributes:
        on_loop: Whether the functions run on an event loop.
        patience: Seconds that a call may have to wait for others; None without limit.
    """

    def __init__(self, domain: str, functions: Iterable[Callable[..., Any]]) -> None:
        self.on_loop = any(map(_is_asynchronous, functions))
        self._loop = BackgroundLoop(f"tau-tools-{domain}", on_exception=_note_exception)
        self._domain = domain
        self.patience: float | None = None

    def bind(self, function: Callable[..., Any], convert: Callable[[Any], Any] | None = None) -> Callable[..., Any]:
        """Return a function that makes a call where the domain's functions run, and waits for its result.

        Args:
            function: The function, asynchronous or not.
            convert: Converts the result in the same place: other tasks of the loop cannot change it meanwhile.
        """
        if not self.on_loop and convert is None:
            return function

        @functools.wraps(function, updated=())
        def call(*args: Any, **arguments: Any) -> Any:
            made = functools.partial(function, *args, **arguments)
            if self.on_loop:
                return self._run(made, convert)
            return convert(made()) if convert else made()

        return call

    def interrupt(self) -> None:
        """Let no later call wait without limit, as after Ctrl-C: one that does not return may block all others."""
        self.patience = _AFTER_INTERRUPT if self._loop.is_free() else 0.0

    def not_returned(self) -> ToolServerError:
        """Return the error of a call that has waited for too long; those after it do not wait."""
        self.patience = 0.0
        return ToolServerError(f"domain {self._domain!r}: a function has not returned")

    def wait(self, call: Coroutine[Any, Any, Any]) -> Any:
        """Return the result of a coroutine that a function returned which does not look asynchronous."""
        return self._run(lambda: call)

    def is_here(self) -> bool:
        """Return whether this thread runs the loop, so that it cannot wait for it."""
        try:
            return asyncio.get_running_loop() is self._loop.get()
        except RuntimeError:
            return False

    def _run(self, call: Callable[[], Any], convert: Callable[[Any], Any] | None = None) -> Any:
        if self.is_here():
            return _called_here(call, convert)
        if self.patience == 0:
            raise self.not_returned()
        # The call has a copy of this thread's context variables.
        future = self._loop.submit(_finished(call, convert))
        try:
            finished = future.result(self.patience)
        except TimeoutError:  # not raised by the call, whose exceptions are part of its outcome
            future.cancel()
            raise self.not_returned() from None
        except BaseException:  # such as Ctrl-C
            future.cancel()
            raise
        return finished.unpack()


class _Finished(NamedTuple):
    """A call that has ended, and the context variables then."""

    result: Any
    error: BaseException | None
    context: contextvars.Context

    def unpack(self) -> Any:
        """Return the result; set the context variables that the call has set, as a call in this thread would.

        Raises:
            BaseException: What the call has raised.
        """
        for variable, value in self.context.items():
            if variable.get(_UNSET) is not value:
                variable.set(value)
        if self.error is not None:
            raise self.error
        return self.result


async def _finished(call: Callable[[], Any], convert: Callable[[Any], Any] | None) -> _Finished:
    result, error = None, None
    try:
        result = call()
        if _is_pending(result):
            result = await result
        result = convert(result) if convert else result
    except BaseException as raised:  # noqa: BLE001 - SystemExit and the like would end the loop; the caller raises it
        error = raised
    return _Finished(result, error, contextvars.copy_context())


def _called_here(call: Callable[[], Any], convert: Callable[[Any], Any] | None) -> Any:
    """Return the result of a call that another function of the domain makes.

    Raises:
        RuntimeError: It is asynchronous, and would wait for the loop that it keeps from running.
    """
    result = call()
    if inspect.iscoroutine(result):
        result.close()
    if _is_pending(result):
        raise RuntimeError("a tool has called an asynchronous tool without await: await its function instead")
    return convert(result) if convert else result


def _is_asynchronous(function: Callable[..., Any]) -> bool:
    of_object = None if isinstance(function, type) else type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(of_object)


def _is_pending(result: Any) -> bool:
    return inspect.iscoroutine(result) or asyncio.isfuture(result)


def _note_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an exception of the loop, but not that tasks end with their object or with the process."""
    ended = "was destroyed but it is pending" in context["message"]
    if not ended and not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)
