"""The marker ``tau``: the parametrisation of test functions that run on tasks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ...run_settings import MOST_TRIALS
from ..compat import fixture_info
from ..context.run_state import run_state
from ..items import marker_arguments, tau_markers
from ..makers import check_marker, own_parameters
from .collectors import TaskCollector, usage_error
from .participants import settle_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..context.run_context import RunContext
    from ..items import TaskSpec


#: The number of a trial among the ids of a test's parameters.
_TRIAL = re.compile(r"(?:^|-)trial-(\d+)(?=[-\]])")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_names(value: Any) -> bool:
    return _is_name(value) or (isinstance(value, list | tuple) and all(map(_is_name, value)))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_participant(value: Any) -> bool:
    return _is_name(value) or callable(value)


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


#: The keywords of the marker: the expected value in words, and its check.
_MARKER_KEYS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "domain": ("a domain's name", _is_name),
    "tasks": ("an id or a glob, or a list of them", _is_names),
    "split": ("a split's name", _is_name),
    "num_tasks": ("a whole number of at least 1", _is_count),
    "trials": (
        f"a whole number of at least 1 and at most {MOST_TRIALS:,}",
        lambda value: _is_count(value) and value <= MOST_TRIALS,
    ),
    "at_least": ("the share of the trials that must pass, above 0 and at most 1, such as 0.8", _is_share),
    "stop_early": ("True or False", lambda value: isinstance(value, bool)),
    "agent": ("a value of --tau-agent, a class or a function", _is_participant),
    "user": ("a value of --tau-user, a class or a function", _is_participant),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests that use the tau fixtures, by their marker and the run's settings."""
    if "_tau_spec" not in metafunc.fixturenames or isinstance(metafunc.definition.parent, TaskCollector):
        return
    from ...errors import TauError
    from ..context.build import ensure_context
    from ..run.fixture_effects import changes_world, fixtures_before_trial

    try:
        arguments = _checked_arguments(metafunc.definition)
        states = not any(map(changes_world, fixtures_before_trial(metafunc.definition)))
        specs = _marked_specs(metafunc.config, ensure_context(metafunc.config), arguments, checks_states=states)
        fixtures, parameters = fixture_info(metafunc.definition).name2fixturedefs, own_parameters(metafunc.definition)
        check_marker(arguments, fixtures, parameters)
        specs = settle_user(specs, metafunc.definition.ihook, fixtures, parameters)
        specs = list(specs)
        metafunc.config.hook.pytest_tau_plan(specs=specs, test=metafunc.definition)
    except (TauError, pytest.UsageError) as error:
        test, collector = metafunc.definition, metafunc.definition.parent
        assert isinstance(collector, pytest.Collector), "tests are collected from something"
        problem = usage_error(collector, error)
        raise collector.CollectError(f"{test.nodeid}: {problem}") from error
    metafunc.parametrize("_tau_spec", specs, ids=[_spec_id(spec) for spec in specs], indirect=True)
    if "tau_trial" in metafunc.fixturenames:
        trials = range(max(specs[0].config.trials if specs else 1, _named_trials(metafunc.definition)))
        metafunc.parametrize("tau_trial", trials, ids=[f"trial-{trial}" for trial in trials], indirect=True)


def _spec_id(spec: TaskSpec) -> str:
    """Return the id of a task among the parameters of a test, after that of its variant."""
    from ...runner import item_id

    return "-".join([*spec.parameters, item_id(spec.task.id)])


def _named_trials(definition: pytest.Function) -> int:
    """Return how many trials there must be to have the last one of the test that node ids on the command line name."""
    folder, test = Path(definition.config.invocation_params.dir), definition.nodeid.partition("::")[2]
    arguments = [argument.partition("::") for argument in definition.config.args]
    parts = [node.partition("[") for path, _, node in arguments if folder / path == definition.path]
    return max((int(trial) + 1 for name, _, ids in parts if name == test for trial in _TRIAL.findall(ids)), default=0)


def _checked_arguments(test: pytest.Item) -> dict[str, Any]:
    """Return the arguments of a test's markers; each marker is checked by itself."""
    from ...errors import suggestion

    for marker in tau_markers(test):
        if marker.args:
            raise pytest.UsageError(f"marker tau: expected keyword arguments, such as domain={marker.args[0]!r}")
        for key, value in marker.kwargs.items():
            if key not in _MARKER_KEYS:
                hint = suggestion(key, _MARKER_KEYS)
                raise pytest.UsageError(f"marker tau has no {key!r}{hint} (it has {', '.join(_MARKER_KEYS)})")
            expected, fits = _MARKER_KEYS[key]
            if not fits(value):
                raise pytest.UsageError(f"marker tau: {key}: expected {expected}, got {value!r}{_hint(key, value)}")
    arguments = marker_arguments(test)
    if arguments.get("stop_early") and "at_least" not in arguments:
        raise pytest.UsageError("marker tau: stop_early: needs at_least, the share of the trials that must pass")
    return arguments


def _hint(key: str, value: Any) -> str:
    """Return a hint at a percentage that was meant as a share."""
    percent = key == "at_least" and isinstance(value, int | float) and 1 < value <= 100
    return f": write {value / 100:g} for {value:g} %" if percent else ""


def _marked_specs(
    pytest_config: pytest.Config, context: RunContext, wanted: dict[str, Any], *, checks_states: bool
) -> list[TaskSpec]:
    config = context.config
    name = wanted.get("domain") or (config.domains[0] if len(config.domains) == 1 else None)
    if name is None:
        raise pytest.UsageError(
            "no domain given: mark the test with @pytest.mark.tau(domain=…), or add --tau-domain NAME"
        )
    fields = {key: wanted[key] for key in ("split", "num_tasks", "trials", "agent", "user") if key in wanted}
    if "trials" in fields:
        fields["trials"] *= run_state(pytest_config).repetitions
    config = replace(config, domains=(name,), **fields)
    context.source("agent", config)
    context.source("user", config)
    domain, patterns = context.domain(name), wanted.get("tasks", ())
    from ...errors import suggestion
    from ...runner import select, unmatched
    from .tasks import TaskSelector

    selector = TaskSelector(pytest_config, context)
    tasks, patterns = domain.tasks(selector.split(config)), [patterns] if isinstance(patterns, str) else patterns
    for pattern in unmatched(tasks, patterns):
        split = f" in its split {config.split!r}" if config.split is not None else ""
        hint = suggestion(pattern, [task.id for task in tasks])
        raise pytest.UsageError(f"marker tau: tasks: no task of {name!r}{split} matches {pattern!r}{hint}")
    return selector.select(select(tasks, patterns), domain, config, checks_states=checks_states)
