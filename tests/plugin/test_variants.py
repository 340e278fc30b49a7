"""Agents side by side: parametrised fixtures and tests, their ids, groups, summary, gates, baseline and reports."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

WORKERS = [(), ("-n", "2")]
#: ``Good`` does what tasks ask for, ``Bad`` only says something.
PARTS = """
from pytest_tau.testing import ScriptedParticipant, call

class Good(ScriptedParticipant):
    def __init__(self):
        super().__init__([call("create_task", user_id="user_1", title="Buy milk"), "Done."])

class Bad(ScriptedParticipant):
    def __init__(self):
        super().__init__(["No."])

class Brief:
    def __init__(self):
        self.said = False

    def respond(self, message):
        self.said, before = True, self.said
        return "###STOP###" if before else "Milk!"

class Polite(Brief):
    def respond(self, message):
        return super().respond(message).replace("Milk", "Please, milk")
"""
FIXTURE = """
import pytest
from parts import Bad, Good

@pytest.fixture(params=[Good, Bad])
def tau_agent(request):
    return request.param
"""
TESTS = """
import pytest

pytestmark = pytest.mark.tau(domain="mock", tasks=["create-task", "transfer-deletion"], split="small")

def test_one(tau_simulation):
    assert tau_simulation.reward == 1

def test_other(tau_simulation):
    assert tau_simulation.messages
"""
#: A test whose parameter is looked for in the conversation.
INPUTS = """
import pytest

@pytest.mark.parametrize("word", ["refund", "card", "cash"])
@pytest.mark.tau(domain="mock", tasks=["create-task", "transfer-deletion"], split="small")
def test_one(tau_simulation, word):
    assert word not in str(tau_simulation.messages[-1].content)
"""
USER = ("--tau-user", "parts.py:Brief")


@pytest.fixture
def agents(project, a_task, monkeypatch):
    """Runs tasks, in a file of its own each, with the agents ``Good`` and ``Bad`` of a conftest.py."""
    monkeypatch.syspath_prepend(project.path)
    project.write("parts.py", PARTS)
    project.write("conftest.py", FIXTURE)

    def run(*args, tasks=("a", "b", "c"), file="mock/t.tau.json"):
        project.tasks(file, [a_task(one) for one in tasks])
        return project.run(*USER, *args)

    return run


@pytest.fixture
def in_domain(project, monkeypatch):
    """Runs two tasks of a domain, with the agents ``Good`` and ``Bad`` of a conftest.py."""
    monkeypatch.syspath_prepend(project.path)
    project.write("parts.py", PARTS)
    project.write("conftest.py", FIXTURE)
    selected = ["--tau-domain", "mock", "--tau-split", "small", "--tau-num-tasks", "2"]
    return lambda *args: project.run(*selected, *USER, *args)


class TestIds:
    """Items of task files and domains for each parameter."""

    def test_of_a_task_file(self, agents, project):
        agents("--co", "-q", "--tau-trials", "2", tasks=["a"])
        assert project.collected(*USER, "--tau-trials", "2") == [
            f"mock/t.tau.json::a[{agent}-trial-{trial}]" for agent in ("Good", "Bad") for trial in range(2)
        ]

    def test_of_a_domain(self, in_domain):
        ids = in_domain("--co", "-q").ids
        assert len(ids) == 4
        assert [each.partition("[")[2] for each in ids] == ["Good-trial-0]", "Bad-trial-0]"] * 2

    def test_without_parameters_they_are_as_they_were(self, project, a_task):
        project.tasks("mock/t.tau.json", [a_task("a")])
        assert project.collected() == ["mock/t.tau.json::a[trial-0]"]

    def test_a_parametrised_user_and_agent(self, agents, project):
        more = FIXTURE.replace("tau_agent", "tau_user").replace("Bad", "Brief").replace("Good", "Polite")
        project.write("conftest.py", FIXTURE + more)
        run = agents(tasks=["a"])
        run.outcomes(passed=2, failed=2)
        run.line("tau:  by variant")
        assert [run.line(f"tau:  {name}").split()[-2] for name in ("Good-Polite", "Bad-Brief")] == ["1.000", "0.000"]

    def test_parameters_of_pytest_generate_tests(self, agents, project):
        project.write(
            "conftest.py",
            """
            from parts import Bad, Good

            def pytest_generate_tests(metafunc):
                if "tau_agent" in metafunc.fixturenames:
                    metafunc.parametrize("tau_agent", [Good, Bad], ids=["new", "old"])
            """,
        )
        run = agents("-v", tasks=["a"])
        run.line("mock/t.tau.json::a[new-trial-0] PASSED")
        run.line("mock/t.tau.json::a[old-trial-0] FAILED")

    def test_a_mark_of_a_parameter(self, agents, project):
        project.write("conftest.py", FIXTURE.replace("Good, Bad", "Good, pytest.param(Bad, marks=pytest.mark.skip)"))
        agents().outcomes(passed=3, skipped=3)

    @pytest.mark.parametrize("workers", WORKERS)
    def test_named_on_the_command_line(self, agents, workers):
        run = agents("mock/t.tau.json::a[Bad-trial-1]", "mock/t.tau.json::b[Good-trial-0]", *workers)
        run.outcomes(passed=1, failed=1)

    def test_one_of_a_domain(self, project, in_domain):
        in_domain("--co", "-q")
        run = project.run("mock::create-task[Bad-trial-1]", *USER)
        run.outcomes(failed=1)
        run.line("FAILED mock::create-task[Bad-trial-1]")
        project.run("mock::create-task", *USER).line("tau: mock: 1 task, 2 variants, 2 trials")

    def test_one_that_does_not_exist(self, project, in_domain):
        in_domain("--co", "-q")
        run = project.run("mock::create-task[trial-0]", *USER)
        run.line("not found: mock::create-task[trial-0]", "create-task[Good-trial-0], create-task[Bad-trial-0]")
        assert run.ret == pytest.ExitCode.USAGE_ERROR

    def test_k_and_last_failed(self, agents):
        agents("-k", "Good").outcomes(passed=3, deselected=3)
        agents().outcomes(passed=3, failed=3)
        agents("--lf").outcomes(failed=3)

    def test_last_failed_of_a_domain(self, in_domain):
        in_domain("-k", "Bad").outcomes(failed=2, deselected=2)
        run = in_domain("--lf", "-v")
        run.line("transfer-deletion[Bad-trial-0] FAILED")
        run.lacks("Good")

    def test_the_command_in_a_failure_report(self, agents, project):
        run = agents(tasks=["a"])
        command = run.line("again: pytest").partition("again: pytest ")[2].split()
        assert command[0].strip("'") == "mock/t.tau.json::a[Bad-trial-0]"
        project.run(*(part.strip("'") for part in command)).outcomes(failed=1)

    def test_a_later_trial_of_a_marked_test(self, project, in_domain):
        project.write("test_it.py", TESTS)
        project.run("test_it.py::test_one[Bad-create-task-trial-3]", *USER).outcomes(failed=1)

    @pytest.mark.parametrize("workers", WORKERS)
    def test_resumed(self, agents, project, workers):
        agents("--maxfail=2", "--tau-trials", "2").outcomes(passed=2, failed=2)
        run = agents("--tau-trials", "2", "--tau-resume", *workers)
        run.outcomes(passed=6, failed=6)
        run.line("tau: resume: 4 of 12 trials reused from the earlier run")
        run.line("tau:  Good", "3       6   1.000")

    def test_cassettes_of_different_agents_are_different_files(self, agents, project):
        project.write("conftest.py", FIXTURE)
        agents("--tau-record", tasks=["a"])
        assert {file.name for file in project.path.rglob("*.cassette")} <= {
            "a.Good.trial-0.cassette",
            "a.Bad.trial-0.cassette",
        }


class TestSummary:
    """What is pooled, and what is shown."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_two_agents_are_not_trials_of_one(self, agents, workers):
        run = agents("--tau-trials", "2", *workers)
        run.line("tau: mock: 3 tasks, 2 variants, 12 trials; 6 passed, 6 failed")
        assert run.line("tau:  by variant").split()[3:] == [
            "tasks",
            "trials",
            "pass^1",
            "95",
            "%",
            "interval",
            "pass^2",
        ]
        assert run.line("tau:  Good").split()[-1] == "1.000"
        assert run.line("tau:  Bad").split()[-1] == "0.000"
        run.line("tau:  Bad -> Good: 3 tasks; pass^1 0.000 -> 1.000: +1.000", "no significant difference")
        run.lacks("flaky")

    def test_quiet(self, agents):
        run = agents("-q")
        run.line("tau:  Good", "1.000")
        run.line("tau:  Bad -> Good")

    def test_a_significant_difference(self, agents):
        run = agents(tasks=[f"t{number}" for number in range(8)])
        run.line("tau:  Bad -> Good: 8 tasks", "p = 0.004); a significant gain")

    def test_three_agents_are_compared_without_a_verdict(self, agents, project):
        project.write("conftest.py", FIXTURE.replace("Good, Bad", "Good, Bad, Good"))
        run = agents()
        assert sum(" -> Good" in line and "3 tasks; pass^1" in line for line in run.text.splitlines()) == 3
        run.lacks("significant")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_inputs_of_a_test_are_not_compared(self, in_domain, project, workers):
        project.write("test_it.py", INPUTS)
        run = in_domain("test_it.py", *workers)
        for word in ("refund", "card", "cash"):
            run.line(f"tau:  Bad-{word} -> Good-{word}: 2 tasks")
        run.lacks("Bad-card -> Good-cash")
        run.lacks("Good-card -> Good-cash")
        project.write("conftest.py", "")
        run = project.run(*USER, "--tau-agent", "parts.py:Good", *workers)
        run.line("mock: 2 tasks, 3 variants, 6 trials")
        run.lacks(" -> ")

    @pytest.mark.parametrize(
        "source",
        [
            "import pytest\n@pytest.fixture\ndef tau_agent(word):\n    return Good()",
            "import pytest\n@pytest.fixture(autouse=True)\ndef setting(word):\n    pass",
            "def pytest_tau_make_agent(item):\n    return Good()",
        ],
        ids=["agent", "autouse", "hook"],
    )
    def test_parameters_that_a_fixture_or_a_hook_may_use_are_compared(self, in_domain, project, source):
        project.write("test_it.py", INPUTS)
        project.write("conftest.py", f"from parts import Good\n{source}")
        project.run(*USER, "test_it.py").line("tau:  card -> cash: 2 tasks")

    def test_long_names_stay_different_in_80_columns(self, agents, project, monkeypatch):
        monkeypatch.setenv("COLUMNS", "80")
        names = [f"an-agent-that-asks-for-everything-twice-before-it-acts-{name}" for name in ("good", "bad")]
        project.write("conftest.py", FIXTURE.replace("Bad])", f"Bad], ids={names})"))
        run = agents()
        rows = [line for line in run.text.splitlines() if line.startswith("tau:  an-agent") and "->" not in line]
        assert len({row[:30] for row in rows}) == 2
        assert all(len(row) <= 80 for row in rows)
        run.line("before-it-acts-bad -> ", "…")

    def test_only_one_of_them_is_shown_as_if_there_were_no_other(self, agents):
        run = agents("-k", "Good")
        run.line("tau: mock: 3 tasks, 3 trials; 3 passed; pass^1 1.000")
        run.lacks("variant")

    def test_several_tests_on_one_task(self, project):
        project.write("parts.py", PARTS)
        project.write("test_it.py", TESTS)
        run = project.run("--tau-agent", "parts.py:Bad", *USER)
        run.line("tau: mock: 2 tasks, 2 variants, 4 trials; 4 failed")
        run.line("tau:  test_one ")
        run.line("tau:  test_other ")
        run.lacks(" -> ")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_variants_of_different_tests_are_not_compared(self, in_domain, project, workers):
        project.write("test_it.py", TESTS)
        run = in_domain("test_it.py", "--tau-html", "r.html", *workers)
        found = [line.partition(":  ")[2] for line in run.text.splitlines() if " -> " in line and "pass^1" in line]
        assert [line.partition(": ")[0] for line in found] == [
            f"test_{name}[Bad] -> test_{name}[Good]" for name in ("one", "other")
        ]
        page = (project.path / "r.html").read_text()
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        assert [line.partition(": ")[0] for line in data["runs"][0]["comparisons"]] == [
            f"test_{name}[Bad] -> test_{name}[Good]" for name in ("one", "other")
        ]

    def test_the_only_comparison_has_a_verdict_next_to_another_test(self, in_domain, project):
        only = "@pytest.mark.parametrize('tau_agent', [Bad])\ndef test_other"
        project.write("test_it.py", "from parts import Bad\n" + TESTS.replace("def test_other", only))
        run = in_domain("test_it.py")
        run.line("tau:  test_one[Bad] -> test_one[Good]: 2 tasks")
        run.line("no significant difference")

    def test_tests_on_different_tasks_are_parts_of_one_run(self, project):
        project.write("parts.py", PARTS)
        tests = TESTS.replace("pytestmark = ", "one = ").replace(', "transfer-deletion"', "")
        tests = tests.replace("def test_one", "@one\ndef test_one")
        other = '@pytest.mark.tau(domain="mock", tasks="transfer-deletion", split="small")\ndef test_other'
        project.write("test_it.py", tests.replace("def test_other", other))
        run = project.run("--tau-agent", "parts.py:Bad", *USER)
        run.line("tau: mock: 2 tasks, 2 trials; 2 failed; pass^1 0.000")
        run.lacks("variant")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_equal_ids_in_two_files_are_two_tasks(self, project, a_task, workers):
        project.write("parts.py", PARTS)
        other = a_task("a", criteria={"actions": []})
        project.tasks("mock/one.tau.json", [a_task("a"), a_task("b")])
        project.tasks("mock/two.tau.json", [other])
        run = project.run("--tau-agent", "parts.py:Good", *USER, *workers)
        run.line("tau: mock: 3 tasks, 3 trials; 2 passed, 1 failed; pass^1 0.667")
        run.lacks("flaky")
        again = project.run("--tau-agent", "parts.py:Good", *USER, "--tau-resume", *workers)
        again.line("tau: resume: 3 of 3 trials reused from the earlier run")

    def test_flaky_tasks_have_the_name_of_the_variant(self, agents, project):
        source = FIXTURE.replace("(request)", "(request, tau_trial)")
        project.write(
            "conftest.py", source.replace("return request.param", "return Good if tau_trial else request.param")
        )
        run = agents("--tau-trials", "2", tasks=["a"])
        run.line("tau: flaky: 1 of 2 tasks with several trials both passed and failed")
        run.line("tau:   mock::a [Bad]  1 of 2 passed")

    def test_grouped(self, agents):
        run = agents("--tau-group-by", "actions")
        run.line("tau:  1 [Good]", "1.000")
        run.line("tau:  1 [Bad]", "0.000")

    def test_a_tag_that_is_listed_twice_counts_once(self, project, a_task):
        project.write("parts.py", PARTS)
        project.tasks("mock/t.tau.json", [a_task("a", annotations={"tags": ["new", "new"]})])
        run = project.run("--tau-agent", "parts.py:Good", *USER, "--tau-group-by", "tags")
        assert run.line("tau:  new").split()[2:4] == ["1", "1"]


class TestReports:
    """JUnit, Markdown, HTML and exports."""

    def test_junit(self, agents, project):
        agents("--junitxml", "j.xml", "--tau-trials", "2")
        names = {each.get("name"): each.get("value") for each in ET.parse(project.path / "j.xml").iter("property")}
        assert names["tau.mock.trials"] == "12"
        assert "tau.mock.pass^1" not in names
        assert (names["tau.mock[Good].pass^2"], names["tau.mock[Bad].pass^1"]) == ("1.000000", "0.000000")

    def test_markdown(self, agents, project):
        agents("--tau-markdown=page.md")
        page = (project.path / "page.md").read_text()
        assert "3 tasks, 2 variants, 6 trials: 3 passed, 3 failed" in page
        assert "| Good | 3 | 3 | 1.000 |" in page
        assert "- Bad -&gt; Good: 3 tasks; pass^1 0.000 -&gt; 1.000" in page
        assert "| a \\[Bad\\] | 0 of 1 |" in page

    def test_html(self, agents, project):
        agents("--tau-html", "r.html")
        page = (project.path / "r.html").read_text()
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        (run,) = data["runs"]
        assert [(each["domain"], each["points"][0]["value"]) for each in run["rates"]] == [
            ("mock [Bad]", 0.0),
            ("mock [Good]", 1.0),
        ]
        assert run["comparisons"][0].startswith("Bad -> Good: 3 tasks; pass^1 0.000 -> 1.000")
        assert run["counts"]["tasks"] == 3
        assert {(name[-5:], groups["variant"]) for _, name, groups in data["tasks"]} == {
            ("[Bad]", "Bad"),
            ("Good]", "Good"),
        }
        assert sorted(name for _, name, _ in data["tasks"]) == [f"{t} [{v}]" for t in "abc" for v in ("Bad", "Good")]


class TestGates:
    """A gate applies to each variant."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_the_one_that_misses_it_is_named(self, agents, workers):
        run = agents("--tau-gate", "pass^1>=0.4", *workers)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("tau: gate pass^1 >= 0.4 for Good: 1.000", "): met")
        run.line("tau: gate pass^1 >= 0.4 for Bad: 0.000", "): missed")

    def test_met_by_all(self, agents):
        assert agents("--tau-gate", "reward>=0").ret == pytest.ExitCode.OK


class TestBaseline:
    """Runs are compared variant by variant."""

    @pytest.fixture
    def blessed(self, agents, project):
        """A baseline in which both agents passed everything."""
        tasks = [f"t{number}" for number in range(8)]
        project.write("conftest.py", FIXTURE.replace("[Good, Bad]", "[Good, Good], ids=['new', 'old']"))
        agents(tasks=tasks, file="mock/t.tau.json").outcomes(passed=16)
        return next((project.path / ".tau/runs").iterdir())

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_regression_of_one_is_not_hidden_by_the_other(self, blessed, project, workers):
        project.write("conftest.py", FIXTURE.replace("[Good, Bad]", "[Good, Bad], ids=['new', 'old']"))
        run = project.run(*USER, "--tau-baseline", blessed, "--tau-fail-on", "regression", *workers)
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        run.line("this run compared with", "8 tasks in both, trials per task: 1")
        run.line("tau: new: pass^1 1.000 -> 1.000: +0.000")
        run.line("tau: old: pass^1 1.000 -> 0.000: -1.000", "a significant loss")
        run.line("tau: worse on 8 tasks:", "t0 [old]")

    def test_one_of_them_against_a_run_of_both(self, blessed, project):
        run = project.run(*USER, "--tau-baseline", blessed, "-k", "new")
        run.line("tau: pass^1 1.000 -> 1.000: +0.000")
        run.line("tau: excluded: 8 tasks only in")


class TestCounts:
    """Tests without a simulation, and pytest-repeat."""

    @pytest.mark.parametrize("workers", WORKERS)
    def test_a_test_of_the_environment_alone_is_no_trial(self, project, workers):
        project.write("parts.py", PARTS)
        env = "\ndef test_env(tau_env):\n    assert tau_env\n"
        project.write("test_it.py", TESTS.partition("def test_other")[0] + env)
        run = project.run("--tau-agent", "parts.py:Bad", *USER, *workers)
        run.outcomes(passed=2, failed=2)
        run.lacks("not run")

    @pytest.mark.parametrize("workers", WORKERS)
    def test_repetitions_are_trials(self, project, a_task, workers):
        pytest.importorskip("pytest_repeat")
        project.write("parts.py", PARTS)
        project.tasks("mock/t.tau.json", [a_task("a")])
        project.write("test_plain.py", "def test_plain(): pass")
        repeat = ("-p", "pytest_repeat", "--count", "3", "--tau-agent", "parts.py:Good", *USER, *workers)
        run = project.run("-v", *repeat)
        run.outcomes(passed=6)
        run.line("mock/t.tau.json::a[trial-2]", "PASSED")
        run.line("tau: mock: 1 task, 3 trials; 3 passed; pass^1 1.000 pass^2 1.000 pass^3 1.000")
        project.write("test_it.py", TESTS.replace('split="small"', 'split="small", trials=2'))
        project.run("test_it.py", *repeat).line("tau: mock: 2 tasks, 2 variants, 24 trials")

    def test_the_marker_repeat_is_refused(self, project):
        pytest.importorskip("pytest_repeat")
        project.write("test_it.py", TESTS.replace("def test_one", "@pytest.mark.repeat(3)\ndef test_one"))
        run = project.run("-p", "pytest_repeat", *("--tau-agent", "gold"))
        run.line("test_it.py::test_one: the marker repeat(N) does not repeat trials: use tau(trials=N) instead")
        assert run.ret == pytest.ExitCode.USAGE_ERROR


def test_files_of_a_domain_that_is_compared_with_a_run_of_another_test(project, a_task, monkeypatch):
    """A task with one test in each run is compared, whatever the tests are called."""
    project.write("parts.py", PARTS)
    args = ("--tau-agent", "parts.py:Good", *USER)
    project.run("mock::create-task", *args)
    project.write("test_it.py", TESTS.partition("def test_other")[0])
    run = project.run("test_it.py", *args, "--tau-baseline", next((project.path / ".tau/runs").iterdir()))
    run.line("1 task in both, trials per task: 1")
