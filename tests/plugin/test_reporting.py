"""What pytest's own options do with trials: --tb, logs, --pdb, --junitxml, typed values of TOML files; the header."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_tau.capability import bundled_options, installed
from pytest_tau.capability.calls import columns_of
from pytest_tau.plugin.options import OptionValues
from pytest_tau.plugin.options_table import OPTIONS

from .conftest import _QUICK, Run

ROOT = Path(__file__).parents[2]
GAVE_UP = "undecided: the agent repeated a message that the user had not understood"

TALKATIVE = """
import logging
import time

class Agent:
    def __init__(self, task):
        self.id = task.id

    def respond(self, message):
        logging.getLogger("agent").warning("replies to %s", self.id)
        time.sleep(0.01)
        return "Bye."
"""


@pytest.fixture
def talkative(project, a_task):
    project.write("agent.py", TALKATIVE)
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("aa", "bb", "cc", "dd")])
    return lambda *args: project.run("--tau-agent", "agent.py:Agent", *args)


class TestTracebacks:
    """--tb."""

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_line_is_one_line_a_failure(self, talkative, workers):
        run = talkative("--tb=line", "--show-capture=no", *workers)
        run.outcomes(failed=4)
        text = run.text.partition("= FAILURES =")[2].partition("tau summary")[0].rpartition("\n")[0]
        lines = sorted(line for line in text.splitlines()[1:] if line and not line.startswith("[gw"))
        assert lines == [f"mock/t.tau.json::{name * 2}[trial-0]: {GAVE_UP}" for name in "abcd"]

    def test_line_of_an_error(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("user.py", "def user(messages, tools):\n    raise ValueError('no user')\n")
        run = project.run("--tau-user", "user.py:user", "--tb=line")
        run.outcomes(errors=1)
        text = run.text.partition("ERROR at setup")[2].partition("tau summary")[0].rpartition("\n")[0]
        assert [line for line in text.splitlines()[1:] if line] == [run.line("user_error: ", "no user")]

    @pytest.mark.parametrize(("args", "kept"), [((), 0), (("-n", "2"), 0), (("--durations=3",), 8)])
    def test_reports_of_which_nothing_is_shown_are_not_kept(self, project, talkative, args, kept):
        hook = "def pytest_terminal_summary(terminalreporter):\n"
        project.write("conftest.py", hook + "    print('kept:', len(terminalreporter.stats.get('', ())))\n")
        run = talkative("--show-capture=no", *args)
        run.outcomes(failed=4)
        assert run.line("kept:", "") == f"kept: {kept}"

    def test_the_output_of_a_teardown_is_shown_with_the_failure(self, project, talkative):
        fixture = "import pytest\n@pytest.fixture(autouse=True)\ndef noisy():\n    yield\n    print('cleaned up')\n"
        project.write("conftest.py", fixture)
        run = talkative()
        run.outcomes(failed=4)
        assert run.text.count("cleaned up") == 4

    @pytest.mark.parametrize("style", ["long", "native"])
    def test_the_explanation_stays(self, talkative, style):
        run = talkative(f"--tb={style}")
        run.line("turning point:")
        for word in ("Traceback", "_trial", "pytest_tau/"):
            run.lacks(word)

    def test_no(self, talkative):
        run = talkative("--tb=no")
        run.outcomes(failed=4)
        run.lacks("turning point")

    def test_the_file_of_junit_has_the_explanation_in_any_case(self, project, talkative):
        talkative("--tb=line", "--junitxml=j.xml")
        assert (project.path / "j.xml").read_text().count("turning point:") == 4


class TestLogs:
    """caplog and the log sections of reports."""

    @pytest.mark.parametrize(
        "args", [("--tau-concurrency", "1"), ("--tau-concurrency", "4"), ("-n", "2", "--tau-concurrency", "4")]
    )
    def test_each_report_has_the_log_of_its_own_trial(self, talkative, args):
        run = talkative(*args)
        run.outcomes(failed=4)
        parts = re.split(r"^_+ (\w\w)\[trial-0\] _+$", run.text, flags=re.MULTILINE)[1:]
        assert sorted(parts[::2]) == ["aa", "bb", "cc", "dd"]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            assert "Captured log setup" in text
            assert set(re.findall(r"replies to (\w\w)", text)) == {name}

    @pytest.mark.parametrize("concurrency", ["1", "4"])
    def test_caplog(self, project, talkative, concurrency):
        project.write(
            "test_own.py",
            """
            import logging

            import pytest

            @pytest.fixture(autouse=True)
            def other():
                logging.getLogger("other").warning("set up")

            @pytest.mark.tau(domain="mock", tasks=["create-task", "create-with-description"])
            def test_own(tau_simulation, tau_task, caplog):
                found = {record.getMessage() for record in caplog.get_records("setup")}
                assert found == {"set up", f"replies to {tau_task.id}"}
                logging.getLogger("own").warning("mine")
                assert caplog.messages == ["mine"]
            """,
        )
        talkative("test_own.py", "--tau-concurrency", concurrency).outcomes(passed=2)

    @pytest.mark.parametrize("concurrency", ["1", "4"])
    def test_log_level(self, project, talkative, concurrency):
        project.ini("log_level = DEBUG")
        (project.path / "agent.py").write_text(TALKATIVE.replace("warning", "debug"))
        talkative("--tau-concurrency", concurrency).line("DEBUG    agent:agent.py", "replies to aa")

    def test_without_pytest_s_logging(self, project, talkative):
        # pytest's terminal cannot do without the ini keys of its logging, whatever else is installed.
        project.write("conftest.py", "def pytest_addoption(parser):\n    parser.addini('log_cli', '', default=False)\n")
        talkative("-p", "no:logging").outcomes(failed=4)


#: An agent whose exception is raised in Python's library, and that has a key.
BOOM = """
import json


class Agent:
    def respond(self, message):
        mine = 42
        return self.parse("sk-abcdefghijkl")

    def parse(self, text):
        return json.loads(text)
"""


class TestTraceback:
    """The traceback of an agent's exception is a section of the report, and a file of the log."""

    @pytest.fixture
    def boom(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("boom.py", BOOM)
        return lambda *args: project.run("--tau-agent", "boom.py:Agent", *args)

    @pytest.mark.parametrize("workers", ["0", "1"])
    def test_it_begins_with_the_agents_own_code(self, boom, workers):
        run = boom("-n", workers)
        run.line("Traceback of the agent")
        shown = run.text[run.text.index("Traceback (most recent call last)") :]
        assert shown.index("in respond") < shown.index("in parse") < shown.index("json/decoder.py")
        run.lacks("run_contained")
        run.lacks("sk-abcdefghijkl")

    def test_the_place_is_the_last_line_of_the_agents_own_code(self, boom):
        boom("--tb=line").line("char 0) (line 11 of ", "boom.py)")

    @pytest.mark.parametrize("option", ["--tb=no", "--tb=line", "--show-capture=no"])
    def test_it_is_not_shown(self, boom, option):
        boom(option).lacks("Traceback")

    def test_log(self, project, boom):
        boom("--tau-logs", "logs").outcomes(failed=1)
        [file] = project.path.glob("logs/*/traceback.txt")
        text = file.read_text()
        assert "in parse" in text
        assert text.splitlines()[-1].startswith("json.decoder.JSONDecodeError: Expecting value")
        assert "sk-abcdefghijkl" not in text

    @pytest.mark.parametrize(
        ("inside", "hint"), [("", "tau: tau_simulation"), ("check", "tau: after 'up', tau_simulation")]
    )
    def test_pdb_names_the_simulation(self, project, pytester, warm_processes, inside, hint):
        project.write(
            "test_own.py",
            f"""
            import pytest

            def check(value):
                assert value

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop")
            def test_own(tau_simulation):
                {inside or "assert "}(tau_simulation.reward == 1)
            """,
        )
        command = [sys.executable, "-m", "pytest", *_QUICK, "--pdb"]
        text = pytester.run(*command, stdin=b"c\n").stdout.str()
        assert f"{hint} is the trial: try tau_simulation.messages, .calls, .reward_info" in text, text

    def test_pdb_enters_the_frame_of_the_agent(self, project, a_task, pytester, warm_processes):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("boom.py", BOOM.replace("return self.parse", "raise KeyError"))
        command = [sys.executable, "-m", "pytest", *_QUICK, "--tau-agent", "boom.py:Agent", "--pdb"]
        result = Run(pytester.run(*command, stdin=b"p 'mine is', mine\nq\n"))
        result.line("('mine is', 42)")


class TestDebugger:
    """--pdb."""

    @pytest.mark.parametrize("concurrency", ["1", "4"])
    def test_a_trial_that_q_has_ended_counts_as_failed(self, project, a_task, pytester, warm_processes, concurrency):
        project.tasks("mock/t.tau.json", [a_task()])
        command = [sys.executable, "-m", "pytest", *_QUICK, "--tau-agent", "noop", "--pdb", "--junitxml=j.xml"]
        result = Run(pytester.run(*command, "--tau-concurrency", concurrency, stdin=b"q\n"))
        result.line("tau: mock: 1 task, 1 trial; 1 failed; pass^1 0.000")
        result.line("Quitting debugger")
        [case] = ET.parse(project.path / "j.xml").getroot().iter("testcase")
        assert properties(case)["tau_outcome"] == "failed"
        assert properties(case)["tau_termination_reason"] == "agent_stop"
        if concurrency == "1":
            return
        result = Run(pytester.run(*command, "--tau-gate", "pass^1>=0.5", stdin=b"q\n"))
        result.line("tau: gate pass^1 >= 0.5: 0.000: missed")
        assert result.ret != pytest.ExitCode.OK


def properties(node):
    return {each.get("name"): each.get("value") for each in node.iter("property")}


class TestJUnit:
    """--junitxml: the properties that docs/metrics.md lists are those that are written."""

    @pytest.mark.parametrize("args", [(), ("-n", "2")])
    def test_a_full_disk_is_a_message(self, project, args):
        run = project.run("--tau-domain", "mock", "--tau-num-tasks", "2", "--junitxml=/dev/full", *args)
        run.outcomes(passed=2)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: the run failed: --junitxml /dev/full cannot be written: No space left on device")
        run.lacks("Traceback")

    def test_the_list_is_complete(self, models, project):
        models.script("")
        models.run("--tau-trials", "2", "--junitxml=a.xml").outcomes(passed=2)
        models.run("--tau-trials", "2", "--tau-resume", "--junitxml=b.xml").outcomes(passed=2)
        project.run("--tau-agent", "noop", "--tau-user", "gold", "--junitxml=c.xml").outcomes(failed=1)
        project.write(
            "conftest.py",
            """
            import pytest

            @pytest.fixture(params=["gold", "noop"])
            def tau_agent(request):
                return request.param
            """,
        )
        project.run("--junitxml=d.xml").outcomes(passed=1, failed=1)
        written, of_suite = set(), set()
        for name in "abcd":
            root = ET.parse(project.path / f"{name}.xml").getroot()
            found = {key for case in root.iter("testcase") for key in properties(case)}
            written |= found
            of_suite |= set(properties(root)) - found
        page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
        listed = page.partition("\n## JUnit\n")[2].replace("such as `tau_user_faults`", "")
        of_case, of_domain = (set(re.findall(rf"`({begin}[^`]+)`", listed)) for begin in (r"tau_", r"tau\."))
        of_capabilities = {f"tau_{each.column.name}" for each in columns_of(installed())}
        assert of_case == written - of_capabilities
        named = {name.replace("DOMAIN", "mock") for name in of_domain}
        found = {re.sub(r"pass\^[2-9]", "pass^1", name) for name in of_suite}
        # The page names one property of a variant for all of them.
        assert named == {re.sub(r"\[\w+\]\..*", "[VARIANT].tasks", name) for name in found}


class TestNativeValues:
    """pytest.toml and [tool.pytest]: numbers, truth values, lists and tables as TOML has them."""

    #: A native value of each option, and what it is on the command line.
    VALUES = {
        "domain": ('["mock", "retail"]', ["mock", "retail"]),
        "task": ('["a*", 7]', ["a*", "7"]),
        "difficulty": ("{requests = 2, faults = 1}", "requests=2,faults=1"),
        "agent_llm_args": ('{temperature = 0.5, stop = ["x"]}', '{"temperature": 0.5, "stop": ["x"]}'),
        "user_llm_args": ("{seed = 1}", '{"seed": 1}'),
        "judge_llm_args": ("{}", "{}"),
        "shard": ('"1/2"', "1/2"),
        "program_env": ('["SHOP_URL", "SHOP_USER"]', ["SHOP_URL", "SHOP_USER"]),
        "agent_tool_calls": ('"text"', "text"),
        "user_tool_calls": ('"native"', "native"),
        "record": ("true", "missing"),
        "resume": ("true", "latest"),
        "rerun": ('["failed", "error"]', "failed,error"),
        "grading": ('"strict"', "strict"),
        "client": ('"litellm"', "litellm"),
        "fork_turn": ('"7,11"', "7,11"),
        "fork_restore": ('"agent=replay"', "agent=replay"),
        "protocol": ('"tau2"', "tau2"),
        "provider_limit": ('"openai=40"', "openai=40"),
        "user_persona": ('{verbosity = "minimal"}', '{"verbosity": "minimal"}'),
        "agent_retrieval_args": ("{top_k = 3}", '{"top_k": 3}'),
        "attack": ('["important-message", "encoded"]', ["important-message", "encoded"]),
        "review": ("true", "failed"),
        "review_mode": ('"user"', "user"),
        "reviewer_llm_args": ("{}", "{}"),
        "group_by": ('["tags", "actions"]', ["tags", "actions"]),
        "gate": ('["pass^1>=0.5"]', ["pass^1>=0.5"]),
        "fail_on": ('"regression"', "regression"),
        "agent_text_protocol": ('"tau1"', "tau1"),
    }
    NUMBERS = {"llm_timeout": "1.5", "budget": "0.25", "timeout": "60"}

    @pytest.mark.parametrize("file", ["pytest.toml", "pyproject.toml"])
    def test_every_option(self, pytester, file):
        known = {**OPTIONS, **bundled_options()}
        values = {name: value for name, value in self.VALUES.items() if name in known}
        for name, option in OPTIONS.items():
            kind = getattr(option.type, "__name__", "")
            if name not in values and kind == "number":
                number = self.NUMBERS.get(name, "3")
                values[name] = (number, number)
            elif name not in values:
                values[name] = ("true", True) if kind == "flag" else ('"word"', "word")
        head = "[pytest]" if file == "pytest.toml" else "[tool.pytest]"
        lines = [f"tau_{name} = {native}" for name, (native, _) in values.items()]
        pytester.path.joinpath(file).write_text("\n".join([head, *lines]), encoding="utf-8")
        config = pytester.parseconfig()
        found = OptionValues(config)
        for name, (_, written) in values.items():
            assert found.given(name) == written, name
            found.get(name)

    @pytest.mark.parametrize(
        ("line", "problem"),
        [
            ("tau_trials = 2.5", "tau_trials: expected a whole number of at least 1, got '2.5'"),
            ("tau_trials = 0", "tau_trials: expected a whole number of at least 1, got '0'"),
            ("tau_trials = true", "tau_trials: expected a string or a number, got a boolean"),
            ("tau_trials = [1]", "tau_trials: expected a string or a number, got a list"),
            ("tau_solo = 1", "tau_solo: expected true or false, got 1"),
            ("tau_agent = {a = 1}", "tau_agent: expected a string or a number, got a table"),
            ("tau_domain = [true]", "tau_domain: expected a string or a number, got a boolean"),
            ("tau_grading = 3", "tau_grading: expected official or strict, got '3'"),
            ("tau_seed = 2020-01-01", "tau_seed: expected a string or a number, got date"),
        ],
    )
    def test_other_values_are_refused(self, project, line, problem):
        project.write("pytest.toml", f"[pytest]\n{line}\n")
        named = [] if "domain" in line else ["--tau-domain", "mock"]
        project.run(*named, "--tau-num-tasks=1").usage_error(problem)

    def test_a_run(self, project):
        values = 'tau_domain = ["mock"]\ntau_trials = 2\ntau_num_tasks = 1\ntau_timeout = 60\ntau_replay = false\n'
        project.write("pytest.toml", f"[pytest]\n{values}")
        project.run().outcomes(passed=2)
        project.run("-o", "tau_trials=3").outcomes(passed=3)


class TestHeader:
    """The header names who plays, also if fixtures, hooks and markers have chosen."""

    AGENT = "class Agent:\n    def respond(self, message):\n        return 'Bye.'\n\n"

    def recorded(self, project):
        return json.loads(next(project.path.glob(".tau/runs/*/run.json")).read_text()).get("participants")

    def test_a_fixture(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write(
            "conftest.py", f"import pytest\n\n{self.AGENT}@pytest.fixture\ndef tau_agent():\n    return Agent()\n"
        )
        run = project.run()
        run.line("tau: seed 300, bundled data, agent fixture tau_agent, user scripted")
        run.lacks("gold")
        assert self.recorded(project) == {"agent": ["fixture tau_agent"], "user": ["scripted"]}

    @pytest.mark.parametrize(
        ("made", "shown"),
        [
            ("@pytest.fixture\ndef tau_agent", "fixture tau_agent"),
            ("def pytest_tau_make_agent", "hook pytest_tau_make_agent, else gold"),
        ],
    )
    def test_a_conftest_that_makes_the_agent_of_a_named_domain(self, project, made, shown):
        project.write("conftest.py", f"import pytest\n\n{self.AGENT}{made}():\n    return Agent()\n")
        run = project.run("--tau-domain", "mock", "--tau-task", "create-task")
        run.line(f"tau: domain mock, seed 300, bundled data, agent {shown}, user scripted")
        run.lacks("no agent given")
        run.lacks("given the reference actions")
        run = project.run("--tau-domain", "mock", "--tau-task", "create-task", "-n", "2")
        run.line("tau: domain mock, seed 300, bundled data")
        run.line(f"tau: 1 trial: agent {shown}, user scripted")
        run.lacks("no agent given")

    def test_two_agents_of_a_fixture(self, project):
        project.write(
            "conftest.py",
            f"import pytest\n\n{self.AGENT}@pytest.fixture\ndef tau_agent():\n    return Agent()\n",
        )
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_fixture(tau_simulation): pass

            @pytest.mark.parametrize("tau_agent", ["noop"])
            @pytest.mark.tau(domain="mock", tasks="create-task")
            def test_parameter(tau_simulation): pass
            """,
        )
        run = project.run()
        run.line("tau: seed 300, bundled data")
        run.line("tau: 1 trial: agent fixture tau_agent, user scripted")
        run.line("tau: 1 trial: agent parameter tau_agent, user scripted")
        run.lacks("no agent given")

    def test_a_hook(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        project.write("conftest.py", f"{self.AGENT}def pytest_tau_make_agent():\n    return Agent()\n")
        project.run().line("agent hook pytest_tau_make_agent, else gold, user scripted")
        assert self.recorded(project) == {"agent": ["hook pytest_tau_make_agent, else gold"], "user": ["scripted"]}
        project.run("--tau-resume").line("tau: resume: 1 of 1 trial reused from the earlier run")

    def test_a_marker(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop")
            def test_noop(tau_simulation): ...
            """,
        )
        project.run().line("tau: seed 300, bundled data, agent noop, user scripted")
        assert self.recorded(project) == {"agent": ["noop"], "user": ["scripted"]}

    def several(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task()])
        source = "import pytest\n\n@pytest.mark.tau(domain='mock', tasks='create-task', agent='noop')\ndef test_noop(tau_simulation): ...\n"
        project.write("test_own.py", source)

    def test_several(self, project, a_task):
        self.several(project, a_task)
        run = project.run()
        run.line("tau: seed 300, bundled data, agent gold, user gold")
        run.line("tau: 1 trial: agent noop, user scripted")
        assert self.recorded(project) == {"agent": ["gold", "noop"], "user": ["gold", "scripted"]}

    def test_what_the_settings_name_is_recorded_once(self, project):
        project.run("--tau-domain", "mock", "--tau-num-tasks", "1", "--tau-agent", "noop").line(
            "agent noop, user scripted"
        )
        assert self.recorded(project) is None

    OWN_AGENT = """
        import pytest
        from pytest_tau.testing import ScriptedParticipant

        @pytest.fixture
        def tau_agent():
            return ScriptedParticipant(["###STOP###"])

        @pytest.mark.tau(domain="DOMAIN", tasks="create-task")
        def test_own(tau_simulation): ...
        """

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    @pytest.mark.parametrize("ini", ["", "tau_domain = mock"])
    def test_no_agent_is_claimed_that_a_fixture_of_a_test_module_replaces(self, project, workers, ini):
        project.ini(ini)
        project.write("test_own.py", self.OWN_AGENT.replace("DOMAIN", "mok"))
        run = project.run("test_own.py", *workers)
        run.line("unknown domain 'mok'")
        run.lacks("gold")
        project.write("test_own.py", self.OWN_AGENT.replace("DOMAIN", "mock"))
        run = project.run("test_own.py", *workers)
        run.outcomes(passed=1)
        run.line("agent fixture tau_agent, user scripted")
        run.lacks("gold")

    def test_gold_of_own_tests_is_named_in_the_summary_under_xdist(self, project):
        project.write("test_own.py", self.OWN_AGENT.replace("@pytest.fixture", "").replace("DOMAIN", "mock"))
        project.run("--tau-trials", "2", "-n", "2").line("tau: 2 trials: agent gold, user gold")

    def test_under_xdist_it_is_in_the_summary(self, project, a_task):
        self.several(project, a_task)
        run = project.run("-n", "2", "--tau-trials", "2")
        run.outcomes(passed=4)
        run.line("tau: 2 trials: agent noop, user scripted")


class TestUnusedOption:
    """An option that names a participant which a fixture makes."""

    CONFTEST = """
        import pytest
        from pytest_tau.testing import ScriptedParticipant

        @pytest.fixture
        def tau_agent():
            return ScriptedParticipant(["No."])
    """

    @pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "workers"])
    def test_it_is_named_in_the_summary(self, project, a_task, workers):
        project.write("conftest.py", self.CONFTEST)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("-q", "--tau-agent", "gold", *workers)
        run.line("tau: --tau-agent is not used: fixture tau_agent makes the agent")
        project.run("-q", *workers).lacks("is not used")

    @pytest.mark.parametrize("made", ["fixture", "parameter"])
    def test_one_that_a_marker_names_is_an_error(self, project, made):
        project.write("conftest.py", self.CONFTEST if made == "fixture" else "")
        parametrize = '@pytest.mark.parametrize("tau_agent", ["gold"], indirect=True)' if made == "parameter" else ""
        project.write(
            "test_own.py",
            f"""
            import pytest

            {parametrize}
            @pytest.mark.tau(domain="mock", tasks="create-task", agent="gold", user="gold")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        problem = (
            f"marker tau: agent= has no effect, because the {made} tau_agent makes the agent: remove one of the two"
        )
        project.run().usage_error("test_own.py::test_it", problem)

    def test_a_fixture_may_wrap_the_one_that_a_marker_names(self, project):
        project.write(
            "test_own.py",
            """
            import pytest

            made = []

            @pytest.fixture
            def tau_agent(tau_agent):
                made.append(type(tau_agent).__name__)
                return tau_agent

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="gold", user="gold")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
                assert len(made) == 1
            """,
        )
        project.run("--tau-agent", "noop").outcomes(passed=1)

    def test_one_that_some_tests_use_is_not(self, project, a_task):
        own = """
        @pytest.mark.tau(domain="mock", tasks="create-task")
        def test_own(tau_simulation):
            assert tau_simulation.reward == 0
        """
        project.write("test_own.py", self.CONFTEST + own)
        project.tasks("mock/t.tau.json", [a_task()])
        run = project.run("--tau-agent", "gold")
        run.outcomes(passed=2)
        run.lacks("is not used")
