"""The fixture ``tau_run``: a trial that an ``async`` test awaits, on the event loop of the test."""

from __future__ import annotations

import asyncio
import inspect
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ...world import WORLDS
from ..context.event_loop import RunningLoop, guarded
from ..items import item_state
from .asyncio_fixtures import check_test_loop
from .outcomes import result_of
from .waiting import give_up, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from ...models import Simulation
    from .trials import TrialFuture


class AsyncTrial:
    """The trial of an ``async`` test; calling it runs the trial.

    Args:
        request: The request of the fixture.
        make: Makes the trial of an agent and a user.
        agent: The agent of the fixtures.
        user: Their user.

    Raises:
        ConfigurationError: The test is not ``async``, or also requests ``tau_simulation``.
    """

    def __init__(
        self, request: pytest.FixtureRequest, make: Callable[[Any, Any], TrialFuture], agent: Any, user: Any
    ) -> None:
        test: Any = request.node
        if not inspect.iscoroutinefunction(test.obj):
            raise ConfigurationError("tau_run is for async tests: request tau_simulation, which runs the trial itself")
        if "tau_simulation" in test.fixturenames:
            raise ConfigurationError("tau_run and tau_simulation run the same trial: request one of them")
        self._request, self._make, self._agent, self._user = request, make, agent, user
        self._called = False
        #: Whether the trial has ended; not if the test has started it as a task and does not await that.
        self.ended = False

    async def __call__(self, *, agent: Any = None, user: Any = None) -> Simulation:
        """Run the trial and return it: its messages, calls and reward.

        Args:
            agent: The agent, as the fixture ``tau_agent`` returns it; None for the value of that fixture.
            user: The user, likewise.

        Raises:
            ConfigurationError: The trial was run before, or a participant cannot be used.
            HarnessError: Anything but the agent failed.
        """
        __tracebackhide__ = True
        if self._called:
            raise ConfigurationError("tau_run runs one trial: use the marker's trials=… for more of them")
        check_test_loop(self._request)
        self._called = True
        trial = self._make(self._agent if agent is None else agent, self._user if user is None else user)
        item_state(trial.item).trial = trial
        # The test may have changed what tools see, such as the time.
        with guarded(asyncio.get_running_loop()), WORLDS.another():
            simulation = await self._run(trial.start(RunningLoop()))
        return result_of(trial.item, simulation)

    async def _run(self, trial: TrialFuture) -> Simulation:
        try:
            await trial.arrive()
            return wait_for(trial)
        except BaseException as error:
            give_up(trial, error)
            raise
        finally:
            self.ended = True
