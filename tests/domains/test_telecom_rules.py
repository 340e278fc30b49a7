"""The telecom agent that follows rules: what it reaches, how it works, and the tasks that are made for it."""

from __future__ import annotations

import asyncio
import random
import re
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment import Difficulty
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import AssistantMessage, Task, ToolMessage
from pytest_tau.policy import is_yes
from pytest_tau_domains.telecom import domain as spec, workflow
from pytest_tau_domains.telecom.agent import RulesAgent
from pytest_tau_domains.telecom.agent.troubleshooting import PROBLEMS, STEPS
from pytest_tau_domains.telecom.tasks.people import household
from pytest_tau_domains.telecom.user_tools import TelecomUserTools

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation

DOMAIN = spec.load()
TASKS = {task.id: task for task in DOMAIN.tasks(split=None)}


def simulated(task: Task, domain: Domain = DOMAIN, **options: Any) -> Simulation:
    return pytest_tau.simulate(task, domain=domain, **{"agent": "rules", "user": "scripted"} | options)


def calls(simulation: Simulation, requestor: str | None = None) -> list[str]:
    made = [made.call for made in simulation.calls]
    return [call.name for call in made if requestor in (None, call.requestor)]


# What it reaches


def test_it_solves_the_small_set_by_the_workflow_too() -> None:
    domain = workflow.load()
    assert {simulated(task, domain).reward for task in domain.tasks("small")} == {1.0}


def test_it_does_not_know_the_expected_result() -> None:
    """Without reference actions and assertions it does the same."""
    task = TASKS["service.overdue+sim-out"]
    blind = task.model_copy(update={"evaluation_criteria": None})
    assert calls(simulated(task)) == calls(simulated(blind))


# How it works


def test_nothing_is_paid_before_a_locked_sim_is_found() -> None:
    task = next(task for task_id, task in TASKS.items() if "sim-lock+overdue" in task_id)
    made = calls(simulated(task))
    assert "send_payment_request" not in made
    assert made[-1] == "transfer_to_human_agents"


def test_a_line_whose_contract_has_ended_stays_suspended() -> None:
    simulation = simulated(_with("contract"))
    assert {"send_payment_request", "resume_line"}.isdisjoint(calls(simulation))
    assert "get_details_by_id" in calls(simulation, "assistant")


def _with(tag: str) -> Task:
    return next(task for task_id, task in TASKS.items() if tag in re.split(r"[.+]", task_id))


def test_refuelling_waits_for_an_amount_and_a_yes() -> None:
    messages = simulated(_with("quota")).messages
    texts = [message.content or "" for message in messages if isinstance(message, AssistantMessage)]
    asked = next(place for place, text in enumerate(texts) if "How many GB" in text)
    assert "Do you confirm? (yes/no)" in texts[asked + 1]


def test_what_it_asks_of_a_customer_names_no_tool() -> None:
    names = set(TelecomUserTools.tools())
    assert not [text for text in STEPS.values() if names & set(re.findall(r"\w+", text))]


def test_the_notice_of_a_transfer_is_the_policy_s() -> None:
    *_, notice, end = simulated(_with("sim-lock")).messages
    assert notice.content == "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE."
    assert (end.content or "").endswith("###TRANSFER###")


class Customer:
    """Says its given texts, whatever the question."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)

    def respond(self, message: Any) -> str:
        if isinstance(message, AssistantMessage) and self._lines:
            return self._lines.pop(0)
        return "###STOP###"


def asked(*lines: str) -> Simulation:
    return simulated(_with("data-off"), user=Customer(*lines))


def test_a_customer_is_found_by_id_as_well() -> None:
    number = DOMAIN.environment().call("get_details_by_id", {"id": "L2101"})
    phone = re.search(r'"phone_number": "([\d-]+)"', number.content or "")
    assert phone
    assert calls(asked("No service.", "I am C2011.", f"It is {phone[1]}.")) == [
        "get_customer_by_id",
        "get_details_by_id",
    ]


def test_who_cannot_be_found_is_handed_over() -> None:
    made = calls(asked("No service.", "555-000-0000.", "555-000-0001.", "555-000-0002.", "Hm."))
    assert (
        made == ["get_customer_by_phone"] * 3 + ["transfer_to_human_agents"] or made[-1] == "transfer_to_human_agents"
    )
    assert made.count("get_customer_by_phone") <= 3


def test_what_is_out_of_scope_is_handed_over() -> None:
    made = calls(asked("I want to buy a boat.", "303-555-0112", "A boat!", "A boat!", "A boat!"))
    assert made[-1] == "transfer_to_human_agents"


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Yes, please.", True),
        ("OK, go ahead", True),
        ("No, thank you.", False),
        ("I do not agree", False),
        ("Hm", False),
    ],
)
def test_yes_and_no_are_distinguished(text: str, yes: bool) -> None:
    assert is_yes(text) is yes


# The table


def test_every_step_of_the_table_has_words_and_every_word_a_step() -> None:
    rules = [rule for problem in PROBLEMS.values() for rule in problem.rules]
    used = {problem.test for problem in PROBLEMS.values()}
    used |= {step for rule in rules for step in (*rule.remedy, *([rule.check] if rule.check else []))}
    assert used | {"check_payment_request", "make_payment"} == set(STEPS)


@pytest.mark.parametrize(
    ("path", "shown", "causes"),
    [
        ("service", "Status Bar: ✈️ Airplane Mode | 🔋 80%", {"airplane mode is on"}),
        ("service", "No SIM card detected in the phone.", {"the SIM card is missing"}),
        ("service", "The SIM card is locked with a PIN code.", {"the SIM card is locked"}),
        ("service", "Your SIM card is active and working.", set()),
        ("connection", "Mobile Data Enabled: No\nData Roaming Enabled: Yes", {"mobile data is off"}),
        ("connection", "Mobile Data Enabled: Yes\nData Roaming Enabled: No", {"roaming is off in the phone"}),
        ("speed", "Data Saver mode is ON (limits data usage).", {"data saver is on"}),
        ("speed", "Network Mode Preference: 4g_only", {"the network mode is old"}),
        ("speed", "Network Mode Preference: 4g_5g_preferred", set()),
        ("speed", "VPN is ON and connected. Details: {}", {"a VPN is connected"}),
        ("speed", "VPN is turned OFF.", set()),
        ("mms", "Cellular Network Type: 2G", {"the network is 2G"}),
        ("mms", "Wi-Fi Calling is currently turned ON.", {"Wi-Fi calling is on"}),
        ("mms", "MMSC URL (for picture messages): Not Set", {"the MMSC address is missing"}),
    ],
)
def test_result_of_a_check_shows_the_causes(path: str, shown: str, causes: set[str]) -> None:
    rules = [rule for rule in PROBLEMS[path].rules if rule.check and rule.check != "check_app_permissions"]
    assert {rule.cause for rule in rules if rule.applies(shown)} == causes


@pytest.mark.parametrize(
    ("granted", "missing"), [("sms, storage, phone", set()), ("storage", {"SMS"}), ("sms", {"storage"})]
)
def test_each_permission_that_is_missing_is_found(granted: str, missing: set[str]) -> None:
    shown = f"App 'messaging' has permission for: {granted}."
    rules = [rule for rule in PROBLEMS["mms"].rules if rule.check == "check_app_permissions"]
    assert {rule.cause.split()[-1] for rule in rules if rule.applies(shown)} == missing


# The scripts of the bundled tasks


def test_every_bundled_task_has_a_script_with_a_goal_that_its_user_can_check() -> None:
    for task in TASKS.values():
        script = task.user_scenario.script
        assert script is not None
        assert [goal.tool in TelecomUserTools.tools() for goal in script.goals] == [True]


def test_a_script_says_what_the_prose_says() -> None:
    for task in TASKS.values():
        told, script = task.user_scenario.instructions, task.user_scenario.script
        assert script is not None and not isinstance(told, str)
        for fact in (script.facts["name"], script.facts["phone_number"]):
            assert fact in (told.known_info or "")
        where = script.facts["location"].removeprefix("I am ")
        assert f"You are {where}" in (told.known_info or "")


# Generated tasks


def generated(n: int, seed: int = 1, **difficulty: Any) -> list[Task]:
    assert spec.generate is not None
    return list(spec.generate(n, seed, Difficulty(**difficulty)))


@pytest.mark.exhaustive
def test_generated_tasks_are_solved_by_both() -> None:
    for task in generated(25):
        assert simulated(task, agent="gold", user="gold").reward == 1, task.id
        assert simulated(task).reward == 1, task.id
        assert simulated(task, agent="noop").reward == 0, task.id


def test_the_first_of_a_seed_are_the_same_whatever_their_number() -> None:
    assert generated(12)[:5] == generated(5)
    assert generated(5) != generated(5, seed=2)


def test_ids_are_unique_short_and_safe() -> None:
    ids = [task.id for task in generated(60) + generated(60, faults=9, requests=4, distractors=9)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_.+-]{1,60}", task_id) for task_id in ids)


@pytest.mark.parametrize("faults", [1, 4, 9])
def test_difficulty_sets_the_number_of_faults(faults: int) -> None:
    assert all(f".{faults}-faults." in task.id for task in generated(10, faults=faults))


def test_difficulty_asks_questions_before_the_problem() -> None:
    for task in generated(8, requests=3):
        script = task.user_scenario.script
        assert script is not None
        *questions, problem = script.requests
        assert [request.say[-1] for request in questions] == ["?", "?"]
        assert not problem.say.endswith("?")
        assert len(task.criteria.communicate_info or []) == 2
        assert simulated(task).reward == 1


def test_distractors_are_further_lines() -> None:
    def lines(task: Task) -> int:
        data: Any = task.initial_state and task.initial_state.initialization_data
        return len(data.agent_data["customers"][-1]["line_ids"])

    assert {lines(task) for task in generated(5)} == {1}
    assert {lines(task) for task in generated(5, distractors=3)} == {4}


@pytest.mark.parametrize(
    ("difficulty", "problem"),
    [
        ({"faults": 10}, "1 to 9 faults at once, not 10"),
        ({"faults": 0}, "1 to 9 faults"),
        ({"requests": 5}, "1 to 4 requests in a task, not 5"),
        ({"distractors": 10}, "0 to 9 distractors"),
    ],
)
def test_impossible_difficulty_is_reported(difficulty: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        generated(1, **difficulty)


def test_people_are_invented_and_share_nothing_with_the_bundled_ones() -> None:
    bundled = DOMAIN.environment().dump()["agent"]
    numbers = {line["phone_number"] for line in bundled["lines"]}
    plans: Any = list(DOMAIN.environment().agent_db.plans.scan())  # type: ignore[attr-defined]
    for seed in range(40):
        home = household(random.Random(seed), plans, more_lines=9)
        lines = home.records["lines"]
        assert len(lines) == 10
        assert numbers.isdisjoint(line["phone_number"] for line in lines)
        assert all(re.fullmatch(r"\d{3}-555-01\d\d", line["phone_number"]) for line in lines)
        assert home.records["customers"][0]["email"].endswith("@example.com")


def test_an_answer_with_an_error_is_read_as_one() -> None:
    agent = RulesAgent([], "")
    for text in ("No service.", "303-555-0112"):
        reply = asyncio.run(agent.respond(ToolMessage(content=text)))
    assert reply.tool_calls[0].name == "get_customer_by_phone"
    again = asyncio.run(agent.respond(ToolMessage(content="Error: none", error=True)))
    assert "phone number" in again.content
