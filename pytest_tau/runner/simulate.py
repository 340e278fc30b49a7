"""Running one trial without pytest."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..chat import CallPolicy, TrialModels
from ..clock import run_steadily
from ..participants import load_source
from ..protocol import with_texts
from .config import SimulationSettings, TrialSetup, default_user
from .reference import refuse_failing_reference
from .trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..chat import ChatModel
    from ..environment import Domain
    from ..models import Message, Simulation, Task


def simulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Run one trial and grade it.

    Args:
        task: What is to be done.
        domain: Where.
        agent: A built-in name, ``replay:FILE``, ``module:attribute``, or an object of one of the forms of agents.
        user: Likewise; by default what goes with the agent.
        trial: Which repetition of the task this is.
        seed: The trial's seed, handed to the participants.
        settings: Limits, grading, solo mode, policy, models, protocol. Without a model for the agent, one that runs its
            own loop can call any model by its name, with the keys of the environment.

    Raises:
        ConfigurationError: An agent or a user that cannot be used.
        TaskFormatError: The task does not fit the domain.
    """
    return run_steadily(
        asimulate(task, domain=domain, agent=agent, user=user, trial=trial, seed=seed, settings=settings)
    )


async def asimulate(
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
) -> Simulation:
    """Like ``simulate``, inside a running event loop."""
    made = prepare_trial(task, domain, settings or SimulationSettings(), trial, seed)
    await refuse_failing_reference(made)
    return await conduct(made, agent, user)


async def conduct(trial: Trial, agent: Any, user: Any = None) -> Simulation:
    """Run and grade a trial that was prepared, also of a task whose reference actions fail."""
    settings = trial.settings
    user = default_user(agent, solo=settings.solo, llm="user" in settings.llms) if user is None else user
    return await trial.run(load_source(agent, "agent"), load_source(user, "user"))


def prepare_trial(
    task: Task,
    domain: Domain,
    settings: SimulationSettings,
    trial: int = 0,
    seed: int | None = None,
    on_message: Callable[[Message], None] | None = None,
    models: TrialModels | None = None,
) -> Trial:
    """Return a trial outside of a test run, with its environment and the default models.

    Args:
        task: The task.
        domain: Its domain.
        settings: The settings.
        trial: The number of the trial, from 0.
        seed: Its seed; None for none.
        on_message: Called with a copy of each message that is added to the trajectory.
        models: The models; by default those of the settings.

    Raises:
        ConfigurationError: The domain cannot be run so, or a model of its retrieval variant cannot be called.
        TaskFormatError: The task does not fit the domain.
    """
    domain = with_texts(domain, settings.protocol.texts)
    retriever = domain.retriever(settings.policy, settings.retrieval)
    if retriever is not None and retriever.models:
        _integration("default_embeddings").check_retrieval_models(retriever.name, retriever.models)
    environment = domain.environment(task, settings.solo, settings.policy, retrieval=settings.retrieval)
    models = models or TrialModels(settings.llms, seed=seed, policy=default_policy())
    return Trial(TrialSetup(task, domain, environment, settings, models, trial, seed, on_message))


def default_policy() -> CallPolicy:
    """Return what applies to the model calls of a trial outside of a test run."""
    return CallPolicy(chat=_default_chat, embeddings=_default_embeddings)


def _default_chat() -> ChatModel:
    """Return the model for calls of agents that run their own loop and name a model themselves, as in a run."""
    model: ChatModel = _integration("default_model").shared_model()
    return model


def _default_embeddings() -> ChatModel:
    """Return the model for searches by embeddings, as in a run."""
    model: ChatModel = _integration("default_embeddings").shared_embeddings()
    return model


def _integration(name: str) -> Any:
    """Return a module of the integrations, which are imported by name when they are used."""
    return importlib.import_module(f"pytest_tau.integrations.{name}")
