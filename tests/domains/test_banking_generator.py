"""The bundled bank: documents, tables and tasks agree with each other, play through, and ask for what they grade."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from for_each import for_each

from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.knowledge import read_documents
from pytest_tau_domains.banking_knowledge import domain as spec
from pytest_tau_domains.banking_knowledge.tables import BankDB
from pytest_tau_domains.banking_knowledge.tasks.builder import build_tasks
from pytest_tau_domains.banking_knowledge.tasks.documents import document_files
from pytest_tau_domains.banking_knowledge.tasks.generator import SMALL
from pytest_tau_domains.banking_knowledge.tasks.products import CARDS, CHECKING, SAVINGS
from pytest_tau_domains.banking_knowledge.tasks.scenarios import SCENARIOS
from pytest_tau_domains.banking_knowledge.tasks.verify import environment_of, verify
from pytest_tau_domains.banking_knowledge.tasks.world import World, records_of
from pytest_tau_domains.banking_knowledge.user_tools import BankUserTools

if TYPE_CHECKING:
    from pytest_tau.models import Action, Task
    from pytest_tau.models.tasks import Instructions

pytestmark = pytest.mark.exhaustive

DOMAIN = spec.load()
DB = cast("BankDB", DOMAIN.environment().agent_db)
RECORDS = records_of(DB)
ALL = DOMAIN.tasks(split=None)
TASKS = {task.id: task for task in ALL}
DOCUMENTS = {document.id: document for document in read_documents(spec.folder / "documents")}
HIDDEN = {info for info, tool in DOMAIN.environment().tool_infos.items() if tool.hidden}


every_task = for_each(TASKS)


def actions(task: Task) -> list[Action]:
    return task.criteria.actions or []


def altered(task: Task, **criteria: Any) -> Task:
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update=criteria)})


# The files


def test_the_committed_documents_about_products_are_made_from_the_tables() -> None:
    written = {path.name: path.read_text("utf-8") for path in (spec.folder / "documents").glob("*.json")}
    assert written == document_files()


def test_scenario_without_a_fitting_customer_is_reported() -> None:
    nobody = replace(SCENARIOS[0], drafts=lambda world: [])
    with pytest.raises(ConfigurationError, match=f"scenario '{nobody.task_id}'"):
        build_tasks([nobody], World(RECORDS))


def test_splits() -> None:
    sizes = {split: len(DOMAIN.tasks(split)) for split in DOMAIN.splits}
    assert sizes == {"base": 99, "small": 12, "train": 66, "test": 33}
    train, test, base = (set(DOMAIN.splits[split]) for split in ("train", "test", "base"))
    assert not train & test
    assert train | test == base == set(TASKS)
    assert set(DOMAIN.splits["small"]) == set(SMALL) <= base


# The documents


def test_documents_are_many_and_whole() -> None:
    assert len(DOCUMENTS) >= 120
    for document in DOCUMENTS.values():
        assert re.fullmatch(r"[a-z0-9_]+", document.id)
        assert re.match(r"In force since: \d\d/\d\d/\d{4}\n\n\S", document.content), document.id
        assert not re.search(r"[{}]|\bNone\b", document.content), document.id


def test_documents_name_only_tools_that_there_are() -> None:
    users = {name for name, tool in BankUserTools.tool_infos.items() if tool.hidden}
    named = {name for document in DOCUMENTS.values() for name in re.findall(r"`(\w+)`", document.content)}
    assert named <= HIDDEN | users
    assert users <= named
    # Of no use in this bank: an example, and transfers that official tasks have.
    assert HIDDEN - named == {
        "initial_transfer_to_human_agent_0218",
        "emergency_credit_bureau_incident_transfer_1114",
        "initial_transfer_to_human_agent_1822",
        "example_agent_tool_0000",
    }


def test_outdated_documents_have_the_title_of_the_present_one_and_another_date() -> None:
    titles = Counter(document.title for document in DOCUMENTS.values())
    twice = [title for title, count in titles.items() if count > 1]
    assert len(twice) >= 8
    for title in twice:
        dates = [document.content[:30] for document in DOCUMENTS.values() if document.title == title]
        assert len(set(dates)) == len(dates)


def test_every_product_has_its_documents() -> None:
    names = [*(card.name for card in CARDS), *(account.name for account in (*CHECKING, *SAVINGS))]
    for name in names:
        assert sum(document.title.startswith(f"{name}: ") for document in DOCUMENTS.values()) >= 2


# The tables


def test_records_belong_together() -> None:
    users, accounts = RECORDS["users"], RECORDS["accounts"]
    assert all(
        record["user_id"] in users for table in ("accounts", "debit_cards") for record in RECORDS[table].values()
    )
    assert all(card["account_id"] in accounts for card in RECORDS["debit_cards"].values())
    assert all(
        record["credit_card_account_id"] in RECORDS["credit_card_accounts"]
        for table in ("payment_history", "credit_card_transaction_history")
        for record in RECORDS[table].values()
    )
    assert len({user["email"] for user in users.values()}) == len(users)
    assert all(user["email"].endswith("@example.com") for user in users.values())


# The tasks


@every_task
def test_every_reference_action_succeeds_counts_and_can_be_known(task: Task) -> None:
    verify(task, DB)


@every_task
def test_texts_are_whole(task: Task) -> None:
    assert not re.search(r"[{}]|\bNone\b|  ", str(task.user_scenario))
    assert cast("Instructions", task.user_scenario.instructions).domain == "banking_knowledge"
    script = task.user_scenario.script
    assert script
    assert not re.search(r"\b[Yy]our?\b", " ".join(request.say for request in script.requests))


def test_tasks_are_about_much() -> None:
    called = {
        action.arguments["agent_tool_name"]
        for task in ALL
        for action in actions(task)
        if action.name == "call_discoverable_agent_tool"
    }
    assert len(called) >= 28
    assert {user["name"] for user in RECORDS["users"].values()} >= {name(task) for task in ALL}
    assert len({name(task) for task in ALL}) >= 35
    refused = [task.id for task in ALL if len(actions(task)) <= 2]
    assert 10 <= len(refused) <= 30


def name(task: Task) -> str:
    script = task.user_scenario.script
    assert script
    return script.facts["name"]


# Verification


def test_verify_finds_what_is_wrong_with_a_task() -> None:
    task = TASKS["move-to-savings"]
    *before, unlock, move = actions(task)
    other = json.loads(move.arguments["arguments"]) | {"source_account_id": "chk_unknown"}
    unknown = move.model_copy(update={"arguments": {**move.arguments, "arguments": json.dumps(other)}})
    broken = {
        "has not been unlocked": [*before, move],
        "where should the agent know 'chk_unknown'": [*before, unlock, unknown],
        "is not needed": [*before, unlock, unlock.model_copy(update={"action_id": "again"}), move],
        "doing nothing passes": [],
    }
    for problem, bad in broken.items():
        with pytest.raises(TaskFormatError, match=problem):
            verify(altered(task, actions=bad, communicate_info=[]), DB)
    without = task.model_copy(update={"required_documents": ["identity_check", "account_overview"]})
    with pytest.raises(TaskFormatError, match="no required document names the tool transfer_funds"):
        verify(without, DB)
    missing = task.model_copy(update={"required_documents": ["no_such_document"]})
    with pytest.raises(TaskFormatError, match="no such document"):
        verify(missing, DB)


def test_tasks_change_the_records_that_they_start_from() -> None:
    task = TASKS["limit-of-a-young-card"]
    before = environment_of(task, DB).dump()
    assert before != DOMAIN.environment().dump()
    assert before == DOMAIN.environment(task).dump()
