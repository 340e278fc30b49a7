"""Records of trials, and runs that they are read from."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from trial_records import write_records

from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Attribution, Notes, Simulation, Task
from pytest_tau.runs.baseline import write_baseline
from pytest_tau.runs.layout import RECORDS, RUNS
from pytest_tau.runs.make_record import groups_of, make_record
from pytest_tau.runs.manifest import read_manifest, write_manifest
from pytest_tau.runs.reader import open_run
from pytest_tau.runs.record import TrialRecord

from .tiny import task

if TYPE_CHECKING:
    from pathlib import Path


def simulation(task_id: str = "t", trial: int = 0, reward: float = 0.0, **more: Any) -> Simulation:
    call = {"id": "c", "name": "find", "arguments": {"a": 1}}
    messages = [
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "Find it"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "id": "c", "content": "Error: no", "error": True},
        {"role": "assistant", "content": "It is not there."},
        {"role": "user", "content": "###STOP###"},
    ]
    verdict = {
        "reward": reward,
        "reward_basis": ["DB", "ACTION"],
        "reward_breakdown": {"DB": 0.0, "ACTION": 1.0},
        "db_check": {"db_match": False, "db_reward": 0.0},
        "communicate_checks": [{"info": "42", "met": False, "justification": ""}],
        "action_checks": [
            {"action": {"action_id": "x", "name": "find"}, "action_match": True, "action_reward": 1.0},
            {"action": {"action_id": "y", "name": "tell"}, "action_match": False, "action_reward": 0.0},
        ],
    }
    fields = {"id": "s", "task_id": task_id, "trial": trial, "termination_reason": "user_stop", "messages": messages}
    return Simulation.model_validate({**fields, "reward_info": verdict, **more})


def line(test: str, **more: Any) -> str:
    return json.dumps({"test": test, "domain": "mock", **simulation(**more).model_dump(mode="json")}) + "\n"


def test_the_facts_of_a_simulation() -> None:
    usage = {"agent": {"model": "m", "calls": 2, "known_cost": 0.5}, "user": {"calls": 1, "unpriced_calls": 1}}
    record = make_record(simulation(model_usage=usage, duration=2.5), None, "mock", "mock::t[trial-0]")
    assert (record.outcome, record.messages, record.turns, record.calls, record.failed_calls) == ("failed", 6, 5, 1, 1)
    assert record.failed_checks == ("DB", "ACTION tell")  # COMMUNICATE is not in the basis
    assert (record.known_cost, record.unpriced_calls, record.cost) == (0.5, 1, None)


def test_a_record_comes_back_from_json() -> None:
    usage = {"agent": {"model": "m", "calls": 2, "known_cost": 0.5}}
    told = {"blame": {"party": "agent", "reason": "r"}}
    record = make_record(simulation(model_usage=usage, info=told, seed=4), task(), "mock", "x", restored=True)
    assert TrialRecord.model_validate(json.loads(json.dumps(record.as_dict()))) == record
    assert record.info == Notes(blame=Attribution("agent", "r"))


def test_a_record_of_a_later_version_is_read() -> None:
    record = make_record(simulation(), None, "mock")
    assert TrialRecord.model_validate({**record.as_dict(), "unheard_of": 1}) == record


@pytest.mark.parametrize(
    ("task_id", "more", "groups"),
    [
        ("[mms_issue]a|b[PERSONA:Easy]", {}, {"intent": "mms_issue", "persona": "Easy", "actions": "0"}),
        ("mms.airplane+2g.hurried", {}, {"intent": "mms", "persona": "hurried", "actions": "0"}),
        ("service.airplane", {}, {"intent": "service", "actions": "0"}),
        ("service.3-faults.s300-16", {}, {"intent": "service", "actions": "0"}),
        ("cancel", {"description": {"relevant_policies": "Cancelling"}}, {"intent": "Cancelling", "actions": "0"}),
        ("cancel", {"description": {"relevant_policies": "x" * 61}}, {"actions": "0"}),
        ("cancel", {"annotations": {"tags": ["a", "b"]}}, {"tags": "a, b", "actions": "0"}),
    ],
)
def test_what_a_task_is_counted_under(task_id: str, more: dict[str, Any], groups: dict[str, str]) -> None:
    found = groups_of(Task.model_validate({"id": task_id, "user_scenario": {"instructions": "x"}, **more}))
    assert found == groups


def test_a_run_s_folder(tmp_path: Path) -> None:
    folder = tmp_path / ".tau" / "runs" / "20260101-000000-1-mock"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"format": 1}')
    # What was run again counts as it was the last time; a line that was cut off counts as nothing.
    lines = [line("mock::a", reward=0.0), line("mock::b"), line("mock::a", reward=1.0), line("mock::c")[:50]]
    (folder / "simulations.jsonl").write_text("".join(lines))
    run = open_run(root=tmp_path)
    assert (run.name, run.info) == (folder.name, {"format": 1})
    assert [(each.test, each.reward) for each in run.records()] == [("mock::b", 0.0), ("mock::a", 1.0)]
    (problem,) = run.problems
    assert "simulations.jsonl" in problem
    assert [each.simulation.messages[0].content for each in run.trials()] == ["Hello", "Hello"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("{", "cannot be read"), ("[1]", "got None"), ("{}", "got None"), ('{"format": 7}', "expected format 1, got 7")],
)
def test_a_folder_with_a_manifest_that_is_not_ours_is_refused_as_when_resuming(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "simulations.jsonl").write_text(line("mock::a"))
    for read in (open_run, read_manifest):
        with pytest.raises(ConfigurationError, match=problem) as caught:
            read(tmp_path)
        assert str(tmp_path / "run.json") in str(caught.value)


def test_a_baseline_of_somebody_s_result_file_is_read(tmp_path: Path) -> None:
    header = {"environment_info": {"domain_name": "mock"}, "blessed": "results"}
    write_baseline(tmp_path, [make_record(simulation(), None, "mock")], header)
    assert open_run(tmp_path).info == header


def test_the_latest_run_is_opened(tmp_path: Path) -> None:
    for number, name in enumerate(("20260102-000000-7-mock", "20260101-000000-9-mock")):
        file = tmp_path / ".tau" / "runs" / name / "simulations.jsonl"
        file.parent.mkdir(parents=True)
        file.write_text(line("x"))
        os.utime(file, (10 - number, 10 - number))
    assert open_run(root=tmp_path).name == "20260102-000000-7-mock"
    assert open_run("20260101-000000-9-mock", tmp_path).name == "20260101-000000-9-mock"
    assert open_run(tmp_path / ".tau" / "runs", tmp_path).name == "20260102-000000-7-mock"


def test_a_baseline_has_records_alone(tmp_path: Path) -> None:
    folder = tmp_path / ".tau" / "baseline"
    record = make_record(simulation(), None, "mock", "mock::t")
    write_records(folder, [record])
    run = open_run("baseline", tmp_path)
    assert run.records() == [record]
    with pytest.raises(ConfigurationError, match="only records"):
        list(run.trials())
    earlier = {"domain": "mock", "task_id": "t", "trial": 0, "outcome": "passed", "reward": 1.0}
    (folder / "records.jsonl").write_text(json.dumps(earlier) + "\n")
    with pytest.raises(ConfigurationError, match=r"of an earlier version.*again with tau bless RUN"):
        run.records()
    (folder / "records.jsonl").write_text('{"domain": "mock"}\n')
    with pytest.raises(ConfigurationError, match=r"records\.jsonl, line 1: not a record of a trial"):
        run.records()


def test_a_result_file_of_the_reference(tmp_path: Path) -> None:
    entry = simulation(reward=1.0).model_dump(mode="json") | {"duration": 3.0, "agent_cost": 0.25}
    info = {"environment_info": {"domain_name": "mock"}, "num_trials": 1}
    (tmp_path / "r.json").write_text(json.dumps({"info": info, "tasks": [], "simulations": [entry]}))
    run = open_run("r.json", tmp_path)
    (record,) = run.records()
    assert (run.name, record.domain, record.outcome, record.duration) == ("r", "mock", "passed", 3.0)
    assert info.items() <= run.info.items()


@pytest.mark.parametrize(("usage", "cost"), [({"prompt_tokens": 9, "completion_tokens": 1}, None), (None, 0.5)])
def test_the_cost_of_a_file_is_unknown_if_the_agent_s_model_had_no_price(
    tmp_path: Path, usage: dict[str, int] | None, cost: float | None
) -> None:
    said = {"role": "assistant", "content": "Hello.", "cost": 0.0, "usage": usage}
    entry = {"task_id": "t", "messages": [said], "agent_cost": 0.0, "user_cost": 0.5}
    info = {"environment_info": {"domain_name": "mock"}}
    (tmp_path / "r.json").write_text(json.dumps({"info": info, "tasks": [], "simulations": [entry]}))
    (record,) = open_run("r.json", tmp_path).records()
    assert record.cost == cost


def test_each_entry_that_cannot_be_read_is_listed_once(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text("{}\n" * 60)
    run = open_run("r.jsonl", tmp_path)
    for _ in range(2):
        assert list(run.trials()) == []
        assert len(run.problems) == 60


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no run is stored"):
        open_run(root=tmp_path)
    folder = tmp_path / ".tau" / "runs" / "20260101-000000-1-mock"
    folder.mkdir(parents=True)
    (folder / "simulations.jsonl").write_text(line("x"))
    with pytest.raises(ConfigurationError, match="20260101-000000-1-mock"):
        open_run("20260101-000000-2-mock", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match="expected simulations"):
        open_run("empty", tmp_path)


class TestLatest:
    """The latest run is the one that was started or resumed last."""

    @staticmethod
    def store(root: Path, name: str, started: str = "", *resumed: str, modified: int = 0) -> None:
        folder = root / ".tau" / "runs" / name
        folder.mkdir(parents=True)
        (folder / "simulations.jsonl").write_text("", encoding="utf-8")
        if started:
            again = {"resumed": [{"started": each, "commit": None, "dirty": None} for each in resumed]}
            settings = {"settings": {"agent_args": {"started": "2030-01-01T00:00:00+00:00"}}}
            write_manifest(folder, {"format": 1, "started": started, **settings, **(again if resumed else {})})
        if modified:
            os.utime(folder / "simulations.jsonl", (modified, modified))

    def test_a_name_of_letters_is_not_later_than_a_time(self, tmp_path: Path) -> None:
        self.store(tmp_path, "nightly", "2026-01-01T00:00:00+00:00")
        self.store(tmp_path, "20260102-000000-7-mock", "2026-01-02T00:00:00+00:00")
        assert open_run(root=tmp_path).name == "20260102-000000-7-mock"

    def test_a_named_run_that_was_started_later_is_the_latest(self, tmp_path: Path) -> None:
        self.store(tmp_path, "a", "2026-01-03T00:00:00+00:00")
        self.store(tmp_path, "20260102-000000-7-mock", "2026-01-02T00:00:00+00:00")
        assert open_run(root=tmp_path).name == "a"

    def test_the_last_start_of_a_resumed_run_counts(self, tmp_path: Path) -> None:
        started = ["2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00", "2026-01-05T00:00:00+00:00"]
        self.store(tmp_path, "20260101-000000-7-mock", *started)
        self.store(tmp_path, "20260104-000000-7-mock", "2026-01-04T00:00:00+00:00")
        assert open_run(root=tmp_path).name == "20260101-000000-7-mock"

    def test_without_a_manifest_the_age_of_the_results_counts(self, tmp_path: Path) -> None:
        self.store(tmp_path, "a", "2026-01-02T00:00:00+00:00")
        self.store(tmp_path, "old", modified=1767225600)  # 2026-01-01
        assert open_run(root=tmp_path).name == "a"
        self.store(tmp_path, "new", modified=1767398400)  # 2026-01-03
        assert open_run(root=tmp_path).name == "new"


def test_an_unknown_run_is_suggested_from_all_runs_and_the_latest_are_listed(tmp_path: Path) -> None:
    for number, name in enumerate(["nightly", *(f"run-{i}" for i in range(6))]):
        folder = tmp_path / RUNS / name
        folder.mkdir(parents=True)
        (folder / RECORDS).touch()
        os.utime(folder / RECORDS, (number, number))
        os.utime(folder, (number, number))
    with pytest.raises(ConfigurationError) as caught:
        open_run("nighty", tmp_path)
    listed = "(known: run-5, run-4, run-3, run-2, run-1 and 2 more)"
    assert str(caught.value) == f"unknown run 'nighty'; did you mean 'nightly'? {listed}"
