"""Generated tasks: drawn from the domain, played through before anybody is asked to solve them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import Difficulty, Domain
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.lint.generated import generated_tasks

from .tiny import action, task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.models import Task

EASY = Difficulty()
SIT = action("sit", seat_id="s1", who="me")


def making(domain: Domain, make: Any) -> Domain:
    return Domain(replace(domain.spec, generate=make), domain.spec.folder, domain.tasks_folder)


def sound(count: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    for number in range(count + 5):
        yield task(
            {
                "actions": [action("tag", item_id="lamp", tag=f"{seed + number}")] * difficulty.requests,
                "reward_basis": ["DB"],
            },
            task_id=f"gen-{seed}-{number}",
        )


def test_requested_number_of_tasks_is_generated(domain: Domain) -> None:
    tasks = generated_tasks(making(domain, sound), 3, 7, Difficulty(requests=2))
    assert [(each.id, len(each.criteria.actions or [])) for each in tasks] == [(f"gen-7-{n}", 2) for n in range(3)]


def bad(criteria: dict[str, Any]) -> Any:
    return lambda count, seed, difficulty: iter([task(criteria, task_id=f"bad-{seed}-{difficulty.requests}")] * count)


@pytest.mark.parametrize(
    ("criteria", "told"),
    [
        ({"actions": [], "reward_basis": ["DB"]}, "a greeting alone earns reward 1"),
        (
            {"actions": [action("price", item_id="lamp", price=10.0), SIT], "reward_basis": ["DB"]},
            "action 0: reward 1 without price",
        ),
        (
            {"actions": [SIT], "communicate_info": ["1,000"], "reward_basis": ["COMMUNICATE"]},
            "the reference actions do not earn reward 1",
        ),
    ],
)
def test_unsound_task_is_reported(domain: Domain, criteria: dict[str, Any], told: str) -> None:
    made = making(domain, bad(criteria))
    with pytest.raises(TaskFormatError, match=told) as caught:
        generated_tasks(made, 1, 7, EASY)
    assert caught.value.task_id == "bad-7-1"
    assert len(generated_tasks(made, 1, 7, EASY, verify=False)) == 1


def test_what_cannot_be_made(domain: Domain) -> None:
    with pytest.raises(ConfigurationError, match="cannot generate tasks"):
        generated_tasks(domain, 1, 7, EASY)
    few = making(domain, lambda count, seed, difficulty: iter([task()]))
    with pytest.raises(ConfigurationError, match="domain 'tiny' can generate 1 task of this difficulty, not 2"):
        generated_tasks(few, 2, 7, EASY)
    elsewhere = Domain(replace(domain.spec, generate=sound), domain.spec.folder / "other", domain.tasks_folder)
    with pytest.raises(ConfigurationError, match="bundled data"):
        generated_tasks(elsewhere, 1, 7, EASY)
