"""The hooks of pytest-tau.

Every implementation of a hook is called (*collect-all*), or, with *first result*, each until one returns a value other
than None. ``config`` is pytest's configuration, ``item`` the test that is run.

Hooks that take an ``item`` are called through ``item.ihook``, so that a conftest.py next to a task file, or above it,
applies to that file alone. Implement the others in the root conftest.py, or in those next to the command line's paths.

With ``-p no:tau`` pytest refuses hooks that it does not know, unless they are marked with
``@pytest.hookimpl(optionalhook=True)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..capability import Capability
    from ..capability.runs import RunTask
    from ..chat import LLM, ChatModel, Role, TrialModels
    from ..environment import Domain, DomainSpec
    from ..evaluation import Evaluator
    from ..knowledge import IndexFactory
    from ..models import Message, Simulation, Task
    from ..participants.behaviours import Behaviour
    from ..participants.own_loop import TrialTool
    from ..runner import ModelChoice, ModelSettings, RunConfig
    from ..runs.record import TrialRecord


@pytest.hookspec
def pytest_tau_domains(config: pytest.Config) -> list[DomainSpec] | None:
    """Add domains; collect-all. Called once in each process, when the first task or domain is needed.

    Args:
        config: pytest's configuration.

    Returns:
        Domains, or None. They take precedence over installed domains of the same name.
    """


@pytest.hookspec
def pytest_tau_capabilities(config: pytest.Config) -> list[Capability] | None:
    """Add capabilities; collect-all. Called once in each process, when the plugin is registered.

    Args:
        config: pytest's configuration; not every option is known yet.

    Returns:
        Capabilities, or None. The settings of each become options and ini keys. ``-p no:tau_NAME`` removes one.
    """


@pytest.hookspec
def pytest_tau_behaviours(config: pytest.Config) -> list[Behaviour] | None:
    """Add behaviours of simulated users for ``--tau-user-persona behaviour=NAME``; collect-all.

    Called once in each process, before trials are run.

    Args:
        config: pytest's configuration.

    Returns:
        Behaviours, or None. A name of a built-in behaviour is refused.
    """


@pytest.hookspec
def pytest_tau_indexes(config: pytest.Config) -> dict[str, IndexFactory] | None:
    """Add indexes over documents; collect-all. Called once in each process, if ``--tau-agent-retrieval`` is given.

    Args:
        config: pytest's configuration.

    Returns:
        By the name for ``--tau-agent-retrieval``: a class or function that is called with the documents, each with
        ``id``, ``title`` and ``content``, and returns an object whose ``search(query, k)`` returns pairs of an id and a
        score. Or None.
    """


@pytest.hookspec
def pytest_tau_evaluators(config: pytest.Config) -> list[Evaluator] | None:
    """Add reward components; collect-all. Called once in each process, before tasks are checked.

    Args:
        config: pytest's configuration.

    Returns:
        Evaluators, or None. Each is computed for every trial, and counts towards the reward of the tasks whose reward
        basis names it.
    """


@pytest.hookspec
def pytest_tau_modify_tasks(config: pytest.Config, domain: Domain, tasks: list[Task]) -> None:
    """Reorder, drop, add or replace tasks in place. Called once for each selected domain, task file or marked test.

    Args:
        config: pytest's configuration.
        domain: The domain on which the tasks are run.
        tasks: The tasks of the split or file, before ``--tau-task`` and ``--tau-num-tasks`` select among them.

    It must do the same in every xdist worker.
    """


@pytest.hookspec
def pytest_tau_plan(specs: list[RunTask], test: pytest.Function | None) -> None:
    """Add variants of the tasks that are run (``RunTask.variant``), or replace tasks by them; collect-all.

    Called once for each selected domain, task file or marked test, with the tasks that ``--tau-task`` and the like have
    selected.

    Args:
        specs: The tasks, each with its settings; changed in place.
        test: The marked test; None for the items of a domain or a file.

    It must do the same in every xdist worker. A ``ConfigurationError`` is an error of collection.
    """


@pytest.hookspec
def pytest_tau_models(config: pytest.Config, models: ModelSettings) -> dict[Role, ModelChoice] | None:
    """Name models that trials call besides those of agent, user and judge; collect-all.

    Called once in each process, with the settings. ``pytest_tau_make_model`` makes them.

    Args:
        config: pytest's configuration.
        models: The settings of models so far.

    Returns:
        Each model with its arguments, by role, or None.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_agent(item: pytest.Item, task: Task, domain: Domain, config: RunConfig) -> Any:
    """Choose the agent of one trial; first result. Called once for each trial, before the first message.

    Args:
        item: The test item being run.
        task: The task; a copy. An agent that it is given to has seen the reference actions, and declares that by
            ``needs_reference = True``.
        domain: The domain, with its tools and policy.
        config: The run's settings.

    Returns:
        An object, a class or a function of one of the forms of agents. Last comes the agent that the marker, the
        command line or the ini names.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_user(item: pytest.Item, task: Task, domain: Domain, config: RunConfig) -> Any:
    """Choose the simulated user of one trial; first result. Called once for each trial, before the first message.

    Args:
        item: The test item being run.
        task: The task; frozen.
        domain: The domain, with its tools and policy.
        config: The run's settings.

    Returns:
        An object, a class or a function of one of the forms of users. Last comes the user that the marker, the command
        line or the ini names.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_model(
    item: pytest.Item, role: Role, llm: str, llm_args: dict[str, Any], config: RunConfig
) -> ChatModel | LLM | None:
    """Choose the chat model of one role in one trial; first result.

    Called for each role that has a model, once for each trial, before the first message.

    Args:
        item: The test item being run.
        role: ``agent``, ``user``, ``judge`` or ``reviewer``.
        llm: The model's name, from ``--tau-agent-llm``, ``--tau-user-llm`` or ``--tau-judge-llm``.
        llm_args: The arguments of each call; a copy.
        config: The run's settings.

    Returns:
        An object with ``async complete(request)``, or an ``LLM`` that also sets name and arguments. Last comes litellm,
        or without it a client of OpenAI's API.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_tools_for(name: str, tools: list[TrialTool]) -> Any:
    """Make the tools of a trial into objects of a framework; first result.

    Called by ``trial.tools_for(name)`` of an agent that runs its own loop, in the thread of the agent.

    Args:
        name: The name that the agent has given.
        tools: The tools, each with ``name``, ``description``, ``parameters``, ``openai_schema``, ``call(**arguments)``
            and ``await acall(**arguments)``.

    Returns:
        The tools as the framework wants them.
    """


@pytest.hookspec
def pytest_tau_simulation_started(item: pytest.Item, task: Task, trial: int) -> None:
    """Observe the start of a trial. Called once for each trial, before the hooks for its messages.

    The conversation runs in another thread, and may have begun. Also called for a trial whose simulation comes from a
    previous run (``--tau-resume``). An exception fails the test, once the trial has finished and its result is stored.

    Args:
        item: The test item being run.
        task: The task; a copy.
        trial: The number of the trial, from 0.
    """


@pytest.hookspec
def pytest_tau_message(item: pytest.Item, message: Message) -> None:
    """Observe a message of a trajectory. Called for each message, in their order.

    An exception fails the test, once the trial has finished and its result is stored.

    Args:
        item: The test item being run.
        message: A copy of the message.
    """


@pytest.hookspec
def pytest_tau_simulation_finished(item: pytest.Item, simulation: Simulation) -> None:
    """Observe a finished and graded trial. Called once for each trial, also for one that ended in an error.

    Args:
        item: The test item being run.
        simulation: The trial, with its messages, its termination reason and its reward.
    """


@pytest.hookspec
def pytest_tau_after_trial(
    item: pytest.Item, spec: RunTask, number: int, models: TrialModels
) -> Callable[[Simulation], Awaitable[None]] | None:
    """Return what is awaited when a trial has a verdict, before it is stored; collect-all.

    Called in pytest's thread, when the trial starts. What it returns is called on the event loop of the trial, and may
    add facts to the simulation, and usage to the models.

    Args:
        item: The test item being run.
        spec: The task that is run.
        number: The number of the trial, from 0.
        models: The models of the trial.

    Returns:
        A function of the simulation, or None.
    """


@pytest.hookspec
def pytest_tau_trial_reported(report: pytest.TestReport, record: TrialRecord) -> None:
    """Observe a reported trial. Called once for each trial, in the process that reports: with ``-n``, the controller.

    Args:
        report: pytest's last report on the test.
        record: The trial, without its messages.
    """


@pytest.hookspec
def pytest_tau_may_restore(simulation: Simulation) -> bool | None:
    """Refuse to reuse a trial of an earlier session (``--tau-resume``); collect-all. It is then run again.

    Args:
        simulation: The stored trial, of the same test and seed.

    Returns:
        False to refuse.
    """
