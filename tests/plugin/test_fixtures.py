"""The fixtures: what they give, that a conftest can override each, and tests of one's own that use them."""

from __future__ import annotations

import pytest

TEST = """
import pytest

@pytest.mark.tau(domain="mock", tasks="create-task")
def test_it(tau_simulation):
    assert tau_simulation.reward == 1
"""


class TestOfOnesOwn:
    """Marked tests."""

    def test_simulation(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create*", trials=2)
            def test_creates(tau_simulation, tau_task, tau_trial):
                assert tau_simulation.reward == 1
                assert tau_simulation.called("create_task", title=tau_task.criteria.actions[0].arguments["title"])
                assert not tau_simulation.called("transfer_to_human_agents")
                assert tau_simulation.trial == tau_trial
                assert tau_simulation.termination_reason == "user_stop"
            """,
        )
        run = project.run("-v")
        run.outcomes(passed=4)
        for name in ("create-task-trial-0", "create-task-trial-1", "create-with-description-trial-1"):
            run.line(f"test_agent.py::test_creates[{name}] PASSED")
        run.line("tau: mock: 2 tasks, 4 trials; 4 passed; pass^1 1.000 pass^2 1.000")

    def test_a_failing_assertion_of_ones_own_shows_the_simulation(self, project):
        project.write("test_agent.py", TEST.replace("tau_simulation.reward == 1", "tau_simulation.called('get_users')"))
        run = project.run("--assert=rewrite")
        run.outcomes(failed=1)
        run.line("E ", "assert False")
        run.line("tau simulation")
        run.line("reward 1 = DB 1 x COMMUNICATE 1")
        run.line("agent  > create_task(")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_the_section_about_the_simulation_fits_the_terminal(self, project, monkeypatch, workers):
        monkeypatch.setenv("COLUMNS", "80")
        project.write(
            "test_it.py",
            """
            import pytest

            def wordy(messages, tools):
                return "I say a lot. " * 30

            @pytest.mark.tau(domain="mock", tasks="create-task", agent=wordy)
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        run = project.run("--tau-max-steps", "6", *workers)
        section = run.text.partition("tau simulation -")[2].partition("\n=")[0].splitlines()[1:]
        assert max(map(len, section)) < 80, section
        at = next(number for number, line in enumerate(section) if line.startswith("  agent  I say a lot."))
        assert section[at + 1].startswith("      ")
        assert section[at + 1].endswith("…")

    def test_a_mistyped_tool_is_an_error_and_no_call_that_was_not_made(self, project):
        project.write(
            "test_agent.py", TEST.replace("tau_simulation.reward == 1", "not tau_simulation.called('get_user')")
        )
        run = project.run()
        run.outcomes(failed=1)
        run.line("unknown tool 'get_user'; did you mean 'get_users'?")

    def test_a_failed_simulation_shows_why(self, project):
        project.write("test_agent.py", TEST)
        run = project.run("--tau-agent", "noop")
        run.outcomes(failed=1)
        run.line("tau simulation")
        run.line("reward 0 = DB 0 x COMMUNICATE 1")
        run.line("never called create_task(")
        run.line("FAILED test_agent.py::test_it[create-task-trial-0]")

    def test_a_passing_test_shows_nothing(self, project):
        project.write("test_agent.py", TEST)
        project.run("-rA").lacks("tau simulation")

    def test_a_harness_fault_is_an_error(self, project):
        project.write("test_agent.py", TEST)
        project.write("user.py", "def user(messages, tools):\n    raise OSError('line dead')\n")
        run = project.run("--tau-user", "user.py:user")
        run.outcomes(errors=1)
        run.line("OSError: line dead")
        run.line("ERROR test_agent.py::test_it[create-task-trial-0]")
        run.lacks("fixtures.py")
        assert run.text.count("  OSError: line dead") == 1, "the report is written once"
        run.lacks("tau simulation")

    def test_a_failed_agent_that_the_test_expects_passes(self, project):
        project.write("test_agent.py", TEST.replace("reward == 1", "reward == 0"))
        run = project.run("--tau-agent", "noop")
        run.outcomes(passed=1)
        run.line("tau: mock: 1 task, 1 trial; 1 failed; pass^1 0.000")

    def test_environment_without_a_conversation(self, project):
        project.write(
            "test_tools.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks=["create-task", "start-from-data"])
            def test_tools(tau_env, tau_task):
                users = tau_env.call("get_users", {}).content
                assert ("Chiara" in users) == (tau_task.id == "start-from-data")
                assert tau_env.dump()["agent"]["tasks"]["task_1"]["status"] == "pending"
                assert tau_env.policy.startswith("# Agent policy")
            """,
        )
        run = project.run("-v")
        run.outcomes(passed=2)
        run.line("test_tools.py::test_tools[start-from-data] PASSED")

    def test_an_environment_is_fresh_for_each_test(self, project):
        project.write(
            "test_tools.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", trials=2)
            def test_tools(tau_env, tau_trial):
                reply = tau_env.call("create_task", {"user_id": "user_1", "title": "x"})
                assert '"task_3"' in reply.content
            """,
        )
        project.run().outcomes(passed=2)

    def test_the_simulation_runs_on_tau_env(self, project):
        project.write(
            "test_agent.py",
            TEST.replace("tau_simulation)", "tau_env, tau_simulation)")
            + '    assert "task_3" in tau_env.dump()["agent"]["tasks"]\n',
        )
        project.run().outcomes(passed=1)

    def test_agent_and_user_as_given(self, project):
        project.write(
            "test_agent.py",
            TEST.replace("tau_simulation)", "tau_agent, tau_user)").replace(
                "assert tau_simulation.reward == 1", 'assert (tau_agent.name, tau_user.name) == ("noop", "scripted")'
            ),
        )
        project.run("--tau-agent", "noop").outcomes(passed=1)

    def test_with_parametrisation_of_ones_own(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.parametrize("tool", ["create_task", "get_users"])
            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_it(tool, tau_simulation):
                assert tau_simulation.called(tool)
            """,
        )
        run = project.run("-v")
        run.outcomes(passed=1, failed=1)
        run.line("test_agent.py::test_it[", "get_users", "FAILED")

    def test_in_a_class(self, project):
        project.write(
            "test_agent.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            class TestAgent:
                def test_reward(self, tau_simulation):
                    assert tau_simulation.reward == 1

                def test_task(self, tau_task):
                    assert tau_task.id == "create-task"
            """,
        )
        project.run().outcomes(passed=2)

    def test_with_plain_tests(self, project):
        project.write("test_agent.py", TEST + "\n\ndef test_plain():\n    pass\n")
        project.run().outcomes(passed=2)


class TestOverriding:
    """A conftest can override each fixture, for task files, domains and marked tests alike."""

    def _conftest(self, project, source, folder="."):
        project.write(f"{folder}/conftest.py", f"import pytest\n\n@pytest.fixture\n{source}")

    @pytest.fixture(params=["file", "domain", "marker"])
    def run(self, request, project, a_task):
        """Runs one task in each of the three ways."""
        project.tasks("mock/t.tau.json", [a_task("create-task")])
        project.write("test_agent.py", TEST)
        args = {
            "file": ["mock/t.tau.json"],
            "domain": ["--tau-domain", "mock", "--tau-task", "create-task"],
            "marker": ["test_agent.py"],
        }[request.param]
        return lambda *more: project.run(*args, *more)

    def test_tau_agent(self, project, run):
        self._conftest(project, "def tau_agent():\n    return lambda messages, tools: 'I am the override.'\n")
        finished = run()
        finished.outcomes(failed=1)
        finished.line("agent  I am the override.")

    def test_tau_user(self, project, run):
        self._conftest(project, "def tau_user():\n    return lambda messages, tools: 'No, thanks. ###STOP###'\n")
        finished = run()
        finished.outcomes(failed=1)
        finished.line("user   No, thanks. ###STOP###")

    def test_tau_env(self, project, run):
        self._conftest(
            project,
            "def tau_env(tau_env):\n    tau_env.call('create_task', {'user_id': 'user_1', 'title': 'x'})\n"
            "    return tau_env\n",
        )
        project.write(
            "looks.py",
            """
            from pytest_tau.testing import ScriptedParticipant, call

            class Agent(ScriptedParticipant):
                def __init__(self):
                    super().__init__([call("get_users"), "Done."])
            """,
        )
        finished = run("--tau-agent", "looks.py:Agent")
        finished.outcomes(failed=1)
        finished.line('= [{"user_id": "user_1"', '"tasks": ["task_1", "task_2", "task_3"]')

    def test_tau_task(self, project, run):
        self._conftest(
            project,
            "def tau_task(tau_task):\n"
            "    return tau_task.model_copy(update={'user_scenario': tau_task.user_scenario.model_copy("
            "update={'instructions': 'Something else.', 'script': None})})\n",
        )
        finished = run("--tau-agent", "noop")
        finished.outcomes(failed=1)
        finished.line("user   Something else.")

    def test_tau_simulation(self, project, run):
        self._conftest(
            project,
            "def tau_simulation(tau_simulation):\n    print('turns:', len(tau_simulation.messages))\n"
            "    return tau_simulation\n",
        )
        finished = run("-s")
        finished.outcomes(passed=1)
        finished.line("turns: 6")

    def test_an_override_applies_to_its_folder_only(self, project, a_task):
        for folder in ("a/mock", "b/mock"):
            project.tasks(f"{folder}/t.tau.json", [a_task()])
        self._conftest(project, "def tau_agent():\n    return lambda messages, tools: 'Override.'\n", folder="a")
        run = project.run("-v")
        run.outcomes(passed=1, failed=1)
        run.line("a/mock/t.tau.json::buy-milk[trial-0] FAILED")
        run.line("b/mock/t.tau.json::buy-milk[trial-0] PASSED")

    def test_an_override_where_a_domain_is_run_from(self, project, monkeypatch):
        """As the hooks of that conftest.py do."""
        project.ini()
        self._conftest(project, "def tau_agent():\n    return lambda messages, tools: 'Override.'\n", folder="evals")
        monkeypatch.chdir(project.path / "evals")
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "1")
        run.outcomes(failed=1)
        run.line("agent  Override.")

    def test_an_override_in_the_test_module(self, project):
        project.write(
            "test_agent.py",
            TEST + "\n\n@pytest.fixture\ndef tau_agent():\n    return lambda messages, tools: 'Override.'\n",
        )
        run = project.run()
        run.outcomes(failed=1)
        run.line("agent  Override.")

    def test_autouse_fixtures_apply_to_task_items(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a"), a_task("b")])
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture(autouse=True)
            def around(request):
                print("before", request.node.name, request.node.task.id)
                yield
                print("after", request.node.name)
            """,
        )
        run = project.run("-s")
        run.outcomes(passed=2)
        run.line("before a[trial-0] a")
        run.line("after b[trial-0]")


@pytest.mark.parametrize("scope", ["class", "module", "package", "session"])
def test_autouse_fixtures_of_every_scope_apply_to_tasks(project, a_task, scope):
    project.write(
        "conftest.py",
        f"""
        import pytest

        @pytest.fixture(scope="{scope}", autouse=True)
        def around(request):
            print("around", request.node.name)
        """,
    )
    project.tasks("a.tau.json", [a_task("one"), a_task("two")])
    run = project.run("a.tau.json", "--tau-domain=mock", "-rP")
    run.outcomes(passed=2)
    named = project.run("--tau-domain=mock", "--tau-num-tasks=2", "-rP")
    named.outcomes(passed=2)
    if scope == "module":
        run.line("around a.tau.json")
        named.line("around mock")
