"""Domains over functions of which one is asynchronous: all run on one event loop, in one thread."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau.errors import ToolError

PLACES = []
CURRENT = contextvars.ContextVar("CURRENT", default="")


def note_place():
    PLACES.append((threading.get_ident(), asyncio.get_running_loop()))


class Connection:
    """A connection that belongs to the thread that opened it, as those of sqlite3 do."""

    def __init__(self):
        self._thread, self._orders = threading.get_ident(), {"o1": "paid"}

    @property
    def orders(self):
        note_place()
        assert threading.get_ident() == self._thread
        return self._orders


class Shop:
    """An application with a connection of one thread, a lock and a task of one loop."""

    def __init__(self):
        self.connection = Connection()
        self.lock, self.queue, self.reader = asyncio.Lock(), asyncio.Queue(), None

    def find(self, order_id: str) -> str:
        """Show an order."""
        return self.connection.orders[order_id]

    async def change(self, order_id: str, status: str) -> str:
        """Change an order."""
        if self.reader is None:
            self.reader = asyncio.create_task(self.read())
        done = asyncio.get_running_loop().create_future()
        async with self.lock:
            await self.queue.put((order_id, status, done))
        return await asyncio.wait_for(done, 30)

    async def read(self):
        while True:
            order_id, status, done = await self.queue.get()
            self.connection.orders[order_id] = status
            done.set_result(status)

    def state(self):
        return {"orders": self.connection.orders}

    async def state_later(self):
        await asyncio.sleep(0)
        return self.state()

    def load(self, state):
        self.connection.orders.update(state["orders"])

    async def load_later(self, state):
        await asyncio.sleep(0)
        self.load(state)


async def make_later():
    await asyncio.sleep(0)
    return Shop()


def of_shop(make=Shop, snapshot=Shop.state, restore=Shop.load, **given):
    given = {"tools": [Shop.find, Shop.change], "reads": {"find"}} | given
    return pytest_tau.domain_of("shop", make=make, snapshot=snapshot, restore=restore, **given).load()


@pytest.mark.parametrize(
    "given",
    [{}, {"make": make_later, "snapshot": Shop.state_later, "restore": Shop.load_later}],
    ids=["some", "all asynchronous"],
)
def test_all_functions_of_a_domain_run_on_one_loop_in_one_thread(given):
    PLACES.clear()
    domain = of_shop(**given)
    first, second = domain.environment(), domain.environment()
    assert first.call("find", {"order_id": "o1"}).content == "paid"
    for status in ("sent", "back"):
        assert first.call("change", {"order_id": "o1", "status": status}).content == status
    second.merge({"orders": {"o1": "kept"}}, None)
    assert first.dump()["agent"] == {"orders": {"o1": "back"}}
    assert second.dump()["agent"] == {"orders": {"o1": "kept"}}
    assert len(set(PLACES)) == 1
    assert PLACES[0][0] != threading.get_ident()


@pytest.mark.parametrize("asynchronous", [True, False])
def test_only_asynchronous_functions_need_a_thread(asynchronous):
    class Counter:
        def __init__(self):
            self.count, self.threads = 0, {threading.current_thread().name}

        def add(self) -> list[str]:
            """Add one."""
            self.threads.add(threading.current_thread().name)
            return sorted(self.threads)

        async def reset(self) -> bool:
            """Reset the count."""
            return True

    functions = [Counter.reset] if asynchronous else []
    name = f"counter-{asynchronous}"
    domain = pytest_tau.domain_of(name, make=Counter, tools=[Counter.add], functions=functions, snapshot=vars).load()
    environment = domain.environment()
    used = f"tau-tools-{name}" if asynchronous else threading.current_thread().name
    assert environment.call("add", {}).content == f'["{used}"]'
    assert (f"tau-tools-{name}" in {each.name for each in threading.enumerate()}) == asynchronous


def test_a_coroutine_of_a_function_that_looks_synchronous_is_awaited():
    loops = []

    async def work():
        loops.append(asyncio.get_running_loop())
        return "done"

    def start() -> str:
        """Start it."""
        return work()

    environment = pytest_tau.domain_of("x", tools=[start], reads={"start"}).load().environment()
    assert [environment.call("start", {}).content for _ in range(2)] == ["done", "done"]
    assert loops[0] is loops[1]


STOCK = {"lamp": 3}


def restock(state):
    STOCK.clear()
    STOCK.update(state)


async def take(item: str, seconds: float = 0) -> int:
    """Take an item."""
    left = STOCK[item] - 1
    await asyncio.sleep(seconds)
    STOCK[item] = left
    return left


def test_simulations_at_the_same_time_do_not_mix_their_states():
    domain = pytest_tau.domain_of("stock", tools=[take], snapshot=lambda: STOCK, restore=restock).load()
    environments = [domain.environment() for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        for expected in ("2", "1", "0"):
            given = {"item": "lamp", "seconds": 0.01}
            results = threads.map(lambda environment: environment.call("take", given).content, environments)
            assert list(results) == [expected] * 4
    for environment in environments:
        assert environment.dump()["agent"] == {"lamp": 0}
        environment.close()
    assert STOCK == {"lamp": 3}


def test_calls_of_several_threads_run_concurrently():
    class Meeting:
        def __init__(self):
            self.names = []

        async def meet(self, name: str) -> int:
            """Wait for the other one."""
            met.append(name)
            if len(met) == 2:
                both.set()
            await both.wait()
            return len(met)

    met, both = [], asyncio.Event()
    domain = pytest_tau.domain_of("meeting", tools=[Meeting.meet], make=Meeting, snapshot=vars).load()
    with ThreadPoolExecutor(2) as threads:
        made = [threads.submit(domain.environment().call, "meet", {"name": name}) for name in "ab"]
        assert [each.result(30).content for each in made] == ["2", "2"]


class Nested:
    """Tools that call tools of their own domain."""

    environment = None

    def direct(self) -> str:
        """Show something."""
        return "direct"

    async def later(self) -> str:
        """Show something later."""
        return "later"

    async def call(self, name: str) -> str:
        """Call a tool."""
        return type(self).environment.call(name, {}).content


def test_a_tool_that_calls_another_one_does_not_wait_for_itself():
    tools = [Nested.direct, Nested.later, Nested.call]
    domain = pytest_tau.domain_of("nested", tools=tools, make=Nested, reads={"direct", "later", "call"}).load()
    Nested.environment = domain.environment()
    environment = domain.environment()
    assert environment.call("call", {"name": "direct"}).content == "direct"
    assert environment.call("call", {"name": "later"}).content == (
        "Error: a tool has called an asynchronous tool without await: await its function instead"
    )
    assert environment.call("later", {}).content == "later"


def test_a_tool_that_calls_a_function_of_the_same_state_does_not_wait_for_itself():
    domain = None

    def show() -> int:
        """Show the stock."""
        return STOCK["lamp"]

    async def ask() -> str:
        """Ask for the stock."""
        return domain.environment().call("show", {}).content

    tools = [show, ask, take]
    domain = pytest_tau.domain_of(
        "asking", tools=tools, reads={"show", "ask"}, snapshot=lambda: STOCK, restore=restock
    ).load()
    assert domain.environment().call("ask", {}).content == "3"


ERRORS = [ValueError, StopIteration, SystemExit, asyncio.CancelledError]


class Failing:
    def __init__(self):
        self.tasks = []

    def fail(self, number: int) -> str:
        """Fail."""
        raise ERRORS[number]("reason")

    async def fail_later(self, number: int) -> str:
        """Fail later."""
        await asyncio.sleep(0)
        raise ERRORS[number]("reason")

    async def start(self) -> str:
        """Start a task that leaves the process."""

        async def leave():
            sys.exit(3)

        self.tasks.append(asyncio.create_task(leave()))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "started"

    async def look(self) -> str:
        """Look at the task."""
        return str(all(task.done() and task.exception() for task in self.tasks))


@pytest.fixture
def failing():
    tools = [Failing.fail, Failing.fail_later, Failing.start, Failing.look]
    return pytest_tau.domain_of("failing", tools=tools, make=Failing, snapshot=lambda _: {}).load().environment()


@pytest.mark.parametrize("tool", ["fail", "fail_later"])
@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_what_a_tool_raises_is_its_result_and_the_loop_goes_on(failing, tool, number):
    error = ERRORS[number]
    if tool == "fail_later" and error is StopIteration:
        expected = "Error: coroutine raised StopIteration"
    elif issubclass(error, Exception):
        expected = f"Error: {error('reason')}"
    else:
        expected = f"Error: {error.__name__}: reason"
    for _ in range(2):
        assert failing.call(tool, {"number": number}).content == expected
    kind = Exception if issubclass(error, Exception) else ToolError
    with pytest.raises(kind) as raised:
        failing.execute(tool, {"number": number})
    if kind is ToolError:
        assert type(raised.value.__cause__) is error
    elif expected != "Error: coroutine raised StopIteration":
        assert type(raised.value) is error


def test_a_task_that_leaves_the_process_does_not_end_the_loop(failing):
    for _ in range(2):
        assert failing.call("start", {}).content == "started"
        assert failing.call("look", {}).content == "True"


class Session:
    def __init__(self):
        self.seen = [CURRENT.get()]

    async def enter(self, name: str) -> str:
        """Enter a session."""
        before = CURRENT.get()
        CURRENT.set(name)
        return before

    def current(self) -> str:
        """Show the session."""
        return CURRENT.get()


def test_context_variables_are_those_of_the_caller():
    tools = [Session.enter, Session.current]
    environment = pytest_tau.domain_of("session", tools=tools, make=Session, snapshot=vars).load().environment()

    def converse():
        CURRENT.set("caller")
        assert environment.call("enter", {"name": "inner"}).content == "caller"
        assert environment.call("current", {}).content == "inner"
        assert CURRENT.get() == "inner"

    contextvars.copy_context().run(converse)
    assert environment.dump()["agent"] == {"seen": ["caller"]}
    assert environment.call("current", {}).content == ""


@pytest.fixture
def busy_threads():
    """Threads that take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("busy_threads")
def test_a_state_is_converted_where_tasks_change_it():
    class Feed:
        """A state that a task changes all the time: a copy elsewhere would find that its size has changed."""

        def __init__(self):
            self.items = {number: {} for number in range(3000)}
            self._task = asyncio.create_task(self.run())

        async def run(self):
            for number in range(3000, 10**9):
                self.items[number] = {}
                del self.items[number - 3000]
                await asyncio.sleep(0)

        async def show(self) -> dict:
            """Show the items."""
            return self.items

        async def stop(self) -> None:
            """Stop the feed."""
            self._task.cancel()

    domain = pytest_tau.domain_of(
        "feed", tools=[Feed.show, Feed.stop], make=Feed, snapshot=lambda feed: {"items": feed.items}, reads={"show"}
    ).load()
    environment = domain.environment()
    for _ in range(5):
        assert environment.call("show", {}).content.count(":") == 3000
        environment.agent_db._value = pytest_tau.environment.functions.sessions.UNREAD
        assert len(environment.dump()["agent"]["items"]) == 3000
    environment.call("stop", {})


@pytest.mark.exhaustive
def test_the_tasks_of_an_object_end_with_it(caplog):
    environment = of_shop().environment()
    assert environment.call("change", {"order_id": "o1", "status": "sent"}).content == "sent"
    environment.close()
    gc.collect()
    assert caplog.records == []


@pytest.mark.parametrize(("error", "logged"), [(asyncio.CancelledError(), 0), (ValueError("lost"), 1)])
def test_exceptions_of_callbacks_are_logged_and_cancellations_are_not(caplog, error, logged):
    class Server:
        async def serve(self) -> str:
            """Serve."""

            def fail():
                raise error

            asyncio.get_running_loop().call_soon(fail)
            await asyncio.sleep(0)
            return "served"

    domain = pytest_tau.domain_of("server", tools=[Server.serve], make=Server, snapshot=lambda _: {}).load()
    assert domain.environment().call("serve", {}).content == "served"
    assert len(caplog.records) == logged


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_loop_of_its_own():
    domain = of_shop()
    call = ("change", {"order_id": "o1", "status": "sent"})
    assert domain.environment().call(*call).content == "sent"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork next to threads
        process = os.fork()
    if process == 0:  # pragma: no cover - in the child
        content = ""
        try:
            content = domain.environment().call(*call).content
        finally:
            os._exit(0 if content == "sent" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


PROGRAM = """
import asyncio, signal, sys, pytest_tau

def say(text):
    sys.stdout.write(text + "\\n")  # at once: two threads write

class Shop:
    def __init__(self):
        self.orders = {}
        self._reader = asyncio.create_task(self.read())

    async def read(self):
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            say("reader ended")

    async def hang(self) -> None:
        "Hang."
        try:
            await asyncio.sleep(600)
        finally:
            say("tool ended")

    async def add(self) -> int:
        "Add an order."
        self.orders[len(self.orders)] = "new"
        return len(self.orders)

class Alarm(BaseException):
    pass

def ring(*_):
    raise Alarm

domain = pytest_tau.domain_of("shop", make=Shop, tools=[Shop.add, Shop.hang], snapshot=lambda shop: shop.orders).load()
environment = domain.environment()
say(environment.call("add", {}).content)
if hasattr(signal, "setitimer"):
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    say(environment.call("hang", {}).content)
    say(environment.call("add", {}).content)
say("end")
"""


@pytest.mark.exhaustive
def test_a_process_ends_without_warnings_and_an_interrupted_call_is_cancelled():
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", PROGRAM]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    assert ended.stderr == ""
    assert ended.returncode == 0
    hanging = [] if sys.platform == "win32" else ["2", "Error: Alarm: ", "tool ended"]
    assert sorted(ended.stdout.splitlines()) == sorted(["1", *hanging, "end", "reader ended"])
