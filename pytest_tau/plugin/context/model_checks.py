"""Checks of a run's models, before the first of them is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ...errors import ConfigurationError
from ...participants import BY_MODEL
from ...participants.programs import check_server, is_server
from ..wire import is_worker

if TYPE_CHECKING:
    from ...environment.retrieval import Retriever
    from ...participants import Side
    from ...protocol import PromptName
    from ...runner import RunConfig
    from .run_context import RunContext
    from .run_state import RunState


def check_choices(config: RunConfig) -> None:
    """Check that participants have the models that they need.

    Raises:
        ConfigurationError: One lacks its model; names the option.
    """
    agent, user = config.agent_spec, config.user_spec
    if isinstance(agent, str) and agent in BY_MODEL and config.choice("agent") is None:
        raise ConfigurationError(f"agent {agent!r} needs a model: add --tau-agent-llm MODEL")
    if isinstance(user, str) and user in BY_MODEL and config.choice("user") is None:
        raise ConfigurationError(f"user {user!r} needs a model: add --tau-user-llm MODEL")


#: The built-in users that have nothing to say of their own.
_WITHOUT_MANNER = {
    "gold": "makes the reference calls",
    "noop": "says nothing but goodbye",
    "human": "is a person",
    "dummy": "is not there in solo mode",
}


def check_user_options(config: RunConfig) -> None:
    """Check that the options of simulated users apply to the user.

    Raises:
        ConfigurationError: One does not; names the option.
    """
    user, simulation = config.user_spec, config.simulation
    replayed = any(isinstance(spec, str) and spec.startswith("replay:") for spec in (user, config.agent_spec))
    reason = "repeats a recording" if replayed else _WITHOUT_MANNER.get(user) if isinstance(user, str) else None
    if simulation.user_persona and reason is not None:
        raise ConfigurationError(
            f"--tau-user-persona: user {str(user)!r} {reason} and cannot take a persona: use --tau-user scripted or "
            "--tau-user-llm MODEL"
        )


#: The prompts of the built-in participants with a model, by side and name.
_PROMPTS: dict[tuple[str, str], tuple[PromptName, ...]] = {
    ("agent", "llm"): ("agent",),
    ("agent", "llm-solo"): ("agent_solo",),
    ("agent", "llm-gt"): ("agent_gt",),
    ("agent", "llm-gt-noargs"): ("agent_gt",),
    **{("agent", name): ("agent",) for name in ("act", "react", "few-shot")},
    **{("user", name): ("user", "user_tools") for name in ("llm", "react", "verify", "reflection")},
}


def check_texts(config: RunConfig) -> None:
    """Check that the official texts have the prompts of the participants.

    Raises:
        ConfigurationError: One is missing; says where was looked.
    """
    simulation = config.simulation
    texts = simulation.protocol.texts
    if texts is None:
        return
    agent = "llm-solo" if simulation.solo and config.agent_spec == "llm" else config.agent_spec
    named: list[tuple[Side, Any]] = [("agent", agent), ("user", config.user_spec)]
    for side, name in named:
        prompting = simulation.prompting.get(side)
        if isinstance(name, str) and (prompting is None or prompting.prompt is None):
            for prompt in _PROMPTS.get((side, name), ()):
                texts.prompt(prompt)
    if simulation.solo and texts.done is None:
        raise texts.missing("tool 'done'", "done")


def check_access(config: pytest.Config, state: RunState, context: RunContext) -> None:
    """Check the agent's server, keys, names of models and prices that a budget needs, before the first task.

    A worker checks them if its controller could not: it collects no task files and marked tests.

    Raises:
        pytest.UsageError: One of them; names the variable or the option.
    """
    run = context.config
    if state.models_checked:
        return
    state.models_checked = True
    check_agent_server(config, context)
    checked = is_worker(config) and bool(state.selection)
    quiet = config.option.collectonly or checked or run.models.tape == "replay"
    if not quiet:
        _check_context_budgets(run)
    # Models that a plugin provides may need neither keys nor prices.
    if quiet or len(config.hook.pytest_tau_make_model.get_hookimpls()) > 1:
        return
    if not run.choices:
        return
    from ...integrations.default_model import check_model

    priced = run.models.has_budget
    for role, choice in run.choices.items():
        try:
            check_model(choice.name, choice.args, priced=priced, prices=run.models.prices)
        except ConfigurationError as error:
            raise pytest.UsageError(f"--tau-{role}-llm: {error}") from error


def _check_context_budgets(run: RunConfig) -> None:
    """Check that the tokens of a side with a context budget can be counted.

    Raises:
        pytest.UsageError: They cannot.
    """
    from ...chat.context_window import check_tiktoken

    for side, prompting in run.simulation.prompting.items():
        if prompting.context is not None and run.choice(side) is not None:
            try:
                check_tiktoken()
            except ConfigurationError as error:
                raise pytest.UsageError(f"--tau-{side}-context: {error}") from error


def check_retrieval(config: pytest.Config, context: RunContext, retriever: Retriever) -> None:
    """Check keys and names of the models that a retrieval variant calls, before the first task.

    Raises:
        ConfigurationError: One of them cannot be called.
    """
    quiet = config.option.collectonly or is_worker(config) or context.config.models.tape == "replay"
    if quiet or not retriever.models:
        return
    from ...integrations.default_embeddings import check_retrieval_models

    check_retrieval_models(retriever.name, retriever.models)


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
