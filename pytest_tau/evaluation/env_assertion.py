"""ENV_ASSERTION: statements about the final environment hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ToolError
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
        if not isinstance(value, bool):
            raise ToolError(f"Function {assertion.func_name} returned {type(value).__name__} instead of bool")  # noqa: TRY301
        met = value == assertion.assert_value
    except Exception as problem:  # noqa: BLE001 - the tool boundary: an assertion may raise anything
        met, error = False, f"{type(problem).__name__}: {problem}"
    return EnvAssertionCheck(env_assertion=assertion, met=met, reward=float(met), error=error)
