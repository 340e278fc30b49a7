"""A run that goes on with an earlier one: finished simulations are reported again, and only the rest is run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from pytest_tau.cli import main

from .conftest import _QUICK

SMALL = ("create-task", "transfer-deletion", "dismiss-after-done")
MOCK = ("--tau-domain", "mock", "--tau-split", "small")

#: An agent that logs each trial that it is built for, passes some tasks, fails others, and ends the whole run with the
#: trial that KILL names: under xdist, the controller.
_AGENT = """
    import os
    import time
    from pathlib import Path

    from pytest_tau.testing import ScriptedParticipant, call

    class Agent(ScriptedParticipant):
        def __init__(self, task, seed):
            trial = f"{task.id}-{seed}"
            with Path("built.txt").open("a") as file:
                file.write(trial + "\\n")
            # Its own place in the log, as two workers may read it at the same time.
            if log().index(trial) + 1 == int(os.environ.get("KILL", "0")):
                if "PYTEST_XDIST_WORKER" in os.environ:
                    os.kill(int(os.environ["CONTROLLER"]), 9)
                os.kill(os.getpid(), 9)
            time.sleep(float(os.environ.get("SLOW", "0")))
            made = call("create_task", user_id="user_1", title="Buy milk")
            super().__init__(["Well."] if task.id.startswith("bad") else [made, "Done."])

    def log():
        return Path("built.txt").read_text().split() if Path("built.txt").exists() else []
"""
#: The first process of a run gives its number to its workers.
_CONFTEST = """
    import os

    os.environ.setdefault("CONTROLLER", str(os.getpid()))
"""


def folders(project, home=".tau/runs"):
    """The folders of runs, oldest first."""
    return sorted((project.path / home).iterdir(), key=lambda folder: folder.stat().st_ctime_ns)


def lines(folder):
    """The simulations of a run, in the order of its files; every line is whole."""
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("simulations*.jsonl")))
    assert text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


def simulations(folder):
    """The simulations by test, the last of each, without ids and times."""
    found = {}
    for entry in lines(folder):
        for name in ("id", "start_time", "end_time", "duration"):
            del entry[name]
        for message in entry["messages"]:
            message.pop("timestamp", None)
            message.pop("generation_time_seconds", None)
        found[entry.pop("test")] = entry
    return found


def verdicts(file):
    """How each test ended, by a JUnit report: its outcome, what was said of a failure, its simulation's outcome."""
    found = {}
    for case in ET.parse(file).getroot().iter("testcase"):
        said = [(child.tag, child.get("message"), child.text) for child in case if child.tag in ("failure", "error")]
        properties = {one.get("name"): one.get("value") for one in case.iter("property")}
        found[case.get("name")] = (said, properties.get("tau_outcome"), properties.get("tau_reward"))
    return found


def info_of(folder):
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


class Killable:
    """A project with twelve trials, and an agent that may end the run in the middle of them."""

    def __init__(self, project):
        self.project = project

    def run(self, *args, kill=0, home="runs", slow=0.0):
        """Run pytest in a process of its own; returns its exit status and what it wrote.

        Workers of a controller that was killed are waited for, until nobody can write to the pipe: one still stores
        the trial that it was at. With ``slow``, a trial takes so many seconds, and they are not waited for.
        """
        options = ["--tau-agent", "agents.py:Agent", "--tau-trials", "2", "--tau-results", home, *args]
        command = [sys.executable, "-m", "pytest", *_QUICK, "mock/t.tau.json", *options]
        environment = {
            "KILL": str(kill),
            "SLOW": str(slow),
            "COLUMNS": "200",
            "PATH": "",
            "HOME": str(self.project.path),
        }
        log = self.project.path / "output.txt"
        with log.open("w") as output:
            errors = output if slow else subprocess.PIPE
            process = subprocess.Popen(
                command, cwd=self.project.path, env=environment, stdout=output, stderr=errors, text=True
            )
            _, said = process.communicate(timeout=240)
        return process.returncode, log.read_text() + (said or "")

    def built(self):
        """The trials that the agent was built for since this was last asked."""
        log = self.project.path / "built.txt"
        found = log.read_text().split() if log.exists() else []
        log.unlink(missing_ok=True)
        return found


@pytest.fixture
def killable(project, a_task, warm_processes):
    project.tasks("mock/t.tau.json", [a_task(f"{kind}-{number}") for number in range(3) for kind in ("good", "bad")])
    project.write("agents.py", _AGENT)
    project.write("conftest.py", _CONFTEST)
    return Killable(project)


class TestKilled:
    @pytest.mark.parametrize("options", [[], ["--tau-concurrency=3"], ["-n2"]], ids=" ".join)
    def test_a_run_that_was_killed_and_goes_on_ends_like_an_undisturbed_one(self, killable, options):
        if "-n2" in options:
            pytest.importorskip("xdist")
        project = killable.project
        status, text = killable.run("--junitxml=whole.xml", *options, home="whole")
        assert status == pytest.ExitCode.TESTS_FAILED, text
        assert len(killable.built()) == 12

        status, text = killable.run(*options, kill=7)
        assert status == -9, text
        (folder,) = folders(project, "runs")
        kept = simulations(folder)
        assert 0 < len(kept) < 12
        assert info_of(folder)["finished"] is None
        killable.built()

        status, text = killable.run("--tau-resume", "--junitxml=r.xml", *options)
        assert status == pytest.ExitCode.TESTS_FAILED, text
        assert f"tau: resume: {len(kept)} of 12 trials reused from the earlier run" in text
        assert len(killable.built()) == 12 - len(kept)
        assert folders(project, "runs") == [folder]
        (whole,) = folders(project, "whole")
        assert simulations(folder) == simulations(whole)
        assert len(lines(folder)) == 12
        assert [file.name for file in sorted(folder.iterdir())] == ["run.json", "simulations.jsonl"]
        assert verdicts(project.path / "r.xml") == verdicts(project.path / "whole.xml")
        before, after = info_of(whole), info_of(folder)
        assert after["finished"] is not None
        assert len(after["resumed"]) == 1
        for part in ("planned", "hashes", "settings"):
            assert after[part] == before[part]

    @pytest.mark.exhaustive
    def test_what_workers_have_left_is_read_without_workers_too(self, killable):
        pytest.importorskip("xdist")
        status, text = killable.run("-n2", kill=6)
        assert status == -9, text
        (folder,) = folders(killable.project, "runs")
        assert not (folder / "simulations.jsonl").exists()
        kept = simulations(folder)
        killable.built()
        assert killable.run("--tau-resume")[0] == pytest.ExitCode.TESTS_FAILED
        assert len(killable.built()) == 12 - len(kept)
        assert [file.name for file in sorted(folder.glob("sim*"))] == ["simulations.jsonl"]
        assert len(simulations(folder)) == 12

    @pytest.mark.exhaustive
    def test_a_worker_that_outlives_its_controller_is_waited_for(self, killable):
        pytest.importorskip("xdist")
        assert killable.run("-n2", kill=4, slow=1.5)[0] == -9
        (folder,) = folders(killable.project, "runs")
        kept = len(simulations(folder)) if list(folder.glob("sim*")) else 0
        status, text = killable.run("--tau-resume")
        assert status == pytest.ExitCode.TESTS_FAILED, text
        assert f"tau: resume: {kept + 1} of 12 trials reused from the earlier run" in text
        assert len(lines(folder)) == 12
        assert [file.name for file in sorted(folder.iterdir())] == ["run.json", "simulations.jsonl"]

    def test_one_that_is_killed_again_and_again_gets_there(self, killable):
        for kill in (3, 6, 9):
            assert killable.run(*(["--tau-resume"] if kill > 3 else []), kill=kill)[0] == -9
        status, text = killable.run("--tau-resume")
        assert status == pytest.ExitCode.TESTS_FAILED, text
        (folder,) = folders(killable.project, "runs")
        assert len(lines(folder)) == 12
        assert len(info_of(folder)["resumed"]) <= 3


@pytest.fixture
def cut_off(project):
    """A run of three trials, of which the last one's line was cut off."""
    project.run(*MOCK, "--tau-agent", "noop").outcomes(failed=3)
    (folder,) = folders(project)
    file = folder / "simulations.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    return folder


class TestRestored:
    @pytest.mark.parametrize("options", [[], ["-n2"], ["--tau-concurrency=4"]], ids=" ".join)
    def test_a_line_that_was_cut_off_is_run_again_and_the_others_are_not(self, project, cut_off, options):
        run = project.run(*MOCK, "--tau-agent", "noop", "--tau-resume", *options)
        run.outcomes(failed=3)
        run.line("tau: resume: 2 finished simulations in .tau/runs/")
        run.line("tau: resume: 2 of 3 trials reused from the earlier run")
        assert len(lines(cut_off)) == 3
        assert folders(project) == [cut_off]

    def test_a_last_line_without_its_end_is_dropped_where_the_file_goes_on(self, project, cut_off):
        file = cut_off / "simulations.jsonl"
        file.write_bytes(file.read_bytes() + b'"}')
        project.run(*MOCK, "--tau-agent", "noop", "--tau-resume").outcomes(failed=3)
        assert len(lines(cut_off)) == 3

    def test_what_is_only_looked_at_stays_as_it_is(self, project, cut_off):
        manifest = cut_off / "run.json"
        # A time that no run of today could write again.
        manifest.write_text(json.dumps(info_of(cut_off) | {"finished": "2020-01-01T00:00:00+00:00"}), encoding="utf-8")
        before = {file: file.read_bytes() for file in cut_off.iterdir()}
        assert len(project.collected(*MOCK, "--tau-agent", "noop", "--tau-resume")) == 3
        assert {file: file.read_bytes() for file in cut_off.iterdir()} == before

    def test_failures_are_reported_as_they_were(self, project):
        def failures(run):
            parts = re.split(r"\n=+ [A-Z]*FAILURES[A-Z]* =+\n", run.text)
            return parts[1].partition("\ntau: ")[0]

        args = [*MOCK, "--tau-agent", "noop"]
        first = project.run(*args)
        again = project.run(*args, "--tau-resume")
        again.outcomes(failed=3)
        again.line("tau: resume: 3 of 3 trials reused from the earlier run")
        assert "reward 0 = DB 0" in failures(first)
        assert failures(again) == failures(first)

    def test_errors_are_reported_unchanged(self, project):
        project.write(
            "parts.py",
            """
            class User:
                def respond(self, message):
                    raise ConnectionError("provider down")
            """,
        )
        args = [*MOCK, "--tau-user", "parts.py:User"]
        project.run(*args).outcomes(errors=3)
        project.write("parts.py", "class User:\n    def respond(self, message):\n        return '###STOP###'\n")
        run = project.run(*args, "--tau-resume")
        run.outcomes(errors=3)
        run.line("ConnectionError: provider down")

    def test_no_model_is_called_and_nothing_is_spent(self, models):
        models.run("--tau-trials", "3").outcomes(passed=3)
        models.calls()
        run = models.run("--tau-trials", "4", "--tau-resume", "--tau-budget", "1", "--tau-concurrency=1")
        run.outcomes(passed=4)
        assert len(models.calls()) == 4
        run.line("tau: resume: 3 of 4 trials reused from the earlier run")
        assert len(models.kept()) == 1

    def test_the_line_of_the_models_names_reused_trials(self, models):
        models.run("--tau-record", "--tau-trials", "2").outcomes(passed=2)
        run = models.run("--tau-trials", "2", "--tau-resume")
        run.line("tau: models together: ", " (all reused from the earlier run at no cost)")
        run.lacks("replayed")
        models.run("--tau-trials", "1").outcomes(passed=1)
        run = models.run("--tau-trials", "3", "--tau-resume")
        run.line("tau: models together: ", " (1 of 3 trials reused from the earlier run at no cost)")
        models.run("--tau-trials", "1").outcomes(passed=1)
        run = models.run("--tau-trials", "2", "--tau-resume", "--tau-replay")
        run.line("(1 of 2 trials replayed, 1 of 2 trials reused from the earlier run at no cost)")

    def test_what_is_restored_needs_no_budget(self, models):
        models.run().outcomes(passed=1)
        run = models.run("--tau-resume", "--tau-budget", "0", "--tau-trials", "2")
        run.outcomes(passed=1, skipped=1)

    def test_cassettes_of_what_is_restored_are_left_alone(self, models, project):
        models.run("--tau-record").outcomes(passed=1)
        models.calls()
        shutil.rmtree(project.path / "mock/cassettes")
        models.run("--tau-record", "--tau-resume").outcomes(passed=1)
        models.run("--tau-replay", "--tau-resume").outcomes(passed=1)
        assert models.calls() == models.cassettes() == []

    def test_hooks_are_called_for_it(self, project):
        project.write(
            "conftest.py",
            """
            from pathlib import Path

            def tell(text):
                with Path("seen.txt").open("a") as file:
                    file.write(text + "\\n")

            def pytest_tau_simulation_started(task, trial):
                tell(f"started {task.id} {trial}")

            def pytest_tau_message(message):
                tell(f"message {message.role} {message.content}")

            def pytest_tau_simulation_finished(simulation):
                tell(f"finished {simulation.reward}")
            """,
        )
        log = project.path / "seen.txt"
        project.run(*MOCK)
        first = log.read_text(encoding="utf-8")
        log.unlink()
        project.run(*MOCK, "--tau-resume")
        assert log.read_text(encoding="utf-8") == first
        assert first.count("finished 1.0") == 3

    def test_duration_is_reported(self, project):
        project.run(*MOCK)
        (folder,) = folders(project)
        file = folder / "simulations.jsonl"
        file.write_text(re.sub(r'"duration":[0-9.]+', '"duration":77.5', file.read_text()), encoding="utf-8")
        run = project.run(*MOCK, "--tau-resume", "--durations=3")
        assert len(re.findall(r"^77\.5\ds setup ", run.text, re.MULTILINE)) == 3

    def test_more_trials_and_other_selections_may_follow(self, project):
        project.run(*MOCK, "--tau-task", "create-task").outcomes(passed=1)
        run = project.run("--tau-domain", "mock", "--tau-resume", "--tau-trials", "2", "-k", "create-task or dismiss")
        run.outcomes(passed=4, deselected=28)
        run.line("tau: resume: 1 of 4 trials reused from the earlier run")
        (folder,) = folders(project)
        assert info_of(folder)["planned"] == {"mock": {"create-task": 2, "dismiss-after-done": 2}}
        assert info_of(folder)["settings"]["tasks"] == ["create-task"]
        assert info_of(folder)["excluded"] == {"deselected": 28}
        project.run("--tau-domain", "mock", "--tau-resume", "--tau-task", "create-task").outcomes(passed=1)
        assert info_of(folder)["planned"] == {"mock": {"create-task": 2, "dismiss-after-done": 2}}

    def test_with_other_tests_of_the_project(self, project):
        project.write("test_plain.py", "def test_plain(): pass")
        project.run(*MOCK, "test_plain.py").outcomes(passed=1)
        project.run(*MOCK).outcomes(passed=3)
        project.run("test_plain.py", "mock::create-task", "--tau-resume").outcomes(passed=2)

    def test_a_line_of_another_trial_under_the_same_node_id_is_not_taken(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a")])
        project.run().outcomes(passed=1)
        (folder,) = folders(project)
        file = folder / "simulations.jsonl"
        file.write_text(file.read_text().replace('"task_id":"a"', '"task_id":"b"'), encoding="utf-8")
        run = project.run("--tau-resume")
        run.outcomes(passed=1)
        run.line("tau: resume: 0 of 1 trial reused from the earlier run")

    def test_lines_that_are_none_are_passed_over(self, project, cut_off):
        file = cut_off / "simulations.jsonl"
        whole = [line for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
        broken = whole[0].replace(b'"messages":[', b'"messages":{', 1)
        file.write_bytes(b"\0\0\n" + broken + whole[1])
        run = project.run(*MOCK, "--tau-agent", "noop", "--tau-resume")
        run.outcomes(failed=3)
        run.line("tau: resume: 1 of 3 trials reused from the earlier run")


class TestTestsOfOnesOwn:
    def test_they_run_with_the_restored_simulation_and_its_final_environment(self, project):
        project.write(
            "test_own.py",
            """
            import os
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="agents.py:Agent")
            def test_own(tau_simulation, tau_env, tau_task, record_property):
                assert tau_simulation.reward == 1
                assert tau_simulation.called("create_task")
                created = [task for task in tau_env.dump()["agent"]["tasks"].values() if task["title"] == "Order new chairs"]
                assert len(created) == 1
                assert "FAIL" not in os.environ
            """,
        )
        project.write(
            "agents.py",
            """
            from pytest_tau.testing import ScriptedParticipant, call

            class Agent(ScriptedParticipant):
                def __init__(self):
                    print("built")
                    super().__init__([call("create_task", user_id="user_1", title="Order new chairs"), "Done."])
            """,
        )
        run = project.run("-s")
        run.outcomes(passed=1)
        run.line("built")
        run = project.run("-s", "--tau-resume")
        run.outcomes(passed=1)
        run.lacks("built")
        run.line("tau: resume: 1 of 1 trial reused from the earlier run")

    def test_a_test_that_fails_by_itself_is_run_again_with_the_same_simulation(self, project, monkeypatch):
        project.write(
            "test_own.py",
            """
            import os
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_simulation):
                assert "FAIL" not in os.environ
            """,
        )
        monkeypatch.setenv("FAIL", "1")
        project.run().outcomes(failed=1)
        monkeypatch.delenv("FAIL")
        run = project.run("--tau-resume")
        run.outcomes(passed=1)
        run.line("tau: resume: 1 of 1 trial reused from the earlier run")

    @pytest.mark.parametrize(
        ("fixture", "test"),
        [
            ("", "def test_own(tau_simulation, tau_agent): assert tau_agent.asked"),
            ("", "def test_own(asked, tau_simulation): assert asked()"),
            (
                "@pytest.fixture\ndef tau_env(tau_env):\n    tau_env.call('nothing', {})\n    return tau_env",
                "def test_own(tau_simulation): pass",
            ),
        ],
        ids=["looks at the agent", "by a fixture", "makes the environment"],
    )
    def test_one_that_needs_more_than_a_simulation_is_run_again(self, project, fixture, test):
        project.write(
            "conftest.py",
            """
            import pytest

            class Agent:
                asked = 0

                def respond(self, message):
                    self.asked += 1
                    return "Well."

            def pytest_tau_make_agent():
                return Agent()

            @pytest.fixture
            def asked(tau_agent):
                return lambda: tau_agent.asked
            """,
        )
        text = f'import pytest\n\n{fixture}\n\n@pytest.mark.tau(domain="mock", tasks="create-task")\n{test}\n'
        project.write("test_own.py", text)
        project.run().outcomes(passed=1)
        run = project.run("--tau-resume")
        run.outcomes(passed=1)
        run.line("tau: resume: 0 of 1 trial reused from the earlier run")


class TestRerun:
    @pytest.fixture
    def mixed(self, project, a_task):
        """A run in which one trial passed, one failed, and one ended in an error; then, all would pass."""
        project.tasks("mock/t.tau.json", [a_task("good"), a_task("bad"), a_task("lost")])
        project.write(
            "parts.py",
            """
            from pathlib import Path
            from pytest_tau.testing import ScriptedParticipant, call

            fixed = Path("fixed").exists()

            class Agent(ScriptedParticipant):
                def __init__(self, task):
                    made = call("create_task", user_id="user_1", title="Buy milk")
                    super().__init__(["Well."] if task.id == "bad" and not fixed else [made, "Done."])

            class User:
                def __init__(self, task):
                    self.lost, self.said = task.id == "lost" and not fixed, False

                def respond(self, message):
                    if self.lost:
                        raise ConnectionError("provider down")
                    self.said, before = True, self.said
                    return "###STOP###" if before else "Milk!"
            """,
        )
        options = ["--tau-agent", "parts.py:Agent", "--tau-user", "parts.py:User"]
        project.run(*options).outcomes(passed=1, failed=1, errors=1)
        project.write("fixed", "")
        return options

    @pytest.mark.parametrize(
        ("given", "outcomes", "taken"),
        [
            (["--tau-resume", "--tau-rerun", "failed"], {"passed": 2, "errors": 1}, 2),
            (["--tau-resume", "--tau-rerun", "error"], {"passed": 2, "failed": 1}, 2),
            (["--tau-resume", "--tau-rerun=failed,error"], {"passed": 3}, 1),
            (["--tau-resume", "--tau-rerun=failed, error", "-n2"], {"passed": 3}, 1),
            (["--tau-resume"], {"passed": 1, "failed": 1, "errors": 1}, 3),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else None,
    )
    def test_those_with_that_outcome_are_run_again_and_the_later_result_counts(
        self, project, mixed, given, outcomes, taken
    ):
        run = project.run(*mixed, *given)
        run.outcomes(**outcomes)
        run.line(f"tau: resume: {taken} of 3 trials reused from the earlier run")
        if taken < 3:
            run.line("tau: resume: 3 finished simulations in .tau/runs/", f"; run again: {3 - taken} (")
        # The next reader takes the later ones, too.
        after = project.run(*mixed, "--tau-resume")
        after.outcomes(**outcomes)
        after.line("tau: resume: 3 of 3 trials reused from the earlier run")
        assert len(folders(project)) == 1

    def test_replaced_results_are_no_part_of_regraded_rates(self, project, mixed, capsys):
        project.run(*mixed, "--tau-resume", "--tau-rerun=failed,error").line(
            "tau: mock: 3 tasks, 3 trials; 3 passed; pass^1 1.000"
        )
        (folder,) = folders(project)
        capsys.readouterr()
        assert main(["regrade", str(folder), "--rootdir", str(project.path)]) == 0
        output = capsys.readouterr().out
        assert "5 simulations, 5 agree; pass^1 1.000\n" in output
        assert "replaced by later ones, excluded from rates: 2 simulations\n" in output

    def test_what_an_ini_asks_for(self, project, mixed):
        project.ini("tau_rerun = error")
        project.run(*mixed, "--tau-resume").outcomes(passed=2, failed=1)
        project.run(*mixed).lacks("tau: resume")

    def test_only_a_run_that_is_resumed_runs_something_again(self, project, mixed):
        project.run(*mixed, "--tau-rerun=failed").usage_error("--tau-rerun: is used with --tau-resume only; add it")

    def test_other_outcomes_are_none(self, project):
        for given in ("passed", "failed,other", "Failed"):
            project.run(*MOCK, "--tau-rerun", given).usage_error(
                "--tau-rerun: expected 'failed', 'error' or 'failed,error'"
            )


class TestWhichRun:
    def test_the_latest(self, project):
        project.run(*MOCK, "--tau-agent", "noop").outcomes(failed=3)
        project.run(*MOCK).outcomes(passed=3)
        first, second = folders(project)
        run = project.run(*MOCK, "--tau-resume")
        run.outcomes(passed=3)
        run.line(f"3 finished simulations in .tau/runs/{second.name}")
        assert folders(project) == [first, second]

    def test_one_that_is_named(self, project):
        project.run(*MOCK, "--tau-agent", "noop").outcomes(failed=3)
        project.run(*MOCK).outcomes(passed=3)
        first, _ = folders(project)
        for named in (first.relative_to(project.path), first, first.name):
            run = project.run(*MOCK, "--tau-agent", "noop", f"--tau-resume={named}")
            run.outcomes(failed=3)
            run.line("tau: resume: 3 of 3 trials reused from the earlier run")

    def test_one_that_ended_before_its_first_simulation(self, project):
        project.run(*MOCK).outcomes(passed=3)
        (folder,) = folders(project)
        (folder / "simulations.jsonl").unlink()
        project.run(*MOCK, "--tau-resume").outcomes(passed=3)
        assert len(lines(folder)) == 3

    def test_no_run(self, project):
        project.run(*MOCK, "--tau-resume").usage_error("--tau-resume: expected an earlier run, but none is stored in")
        assert not (project.path / ".tau").exists()

    def test_no_run_of_that_name(self, project):
        project.run(*MOCK)
        (folder,) = folders(project)
        run = project.run(*MOCK, "--tau-resume", folder.name[:-1] + "x")
        run.usage_error("--tau-resume: unknown run", folder.name)

    def test_nothing_is_kept(self, project):
        project.run(*MOCK)
        run = project.run(*MOCK, "--tau-results", "none", "--tau-resume")
        run.usage_error("--tau-resume: expected an earlier run, but nothing is stored (--tau-results none)")

    def test_folder_without_the_settings_of_its_run(self, project):
        project.run(*MOCK)
        (folder,) = folders(project)
        (folder / "run.json").unlink()
        project.run(*MOCK, f"--tau-resume={folder}").usage_error("--tau-resume: unknown run")

    def test_one_that_is_none_of_ours(self, project):
        project.run(*MOCK)
        (folder,) = folders(project)
        (folder / "run.json").write_text('{"format": 2}', encoding="utf-8")
        project.run(*MOCK, "--tau-resume").usage_error("run.json", "expected format 1, got 2")


_TEST = "def test_own({}tau_simulation): pass"
_NOOP = "import pytest\n\nclass Noop:\n    def respond(self, message):\n        return 'Well.'\n\n"
#: A test that is marked at several places.
_MARKED = {
    "function": f"{_NOOP}@MARKER\n{_TEST.format('')}\n",
    "class": f"{_NOOP}@MARKER\nclass TestOwn:\n    {_TEST.format('self, ')}\n",
    "module": f"{_NOOP}pytestmark = MARKER\n{_TEST.format('')}\n",
}
_TWO_TESTS = """
import pytest

@pytest.mark.tau(domain="mock", tasks="create-task", agent="gold")
def test_one(tau_simulation): pass

@pytest.mark.tau(domain="mock", tasks="create-task", agent="noop")
def test_two(tau_simulation): pass
"""


class TestRefused:
    """Before anything runs."""

    def test_other_settings(self, project):
        project.run(*MOCK).outcomes(passed=3)
        (folder,) = folders(project)
        before = {file: file.read_bytes() for file in folder.iterdir()}
        for options, message in (
            (["--tau-seed=1"], "seed: 300 in the earlier run, 1 now"),
            (["--tau-seed=0"], "seed: 300 in the earlier run, 0 now"),
            (["--tau-seed=1", "-n2"], "seed: 300 in the earlier run, 1 now"),
            (["--tau-agent=noop"], 'agent: "gold" in the earlier run, "noop" now'),
            (["--tau-user=noop"], 'user: "gold" in the earlier run, "noop" now'),
            (["--tau-grading=strict"], 'grading: "official" in the earlier run, "strict" now'),
            (["--tau-max-steps=7"], "max_steps: 200 in the earlier run, 7 now"),
            (["--tau-timeout=0"], "timeout: null in the earlier run, 0.0 now"),
            (["--tau-judge=accept"], 'judge: null in the earlier run, "accept" now'),
            (["--tau-solo"], "solo: null in the earlier run, true now"),
        ):
            run = project.run(*MOCK, "--tau-resume", *options)
            run.usage_error("--tau-resume: .tau/runs/", "was run with other settings; use the same settings, or")
            run.line(message)
            assert {file: file.read_bytes() for file in folder.iterdir()} == before

    def test_other_models_and_arguments(self, models, project):
        models.run().outcomes(passed=1)
        other = ["--tau-agent-llm", "fake/other", "--tau-user-llm", "fake/user"]
        run = project.run(*other, "--tau-agent-llm-args", '{"temperature": 1, "api_key": "sesame"}', "--tau-resume")
        run.usage_error("--tau-resume")
        run.line('agent_llm: "fake/agent" in the earlier run, "fake/other" now')
        run.line('agent_llm_args: {"temperature": 0.0} in the earlier run, {"temperature": 1} now')
        run.lacks("sesame")

    def test_another_prompt_of_the_same_name(self, models, project):
        prompt = project.write("p.txt", "Be brief. {{policy}}")
        models.run("--tau-agent-prompt", "p.txt").outcomes(passed=1)
        models.run("--tau-agent-prompt", "p.txt", "--tau-resume").outcomes(passed=1)
        prompt.write_text("Be kind. {{policy}}", encoding="utf-8")
        models.run("--tau-agent-prompt", "p.txt", "--tau-resume").usage_error(
            "agent prompt: ", " in the earlier run, ", " now"
        )

    def test_what_no_verdict_hangs_on_may_differ(self, models, project):
        models.run("--tau-concurrency=1").outcomes(passed=1)
        models.run(
            *("--tau-resume", "--tau-concurrency=3", "--tau-budget=9", "--tau-llm-timeout=5", "--tau-trials=2"),
            *("--tau-agent-llm-args", '{"temperature": 0.0, "api_base": "http://other", "timeout": 3}'),
        ).outcomes(passed=2)

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    @pytest.mark.parametrize(
        ("file", "change", "message"),
        [
            ("shelf/short.md", ("Lend", "Never lend"), "policy of shelf: "),
            ("shelf/db.json", ("Emma", "Emma!"), "database of shelf: "),
            ("conftest.py", ("Which one.", "Which book."), "tools of shelf: "),
        ],
    )
    def test_another_domain(self, shelf, file, change, message, workers):
        shelf.run("--tau-domain", "shelf").outcomes(passed=2)
        shelf.write(file, (shelf.path / file).read_text(encoding="utf-8").replace(*change))
        run = shelf.run("--tau-domain", "shelf", "--tau-resume", *workers)
        run.usage_error("--tau-resume: .tau/runs/", "was run with other versions of domains; restore them, or start")
        run.line(message, " in the earlier run, ", " now")

    def test_another_domain_with_another_task(self, shelf):
        shelf.run("--tau-domain", "shelf").outcomes(passed=2)
        shelf.write("shelf/policy.md", "Lend nothing.")
        shelf.write("shelf/short.md", "Lend nothing.")
        tasks = json.loads((shelf.path / "shelf/tasks/tasks.json").read_text(encoding="utf-8"))
        tasks[1]["user_scenario"]["instructions"] = "Borrow it!"
        shelf.tasks("shelf/tasks/tasks.json", tasks)
        run = shelf.run("--tau-domain", "shelf", "--tau-resume")
        run.usage_error("was run with other versions of domains and tasks; restore them, or start a new run without")

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    def test_another_task_of_a_file(self, project, a_task, workers):
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        project.run().outcomes(passed=2)
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two", ticket="Do.")])
        run = project.run("--tau-resume", *workers)
        run.usage_error("task 'two' of mock: ", " in the earlier run, ", " now")
        run.line(
            "--tau-resume: .tau/runs/", "was run with other versions of tasks; restore them, or start a new run without"
        )
        run.lacks("task 'one'")
        # What is not selected does not matter.
        project.run("--tau-resume", "--tau-task", "one", *workers).outcomes(passed=1)

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["alone", "-n2"])
    def test_two_files_that_have_exchanged_their_tasks_of_one_id(self, project, a_task, workers):
        files = ("mock/a.tau.json", "mock/b.tau.json")
        first, second = ([a_task("one", ticket=text), a_task(f"only {text}")] for text in ("Do.", "Go."))
        for file, tasks in zip(files, (first, second), strict=True):
            project.tasks(file, tasks)
        project.run().outcomes(passed=4)
        project.run("--tau-resume").line("tau: resume: 4 of 4 trials reused")
        project.tasks(files[0], [second[0], first[1]])
        project.tasks(files[1], [first[0], second[1]])
        run = project.run("--tau-resume", *workers)
        run.usage_error("was run with other versions of tasks; restore them")
        run.line("task 'one' of mock/a.tau.json: another task had this id in the earlier run")
        run.lacks("task 'only", "hash")

    def test_another_task_of_a_marked_test(self, shelf):
        shelf.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="shelf")
            def test_own(tau_simulation):
                pass
            """,
        )
        shelf.run("test_own.py").outcomes(passed=2)
        tasks = json.loads((shelf.path / "shelf/tasks/tasks.json").read_text(encoding="utf-8"))
        tasks[1]["user_scenario"]["instructions"] = "Borrow it!"
        shelf.tasks("shelf/tasks/tasks.json", tasks)
        shelf.run("test_own.py", "--tau-resume").usage_error("task 'lend-ulysses' of shelf: ")

    @pytest.mark.exhaustive
    @pytest.mark.parametrize(
        ("place", "change", "message", "options"),
        [
            ("function", ('agent="gold"', 'agent="noop"'), 'agent: "gold" in the earlier run, "noop" now', ["-n2"]),
            ("function", ('user="gold"', 'user="noop"'), 'user: "gold" in the earlier run, "noop" now', ["--lf"]),
            ("class", ('agent="gold"', 'agent="noop"'), 'agent: "gold" in the earlier run, "noop" now', []),
            (
                "module",
                ('agent="gold"', "agent=Noop"),
                'agent: "gold" in the earlier run, "Noop" now',
                ["--tau-rerun=error"],
            ),
        ],
    )
    def test_another_participant_of_a_marker(self, project, place, change, message, options):
        marker = 'pytest.mark.tau(domain="mock", tasks=["create-task", "transfer-*"], agent="gold", user="gold")'
        text = _MARKED[place].replace("MARKER", marker)
        project.write("test_own.py", text)
        project.run().outcomes(passed=2)
        project.run("--tau-resume", *options).outcomes(passed=2)
        project.write("test_own.py", text.replace(*change))
        run = project.run("--tau-resume", *options)
        run.usage_error("--tau-resume: .tau/runs/", "was run with other settings; use the same settings, or start")
        run.line("::test_own[create-task-trial-0] and 1 more: ", message)

    def test_another_participant_of_one_of_several_tests(self, project):
        project.write("test_own.py", _TWO_TESTS)
        project.run().outcomes(passed=2)
        project.write("test_own.py", _TWO_TESTS.replace('agent="noop"', 'agent="gold"'))
        run = project.run("--tau-resume")
        run.usage_error('test_own.py::test_two[create-task-trial-0]: agent: "noop" in the earlier run, "gold" now')
        run.lacks("test_one", " more: ")

    def test_another_parameter_of_the_same_id(self, project):
        text = """
            import pytest

            class One:
                def respond(self, message):
                    return "Well."

            class Two(One):
                pass

            @pytest.mark.parametrize("tau_agent", [One], ids=["agent"])
            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_own(tau_simulation):
                pass
            """
        project.write("test_own.py", text)
        project.run().outcomes(passed=1)
        project.run("--tau-resume").outcomes(passed=1)
        project.write("test_own.py", text.replace("[One]", "[Two]"))
        run = project.run("--tau-resume")
        run.outcomes(errors=1)
        run.line('agent: "One" in the earlier run, "Two" now')

    def test_another_domain_of_a_marker_or_a_file(self, shelf, a_task):
        shelf.tasks("mock/t.tau.json", [a_task("lend-emma")])
        text = (
            'import pytest\n\n@pytest.mark.tau(domain="shelf", tasks="lend-emma")\ndef test_own(tau_simulation): pass\n'
        )
        shelf.write("test_own.py", text)
        shelf.run("test_own.py").outcomes(passed=1)
        (folder,) = folders(shelf)
        file = folder / "simulations.jsonl"
        stored = file.read_text(encoding="utf-8")
        file.write_text(stored.replace('"domain": "shelf"', '"domain": "library"'), encoding="utf-8")
        run = shelf.run("test_own.py", "--tau-resume")
        run.usage_error('test_own.py::test_own[lend-emma-trial-0]: domain: "library" in the earlier run, "shelf" now')

    @pytest.mark.parametrize(("way", "options"), [("hook", ["-n2"]), ("fixture", [])], ids=["hook", "fixture"])
    def test_another_participant_that_is_made(self, project, way, options):
        made = {
            "hook": "def pytest_tau_make_agent():\n    return Agent()\n",
            "fixture": "@pytest.fixture\ndef tau_agent():\n    return Agent()\n",
        }
        agent = "import pytest\n\nclass Agent:\n    def respond(self, message):\n        return 'Well.'\n\n"
        project.write("conftest.py", agent + made[way])
        test = '@pytest.mark.tau(domain="mock", tasks="create-task")\ndef test_own(tau_simulation): pass\n'
        project.write("test_own.py", f"import pytest\n\n{test}")
        project.run().outcomes(passed=1)
        run = project.run("--tau-resume", *options)
        run.outcomes(passed=1)
        run.line("tau: resume: 1 of 1 trial reused from the earlier run")
        project.write("conftest.py", (agent + made[way]).replace("Agent", "Other").replace("tau_Other", "tau_agent"))
        run = project.run("--tau-resume", *options)
        run.outcomes(errors=1)
        run.line("--tau-resume: the earlier run had another participant; start a new run without --tau-resume")
        run.line('agent: "Agent" in the earlier run, "Other" now')
        project.write("conftest.py", "")
        project.run("--tau-resume", *options).usage_error('agent: "Agent" in the earlier run, "gold" now')

    def test_another_model_of_a_marked_test(self, project):
        from pytest_tau.testing import ModelServer

        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="llm", user="llm")
            def test_own(tau_simulation):
                pass
            """,
        )
        with ModelServer(lambda _request: "###STOP###") as server:
            args = json.dumps({"api_base": server.base_url, "api_key": "k"})
            named = ["--tau-agent", "gold", "--tau-user", "gold", "--tau-agent-llm", "openai/agent"]
            named += ["--tau-agent-llm-args", args, "--tau-user-llm-args", args]
            project.run(*named, "--tau-user-llm", "openai/user").outcomes(passed=1)
            project.run(*named, "--tau-user-llm", "openai/user", "--tau-resume").outcomes(passed=1)
            run = project.run(*named, "--tau-user-llm", "openai/other", "--tau-resume")
        run.usage_error('user_llm: "openai/user" in the earlier run, "openai/other" now')

    def test_new_tasks_are_none_that_have_changed(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("one")])
        project.run().outcomes(passed=1)
        project.tasks("mock/t.tau.json", [a_task("one"), a_task("two")])
        project.run("--tau-resume").outcomes(passed=2)

    def test_other_rules_of_grading(self, project):
        project.run(*MOCK)
        (folder,) = folders(project)
        info = info_of(folder)
        info["hashes"]["grader"] = "0" * 16
        (folder / "run.json").write_text(json.dumps(info), encoding="utf-8")
        run = project.run(*MOCK, "--tau-resume")
        run.usage_error("rules of grading: 0000000000000000 of pytest-tau ", " in the earlier run, ")

    def test_many_differences_are_abbreviated(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task(f"t{number}") for number in range(20)])
        project.run().outcomes(passed=20)
        project.tasks("mock/t.tau.json", [a_task(f"t{number}", ticket="Do.") for number in range(20)])
        run = project.run("--tau-resume")
        run.usage_error("task 't7' of mock")
        run.line("and 12 more")

    def test_workers_on_other_machines(self, project, tmp_path_factory):
        pytest.importorskip("xdist")
        project.run(*MOCK)
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        run = project.run(*MOCK, "--tau-resume", "--dist=load", f"--tx=popen//chdir={elsewhere}")
        run.usage_error("--tau-resume: workers on other machines cannot read", ".tau/runs/")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_another_commit_is_reported_and_not_refused(project):
    def git(*args):
        who = ["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *args], cwd=project.path, capture_output=True, check=True)

    git("init", "-q")
    git("commit", "-qm", "One", "--allow-empty")
    project.run(*MOCK)
    project.run(*MOCK, "--tau-resume").lacks("the project was at")
    git("commit", "-qm", "Two", "--allow-empty")
    run = project.run(*MOCK, "--tau-resume")
    run.outcomes(passed=3)
    run.line("tau: resume: the project was at ", " in the earlier run and is at ", " now")
