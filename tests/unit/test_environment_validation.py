from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import check_task
from pytest_tau.errors import TaskFormatError
from pytest_tau.models import REWARD_TYPES

from . import tiny
from .tiny import action, check, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain


def test_a_task_that_fits(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [action("rename", item_id="lamp", name="x"), action("switch", "user")],
            "env_assertions": [check("named", item_id="lamp", name="x"), check("phone_on", "user"), check("look")],
            "reward_basis": list(REWARD_TYPES),
        },
        state={"initialization_actions": [{"env_type": "assistant", "func_name": "put_counter"}]},
    )
    check_task(wanted, domain.spec, REWARD_TYPES)
    check_task(task(), domain.spec, REWARD_TYPES)


@pytest.mark.parametrize(
    ("criteria", "state", "field", "told"),
    [
        (
            {"reward_basis": ["DB", "POLITENESS"]},
            None,
            "evaluation_criteria.reward_basis",
            "unknown reward basis 'POLITENESS'",
        ),
        (
            {"actions": [action("rename"), action("renam")]},
            None,
            "evaluation_criteria.actions.1.name",
            "unknown tool 'renam'; did you mean 'rename'",
        ),
        ({"actions": [action("switch")]}, None, "evaluation_criteria.actions.0.name", "of the assistant"),
        ({"actions": [action("rename", "user")]}, None, "evaluation_criteria.actions.0.name", "of the user"),
        ({"actions": [action("named")]}, None, "evaluation_criteria.actions.0.name", "unknown tool 'named'"),
        (
            {"env_assertions": [check("name")]},
            None,
            "evaluation_criteria.env_assertions.0.func_name",
            "did you mean 'named'",
        ),
        (
            {"env_assertions": [check("phone_on")]},
            None,
            "evaluation_criteria.env_assertions.0.func_name",
            "on the assistant's side",
        ),
        (
            None,
            {"initialization_actions": [{"env_type": "user", "func_name": "_item"}]},
            "initial_state.initialization_actions.0.func_name",
            "on the user's side",
        ),
    ],
)
def test_a_task_that_names_what_the_domain_lacks(
    domain: Domain, tmp_path: Path, criteria: Any, state: Any, field: str, told: str
) -> None:
    wanted = task(criteria, task_id="odd", state=state)
    with pytest.raises(TaskFormatError, match=told) as caught:
        check_task(wanted, domain.spec, REWARD_TYPES, tmp_path / "odd.json")
    assert (caught.value.file, caught.value.task_id, caught.value.field) == (tmp_path / "odd.json", "odd", field)


def test_components_of_plugins_may_be_named(domain: Domain) -> None:
    check_task(task({"reward_basis": ["POLITENESS"]}), domain.spec, [*REWARD_TYPES, "POLITENESS"])


def test_a_domain_without_a_user_side_has_no_user_tools(tmp_path: Path) -> None:
    spec = tiny.spec(tmp_path, user_tools=None, user_db=None)
    with pytest.raises(TaskFormatError, match="known: none"):
        check_task(task({"actions": [action("switch", "user")]}), spec, REWARD_TYPES)


def test_arguments_of_reference_actions_fit_the_schema(domain: Domain) -> None:
    wanted = task({"actions": [action("count", by=1), action("count", by="many")]})
    with pytest.raises(TaskFormatError, match="count: ") as caught:
        check_task(wanted, domain.spec, REWARD_TYPES)
    assert caught.value.field == "evaluation_criteria.actions.1.arguments"
