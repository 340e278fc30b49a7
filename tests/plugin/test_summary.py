"""What a run prints below each domain's first line, and what it leaves for a CI job."""

from __future__ import annotations

import re
from itertools import takewhile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest


@pytest.fixture(autouse=True)
def _no_github(monkeypatch):
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def mixed(project, a_task, parts_by_id):
    """Six tasks: three pass, two fail, and one ends in an error."""
    ids = ["good-1", "good-2", "good-3", "bad-1", "bad-2", "lost"]
    tags = {"good-1": ["easy"], "bad-1": ["easy", "new"]}
    tasks = [a_task(name, annotations={"tags": tags[name]} if name in tags else None) for name in ids]
    project.tasks("mock/t.tau.json", tasks)
    return lambda *args: project.run(*parts_by_id, *args)


def summary_of(run) -> list[str]:
    """The domain's first line, and those that belong to it."""
    lines = run.text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("tau: mock: "))
    return [lines[start], *takewhile(lambda line: line.startswith(("tau:  ", "       ")), lines[start + 1 :])]


def untimed(lines: list[str]) -> list[str]:
    """The lines without their durations, which differ from run to run."""
    return [re.sub(r"(< )?[0-9.]+ s\b", "TIME", line) for line in lines]


FIRST = (
    "tau: mock: 6 tasks, 6 trials; 3 passed, 2 failed, 1 error; pass^1 0.600; "
    "errors are excluded; counting them as failures, pass^1 is 0.500"
)


class TestTerminal:
    """The lines of a domain."""

    def test_what_failed_and_how(self, mixed):
        lines = summary_of(mixed())
        assert lines[0] == FIRST
        assert re.fullmatch(r"tau:  95 % interval  pass\^1 0\.\d{3} to 1\.000", lines[1])
        assert lines[2:] == [
            "tau:  no-op agent    pass^1 0.000 (0 of 6 tasks)",
            "tau:  errors         user_error (1)",
            "tau:  ended by       ###STOP### (5)",
            "tau:  not met        DB (2)",
            "tau:  a trial        4.6 turns, 0.6 calls",
        ]

    @pytest.mark.exhaustive
    def test_workers_change_nothing(self, mixed, project):
        pytest.importorskip("xdist")
        args = ["--tau-group-by", "actions,tags", "--tau-trials", "2"]
        one, two = mixed(*args, "--tau-markdown=one.md"), mixed(*args, "--tau-markdown=two.md", "-n", "2")
        assert untimed(summary_of(one)) == untimed(summary_of(two))
        one, two = ((project.path / name).read_text().splitlines() for name in ("one.md", "two.md"))
        assert sorted(one) == sorted(two), "failing tasks are in the order of the reports"
        assert untimed(summary_of(mixed("-v"))) == untimed(summary_of(mixed("-v", "-n", "2")))

    @pytest.mark.parametrize(
        ("args", "ending"),
        [((), "; to read them: tau view --open"), (("--tau-results", "my runs"), "; to read them: tau view 'my runs/")],
    )
    def test_failures_end_with_the_command_that_shows_them(self, mixed, monkeypatch, args, ending):
        monkeypatch.delenv("CI", raising=False)
        assert ending in mixed(*args).line("tau: simulations stored in")

    def test_in_ci_and_with_a_page_there_is_only_the_path(self, mixed, monkeypatch):
        monkeypatch.delenv("CI", raising=False)
        assert "tau view" not in mixed("--tau-html", "page.html").line("tau: simulations stored in")
        monkeypatch.setenv("CI", "true")
        assert "tau view" not in mixed().line("tau: simulations stored in")

    def test_quiet_is_one_line(self, mixed):
        assert summary_of(mixed("-q", "--tau-group-by", "actions")) == [FIRST]

    def test_verbose_is_everything(self, mixed):
        lines = summary_of(mixed("-v"))
        assert "tau:  with errors    pass^1 0.500, errors counted as failures" in lines
        assert any(line.startswith("tau:  messages    ") and "provider down" in line for line in lines)
        assert "tau:  mean reward    0.600" in lines

    def test_every_line_is_explained(self, models):
        explained = (Path(__file__).parents[2] / "docs" / "summary.md").read_text(encoding="utf-8")
        models.script("def answer(role, request):\n    return '###STOP###' if role == 'user' else 1 / 0")
        lines = summary_of(models.run("-v"))
        labels = {line[6:21].strip() for line in lines[1:]} - {""}
        assert len(labels) >= 4
        assert not [label for label in labels if f"| `{label}` |" not in explained]

    def test_a_run_that_passed_is_short(self, project):
        run = project.run("--tau-domain", "mock")
        assert summary_of(run) == ["tau: mock: 16 tasks, 16 trials; 16 passed; pass^1 1.000"]

    def test_task_that_needs_no_agent_is_always_reported(self, project, a_task):
        idle = a_task("idle", criteria={"actions": []})
        project.tasks("mock/t.tau.json", [idle, a_task()])
        lines = summary_of(project.run())
        assert lines[1:] == ["tau:  no-op agent    pass^1 0.500 (1 of 2 tasks)"]

    def test_what_models_took_in_a_trial(self, models):
        run = models.run("--tau-trials", "2")
        run.line("tau:  a trial        5.0 turns, 1.0 calls, 4,080 tokens, $1.00")
        run.line("tau: models together: 8 calls")
        quiet = models.run("-q")
        quiet.line("tau: models together: 4 calls")
        quiet.lacks("tau: agent fake/agent")

    def test_a_narrow_terminal(self, mixed, monkeypatch):
        monkeypatch.setenv("COLUMNS", "60")
        lines = summary_of(mixed("-v", "--tau-group-by", "actions"))
        assert max(map(len, lines)) <= 60
        assert len(lines) > 8

    def test_domain_whose_code_fails_without_an_agent_has_no_floor(self, shelf):
        broken = (shelf.path / "conftest.py").read_text().replace("SHELF = DomainSpec(", "SHELF = Broken(")
        broken = broken.replace(
            "\nHERE =",
            """
from pytest_tau.environment import DomainSpec as Spec, Domain


class NoFloor(Domain):
    def once_per_task(self, task, what, compute):
        if what.startswith("null agent"):
            raise ZeroDivisionError("floor")
        return super().once_per_task(task, what, compute)


class Broken(Spec):
    def load(self, data_dir=None):
        return NoFloor(self, self.folder, self.tasks)


HERE =""",
        )
        shelf.write("conftest.py", broken)
        run = shelf.run("--tau-domain", "shelf", "-v")
        run.outcomes(passed=2)
        run.line("tau: shelf: 2 tasks, 2 trials; 2 passed")
        run.lacks("no-op agent")


class TestGroups:
    """--tau-group-by."""

    def test_by_several(self, mixed, project):
        run = mixed("--tau-group-by", "tags,actions")
        lines = summary_of(run)
        start = lines.index("tau:  by tags  tasks  trials  pass^1   95 % interval  errors")
        assert [line.split()[1:5] for line in lines[start + 1 : start + 4]] == [
            ["easy", "2", "2", "0.500"],
            ["new", "1", "1", "0.000"],
            ["(none)", "4", "4", "0.667"],
        ]
        assert lines[start + 4].startswith("tau:  by actions")
        project.ini("tau_group_by = persona")
        assert summary_of(mixed())[-1] == "tau:  by persona: no task has one"

    def test_an_unknown_name(self, mixed):
        run = mixed("--tau-group-by", "tags,intnet")
        run.usage_error("--tau-group-by: unknown group 'intnet'; did you mean 'intent'?", "actions, intent, persona")


class TestMarkdown:
    """--tau-markdown."""

    def test_it_is_printed_where_nothing_else_is_said(self, mixed):
        run = mixed("--tau-markdown", "-")
        assert "### mock" in run.text.splitlines()
        run.line("| bad-1 | 0 of 1 | DB |")
        run.lacks("::error")

    def test_it_is_added_to_the_summary_of_the_job(self, mixed, project, monkeypatch):
        file = project.write("step.md", "before\n")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
        run = mixed("--tau-markdown=-")
        run.lacks("### mock")
        lines = file.read_text().splitlines()
        assert lines[:3] == ["before", "### mock", ""]
        assert "<details><summary>3 tasks did not pass every time</summary>" in lines
        assert any(line.startswith("| lost | 0 of 1 | user_error: ") and "provider down" in line for line in lines)

    def test_it_is_written_anew_to_a_file_of_that_name(self, mixed, project):
        project.write("out/page.md", "an old page\n")
        mixed("--tau-markdown=out/page.md").lacks("### mock")
        assert (project.path / "out" / "page.md").read_text().startswith("### mock\n")
        project.ini("tau_markdown = new/page.md")
        mixed("-q")
        assert (project.path / "new" / "page.md").read_text().startswith("### mock\n")

    def test_it_is_written_without_terminal_output(self, mixed, project):
        mixed("--tau-markdown=page.md", "--no-summary")
        assert (project.path / "page.md").read_text().startswith("### mock\n")

    def test_unwritable_file_is_reported_and_nothing_else_is_lost(self, mixed, project):
        project.write("taken", "a file\n")
        run = mixed("--tau-markdown=taken/page.md")
        run.line("tau: the summary cannot be written to taken/page.md: ")
        run.line("tau: mock: 6 tasks")

    def test_without_a_trial_there_is_no_page(self, mixed, project):
        mixed("--tau-markdown=page.md", "--collect-only")
        assert not (project.path / "page.md").exists()


class TestAnnotations:
    """GitHub's marks on failing tasks."""

    @pytest.fixture(autouse=True)
    def _on_github(self, monkeypatch, _no_github, project):
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path))
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "step.md"))

    def test_each_failing_task_has_one(self, mixed):
        run = mixed("--tau-markdown=-", "--tau-trials", "2", "-p", "no:cacheprovider")
        lines = [line for line in run.text.splitlines() if line.startswith("::")]
        assert lines[0] == "::error file=mock/t.tau.json,title=mock%3A bad-1::0 of 2 trials passed: DB"
        assert len(lines) == 3

    def test_only_where_the_option_is_given(self, mixed):
        mixed().lacks("::error")

    def test_what_a_test_has_let_pass_is_no_error(self, project):
        project.write(
            "test_it.py",
            """
            import pytest

            @pytest.mark.tau(domain="mock", tasks="create-task", agent="noop")
            def test_it_fails(tau_simulation):
                assert tau_simulation.reward == 0
            """,
        )
        run = project.run("--tau-markdown=-")
        run.outcomes(passed=1)
        run.lacks("::error")


class TestJunit:
    """--junitxml."""

    def test_properties_of_trials_and_of_the_suite(self, mixed, project):
        for args in ([], ["-n", "2"]):
            mixed("--junitxml=r.xml", "-o", "junit_family=xunit1", "-q", *args)
            suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
            cases = {case.get("name"): self._properties(case) for case in suite.iter("testcase")}
            bad = cases["bad-1[trial-0]"]
            assert bad["tau_failed_checks"] == "DB"
            assert (bad["tau_reward"], bad["tau_termination_reason"], bad["tau_seed"]) == ("0.0", "user_stop", "626729")
            assert "tau_failed_checks" not in cases["good-1[trial-0]"]
            assert "tau_cost" not in bad
            assert cases["lost[trial-0]"]["tau_termination_reason"] == "user_error"
            assert self._properties(suite) == {
                "tau.mock.tasks": "6",
                "tau.mock.trials": "6",
                "tau.mock.errors": "1",
                "tau.mock.pass^1": "0.600000",
                "tau.mock.floor": "0.000000",
            }

    def test_costs(self, models, project):
        models.run("--junitxml=r.xml")
        suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
        (case,) = suite.iter("testcase")
        assert self._properties(case)["tau_cost"] == "1.000000"
        models.script("cost = None")
        models.run("--junitxml=r.xml")
        suite = ET.parse(project.path / "r.xml").getroot().find("testsuite")
        assert self._properties(next(suite.iter("testcase")))["tau_cost"] == "unknown"

    @staticmethod
    def _properties(element):
        found = element.find("properties")
        return {each.get("name"): each.get("value") for each in found} if found is not None else {}
