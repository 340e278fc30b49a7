"""Fixtures that may change what tools see in addition to their arguments: the time, environment variables, patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..compat import fixture_info, is_own_fixture
from .compat import only_makes_loops

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

#: Modules of pytest with fixtures that change nothing which tools see.
_HARMLESS = frozenset(f"_pytest.{name}" for name in ("cacheprovider", "capture", "fixtures", "logging", "recwarn"))
_HARMLESS |= frozenset(f"_pytest.{name}" for name in ("doctest", "junitxml", "legacypath", "subtests", "tmpdir"))


def changes_world(definition: Any) -> bool:
    """Return whether a fixture may change what tools see; None for an unknown one.

    One that overrides a fixture of this package makes a part of the trial.
    """
    if definition is None:
        return True
    name, function = str(definition.argname), definition.func
    if name.startswith(("tau_", "_tau_")) or function.__module__ in _HARMLESS or has_no_effect(definition):
        return False
    return not is_own_fixture(definition)


#: Autouse fixtures of other plugins that have no effect on a trial, by module and name.
_WITHOUT_EFFECT = frozenset({("pytest_randomly", "faker_seed")})


def has_no_effect(definition: Any) -> bool:
    """Return whether a fixture is a parameter, makes event loops, or is known to have no effect on a trial."""
    function = definition.func
    if function.__name__ == "get_direct_param_fixture_func" or only_makes_loops(definition):
        return True
    return (function.__module__, function.__name__) in _WITHOUT_EFFECT


def fixtures_before_trial(item: pytest.Item) -> Iterator[Any]:
    """Yield the definitions of the fixtures that are set up for an item, before its trial if it has one.

    None stands for one that a plugin has added by its name, for its marker.
    """
    info = fixture_info(item)
    for name in info.names_closure if info is not None else ():
        if name == "tau_simulation":
            return
        if name not in ("request", "_tau_spec", "tau_trial"):
            yield (info.name2fixturedefs.get(name) or [None])[-1]
