"""Item ids, and what pytest does by them: -x, --lf, --ff, --sw, --junitxml, -v."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

#: Fails the tasks whose id contains "bad" and passes the others; with a file "fixed" next to it, passes all.
AGENT = '''
from pathlib import Path
from pytest_tau.testing import ScriptedParticipant, call

class Agent(ScriptedParticipant):
    """Carries the reference actions out, unless the task is a bad one."""

    needs_reference = True

    def __init__(self, task):
        bad = "bad" in task.id and not Path(__file__).with_name("fixed").exists()
        actions = [] if bad else task.evaluation_criteria.actions
        super().__init__([*(call(action.name, **action.arguments) for action in actions), "Done."])
'''


@pytest.fixture
def tasks(project, a_task):
    """Two good tasks and two bad ones, in a file; returns how to run them."""
    project.write("agent.py", AGENT)
    project.ini("tau_agent = agent.py:Agent")
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("good-1", "bad-1", "good-2", "bad-2")])
    return project


def _line_ids(run):
    return sorted(set(re.findall(r"::([a-z0-9-]+)\[trial-\d\] (?:PASSED|FAILED)", run.text)))


class TestTaskIds:
    """From a task's id to an item's."""

    @pytest.mark.parametrize(
        "task_id", ["a", "create-task", "A.b_c+d-1", "x" * 60, "größe", "漢字", "हिन्दी", "e\u0301te\u0301"]
    )
    def test_safe_ones_are_kept(self, project, a_task, task_id):
        project.tasks("mock/t.tau.json", [a_task(task_id)])
        assert project.collected() == [f"mock/t.tau.json::{task_id}[trial-0]"]

    @pytest.mark.parametrize(
        ("task_id", "start"),
        [
            ("x" * 61, "x" * 51),
            ("two words", "two-words"),
            ("[mobile_data]fault|other[PERSONA:None]", "mobile_data-fault-other-PERSONA-None"),
            ("a::b", "a-b"),
            ("a/b", "a-b"),
            ("$(rm -rf)", "rm--rf"),
            ("größe 1", "größe-1"),
            ("日本|x", "日本-x"),
            ("|", ""),
        ],
    )
    def test_others_become_a_slug_and_a_hash(self, project, a_task, task_id, start):
        project.tasks("mock/t.tau.json", [a_task(task_id)])
        (node,) = project.collected()
        name = node.removeprefix("mock/t.tau.json::").removesuffix("[trial-0]")
        assert re.fullmatch(r"[\w.+-]{1,60}", name)
        assert re.fullmatch(re.escape(start) + ("-" if start else "") + "[0-9a-f]{8}", name)
        project.run(node, "-q").outcomes(passed=1)

    def test_ids_that_differ_only_in_unsafe_characters_stay_apart(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a b"), a_task("a/b"), a_task("a-b")])
        found = project.collected()
        assert len(set(found)) == 3
        assert found[2] == "mock/t.tau.json::a-b[trial-0]"

    def test_failure_of_a_renamed_task_shows_its_original_id(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("[mobile] off|on")])
        run = project.run("--tau-agent", "noop")
        run.outcomes(failed=1)
        run.line("[mobile] off|on")
        run.line("FAILED mock/t.tau.json::mobile-off-on-")


class TestCache:
    """What pytest remembers of the last run."""

    def test_last_failed_runs_the_failed_ones_only(self, tasks):
        tasks.run().outcomes(passed=2, failed=2)
        run = tasks.run("--lf", "-v")
        run.outcomes(failed=2)
        run.line("run-last-failure: rerun previous 2 failures")
        assert _line_ids(run) == ["bad-1", "bad-2"]

    def test_last_failed_of_a_domain(self, tasks, a_task):
        agent = ["--tau-domain", "mock", "--tau-split", "small", "--tau-agent", "noop"]
        tasks.run("--tau-domain", "mock", "--tau-split", "small", "--tau-agent", "gold").outcomes(passed=3)
        tasks.run(*agent, "-k", "dismiss").outcomes(failed=1, deselected=2)
        run = tasks.run(*agent, "--lf", "-v")
        run.outcomes(failed=1)
        assert _line_ids(run) == ["dismiss-after-done"]

    def test_last_failed_of_a_domain_and_a_failed_file(self, tasks, monkeypatch):
        """The file that failed has a path, and the domain is where pytest was started: below, it would be passed over."""
        (tasks.path / "below").mkdir()
        tasks.ini()
        agent = ["--tau-domain", "mock", "--tau-split", "small", "--tau-agent", "noop"]
        tasks.write("test_plain.py", "def test_fails(): assert 0")
        tasks.run("test_plain.py").outcomes(failed=1)
        monkeypatch.chdir(tasks.path / "below")
        tasks.run(*agent, "-k", "dismiss").outcomes(failed=1, deselected=2)
        tasks.run("../test_plain.py", "../mock::dismiss-after-done", *agent[2:], "--lf").outcomes(failed=2)

    def test_last_failed_of_one_trial(self, tasks):
        tasks.write(
            "agent.py",
            AGENT.replace("def __init__(self, task)", "def __init__(self, task, seed)").replace(
                '"bad" in task.id', 'task.id == "good-1" and seed == 373753'
            ),
        )
        tasks.run("--tau-trials", "3", "--tau-task", "good*").outcomes(passed=5, failed=1)
        run = tasks.run("--tau-trials", "3", "--tau-task", "good*", "--lf", "-v")
        run.line("mock/t.tau.json::good-1[trial-1] FAILED")
        run.lacks("PASSED")

    def test_last_failed_after_a_fix_runs_all_again(self, tasks):
        tasks.run().outcomes(passed=2, failed=2)
        tasks.write("fixed", "")
        assert _line_ids(tasks.run("--lf", "-v")) == ["bad-1", "bad-2"]
        run = tasks.run("--lf", "-v")
        run.outcomes(passed=4)
        run.line("run-last-failure: no previously failed tests, not deselecting items.")

    def test_failed_first(self, tasks):
        tasks.run()
        run = tasks.run("--ff", "-v")
        run.outcomes(passed=2, failed=2)
        order = re.findall(r"::((?:good|bad)-\d)\[trial-0\] (?:PASSED|FAILED)", run.text)
        assert order == ["bad-1", "bad-2", "good-1", "good-2"]

    def test_stepwise_stops_and_goes_on(self, tasks):
        run = tasks.run("--sw")
        run.outcomes(passed=1, failed=1)
        run.line("Test failed, continuing from this test next run")
        tasks.write("fixed", "")
        run = tasks.run("--sw", "-v")
        run.outcomes(passed=3, deselected=1)
        assert _line_ids(run) == ["bad-1", "bad-2", "good-2"]


@pytest.mark.exhaustive
def test_exit_at_the_first_failure(tasks):
    run = tasks.run("-x")
    run.outcomes(passed=1, failed=1)
    run.line("stopping after 1 failures")
    run.line("tau: mock: 2 tasks, 2 trials; 1 passed, 1 failed; pass^1 0.500")


def test_maxfail(tasks):
    tasks.run("--maxfail=2").outcomes(passed=2, failed=2)


def test_verbose_and_quiet(tasks):
    run = tasks.run("-v", "--tau-task", "*-1")
    run.line("mock/t.tau.json::good-1[trial-0] PASSED", "[ 50%]")
    run.line("mock/t.tau.json::bad-1[trial-0] FAILED", "[100%]")
    run = tasks.run("-q", "--tau-task", "*-1")
    run.line(".F", "[100%]")
    run.line("tau: mock: 2 tasks, 2 trials; 1 passed, 1 failed; pass^1 0.500")
    run.lacks("test session starts")


def test_summary_names_the_failed(tasks):
    run = tasks.run("-rA")
    run.line("PASSED mock/t.tau.json::good-1[trial-0]")
    run.line("FAILED mock/t.tau.json::bad-1[trial-0] - never called create_task")


class TestJunitXml:
    """--junitxml."""

    def _cases(self, project, *args):
        project.run("--junitxml=report.xml", *args)
        suite = ET.parse(project.path / "report.xml").getroot().find("testsuite")
        return suite, {case.get("name"): case for case in suite.iter("testcase")}

    def test_failures(self, tasks):
        suite, cases = self._cases(tasks, "-o", "junit_family=xunit1")
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")
        failure = cases["bad-1[trial-0]"].find("failure")
        assert failure.get("message") == "never called create_task"
        assert "never called create_task(" in failure.text
        assert cases["good-1[trial-0]"].find("failure") is None
        assert cases["good-1[trial-0]"].get("classname") == "mock.t.tau.json"

    def test_properties(self, tasks):
        _, cases = self._cases(tasks, "-o", "junit_family=xunit1", "--tau-trials", "2")
        properties = {p.get("name"): p.get("value") for p in cases["bad-1[trial-1]"].iter("property")}
        expected = {
            "tau_domain": "mock",
            "tau_task": "bad-1",
            "tau_trial": "1",
            "tau_reward": "0.0",
            "tau_outcome": "failed",
        }
        assert properties.items() >= expected.items()

    def test_errors_are_no_failures(self, tasks):
        tasks.write("broken.py", "class User:\n    def respond(self, message):\n        raise OSError('line dead')\n")
        suite, cases = self._cases(tasks, "--tau-user", "broken.py:User", "--tau-task", "good-1")
        assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")
        assert "OSError: line dead" in cases["good-1[trial-0]"].find("error").text
