"""Blocking code of participants, in a thread that a timeout can abandon."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from ..chat import attribute_calls
from ..errors import ModelError, ReplayError
from .containment import ForeignError, owned_by, run_contained

if TYPE_CHECKING:
    from ..background import BackgroundLoop
    from ..chat import Role, TrialModels

_Job: TypeAlias = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class BlockingCaller:
    """Calls a participant's functions, sync or async, one at a time.

    Blocking ones run in one daemon thread of the participant's own, started at the first of them: a thread cannot
    be killed, but one that hangs can be abandoned.

    Args:
        models: The models of the trial; calls that the functions make through this package belong to them.
        role: The role of the participant.

    Attributes:
        loop: Runs the coroutines of the functions; None for the loop that calls them.
        on_call: Called where a function runs, before it.
    """

    def __init__(self, models: TrialModels | None = None, role: Role = "agent") -> None:
        self._models, self._role = models, role
        self.loop: BackgroundLoop | None = None
        self.on_call: Callable[[], None] = lambda: None
        self._jobs: queue.SimpleQueue[_Job | None] | None = None

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function and return its result, awaited if it is awaitable.

        Raises:
            ForeignError: The function raised something that is not an ``Exception``, has cancelled itself, or raised an
                error that only a model call of its trial may raise.
            Exception: Anything else that the function raises.
        """
        with (
            self._own_errors(),
            attribute_calls(self._models, self._role) if self._models else contextlib.nullcontext(),
        ):
            return await run_contained(lambda: self._call(function, args, kwargs), self)

    def call_here(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function that is sync and short, in this thread, and return its result.

        Raises:
            ForeignError: The function raised an error that only a model call of its trial may raise.
            Exception: Anything else that the function raises.
        """
        with self._own_errors(), owned_by(self):
            return function(*args)

    @contextlib.contextmanager
    def _own_errors(self) -> Iterator[None]:
        """Pass on errors that would end a trial without a verdict only if a model call of the trial raised them."""
        try:
            yield
        except (ModelError, ReplayError) as error:
            if self._models is not None and self._models.ledger.has_raised(error):
                raise
            raise ForeignError(error) from error
        except Exception as error:
            # What a client raises of its own does not say that the model is to blame.
            if self._models is not None and (client_error := self._models.ledger.client_error) is not None:
                raise client_error from error
            raise

    def close(self) -> None:
        """Let the thread end once its current job is done."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    async def _call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if inspect.iscoroutinefunction(function):
            return await self._on_loop(function(*args, **kwargs))
        result = await self._in_thread(function, args, kwargs)
        return await self._on_loop(result) if inspect.isawaitable(result) else result

    async def _on_loop(self, result: Awaitable[Any]) -> Any:
        if self.loop is None:
            self.on_call()
            return await result
        return await asyncio.wrap_future(self.loop.submit(self._awaited(result)))

    async def _awaited(self, result: Awaitable[Any]) -> Any:
        self.on_call()
        return await result

    async def _in_thread(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            threading.Thread(target=_work, args=(self._jobs,), daemon=True, name="tau-participant").start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        context = contextvars.copy_context()
        self._jobs.put((loop, future, lambda: context.run(self._run, function, args, kwargs)))
        return await future

    def _run(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        self.on_call()
        return function(*args, **kwargs)


def _work(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        loop, future, run = job
        try:
            outcome, setter = run(), future.set_result
        except StopIteration as error:  # a future cannot carry it
            outcome, setter = RuntimeError(f"StopIteration: {error}"), future.set_exception
        except Exception as error:  # noqa: BLE001 - passed on to the awaiting task
            outcome, setter = error, future.set_exception
        except BaseException as error:  # noqa: BLE001 - passed on as an exception that no loop reacts to
            outcome, setter = ForeignError(error), future.set_exception
        try:
            loop.call_soon_threadsafe(_settle, future, setter, outcome)
        except RuntimeError:
            return  # the loop is closed: no task waits any more


def _settle(future: asyncio.Future[Any], setter: Callable[[Any], None], outcome: Any) -> None:
    if not future.done():
        setter(outcome)
