"""The value of the fixture ``tau_trial``: the number of the trial, with the trial's tools and model endpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...errors import ConfigurationError
from ..context.run_state import require_context
from ..items import is_task_item, item_state
from .setup import make_trial

if TYPE_CHECKING:
    import pytest

    from ...chat import TrialModels
    from ...participants.own_loop import AgentTrial


#: The attributes and methods of ``AgentTrial`` that the fixture has, too.
_GIVEN = frozenset(
    {
        *("policy", "ticket", "seed", "history", "tools", "tools_for"),
        *("base_url", "api_key", "mcp_url", "anthropic_base_url", "environ"),
    }
)


class TauTrial(int):
    """The number of the trial, from 0, with what an agent that runs its own loop is given.

    A fixture ``tau_agent`` can make its agent of these: model calls to ``base_url`` are those of the trial, and its
    tools work while the agent answers a message.
    """

    _request: pytest.FixtureRequest
    _agent_trial: AgentTrial | None

    @classmethod
    def of(cls, number: int, request: pytest.FixtureRequest) -> TauTrial:
        """Return the value of the fixture."""
        trial = cls(number)
        trial._request, trial._agent_trial = request, None
        return trial

    def __getattr__(self, name: str) -> Any:
        """Return what an agent that runs its own loop is given.

        Raises:
            ConfigurationError: It is first used after the simulation of a test whose calls are recorded.
        """
        if name not in _GIVEN:
            raise AttributeError(f"tau_trial has no attribute {name!r}")
        if self._agent_trial is None:
            self._agent_trial = self._open()
        return getattr(self._agent_trial, name)

    @property
    def opened(self) -> AgentTrial | None:
        """The values that the fixture has given out and an agent of its own shares; None if none was used."""
        return self._agent_trial

    def close(self) -> None:
        """End the service of the endpoint."""
        if self._agent_trial is not None:
            self._agent_trial.session.close()

    def _open(self) -> AgentTrial:
        from ...participants.own_loop import AgentTrial

        request = self._request
        item, context = request.node, require_context(request.config)
        models: TrialModels = request.getfixturevalue("_tau_models")
        if models.tape is not None and not is_task_item(item) and not models.keeps_recording:
            if item_state(item).simulation is not None:
                raise ConfigurationError(
                    "tau_trial is first used after the simulation, when its recording is finished: use it in a "
                    "fixture, or request tau_agent_client"
                )
            models.keep_recording()
        state = item_state(item)
        assert state.graded is not None, "the models depend on the task"
        spec, environment = state.graded[1], request.getfixturevalue("tau_env")
        known = make_trial(item, spec, int(self), environment, models).context("agent")
        return AgentTrial(replace(known, other_loop=context.loop.ensure))
