"""The makers of participants: a parameter, a fixture or a hook of a test, if not what marker or settings name."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any

import pytest

from .compat import fixture_info, is_own_fixture
from .items import spec_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ..participants import Side
    from ..runner import RunConfig

SIDES: tuple[Side, ...] = ("agent", "user")


def maker(side: Side, hooks: Any, fixtures: Mapping[str, Any], parameters: Collection[str] = ()) -> str | None:
    """Return what makes the participants of a side; None if settings name them.

    Args:
        side: The side.
        hooks: The hooks of the test or its collector.
        fixtures: The definitions of the test's fixtures, by name.
        parameters: Names of fixtures whose values the test gives itself.
    """
    fixture, hook = f"tau_{side}", f"pytest_tau_make_{side}"
    if fixture in parameters:
        return f"parameter {fixture}"
    definitions = fixtures.get(fixture, ())
    if not all(map(is_own_fixture, definitions)):
        return f"fixture {fixture}"
    if len(getattr(hooks, hook).get_hookimpls()) > 1:
        return f"hook {hook}"
    return None


def check_marker(arguments: Mapping[str, Any], fixtures: Mapping[str, Any], parameters: Collection[str]) -> None:
    """Check that the participants that a test's markers name are those of its trials.

    Args:
        arguments: The arguments of the markers ``tau`` of the test.
        fixtures: The definitions of the test's fixtures, by name.
        parameters: Names of fixtures whose values the test gives itself.

    Raises:
        pytest.UsageError: A fixture or a parameter makes the participant.
    """
    for side in SIDES:
        if side not in arguments:
            continue
        name, definitions = f"tau_{side}", fixtures.get(f"tau_{side}", ())
        # A fixture that requests the one that it overrides is given the participant that the marker names.
        wraps = all(name in definition.argnames for definition in definitions[1:])
        maker_kind = "parameter" if name in parameters else None if wraps else "fixture"
        if maker_kind is not None:
            problem = f"{side}= has no effect, because the {maker_kind} {name} makes the {side}"
            raise pytest.UsageError(f"marker tau: {problem}: remove one of the two")


def named_participant(side: Side, config: RunConfig) -> Any:
    """Return the participant that settings or a marker name."""
    return config.agent_spec if side == "agent" else config.user_spec


def maker_of(side: Side, item: pytest.Item) -> str | None:
    """Return a short text that says which fixture or hook makes a side of a trial; None if it is the named one."""
    info, call = fixture_info(item), getattr(item, "callspec", None)
    return maker(side, item.ihook, info.name2fixturedefs if info else {}, call.params if call else ())


def own_parameters(test: pytest.Item, *, direct: bool = False) -> set[str]:
    """Return the names that the test's own ``parametrize`` markers give values to.

    Args:
        test: The test, or its definition.
        direct: Exclude those whose values are parameters of a fixture.
    """
    parameters: set[str] = set()
    for marker in test.iter_markers("parametrize"):
        names = marker.args[0] if marker.args else marker.kwargs.get("argnames", ())
        indirect = marker.args[2] if len(marker.args) > 2 else marker.kwargs.get("indirect", False)
        if not (direct and indirect):
            parameters.update(name.strip() for name in (names.split(",") if isinstance(names, str) else names))
    return parameters


def inputs_of(item: pytest.Item) -> dict[str, str]:
    """Return the parameters of a test that have no part in its trial, each with its value as a short text.

    No fixture requests them, so that only the test itself uses them. What a hook or ``tau_run`` does with them is not
    known.
    """
    info, call = fixture_info(item), getattr(item, "callspec", None)
    if info is None or call is None or "tau_run" in info.names_closure:
        return {}
    if any((maker_of(side, item) or "").startswith("hook") for side in SIDES):
        return {}
    requested = {
        name
        for definitions in info.name2fixturedefs.values()
        for definition in definitions
        for name in definition.argnames
    }
    names = (own_parameters(item, direct=True) & call.params.keys()) - requested
    return {name: reprlib.repr(call.params[name]) for name in sorted(names) if not name.startswith("tau_")}


def participant_of(side: Side, item: pytest.Item) -> str:
    """Return a short text that says who plays a side in a trial: its name, or what makes it."""
    spec = spec_of(item)
    assert spec is not None, "the item runs a trial"
    participant = named_participant(side, spec.config)
    name = (
        participant
        if isinstance(participant, str)
        else getattr(participant, "__qualname__", type(participant).__name__)
    )
    maker_text = maker_of(side, item)
    if maker_text is None:
        return name
    # A hook may return None for a test.
    return f"{maker_text}, else {name}" if maker_text.startswith("hook") else maker_text
