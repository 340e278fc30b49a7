"""The folder of a run: its metadata, and every simulation as soon as it has ended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_tau.models import Simulation
from pytest_tau.plugin.store.writer import SimulationFile

MOCK = ("--tau-domain", "mock", "--tau-split", "small")


def only_folder(project, home=".tau/runs"):
    """The folder of the only run there was."""
    (folder,) = (project.path / home).iterdir()
    return folder


def manifest(project, home=".tau/runs"):
    """Return the manifest of the only run."""
    return json.loads((only_folder(project, home) / "run.json").read_text(encoding="utf-8"))


def lines(project, home=".tau/runs"):
    """The simulations of the only run."""
    text = (only_folder(project, home) / "simulations.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class TestSimulations:
    def test_a_run_without_models_is_kept(self, project):
        project.run(*MOCK, "--tau-agent", "noop").outcomes(failed=3)
        entries = lines(project)
        assert [entry["test"] for entry in entries] == [
            "mock::create-task[trial-0]",
            "mock::transfer-deletion[trial-0]",
            "mock::dismiss-after-done[trial-0]",
        ]
        for entry in entries:
            assert entry["domain"] == "mock"
            assert entry["task"]["id"] == entry["task_id"]
            assert Simulation.model_validate(entry).outcome == "failed"
        assert (project.path / ".tau/.gitignore").read_text(encoding="utf-8") == "*\n"

    def test_what_stands_in_gitignore_already_stays(self, project):
        project.write(".tau/.gitignore", "runs\n")
        project.run(*MOCK).outcomes(passed=3)
        assert (project.path / ".tau/.gitignore").read_text(encoding="utf-8") == "runs\n"

    def test_nothing_is_kept_where_nothing_is_wanted(self, project):
        run = project.run(*MOCK, "--tau-results", "none")
        run.outcomes(passed=3)
        run.lacks("simulations stored")
        assert not (project.path / ".tau").exists()
        assert not (project.path / "none").exists()

    def test_nothing_is_kept_of_a_run_without_simulations(self, project):
        project.write("test_plain.py", "def test_plain(): pass")
        project.run().outcomes(passed=1)
        project.run(*MOCK, "--collect-only")
        project.run(*MOCK, "--tau-dry-run")
        assert not (project.path / ".tau").exists()

    def test_elsewhere(self, project):
        project.run(*MOCK, "--tau-results", "there").outcomes(passed=3)
        assert manifest(project, "there")["planned"]["mock"]["create-task"] == 1
        assert not (project.path / ".tau").exists()

    def test_a_test_of_ones_own_is_kept_with_its_node_id(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_simulation):
                assert False
            """,
        )
        project.run().outcomes(failed=1)
        (entry,) = lines(project)
        assert entry["test"] == "test_own.py::test_own[create-task-trial-0]"
        assert Simulation.model_validate(entry).outcome == "passed"

    def test_each_simulation_is_there_as_soon_as_it_has_ended(self, project):
        """The second trial finds the first one in the file."""
        project.write(
            "agents.py",
            """
            from pathlib import Path

            class Agent:
                def respond(self, message):
                    found = [*Path(".tau/runs").glob("*/simulations.jsonl")]
                    return "found %d lines" % sum(len(file.read_bytes().splitlines()) for file in found)
            """,
        )
        project.run(*MOCK, "--tau-agent", "agents.py:Agent")
        said = [entry["messages"][2]["content"] for entry in lines(project)]
        assert said == ["found 0 lines", "found 1 lines", "found 2 lines"]

    def test_a_disk_that_takes_half_a_line_gets_the_whole_line_once_it_can(self, tmp_path):
        resource = pytest.importorskip("resource")
        file = SimulationFile(tmp_path)
        assert file.append("one\n") is None
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
        try:
            problem = file.append("two is longer than there is room for\n")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert problem is not None
        assert problem.startswith(f"simulations cannot be stored in {tmp_path}")
        assert file.append("three\n") is None
        expected = "one\ntwo is longer than there is room for\nthree\n"
        assert (tmp_path / "simulations.jsonl").read_text() == expected

    def test_what_cannot_be_written_down_costs_no_verdict(self, project):
        project.write(
            "conftest.py",
            """
            from dataclasses import replace

            async def make_unwritable(simulation):
                simulation.info = replace(simulation.info, others={"what": object()})

            def pytest_tau_after_trial():
                return make_unwritable
            """,
        )
        run = project.run(*MOCK)
        run.outcomes(passed=3)
        run.line("tau: a simulation cannot be stored in", "simulations.jsonl", "object")


class TestRunInfo:
    def test_settings_versions_hashes_and_what_was_planned(self, project):
        project.run(*MOCK, "--tau-trials", "2", "--tau-agent", "noop", "--tau-max-steps", "50")
        info = manifest(project)
        assert info["format"] == 1
        assert info["started"] <= info["finished"]
        assert info["versions"].keys() >= {"pytest-tau", "python", "pytest", "pydantic"}
        assert info["versions"]["pytest"] == pytest.__version__
        assert info["settings"] == {
            "domains": ["mock"],
            "split": "small",
            "trials": 2,
            "seed": 300,
            "agent": "noop",
            "user": "scripted",
            "grading": "official",
            "max_steps": 50,
            "max_errors": 10,
            "concurrency": 1,
        }
        planned = dict.fromkeys(("create-task", "transfer-deletion", "dismiss-after-done"), 2)
        assert info["planned"] == {"mock": planned}
        assert info["hashes"]["domains"]["mock"].keys() == {"policy", "tools", "database"}
        assert info["hashes"]["tasks"]["mock"].keys() == planned.keys()
        assert info["excluded"] == {}

    def test_models_and_no_secrets(self, models, project):
        args = (
            '{"temperature": 0.5, "api_key": "sesame", "extra_headers": {"X": "sesame"}, "api_base": "http://sesame"}'
        )
        project.run("--tau-agent-llm", "fake/agent", "--tau-agent-llm-args", args, "--tau-user-llm", "fake/user")
        settings = manifest(project)["settings"]
        assert settings["agent"] == settings["user"] == "llm"
        assert settings["agent_llm"] == "fake/agent"
        assert settings["agent_llm_args"] == {"temperature": 0.5}
        assert settings["user_llm_args"] == {"temperature": 0.0}
        for file in only_folder(project).iterdir():
            assert "sesame" not in file.read_text(encoding="utf-8")

    def test_who_logs_in_at_an_endpoint_is_nobodys_business(self, models, project):
        project.run("--tau-agent", "http://me:sesame@127.0.0.1:9/v1", "--tau-user-llm", "fake/user")
        assert manifest(project)["settings"]["agent"] == "http://***@127.0.0.1:9/v1"
        assert "sesame" not in (only_folder(project) / "run.json").read_text(encoding="utf-8")

    def test_it_is_written_before_the_first_simulation_and_completed_at_the_end(self, project):
        project.write(
            "agents.py",
            """
            from pathlib import Path
            import json

            class Agent:
                def respond(self, message):
                    (file,) = Path(".tau/runs").glob("*/run.json")
                    info = json.loads(file.read_text(encoding="utf-8"))
                    return f"finished: {info['finished']}, planned: {len(info['planned']['mock'])}"
            """,
        )
        project.run(*MOCK, "--tau-agent", "agents.py:Agent")
        assert lines(project)[0]["messages"][2]["content"] == "finished: None, planned: 3"
        assert manifest(project)["finished"] is not None

    def test_a_run_that_is_broken_off_is_not_finished(self, project):
        project.write(
            "conftest.py",
            """
            import pytest

            def pytest_tau_simulation_finished():
                pytest.exit("enough")
            """,
        )
        run = project.run(*MOCK)
        assert run.ret == pytest.ExitCode.INTERRUPTED
        assert manifest(project)["finished"] is None
        assert len(lines(project)) == 1

    def test_a_run_that_ends_at_the_first_failure_is_finished(self, project):
        project.run(*MOCK, "--tau-agent", "noop", "-x").outcomes(failed=1)
        assert manifest(project)["finished"] is not None

    def test_excluded_trials_and_their_reasons(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two", ticket="Do."), a_task("three", ticket="Do.")])
        project.run("--tau-solo", "-k", "not three")
        assert manifest(project)["excluded"] == {"deselected": 1, "solo: the task has no ticket": 1}

    def test_what_other_shards_run(self, project):
        project.run(*MOCK, "--tau-shard", "1/2", "-k", "not dismiss")
        info = manifest(project)
        assert info["excluded"] == {"in other shards": 1, "deselected": 1}
        assert info["settings"]["shard"] == "1/2"
        assert sum(info["planned"]["mock"].values()) == 1

    def test_what_the_budget_does_not_allow(self, models, project):
        models.run("--tau-trials", "3", "--tau-budget", "1", "--tau-concurrency", "1")
        assert manifest(project)["excluded"] == {"the budget is spent": 2}

    def test_tests_of_the_same_task_are_counted_separately(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
            @pytest.mark.parametrize("other", [1, 2])
            def test_own(tau_simulation, other):
                pass
            """,
        )
        project.run().outcomes(passed=4)
        assert manifest(project)["planned"] == {"mock": {"create-task": 4}}

    @pytest.mark.parametrize("options", [["-n2"], ["-n2", "--dist=loadfile"]], ids=" ".join)
    def test_with_workers_it_is_written_once_and_is_equal(self, project, options):
        pytest.importorskip("xdist")
        args = [*MOCK, "--tau-trials", "2"]
        project.run(*args, "--tau-results", "alone").outcomes(passed=6)
        project.run(*args, "-k", "not dismiss", *options).outcomes(passed=4)
        assert sorted(file.name for file in only_folder(project).iterdir()) == ["run.json", "simulations.jsonl"]
        alone, spread = manifest(project, "alone"), manifest(project)
        assert spread["finished"] is not None
        assert spread["excluded"] == {"deselected": 2}
        assert spread["settings"] == alone["settings"]
        assert spread["hashes"]["domains"] == alone["hashes"]["domains"]
        del alone["hashes"]["tasks"]["mock"]["dismiss-after-done"]
        assert spread["hashes"]["tasks"] == alone["hashes"]["tasks"]
        assert {entry["test"] for entry in lines(project)} < {entry["test"] for entry in lines(project, "alone")}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
class TestCommit:
    @pytest.fixture
    def git(self, project, monkeypatch):
        """Runs git in the project, with a neutral identity."""
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            monkeypatch.delenv(name)

        def run(*args):
            who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
            done = subprocess.run(["git", *who, *args], cwd=project.path, capture_output=True, text=True, check=True)
            return done.stdout.strip()

        run("init", "-q")
        return run

    def test_the_projects_last_commit_and_whether_it_has_changed(self, project, git):
        agent = project.write("agents.py", "def agent(messages, tools):\n    return 'Hm.'\n")
        git("add", "agents.py")
        git("commit", "-qm", "An agent")
        args = [*MOCK, "--tau-agent", "agents.py:agent"]
        project.run(*args, "--tau-results", "clean")
        agent.write_text("def agent(messages, tools):\n    return 'Well.'\n", encoding="utf-8")
        project.run(*args, "--tau-results", "changed")
        commit = git("rev-parse", "HEAD")
        found = [(manifest(project, home)["commit"], manifest(project, home)["dirty"]) for home in ("clean", "changed")]
        assert found == [(commit, False), (commit, True)]


def test_project_is_run_without_git_on_the_machine(project, monkeypatch):
    (project.path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    project.run(*MOCK).outcomes(passed=3)
    assert manifest(project)["commit"] is None


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_each_simulation_of_a_run_has_an_id_of_its_own(project, workers):
    project.write(
        "test_it.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create-*", trials=2)
        @pytest.mark.parametrize("word", ["a", "b", "c"])
        def test_it(tau_simulation, word):
            assert word != "b"
        """,
    )
    pytest.importorskip("pytest_rerunfailures")
    project.run("-p", "pytest_rerunfailures", "--reruns", "1", *workers)
    (file,) = project.path.glob(".tau/runs/*/simulations*.jsonl")
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    tests = {entry["test"] for entry in entries}
    assert len(entries) > len(tests) > 6
    assert len({entry["id"] for entry in entries}) == len(entries)
    for entry in entries:
        assert entry["id"].startswith(f"{entry['task_id']}-{entry['trial']}-{entry['seed']}-")
