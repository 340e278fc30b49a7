"""Out of how many, and which tasks both pass and fail."""

from __future__ import annotations

import json

import pytest
from trial_records import trial_record

from pytest_tau.analysis.scores import flaky_lines
from pytest_tau.plugin.report.run_counts import count_lines
from pytest_tau.runs.groups import Group

#: Passes where the trial's seed is even, breaks in the user of ``broken`` tasks.
AGENT = """
class Agent:
    def __init__(self, task, seed):
        self.fails, self.done = seed % 2, False

    def respond(self, message):
        if self.done or self.fails:
            return "Done."
        self.done = True
        arguments = {"user_id": "user_1", "title": "Buy milk"}
        return {"tool_calls": [{"name": "create_task", "arguments": arguments}]}


class User:
    def __init__(self, task):
        self.turns, self.broken = 0, task.id == "broken"

    def respond(self, message):
        if self.broken:
            raise ValueError("the user broke")
        self.turns += 1
        return "Please." if self.turns == 1 else "###STOP###"
"""


def record(task, outcome, trial=0, domain="mock"):
    return trial_record(task, trial, outcome, domain=domain, test=f"{domain}::{task}[trial-{trial}]")


def records(**outcomes):
    """By task, a letter a trial: passed, failed, error."""
    words = {"p": "passed", "f": "failed", "e": "error"}
    return [record(task, words[c], n) for task, letters in outcomes.items() for n, c in enumerate(letters)]


class TestFlaky:
    """Tasks that pass and fail within a run."""

    def test_listed_with_their_rate(self):
        lines = flaky_lines(records(a="ppff", b="pppp", c="pfff", d="ffff"))
        assert lines[0] == "flaky: 2 of 4 tasks with several trials both passed and failed"
        assert [line.split() for line in lines[1:]] == [
            ["mock::a", "2", "of", "4", "passed", "(50", "%)"],
            ["mock::c", "1", "of", "4", "passed", "(25", "%)"],
        ]

    def test_errors_are_nobodys_verdict(self):
        assert flaky_lines(records(a="pe", b="fe", c="ppe")) == []
        assert "2 of 3 passed" in flaky_lines(records(a="ppfe"))[1]

    def test_a_task_in_two_domains_is_two(self):
        found = [record("a", "passed", 0), record("a", "failed", 0, domain="retail")]
        assert flaky_lines(found) == []

    def test_few_are_listed_and_all_with_v(self):
        many = records(**{f"t{n:02}": "pf" for n in range(12)})
        assert len(flaky_lines(many)) == 12
        assert flaky_lines(many)[-1] == "  and 2 more (-v lists them)"
        assert len(flaky_lines(many, 1)) == 13
        assert flaky_lines(many, -1) == []

    def test_nothing_that_a_terminal_obeys(self):
        lines = flaky_lines(records(**{"\x1b[2J": "pf"}))
        assert lines[1].split()[0] == r"mock::\x1b[2J"

    def test_none_where_all_is_even(self):
        assert flaky_lines(records(a="pp", b="f")) == []
        assert flaky_lines([]) == []


class TestDenominators:
    """Planned, run, and why the rest was not."""

    def planned(self, **trials):
        return {
            f"mock::{task}[trial-{n}]": Group("", "", "mock", task)
            for task, number in trials.items()
            for n in range(number)
        }

    def test_no_line_where_all_ran(self):
        assert count_lines(self.planned(a=2, b=2), records(a="pe", b="pp")) == []

    def test_errors_and_what_was_not_run(self):
        reasons = {"mock::b[trial-1]": "budget", "mock::c[trial-0]": "no ticket"}
        lines = count_lines(self.planned(a=2, b=2, c=2), records(a="pe", b="f"), reasons)
        assert lines == [
            "3 tasks x 2 trials planned: 2 run, 1 error, 1 not run (budget), 1 not run (no ticket), 1 not run (session ended early)"
        ]

    def test_everything_adds_up(self):
        planned = self.planned(a=4, b=4)
        assert count_lines(planned, records(a="ppe", b="pfff")) == [
            "2 tasks x 4 trials planned: 6 run, 1 error, 1 not run (session ended early)"
        ]

    def test_unequal_numbers_of_trials(self):
        assert count_lines(self.planned(a=2, b=1), records(a="p", b="p")) == [
            "2 tasks, 3 trials planned: 2 run, 1 not run (session ended early)"
        ]

    def test_excluded_trials_are_counted(self):
        lines = count_lines(self.planned(a=1), records(a="p"), {}, {"deselected": 3, "in other shards": 0})
        assert lines == ["excluded: 3 deselected"]
        assert count_lines({}, [], {}, {"deselected": 3}) == ["no trials planned; excluded: 3 deselected"]

    def test_nothing_where_there_was_nothing(self):
        assert count_lines({}, []) == []


class TestRun:
    """In the summary."""

    @pytest.fixture
    def tasks(self, project, a_task):
        project.write("agents.py", AGENT)

        def run(*args, names=("one", "two")):
            project.tasks("mock/t.tau.json", [a_task(name) for name in names])
            return project.run("mock", "--tau-agent", "agents.py:Agent", "--tau-user", "agents.py:User", *args)

        return run

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["here", "workers"])
    def test_flaky_tasks(self, tasks, workers):
        run = tasks("--tau-trials", "4", *workers)
        run.outcomes(passed=2, failed=6)
        run.lacks("planned")
        run.line("tau: flaky: 2 of 2 tasks with several trials both passed and failed")
        run.line("tau:   mock::one  1 of 4 passed (25 %)")

    @pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["here", "workers"])
    def test_terminal_and_folder_agree(self, project, tasks, workers):
        project.write(
            "conftest.py",
            """
            import pytest

            def pytest_collection_modifyitems(items):
                items[0].add_marker(pytest.mark.skip(reason="not today"))
            """,
        )
        run = tasks("-k", "not two", "--tau-results", "kept", *workers, names=("one", "two", "three"))
        run.line("tau: 2 tasks x 1 trial planned: 1 run, 1 not run (not today); excluded: 1 deselected")
        (file,) = (project.path / "kept").glob("*/run.json")
        manifest = json.loads(file.read_text())
        assert manifest["planned"] == {"mock": {"one": 1, "three": 1}}
        assert manifest["excluded"] == {"deselected": 1, "not today": 1}

    def test_tests_that_are_no_trials_are_not_counted(self, project, tasks):
        project.write("mock/test_mine.py", "def test_it():\n    pass\n")
        tasks("-x", "--tau-seed", "1").line("tau: 2 tasks x 1 trial planned: 1 run, 1 not run")

    def test_failed_tests_of_passed_trials_are_counted(self, project):
        project.write(
            "test_mine.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks=["create-task", "complete-task"], agent="gold", user="gold")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
                assert tau_simulation.task_id == "create-task"

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_tools(tau_env):
                raise AssertionError
            """,
        )
        run = project.run("--tau-results", "kept")
        run.outcomes(passed=1, failed=2)
        run.line("2 trials; 2 passed")
        run.line("tau: 1 test failed although its trial passed")
        (file,) = (project.path / "kept").glob("*/run.json")
        assert json.loads(file.read_text())["excluded"] == {}
        project.run("-k", "create").lacks("although")

    def test_passed_tests_of_failed_trials_are_counted(self, project):
        project.write(
            "test_mine.py",
            """
            import pytest

            def crash(messages, tools):
                raise KeyError("order")

            @pytest.mark.tau(domain="mock", tasks="create-task", agent=crash, user="gold")
            def test_must_not(tau_simulation):
                assert not tau_simulation.called("update_task_status", status="completed")

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop", user="gold")
            def test_may(tau_simulation):
                assert tau_simulation.reward == 0

            @pytest.mark.xfail
            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop", user="gold")
            def test_unexpected(tau_simulation):
                pass

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop", user="gold")
            def test_misspelt(tau_simulation):
                assert not tau_simulation.called("update_task_status", state="completed")
            """,
        )
        run = project.run()
        run.outcomes(passed=2, failed=1, xpassed=1)
        run.line("tau: 2 tests passed although their trials failed (1 agent_error)")
        run.line("ValueError: tool 'update_task_status': unknown argument 'state'; did you mean 'status'?")
        project.run("-k", "may").line("tau: 1 test passed although its trial failed")

    def test_a_test_that_changes_its_simulation_changes_no_verdict(self, project):
        project.write(
            "test_mine.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop", user="gold")
            def test_it(tau_simulation):
                tau_simulation.reward_info.reward = 1.0
                tau_simulation.messages.clear()
                assert tau_simulation.reward == 1
            """,
        )
        run = project.run("--tau-gate", "pass^1>=1")
        assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
        run.line("tau: mock: 1 task, 1 trial; 1 failed")
        run.line("tau: 1 test passed although its trial failed")

    def test_a_hook_that_changes_a_simulation_changes_no_rate(self, project, a_task):
        project.write(
            "conftest.py", "def pytest_tau_simulation_finished(simulation):\n    simulation.reward_info.reward = 1.0\n"
        )
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop")
        run.line("tau: mock: 1 task, 1 trial; 1 failed")
        run.line("tau: 1 test passed although its trial failed")

    def test_failed_trials_that_gates_decide_are_not(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "noop", "--tau-user", "noop", "--tau-gate", "pass^1>=0")
        run.lacks("although")

    def test_a_project_without_tasks_hears_nothing(self, project):
        project.write("test_mine.py", "def test_it():\n    pass\n")
        project.run().lacks("tau:")


class TestWorkers:
    def test_an_interrupted_run_knows_what_was_planned(self, project):
        """The controller ends at once; the workers do not say any more what they have planned."""
        project.write(
            "conftest.py",
            """
            import pytest

            class Interrupt:
                @pytest.hookimpl(optionalhook=True, trylast=True)
                def pytest_xdist_node_collection_finished(self):
                    pytest.exit("enough")

            def pytest_configure(config):
                if not hasattr(config, "workerinput"):
                    config.pluginmanager.register(Interrupt())
            """,
        )
        arguments = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-task", "complete-task"]
        run = project.run(*arguments, "--tau-trials", "2", "-n", "2")
        run.line("tau: 2 tasks x 2 trials planned: 0 run, 4 not run (session ended early)")
        run.line("tau: interrupted: none of 4 trials is stored")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_an_interrupted_run_states_what_is_stored_and_how_it_is_continued(self, project, workers):
        project.write(
            "conftest.py",
            """
            from pathlib import Path

            import pytest

            @pytest.hookimpl(trylast=True)
            def pytest_runtest_logreport(report):
                if report.when == "teardown" and "complete" in report.nodeid and not Path("ended").exists():
                    Path("ended").touch()
                    pytest.exit("enough")
            """,
        )
        arguments = ["--tau-domain", "mock", "--tau-task", "create-task", "--tau-task", "complete-task", *workers]
        run = project.run(*arguments)
        assert run.ret == pytest.ExitCode.INTERRUPTED
        folder = next((project.path / ".tau/runs").iterdir())
        stored = len((folder / "simulations.jsonl").read_text().splitlines())
        assert stored
        run.line(f"tau: {stored} of 2 trials stored; to continue, add --tau-resume to the same command")
        run = project.run(*arguments, "--tau-resume")
        run.outcomes(passed=2)
        run.lacks("to continue")

    def test_an_interrupted_run_that_stores_nothing(self, project):
        source = "import pytest\n\ndef pytest_runtest_logfinish(): pytest.exit('enough')"
        project.write("conftest.py", source)
        run = project.run("--tau-domain", "mock", "--tau-results", "none")
        run.line("tau: 16 tasks x 1 trial planned: 1 run, 15 not run (session ended early)")
        run.lacks("stored")

    def test_other_tests_whose_ids_look_like_those_of_trials_are_none(self, project):
        project.write(
            "test_mine.py",
            """
            import os, signal
            from pathlib import Path

            import pytest

            @pytest.mark.parametrize("number", [0, 1], ids=["trial-0", "trial-1"])
            def test_it(number):
                if number and "PYTEST_XDIST_WORKER" in os.environ:
                    with Path("killed").open("a") as file:
                        file.write("x")
                    os.kill(os.getpid(), signal.SIGKILL)
            """,
        )
        run = project.run("-n", "2")
        run.lacks("tau:")
        run.outcomes(passed=1, failed=1)
        assert (project.path / "killed").read_text() == "x"
        assert not (project.path / ".tau").exists()
