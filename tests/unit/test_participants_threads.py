from __future__ import annotations

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from pytest_tau.chat import TrialModels, current_attribution
from pytest_tau.participants.containment import ForeignError
from pytest_tau.participants.threads import BlockingCaller

from .tiny import run


def participants() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tau-participant"]


def called(function: Any, *args: Any, **kwargs: Any) -> Any:
    async def once() -> Any:
        code = BlockingCaller()
        try:
            return await code.call(function, *args, **kwargs)
        finally:
            code.close()

    return run(once())


def test_functions_sync_and_async() -> None:
    async def later(value: int, more: int = 0) -> int:
        await asyncio.sleep(0)
        return value + more

    def now(value: int, more: int = 0) -> int:
        return value + more

    def both(value: int, more: int = 0) -> Any:
        return later(value, more)

    for function in (now, later, both):
        assert called(function, 1, more=2) == 3


def test_blocking_code_runs_in_a_thread_of_its_own() -> None:
    assert called(threading.get_ident) != threading.get_ident()


def test_async_code_runs_on_the_loop() -> None:
    async def where() -> int:
        return threading.get_ident()

    assert called(where) == threading.get_ident()


def test_one_thread_for_all_calls_of_a_participant_started_at_the_first() -> None:
    before = set(participants())

    async def talk() -> None:
        one, two = BlockingCaller(), BlockingCaller()
        assert set(participants()) <= before
        first = {await one.call(threading.get_ident) for _ in range(3)}
        second = {await two.call(threading.get_ident) for _ in range(3)}
        assert len(first) == len(second) == 1
        assert first != second
        assert len(set(participants()) - before) == 2
        assert all(thread.daemon for thread in participants())
        one.close()
        two.close()

    run(talk())
    for thread in set(participants()) - before:
        thread.join(timeout=120)
    assert set(participants()) <= before


def test_exceptions_arrive_as_they_are() -> None:
    error = ValueError("x")

    def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="x") as caught:
        called(fail)
    assert caught.value is error


@pytest.mark.parametrize(
    "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit("g"), asyncio.CancelledError("c"), BaseException("b")]
)
@pytest.mark.parametrize("form", ["sync", "async"])
def test_what_asyncio_or_pytest_reacts_to_arrives_as_an_error_that_carries_it(error: BaseException, form: str) -> None:
    def fail() -> None:
        raise error

    async def fail_later() -> None:
        await asyncio.sleep(0)
        raise error

    if form == "async" and isinstance(error, KeyboardInterrupt):
        return  # on the main thread, which this loop runs in, it may be Ctrl-C
    with pytest.raises(ForeignError) as caught:
        called(fail if form == "sync" else fail_later)
    assert type(caught.value.raised) is type(error)
    assert str(caught.value) == f"{type(error).__name__}: {error}"


def test_stop_iteration_arrives_as_an_error() -> None:
    with pytest.raises(RuntimeError, match="StopIteration"):
        called(next, iter([]))


def test_context_variables_are_seen_in_the_thread() -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="unset")

    async def talk() -> Any:
        variable.set("set")
        code = BlockingCaller()
        try:
            return await code.call(variable.get)
        finally:
            code.close()

    assert run(talk()) == "set"


def test_the_loop_goes_on_while_a_thread_blocks() -> None:
    async def talk() -> list[str]:
        order: list[str] = []
        code, gate = BlockingCaller(), threading.Event()

        async def other() -> None:
            order.append("other")
            gate.set()

        blocked = asyncio.ensure_future(code.call(gate.wait, 5))
        await asyncio.sleep(0)
        await other()
        order.append(str(await blocked))
        code.close()
        return order

    assert run(talk()) == ["other", "True"]


def test_a_call_that_hangs_is_left_behind() -> None:
    gate = threading.Event()

    async def talk() -> None:
        code = BlockingCaller()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(code.call(gate.wait), 0.05)
        code.close()

    run(talk())
    gate.set()  # its result is ignored now


def test_a_result_after_the_loop_has_closed_is_dropped() -> None:
    gate, done = threading.Event(), threading.Event()

    def slow() -> str:
        gate.wait(5)
        done.set()
        return "late"

    async def talk() -> None:
        code = BlockingCaller()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(code.call(slow), 0.02)

    before = set(participants())
    run(talk())
    (thread,) = set(participants()) - before
    gate.set()
    thread.join(timeout=120)
    assert done.is_set()
    assert not thread.is_alive()


def test_calls_of_models_made_by_the_code_belong_to_its_trial_and_role() -> None:
    models = TrialModels()

    async def later() -> Any:
        await asyncio.sleep(0)
        return current_attribution()

    async def talk() -> list[Any]:
        code = BlockingCaller(models, "user")
        try:
            return [await code.call(current_attribution), await code.call(later), current_attribution()]
        finally:
            code.close()

    assert run(talk()) == [(models, "user"), (models, "user"), None]
