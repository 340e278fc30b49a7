"""The airline domain on the reference's data: its states, its recorded calls, its verdicts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.models import parse_task
from pytest_tau_domains.airline import domain as airline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Database, Domain
    from pytest_tau.models import RewardInfo, Task

    RecordedForm = Callable[[Database, Database], dict[str, dict[str, Any]]]

SHARED = Path(__file__).parents[2].parent / "shared"
RUNS = sorted((SHARED / "runs").glob("airline_*.json.gz"))
PRISTINE = "124e39a664b56402bcd09cb8a6a9cece6acb8462337c969799d5658e3250f263"
#: Tasks with the first 8 digits of the digest after their reference actions; the other tasks end as they begin.
GOLD = """
7:0087f826 8:00766aa3 11:1e46d540 12:df1e46c5 14:b4ea8eff 15:c9500f31 16:c9500f31 17:37ea6df3 18:361a0673
19:e5defef6 20:a561da60 21:9ede9d0d 22:37ea6df3 23:b46d1bed 24:db03cad5 25:d0579b8a 29:55e7aa07 30:dc171787
32:caea5724 33:735ba8f1 35:e0c0bf3e 37:b659ba38 39:964c9e1c 40:96b61d51 42:768a1bf6 44:0c788749
"""
#: Where Python, pydantic or the calculator refuses, the wording is free; the tools' own texts are the reference's.
FREE = ("Error: AirlineTools.", "validation error", "(<string>")

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.parity,
    pytest.mark.skipif(
        not (SHARED / "tau2-data" / "domains" / "airline").is_dir() or not (SHARED / "conformance").is_dir(),
        reason="needs the reference's data and recorded behaviour, in the folder shared next to the repository",
    ),
]


@pytest.fixture(scope="module")
def domain() -> Domain:
    return airline.load(SHARED / "tau2-data")


@pytest.fixture(scope="module")
def tasks(domain: Domain) -> dict[str, Task]:
    return {task.id: task for task in domain.tasks(split=None)}


def vectors(kind: str) -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / "conformance" / f"{kind}_airline.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def verdicts(reward: RewardInfo) -> dict[str, Any]:
    return {
        "db_match": reward.db_check.db_match if reward.db_check else None,
        "actions": [check.action_match for check in reward.action_checks or []],
        "communicate": [check.met for check in reward.communicate_checks or []],
    }


def test_the_untouched_database_has_the_reference_s_digest(domain: Domain) -> None:
    assert domain.environment().agent_db.digest() == PRISTINE


def test_reference_actions_lead_to_the_reference_s_states(
    domain: Domain, tasks: dict[str, Task], digest_of: Callable[[Database], str]
) -> None:
    gold = dict(pair.split(":") for pair in GOLD.split())
    for place, (task_id, task) in enumerate(tasks.items()):
        state = reference_environment(domain, task).agent_db
        digest = digest_of(state) if place % 10 else state.digest()
        assert digest[:8] == gold.get(task_id, PRISTINE[:8]), task_id


def test_splits(domain: Domain) -> None:
    counts = {split: len(domain.tasks(split)) for split in ("base", "train", "test")}
    assert counts == {"base": 50, "train": 30, "test": 20}


def test_recorded_calls(domain: Domain, tasks: dict[str, Task], recorded_form: RecordedForm) -> None:
    for position, vector in enumerate(vectors("calls")):
        task = tasks[vector["task_id"]] if vector["task_id"] is not None else None
        before, env = domain.environment(task), domain.environment(task)
        for call in vector["calls"]:
            reply = env.call(call["name"], call["arguments"], call["requestor"])
            told = f"vector {position}: {call} -> {reply.content}"
            assert reply.error == call["error"], told
            if not any(text in call["content"] for text in FREE):
                assert reply.content == call["content"], told
        found = recorded_form(before.agent_db, env.agent_db)
        # A number's type is not looked at.
        found = {path: sides for path, sides in found.items() if len(sides) == 1 or sides["old"] != sides["new"]}
        assert found == vector["agent_db_changes"], f"vector {position}"


def test_recorded_verdicts(domain: Domain, tasks: dict[str, Task]) -> None:
    for position, vector in enumerate(vectors("runs")):
        reason, told = vector["termination_reason"], f"vector {position}: {vector['task_id']} {vector['variant']}"
        reward = pytest_tau.evaluate(
            tasks[vector["task_id"]], vector["messages"], termination_reason=reason, domain=domain
        )
        if reason not in ("user_stop", "agent_stop"):
            assert reward.reward == 0, told
            continue
        want = {part: verdict for part, verdict in vector["expected"].items() if "exception" not in verdict}
        expected = {
            "db_match": want["env"]["db_match"],
            "actions": want["action"]["actions"] or [],
            "communicate": want["communicate"]["communicate"] or [],
        }
        assert verdicts(reward) == expected, told
        assert reward.reward == want["all"]["reward"], told


@pytest.mark.parametrize("file", RUNS, ids=lambda file: file.name.removesuffix(".json.gz"))
def test_recorded_runs_of_models(domain: Domain, file: Path) -> None:
    run = json.loads(gzip.decompress(file.read_bytes()))
    tasks = {task["id"]: parse_task(task) for task in run["tasks"]}
    expected = json.loads((SHARED / "runs" / "expected" / file.name.removesuffix(".gz")).read_text(encoding="utf-8"))
    assert len(expected) == len(run["simulations"])
    for simulation, want in zip(run["simulations"], expected, strict=True):
        reward = pytest_tau.evaluate(
            tasks[simulation["task_id"]],
            simulation["messages"],
            termination_reason=simulation["termination_reason"],
            domain=domain,
        )
        assert reward.reward == want["reward_without_judge"], simulation["id"]
        if "db_match" in want:  # the reference computes nothing for a conversation that was cut short
            found = {key: want[key] for key in ("db_match", "actions", "communicate")}
            assert verdicts(reward) == found, simulation["id"]


def test_tools_have_the_reference_s_schemas(domain: Domain) -> None:
    recorded = json.loads((SHARED / "conformance" / "tools_airline.json").read_text(encoding="utf-8"))
    ours = [
        (tool.name, tool.kind, tool.mutates, without_prose(tool.parameters)) for tool in domain.environment().tools()
    ]
    assert ours == [
        (tool["name"], tool["kind"], tool["mutates_state"], without_prose(tool["parameters"]))
        for tool in recorded["assistant"]
    ]


def without_prose(schema: Any, *, names: bool = False) -> Any:
    """A JSON schema without titles and descriptions; ``names`` where its keys are names of one's own."""
    if isinstance(schema, list):
        return [without_prose(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: without_prose(value, names=key in ("properties", "$defs"))
        for key, value in schema.items()
        if names or key not in ("title", "description")
    }
