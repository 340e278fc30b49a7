"""--tau-select and --tau-shard auto: what other programs tell a machine to run."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from inner_runs import quick_options

from pytest_tau.run_settings import types

MOCK = ("--tau-domain", "mock", "--tau-split", "small", "--tau-trials", "2")
IDS = ["mock::create-task[trial-1]", "mock::dismiss-after-done[trial-0]"]


class TestSelection:
    def test_what_pytest_lists_is_what_runs(self, project):
        project.write("list.txt", project.run("--collect-only", "-q", *MOCK, "-k", "create").text)
        run = project.run(*MOCK, "--tau-select", "list.txt", "-k", "nothing", "-m", "nothing")
        run.outcomes(passed=2, deselected=4)
        run.line("tau: 2 tests selected")
        run.line("tau: selection: 2 of 6 trials")

    @pytest.mark.parametrize("workers", [["-s"], ["-n", "2"]])
    def test_json_of_the_standard_input(self, project, warm_processes, workers):
        command = [sys.executable, "-m", "pytest", *quick_options(), *MOCK, "--tau-select", "-", "-v", *workers]
        selected = json.dumps({"trials": dict.fromkeys(IDS)})
        done = subprocess.run(command, cwd=project.path, input=selected, capture_output=True, text=True, check=False)
        assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr
        passed = [each for each in done.stdout.splitlines() if "PASSED" in each]
        assert sorted(each.split()[-1 if "-n" in workers else 0] for each in passed) == IDS

    def test_pytest_keeps_the_standard_input_from_tests_only(self, project, warm_processes):
        command = [sys.executable, "-m", "pytest", *quick_options(), *MOCK, "--tau-select", "-"]
        done = subprocess.run(
            command, cwd=project.path, input="\n".join(IDS), capture_output=True, text=True, check=False
        )
        assert "tau: selection: 2 of 6 trials" in done.stdout

    def test_the_environment_names_a_list_and_shards_split_it(self, project, monkeypatch):
        project.write("list.json", json.dumps(IDS))
        monkeypatch.setenv("TAU_SELECT", "list.json")
        found = [project.collected(*MOCK, "--tau-shard", f"{number}/2") for number in (1, 2)]
        assert sorted(found) == [[IDS[0]], [IDS[1]]]

    def test_what_is_not_collected_is_a_usage_error(self, project):
        project.write("list.txt", "\n".join([*IDS, *(f"mock::create-task[trial-{n}]" for n in range(2, 9))]))
        run = project.run(*MOCK, "--tau-select", "list.txt")
        run.usage_error("7 selected tests not collected: mock::create-task[trial-2], ", "and 2 more; use the settings")

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("", "expected the ids of trials in list.txt, one in a line, got none"),
            ("create-task\n", "list.txt cannot be read: expected the id of a trial, got 'create-task'"),
            ("{", "list.txt cannot be read: "),
        ],
    )
    def test_another_list_is_a_usage_error(self, project, content, told):
        project.write("list.txt", content)
        project.run(*MOCK, "--tau-select", "list.txt").usage_error(f"--tau-select: {told}")

    def test_a_missing_list_is_a_usage_error(self, project):
        project.run(*MOCK, "--tau-select", "none.txt").usage_error("--tau-select: none.txt cannot be read")


class TestAuto:
    """The number of a machine, from its environment."""

    @pytest.mark.parametrize(
        ("environment", "shard"),
        [
            ("TAU_SHARD_INDEX=0 TAU_SHARD_TOTAL=3", (1, 3)),
            ("SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0", (3, 3)),
            ("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=2", (3, 3)),
            ("JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=3", (2, 3)),
            ("CI_NODE_INDEX=1 CI_NODE_TOTAL=3", (1, 3)),
            ("CIRCLE_NODE_INDEX=1 CIRCLE_NODE_TOTAL=3", (2, 3)),
            ("BUILDKITE_PARALLEL_JOB=2 BUILDKITE_PARALLEL_JOB_COUNT=3", (3, 3)),
        ],
    )
    def test_each_engine_has_its_variables(self, monkeypatch, environment, shard):
        for each in environment.split():
            monkeypatch.setenv(*each.split("="))
        assert types.shard("auto") == shard

    def test_the_shard_is_recorded(self, project, monkeypatch):
        monkeypatch.setenv("TAU_SHARD_INDEX", "0")
        monkeypatch.setenv("TAU_SHARD_TOTAL", "3")
        run = project.run(*MOCK, "--tau-shard", "auto")
        run.outcomes(passed=2, deselected=4)
        run.line("tau: shard 1/3: 2 of 6 trials")
        (folder,) = (project.path / ".tau/runs").iterdir()
        assert json.loads((folder / "run.json").read_text())["settings"]["shard"] == "1/3"
        assert len(json.loads((folder / "plan.json").read_text())["trials"]) == 6

    @pytest.mark.parametrize(
        ("environment", "told"),
        [
            ("", "expected one of TAU_SHARD_INDEX with TAU_SHARD_TOTAL, SLURM_ARRAY_TASK_ID"),
            ("JOB_COMPLETION_INDEX=1", "got JOB_COMPLETION_INDEX=1, JOB_COMPLETIONS=(not set)"),
            ("CI_NODE_INDEX=4 CI_NODE_TOTAL=3", "got CI_NODE_INDEX=4, CI_NODE_TOTAL=3"),
            ("CI_NODE_INDEX=a CI_NODE_TOTAL=3", "got CI_NODE_INDEX=a, CI_NODE_TOTAL=3"),
        ],
    )
    def test_another_environment_is_refused(self, monkeypatch, environment, told):
        for each in environment.split():
            monkeypatch.setenv(*each.split("="))
        with pytest.raises(ValueError, match=re.escape(told)):
            types.shard("auto")

    def test_an_environment_without_a_number_is_a_usage_error(self, project):
        project.run(*MOCK, "--tau-shard", "auto").usage_error("--tau-shard: auto: expected one of TAU_SHARD_INDEX")
