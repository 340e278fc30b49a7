"""Sampling of fresh tasks: random people, and any combination of faults."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_tau.errors import ConfigurationError
from pytest_tau.models.script import Request
from pytest_tau.models.tasks import InitializationData, InitialState, Task, UserScenario

from ..constants import RETAINED_CUSTOMERS
from ..spec import ENVIRONMENT
from .builder import build_task
from .catalogue import BROKEN_APN, INTENTS, OVERDUE_BILL, UNSEATED_SIM
from .people import UNLIMITED_GB, household
from .personas import PERSONAS
from .scenario import FaultScenario, fault_combinations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Difficulty

    from ..models import Plan
    from .faults import Fault, Intent
    from .people import Household

#: Share of tasks that cannot be solved, among tasks with one request.
_UNSOLVABLE_SHARE = 0.15
_OPENINGS = 60
#: The remedy of each of these makes the phone search for a network. Together with an overdue bill, one of the two
#: searches would be needless, but in these tasks every reference action is needed.
_SEARCHING_FAULTS = {UNSEATED_SIM, BROKEN_APN}
#: Lines besides the first; ids have one digit for them.
_MAX_LINES = 9


class Question(NamedTuple):
    """Something else that a user asks before reporting the problem, and the answer that the agent must give."""

    say: str
    answer: Callable[[Household], str]


QUESTIONS = (
    Question("Which plan is my line on?", lambda home: home.plan.name),
    Question(
        "Until when does the contract of my line run?", lambda home: home.records["lines"][0]["contract_end_date"]
    ),
    Question("Which e-mail address do you have on file for me?", lambda home: home.records["customers"][0]["email"]),
)


def generate(n: int, seed: int, difficulty: Difficulty) -> Iterator[Task]:
    """Yield tasks of a seed; each is the same whatever their number.

    Args:
        n: Number of tasks.
        seed: Determines people, faults and words.
        difficulty: ``requests``: the problem, and questions before it; ``faults``: at once, by default one to five;
            ``distractors``: further lines of the customer's.

    Raises:
        ConfigurationError: The difficulty is beyond what the domain has.
    """
    _check(difficulty)
    plans = [plan for plan in _plans() if plan.data_limit_gb < UNLIMITED_GB]
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
    if not 0 <= difficulty.distractors <= _MAX_LINES:
        raise ConfigurationError(
            f"difficulty: telecom has 0 to {_MAX_LINES} distractors in a task, not {difficulty.distractors}"
        )


def _plans() -> list[Plan]:
    database: Any = ENVIRONMENT.load().environment().agent_db
    return list(database.plans.scan())


@cache
def _combinations() -> dict[tuple[int, bool], list[tuple[Intent, list[tuple[Fault, ...]]]]]:
    """Return each problem's combinations by size and by whether they are fixable; at most one fault is not."""
    combinations: dict[tuple[int, bool], dict[Intent, list[tuple[Fault, ...]]]] = {}
    for intent in INTENTS:
        for faults in fault_combinations(intent):
            unfixable = sum(not fault.fixable for fault in faults)
            if unfixable <= 1 and not (OVERDUE_BILL in faults and _SEARCHING_FAULTS & set(faults)):
                combinations.setdefault((len(faults), not unfixable), {}).setdefault(intent, []).append(faults)
    return {key: list(by_intent.items()) for key, by_intent in combinations.items()}


def _task(index: int, seed: int, difficulty: Difficulty, plans: list[Plan]) -> Task:
    rng = random.Random(f"{seed} {index} {difficulty}")
    size = difficulty.faults or rng.randint(1, 5)
    # A user who is transferred asks nothing more.
    fixable = difficulty.requests > 1 or rng.random() >= _UNSOLVABLE_SHARE
    intent, choices = rng.choice(_combinations()[size, fixable])
    home = household(rng, plans, more_lines=difficulty.distractors)
    scenario = FaultScenario(intent, rng.choice(choices), rng.choice(PERSONAS), home.subject, rng.randrange(_OPENINGS))
    questions = rng.sample(QUESTIONS, difficulty.requests - 1)
    task = build_task(scenario)
    criteria, state = task.criteria, task.initial_state or InitialState()
    if questions:
        criteria = criteria.model_copy(
            update={
                "communicate_info": [question.answer(home) for question in questions],
                "reward_basis": [*criteria.reward_basis, "COMMUNICATE"],
            }
        )
    questions_text = " ".join(question.say for question in questions)
    return task.model_copy(
        update={
            "id": _id(scenario, index, seed, difficulty),
            "ticket": f"{task.ticket} The customer also asks: {questions_text}" if questions_text else task.ticket,
            "user_scenario": _with_questions(task.user_scenario, questions),
            "initial_state": InitialState(
                initialization_data=InitializationData(agent_data=_database(home)),
                initialization_actions=state.initialization_actions,
            ),
            "evaluation_criteria": criteria,
        }
    )


def _id(scenario: FaultScenario, index: int, seed: int, difficulty: Difficulty) -> str:
    """Return an id such as ``mms.3-faults.s7-12``; it includes the settings of the difficulty."""
    parts = [scenario.intent.tag, f"{len(scenario.faults)}-faults"]
    parts += [f"{difficulty.requests}-requests"] if difficulty.requests > 1 else []
    parts += [f"{difficulty.distractors}-distractors"] if difficulty.distractors else []
    return ".".join([*parts, f"s{seed}{'' if difficulty.faults is None else 'f'}-{index}"])


def _database(home: Household) -> dict[str, list[dict[str, Any]]]:
    """Return the customer's records together with those of a few others."""
    return {table: [*records, *home.records[table]] for table, records in _retained_records().items()}


@cache
def _retained_records() -> dict[str, list[dict[str, Any]]]:
    """Return the records of the bundled customers that every database includes."""
    tables = ENVIRONMENT.load().environment().dump()["agent"]
    customers = [customer for customer in tables["customers"] if customer["customer_id"] in RETAINED_CUSTOMERS]
    lines = [line for line in tables["lines"] if any(line["line_id"] in customer["line_ids"] for customer in customers)]
    devices = {line["device_id"] for line in lines}
    return {
        "customers": customers,
        "lines": lines,
        "bills": [bill for bill in tables["bills"] if bill["customer_id"] in RETAINED_CUSTOMERS],
        "devices": [device for device in tables["devices"] if device["device_id"] in devices],
    }


def _with_questions(scenario: UserScenario, questions: list[Question]) -> UserScenario:
    prose, script = scenario.instructions, scenario.script
    if not questions or isinstance(prose, str) or script is None:
        return scenario
    first = " ".join(question.say for question in questions)
    reason = f"Before anything else you want to know, one after the other: {first} Then: {prose.reason_for_call}"
    requests = [*(Request(say=question.say) for question in questions), *script.requests]
    return scenario.model_copy(
        update={
            "instructions": prose.model_copy(update={"reason_for_call": reason}),
            "script": script.model_copy(update={"requests": requests}),
        }
    )
