"""Time on an event loop that others block, and what blocks it."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from pytest_tau.participants.containment import GuardedTask, described_stall, guard
from pytest_tau.stalls import TRIAL_TIME, LoopWatch, Stall, TrialTime, trial_time, wait_within, within


def ignore(_: Stall) -> None:
    """Give up nothing."""


async def in_trial(trial: TrialTime, work: Any) -> Any:
    """Run a coroutine as one of a trial."""
    TRIAL_TIME.set(trial)
    return await asyncio.ensure_future(work)


def test_outside_of_trials_it_is_a_steady_clock() -> None:
    before = trial_time()
    assert trial_time() >= before


@pytest.mark.parametrize("guarded", [True, False])
def test_the_time_of_a_block_is_charged_to_its_trial_alone(guarded: bool) -> None:
    async def block() -> float:
        before = trial_time()
        time.sleep(0.6)  # noqa: ASYNC251 - what is tested
        await asyncio.sleep(0)
        return trial_time() - before

    async def wait() -> float:
        before = trial_time()
        await asyncio.sleep(0.1)
        return trial_time() - before

    async def both() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        if guarded:
            guard(loop)
        watch = LoopWatch(loop, lambda: None, ignore)
        trials = [TrialTime(name, None, ignore) for name in ("one", "two")]
        for trial in trials:
            watch.begin(trial)
        waiting = asyncio.create_task(in_trial(trials[0], wait()))
        blocking = asyncio.create_task(in_trial(trials[1], block()))
        try:
            return await waiting, await blocking
        finally:
            watch.close()

    waited, blocked = asyncio.run(both())
    if guarded or hasattr(asyncio.Task, "get_context"):
        assert blocked > waited
        assert blocked > 0.4


def test_a_loop_is_given_up_with_the_stack_of_what_blocks_it() -> None:
    found: list[Stall] = []
    given_up = threading.Event()

    def give_up(stall: Stall) -> None:
        found.append(stall)
        given_up.set()

    async def block() -> None:
        given_up.wait(20)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        guard(loop)
        thread = threading.get_ident()
        watch = LoopWatch(loop, lambda: thread, give_up)
        trial = TrialTime("mine", 0.3, ignore)
        watch.begin(trial)
        await in_trial(trial, block())

    asyncio.run(main())
    (stall,) = found
    assert (stall.trial, stall.seconds >= 0.3) == ("mine", True)
    assert "in block" in described_stall(stall)
    assert described_stall(stall).startswith(f"has blocked the event loop for {stall.seconds:.1f} s at line ")


def test_a_result_comes_in_time_or_not_at_all() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def soon() -> int:
        return 3

    async def main() -> None:
        assert await within(soon(), 5) == 3
        assert await within(soon(), None) == 3
        with pytest.raises(TimeoutError):
            await within(forever(), 0.01)
        task = asyncio.ensure_future(forever())
        assert not await wait_within(task, 0.01)
        assert not task.cancelled()
        task.cancel()

    asyncio.run(main())


def test_a_task_knows_its_trial() -> None:
    async def main() -> TrialTime | None:
        trial = TrialTime("mine", None, ignore)
        TRIAL_TIME.set(trial)
        task = GuardedTask(asyncio.sleep(0), loop=asyncio.get_running_loop())
        await task
        assert task.trial_time is trial
        return trial

    assert asyncio.run(main()) is not None
