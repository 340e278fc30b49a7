"""Building the context of a run's trials. What takes long to import is imported by this module alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from ...errors import TauError, unknown_name
from ...participants.personas import BEHAVIOUR
from ...runner import add_to_sys_path, load_judge
from ..capabilities import gates_of
from ..compat import log_handlers
from ..config import run_config
from ..hook_calls import (
    behaviours_of_plugins,
    domains_of_plugins,
    evaluators_of_plugins,
    indexes_of_plugins,
    missing_domain,
)
from ..options import OptionValues
from ..store.writer import BufferedResultWriter, ResultWriter
from ..wire import worker_input, worker_name
from .budget import Budget
from .model_checks import check_choices, check_texts, check_user_options
from .run_context import RunContext
from .run_state import run_state
from .trial_logs import TrialLogs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...participants.behaviours import Behaviour
    from ...runner import RunConfig
    from .run_state import RunState


def ensure_context(config: pytest.Config) -> RunContext:
    """Return the context of the run's trials, built at the first call.

    Raises:
        pytest.UsageError: A value of a setting cannot be used.
    """
    state = run_state(config)
    if state.context is None:
        state.context = _build(config, state)
        config.add_cleanup(state.context.close)
    return state.context


def _build(config: pytest.Config, state: RunState) -> RunContext:
    """Read the settings, ask the plugins, load participants and judge.

    Raises:
        pytest.UsageError: A value of a setting cannot be used.
    """
    settings = run_config(config)
    calls = _share_of_calls(config, settings.models.max_in_flight)
    shares = {name: _share_of_calls(config, limit) for name, limit in settings.models.per_provider.items()}
    settings = replace(settings, models=replace(settings.models, max_in_flight=calls, per_provider=shares))
    add_to_sys_path(settings.folder)
    budget = Budget.of(config, settings.models.budget, state.paths.shared)
    context = RunContext(settings, budget, _writer(config, state), unmatched=set(settings.task_patterns))
    context.logs = TrialLogs(partial(log_handlers, config))
    context.log_folder = _log_folder(config)
    context.gates_cost = any(gate.name == "cost" for gate in gates_of(config))
    context.domain_specs = domains_of_plugins(config)
    context.missing_domain = partial(missing_domain, config)
    context.evaluators = evaluators_of_plugins(config)
    behaviours = _behaviours(config, settings)
    try:
        context.judge = load_judge(
            settings.judge, settings.folder, settings.choice("judge"), settings.simulation.protocol
        )
        context.source("agent", settings)
        context.source("user", settings)
        check_choices(settings)
        if settings.agent is not None or settings.user is not None or settings.simulation.solo:
            check_user_options(settings)
        check_texts(settings)
    except TauError as error:
        raise pytest.UsageError(str(error)) from error
    retrieval = settings.simulation.retrieval
    if retrieval is not None:
        retrieval = replace(retrieval, indexes=indexes_of_plugins(config))
    evaluation = replace(settings.simulation.evaluation, judge=context.judge, evaluators=context.evaluators)
    context.config = replace(
        settings,
        simulation=replace(settings.simulation, evaluation=evaluation, retrieval=retrieval, behaviours=behaviours),
    )
    return context


def _behaviours(config: pytest.Config, settings: RunConfig) -> Mapping[str, Behaviour]:
    """Return the behaviours of users, with those of plugins.

    Raises:
        pytest.UsageError: The persona names an unknown one.
    """
    found = {**settings.simulation.behaviours, **behaviours_of_plugins(config)}
    for name in settings.simulation.user_persona.get(BEHAVIOUR, ()):
        if name not in found:
            label = OptionValues(config).label("user_persona")
            raise pytest.UsageError(f"{label}: {unknown_name('behaviour', name, found)}")
    return found


def _log_folder(config: pytest.Config) -> Path | None:
    """Return the folder for the logs of trials, made if it is missing; None for no logs.

    Raises:
        pytest.UsageError: It cannot be made.
    """
    values = OptionValues(config)
    if not values.given("logs"):
        return None
    folder: Path = values.get("logs").absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{values.label('logs')}: {folder} cannot be made: {error.strerror}") from None
    return folder


def _writer(config: pytest.Config, state: RunState) -> ResultWriter:
    given = worker_input(config)
    if given is not None and given.remote:
        return BufferedResultWriter(state.paths, state.counts)
    return ResultWriter(state.paths, state.counts, worker_name(config))


def _share_of_calls(config: pytest.Config, calls: int) -> int:
    """Return the number of model calls that this process may make at the same time."""
    given = worker_input(config)
    if given is None:
        return calls
    # More workers than calls are refused if the number is given (``distributed.controller``); else each gets one.
    return max(1, calls // given.workers + (given.place < calls % given.workers))
