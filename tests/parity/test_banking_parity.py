"""The banking domain on the reference's data does what the reference did: calls, end states, verdicts, interfaces."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from import_file import import_file

import pytest_tau
from pytest_tau import Evaluation, SimulationSettings
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.evaluation import BUILT_IN_JUDGES
from pytest_tau.models import load_task_file
from pytest_tau.protocol import Texts, with_texts
from pytest_tau_domains.banking_knowledge import domain
from pytest_tau_domains.banking_knowledge.tools import BankTools
from pytest_tau_domains.banking_knowledge.user_tools import BankUserTools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Domain
    from pytest_tau.models import Simulation, Task

SHARED = Path(__file__).parents[2].parent / "shared"
#: Tools of the retrieval variant with which the recordings were made; they have vectors of their own.
RETRIEVAL = ("KB_search", "grep")
PRISTINE = "af324a7d72aced5889daf6cc044e573ad94ffa3bfe7cf65114fd3cfed5daaa48"
#: Tasks whose reference actions change nothing.
UNCHANGED = ("004", "008", "012", "014")

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.parity,
    pytest.mark.skipif(
        not (SHARED / "tau2-data" / "domains" / "banking_knowledge").is_dir(),
        reason="needs the reference's data and its recorded behaviour, in the folder shared next to the repository",
    ),
]


@pytest.fixture(scope="module")
def official() -> Domain:
    loaded: Domain = domain.load(SHARED / "tau2-data")
    return loaded


@pytest.fixture(scope="module")
def tasks(official: Domain) -> dict[str, Task]:
    return {task.id: task for task in official.tasks(split=None)}


@pytest.fixture(scope="module")
def check() -> Any:
    """The program that compares recordings, which knows what of an answer is free."""
    return import_file(SHARED / "conformance" / "check.py")


def vectors(kind: str) -> Iterator[dict[str, Any]]:
    path = SHARED / "conformance" / f"{kind}_banking_knowledge.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


#: The tools whose answers show the texts of hidden tools.
SHOWING = ("unlock_discoverable_agent_tool", "give_discoverable_user_tool")


def interface() -> list[dict[str, Any]]:
    path = SHARED / "conformance" / "discoverable_banking_knowledge.json"
    tools: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["tools"]
    return tools


def disagreements(official: Domain, tasks: dict[str, Task], vector: dict[str, Any], check: Any) -> Iterator[str]:
    """What differs from a recorded sequence of calls: answers, error flags, and what changed in the database."""
    environment = official.environment(tasks.get(vector["task_id"]))
    before = environment.fork()
    for call in vector["calls"]:
        got = environment.call(call["name"], call["arguments"], call["requestor"])
        same = call["error"] or check.loads(got.content) == check.loads(call["content"])
        if bool(got.error) != call["error"] or not same:
            yield f"{call['name']}({call['arguments']}): expected {call['content']!r}, got {got.content!r}"
    changed = check.diff(before.agent_db.dump(), environment.agent_db.dump())
    if changed != vector["agent_db_changes"]:
        yield f"state: expected {vector['agent_db_changes']}, got {changed}"


def test_every_recorded_call_gives_what_it_gave(official: Domain, tasks: dict[str, Task], check: Any) -> None:
    recordings = list(vectors("calls"))
    wrong = [
        f"{number}, {vector['task_id']}: {text}"
        for number, vector in enumerate(recordings, 1)
        for text in disagreements(official, tasks, vector, check)
    ]
    assert not wrong, f"{len(wrong)} disagree:\n" + "\n".join(wrong[:5])
    assert sum(len(vector["calls"]) for vector in recordings) == 6000


def test_every_recorded_conversation_gets_the_same_verdict(
    official: Domain, tasks: dict[str, Task], check: Any
) -> None:
    recordings = list(vectors("runs"))
    wrong = [
        f"{vector['task_id']}: {text}"
        for vector in recordings
        for _, text in check.check_run(pytest_tau, official, tasks, vector)
    ]
    assert not wrong, f"{len(wrong)} disagree:\n" + "\n".join(wrong[:5])
    assert len(recordings) == 388


def test_the_database_has_the_reference_s_hash_before_and_after_the_reference_actions(
    official: Domain, tasks: dict[str, Task]
) -> None:
    specification = (SHARED / "spec" / "banking.md").read_text(encoding="utf-8")
    recorded = dict(re.findall(r"\b(\d{3}):([0-9a-f]{8})\b", specification))
    recorded |= dict.fromkeys(UNCHANGED, PRISTINE[:8])
    assert official.environment().agent_db.digest() == PRISTINE
    ends = {name.removeprefix("task_"): reference_environment(official, task) for name, task in tasks.items()}
    assert {name: environment.agent_db.digest()[:8] for name, environment in ends.items()} == recorded


def test_a_dump_has_the_tables_of_the_file_in_its_order(official: Domain) -> None:
    dump = official.environment().dump()
    on_disk = json.loads((SHARED / "tau2-data/domains/banking_knowledge/db.json").read_text(encoding="utf-8"))
    filled = {name: table for name, table in dump["agent"].items() if table != {"data": {}, "notes": ""}}
    assert json.dumps(filled) == json.dumps(on_disk)
    assert dump["user"] == dump["agent"]
    assert len(dump["agent"]) == 23


def play(official: Domain, agent: str) -> list[Simulation]:
    settings = SimulationSettings(limits=pytest_tau.Limits(), evaluation=Evaluation(judge=BUILT_IN_JUDGES["accept"]))

    async def everything() -> list[Simulation]:
        tasks = official.tasks(split=None)
        return [await pytest_tau.asimulate(task, domain=official, settings=settings, agent=agent) for task in tasks]

    return asyncio.run(everything())


@pytest.mark.parametrize(("agent", "reward", "reason"), [("gold", 1.0, "user_stop"), ("noop", 0.0, "agent_stop")])
def test_gold_passes_every_task_and_doing_nothing_none(
    official: Domain, agent: str, reward: float, reason: str
) -> None:
    done = play(official, agent)
    assert len(done) == 97
    assert not [each.task_id for each in done if (each.reward, each.termination_reason) != (reward, reason)]


def test_tasks_come_from_the_folder_and_not_from_the_stale_file(official: Domain, tasks: dict[str, Task]) -> None:
    """Source: the specification, section 1.1: 13 of them differ."""
    stale = {task.id: task for task in load_task_file(official.folder / "tasks.json").tasks}
    assert len(tasks) == 97
    assert list(tasks) == sorted(tasks) == list(stale)
    assert sum(tasks[name] != stale[name] for name in tasks) == 13


def without_texts(schema: Any) -> Any:
    """A JSON schema without titles and descriptions."""
    if isinstance(schema, dict):
        texts = [key for key in ("title", "description") if isinstance(schema.get(key), str)]
        return {key: without_texts(value) for key, value in schema.items() if key not in texts}
    return schema


@pytest.mark.parametrize(("side", "toolkit"), [("assistant", BankTools), ("user", BankUserTools)])
def test_the_tools_are_the_reference_s(side: str, toolkit: type[BankTools]) -> None:
    recorded = json.loads((SHARED / "conformance" / "tools_banking_knowledge.json").read_text(encoding="utf-8"))[side]
    expected = [
        (each["name"], each["kind"], each["mutates_state"], without_texts(each["parameters"]))
        for each in recorded
        if each["name"] not in RETRIEVAL
    ]
    ours = toolkit.tools().values()
    assert [(each.name, each.kind, each.mutates, without_texts(each.parameters)) for each in ours] == expected


@pytest.mark.parametrize(("side", "toolkit"), [("assistant", BankTools), ("user", BankUserTools)])
def test_the_hidden_tools_have_the_reference_s_interface(side: str, toolkit: type[BankTools]) -> None:
    ours = toolkit.hidden_tools()
    theirs = [each for each in interface() if each["requestor"] == side]
    assert sorted(ours) == sorted(each["name"] for each in theirs)
    for each in theirs:
        mine = ours[each["name"]]
        assert (mine.kind, mine.mutates) == (each["kind"], each["mutates_state"]), mine.name
        shown = [(name, part["type"]) for name, part in mine.parameters["properties"].items()]
        assert shown == [(part["name"], part["type"]) for part in each["parameters"]], mine.name
        assert mine.parameters["required"] == [part["name"] for part in each["parameters"] if part["required"]]


def test_with_the_official_texts_unlocking_and_giving_answer_what_was_recorded(official: Domain) -> None:
    """Also the descriptions, which are not compared otherwise."""
    offered = json.loads((SHARED / "conformance" / "tools_banking_knowledge.json").read_text(encoding="utf-8"))
    document = {"tools": {official.name: offered}, "discoverable": {official.name: {"tools": interface()}}}
    environment = with_texts(official, Texts.model_validate(document)).environment()
    recorded = {
        (call["name"], json.dumps(call["arguments"])): call
        for vector in vectors("calls")
        for call in vector["calls"]
        if call["name"] in SHOWING and call["content"].startswith("Tool ")
    }
    assert len(recorded) == 71
    for call in recorded.values():
        assert environment.call(call["name"], call["arguments"]).content == call["content"]
