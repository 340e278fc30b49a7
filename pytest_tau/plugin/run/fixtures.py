"""The fixtures for tests on tasks; each can be overridden in a conftest.py.

Every run of pytest imports this module, so that it imports nothing else until a fixture is set up.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...chat import TrialModel, TrialModels
    from ...environment import Environment
    from ...models import Simulation, Task
    from ..items import TaskSpec
    from .async_trial import AsyncTrial
    from .tau_trial import TauTrial
    from .trials import TrialFuture


@pytest.fixture
def _tau_spec(request: pytest.FixtureRequest) -> TaskSpec:
    """Return the task with its domain and settings: of a task item, or as the marker selected it."""
    from ..items import is_task_item

    spec: TaskSpec = request.node.task_spec if is_task_item(request.node) else _parameter(request)
    return spec


def _parameter(request: pytest.FixtureRequest) -> Any:
    """Return what the marker selected for a test.

    Raises:
        ConfigurationError: pytest gives no parameters to methods of ``unittest.TestCase``.
    """
    from ...errors import ConfigurationError

    if not hasattr(request, "param"):
        raise ConfigurationError(
            f"{request.node.name} is a method of unittest.TestCase, which cannot have a task: use a plain class"
        )
    return request.param


@pytest.fixture
def tau_task(request: pytest.FixtureRequest, _tau_spec: TaskSpec) -> Iterator[Task]:
    """Yield the task of this test: a copy, so that changes to it have no effect on what is graded."""
    from ...models import clone
    from ..items import item_state

    task, state = clone(_tau_spec.task), item_state(request.node)
    state.graded = task, _tau_spec
    yield task
    state.graded = None


@pytest.fixture
def tau_trial(request: pytest.FixtureRequest) -> Iterator[TauTrial]:
    """Yield the number of this trial of the task, from 0; it also has the trial's tools and model endpoint.

    These are the attributes of an agent's trial: ``base_url``, ``api_key``, ``mcp_url``, ``environ`` for child
    processes, ``tools``, ``tools_for(name)``, ``policy``, ``ticket``, ``seed``, ``history``.
    """
    from .tau_trial import TauTrial

    trial = TauTrial.of(request.node.trial if hasattr(request.node, "trial") else _parameter(request), request)
    yield trial
    trial.close()


@pytest.fixture
def tau_env(request: pytest.FixtureRequest, _tau_spec: TaskSpec, tau_task: Task) -> Iterator[Environment]:
    """Yield a fresh environment in the task's initial state; ``tau_simulation`` runs on it."""
    from .setup import make_environment

    trial, spec = _started_trial(request), _graded(request, _tau_spec, tau_task)
    environment = trial.trial.environment if trial else make_environment(request.node, spec)
    yield environment
    environment.close()


@pytest.fixture
def _tau_models(
    request: pytest.FixtureRequest, _tau_spec: TaskSpec, tau_task: Task, tau_trial: TauTrial, tau_env: Environment
) -> Iterator[TrialModels]:
    """Yield the models of this trial; skip the trial if the budget is spent."""
    from .models import affordable_models, end_models

    trial, spec = _started_trial(request), _graded(request, _tau_spec, tau_task)
    models = trial.trial.models if trial else affordable_models(request.node, spec, tau_trial, tau_env)
    yield models
    end_models(request.node, spec, models)


@pytest.fixture
def tau_model(_tau_models: TrialModels) -> TrialModel:
    """Return the agent's chat model (``--tau-agent-llm``); its calls are recorded and replayed with the trial."""
    from ...errors import ConfigurationError

    model = _tau_models.get("agent")
    if model is None:
        raise ConfigurationError("the fixture tau_model needs the agent's model: add --tau-agent-llm MODEL")
    return model


@pytest.fixture
def tau_agent_client(tau_trial: TauTrial, _tau_models: TrialModels) -> Iterator[Any]:
    """Yield an ``openai.OpenAI`` client whose calls are those of the agent in this trial: counted, recorded, replayed.

    The model ``tau`` is that of ``--tau-agent-llm``.
    """
    from ...integrations.frameworks import load_framework

    with load_framework("openai", "openai").OpenAI(base_url=tau_trial.base_url, api_key=tau_trial.api_key) as client:
        yield client


@pytest.fixture
def tau_agent(request: pytest.FixtureRequest, _tau_spec: TaskSpec, tau_task: Task) -> Any:
    """Return the agent: an object, a class or a function of one of the forms of agents, or a source of them."""
    from .setup import make_participant

    trial = _started_trial(request)
    return trial.agent if trial else make_participant("agent", request.node, _graded(request, _tau_spec, tau_task))


@pytest.fixture
def tau_user(request: pytest.FixtureRequest, _tau_spec: TaskSpec, tau_task: Task) -> Any:
    """Return the simulated user, in one of the same forms as the agent."""
    from .setup import make_participant

    trial = _started_trial(request)
    return trial.user if trial else make_participant("user", request.node, _graded(request, _tau_spec, tau_task))


@pytest.fixture
def tau_simulation(
    request: pytest.FixtureRequest,
    _tau_spec: TaskSpec,
    tau_task: Task,
    tau_trial: TauTrial,
    tau_env: Environment,
    _tau_models: TrialModels,
    tau_agent: Any,
    tau_user: Any,
) -> Simulation:
    """Run the trial and return it: its messages, calls and reward. The test errors if anything but the agent failed."""
    __tracebackhide__ = True
    from .waiting import run_trial

    spec = _graded(request, _tau_spec, tau_task)
    make = partial(_trial, request, spec, tau_trial, tau_env, _tau_models)
    return run_trial(request, make, tau_agent, tau_user)


@pytest.fixture
def tau_run(
    request: pytest.FixtureRequest,
    _tau_spec: TaskSpec,
    tau_task: Task,
    tau_trial: TauTrial,
    tau_env: Environment,
    _tau_models: TrialModels,
    tau_agent: Any,
    tau_user: Any,
) -> AsyncTrial:
    """Return a callable that an ``async`` test awaits to run the trial on its event loop, with an agent of its own."""
    from .async_trial import AsyncTrial

    spec = _graded(request, _tau_spec, tau_task)
    make = partial(_trial, request, spec, tau_trial, tau_env, _tau_models)
    return AsyncTrial(request, make, tau_agent, tau_user)


def _trial(
    request: pytest.FixtureRequest,
    spec: TaskSpec,
    tau_trial: TauTrial,
    environment: Environment,
    models: TrialModels,
    agent: Any,
    user: Any,
) -> TrialFuture:
    """Return the trial of a test, with what its fixtures have made."""
    from .setup import make_trial
    from .trials import TrialFuture

    # A fixture that overrides tau_trial may return a plain number.
    opened = getattr(tau_trial, "opened", None)
    trial = make_trial(request.node, spec, int(tau_trial), environment, models, opened)
    return TrialFuture(request.node, spec, trial, agent, user)


def _graded(request: pytest.FixtureRequest, spec: TaskSpec, task: Task) -> TaskSpec:
    """Return what is run and graded for the value of ``tau_task``: an object of its own."""
    from ...models import clone
    from ..items import item_state

    state = item_state(request.node)
    if state.graded is None or state.graded[0] is not task:
        state.graded = task, spec._replace(task=clone(task))  # overridden
    return state.graded[1]


def _started_trial(request: pytest.FixtureRequest) -> TrialFuture | None:
    """Return the trial, if it was started before its fixtures were set up."""
    from ..items import item_state

    state = item_state(request.node)
    trial: TrialFuture | None = state.prefetched
    return trial
