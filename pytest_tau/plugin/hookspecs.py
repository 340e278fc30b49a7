"""The hooks of pytest-tau.

Hooks that take an ``item`` are called through it, so that a conftest.py beside or above a task file applies to that
file alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ..chat import LLM, ChatModel, Role
    from ..environment import Domain, DomainSpec
    from ..evaluation import Evaluator
    from ..models import Message, Simulation, Task
    from ..runner import RunConfig


@pytest.hookspec
def pytest_tau_domains(config: pytest.Config) -> list[DomainSpec] | None:
    """Add domains; collect-all. Called once, when the first domain is asked for.

    Args:
        config: pytest's configuration.

    Returns:
        Domains, found by name before the installed ones.

    Use in conftest plugins: the root conftest.py, or one beside the command line's paths.
    """


@pytest.hookspec
def pytest_tau_evaluators(config: pytest.Config) -> list[Evaluator] | None:
    """Add reward components; collect-all. Called once, before tasks are checked.

    Args:
        config: pytest's configuration.

    Returns:
        Evaluators; each gates where a task's reward basis names it, and is reported everywhere. One that derives
        from ``pytest_tau.evaluation.CustomComponent`` may word its part of failure reports and records itself.

    Use in conftest plugins: the root conftest.py, or one beside the command line's paths.
    """


@pytest.hookspec
def pytest_tau_modify_tasks(config: pytest.Config, domain: Domain, tasks: list[Task]) -> None:
    """Reorder, drop, add or replace tasks in place; called once for each domain, file or marked test.

    Args:
        config: pytest's configuration.
        domain: Where the tasks are run.
        tasks: Those of the split or file, before ``--tau-task`` and ``--tau-num-tasks`` narrow them.

    Use in conftest plugins: any initial conftest.py. It must do the same in every xdist worker.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_agent(item: pytest.Item, task: Task, domain: Domain, config: RunConfig) -> Any:
    """Choose the agent of one trial; first result. Called once for each trial, before the first turn.

    Args:
        item: The test item being run.
        task: What is to be done; frozen.
        domain: Its tools and policy.
        config: The run's settings.

    Returns:
        An object, a class or a function of one of the three forms, or None to let the next plugin decide.

    Use in conftest plugins: any conftest.py at or above the task file.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_user(item: pytest.Item, task: Task, domain: Domain, config: RunConfig) -> Any:
    """Choose the user of one trial; first result. As ``pytest_tau_make_agent``, for the other side.

    Use in conftest plugins: any conftest.py at or above the task file.
    """


@pytest.hookspec(firstresult=True)
def pytest_tau_make_model(
    item: pytest.Item, role: Role, llm: str, llm_args: dict[str, Any], config: RunConfig
) -> ChatModel | LLM | None:
    """Choose what makes the model calls of one role of one trial; first result. Called before the first turn.

    Args:
        item: The test item being run.
        role: ``agent``, ``user`` or ``judge``.
        llm: The model's name, as ``--tau-agent-llm`` and its like give it.
        llm_args: Arguments of each call; a copy.
        config: The run's settings.

    Returns:
        Something with ``async complete(request)``, an ``LLM`` that also settles the name and the arguments, or None
        to let the next plugin decide; at last, litellm is asked. Calls are recorded and replayed whatever makes them.

    Use in conftest plugins: any conftest.py at or above the task file.
    """


@pytest.hookspec
def pytest_tau_simulation_started(item: pytest.Item, task: Task, trial: int) -> None:
    """A trial begins: its environment is made, no one has spoken.

    Args:
        item: The test item being run.
        task: What is to be done.
        trial: Which repetition of it.

    Use in conftest plugins: any conftest.py at or above the task file.
    """


@pytest.hookspec
def pytest_tau_message(item: pytest.Item, message: Message) -> None:
    """A message was added to a trajectory.

    Args:
        item: The test item being run.
        message: The message; for reading only.

    Use in conftest plugins: any conftest.py at or above the task file.
    """


@pytest.hookspec
def pytest_tau_simulation_finished(item: pytest.Item, simulation: Simulation) -> None:
    """A trial has ended and was graded; also one that ended in an error.

    Args:
        item: The test item being run.
        simulation: Its messages, ending and reward.

    Use in conftest plugins: any conftest.py at or above the task file.
    """
