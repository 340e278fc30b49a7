"""-n 2: the same results, reported the same way."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

import pytest_tau

pytest.importorskip("xdist")


def test_domains_trials_and_a_judge(shelf):
    args = ["--tau-domain", "shelf,mock", "--tau-split", "full", "--tau-judge", "accept", "--tau-trials", "2"]
    run = shelf.run(*args, "-n", "2")
    run.outcomes(passed=40)
    assert run.ret == pytest.ExitCode.OK
    run.line("2 workers [40 items]")
    run.line("tau: domain shelf, mock, seed 300, bundled data, agent gold, user gold (no agent given", "judge accept")
    run.line("tau: mock: 18 tasks, 36 trials; 36 passed; pass^1 1.000 pass^2 1.000")
    run.line("tau: shelf: 2 tasks, 4 trials; 4 passed; pass^1 1.000 pass^2 1.000")


@pytest.mark.parametrize("argument", ["nodomain::create-task", "nodomain::create-task[trial-0]"])
def test_an_unknown_domain_in_a_node_id(project, argument):
    known = "unknown domain 'nodomain' (known: airline, banking_knowledge, mock,"
    project.run(argument, "-n", "2").usage_error(f"not found: {argument}: {known}")


def test_outcomes_and_reports_are_those_of_one_process(project, a_task):
    """Passed, failed and error; the explained failure crosses over; each trial counts once; seeds are the same."""
    project.tasks("mock/t.tau.json", [a_task("good"), a_task("bad"), a_task("lost")])
    project.write(
        "parts.py",
        """
        from pytest_tau.testing import ScriptedParticipant, call

        class Agent(ScriptedParticipant):
            def __init__(self, task, seed):
                made = call("create_task", user_id="user_1", title="Buy milk")
                super().__init__(["Seed %d." % seed] if task.id == "bad" else [made, "Done."])

        class User:
            def __init__(self, task):
                self.lost, self.said = task.id == "lost", False

            def respond(self, message):
                if self.lost:
                    raise ConnectionError("provider down")
                self.said, before = True, self.said
                return "###STOP###" if before else "Milk!"
        """,
    )
    args = [
        "--tau-agent",
        "parts.py:Agent",
        "--tau-user",
        "parts.py:User",
        "--tau-trials",
        "2",
        "-rfE",
        "--junitxml=r.xml",
    ]
    alone, spread = project.run(*args), project.run(*args, "-n", "2")
    for run in (alone, spread):
        run.outcomes(passed=2, failed=2, errors=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("reward 0 = DB 0 x COMMUNICATE 1", "ended by the user's ###STOP### after 4 turns")
        run.line("agent  Seed 626729.")
        run.line("agent  Seed 373753.")
        run.line("ConnectionError: provider down")
        run.line("again: pytest 'mock/t.tau.json::bad[trial-1]'")
        run.line("FAILED mock/t.tau.json::bad[trial-0] - never called create_task")
        run.line("ERROR mock/t.tau.json::lost[trial-1]")
        run.line("tau: mock: 3 tasks, 6 trials; 2 passed, 2 failed, 2 errors; pass^1 0.500 pass^2 0.500")
        run.lacks("INTERNALERROR")
    suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == ("2", "2")
    properties = [p.get("value") for p in suite.iter("property") if p.get("name") == "tau_outcome"]
    assert sorted(properties) == ["error", "error", "failed", "failed", "passed", "passed"]


def test_node_ids_of_a_domain_and_colour(project):
    nodes = ["mock::create-task[trial-2]", "mock::say-new-id[trial-0]"]
    run = project.run(*nodes, "-n", "2", "--tau-agent", "noop", "--color=yes")
    run.outcomes(failed=2)
    run.line("\x1b[31m", "\x1b[1m", "reward 0 = DB 0 x COMMUNICATE 0")
    for node in nodes:
        run.line("\x1b[32m", f"again: pytest '{node}' --tau-agent noop")


def test_marked_tests_fixtures_and_hooks(project):
    project.write(
        "conftest.py",
        """
        import json
        import pytest
        from pathlib import Path

        @pytest.fixture
        def tau_simulation(tau_simulation):
            tau_simulation.error = "seen"
            return tau_simulation

        def pytest_tau_modify_tasks(tasks):
            tasks.reverse()

        def pytest_tau_simulation_finished(item, simulation):
            Path(__file__).with_name(f"{simulation.task_id}-{simulation.trial}.json").write_text(item.nodeid)
        """,
    )
    project.write(
        "test_agent.py",
        """
        import pytest

        @pytest.mark.tau(domain="mock", tasks="create*", trials=2)
        def test_it(tau_simulation, tau_task):
            assert tau_simulation.error == "seen"
            assert tau_task.id != "create-task"
        """,
    )
    run = project.run("-n", "2")
    run.outcomes(passed=2, failed=2)
    run.line("tau simulation")
    run.line("tau: mock: 2 tasks, 4 trials; 4 passed; pass^1 1.000 pass^2 1.000")
    assert len(list(project.path.glob("create-*.json"))) == 4


def test_replay_and_its_differences(project):
    domain = pytest_tau.load_domain("mock")
    simulation = pytest_tau.simulate(domain.tasks()[0], domain=domain)
    next(message for message in simulation.messages if message.role == "tool").content = "[]"
    project.write("rec.json", simulation.model_dump_json())
    run = project.run("--tau-domain", "mock", "--tau-agent", "replay:rec.json", "-n", "2")
    run.outcomes(passed=1)
    run.line("tau: replay: 1 tool result", "from the recording")


def test_last_failed(project):
    args = ["--tau-domain", "mock", "--tau-split", "small"]
    project.run(*args, "--tau-agent", "noop").outcomes(failed=3)
    project.run(*args, "-k", "create").outcomes(passed=1, deselected=2)
    run = project.run(*args, "--lf", "-v", "-n", "2")
    run.outcomes(passed=2)
    run.line("PASSED mock::dismiss-after-done[trial-0]")


def test_mistakes_are_usage_errors(project):
    project.run("--tau-domain", "mock", "--tau-split", "smal", "-n", "2").usage_error("unknown split 'smal'")
    project.write("mock/t.tau.json", "[")
    run = project.run("-n", "2")
    run.usage_error("t.tau.json: not valid JSON")


def test_ini_domain_with_the_projects_tests(project):
    project.ini("tau_domain = mock", "tau_num_tasks = 2", "testpaths = tests")
    project.write("tests/test_plain.py", "def test_plain(): pass")
    project.run("-n", "2").outcomes(passed=3)


def test_nothing_executed_is_never_0(project):
    run = project.run("--tau-domain", "mock", "--tau-solo", "--tau-task", "say-new-id", "-n", "2")
    run.outcomes(skipped=1)
    assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("ids", ["mock/t.tau.json::god", "mock::god"])
def test_a_mistyped_node_id_is_reported_once(project, a_task, ids):
    """Both workers find it, and the report of one is enough."""
    project.tasks("mock/t.tau.json", [a_task("good")])
    alone, spread = project.run(ids), project.run(ids, "-n", "2")
    assert (alone.ret, spread.ret) == (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.USAGE_ERROR), spread.text
    for run in (alone, spread):
        complete = [line for line in run.text.splitlines() if f"not found: {ids}: unknown task 'god'" in line]
        assert len(complete) <= 2, run.text  # in full, and in the short summary
        assert run.text.count("ERROR collecting") <= 1, run.text
