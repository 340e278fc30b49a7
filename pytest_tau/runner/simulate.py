"""Running one trial without pytest."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..chat import CallPolicy, TrialModels
from ..clock import run_steadily
from ..participants import default_user, load_source
from ..protocol import with_texts
from .config import SimulationSettings
from .reference import refuse_failing_reference
from .trial import Trial
from .trial_runner import TrialRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..chat import ChatModel, Tape
    from ..environment import Domain
    from ..models import Message, Simulation, Task


def simulate(  # noqa: PLR0913 - the public call; everything but the task and its domain has a default
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
    calls: CallPolicy | None = None,
    tape: Tape | None = None,
    check_reference: bool = True,
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
        calls: Budget, prices and other conditions of its model calls.
        tape: Records or replays its model calls.
        check_reference: Whether a task with a reference action that fails is refused.

    Raises:
        BudgetError: ``calls`` has said that no more may be spent; the trial has no result.
        ConfigurationError: An agent or a user that cannot be used.
        TaskFormatError: The task does not fit the domain.
    """
    return run_steadily(
        asimulate(
            task,
            domain=domain,
            agent=agent,
            user=user,
            trial=trial,
            seed=seed,
            settings=settings,
            calls=calls,
            tape=tape,
            check_reference=check_reference,
        )
    )


async def asimulate(  # noqa: PLR0913 - as simulate
    task: Task,
    *,
    domain: Domain,
    agent: Any = "gold",
    user: Any = None,
    trial: int = 0,
    seed: int | None = None,
    settings: SimulationSettings | None = None,
    calls: CallPolicy | None = None,
    tape: Tape | None = None,
    check_reference: bool = True,
) -> Simulation:
    """Like ``simulate``, inside a running event loop."""
    settings = settings or SimulationSettings()
    models = TrialModels(settings.llms, tape, seed, _complete(calls or CallPolicy()))
    prepared = prepare_trial(task, domain, settings, trial, seed, models=models)
    if check_reference:
        await refuse_failing_reference(prepared)
    user = default_user(agent, solo=settings.solo, llm="user" in settings.llms) if user is None else user
    return await TrialRunner(prepared, load_source(agent, "agent"), load_source(user, "user")).run()


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
    models = models or TrialModels(settings.llms, seed=seed, policy=_complete(CallPolicy()))
    return Trial(task, domain, environment, settings, models, trial, seed, on_message)


def _complete(calls: CallPolicy) -> CallPolicy:
    """Return what applies to the model calls of a trial outside of a test run, which has the default models."""
    return replace(calls, chat=calls.chat or _default_chat, embeddings=calls.embeddings or _default_embeddings)


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
