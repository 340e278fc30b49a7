"""Checks of a run's models, before the first of them is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ...errors import ConfigurationError
from ...participants import BY_MODEL
from ...participants.programs import check_server, is_server
from ..wire import is_worker

if TYPE_CHECKING:
    from ...chat import Role
    from ...runner import RunConfig
    from .run_context import RunContext
    from .run_state import RunState

_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def check_choices(config: RunConfig) -> None:
    """Check that participants have the models that they need.

    Raises:
        ConfigurationError: One lacks its model; names the option.
    """
    agent, user = config.agent_spec, config.user_spec
    by_model = isinstance(agent, str) and agent in BY_MODEL
    if by_model and config.choice("agent") is None:
        raise ConfigurationError(f"agent {agent!r} needs a model: add --tau-agent-llm MODEL")
    if user == "llm" and config.choice("user") is None:
        raise ConfigurationError("user 'llm' needs a model: add --tau-user-llm MODEL")
    if by_model and user == "scripted" and config.user is None:
        raise ConfigurationError(
            "an agent with a model needs a user that answers it: add --tau-user-llm MODEL, or --tau-user scripted, "
            "which needs no model (--tau-user gold plays the reference actions and ignores what the agent says)"
        )


def check_access(config: pytest.Config, state: RunState, context: RunContext) -> None:
    """Check the agent's server, keys, names of models and prices that a budget needs, before the first task.

    Raises:
        pytest.UsageError: One of them; names the variable or the option.
    """
    run = context.config
    if state.models_checked:
        return
    state.models_checked = True
    check_agent_server(config, context)
    quiet = config.option.collectonly or is_worker(config) or run.models.tape == "replay"
    # Models that a plugin provides may need neither keys nor prices.
    if quiet or len(config.hook.pytest_tau_make_model.get_hookimpls()) > 1:
        return
    choices = {role: choice for role in _ROLES if (choice := run.choice(role)) is not None}
    if not choices:
        return
    from ...integrations.default_model import check_model

    for role, choice in choices.items():
        try:
            check_model(choice.name, choice.args, priced=run.models.budget is not None)
        except ConfigurationError as error:
            raise pytest.UsageError(f"--tau-{role}-llm: {error}") from error


def check_agent_server(config: pytest.Config, context: RunContext) -> None:
    """Check that an agent that is a server of its own can be spoken to.

    Raises:
        pytest.UsageError: It cannot.
    """
    agent = context.config.agent_spec
    if not is_server(agent) or config.option.collectonly or is_worker(config):
        return
    try:
        check_server(agent)
    except ConfigurationError as error:
        raise pytest.UsageError(str(error)) from error
