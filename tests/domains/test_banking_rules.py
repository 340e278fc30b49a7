"""The bank's rules agent: what it solves, that it reads before it acts, and what the saboteurs of reading do to it."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import talks
from talks import Conversation, bundled, calls_with_answers

from pytest_tau import load_domain, simulate
from pytest_tau.environment import Difficulty, Retrieval
from pytest_tau.models import UserMessage
from pytest_tau_domains.banking_knowledge.agent import reading
from pytest_tau_domains.banking_knowledge.agent.requests import KINDS
from pytest_tau_domains.banking_knowledge.agent.rules_agent import RulesAgent

if TYPE_CHECKING:
    from pytest_tau.models import Simulation, Task

ROOT = Path(__file__).parents[2]
DOMAIN = load_domain("banking_knowledge")
TASKS = {task.id: task for task in DOMAIN.tasks("base")}
FLOOR = 0.95
UNLOCK, CALL = "unlock_discoverable_agent_tool", "call_discoverable_agent_tool"


def spoken_to(retrieval: Retrieval | None = None) -> Conversation:
    environment = DOMAIN.environment(retrieval=retrieval)
    return Conversation(RulesAgent(environment.tools(), environment.policy), environment)


@pytest.fixture(scope="module")
def simulations() -> dict[str, Simulation]:
    """Every task of the base set, played by the rules agent and the scripted user."""
    return {task_id: talk(task) for task_id, task in TASKS.items()}


def talk(task: Task, agent: str = "rules") -> Simulation:
    """Return the conversation of a task of the base set, which other tests look at, too."""
    assert not task.needs_judge
    assert bundled(DOMAIN.name)[1][task.id] == task
    return talks.talk(DOMAIN.name, task.id, agent)


def test_it_unlocks_only_tools_that_it_has_read_about_and_calls_all_of_them(
    simulations: dict[str, Simulation],
) -> None:
    for task_id, simulation in simulations.items():
        read, unlocked, called = "", set(), set()
        for call, answer in calls_with_answers(simulation):
            if call.name == "KB_search":
                read += answer.content or ""
            elif call.name == UNLOCK:
                assert f"`{call.arguments['agent_tool_name']}`" in read, task_id
                unlocked.add(call.arguments["agent_tool_name"])
            elif call.name == CALL:
                called.add(call.arguments["agent_tool_name"])
        assert unlocked == called, task_id


def test_it_looks_at_no_record_before_the_customer_is_identified(simulations: dict[str, Simulation]) -> None:
    free = {"KB_search", "get_user_information_by_name", "get_current_time", "log_verification"}
    for task_id, simulation in simulations.items():
        identified = False
        for call, _ in calls_with_answers(simulation):
            handed_over = call.name == "transfer_to_human_agents"
            assert identified or handed_over or call.name in free, (task_id, call.name)
            identified = identified or call.name == "log_verification"


@pytest.mark.parametrize("variant", ["grep_only", "full_kb", "golden_retrieval"])
def test_it_reads_in_other_ways_too(variant: str) -> None:
    passed = 0
    for task_id in DOMAIN.splits["small"]:
        environment = DOMAIN.environment(TASKS[task_id], retrieval=Retrieval(variant))
        agent = RulesAgent(environment.tools(), environment.policy)
        first = asyncio.run(agent.respond(UserMessage(content=script_of(TASKS[task_id]).requests[0].say)))
        passed += bool(first.content or first.tool_calls)
        if variant != "grep_only" and first.tool_calls:
            assert first.tool_calls[0].name != "KB_search"
    assert passed == len(DOMAIN.splits["small"])


def test_without_documents_it_does_nothing() -> None:
    conversation = spoken_to(Retrieval("no_knowledge"))
    user = next(iter(DOMAIN.environment().agent_db.dump()["users"]["data"].values()))
    conversation.say("I want to transfer $5 from my Blue Account to my Gold Account.")
    answer = conversation.say(
        f"My name is {user['name']}. My date of birth is {user['date_of_birth']}. My phone number is "
        f"{user['phone_number']}."
    )
    assert "no document" in answer
    assert UNLOCK not in [name for name, _ in conversation.calls]


def test_a_customer_who_proves_nothing_is_not_identified() -> None:
    conversation = spoken_to()
    user = next(iter(DOMAIN.environment().agent_db.dump()["users"]["data"].values()))
    conversation.say("I want to change my email address to new@example.org.")
    conversation.say(f"My name is {user['name']}. My date of birth is {user['date_of_birth']}.")
    answer = conversation.say(f"My name is {user['name']}. My phone number is 218-555-9999.")
    assert "cannot identify you" in answer
    assert {name for name, _ in conversation.calls} == {"KB_search", "get_user_information_by_name"}


def script_of(task: Task) -> Any:
    assert task.user_scenario.script
    return task.user_scenario.script


# Reading


def hits(*documents: tuple[str, str]) -> str:
    return "\n".join(
        f"{number}. {title}\n   ID: d{number}\n   Score: 1.0000\n   Content: {content}\n"
        for number, (title, content) in enumerate(documents, 1)
    )


def test_the_later_of_two_documents_counts_whatever_comes_first() -> None:
    old = ("Fees", "In force since: 01/02/2023\n\nUse `close_it_1111`.\n\n- Fee: $5")
    new = ("Fees", "In force since: 02/01/2024\n\nUse `close_it_2222`.\n\n- Fee: $9")
    for order in ([old, new], [new, old]):
        library = reading.Library()
        library.add_hits(hits(*order))
        assert (library.fact("Fee"), library.tool("close_it")) == ("$9", "close_it_2222")


def test_statements_are_found_by_label_and_title() -> None:
    library = reading.Library()
    library.add_hits(hits(("Gold: fees", "- Late fee: $5"), ("Business Gold: fees", "- Late fee: $7")))
    assert library.fact("Late fee", "Gold: fees") == "$5"
    assert library.fact("Annual fee") is None
    assert library.answer("What is the late fee of Business Gold?") == "Late fee (Business Gold: fees): $7"


def test_records_of_an_answer() -> None:
    text = "Found 2 record(s) in 'users':\n\n1. Record ID: a\n   name: Al: B\n   open: True\n\n2. Record ID: b\n   name: C\n"
    assert reading.records(text) == [{"name": "Al: B", "open": "True"}, {"name": "C"}]
    assert reading.records("No records found in 'users'.") == []


def test_every_kind_of_request_occurs() -> None:
    asked = [request for task in TASKS.values() for request in script_of(task).requests]
    texts = [text for request in asked for text in (request.say, request.fallback or "") if text]
    found = {
        next((kind.name for kind in KINDS if re.search(kind.pattern, text, re.IGNORECASE)), text) for text in texts
    }
    assert found == {kind.name for kind in KINDS}


# The page


def test_the_numbers_in_the_docs_are_those_of_the_bundle() -> None:
    text = (ROOT / "docs" / "knowledge.md").read_text("utf-8")
    tables = DOMAIN.environment().agent_db.dump()
    count = len(list((ROOT / "domains" / "banking_knowledge" / "documents").iterdir()))
    sizes = {name: len(tables[name]["data"]) for name in ("users", "accounts", "credit_card_accounts", "debit_cards")}
    assert f"{sizes['users']}, with {sizes['accounts']} bank accounts, {sizes['credit_card_accounts']} credit" in text
    assert f"{sizes['debit_cards']} debit cards" in text
    assert f"{count}: {count - 64} about products, 44 procedures" in text
    assert f"{len(TASKS)} trials; {len(TASKS)} passed" in text


# Saboteurs


@pytest.mark.exhaustive
def test_a_stale_document_is_caught_by_tasks_about_it(simulations: dict[str, Simulation]) -> None:
    failed = {task_id for task_id, task in TASKS.items() if talk(task, "saboteur:trusts-stale-document").reward != 1}
    assert {"limit-of-a-young-card", "dispute-an-old-charge", "open-savings-too-soon"} <= failed
    assert len(failed) == 12
    assert all(simulations[task_id].reward == 1 for task_id in failed)


@pytest.mark.exhaustive
def test_acting_before_reading_is_caught_by_the_state() -> None:
    for task in TASKS.values():
        hidden = any(action.name == CALL for action in task.criteria.actions or [])
        assert (talk(task, "saboteur:acts-before-reading").reward == 1) is not hidden, task.id


@pytest.mark.exhaustive
def test_unlocking_without_need_is_seen_in_calls_and_caught_where_a_tool_is_given() -> None:
    caught = 0
    for task in list(TASKS.values())[:40]:
        simulation = talk(task, "saboteur:unlocks-without-need")
        made = [call for call, _ in calls_with_answers(simulation)]
        unlocked = {call.arguments["agent_tool_name"] for call in made if call.name == UNLOCK}
        called = {call.arguments["agent_tool_name"] for call in made if call.name == CALL}
        given = {call.arguments["discoverable_tool_name"] for call in made if call.name.startswith("give_")}
        wanted = {
            action.arguments["discoverable_tool_name"]
            for action in task.criteria.actions or []
            if action.name.startswith("give_")
        }
        assert not called or unlocked > called, task.id
        assert (simulation.reward == 1) is (given == wanted), task.id
        caught += simulation.reward != 1
    assert caught


# New tasks


@pytest.mark.exhaustive
def test_generated_tasks_are_sound_new_and_reproducible() -> None:
    assert DOMAIN.spec.generate
    easy = list(DOMAIN.spec.generate(60, 1, Difficulty()))
    assert easy[:5] == list(DOMAIN.spec.generate(5, 1, Difficulty()))
    assert len({str(task.user_scenario) for task in easy}) == len(easy)
    bundled = {str(task.user_scenario) for task in TASKS.values()}
    assert sum(str(task.user_scenario) in bundled for task in easy) <= 3
    hard = list(DOMAIN.spec.generate(15, 1, Difficulty(requests=3, distractors=2)))
    assert all(len(script_of(task).requests) == 3 for task in hard)
    assert all(script_of(task).requests[0].say.count("By the way") == 2 for task in hard)
    for task in (*easy, *hard):
        assert simulate(task, domain=DOMAIN, agent="gold").reward == 1, task.id
        assert simulate(task, domain=DOMAIN, agent="noop").reward == 0, task.id
    talked = {task.id: simulate(task, domain=DOMAIN, agent="rules", user="scripted") for task in (*easy, *hard)}
    failed = [task_id for task_id, simulation in talked.items() if simulation.reward != 1]
    assert len(failed) <= 3, failed


def test_arguments_of_hidden_tools_are_json() -> None:
    for task in TASKS.values():
        for action in task.criteria.actions or []:
            if action.name == CALL:
                assert isinstance(json.loads(action.arguments["arguments"]), dict)
