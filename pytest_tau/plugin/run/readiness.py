"""Whether the trial of an item can start before pytest runs the item: by its markers, and by the fixtures it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..compat import fixture_info, is_own_fixture
from ..context.run_state import will_be_restored
from ..items import spec_of
from .asyncio_fixtures import is_async_fixture
from .fixture_effects import has_no_effect

if TYPE_CHECKING:
    import pytest

#: The fixtures that a trial is made of; a prefetched trial is made without pytest setting them up.
_OWN = frozenset(
    {
        *("_tau_spec", "tau_task", "tau_trial", "tau_env", "_tau_models", "tau_model"),
        *("tau_agent", "tau_user", "tau_simulation", "request"),
    }
)
_SKIP_MARKERS = ("skip", "skipif")


def blocking_fixtures(item: pytest.Item) -> list[str]:
    """Return the fixtures because of which a trial cannot be prefetched; an empty name for another reason."""
    info, spec = fixture_info(item), spec_of(item)
    if info is None or "tau_simulation" not in info.names_closure or spec is None:
        return [""]
    if will_be_restored(item):
        return [""]
    if any(item.get_closest_marker(name) for name in _SKIP_MARKERS) or _is_not_run(item):
        return [""]
    if spec.why_skipped() is not None:
        return [""]
    blocking, before = [], True
    for name in info.names_closure:
        definitions = info.name2fixturedefs.get(name, ())
        if name in _OWN:
            if any(not is_own_fixture(definition) for definition in definitions):
                blocking.append(str(name))
        # Fixtures are set up in this order: those after the trial do not affect it.
        elif before and not (definitions and _can_wait(item, definitions[-1])):
            blocking.append(str(name))
        before = before and name != "tau_simulation"
    return blocking


def _can_wait(item: pytest.Item, definition: Any) -> bool:
    """Return whether a trial may start before a fixture of its test is set up."""
    return is_ready(definition) and not is_async_fixture(item, definition)


def _is_not_run(item: pytest.Item) -> bool:
    """Return whether the item is marked as expected to fail without being run."""
    return any(marker.kwargs.get("run") is False for marker in item.iter_markers("xfail"))


def is_ready(definition: Any) -> bool:
    """Return whether a trial can start with the fixture now.

    It is a parameter, or of session scope and set up, or has no effect on the trial.
    """
    if has_no_effect(definition):
        return True
    # The third element of a cached result is the error of the setup.
    done = definition.cached_result is not None and definition.cached_result[2] is None
    return _is_shared(definition) and done


def _is_shared(definition: Any) -> bool:
    """Return whether the fixture is the same for every item of the session."""
    return definition.scope == "session" and definition.params is None


def waits_for_setup(item: pytest.Item, name: str) -> bool:
    """Return whether the fixture has session scope, so that the setup of the first item that uses it makes it ready."""
    info = fixture_info(item)
    definitions: list[Any] = list(info.name2fixturedefs.get(name, ())) if info else []
    if name in _OWN or not definitions or is_async_fixture(item, definitions[-1]):
        return False
    return _is_shared(definitions[-1])
