"""The fixtures; each can be overridden in a conftest.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...chat import ChatModel, TrialModel, TrialModels
    from ...environment import Environment
    from ...integrations.syrupy import TrajectorySnapshot
    from ...models import Simulation, Task
    from ...participants import Side
    from ..context.run_context import Case
    from .trials import Setting

#: The simulation that an item ran, for reports.
SIMULATION = pytest.StashKey["Simulation"]()
#: Seconds that an item's trial took, where it was started ahead.
ELAPSED = pytest.StashKey[float]()


def case_of(item: pytest.Item) -> Case | None:
    """The case that an item is about to run; None for an item that has none."""
    case = getattr(item, "case", None)
    spec = getattr(item, "callspec", None)
    found: Case | None = case if case is not None or spec is None else spec.params.get("_tau_case")
    return found


def trial_of(item: pytest.Item) -> int:
    """Which repetition of its task an item is."""
    spec = getattr(item, "callspec", None)
    number: int = item.trial if hasattr(item, "trial") else spec.params.get("tau_trial", 0) if spec else 0
    return number


@pytest.fixture
def _tau_case(request: pytest.FixtureRequest) -> Case:
    """The task to be run, its domain and settings: of a task item, or as the marker selected it."""
    case: Case = request.node.case if hasattr(request.node, "case") else request.param
    return case


@pytest.fixture
def tau_task(_tau_case: Case) -> Task:
    """The task of this test."""
    return _tau_case.task


@pytest.fixture
def tau_trial(request: pytest.FixtureRequest) -> int:
    """Which repetition of the task this is, from 0."""
    trial: int = request.node.trial if hasattr(request.node, "trial") else request.param
    return trial


@pytest.fixture
def tau_env(request: pytest.FixtureRequest, _tau_case: Case, tau_task: Task) -> Environment:
    """A fresh environment with the task's initial state; ``tau_simulation`` runs on it."""
    ahead = _ahead(request)
    return ahead.environment if ahead else make_environment(request.node, _tau_case._replace(task=tau_task))


@pytest.fixture
def _tau_models(
    request: pytest.FixtureRequest, _tau_case: Case, tau_task: Task, tau_trial: int, tau_env: Environment
) -> Iterator[TrialModels]:
    """The models of this trial; a trial that the budget has nothing left for ends here."""
    from .models import end_models

    ahead, case = _ahead(request), _tau_case._replace(task=tau_task)
    models = ahead.models if ahead else _affordable_models(request, case, tau_trial, tau_env)
    yield models
    end_models(request.node, case, models)


def _affordable_models(request: pytest.FixtureRequest, case: Case, trial: int, environment: Environment) -> TrialModels:
    from ..context.run_context import active_of
    from .models import may_spend, trial_models

    models = trial_models(request.node, case, trial, environment)
    if may_spend(case, models):
        try:
            active_of(request.config).budget.check(request.node)
        except pytest.skip.Exception:
            if models.tape is not None:
                models.tape.abandon()
            raise
    return models


@pytest.fixture
def tau_model(_tau_models: TrialModels) -> TrialModel:
    """The agent's chat model (``--tau-agent-llm``); its calls are recorded and replayed with the trial."""
    from ...errors import ConfigurationError

    model = _tau_models.of("agent")
    if model is None:
        raise ConfigurationError("the fixture tau_model needs the agent's model: name one with --tau-agent-llm")
    return model


@pytest.fixture
def tau_agent(request: pytest.FixtureRequest, _tau_case: Case, tau_task: Task) -> Any:
    """What plays the agent: an object, a class or a function of one of the three forms, or a source of them."""
    ahead = _ahead(request)
    return ahead.agent if ahead else make_side("agent", request.node, _tau_case._replace(task=tau_task))


@pytest.fixture
def tau_user(request: pytest.FixtureRequest, _tau_case: Case, tau_task: Task) -> Any:
    """What plays the user, likewise."""
    ahead = _ahead(request)
    return ahead.user if ahead else make_side("user", request.node, _tau_case._replace(task=tau_task))


@pytest.fixture
def tau_simulation(
    request: pytest.FixtureRequest,
    _tau_case: Case,
    tau_task: Task,
    tau_trial: int,
    tau_env: Environment,
    _tau_models: TrialModels,
    tau_agent: Any,
    tau_user: Any,
) -> Simulation:
    """The finished trial: its messages, calls and reward. An error where anything but the agent failed."""
    __tracebackhide__ = True
    from ..report.failures import HarnessFault
    from .trials import Setting, run_trial

    item, case = request.node, _tau_case._replace(task=tau_task)
    simulation = run_trial(item, Setting(case, tau_trial, tau_env, _tau_models, tau_agent, tau_user))
    item.stash[SIMULATION] = simulation
    if simulation.outcome == "error":
        raise HarnessFault(simulation)
    return simulation


@pytest.fixture
def tau_snapshot(request: pytest.FixtureRequest) -> TrajectorySnapshot:
    """The stored trajectory of this test: ``assert tau_simulation == tau_snapshot``."""
    from ..snapshots.plugin import stored_trajectory

    return stored_trajectory(request.node)


def make_environment(item: pytest.Item, case: Case) -> Environment:
    """A fresh environment for a trial.

    Raises:
        TaskFormatError: The initial state cannot be applied; names the file.
    """
    from ...errors import TaskFormatError

    settings = case.config.simulation
    try:
        return case.domain.environment(case.task, solo=settings.solo, policy=settings.policy)
    except TaskFormatError as error:
        file = case.domain.file_of(case.task) or item.path
        raise TaskFormatError(error.problem, file=file, task_id=error.task_id, field=error.field) from None


def make_side(side: Side, item: pytest.Item, case: Case) -> Any:
    """What plays a side in a trial, by the hooks."""
    hook = item.ihook.pytest_tau_make_agent if side == "agent" else item.ihook.pytest_tau_make_user
    return hook(item=item, task=case.task, domain=case.domain, config=case.config)


def _ahead(request: pytest.FixtureRequest) -> Setting | None:
    """What the trial is held with, where it was started before the item's turn."""
    from .trials import ahead_of

    running = ahead_of(request.node)
    return running.setting if running else None


@pytest.hookimpl(trylast=True)
def pytest_tau_make_agent(item: pytest.Item, config: Any) -> Any:
    """The agent that the marker, the command line or the ini names."""
    return _source(item, config, "agent")


@pytest.hookimpl(trylast=True)
def pytest_tau_make_user(item: pytest.Item, config: Any) -> Any:
    """The user that the marker, the command line or the ini names, or that goes with the agent."""
    return _source(item, config, "user")


@pytest.hookimpl(trylast=True)
def pytest_tau_make_model(item: pytest.Item) -> ChatModel:
    """The model over litellm."""
    from ..context.run_context import active_of

    return active_of(item.config).default_chat()


def _source(item: pytest.Item, config: Any, side: Any) -> Any:
    from ..context.run_context import active_of

    return active_of(item.config).source(side, config)
