"""@pytest.mark.tau: what it may say, what beats what, and mistakes in it."""

from __future__ import annotations

import pytest


@pytest.fixture
def marked(project):
    """Runs a test marked with the given arguments."""

    def run(arguments, *args, fixtures="tau_simulation"):
        project.write(
            "test_agent.py",
            f"""
            import pytest

            @pytest.mark.tau({arguments})
            def test_it({fixtures}):
                print("ran")
            """,
        )
        return project.run("-s", "-v", *args)

    return run


def _ids(run):
    lines = [line.split()[0] for line in run.text.splitlines() if line.startswith("test_agent.py::")]
    return [line.removeprefix("test_agent.py::test_it[").removesuffix("]") for line in lines]


class TestArguments:
    """Each argument."""

    def test_domain(self, marked):
        run = marked('domain="mock"')
        run.outcomes(passed=16)
        run.line("test_agent.py::test_it[create-task-trial-0]")

    @pytest.mark.parametrize("tasks", ['"create*"', '["create-with*", "create-task"]'])
    def test_tasks(self, marked, tasks):
        run = marked(f'domain="mock", tasks={tasks}')
        assert _ids(run) == ["create-task-trial-0", "create-with-description-trial-0"]

    def test_split(self, marked):
        run = marked('domain="mock", split="small"')
        assert [name.removesuffix("-trial-0") for name in _ids(run)] == [
            "create-task",
            "transfer-deletion",
            "dismiss-after-done",
        ]

    def test_split_full(self, marked):
        marked('domain="mock", split="full"', "--tau-judge", "accept").outcomes(passed=18)

    def test_num_tasks(self, marked):
        assert _ids(marked('domain="mock", num_tasks=2')) == ["create-task-trial-0", "create-with-description-trial-0"]

    def test_trials(self, marked):
        run = marked('domain="mock", tasks="create-task", trials=3')
        assert sorted(_ids(run)) == ["create-task-trial-0", "create-task-trial-1", "create-task-trial-2"]
        run.line("tau: mock: 1 task, 3 trials; 3 passed")

    def test_agent(self, marked):
        run = marked('domain="mock", tasks="create-task", agent="noop"')
        run.outcomes(passed=1)
        run.line("tau: mock: 1 task, 1 trial; 1 failed")

    def test_agent_as_an_object(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            def mute(messages, tools):
                return "I say nothing."

            @pytest.mark.tau(domain="mock", tasks="create-task", agent=mute)
            def test_it(tau_simulation):
                assert tau_simulation.messages[2].content == "I say nothing."
            """,
        )
        project.run().outcomes(passed=1)

    def test_user(self, marked):
        run = marked('domain="mock", tasks="create-task", user="noop"')
        run.line("tau: mock: 1 task, 1 trial; 1 failed")

    def test_nothing_takes_the_runs_settings(self, marked):
        run = marked("", "--tau-domain", "mock", "--tau-num-tasks", "2", "--tau-trials", "2", "test_agent.py")
        run.outcomes(passed=4)

    def test_no_marker_at_all_takes_the_runs_settings(self, project):
        project.write("test_agent.py", "def test_it(tau_simulation):\n    assert tau_simulation.reward == 1\n")
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "test_agent.py")
        run.outcomes(passed=2)

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_a_test_without_tau_fixtures_is_refused(self, marked, workers):
        run = marked('domain="mock"', *workers, fixtures="")
        run.usage_error("marker tau: test_it would pass without a conversation", "tau_simulation")
        run.lacks("ran")

    @pytest.mark.parametrize("requested", ["", "tau_simulation"])
    def test_a_fixture_that_overrides_the_plugin_s_counts_if_it_requests_it(self, project, requested):
        project.write(
            "test_mine.py",
            f"""
            import types
            import pytest

            @pytest.fixture
            def tau_simulation({requested}):
                return types.SimpleNamespace(reward=1)

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop", user="gold")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        run = project.run()
        if requested:
            run.outcomes(passed=1)
            run.line("tau: 1 test passed although its trial failed")
        else:
            run.usage_error("marker tau: test_it would pass without a conversation")

    def test_a_unittest_class_is_refused(self, project):
        project.write(
            "test_case.py",
            """
            import unittest
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            class TestCase(unittest.TestCase):
                def test_it(self):
                    print("ran")
            """,
        )
        project.run("-s").usage_error(
            "marker tau: test_it would pass without a conversation: methods of unittest.TestCase cannot have a task: "
            "use a plain class, or remove the marker"
        )

    @pytest.mark.parametrize("fixture", ["tau_simulation", "tau_trial"])
    def test_a_unittest_class_cannot_request_fixtures_by_another_one(self, project, fixture):
        project.write(
            "test_case.py",
            f"""
            import unittest
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            class TestCase(unittest.TestCase):
                @pytest.fixture(autouse=True)
                def given(self, {fixture}):
                    print("ran")

                def test_it(self):
                    print("ran")
            """,
        )
        run = project.run("-s")
        run.outcomes(errors=1)
        run.line("test_it is a method of unittest.TestCase, which cannot have a task: use a plain class")
        run.lacks("ran")

    @pytest.mark.parametrize(
        ("arguments", "outcomes"),
        [
            ((), {"passed": 4}),
            (("-n", "2"), {"passed": 4}),
            (("-k", "plain"), {"passed": 1, "deselected": 3}),
            (("test_agent.py::TestOther::test_other",), {"passed": 1}),
        ],
    )
    def test_other_tests_of_a_marked_module_need_no_conversation(self, project, arguments, outcomes):
        project.write(
            "test_agent.py",
            """
            import unittest
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", tasks="create-task")

            def test_plain():
                pass

            class TestOther:
                def test_other(self):
                    pass

            class TestCase(unittest.TestCase):
                def test_it(self):
                    pass

            class TestAgent:
                def test_agent(self, tau_simulation):
                    assert tau_simulation.reward == 1
            """,
        )
        project.run(*arguments).outcomes(**outcomes)

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    @pytest.mark.parametrize(("kind", "used"), [("module", ""), ("class", "tau_simulation")])
    def test_a_marked_module_or_class_without_a_conversation_is_refused(self, project, workers, kind, used):
        marker = 'pytest.mark.tau(domain="mock", tasks="create-task")'
        project.write(
            "test_agent.py",
            f"""
            import pytest

            {"pytestmark = " + marker if kind == "module" else ""}

            def test_it({used}):
                print("ran")

            {"@" + marker if kind == "class" else ""}
            class TestOther:
                def test_other(self):
                    print("ran")
            """,
        )
        run = project.run("-s", "--tau-domain", "mock", *workers, "test_agent.py")
        names = "test_it, test_other" if kind == "module" else "test_other"
        run.usage_error(
            f"marker tau: {names} would pass without a conversation: request the fixture tau_simulation in a test of "
            f"this {kind}, or remove the marker"
        )
        run.lacks("ran")

    def test_only_the_tests_of_a_refused_module_are_not_run(self, project):
        project.write(
            "test_plain.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock")

            def test_plain():
                pass
            """,
        )
        project.write("test_sound.py", "def test_sound():\n    pass\n")
        project.run("--continue-on-collection-errors").outcomes(passed=1, errors=1)

    @pytest.mark.parametrize("fixture", ["tau_env", "tau_task", "tau_agent"])
    def test_a_test_may_do_without_a_conversation(self, marked, fixture):
        marked('domain="mock", tasks="create-task"', fixtures=fixture).outcomes(passed=1)


class TestPrecedence:
    """The marker is the test's own word; what it does not say, the run's settings do."""

    def test_trials_of_the_marker_beat_the_command_line(self, marked):
        marked('domain="mock", tasks="create-task", trials=2', "--tau-trials", "5").outcomes(passed=2)

    def test_trials_of_the_command_line(self, marked):
        marked('domain="mock", tasks="create-task"', "--tau-trials", "3").outcomes(passed=3)

    def test_agent_of_the_marker_beats_the_command_line(self, marked):
        run = marked('domain="mock", tasks="create-task", agent="noop"', "--tau-agent", "gold")
        run.line("tau: mock: 1 task, 1 trial; 1 failed")

    def test_tau_task_narrows_what_is_marked(self, marked):
        run = marked('domain="mock", tasks="create*"', "--tau-task", "*description")
        assert _ids(run) == ["create-with-description-trial-0"]

    def test_tau_num_tasks_narrows_what_is_marked(self, marked):
        marked('domain="mock", tasks="create*"', "--tau-num-tasks", "1").outcomes(passed=1)

    def test_the_domain_of_the_marker_beats_the_ini(self, project, marked):
        project.ini("tau_domain = telecom")
        marked('domain="mock", tasks="create-task"', "test_agent.py").outcomes(passed=1)

    def test_the_nearest_marker_counts(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", tasks="say-new-id")

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_it(tau_task):
                assert tau_task.id == "create-task"

            def test_other(tau_task):
                assert tau_task.id == "say-new-id"
            """,
        )
        project.run().outcomes(passed=2)

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_arguments_of_module_class_and_test_are_combined(self, project, workers):
        project.write(
            "test_agent.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", agent="noop", trials=3)

            @pytest.mark.tau(trials=2, at_least=0.5)
            class TestIt:
                @pytest.mark.tau(tasks="create-task")
                def test_it(self, tau_simulation):
                    assert tau_simulation.reward == 1
            """,
        )
        run = project.run("-v", *workers)
        run.line("tau: mock: 1 task, 2 trials; 2 failed")
        run.line("agent noop, user scripted")
        run.line("test_agent.py::TestIt::test_it[create-task]: 0 of 2 trials passed; at_least 0.5 needs 1")

    def test_tasks_of_another_domain_are_not_inherited(self, shelf):
        shelf.write(
            "test_shelf.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", tasks="create-task", split="small", num_tasks=1, trials=2)

            @pytest.mark.tau(domain="shelf")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1

            @pytest.mark.tau(domain="mock")
            def test_same(tau_simulation):
                assert tau_simulation.task_id == "create-task"
            """,
        )
        shelf.run("test_shelf.py").outcomes(passed=6)

    def test_a_misspelt_task_of_several_is_an_error(self, marked):
        run = marked("domain='mock', tasks=['create-task', 'create-taks', 'nothing-*']")
        run.usage_error("no task of 'mock' matches 'create-taks'; did you mean 'create-task'?")
        marked("domain='mock', tasks=['create-task', 'nothing-*']").usage_error("matches 'nothing-*'")

    def test_a_split_and_tasks_of_two_markers_that_exclude_each_other(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(domain="mock", split="small")

            @pytest.mark.tau(tasks="say-new-id")
            def test_it(tau_simulation):
                pass
            """,
        )
        run = project.run()
        run.line(
            "test_agent.py::test_it: marker tau: tasks: no task of 'mock' in its split 'small' matches 'say-new-id'"
        )

    def test_a_class_beats_its_base(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="say-new-id")
            class TestBase:
                expected = "say-new-id"

                def test_it(self, tau_task):
                    assert tau_task.id == self.expected

            class TestOther(TestBase):
                pytestmark = pytest.mark.tau(tasks="create-task")
                expected = "create-task"

            class TestLast(TestOther):
                pass
            """,
        )
        project.run().outcomes(passed=3)

    def test_a_mistake_in_an_outer_marker(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            pytestmark = pytest.mark.tau(trails=2)

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_it(tau_task):
                pass
            """,
        )
        project.run().line("test_agent.py::test_it: marker tau has no 'trails'")

    def test_marked_test_and_a_domain_on_the_command_line(self, marked):
        """--tau-domain without paths runs the domain alone."""
        marked('domain="mock", tasks="create-task"', "--tau-domain", "mock").outcomes(passed=16)

    def test_a_domain_of_ones_own(self, shelf):
        shelf.write(
            "test_shelf.py",
            """
            import pytest

            @pytest.mark.tau(domain="shelf")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        run = shelf.run("-v")
        run.outcomes(passed=2)
        run.line("test_shelf.py::test_it[lend-emma-trial-0] PASSED")


class TestSelecting:
    """-m and strictness."""

    def test_by_marker_expression(self, project, marked):
        project.write("test_plain.py", "def test_plain(): pass")
        marked('domain="mock", tasks="create-task"', "-m", "tau", "--strict-markers").outcomes(passed=1, deselected=1)


class TestMistakes:
    """A mistake in a marker stops the run before anything is run, and names the test."""

    @pytest.mark.parametrize(
        ("arguments", "parts"),
        [
            ('domain="mok"', ["unknown domain 'mok'; did you mean 'mock'?"]),
            ('domain="mock", task="create-task"', ["marker tau has no 'task'; did you mean 'tasks'? (it has domain,"]),
            ('domain="mock", tasks="nonesuch"', ["no task of 'mock' matches 'nonesuch'"]),
            ('domain="mock", split="smal"', ["unknown split 'smal'; did you mean 'small'?"]),
            ('domain="mock", agent="glod"', ["unknown agent 'glod'"]),
            ('domain="mock", agent=3', ["agent", "3"]),
            ('domain="mock", agent="nomodule:Agent"', ["'nomodule:Agent' cannot be imported"]),
            ('domain="mock", user="glod"', ["unknown user 'glod'"]),
            ('domain="mock", trials=0', ["trials", "at least 1", "0"]),
            ('domain="mock", trials="many"', ["trials", "'many'"]),
            ('domain="mock", num_tasks=0', ["num_tasks", "at least 1", "0"]),
            ('domain="mock", tasks=3', ["tasks", "3"]),
            ("domain=3", ["domain", "3"]),
            ('"mock"', ["tau", "domain=", "'mock'"]),
            ("", ["no domain given", "--tau-domain"]),
            ('domain="mock", split="judged"', ["2 of 2 tasks need a judge", "--tau-judge"]),
        ],
    )
    def test_usage_error(self, marked, arguments, parts):
        run = marked(arguments)
        assert run.ret in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.USAGE_ERROR), run.text
        run.line("test_agent.py", *parts)
        run.lacks("ran")
        run.lacks("Traceback")
        run.lacks("INTERNALERROR")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_no_test_of_the_run_begins(self, project, marked, workers):
        """As after a mistake in ``parametrize``: an error of the module, and nothing is run."""
        project.write("test_other.py", "def test_other():\n    print('ran')\n")
        run = marked('domian="mock"', *workers)
        assert run.ret == pytest.ExitCode.USAGE_ERROR
        run.line("test_agent.py::test_it: marker tau has no 'domian'; did you mean 'domain'?")
        run.lacks("ran")
        run = marked('domian="mock"', "--continue-on-collection-errors")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("ran")
