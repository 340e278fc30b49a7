"""ENV_ASSERTION: statements about the final environment hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..models import EnvAssertionCheck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Environment
    from ..models import EnvAssertion


def check_env_assertions(assertions: Sequence[EnvAssertion], final: Environment) -> list[EnvAssertionCheck]:
    """Run each assertion on the final environment; one that raises is not met.

    The reference lets a raising assertion escape and drops the simulation, which a failing agent gains from.
    """
    return [_check(assertion, final) for assertion in assertions]


def _check(assertion: EnvAssertion, final: Environment) -> EnvAssertionCheck:
    error = None
    try:
        value = final.run_function(assertion.env_type, assertion.func_name, assertion.arguments)
        met = value is assertion.assert_value
        if not isinstance(value, bool):
            error = f"Function {assertion.func_name} returned {type(value).__name__} instead of bool"
    except Exception as problem:  # noqa: BLE001 - the tool boundary: an assertion may raise anything
        met, error = False, f"{type(problem).__name__}: {problem}"
    return EnvAssertionCheck(env_assertion=assertion, met=met, reward=float(met), error=error)
