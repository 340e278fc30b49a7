"""The retail domain on the reference's data does what the reference did: calls, end states, verdicts, schemas."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.environment.reference_states import reference_environment
from pytest_tau.models import RewardInfo, Task
from pytest_tau.testing import ScriptedJudge
from pytest_tau_domains.retail import domain
from pytest_tau_domains.retail.tools import RetailTools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_tau.environment import Database, Domain

    RecordedForm = Callable[[Database, Database], dict[str, dict[str, Any]]]

SHARED = Path(__file__).parents[2].parent / "shared"
RUNS = ["retail_one", "retail_gpt-4.1", "retail_gpt-4.1_sft"]

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.parity,
    pytest.mark.skipif(
        not (SHARED / "tau2-data" / "domains" / "retail").is_dir(),
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


def vectors(kind: str) -> Iterator[dict[str, Any]]:
    with gzip.open(SHARED / "conformance" / f"{kind}_retail.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def decoded(text: str | None) -> Any:
    try:
        return json.loads(text or "")
    except ValueError:
        return text


def evaluate(task: Task, recording: dict[str, Any], official: Domain) -> RewardInfo:
    """The verdict on a recorded conversation, with a judge whom nothing convinces."""
    judge = ScriptedJudge(dict.fromkeys(task.criteria.nl_assertions or [], False))
    reason = recording["termination_reason"]
    return pytest_tau.evaluate(task, recording["messages"], termination_reason=reason, domain=official, judge=judge)


def without_texts(schema: Any) -> Any:
    """A JSON schema without titles and descriptions."""
    if isinstance(schema, dict):
        texts = [key for key in ("title", "description") if isinstance(schema.get(key), str)]
        return {key: without_texts(value) for key, value in schema.items() if key not in texts}
    return schema


def test_the_tools_are_the_reference_s() -> None:
    theirs = json.loads((SHARED / "conformance" / "tools_retail.json").read_text(encoding="utf-8"))["assistant"]
    expected = [(t["name"], t["kind"], t["mutates_state"], without_texts(t["parameters"])) for t in theirs]
    ours = RetailTools.tools().values()
    assert [(t.name, t.kind, t.mutates, without_texts(t.parameters)) for t in ours] == expected


def test_databases_have_the_reference_s_hash_before_and_after_the_reference_actions(
    official: Domain, tasks: dict[str, Task], digest_of: Callable[[Database], str]
) -> None:
    specification = (SHARED / "spec" / "retail.md").read_text(encoding="utf-8")
    hashes = dict(re.findall(r"\b(\d+):([0-9a-f]{8})\b", specification))
    pristine = "b25c9cb211f5efcaee5dd646054a73c4a9f43f4f5acc32c10713cd9f9ac20e9c"
    assert official.environment().agent_db.digest() == pristine
    found = {}
    for place, (name, task) in enumerate(tasks.items()):
        state = reference_environment(official, task).agent_db
        found[name] = (digest_of(state) if place % 20 else state.digest())[:8]
    assert found == {name: hashes.get(name, pristine[:8]) for name in tasks}
    assert (len(found), len(hashes)) == (114, 103)


def test_every_recorded_call_is_answered_as_by_the_reference(
    official: Domain, tasks: dict[str, Task], recorded_form: RecordedForm
) -> None:
    count = 0
    for vector in vectors("calls"):
        task = tasks.get(vector["task_id"])
        env, before = official.environment(task), official.environment(task).agent_db
        for call in vector["calls"]:
            reply = env.call(call["name"], call["arguments"], call["requestor"])
            assert reply.error == call["error"], (call, reply.content)
            assert reply.error or decoded(reply.content) == decoded(call["content"]), (call, reply.content)
            count += 1
        # Recorded paths are JSON pointers: a slash inside a key is escaped.
        recorded = {path.replace("~1", "/"): values for path, values in vector["agent_db_changes"].items()}
        assert recorded_form(before, env.agent_db) == recorded
    assert count == 7500


def test_every_recorded_conversation_is_judged_as_by_the_reference(official: Domain, tasks: dict[str, Task]) -> None:
    for vector in vectors("runs"):
        reward, expected = evaluate(tasks[vector["task_id"]], vector, official), vector["expected"]
        if vector["termination_reason"] not in ("user_stop", "agent_stop"):
            assert reward.reward == 0
            continue
        assert reward.db_check is not None
        assert reward.db_check.db_match == expected["env"]["db_match"]
        assert [check.action_match for check in reward.action_checks or []] == (expected["action"]["actions"] or [])
        told = [check.met for check in reward.communicate_checks or []]
        assert told == (expected["communicate"]["communicate"] or [])
        if "all" in expected:
            assert reward.reward == expected["all"]["reward"]


@pytest.mark.parametrize("name", RUNS)
def test_published_runs_of_models_earn_what_they_earned(official: Domain, name: str) -> None:
    with gzip.open(SHARED / "runs" / f"{name}.json.gz") as file:
        run = json.load(file)
    verdicts = json.loads((SHARED / "runs" / "expected" / f"{name}.json").read_text(encoding="utf-8"))
    expected = {verdict["id"]: verdict for verdict in verdicts}
    embedded = {task["id"]: Task.model_validate(task) for task in run["tasks"]}
    assert len(expected) == len(run["simulations"])
    for simulation in run["simulations"]:
        reward, verdict = evaluate(embedded[simulation["task_id"]], simulation, official), expected[simulation["id"]]
        assert not verdict["judge"]
        assert reward.reward == verdict["stored_reward"] == verdict["reward_without_judge"]
        assert reward.db_check is not None
        assert reward.db_check.db_match == verdict["db_match"]
        assert [check.met for check in reward.env_assertions or []] == verdict["env_assertions"]
        assert [check.action_match for check in reward.action_checks or []] == verdict["actions"]
        assert [check.met for check in reward.communicate_checks or []] == verdict["communicate"]
