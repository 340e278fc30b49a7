"""Runs that are read at the same time: the same records, problems and errors as one after the other."""

from __future__ import annotations

import json

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.runs import side_by_side
from pytest_tau.runs.reader import Run
from pytest_tau.runs.side_by_side import read_records


@pytest.fixture
def runs(tmp_path):
    """Two τ²-bench result files, of which the second has an entry that cannot be read; and a third."""

    def write(name, entries):
        tasks = [{"id": str(number), "user_scenario": {"instructions": "Do it."}} for number in range(4)]
        document = {"info": {"environment_info": {"domain_name": name}}, "tasks": tasks, "simulations": entries}
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return path

    def entry(number, reward):
        messages = [{"role": "assistant", "content": "Hello."}]
        return {"id": f"s{number}", "task_id": str(number), "reward_info": {"reward": reward}, "messages": messages}

    good = [entry(number, 1.0) for number in range(4)]
    return [write("one", good), write("two", [*good[:3], {"id": "s3", "messages": None}]), write("three", good[:2])]


def test_processes_find_what_one_process_finds(runs, monkeypatch):
    alone, together = [Run(path) for path in runs], [Run(path) for path in runs]
    expected = read_records(alone)
    monkeypatch.setattr(side_by_side, "LARGE", 0)
    monkeypatch.setattr(side_by_side.os, "cpu_count", lambda: 4)
    assert read_records(together) == expected
    assert list(map(len, expected)) == [4, 3, 2]
    for one, other in zip(alone, together, strict=True):
        assert (one.info, one.kind, one.problems) == (other.info, other.kind, other.problems)
    assert "s3" in str(together[1].problems) or "entry" in str(together[1].problems)


def test_an_error_in_another_process_is_that_error(runs, monkeypatch, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/records.jsonl").write_text("{}\n", encoding="utf-8")
    monkeypatch.setattr(side_by_side, "LARGE", 0)
    monkeypatch.setattr(side_by_side.os, "cpu_count", lambda: 2)
    with pytest.raises(ConfigurationError, match=r"records\.jsonl, line 1: not a record of a trial"):
        read_records([Run(runs[0]), Run(tmp_path / "empty")])


def test_one_processor_and_small_runs_need_no_process(runs, monkeypatch):
    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", None)
    assert [len(records) for records in read_records([Run(path) for path in runs])] == [4, 3, 2]
    monkeypatch.setattr(side_by_side, "LARGE", 0)
    monkeypatch.setattr(side_by_side.os, "cpu_count", lambda: None)
    assert [len(records) for records in read_records([Run(path) for path in runs])] == [4, 3, 2]


def test_a_process_that_is_killed_is_named_with_its_run(runs, monkeypatch):
    class Pool:
        def __init__(self, *_):
            pass

        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda *_: None  # noqa: E731

        def submit(self, _, path):
            class Broken:
                def result(self):
                    raise side_by_side.BrokenProcessPool("terminated abruptly")

            return Broken()

    monkeypatch.setattr(side_by_side, "LARGE", 0)
    monkeypatch.setattr(side_by_side.os, "cpu_count", lambda: 2)
    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", Pool)
    with pytest.raises(ConfigurationError, match=r"two\.json: the process that has read it was ended"):
        read_records([Run(path) for path in runs[:2]])
