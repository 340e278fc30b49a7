"""The setup of a trial: its environment and, by the hooks, its participants and models."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ...world import WORLDS
from ..compat import note_fixture_error
from ..context.run_state import require_context
from ..hook_calls import first_call
from ..items import home_of, item_state, spec_of
from .fixture_effects import changes_world

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ...chat import ChatModel, TrialModels
    from ...environment import Environment
    from ...models import Task
    from ...participants import ParticipantSource, Side
    from ...participants.own_loop import AgentTrial
    from ...runner import Trial
    from ..context.run_context import RunContext
    from ..hook_calls import HookCall
    from ..items import TaskSpec


def register(config: pytest.Config) -> None:
    """Register the hooks of this module."""
    config.pluginmanager.register(sys.modules[__name__], "tau-setup")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Note that a fixture may change what tools see.

    Make ``SystemExit`` and the like, such as of a hook, an error of its trial alone; only for fixtures of trials.
    """
    if changes_world(fixturedef):
        WORLDS.enter(fixturedef, lasts=fixturedef.scope == "session")
    try:
        return (yield)
    except (Exception, KeyboardInterrupt, pytest.skip.Exception, pytest.fail.Exception, pytest.exit.Exception):
        raise
    except BaseException as error:
        if not fixturedef.argname.startswith(("tau_", "_tau_")):
            raise
        found = RuntimeError(f"{type(error).__name__}: {error}")
        note_fixture_error(fixturedef, request, found)
        raise found from error


def pytest_fixture_post_finalizer(fixturedef: pytest.FixtureDef[Any]) -> None:
    """Note that a fixture no longer changes what tools see."""
    if WORLDS.current is not None:
        WORLDS.leave(fixturedef)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Drop the trial of a test that is run again.

    Skip that of a variant that a capability cannot make of its task, unless a stored one is reused.
    """
    spec = spec_of(item)
    if spec is None:
        return
    state = item_state(item)
    if state.trial is not None and state.trial.is_taken:
        state.drop()
    if spec.skipped is None or state.is_restored:
        return
    if (reason := spec.why_skipped()) is not None:
        pytest.skip(reason)


def make_environment(item: pytest.Item, spec: TaskSpec) -> Environment:
    """Return a fresh environment for a trial.

    Raises:
        TaskFormatError: The initial state cannot be applied; names the file.
    """
    from ...errors import TaskFormatError

    settings = spec.config.simulation
    try:
        return spec.domain.environment(spec.task, settings.solo, settings.policy, retrieval=settings.retrieval)
    except TaskFormatError as error:
        file = spec.domain.file_of(spec.task) or home_of(item)
        raise TaskFormatError(error.problem, file=file, task_id=error.task_id, field=error.field) from None


def make_trial(
    item: pytest.Item,
    spec: TaskSpec,
    number: int,
    environment: Environment,
    models: TrialModels,
    agent_trial: AgentTrial | None = None,
) -> Trial:
    """Return a trial of an item.

    Args:
        item: The test item.
        spec: Task, domain and settings.
        number: The number of the trial, from 0.
        environment: The databases and tools.
        models: The models that are called.
        agent_trial: What the test's own fixtures have used of the trial, if any.
    """
    from ...runner import Trial

    return Trial(
        spec.task,
        spec.domain,
        environment,
        spec.config.simulation,
        models,
        number,
        require_context(item.config).seed(number),
        make_tools=_tools_of_plugins(item),
        agent_trial=agent_trial,
        test=item.nodeid,
    )


def _tools_of_plugins(item: pytest.Item) -> Callable[[str, Sequence[Any]], Any]:
    """Return a function that asks the hooks of an item for tools as objects of a framework."""

    def make(name: str, tools: Sequence[Any]) -> Any:
        return item.ihook.pytest_tau_tools_for(name=name, tools=list(tools))

    return make


def make_participant(side: Side, item: pytest.Item, spec: TaskSpec) -> Any:
    """Return the participant of a side in a trial, by the hooks.

    Raises:
        ConfigurationError: A hook returned something that cannot be one; names its file.
    """
    hook = item.ihook.pytest_tau_make_agent if side == "agent" else item.ihook.pytest_tau_make_user
    if len(hook.get_hookimpls()) == 1:
        return hook(item=item, task=spec.task, domain=spec.domain, config=spec.config)
    task = task_for(hook, spec.task, own=1)
    call = first_call(item.config, hook, item=item, task=task, domain=spec.domain, config=spec.config)
    assert call is not None, "the plugin's own implementation returns a participant"
    _check_participant(call, side, spec)
    return call.result


def _check_participant(call: HookCall, side: Side, spec: TaskSpec) -> None:
    from ...errors import ConfigurationError
    from ...participants import ParticipantSource, load_source

    if not isinstance(call.result, ParticipantSource):
        try:
            load_source(call.result, side, spec.config.folder)
        except ConfigurationError as error:
            raise ConfigurationError(f"{call.hook} ({call.place}): {error}") from None


def sources_of(
    context: RunContext, spec: TaskSpec, agent: Any, user: Any
) -> tuple[ParticipantSource, ParticipantSource]:
    """Return the sources of the agent and the user of a trial, which settings, hooks or fixtures have made.

    Raises:
        ConfigurationError: One of them cannot be a participant.
    """
    from ...participants import ParticipantSource, load_source

    def source(side: Side, made: Any) -> ParticipantSource:
        return made if isinstance(made, ParticipantSource) else load_source(made, side, spec.config.folder)

    agent, user = source("agent", agent), source("user", user)
    is_default = spec.config.user is None and user is context.source("user", spec.config)
    if agent.name == "gold" and spec.config.own_agent and is_default:
        # A hook or a fixture could have made another agent; here it has not.
        user = context.source("user", replace(spec.config, user="gold"))
    return agent, user


def task_for(hook: Any, task: Task, *, own: int = 0) -> Task:
    """Return a task to call a hook with: a copy, if anyone but this plugin implements the hook.

    Args:
        hook: The hook.
        task: The task, which is graded.
        own: The number of this plugin's own implementations.
    """
    from ...models import clone

    return clone(task) if len(hook.get_hookimpls()) > own else task


@pytest.hookimpl(trylast=True)
def pytest_tau_make_agent(item: pytest.Item, config: Any) -> Any:
    """Return the agent that the marker, the command line or the ini names, else the default one."""
    return _source(item, config, "agent")


@pytest.hookimpl(trylast=True)
def pytest_tau_make_user(item: pytest.Item, config: Any) -> Any:
    """Return the user that the marker, the command line or the ini names, else the default for the agent."""
    return _source(item, config, "user")


@pytest.hookimpl(trylast=True)
def pytest_tau_make_model(item: pytest.Item) -> ChatModel:
    """Return the default chat model."""
    return require_context(item.config).default_chat()


def _source(item: pytest.Item, config: Any, side: Any) -> Any:
    return require_context(item.config).source(side, config)
