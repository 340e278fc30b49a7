"""Building the context of a run's trials. What takes long to import is imported by this module alone."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pytest

from ...errors import TauError
from ...runner import add_to_sys_path, load_judge
from ..compat import log_handlers
from ..config import run_config
from ..hook_calls import domains_of_plugins, evaluators_of_plugins
from ..store.writer import BufferedResultWriter, ResultWriter
from ..wire import worker_input, worker_name
from .budget import Budget
from .model_checks import check_choices
from .run_context import RunContext
from .run_state import run_state
from .trial_logs import TrialLogs

if TYPE_CHECKING:
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
    settings = replace(settings, models=replace(settings.models, max_in_flight=calls))
    add_to_sys_path(settings.folder)
    budget = Budget.of(config, settings.models.budget, state.paths.shared)
    context = RunContext(settings, budget, _writer(config, state), unmatched=set(settings.task_patterns))
    context.logs = TrialLogs(partial(log_handlers, config))
    context.domain_specs = domains_of_plugins(config)
    context.evaluators = evaluators_of_plugins(config)
    try:
        context.judge = load_judge(settings.judge, settings.folder, settings.choice("judge"))
        context.source("agent", settings)
        context.source("user", settings)
        check_choices(settings)
    except TauError as error:
        raise pytest.UsageError(str(error)) from error
    evaluation = replace(settings.simulation.evaluation, judge=context.judge, evaluators=context.evaluators)
    context.config = replace(settings, simulation=replace(settings.simulation, evaluation=evaluation))
    return context


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
    # More workers than calls are refused if the number is given (``distributed.setup``); else each gets one.
    return max(1, calls // given.workers + (given.place < calls % given.workers))
