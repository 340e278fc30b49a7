"""Every option and its ini twin: effect, precedence, and the header."""

from __future__ import annotations

import pytest

#: Prints what it was built from, does nothing.
CURIOUS = """
class Agent:
    def __init__(self, tools, policy, task, seed, llm, llm_args):
        print(f"built: tools={[tool.name for tool in tools]} policy={policy!r} task={task.id} seed={seed} llm={llm}")

    def respond(self, message):
        return "Hello."

class Other(Agent):
    pass
"""


@pytest.fixture
def mock(project):
    """Runs one task of the mock domain with -v, in a project that has the curious agent."""
    project.write("agent.py", CURIOUS)
    return lambda *args: project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "-v", "-s", *args)


class TestHeader:
    """The messages before anything runs."""

    def test_gold_stands_in_for_an_agent_that_was_not_named(self, mock):
        run = mock()
        why = "no agent given: gold plays the reference actions, see --tau-agent"
        run.line(f"tau: domain mock, seed 300, bundled data, agent gold, user gold ({why})")

    def test_a_named_agent_is_no_stand_in(self, mock):
        run = mock("--tau-agent", "gold")
        run.line("tau: domain mock", "agent gold")
        run.lacks("no agent given")

    @pytest.mark.parametrize("args", [["mock/t.tau.json"], []])
    def test_gold_stands_in_for_task_files_too(self, project, a_task, args):
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run(*args)
        run.outcomes(passed=1)
        run.line("tau: ", "no agent given: gold plays")

    def test_settings_that_differ_from_the_default_are_shown(self, mock):
        run = mock("--tau-grading", "strict", "--tau-judge", "accept", "--tau-solo", "--tau-policy-variant", "default")
        shown = ("policy default", "solo", "judge accept (same verdict for every statement)", "grading strict")
        run.line("user dummy, ", *(f", {each}" for each in shown))

    def test_quiet_has_no_header(self, project):
        project.run("--tau-domain", "mock", "-q").lacks("tau: domain")


class TestAgentAndUser:
    """--tau-agent, --tau-user: where they are looked up."""

    def test_gold_and_noop(self, mock):
        mock("--tau-agent", "gold").outcomes(passed=1)
        run = mock("--tau-agent", "noop")
        run.outcomes(failed=1)
        run.line("agent noop, user scripted")

    @pytest.mark.parametrize("spec", ["agent:Agent", "agent.py:Agent", "./agent.py:Agent"])
    def test_module_or_file(self, mock, spec):
        run = mock("--tau-agent", spec)
        run.outcomes(failed=1)
        run.line(f"agent {spec}, user scripted")
        run.line("built: tools=['create_task'")

    def test_package_module_and_nested_attribute(self, project, mock):
        project.write("pack/__init__.py", "")
        project.write("pack/mod.py", "import agent\n\nclass Box:\n    Inner = agent.Agent\n")
        run = mock("--tau-agent", "pack.mod:Box.Inner")
        run.outcomes(failed=1)
        run.line("built: tools=")

    def test_absolute_file(self, project, mock):
        mock("--tau-agent", f"{project.path}/agent.py:Agent").line("built: tools=")

    def test_file_in_the_ini_is_relative_to_the_ini(self, project, mock, monkeypatch):
        project.ini("tau_agent = agent.py:Agent")
        (project.path / "sub").mkdir()
        monkeypatch.chdir(project.path / "sub")
        mock().line("built: tools=")

    def test_a_file_named_on_the_command_line_lies_in_the_current_folder(self, project, mock, monkeypatch):
        project.ini()
        project.write("sub/agent.py", CURIOUS.replace("built:", "built in sub:"))
        monkeypatch.chdir(project.path / "sub")
        mock("--tau-agent", "agent.py:Agent").line("built in sub: tools=")

    def test_command_line_beats_ini(self, project, mock):
        project.ini("tau_agent = noop")
        mock().outcomes(failed=1)
        mock("--tau-agent", "gold").outcomes(passed=1)

    def test_user(self, mock):
        run = mock("--tau-user", "noop")
        run.outcomes(failed=1)
        run.line("agent gold (no agent given: ", "), user noop")

    def test_user_in_the_ini(self, project, mock):
        project.ini("tau_user = noop")
        mock().outcomes(failed=1)


class TestSolo:
    """--tau-solo."""

    def test_gold_alone(self, mock):
        run = mock("--tau-solo")
        run.outcomes(passed=1)
        run.line("agent gold (no agent given: ", "), user dummy, solo")

    def test_ini(self, project, mock):
        project.ini("tau_solo = true")
        mock().line("user dummy, solo")

    def test_tasks_without_a_ticket_are_skipped_with_the_reason(self, project):
        run = project.run("--tau-domain", "mock", "--tau-solo", "-rs")
        run.outcomes(passed=12, skipped=4)
        run.line("SKIPPED", "solo: the task has no ticket")
        run.line("tau: mock: 12 tasks, 12 trials; 12 passed")

    def test_nothing_but_skipped_tasks_is_no_success(self, project):
        run = project.run("--tau-domain", "mock", "--tau-solo", "--tau-task", "say-new-id")
        run.outcomes(skipped=1)
        assert run.ret == pytest.ExitCode.NO_TESTS_COLLECTED

    def test_the_agent_has_both_sides_tools(self, mock):
        line = mock("--tau-solo", "--tau-agent", "agent.py:Agent").line("built:")
        assert "'create_task'" in line
        assert "'dismiss_notification'" in line

    def test_a_domain_without_a_user_side_cannot(self, shelf):
        shelf.run("--tau-domain", "shelf", "--tau-solo").usage_error("domain 'shelf' cannot be run solo")


class TestPolicy:
    """--tau-policy-variant."""

    def _run(self, shelf, *args):
        shelf.write("agent.py", CURIOUS)
        return shelf.run("--tau-domain", "shelf", "--tau-agent", "agent.py:Agent", "-s", *args)

    def test_first_policy_variant_is_the_default(self, shelf):
        self._run(shelf).line("built:", "policy='Lend books.'")

    def test_named_policy_variant(self, shelf):
        run = self._run(shelf, "--tau-policy-variant", "long")
        run.line("built:", r"policy='Lend books.\nLend them kindly.'")
        run.line("tau: domain shelf", "policy long")

    def test_ini(self, shelf):
        shelf.ini("tau_policy_variant = long")
        self._run(shelf).line("Lend them kindly.")


class TestNumbers:
    """--tau-seed, --tau-max-steps, --tau-max-errors, --tau-timeout, --tau-trials, --tau-num-tasks."""

    def test_seeds_follow_from_the_default(self, mock):
        run = mock("--tau-agent", "agent.py:Agent", "--tau-trials", "2")
        run.line("built:", "seed=626729")
        run.line("built:", "seed=373753")

    def test_seed(self, mock):
        run = mock("--tau-agent", "agent.py:Agent", "--tau-seed", "7")
        run.line("tau: domain mock, seed 7")
        run.line("built:", "seed=339563")

    def test_max_steps(self, mock):
        run = mock("--tau-max-steps", "2")
        run.outcomes(failed=1)
        run.line("cut off: too many steps")
        run.line("steps, the limit is 2")

    def test_max_errors(self, mock, scripted):
        agent = scripted(*['call("nonesuch")'] * 9)
        run = mock("--tau-agent", agent, "--tau-max-errors", "3")
        run.outcomes(failed=1)
        run.line("cut off: too many failed calls")
        run.line("3 failed tool calls, the limit is 3")

    def test_timeout(self, project, mock):
        project.write("slow.py", "import time\nclass Slow:\n    def respond(self, message):\n        time.sleep(2)\n")
        run = mock("--tau-agent", "slow.py:Slow", "--tau-timeout", "0.1")
        run.outcomes(failed=1)
        run.line("cut off: out of time")
        run.line("no end after 0.1 s")

    def test_timeout_0_is_none(self, mock):
        mock("--tau-timeout", "0").outcomes(passed=1)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("tau_max_steps = 2", "steps, the limit is 2"),
            ("tau_max_errors = 1", "1 failed tool call, the limit is 1"),
            ("tau_timeout = 0.1", "no end after 0.1 s"),
            ("tau_seed = 7", "built: seed=339563"),
            ("tau_trials = 2", "tau: mock: 1 task, 2 trials"),
        ],
    )
    def test_ini(self, project, mock, line, message):
        project.ini(line)
        project.write(
            "stubborn.py",
            """
            import time

            class Agent:
                def __init__(self, seed):
                    print(f"built: seed={seed}")

                def respond(self, message):
                    time.sleep(0.02)
                    return {"tool_calls": [{"name": "nonesuch"}]}
            """,
        )
        run = mock("--tau-agent", "stubborn.py:Agent")
        assert run.ret == pytest.ExitCode.TESTS_FAILED, run.text
        run.line(message)

    def test_num_tasks_and_split_in_the_ini(self, project):
        project.ini("tau_split = small", "tau_num_tasks = 2")
        run = project.run("--tau-domain", "mock")
        run.outcomes(passed=2)
        run.line("tau: mock: 2 tasks, 2 trials")
        project.run("--tau-domain", "mock", "--tau-num-tasks", "9").outcomes(passed=3)


class TestJudgeAndGrading:
    """--tau-judge, --tau-grading."""

    def test_accept(self, project):
        run = project.run("--tau-domain", "mock", "--tau-split", "judged", "--tau-judge", "accept")
        run.outcomes(passed=2)
        run.line("tau: NL assertions judged by 'accept': same verdict for every statement")

    def test_reject(self, project):
        run = project.run("--tau-domain", "mock", "--tau-split", "judged", "--tau-judge", "reject")
        run.outcomes(failed=2)
        run.line("judged untrue: The agent says that the task was created.")

    def test_ini(self, project):
        project.ini("tau_judge = accept")
        project.run("--tau-domain", "mock", "--tau-split", "judged").outcomes(passed=2)

    def test_strict_grading(self, project, a_task, scripted):
        """A call that lacks an argument of the reference's passes officially, and not strictly."""
        criteria = {"reward_basis": ["ACTION"]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        agent = ["--tau-agent", scripted('call("create_task", user_id="user_1")', '"Done."')]
        project.run(*agent).outcomes(passed=1)
        run = project.run(*agent, "--tau-grading", "strict")
        run.outcomes(failed=1)
        run.line("reward 0 = ACTION 0")
        project.ini("tau_grading = strict")
        project.run(*agent).outcomes(failed=1)

    def test_strict_grading_reads_the_sign_of_a_number(self, project, a_task, scripted):
        criteria = {"actions": [], "communicate_info": ["50"], "reward_basis": ["COMMUNICATE"]}
        project.tasks("mock/t.tau.json", [a_task(criteria=criteria)])
        agent = ["--tau-agent", scripted('"Your balance is -50 EUR. All set."')]
        project.run(*agent, "--tau-user", "scripted").outcomes(passed=1)
        run = project.run(*agent, "--tau-user", "scripted", "--tau-grading", "strict")
        run.outcomes(failed=1)
        run.line("never said: '50'")


class TestUnknownNames:
    @pytest.mark.parametrize(
        ("given", "meant"),
        [
            (("--tau-domian", "mock"), "--tau-domian; did you mean '--tau-domain'?"),
            (("--tau-trails=2",), "--tau-trails; did you mean '--tau-trials'?"),
            (("--tau-max-step=1",), "--tau-max-step; did you mean '--tau-max-steps'?"),
            (("--tau-zzz",), "--tau-zzz"),
        ],
    )
    def test_the_nearest_name_is_proposed(self, project, given, meant):
        run = project.run(*given)
        run.usage_error(f"ERROR: unknown option {meant}")
        run.line("'tau options' lists all options")

    def test_other_plugins_may_have_such_options(self, project):
        project.write("conftest.py", "def pytest_addoption(parser):\n    parser.addoption('--tau-domian')\n")
        project.write("test_own.py", "def test_own(pytestconfig): assert pytestconfig.option.tau_domian == 'mock'\n")
        project.run("--tau-domian", "mock", "test_own.py").outcomes(passed=1)

    def test_names_of_other_plugins_are_theirs(self, project):
        project.run("--domian").usage_error("unrecognized arguments: --domian")


class TestPytestsOwnListings:
    """--help, --markers, --fixtures."""

    def test_help(self, project):
        from pytest_tau.capability import bundled_options
        from pytest_tau.plugin.options_table import OPTIONS

        run = project.run("--help")
        run.line("'tau options' lists the other options")
        for option in (*OPTIONS.values(), *bundled_options().values()):
            shown = run.line if option.common else run.lacks
            shown(f"  --tau-{option.name}{f'={option.metavar}' if option.metavar and not option.bare else ''}")
            shown(f"  tau_{option.key} (")
        assert len([option for option in OPTIONS.values() if option.common]) == 15
        run.line("tau_files (args):")
        run.line("tau_tasks (paths):")

    def test_markers(self, project):
        run = project.run("--markers")
        run.line(
            "@pytest.mark.tau(domain, tasks, split, num_tasks, trials, at_least, stop_early, agent, user): run the test on each"
        )

    def test_fixtures(self, project):
        run = project.run("--fixtures")
        for name in ("tau_task", "tau_trial", "tau_env", "tau_agent", "tau_user", "tau_simulation"):
            run.line(f"{name} -- ")
        run.lacks("_tau_case --")
