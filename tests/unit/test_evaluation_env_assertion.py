from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ToolServerError
from pytest_tau.evaluation.components.env_assertion import check_env_assertions

from .tiny import agent, call, check, graded, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain


def outcome(domain: Domain, assertions: list[Any], *messages: Any) -> tuple[float, list[bool], list[str | None]]:
    info = graded(domain, task({"env_assertions": assertions, "reward_basis": ["ENV_ASSERTION"]}), *messages)
    checks = info.env_assertions or []
    assert all(found.reward == float(found.met) for found in checks)
    return info.reward, [found.met for found in checks], [found.error for found in checks]


NAMED = check("named", item_id="lamp", name="Light")
ON, OFF = (check("phone_on", "user", value=value) for value in (True, False))


@pytest.mark.parametrize(
    ("assertions", "made", "met"),
    [
        pytest.param([NAMED], [], [False], id="unmet"),
        pytest.param([NAMED], [agent(call("rename", item_id="lamp", name="Light"))], [True], id="final-environment"),
        pytest.param([ON], [user(call("switch"))], [True], id="side-of-the-user"),
        pytest.param([OFF], [], [True], id="wanted-false"),
        pytest.param([OFF], [user(call("switch"))], [False], id="wanted-false-and-true"),
        pytest.param([OFF, NAMED], [], [True, False], id="one-unmet-makes-it-zero"),
        pytest.param([check("shows", "user", number=1)], [agent(call("count"))], [True], id="sides-in-step"),
    ],
)
def test_assertions_are_run_on_the_final_environment(
    domain: Domain, assertions: list[Any], made: list[Any], met: list[bool]
) -> None:
    assert outcome(domain, assertions, *made) == (float(all(met)), met, [None] * len(met))


def test_no_assertions_make_it_one(domain: Domain) -> None:
    assert outcome(domain, [])[:2] == (1.0, [])
    assert graded(domain, task({"reward_basis": ["ENV_ASSERTION"]})).reward == 1.0


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("named", {"item_id": "sofa", "name": "x"}, "ToolError: no item sofa"),
        ("named", {"item_id": "lamp"}, "TypeError: .*name"),
        ("half_done", {"item_id": "lamp"}, "RuntimeError: only half done"),
        ("counted", {}, "Function counted returned int instead of bool"),
        ("put_counter", {"value": 1}, "Function put_counter returned NoneType instead of bool"),
        ("put_counter", {"value": 13}, "ToolError: thirteen"),
        ("nowhere", {}, "ToolError: no function 'nowhere'"),
    ],
)
def test_one_that_raises_or_gives_no_bool_is_not_met(
    domain: Domain, value: bool, name: str, arguments: Any, told: str
) -> None:
    """An assertion that cannot be run is not met, for any expected value."""
    reward, met, (error,) = outcome(
        domain, [{"env_type": "assistant", "func_name": name, "arguments": arguments, "assert_value": value}]
    )
    assert (reward, met) == (0.0, [False])
    assert error is not None
    assert re.search(told, error)


def test_the_type_of_what_is_no_bool_is_noted_and_not_stored(domain: Domain) -> None:
    wanted = [check("counted"), check("half_done", item_id="lamp")]
    checks = graded(domain, task({"env_assertions": wanted, "reward_basis": ["ENV_ASSERTION"]})).env_assertions or []
    assert [each.returned for each in checks] == ["int", None]
    assert "returned" not in checks[0].model_dump()


def test_one_that_raises_does_not_stop_the_next(domain: Domain) -> None:
    assert outcome(domain, [check("nowhere"), check("phone_on", "user", value=False)])[1] == [False, True]


def test_the_check_carries_the_assertion(domain: Domain) -> None:
    info = graded(domain, task({"env_assertions": [check("phone_on", "user")]}))
    (found,) = info.env_assertions or []
    assert (found.env_assertion.func_name, found.env_assertion.env_type) == ("phone_on", "user")


def test_a_server_that_is_lost_is_no_unmet_assertion() -> None:
    class Lost:
        def run_function(self, *_: Any) -> Any:
            raise ToolServerError("the server has ended")

    (assertion,) = task({"env_assertions": [check("named")]}).criteria.env_assertions or []
    with pytest.raises(ToolServerError, match="the server has ended"):
        check_env_assertions([assertion], Lost())  # type: ignore[arg-type]
