"""The catalogue and the composition, given the reference's people, make the reference's tasks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from pytest_tau_domains.telecom import domain
from pytest_tau_domains.telecom.tasks.builder import build_task
from pytest_tau_domains.telecom.tasks.catalogue import INTENTS, REFUELLING_USED_UP, SERVICE
from pytest_tau_domains.telecom.tasks.people import subjects
from pytest_tau_domains.telecom.tasks.personas import Persona
from pytest_tau_domains.telecom.tasks.scenario import FaultScenario, fault_combinations
from pytest_tau_domains.telecom.tasks.verify import verify

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task
    from pytest_tau.models.tasks import Instructions
    from pytest_tau_domains.telecom.models import TelecomDB

OFFICIAL = Path(__file__).parents[2].parent / "shared" / "tau2-data"
PERSONAS = tuple(Persona(name, None) for name in ("None", "Easy", "Hard"))

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        not (OFFICIAL / "domains" / "telecom" / "tasks.json").is_file(),
        reason="needs the reference's telecom data, in the folder shared/tau2-data next to the repository",
    ),
]


@pytest.fixture(scope="module")
def official() -> Domain:
    return domain.load(OFFICIAL)


@pytest.fixture(scope="module")
def cases(official: Domain) -> list[FaultScenario]:
    """All of the reference's cases, in its order: personas in turn, before those with the refuelling used up go."""
    people = {person.phone_number: person for person in subjects(cast("TelecomDB", official.environment().agent_db))}
    subject = dataclasses.replace(people["555-123-2002"], overdue_bill_id="B1234321")
    return [
        FaultScenario(intent, faults, PERSONAS[index % 3], subject)
        for intent in INTENTS
        for index, faults in enumerate(fault_combinations(intent))
    ]


@pytest.fixture(scope="module")
def published(cases: list[FaultScenario]) -> list[FaultScenario]:
    return [case for case in cases if REFUELLING_USED_UP not in case.faults]


def _without_messages(task: Task) -> dict[str, Any]:
    """What decides over a task's beginning and its reward; messages to readers are each author's own."""
    state, criteria = task.initial_state, task.evaluation_criteria
    assert state is not None and criteria is not None
    assertions = [assertion.model_dump(exclude={"message"}) for assertion in cast("list[Any]", criteria.env_assertions)]
    return {"id": task.id, "state": state, "criteria": criteria.model_dump() | {"env_assertions": assertions}}


def test_there_are_as_many_cases_as_in_the_reference(
    cases: list[FaultScenario], published: list[FaultScenario]
) -> None:
    assert len(cases) == 3405
    assert len(published) == 2285


def test_ids_and_order_are_the_reference_s(published: list[FaultScenario], official: Domain) -> None:
    assert [case.reference_id for case in published] == [task.id for task in official.tasks(split=None)]


def test_every_task_begins_and_is_judged_as_in_the_reference(published: list[FaultScenario], official: Domain) -> None:
    for case, task in zip(published, official.tasks(split=None), strict=True):
        assert _without_messages(build_task(case, thorough=False)) == _without_messages(task)


def test_texts_place_the_customer_where_the_reference_does(published: list[FaultScenario], official: Domain) -> None:
    for case, task in zip(published, official.tasks(split=None), strict=True):
        if case.intent is not SERVICE:
            ours, theirs = (cast("Instructions", t.user_scenario.instructions) for t in (build_task(case), task))
            assert ("abroad" in cast("str", ours.known_info)) is ("abroad" in cast("str", theirs.known_info))


def test_every_case_plays_through_on_the_reference_s_data(cases: list[FaultScenario], official: Domain) -> None:
    for case in cases:
        verify(case, build_task(case, thorough=False), official)


def test_every_task_of_the_reference_plays_through(published: list[FaultScenario], official: Domain) -> None:
    for case, task in zip(published, official.tasks(split=None), strict=True):
        verify(case, task, official)
