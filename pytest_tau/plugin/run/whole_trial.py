"""The trial of a task's item as one fixture: pytest sets up one instead of eight, which takes half of the time.

It is used if each fixture of the trial is this plugin's own: then only the time differs.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from ...models import clone
from ..compat import active_fixtures, expand_parameters, fixture_info, is_own_fixture, with_whole_trial
from ..items import item_state
from .models import affordable_models
from .setup import make_environment, make_participant
from .tau_trial import TauTrial
from .trials import TrialFuture, run_trial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Simulation

#: The fixtures of a trial, in the order of its parts, and the one that runs it.
_PARTS = ("_tau_spec", "tau_trial", "tau_env", "_tau_models", "tau_agent", "tau_user", "tau_task", "tau_simulation")


def request_whole(_tau_whole_trial: Any) -> None:
    """Request the fixture, so that pytest finds its definition; this function is not run."""


def whole_fixtures(item: pytest.Function, collector: pytest.Module) -> Any:
    """Return the fixtures of an item whose trial is one fixture; its own, if another plugin may have a part in it.

    Args:
        item: An item of tasks, as pytest made it.
        collector: Its collector, whose module has ``request_whole``.
    """
    info, options = fixture_info(item), item.config.option
    found = info.name2fixturedefs
    foreign = [each for name in found for each in found[name] if not is_own_fixture(each)]
    if (
        hasattr(item, "callspec")
        or (options.setupshow or options.setuponly or options.setupplan)
        or any(len(found.get(name, ())) != 1 or not is_own_fixture(found[name][0]) for name in _PARTS)
        or any(not {*each.argnames}.isdisjoint(_PARTS) for each in foreign)
    ):
        return info
    if not item.config.pluginmanager.is_registered(sys.modules[__name__]):
        item.config.pluginmanager.register(sys.modules[__name__], "tau-whole-trial")
    whole = expand_parameters(collector, request_whole.__name__)
    return with_whole_trial(info, fixture_info(whole[0])) if len(whole) == 1 else info


@pytest.fixture
def _tau_whole_trial(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    """Run the trial of a task's item, as ``tau_simulation`` does with a fixture for each part."""
    __tracebackhide__ = True
    item, state = request.node, item_state(request.node)
    if not active_fixtures(item).keys().isdisjoint(_PARTS):
        # Another fixture or a hook has requested a part, and may have changed it.
        spec, trial, env, models, agent, user = (request.getfixturevalue(name) for name in _PARTS[:6])
        yield run_trial(request, TrialFuture(item, spec, int(trial), env, models, agent, user, trial))
        return
    whole: TrialFuture = state.prefetched or _trial(item)
    parts = (whole.environment, whole.models, whole.agent, whole.user, clone(whole.spec.task))
    item.funcargs.update(zip(_PARTS[:-1], (whole.spec, TauTrial.of(whole.number, request), *parts), strict=True))
    state.whole = whole  # a part that is requested from now on is that of this trial
    try:
        yield run_trial(request, whole)
    finally:
        state.whole = None
        whole.environment.close()


def _trial(item: Any) -> TrialFuture:
    spec = item.task_spec
    environment = make_environment(item, spec)
    try:
        models = affordable_models(item, spec, item.trial, environment)
        agent, user = make_participant("agent", item, spec), make_participant("user", item, spec)
    except BaseException:
        environment.close()
        raise
    return TrialFuture(item, spec, item.trial, environment, models, agent, user)
