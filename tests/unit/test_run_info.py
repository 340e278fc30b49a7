"""The metadata of a run, and its file of simulations after a process was killed."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau.models import AssistantMessage, Simulation
from pytest_tau.plugin.store.manifest import write_manifest as write_of_plugin
from pytest_tau.plugin.store.writer import merge_worker_files, repair_tail
from pytest_tau.runner import SimulationSettings
from pytest_tau.runs.fingerprints import hashes, task_hash
from pytest_tau.runs.jsonl import model_text, read_tests
from pytest_tau.runs.layout import MANIFEST
from pytest_tau.runs.manifest import merge_manifest, read_manifest, write_manifest
from pytest_tau.runs.manifest_diff import diff_settings, diff_tasks
from pytest_tau.runs.provenance import Commit


@pytest.fixture(scope="module")
def mock():
    return pytest_tau.load_domain("mock")


def info(**changes):
    """Metadata of a run."""
    found = {
        "format": 1,
        "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:01:00+00:00",
        "versions": {"pytest-tau": "1.0"},
        "commit": "a1",
        "dirty": False,
        "settings": {"agent": "gold", "trials": 1},
        "hashes": {
            "grader": "g1",
            "domains": {"mock": {"policy": "p1", "tools": "t1", "database": "d1"}},
            "tasks": {"mock": {"one": "h1", "two": "h2"}},
        },
        "planned": {"mock": {"one": 2, "two": 2}},
        "excluded": {"deselected": 1},
    }
    return {**copy.deepcopy(found), **changes}


class TestHashes:
    def test_they_are_the_same_in_every_process_and_change_with_their_part(self, mock):
        settings = SimulationSettings()
        cases = [(mock, task) for task in mock.tasks()]
        found = hashes(cases, settings)
        assert found == hashes(cases, settings)
        assert hashes([(pytest_tau.load_domain("mock"), task) for _, task in cases], settings) == found
        assert found["domains"]["mock"].keys() == {"policy", "tools", "database"}
        assert set(found["tasks"]["mock"]) == {task.id for _, task in cases}
        assert len(set(found["tasks"]["mock"].values())) == len(cases)
        assert "prompts" not in found

    def test_hash_of_a_task_covers_all_of_its_fields(self, mock):
        task = mock.tasks()[0]
        assert task_hash(task) == task_hash(task.model_copy())
        assert task_hash(task.model_copy(update={"ticket": "Do."})) != task_hash(task)

    def test_another_grading_profile_is_another_grader(self, mock):
        from pytest_tau.evaluation import PROFILES, Evaluation

        found = {hashes([], SimulationSettings(evaluation=Evaluation(each)))["grader"] for each in PROFILES.values()}
        assert len(found) == len(PROFILES)

    def test_official_data_in_another_format_has_other_hashes(self, mock, tmp_path):
        folder = tmp_path / "domains" / "mock"
        folder.mkdir(parents=True)
        for file in [*mock.folder.iterdir(), *mock.tasks_folder.iterdir()]:
            if file.is_file():
                (folder / file.name).write_bytes(file.read_bytes())
        (folder / "db.json").write_bytes((folder / "db.json").read_bytes() + b"\n")
        other = hashes([(pytest_tau.load_domain("mock", data_dir=tmp_path), mock.tasks()[0])], SimulationSettings())
        ours = hashes([(mock, mock.tasks()[0])], SimulationSettings())
        assert diff_tasks(ours, other) != []
        assert [line.partition(":")[0] for line in diff_tasks(ours, other)] == ["database of mock"]


class TestDifferences:
    def test_of_settings_with_both_values(self):
        now = info(settings={"agent": "llm", "trials": 4, "agent_llm": "m"})
        assert diff_settings(info(), now) == [
            'agent: "gold" in the earlier run, "llm" now',
            'agent_llm: null in the earlier run, "m" now',
        ]

    def test_of_the_rules_of_grading_with_the_versions(self):
        now = info(versions={"pytest-tau": "1.1"})
        assert diff_settings(info(), now) == []
        now["hashes"]["grader"] = "g2"
        assert diff_settings(info(), now) == [
            "rules of grading: g1 of pytest-tau 1.0 in the earlier run, g2 of pytest-tau 1.1 now"
        ]

    def test_of_tasks_and_domains_that_both_have(self):
        now = info()["hashes"]
        now["domains"]["mock"]["tools"] = "t2"
        now["tasks"] = {"mock": {"two": "new", "three": "h3"}, "other": {"one": "h9"}}
        now["domains"]["other"] = {"policy": "p9"}
        assert diff_tasks(info()["hashes"], now) == [
            'tools of mock: "t1" in the earlier run, "t2" now',
            "task 'two' of mock: h2 in the earlier run, new now",
        ]


class TestGoingOn:
    def test_what_was_planned_either_time(self):
        now = info(started="2026-01-02T00:00:00+00:00", commit="b2", dirty=True, excluded={})
        now["planned"] = {"mock": {"two": 4, "three": 1}, "other": {"one": 1}}
        now["hashes"]["tasks"] = {"mock": {"three": "h3"}, "other": {"one": "h9"}}
        now["hashes"]["domains"] = {"other": {"policy": "p9"}}
        both = merge_manifest(info(), now)
        assert both["planned"] == {"mock": {"one": 2, "two": 4, "three": 1}, "other": {"one": 1}}
        assert both["hashes"]["tasks"] == {"mock": {"one": "h1", "two": "h2", "three": "h3"}, "other": {"one": "h9"}}
        assert both["hashes"]["domains"].keys() == {"mock", "other"}
        assert (both["started"], both["commit"], both["finished"]) == (info()["started"], "a1", None)
        assert both["resumed"] == [{"started": now["started"], "commit": "b2", "dirty": True}]

    def test_merging_twice_changes_nothing(self):
        now = info(started="2026-01-02T00:00:00+00:00")
        once = merge_manifest(info(), now)
        assert merge_manifest(once, now) == once


class TestFile:
    def test_it_is_read_back_as_it_was_written(self, tmp_path):
        write_manifest(tmp_path, info(commit="ä\ud800"))
        assert read_manifest(tmp_path)["settings"] == info()["settings"]
        assert [file.name for file in tmp_path.iterdir()] == [MANIFEST]

    def test_two_workers_that_begin_at_once_are_not_a_run_that_is_resumed(self, tmp_path, monkeypatch):
        write_of_plugin(tmp_path, info(), resumes=False)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "is_file", lambda _: False)  # the other worker writes it after this one has looked
            write_of_plugin(tmp_path, info(started="2026-01-01T00:00:01+00:00"), resumes=False)
        assert "resumed" not in read_manifest(tmp_path)
        write_of_plugin(tmp_path, info(started="2026-01-02T00:00:00+00:00"), resumes=True)
        assert len(read_manifest(tmp_path)["resumed"]) == 1

    def test_missing_manifest_is_empty(self, tmp_path):
        assert read_manifest(tmp_path) == {}

    def test_commit_is_empty_if_git_fails(self, tmp_path):
        (tmp_path / ".git").mkdir()
        assert Commit.of(tmp_path) == (None, None)


class TestLines:
    @pytest.mark.parametrize("text", ["Grüße 🙂", "a\ud800b", "line\nbreak\u2028", "x" * 100_000])
    def test_any_text_is_one_line_that_reads_back(self, text):
        simulation = Simulation(
            id="s", task_id="t", termination_reason="user_stop", messages=[AssistantMessage(content="Hm.")], error=text
        )
        line = model_text(simulation)
        assert "\n" not in line
        assert json.loads(line.encode().decode())["error"] == text

    def test_a_file_that_was_cut_off_at_any_byte_loses_nothing_that_was_whole(self, tmp_path):
        file = tmp_path / "simulations.jsonl"
        written = [json.dumps({"test": f"t{number}", "domain": "mock", "id": "ä" * 5}) + "\n" for number in range(3)]
        text = "".join(written).encode()
        ends = [len("".join(written[:number]).encode()) for number in range(4)]
        for cut in range(len(text) + 1):
            file.write_bytes(text[:cut])
            whole = max(number for number, end in enumerate(ends) if end <= cut)
            assert [test for test, _, _ in read_tests(file)] == [f"t{number}" for number in range(whole)]
            assert repair_tail(tmp_path) is None
            assert file.read_bytes() == text[: ends[whole]]

    def test_a_line_longer_than_what_is_read_at_once_is_taken_back_whole(self, tmp_path):
        file = tmp_path / "simulations.jsonl"
        whole = json.dumps({"test": "a", "domain": "mock"}).encode() + b"\n"
        file.write_bytes(whole + b'{"test": "b", "text": "' + b"x" * 200_000)
        assert repair_tail(tmp_path) is None
        assert file.read_bytes() == whole

    def test_parts_are_put_behind_what_there_was_and_their_cut_off_lines_are_dropped(self, tmp_path):
        """Every simulation is kept; the one that counted is the last one of its test."""

        def write(name, *entries, cut=0):
            text = "".join(json.dumps({"test": test, "id": value}) + "\n" for test, value in entries)
            (tmp_path / name).write_text(text[: len(text) - cut], encoding="utf-8")

        write("simulations.jsonl", ("a", "old"), ("b", "old"), ("c", "old"))
        write("simulations-gw0.jsonl", ("a", "lost"), ("d", "cut"), cut=3)
        write("simulations-gw1.jsonl", ("a", "told"), ("b", "new"))
        assert merge_worker_files(tmp_path, {"a": "gw1", "c": "gw1"}) is None
        (file,) = tmp_path.iterdir()
        entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        assert [(entry["test"], entry["id"]) for entry in entries] == [
            *(("a", "old"), ("b", "old"), ("a", "lost")),
            *(("c", "old"), ("a", "told"), ("b", "new")),
        ]

    def test_joining_that_was_cut_off_leaves_no_line_twice(self, tmp_path):
        lines = ['{"test": "a", "id": 1}\n', '{"test": "a", "id": 2}\n', '{"test": "b"}\n']
        for name in ("simulations.jsonl", "simulations-gw0.jsonl"):
            (tmp_path / name).write_text("".join(lines), encoding="utf-8")
        assert merge_worker_files(tmp_path, {"a": "gw0"}) is None
        (file,) = tmp_path.iterdir()
        assert file.read_text(encoding="utf-8") == "".join(lines)

    def test_where_each_line_begins(self, tmp_path):
        file = tmp_path / "simulations.jsonl"
        file.write_bytes(b'{"test": "a"}\n\n{"no": 1}\n{"test": "b::\xc3\xa4"}\n')
        for test, place, line in read_tests(file):
            assert file.read_bytes()[place.start :].startswith(line)
            assert test in ("a", "b::ä")
