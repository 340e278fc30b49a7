"""Several matters of one user in one conversation, and remarks that have nothing to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from pytest_tau.models.tasks import Description, EvaluationCriteria, Instructions, Task, UserScenario

from ..._kit.combine import MatterTexts, combine_texts, mention

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from pytest_tau.models import UserScript

#: More matters in one conversation fit hardly any user.
MAX_REQUESTS: Final = 3
#: Scenarios that mean what they say only by themselves: they speak of all reservations, of a sum over what was done, of
#: what is in the wallet, or of a reservation that they do not name.
NOT_COMBINABLE: Final = frozenset(
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


def combine(tasks: Sequence[Task]) -> Task:
    """Return one task of several, whose matters are raised one after the other."""
    first, *more = tasks
    if not more:
        return first
    known = [_instructions(first).known_info or "", *map(_known_beyond_the_id, more)]
    texts = combine_texts([_texts(task, known_info) for task, known_info in zip(tasks, known, strict=True)])
    instructions = _instructions(first).model_copy(
        update={
            "reason_for_call": texts.reason,
            "known_info": texts.known,
            "unknown_info": texts.unknown or None,
            "task_instructions": f"What is said about a matter holds for that matter alone. {texts.instructions}",
        }
    )
    requests = [request for task in tasks for request in _script(task).requests]
    script = _script(first).model_copy(update={"requests": requests})
    return Task(
        id=f"{len(tasks)}-matters",
        description=Description(purpose=texts.purpose, relevant_policies=texts.rule),
        user_scenario=UserScenario(instructions=instructions, script=script),
        evaluation_criteria=_criteria(tasks),
    )


def _texts(task: Task, known_info: str) -> MatterTexts:
    description, instructions = task.description or Description(), _instructions(task)
    return MatterTexts(
        purpose=description.purpose or "",
        rule=description.relevant_policies or "",
        reason=instructions.reason_for_call,
        instructions=instructions.task_instructions,
        known=known_info,
        unknown=instructions.unknown_info or "",
    )


def _known_beyond_the_id(task: Task) -> str:
    """Return what a user knows, apart from name and user id."""
    return (_instructions(task).known_info or "").partition("Your user id is ")[2].partition(".")[2].strip()


def _instructions(task: Task) -> Instructions:
    return cast("Instructions", task.user_scenario.instructions)


def _script(task: Task) -> UserScript:
    return cast("UserScript", task.user_scenario.script)


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


def add_remarks(task: Task, rng: Random, count: int) -> Task:
    """Return the task with so many remarks that have nothing to do with it, made with the first message."""
    remarks = rng.sample(_REMARKS, min(count, len(_REMARKS)))
    if not remarks:
        return task
    mentioned, instructions = mention(remarks), _instructions(task)
    opening, *more = _script(task).requests
    opening = opening.model_copy(update={"say": f"{mentioned.said} {opening.say}"})
    scenario = task.user_scenario.model_copy(
        update={
            "instructions": instructions.model_copy(
                update={"known_info": f"{instructions.known_info} {mentioned.known}"}
            ),
            "script": _script(task).model_copy(update={"requests": [opening, *more]}),
        }
    )
    return task.model_copy(update={"user_scenario": scenario})
