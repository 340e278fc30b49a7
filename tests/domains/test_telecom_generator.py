"""The bundled telecom tasks: how they are generated, that they can be solved, and which facts they give."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, cast

import pytest
from for_each import for_each

from pytest_tau.errors import TaskFormatError
from pytest_tau_domains.telecom import domain as spec
from pytest_tau_domains.telecom.tasks.builder import build_task
from pytest_tau_domains.telecom.tasks.catalogue import INTENTS, MMS, MOBILE_DATA, SERVICE
from pytest_tau_domains.telecom.tasks.generator import bundled_scenarios, splits
from pytest_tau_domains.telecom.tasks.people import subjects
from pytest_tau_domains.telecom.tasks.personas import NO_PERSONA, PERSONAS
from pytest_tau_domains.telecom.tasks.scenario import FaultScenario, fault_combinations
from pytest_tau_domains.telecom.tasks.verify import verify
from pytest_tau_domains.telecom.user_models import TelecomUserDB

if TYPE_CHECKING:
    from pytest_tau.environment import Environment
    from pytest_tau.models import EnvAssertion, Task
    from pytest_tau.models.tasks import Instructions
    from pytest_tau_domains.telecom.models import TelecomDB
    from pytest_tau_domains.telecom.tasks.faults import Intent, Subject

pytestmark = pytest.mark.exhaustive

DOMAIN = spec.load()
DB = cast("TelecomDB", DOMAIN.environment().agent_db)
PEOPLE = subjects(DB)
CASES = bundled_scenarios(PEOPLE)
TASKS = {task.id: task for task in DOMAIN.tasks(split=None)}


def task_with(*faults: str, intent: str) -> Task:
    """The first bundled task with exactly these faults behind this problem."""
    return next(TASKS[c.task_id] for c in CASES if c.intent.name == intent and {f.name for f in c.faults} == {*faults})


def case_of(task: Task) -> FaultScenario:
    return next(case for case in CASES if case.task_id == task.id)


def assertions(task: Task) -> list[EnvAssertion]:
    return task.criteria.env_assertions or []


def is_met(environment: Environment, assertion: EnvAssertion) -> bool:
    result = environment.run_function(assertion.env_type, assertion.func_name, assertion.arguments)
    return bool(result is assertion.assert_value)


def passes(environment: Environment, task: Task) -> bool:
    return all(is_met(environment, assertion) for assertion in assertions(task))


def played(task: Task) -> Environment:
    environment = DOMAIN.environment(task)
    for action in task.criteria.actions or []:
        assert not environment.call(action.name, action.arguments, action.requestor).error
    return environment


# The files


def test_splits() -> None:
    sizes = {split: len(DOMAIN.tasks(split)) for split in DOMAIN.splits}
    assert sizes == {"base": 145, "small": 21, "train": 97, "test": 48, "full": 180}
    train, test = set(DOMAIN.splits["train"]), set(DOMAIN.splits["test"])
    assert not train & test
    assert train | test == set(DOMAIN.splits["base"])
    assert DOMAIN.splits["full"] == list(TASKS)
    assert DOMAIN.splits["small"] == [task_id for task_id in TASKS if "+" not in task_id]
    assert DOMAIN.splits == splits(CASES)


def test_no_combination_of_faults_is_both_trained_on_and_tested() -> None:
    train, test = ({".".join(i.split(".")[:2]) for i in DOMAIN.splits[split]} for split in ("train", "test"))
    assert not train & test


def test_small_has_every_single_fault() -> None:
    singles = [faults for intent in INTENTS for faults in fault_combinations(intent) if len(faults) == 1]
    assert len(DOMAIN.splits["small"]) == len(singles)


def test_the_selection_is_balanced() -> None:
    assert Counter(case.intent for case in CASES) == dict.fromkeys(INTENTS, 60)
    assert Counter(case.persona for case in CASES) == dict.fromkeys(PERSONAS, 45)
    counts = Counter(case.subject for case in CASES)
    assert set(counts) == set(PEOPLE)
    assert max(counts.values()) - min(counts.values()) <= 3
    base = [task_id.split(".")[0] for task_id in DOMAIN.splits["base"]]
    assert all(48 <= count <= 49 for count in Counter(base).values())


def test_personas_are_crossed_with_faults_and_with_people() -> None:
    met: defaultdict[object, set[str]] = defaultdict(set)
    for case in CASES:
        for thing in (*case.faults, case.subject):
            met[thing].add(case.persona.name)
    assert all(len(personas) == len(PERSONAS) for personas in met.values())


# The cases


@pytest.mark.parametrize(("intent", "count"), [(SERVICE, 47), (MOBILE_DATA, 382), (MMS, 2976)])
def test_combinations(intent: Intent, count: int) -> None:
    found = fault_combinations(intent)
    assert len(found) == len(set(found)) == count
    assert [len(faults) for faults in found] == sorted(len(faults) for faults in found)
    assert all([fault.name for fault in faults] == sorted(fault.name for fault in faults) for faults in found)


def test_ids_follow_the_grammar() -> None:
    grammar = re.compile(r"(service|data|mms)\.[a-z0-9-]+(\+[a-z0-9-]+)*(\.[a-z]+)?")
    assert all(grammar.fullmatch(task_id) for task_id in TASKS)


@pytest.mark.parametrize("subject", PEOPLE, ids=lambda subject: subject.line_id)
def test_every_fault_plays_through_on_every_line(subject: Subject) -> None:
    for intent in INTENTS:
        for faults in fault_combinations(intent):
            if len(faults) <= 2:
                case = FaultScenario(intent, faults, NO_PERSONA, subject)
                verify(case, build_task(case), DOMAIN)


def test_a_transfer_without_a_look_fails() -> None:
    unfixable = [task for task in TASKS.values() if not case_of(task).fixable]
    assert len(unfixable) == 42
    for task in unfixable:
        *looks, transfer = task.criteria.actions or []
        assert len(looks) == 1
        assert (transfer.name, transfer.compare_args) == ("transfer_to_human_agents", [])
        assert task.criteria.reward_basis == ["ENV_ASSERTION", "ACTION"]


def test_a_line_whose_contract_has_ended_must_stay_suspended() -> None:
    task = task_with("contract_end_suspension", intent="service_issue")
    subject, environment = case_of(task).subject, played(task)
    line = {"customer_id": subject.customer_id, "line_id": subject.line_id}
    environment.call("resume_line", line)
    assert not passes(environment, task)


@pytest.mark.parametrize("fault", ["data_mode_off", "data_usage_exceeded", "data_usage_exceeded_no_refuel"])
def test_more_refuelling_than_is_due_fails(fault: str) -> None:
    task = task_with(fault, intent="mobile_data_issue")
    subject, environment = case_of(task).subject, played(task)
    line = {"customer_id": subject.customer_id, "line_id": subject.line_id}
    environment.call("refuel_data", {**line, "gb_amount": 0.1})
    assert not passes(environment, task)


def test_whether_a_bill_is_paid_before_a_locked_sim_is_found_is_left_open() -> None:
    task = task_with("lock_sim_card_pin", "overdue_bill_suspension", intent="service_issue")
    assert "assert_line_status" not in [assertion.func_name for assertion in assertions(task)]


# Verification


def altered(task: Task, **criteria: object) -> Task:
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update=criteria)})


def test_verify_finds_what_is_wrong_with_a_task() -> None:
    task = task_with("data_mode_off", intent="mobile_data_issue")
    case = case_of(task)
    verify(case, task, DOMAIN)
    action = (task.criteria.actions or [])[0]
    wrong = assertions(task)[0].model_copy(update={"assert_value": False})
    broken = {
        "is gone before": altered(task, actions=[action, action]),
        "wrong end": altered(task, actions=[]),
        "does not hold after": altered(task, env_assertions=[*assertions(task), wrong]),
        "not found": altered(task, actions=[action.model_copy(update={"name": "toggle_dta"})]),
        "doing nothing passes": task.model_copy(update={"initial_state": None}),
    }
    for problem, bad in broken.items():
        with pytest.raises(TaskFormatError, match=problem) as caught:
            verify(case, bad, DOMAIN)
        assert caught.value.task_id == task.id


def test_verify_finds_a_fault_that_does_not_show() -> None:
    task = task_with("data_mode_off", intent="mobile_data_issue")
    case = case_of(task)
    fault = case.faults[0]
    harmless = type(fault)(fault.name, fault.tag, fault.summary, start=(), checks=fault.checks, fix=fault.fix)
    with pytest.raises(TaskFormatError, match="data_mode_off does not show"):
        verify(case._replace(faults=(harmless,)), task, DOMAIN)


# The texts


@for_each({case.task_id: case for case in CASES})
def test_texts_give_the_facts_that_the_task_needs(case: FaultScenario) -> None:
    task, subject = TASKS[case.task_id], case.subject
    told = cast("Instructions", task.user_scenario.instructions)
    around = DOMAIN.environment(task).dump()["user"]["surroundings"]
    assert (around["name"], around["phone_number"]) == (subject.name, subject.phone_number)
    location = subject.abroad if around["is_abroad"] else subject.home
    for fact in (subject.name, subject.phone_number, location):
        assert fact in (told.known_info or "")
        assert fact in (task.ticket or "")
    consent = "overdue bill" if case.intent is SERVICE else "refuel 2.0 GB"
    assert consent in (task.ticket or "")
    assert ("willing to pay" if case.intent is SERVICE else consent) in told.task_instructions
    texts = " ".join([told.reason_for_call, told.known_info or "", told.task_instructions, task.ticket or ""])
    assert not re.search(r"[{}]|\bNone\b", texts)


@for_each({case.task_id: case for case in CASES if case.intent is MOBILE_DATA})
def test_data_is_called_slow_when_it_flows_and_dead_when_it_does_not(case: FaultScenario) -> None:
    task = TASKS[case.task_id]
    environment = DOMAIN.environment(task)
    flows = environment.run_function("user", "assert_mobile_data_status", {"expected_status": True})
    assert ("too slow" in (task.ticket or "")) is flows
    told = cast("Instructions", task.user_scenario.instructions)
    assert bool(re.search("crawls|stall", told.reason_for_call)) is flows


def test_reproductions_of_the_reference_have_no_script() -> None:
    assert all(build_task(case).user_scenario.script for case in CASES[:3])
    assert not any(build_task(case, thorough=False).user_scenario.script for case in CASES[:3])


def test_hurried_callers_have_less_patience_than_relaxed_ones() -> None:
    patience = {persona.name: persona.patience for persona in PERSONAS}
    assert patience["Hurried"] < patience["None"] < patience["Relaxed"]
    scripts = {task.id: task.user_scenario.script for task in TASKS.values()}
    for case in CASES:
        script = scripts[case.task_id]
        assert script is not None and script.patience == case.persona.patience


def test_persona_is_the_one_of_the_id() -> None:
    texts = {persona.name.lower(): persona.text for persona in PERSONAS}
    for task in TASKS.values():
        assert task.user_scenario.persona == texts[(task.id.split(".")[2:] or ["none"])[0]]


# The data


def test_records_refer_to_records_that_exist() -> None:
    owned: Counter[str] = Counter()
    for customer in DB.customers.scan():
        owned.update([*customer.line_ids, *customer.bill_ids])
        assert customer.email.endswith("@example.com")
        for bill in map(DB.bill, customer.bill_ids):
            assert bill.customer_id == customer.customer_id
            assert bill.total_due == pytest.approx(sum(item.amount for item in bill.line_items))
        for line in map(DB.line, customer.line_ids):
            DB.plan(line.plan_id)
            DB.device(line.device_id or "")
    assert owned == dict.fromkeys([*DB.lines, *DB.bills], 1)
    assert sorted(line.device_id or "" for line in DB.lines.scan()) == sorted(DB.devices)


def test_phone_numbers_are_fictional_and_unique() -> None:
    numbers = [line.phone_number for line in DB.lines.scan()]
    assert len(set(numbers)) == len(numbers)
    assert all(re.fullmatch(r"\d{3}-555-01\d\d", number) for number in numbers)
    assert {customer.phone_number for customer in DB.customers.scan()} <= set(numbers)


def test_subjects_are_varied_and_undisturbed() -> None:
    assert len(PEOPLE) == 8
    assert len({subject.customer_id for subject in PEOPLE}) == 7
    assert {DB.line(subject.line_id).roaming_enabled for subject in PEOPLE} == {True, False}
    for subject in PEOPLE:
        statuses = {DB.bill(bill_id).status for bill_id in DB.customer(subject.customer_id).bill_ids}
        assert "Draft" in statuses
        assert not statuses & {"Overdue", "Awaiting Payment"}
        assert subject.overdue_bill_id not in DB.bills


def test_the_bundled_phone_is_the_default_one() -> None:
    assert DOMAIN.environment().dump()["user"] == TelecomUserDB().dump()
