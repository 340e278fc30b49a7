"""The environments of a server: made, found, forgotten, and used by one request at a time."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import secrets
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import ConfigurationError, TauError, unknown_name
from ...text import plural
from .served import ServedEnvironment
from .wire import RequestError
from .workers import NotInTimeError, Workers

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...models import Task
    from .settings import ServingSettings

T = TypeVar("T")

#: The id of the environment of the routes that name none.
DEFAULT = "default"
#: Threads for tools.
_THREADS = 32


class EnvironmentStore:
    """The environments of a server; used on its event loop.

    Raises:
        ConfigurationError: The domain has no task of the id in the settings, or its data cannot be read.
        TaskFormatError: A task file does not follow the format, or the task does not fit the domain.
    """

    def __init__(self, settings: ServingSettings) -> None:
        self.settings, self.domain = settings, settings.domain
        self._tasks = self._read_tasks()
        try:
            self._task = self._task_named(settings.task)
        except RequestError as error:
            raise ConfigurationError(f"--task: {error}") from None
        # A domain that cannot be used is reported at the start. The tools of all environments have the same schemas.
        self.sample = ServedEnvironment("", self.domain, self._task)
        self.sample.close()
        self._entries: dict[str, ServedEnvironment] = {}
        self._workers = Workers(_THREADS)
        self._closing: set[asyncio.Task[None]] = set()
        self._being_made: Counter[str] = Counter()  # by client

    def __len__(self) -> int:
        return len(self._entries) - (DEFAULT in self._entries)

    def task_ids(self, split: str | None) -> list[str]:
        """Return the ids of the tasks of a split, or of all.

        Raises:
            RequestError: There is no such split.
        """
        if split is None:
            return list(self._tasks)
        splits = self.domain.splits if self._tasks else {}
        if split not in splits:
            raise RequestError(404, f"{unknown_name('split', split, splits)} of domain {self.domain.name!r}")
        return splits[split]

    async def make(
        self, task_id: str | None, client: str, *, default_task: bool, lease: float | None = None
    ) -> ServedEnvironment:
        """Make an environment.

        Args:
            task_id: The task; None for the untouched databases.
            client: Whose environment it is.
            default_task: Take the task of the settings instead.
            lease: Seconds after which it is forgotten if it is not used; None for those of the settings.

        Raises:
            RequestError: There is no such task, or there are too many environments.
        """
        task = self._task if default_task else self._task_named(task_id)
        self._refuse_more(client)
        self._being_made[client] += 1
        try:
            entry = await self.in_thread(
                functools.partial(ServedEnvironment, secrets.token_urlsafe(12), self.domain, task), "make"
            )
        finally:
            self._being_made[client] -= 1
        entry.client, entry.lease = client, lease
        self._entries[entry.id] = entry
        return entry

    def _refuse_more(self, client: str) -> None:
        """Refuse another environment if there are too many, or too many of a client."""
        advice = "delete one, or wait until an unused one is forgotten"
        limit, quota = self.settings.max_environments, self.settings.max_per_client
        # A tool that hangs keeps its thread when its environment is deleted.
        if len(self) + self._being_made.total() + self._workers.given_up >= limit:
            raise RequestError(429, f"there are too many environments (the limit is {limit}): {advice}")
        owned = self._being_made[client] + sum(entry.client == client for entry in self._entries.values())
        if quota is not None and owned >= quota:
            raise RequestError(
                429, f"client {client[:80]!r} has {plural(owned, 'environment')}, which is its limit: {advice}"
            )

    async def find(self, number: str) -> ServedEnvironment:
        """Return an environment; the default one is made when it is first asked for.

        Raises:
            RequestError: There is none with this id.
        """
        if number == DEFAULT and DEFAULT not in self._entries:
            served = await self.in_thread(
                functools.partial(ServedEnvironment, DEFAULT, self.domain, self._task, recorded=False), "make"
            )
            self._entries.setdefault(DEFAULT, served)
        entry = self._entries.get(number)
        if entry is None:
            idle = f"{self.settings.idle:g} s"
            unused = f"was unused for {idle} or the time of its lease"
            problem = f"no environment {number[:80]!r}: it was deleted, {unused}, or never existed"
            raise RequestError(404, f"{problem}; make one by POST /environments")
        return entry

    async def use(self, entry: ServedEnvironment, function: Callable[[], T]) -> T:
        """Run a function of an environment in a thread, after those of earlier requests.

        Raises:
            RequestError: It refuses, or there is no result in time.
        """
        began, limit = time.monotonic(), self.settings.timeout
        entry.open_requests += 1
        try:
            if entry.lock.locked():
                await self._wait_for(entry)
            else:
                await entry.lock.acquire()
            left = max(began + limit - time.monotonic(), 0.001)
            return await self.in_thread(function, "call", left, entry.lock.release)
        finally:
            entry.open_requests -= 1
            entry.used = time.monotonic()

    async def delete(self, number: str) -> None:
        """Delete an environment; calls that wait for it are refused. The default one is made again when it is used.

        Raises:
            RequestError: There is none with this id.
        """
        if number == DEFAULT and DEFAULT not in self._entries:
            return
        entry = await self.find(number)
        self._entries.pop(number, None)
        entry.end()
        if entry.lock.locked():
            task = asyncio.ensure_future(self._close(entry))  # once the call that is under way has ended
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        else:
            await self._close(entry)

    async def forget_unused(self) -> None:
        """Delete environments that were not used for the time of their lease, again and again."""
        idle = self.settings.idle
        while True:
            await asyncio.sleep(min(max(idle / 10, 0.05), 1))
            now = time.monotonic()
            for number, entry in list(self._entries.items()):
                unused = now - entry.used > (entry.lease or idle)
                if number != DEFAULT and not entry.open_requests and unused:
                    with contextlib.suppress(RequestError):
                        await self.delete(number)

    async def close(self) -> None:
        """Delete every environment."""
        for number in list(self._entries):
            with contextlib.suppress(RequestError):
                await self.delete(number)

    async def _close(self, entry: ServedEnvironment) -> None:
        async with entry.lock:
            with contextlib.suppress(RequestError):
                await self.in_thread(entry.close, "close")

    async def _wait_for(self, entry: ServedEnvironment) -> None:
        try:
            await asyncio.wait_for(entry.lock.acquire(), self.settings.timeout)
        except TimeoutError:
            seconds = f"{self.settings.timeout:g} s"
            problem = f"environment {entry.id!r} was busy with an earlier call for {seconds}; nothing was done"
            raise RequestError(504, problem) from None

    async def in_thread(
        self,
        function: Callable[[], T],
        what: str,
        seconds: float | None = None,
        done: Callable[[], None] = lambda: None,
    ) -> T:
        """Return the result of a function, which runs in a thread.

        Raises:
            RequestError: There is no result in time, or the function raised an error of this package.
        """
        try:
            return await self._workers.run(function, seconds or self.settings.timeout, done)
        except NotInTimeError as error:
            state = "it goes on" if error.begun else "it was not begun"
            problem = f"the {what} was not done within {self.settings.timeout:g} s: {state}"
            raise RequestError(504, problem) from None
        except TauError as error:
            raise RequestError(409, f"the {what} failed: {error}") from None

    def _read_tasks(self) -> dict[str, Task]:
        try:
            return {task.id: task for task in self.domain.tasks(split=None)}
        except ConfigurationError:
            if self.settings.task is not None:
                raise
            return {}  # a domain without tasks can be served

    def _task_named(self, task_id: Any) -> Task | None:
        if task_id is None:
            return None
        if not isinstance(task_id, str):
            raise RequestError(422, f"task: expected the id of a task, got {type(task_id).__name__}")
        if task_id not in self._tasks:
            raise RequestError(404, f"{unknown_name('task', task_id, self._tasks)} of domain {self.domain.name!r}")
        return self._tasks[task_id]
