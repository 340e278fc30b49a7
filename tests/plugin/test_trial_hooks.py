"""The hooks of each trial, as a conftest.py implements them: who plays, what has happened."""

from __future__ import annotations

import json

import pytest


class TestMakers:
    """pytest_tau_make_agent, pytest_tau_make_user."""

    @pytest.fixture
    def folders(self, project, a_task):
        for folder in ("a/mock", "b/mock"):
            project.tasks(f"{folder}/t.tau.json", [a_task()])
        return project

    @pytest.mark.parametrize("side", ["agent", "user"])
    def test_next_to_a_task_file_it_applies_only_to_that_folder(self, folders, side):
        folders.write(
            "a/conftest.py",
            f"""
            def pytest_tau_make_{side}(item, task, domain, config):
                return lambda messages, tools: f"Made for {{task.id}} of {{domain.name}} ({{item.name}}). ###STOP###"
            """,
        )
        run = folders.run("-v")
        run.outcomes(passed=1, failed=1)
        run.line("a/mock/t.tau.json::buy-milk[trial-0] FAILED")
        run.line("b/mock/t.tau.json::buy-milk[trial-0] PASSED")
        run.line("Made for buy-milk of mock (buy-milk[trial-0]).")

    def test_none_leaves_it_to_the_next(self, folders):
        folders.write(
            "conftest.py",
            """
            def pytest_tau_make_agent(item, config):
                print("asked for", item.nodeid, config.trials)
                return None
            """,
        )
        run = folders.run("-s")
        run.outcomes(passed=2)
        run.line("asked for a/mock/t.tau.json::buy-milk[trial-0] 1")

    @pytest.mark.parametrize("made", ["Agent", "load_source('noop', 'agent')"], ids=["class", "source"])
    def test_whatever_an_agent_may_be(self, folders, made):
        folders.write(
            "conftest.py",
            f"""
            from pytest_tau.participants import load_source

            class Agent:
                def respond(self, message):
                    return "made"

            def pytest_tau_make_agent(item):
                return {made}
            """,
        )
        run = folders.run("a")
        run.outcomes(failed=1)
        run.line("never called create_task(")
        run.lacks("Traceback")

    def test_what_is_no_agent_is_an_error_that_says_so(self, folders):
        folders.write("conftest.py", "def pytest_tau_make_agent(item):\n    return object\n")
        run = folders.run("a")
        run.outcomes(errors=1)
        run.line("is not a valid agent")
        run.lacks("def check_form")  # the message is enough; our own code is not what is wrong

    def test_a_domains_tasks(self, project):
        project.write("conftest.py", "def pytest_tau_make_agent(item):\n    return lambda messages, tools: 'made'\n")
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1")
        run.outcomes(failed=1)
        run.line("agent  made")

    def test_marked_tests(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_it(tau_simulation):
                assert tau_simulation.messages[2].content == "made"
            """,
        )
        project.write("conftest.py", "def pytest_tau_make_agent(item):\n    return lambda messages, tools: 'made'\n")
        project.run().outcomes(passed=1)


class TestNotifications:
    """pytest_tau_simulation_started, pytest_tau_message, pytest_tau_simulation_finished."""

    CONFTEST = """
    def pytest_tau_simulation_started(item, task, trial):
        print("started:", item.nodeid, task.id, trial)

    def pytest_tau_message(item, message):
        print("message:", message.role, message.turn_idx)

    def pytest_tau_simulation_finished(item, simulation):
        print("finished:", simulation.task_id, simulation.trial, simulation.reward, len(simulation.messages))
    """

    def _lines(self, run):
        words = ("started:", "message:", "finished:")
        lines = [line[line.index(word) :] for line in run.text.splitlines() for word in words if word in line]
        return [line for line in lines if not line.endswith("---")]

    def test_in_order(self, project, a_task):
        project.write("conftest.py", self.CONFTEST)
        project.tasks("mock/t.tau.json", [a_task()])
        lines = self._lines(project.run("-s"))
        assert lines[0] == "started: mock/t.tau.json::buy-milk[trial-0] buy-milk 0"
        roles = ["assistant", "user", "assistant", "tool", "assistant", "user"]
        assert lines[1:-1] == [f"message: {role} {turn}" for turn, role in enumerate(roles)]
        assert lines[-1].startswith("finished: buy-milk 0 1.0 6")

    def test_of_a_domains_task(self, project):
        project.write("conftest.py", self.CONFTEST)
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "-s")
        run.line("started: mock::create-task[trial-0] create-task 0")
        run.line("finished: create-task 0 1.0 6")

    def test_also_of_one_that_ended_in_an_error(self, project, a_task):
        project.write("conftest.py", self.CONFTEST)
        project.write("user.py", "def user(messages, tools):\n    raise OSError('line dead')\n")
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("-s", "--tau-user", "user.py:user")
        run.outcomes(errors=1)
        run.line("started: mock/t.tau.json")
        run.line("finished: buy-milk 0 0.0 1")

    def test_also_of_one_whose_agent_was_cut_off(self, project, a_task):
        project.write("conftest.py", self.CONFTEST)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("-s", "--tau-max-steps", "1", "--tau-trials", "2")
        run.line("finished: buy-milk 0 0.0 2")
        run.line("finished: buy-milk 1 0.0 2")

    def test_of_one_folder(self, project, a_task):
        project.write("a/conftest.py", self.CONFTEST)
        for folder in ("a/mock", "b/mock"):
            project.tasks(f"{folder}/t.tau.json", [a_task()])
        run = project.run("-s")
        run.line("started: a/mock/t.tau.json")
        run.lacks("started: b/mock/t.tau.json")

    def test_a_hook_that_raises_is_an_error_and_not_the_agents_failure(self, project, a_task):
        project.write("conftest.py", "def pytest_tau_message(message):\n    raise RuntimeError('hook broke')\n")
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run()
        run.outcomes(errors=1)
        run.line("RuntimeError: hook broke")

    def test_an_interruption_in_a_hook_ends_the_run(self, project, a_task):
        project.write("conftest.py", "def pytest_tau_message(message):\n    raise KeyboardInterrupt\n")
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        with pytest.raises(KeyboardInterrupt):  # pytester hands it on
            project.run()


def test_results_can_be_stored_as_json(project, a_task):
    """What a person would do with the hooks first."""
    project.write(
        "conftest.py",
        """
        from pathlib import Path

        def pytest_tau_simulation_finished(item, simulation):
            Path(f"{item.task.id}-{simulation.trial}.json").write_text(simulation.model_dump_json())
        """,
    )
    project.tasks("mock/t.tau.json", [a_task()])
    project.run("--tau-trials", "2").outcomes(passed=2)
    stored = json.loads((project.path / "buy-milk-1.json").read_text())
    assert stored["reward_info"]["reward"] == 1.0
    assert stored["messages"][-1]["content"] == "###STOP###"
