"""Tasks that nobody has seen: new people, and any combination of faults."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_tau.errors import ConfigurationError
from pytest_tau.models.script import Request
from pytest_tau.models.tasks import InitializationData, InitialState, Task, UserScenario

from .. import domain
from .builder import Case, combinations, compose
from .catalogue import BROKEN_APN, INTENTS, OVERDUE_BILL, UNSEATED_SIM
from .people import household
from .stories import PERSONAS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Difficulty

    from ..models import Plan
    from .faults import Fault, Intent
    from .people import Household

#: Share of tasks that cannot be solved, of those of one request.
_HOPELESS = 0.15
#: More data than anybody uses up in a month.
_UNLIMITED_GB = 500
#: Bundled customers who are there beside the one who calls.
NEIGHBOURS = ("C2011", "C2012")
_OPENINGS = 60


class Question(NamedTuple):
    """Something else that a user wants to know, before the problem; and what the agent must say then."""

    say: str
    told: Callable[[Household], str]


QUESTIONS = (
    Question("Which plan is my line on?", lambda home: home.plan.name),
    Question(
        "Until when does the contract of my line run?", lambda home: home.records["lines"][0]["contract_end_date"]
    ),
    Question("Which e-mail address do you have on file for me?", lambda home: home.records["customers"][0]["email"]),
)


def generate(n: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    """Tasks of a seed, one after the other; each is the same whatever their number.

    Args:
        n: How many.
        seed: Chooses people, faults and words.
        difficulty: ``requests``: the problem, and questions before it; ``faults``: at once, by default one to five;
            ``distractors``: further lines of the customer's.

    Raises:
        ConfigurationError: More than there can be.
    """
    _check(difficulty)
    plans = [plan for plan in _plans() if plan.data_limit_gb < _UNLIMITED_GB]
    for index in range(n):
        yield _task(index, seed, difficulty, plans)


def _check(difficulty: Difficulty) -> None:
    most = max(size for size, _ in _combinations())
    if difficulty.faults is not None and not 1 <= difficulty.faults <= most:
        raise ConfigurationError(f"difficulty: telecom has 1 to {most} faults at once, not {difficulty.faults}")
    if not 1 <= difficulty.requests <= len(QUESTIONS) + 1:
        raise ConfigurationError(
            f"difficulty: telecom has 1 to {len(QUESTIONS) + 1} requests in a task, not {difficulty.requests}"
        )
    if not 0 <= difficulty.distractors <= _MOST_LINES:
        raise ConfigurationError(
            f"difficulty: telecom has 0 to {_MOST_LINES} distractors in a task, not {difficulty.distractors}"
        )


#: The remedy of each of these makes the phone search for a network, which beside an overdue bill makes one of the two
#: searches needless; in these tasks every reference action is needed.
_SEARCHED_FOR = {UNSEATED_SIM, BROKEN_APN}
#: Lines beside the first; their ids have one digit for them.
_MOST_LINES = 9


def _plans() -> list[Plan]:
    database: Any = domain.load().environment().agent_db
    return list(database.plans.scan())


@cache
def _combinations() -> dict[tuple[int, bool], list[tuple[Intent, list[tuple[Fault, ...]]]]]:
    """Combinations by problem, by their size and whether they can be solved; at most one fault cannot be mended."""
    found: dict[tuple[int, bool], dict[Intent, list[tuple[Fault, ...]]]] = {}
    for intent in INTENTS:
        for faults in combinations(intent):
            hopeless = sum(not fault.fixable for fault in faults)
            if hopeless <= 1 and not (OVERDUE_BILL in faults and _SEARCHED_FOR & set(faults)):
                found.setdefault((len(faults), not hopeless), {}).setdefault(intent, []).append(faults)
    return {key: list(by_intent.items()) for key, by_intent in found.items()}


def _task(index: int, seed: int, difficulty: Difficulty, plans: list[Plan]) -> Task:
    rng = random.Random(f"{seed} {index} {difficulty}")
    size = difficulty.faults or rng.randint(1, 5)
    # A user who is handed over asks nothing more.
    fixable = difficulty.requests > 1 or rng.random() >= _HOPELESS
    intent, choices = rng.choice(_combinations()[size, fixable])
    home = household(rng, plans, more_lines=difficulty.distractors)
    case = Case(intent, rng.choice(choices), rng.choice(PERSONAS), home.subject, rng.randrange(_OPENINGS))
    questions = rng.sample(QUESTIONS, difficulty.requests - 1)
    task = compose(case)
    criteria, state = task.criteria, task.initial_state or InitialState()
    if questions:
        criteria = criteria.model_copy(
            update={
                "communicate_info": [question.told(home) for question in questions],
                "reward_basis": [*criteria.reward_basis, "COMMUNICATE"],
            }
        )
    asked = " ".join(question.say for question in questions)
    return task.model_copy(
        update={
            "id": _id(case, index, seed, difficulty),
            "ticket": f"{task.ticket} The customer also asks: {asked}" if asked else task.ticket,
            "user_scenario": _asking(task.user_scenario, questions),
            "initial_state": InitialState(
                initialization_data=InitializationData(agent_data=_database(home)),
                initialization_actions=state.initialization_actions,
            ),
            "evaluation_criteria": criteria,
        }
    )


def _id(case: Case, index: int, seed: int, difficulty: Difficulty) -> str:
    """Such as ``mms.3-faults.s7-12``; what the difficulty fixes is part of it."""
    parts = [case.intent.tag, f"{len(case.faults)}-faults"]
    parts += [f"{difficulty.requests}-requests"] if difficulty.requests > 1 else []
    parts += [f"{difficulty.distractors}-distractors"] if difficulty.distractors else []
    return ".".join([*parts, f"s{seed}{'' if difficulty.faults is None else 'f'}-{index}"])


def _database(home: Household) -> dict[str, list[dict[str, Any]]]:
    """The customer's records among those of a few others."""
    return {table: [*records, *home.records[table]] for table, records in _neighbours().items()}


@cache
def _neighbours() -> dict[str, list[dict[str, Any]]]:
    """The records of some bundled customers."""
    whole = domain.load().environment().dump()["agent"]
    customers = [customer for customer in whole["customers"] if customer["customer_id"] in NEIGHBOURS]
    lines = [line for line in whole["lines"] if any(line["line_id"] in each["line_ids"] for each in customers)]
    held = {line["device_id"] for line in lines}
    return {
        "customers": customers,
        "lines": lines,
        "bills": [bill for bill in whole["bills"] if bill["customer_id"] in NEIGHBOURS],
        "devices": [device for device in whole["devices"] if device["device_id"] in held],
    }


def _asking(scenario: UserScenario, questions: list[Question]) -> UserScenario:
    """The scenario with questions before the problem."""
    told, script = scenario.instructions, scenario.script
    if not questions or isinstance(told, str) or script is None:
        return scenario
    first = " ".join(question.say for question in questions)
    reason = f"Before anything else you want to know, one after the other: {first} Then: {told.reason_for_call}"
    requests = [*(Request(say=question.say) for question in questions), *script.requests]
    return scenario.model_copy(
        update={
            "instructions": told.model_copy(update={"reason_for_call": reason}),
            "script": script.model_copy(update={"requests": requests}),
        }
    )
