"""Several matters of one user in one conversation, and remarks beside the point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from pytest_tau.models.tasks import Description, EvaluationCriteria, Instructions, Task, UserScenario

from ..._kit.transfer import TRANSFER
from .requests import first_person

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from pytest_tau.models import UserScript

#: More matters in one conversation fit hardly any user.
MOST_REQUESTS: Final = 3
#: Scenarios that mean what they say only by themselves: they speak of all reservations, of a sum over what was done, of
#: what is in the wallet, or of a reservation that they do not name.
ALONE: Final = frozenset(
    {
        "book-gift-cards-refused",
        "book-split-payment",
        "book-two-certificates-refused",
        "book-with-certificate-only",
        "cancel-all-that-can-be",
        "cancel-insured-storm",
        "information-balances",
        "information-paid",
        "passenger-replaced",
        "several-bookings",
        "several-for-gold",
        "several-with-refund",
    }
)
_REMARKS: Final = (
    "the weather is lovely today",
    "your sister flies with another airline",
    "you liked the coffee on your last flight",
    "you have a new suitcase in green",
    "your neighbour works at the airport",
    "the website looked different last year",
    "you have been a customer for years",
    "your cat does not like it when you are away",
)


def ends(task: Task) -> bool:
    """Whether it ends with a person."""
    return any(action.name == TRANSFER for action in task.criteria.actions or [])


def merged(tasks: Sequence[Task]) -> Task:
    """One task of several, whose matters are put once the one before is dealt with."""
    first, *more = tasks
    if not more:
        return first
    told = [cast("Instructions", task.user_scenario.instructions) for task in tasks]
    descriptions = [task.description or Description() for task in tasks]
    following = [
        f"The next matter, once that is dealt with: {one.reason_for_call} {one.task_instructions}" for one in told[1:]
    ]
    instructions = told[0].model_copy(
        update={
            "reason_for_call": f"You have {len(tasks)} matters, the first of which is this: {told[0].reason_for_call}",
            "known_info": " ".join(filter(None, [told[0].known_info, *map(_beyond_the_id, told[1:])])),
            "unknown_info": " ".join(one.unknown_info for one in told if one.unknown_info) or None,
            "task_instructions": " ".join(
                ["What is said about a matter holds for that matter alone.", told[0].task_instructions, *following]
            ),
        }
    )
    scripts = [cast("UserScript", task.user_scenario.script) for task in tasks]
    script = scripts[0].model_copy(update={"requests": [request for one in scripts for request in one.requests]})
    return Task(
        id=f"{len(tasks)}-matters",
        description=Description(
            purpose=" Then: ".join(one.purpose or "" for one in descriptions),
            relevant_policies="; ".join(dict.fromkeys(one.relevant_policies or "" for one in descriptions)),
        ),
        user_scenario=UserScenario(instructions=instructions, script=script),
        evaluation_criteria=_criteria(tasks),
    )


def _beyond_the_id(told: Instructions) -> str:
    """What a user knows beside name and user id."""
    return (told.known_info or "").partition("Your user id is ")[2].partition(".")[2].strip()


def _criteria(tasks: Sequence[Task]) -> EvaluationCriteria:
    actions = [action for task in tasks for action in task.criteria.actions or []]
    numbered = [
        action.model_copy(update={"action_id": f"{position}-{action.name.replace('_', '-')}"})
        for position, action in enumerate(actions)
    ]
    return EvaluationCriteria(
        actions=numbered,
        communicate_info=list(dict.fromkeys(text for task in tasks for text in task.criteria.communicate_info or [])),
        reward_basis=list(dict.fromkeys(kind for task in tasks for kind in task.criteria.reward_basis)),
    )


def in_passing(task: Task, rng: Random, count: int) -> Task:
    """The task with so many remarks beside the point, made with the first message."""
    remarks = rng.sample(_REMARKS, min(count, len(_REMARKS)))
    if not remarks:
        return task
    scenario = task.user_scenario
    told, script = cast("Instructions", scenario.instructions), cast("UserScript", scenario.script)
    known = "You mention in passing, with your first message, that " + ", and that ".join(remarks) + "."
    opening, *more = script.requests
    said = first_person(" ".join(f"By the way, {remark}." for remark in remarks))
    return task.model_copy(
        update={
            "user_scenario": scenario.model_copy(
                update={
                    "instructions": told.model_copy(update={"known_info": f"{told.known_info} {known}"}),
                    "script": script.model_copy(
                        update={"requests": [opening.model_copy(update={"say": f"{said} {opening.say}"}), *more]}
                    ),
                }
            )
        }
    )
