"""``--tau-quarantine``: tasks that are known to fail are expected to, until a day comes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_tau.capabilities.quarantine.plugin import read_entries

#: An agent that does what its task wants, but for those that are called ``bad``.
AGENT = """
class Agent:
    def __init__(self, task):
        self.task, self.done = task, False

    def respond(self, message):
        if self.done or self.task.id.startswith("bad"):
            return "Done."
        self.done = True
        arguments = {"user_id": "user_1", "title": "Buy milk"}
        return {"tool_calls": [{"name": "create_task", "arguments": arguments}]}


class User:
    def __init__(self):
        self.turns = 0

    def respond(self, message):
        self.turns += 1
        return "Please." if self.turns == 1 else "###STOP###"
"""


@pytest.fixture
def tasks(project, a_task):
    """A project with the tasks bad-1, bad-2 and good; returns what runs it."""
    project.write("agents.py", AGENT)
    project.tasks("mock/t.tau.json", [a_task(name) for name in ("bad-1", "bad-2", "good")])

    def run(*args):
        return project.run("mock", "--tau-agent", "agents.py:Agent", "--tau-user", "agents.py:User", *args)

    return run


def entry(**fields):
    """An entry in TOML."""
    lines = [f"{name} = {value if name == 'until' else json.dumps(value)}" for name, value in fields.items()]
    return "\n".join(["[[quarantine]]", *lines, ""])


class TestExpected:
    """A failure in quarantine is expected."""

    def test_a_known_failure_does_not_fail_the_run(self, project, tasks):
        project.write("q.toml", entry(task="bad-*", reason="the policy is wrong", link="https://x.test/1"))
        run = tasks("--tau-quarantine", "q.toml", "-rx")
        run.outcomes(passed=1, xfailed=2)
        assert run.ret == 0
        run.line("XFAIL", "bad-1[trial-0]", "quarantine: the policy is wrong (https://x.test/1)")
        run.line("mock: 3 tasks, 3 trials; 1 passed, 2 failed")

    def test_only_in_its_domain(self, project, tasks):
        project.write(
            "q.toml", entry(task="bad-1", reason="x", domain="mock") + entry(task="bad-2", reason="x", domain="retail")
        )
        run = tasks("--tau-quarantine", "q.toml")
        run.outcomes(passed=1, failed=1, xfailed=1)
        run.lacks("tau: quarantine:")

    def test_file_in_the_ini_is_relative_to_the_ini(self, project, tasks):
        project.write("known/q.toml", entry(task="bad-*", reason="x"))
        project.ini("tau_quarantine = known/q.toml")
        tasks().outcomes(passed=1, xfailed=2)

    def test_not_strict_even_where_the_ini_is(self, project, tasks):
        project.write("q.toml", entry(task="*", reason="x"))
        project.ini("xfail_strict = true")
        run = tasks("--tau-quarantine", "q.toml")
        run.outcomes(xfailed=2, xpassed=1)
        assert run.ret == 0

    def test_marked_tests(self, project, tasks):
        del tasks
        project.write("q.toml", entry(task="create-*", reason="x"))
        project.write(
            "test_it.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks=["create-task", "complete-task"], agent="noop")
            def test_it(tau_simulation):
                assert tau_simulation.reward == 1
            """,
        )
        project.run("test_it.py", "--tau-quarantine", "q.toml").outcomes(failed=1, xfailed=1)

    def test_over_workers(self, project, tasks):
        entries = [entry(task=task, reason="x") for task in ("bad-*", "bod-1", "good")]
        project.write("q.toml", "".join(entries))
        run = tasks("--tau-quarantine", "q.toml", "-n2")
        run.outcomes(xpassed=1, xfailed=2)
        run.line("tau: quarantine: entry 2, 'bod-1', is not a task", "did you mean 'bad-1'")
        run.line("tau: quarantine: passed in every trial and can be removed: mock::good")

    def test_side_by_side(self, project, tasks):
        project.write("q.toml", entry(task="bad-*", reason="x"))
        run = tasks("--tau-quarantine", "q.toml", "--tau-concurrency", "3")
        run.outcomes(passed=1, xfailed=2)
        run.lacks("run serially")


class TestReports:
    """What may leave quarantine, what has left it, and what is not there."""

    def test_what_passes_may_leave(self, project, tasks):
        project.write("q.toml", entry(task="good", reason="x"))
        run = tasks("--tau-quarantine", "q.toml", "--tau-trials", "2", "--tau-task", "good")
        run.outcomes(xpassed=2)
        run.line("tau: quarantine: passed in every trial and can be removed: mock::good")

    def test_what_passes_now_and_then_may_not(self, project, tasks):
        project.write(
            "agents.py",
            AGENT.replace('startswith("bad")', 'startswith("bad") or self.seed % 2').replace(
                "def __init__(self, task):", "def __init__(self, task, seed):\n        self.seed = seed"
            ),
        )
        project.write("q.toml", entry(task="good", reason="x"))
        run = tasks("--tau-quarantine", "q.toml", "--tau-trials", "4", "--tau-task", "good")
        run.outcomes(xpassed=1, xfailed=3)
        run.lacks("may leave")

    def test_an_entry_applies_until_its_last_day(self, project, tasks):
        entries = [
            entry(task="bad-1", reason="x", until="2020-02-29"),
            entry(task="bad-2", reason="y", until="2999-01-01"),
        ]
        project.write("q.toml", "".join(entries))
        run = tasks("--tau-quarantine", "q.toml")
        run.outcomes(passed=1, failed=1, xfailed=1)
        run.line("tau: quarantine: entry 1, 'bad-1', expired on 2020-02-29: x")
        run.lacks("entry 2")

    def test_an_entry_that_names_no_task(self, project, tasks):
        project.write("q.toml", entry(task="goood", reason="x") + entry(task="good", reason="y", domain="retail"))
        run = tasks("--tau-quarantine", "q.toml")
        run.line("tau: quarantine: entry 1, 'goood', is not a task of this run's domains; did you mean 'good'?")
        run.lacks("entry 2")

    def test_a_task_that_is_only_not_selected_is_there(self, project, tasks):
        project.write(
            "q.toml", entry(task="good", reason="x") + entry(task="create-task", reason="another of the domain")
        )
        for selected in (["--tau-task", "bad-1"], ["-k", "bad-1"]):
            tasks("--tau-quarantine", "q.toml", *selected).lacks("is not a task")


class TestMistakes:
    """A mistake in the file is a usage error that names entry and field."""

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[[quarantine]\n", "not valid TOML"),
            (b'[[quarantine]]\ntask = "\xff"\n', "not UTF-8 text"),
            ("x = 1\n", "expected tables [[quarantine]] and nothing else, got 'x'"),
            ("quarantine = 1\n", "expected tables [[quarantine]] and nothing else"),
            ("quarantine = [1]\n", "entry 1: expected a table"),
            (entry(task="a"), "entry 1: reason: missing"),
            (entry(reason="x"), "entry 1: task: missing"),
            (entry(task="a", reason="x") + entry(task="", reason="x"), "entry 2: task: expected a string, got ''"),
            (entry(task="a", reason=3), "entry 1: reason: expected a string, got 3"),
            (
                entry(task="a", reason="x", owner="me"),
                "entry 1: unknown field 'owner': expected task, reason, domain",
            ),
            (
                entry(task="a", reason="x", until='"soon"'),
                "entry 1: until: expected a date such as 2026-12-31, got 'soon'",
            ),
            (entry(task="a", reason="x", until="7"), "entry 1: until: expected a date such as 2026-12-31, got 7"),
        ],
    )
    def test_it_is_named(self, tmp_path, text, message):
        file = tmp_path / "q.toml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(ValueError, match=re.escape(message)):
            read_entries(file)

    def test_usage_errors_name_the_file(self, project, tasks):
        tasks("--tau-quarantine", "nowhere.toml").usage_error(
            "--tau-quarantine: ", "nowhere.toml: No such file or directory"
        )
        project.write("q.toml", entry(task="a"))
        project.ini("tau_quarantine = q.toml")
        tasks().usage_error("tau_quarantine: ", "q.toml: entry 1: reason: missing")


def test_a_day_may_be_a_text_or_a_date(tmp_path):
    file = tmp_path / "q.toml"
    file.write_text(entry(task="a", reason="x", until='"2026-12-31"') + entry(task="b", reason="y", until="2026-12-31"))
    first, second = read_entries(file)
    assert first.until == second.until
    assert (first.number, second.number) == (1, 2)
    assert not first.expired(first.until)


def test_the_file_of_the_documentation(tmp_path):
    text = (Path(__file__).parents[2] / "docs" / "failures.md").read_text(encoding="utf-8")
    file = tmp_path / "q.toml"
    file.write_text(text.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    (found,) = read_entries(file)
    assert (found.task, found.domain, str(found.until)) == ("refund-*", "retail", "2026-12-31")
