"""Capabilities of a conftest.py: options, facts, columns, gates and lines, without another word."""

from __future__ import annotations

import ast
import base64
import csv
import gzip
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_tau.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "capabilities"

CONFTEST = """
    from pytest_tau import Capability, FactColumn, TrialStages

    class Stages(TrialStages):
        def graded(self, simulation):
            return {"count": len(simulation.messages)}

    def pytest_tau_capabilities():
        return [Capability("heard", trial=lambda view: Stages(), columns=(FactColumn("heard", "count"),), %s)]
"""


@pytest.fixture
def examples(project, monkeypatch):
    """A project with the three capabilities of ``examples`` and a task that its agent fails."""
    for file in EXAMPLES.glob("*.py"):
        shutil.copy(file, project.path)
    monkeypatch.syspath_prepend(project.path)
    agent = "def agent(messages, tools):\n    return 'Contoso sells milk: write to sales@contoso.example'\n"
    project.write("own.py", agent)

    def run(*arguments):
        named = ("--tau-competitors", "Contoso", "--tau-competitors", "Fabrikam")
        options = ("--tau-domain", "mock", "--tau-task", "create-*", "--tau-agent", "own.py:agent", *named)
        return project.run(*options, "--tau-max-steps", "5", *arguments)

    return run


def table(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def conversations(report):
    """The conversations of an HTML report, unpacked."""
    packed = re.findall(
        r'<script type="application/octet-stream" id="c0-\d+">([^<]+)<', report.read_text(encoding="utf-8")
    )
    return [each for block in packed for each in json.loads(gzip.decompress(base64.b64decode(block)))]


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_examples_are_shown_everywhere(examples, project, workers, capsys):
    files = ("--tau-html", "r.html", "--junitxml", "j.xml", "--tau-markdown", "s.md")
    gates = ("--tau-gate", "competitors<=0", "--tau-gate", "addresses<=9")
    run = examples("--tau-results", "runs", "--tau-run-name", "one", *files, *gates, *workers)
    run.line("competitors: named in message ")
    run.line("addresses: message ", ", turn ", ": the agent says sales@contoso.example")
    run.line("competitors", "named in ", " trials")
    run.line("gate competitors <= 0: ", "missed")
    run.line("gate addresses <= 9: ", "met")
    run.line("again: pytest", "--tau-competitors Contoso --tau-competitors Fabrikam")
    folder = project.path / "runs" / "one"
    stored = [json.loads(line) for line in (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(each["facts"]["competitors"]["count"] > 0 for each in stored)
    recorded = json.loads((folder / "run.json").read_text(encoding="utf-8"))["capabilities"]
    assert {"addresses", "competitors", "first_answer"} <= {*recorded}
    assert recorded["competitors"]["settings"] == {"competitors": ["Contoso", "Fabrikam"]}
    capsys.readouterr()
    assert main(["export", str(folder), "--format", "csv", "-o", str(project.path / "r.csv")]) == 0
    rows = table(project.path / "r.csv")
    assert all(int(row["competitors"]) > 0 and row["first_answer"] == "" for row in rows)
    names = {each.get("name") for each in ET.parse(project.path / "j.xml").iter("property")}
    assert {"tau_competitors", "tau_addresses"} <= names
    for talk in conversations(project.path / "r.html"):
        [block] = [each for each in talk["blocks"] if each["name"] == "addresses"]
        assert (block["title"], block["items"][0]["text"]) == ("Addresses", "sales@contoso.example")
    assert "Competitors" in (project.path / "r.html").read_text(encoding="utf-8")
    assert "| competitors | named in " in (project.path / "s.md").read_text(encoding="utf-8")


def test_a_resumed_run_has_the_facts_of_its_earlier_trials(examples, project):
    examples("--tau-results", "runs", "--tau-run-name", "one")
    run = examples("--tau-resume", "runs/one", "--tau-gate", "competitors<=0")
    run.line("competitors", "named in ", " trials")
    run.line("gate competitors <= 0: ", "missed")


def test_runs_are_compared_and_graded_again_with_their_facts(examples, project, capsys):
    for name in ("one", "two"):
        examples("--tau-results", "runs", "--tau-run-name", name)
    capsys.readouterr()
    assert main(["compare", str(project.path / "runs/one"), str(project.path / "runs/two")]) in (0, 1)
    assert "competitors 2.000 -> 2.000" in " ".join(capsys.readouterr().out.split())
    assert main(["regrade", str(project.path / "runs/one")]) == 0


def test_the_page_has_the_example():
    page = (Path(__file__).parents[2] / "docs" / "capabilities.md").read_text(encoding="utf-8")
    example = (EXAMPLES / "competitors.py").read_text(encoding="utf-8").partition('"""\n\n')[2]
    assert example.strip() in page


def test_examples_are_short():
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in EXAMPLES.glob("*.py")}
    assert lines.pop("known_failures.py") <= 120  # of the size of a bundled one
    assert max(lines.values()) <= 40


def test_one_is_removed_by_its_name(project):
    project.write("conftest.py", CONFTEST % "summary=lambda trials: ['seen']")
    arguments = ("--tau-domain", "mock", "--tau-task", "create-*")
    project.run(*arguments).line("  heard          seen")
    project.run(*arguments, "-p", "no:tau_heard").lacks("  heard  ")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
@pytest.mark.parametrize(
    ("body", "line", "status"),
    [
        ("run.add(f'{len(run.trials)} trials, {sum(each.facts['count'] > 0 for each in run.trials)} heard')",
         "tau: heard: 4 trials, 4 heard", pytest.ExitCode.OK),
        ("run.fail('too little was heard')", "tau: heard: too little was heard", pytest.ExitCode.TESTS_FAILED),
        ("raise ValueError('no ear')", "tau: heard: ValueError: no ear", pytest.ExitCode.TESTS_FAILED),
    ],
)  # fmt: skip
def test_it_has_a_last_word(project, body, line, status, workers):
    conftest = "\n    def finished(run):\n        " + body.replace("facts['count']", 'facts["count"]') + "\n"
    project.write("conftest.py", CONFTEST % "finished=finished" + conftest)
    run = project.run("--tau-domain", "mock", "--tau-task", "create-task", "--tau-trials", "4", *workers)
    run.outcomes(passed=4)
    run.line(line)
    assert run.ret == status


def test_it_has_fixtures_and_hooks_of_every_run(project):
    project.write(
        "conftest.py",
        """
        import pytest
        from pytest_tau import Capability

        class Fixtures:
            @pytest.fixture
            def heard(self):
                return ["nothing"]

            def pytest_report_header(self):
                return "there are fixtures"

        def pytest_tau_capabilities():
            return [Capability("heard", fixtures=Fixtures)]
        """,
    )
    project.write("test_it.py", "def test_it(heard):\n    assert heard == ['nothing']\n")
    run = project.run("test_it.py")
    run.outcomes(passed=1)
    run.line("there are fixtures")
    project.run("test_it.py", "-p", "no:tau_heard").outcomes(errors=1)


def test_a_bundled_one_is_removed_with_its_options(project):
    run = project.run("--tau-domain", "mock", "-p", "no:tau_tool_faults", "--tau-tool-faults", "x:1")
    run.usage_error("unknown option --tau-tool-faults")


def test_a_setting_is_one_field(project, capsys, monkeypatch):
    project.write(
        "own_plugin.py",
        """
        from dataclasses import dataclass
        from pytest_tau import Capability, TrialStages, option

        @dataclass(frozen=True)
        class Settings:
            slow_tools: str | None = option(str, "verdict", "WHICH", help="tools that are slow")

        def pytest_tau_capabilities():
            return [Capability("slow_tools", settings=Settings, trial=lambda view: TrialStages())]
        """,
    )
    monkeypatch.setenv("PYTEST_PLUGINS", "own_plugin")
    monkeypatch.syspath_prepend(project.path)
    project.write("own.py", "def agent(messages, tools):\n    return 'No'\n")
    shown = project.run("--help")
    shown.line("tau: slow tools:")
    shown.line("--tau-slow-tools=WHICH")
    shown.line("tools that are slow")
    capsys.readouterr()
    assert main(["schema", "options"]) == 0
    assert "tau_slow_tools" in json.loads(capsys.readouterr().out)["definitions"]["options"]["properties"]
    arguments = (
        "--tau-domain",
        "mock",
        "--tau-task",
        "create-*",
        "--tau-results",
        "runs",
        "--tau-agent",
        "own.py:agent",
    )
    project.run(*arguments, "--tau-run-name", "one")
    run = project.run(*arguments, "--tau-run-name", "two", "--tau-slow-tools", "all", "-v")
    run.line("tau: ", "slow tools all")
    run.line("again: pytest ", "--tau-slow-tools all")
    run.line("comparability: custom", "; slow tools all")
    assert json.loads((project.path / "runs/two/run.json").read_text("utf-8"))["settings"]["slow_tools"] == "all"
    capsys.readouterr()
    main(["compare", str(project.path / "runs/one"), str(project.path / "runs/two")])
    shown = " ".join(capsys.readouterr().out.split())
    assert "pass^1 without -> with slow tools" in shown
    assert "slow tools (none and all)" in shown
    project.run("--tau-resume", "runs/two", *arguments).usage_error('slow_tools: "all" in the earlier run, null now')
    project.ini("tau_slow_tools = all")
    project.run(*arguments, "--tau-run-name", "three").line("tau: ", "slow tools all")


@pytest.mark.parametrize(("kind", "number"), [("int", "a whole number"), ("float", "a number")])
def test_a_type_of_python_says_what_it_expects(project, kind, number):
    project.write(
        "conftest.py",
        f"""
        from dataclasses import dataclass
        from pytest_tau import Capability, option

        @dataclass(frozen=True)
        class Settings:
            least: {kind} = option({kind}, "output", "N", default=3, help="the least")

        def pytest_tau_capabilities():
            return [Capability("own", settings=Settings)]
        """,
    )
    project.run("--tau-domain", "mock", "--tau-least", "few").usage_error(f"--tau-least: expected {number}, got 'few'")


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("[7]", "expected a Capability, got 7"),
        ("[Capability('Not a name')]", "capability 'Not a name': expected a name of lower-case letters, digits and _"),
        ("[Capability('tool_faults')]", "there are two capabilities of the name 'tool_faults'"),
        ("[Capability('own', settings=Twice)]", "there are two options --tau-seed"),
        ("[Capability('own', settings=Plain)]", "declare the field 'number' with pytest_tau.option()"),
        ("Capability('own')", "pytest_tau_capabilities: expected a list of Capability, got Capability"),
        (
            "[Capability('own', facts=Facts, columns=(FactColumn('rate'),))]",
            "capability 'own': column 'rate': the facts have no field 'rate' (they have count)",
        ),
    ],
)
def test_a_mistake_is_a_usage_error_that_names_the_file(project, returned, problem):
    project.write(
        "conftest.py",
        f"""
        from dataclasses import dataclass
        from pydantic import BaseModel
        from pytest_tau import Capability, FactColumn, option

        class Facts(BaseModel):
            count: int

        @dataclass(frozen=True)
        class Twice:
            seed: int = option(int, "speed", "N", help="twice")

        @dataclass(frozen=True)
        class Plain:
            number: int = 0

        def pytest_tau_capabilities():
            return {returned}
        """,
    )
    run = project.run("--tau-domain", "mock")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.line("conftest.py: ", problem)


class TestLimit:
    """The stage ``limit`` ends a conversation: ``call_limit`` of the examples."""

    OPTIONS = ("--tau-domain", "mock", "--tau-task", "create-*", "--tau-run-name", "r", "-v")

    @pytest.fixture
    def limited(self, project, monkeypatch):
        for file in EXAMPLES.glob("*.py"):
            shutil.copy(file, project.path)
        monkeypatch.syspath_prepend(project.path)
        agent = "def agent(messages, tools):\n    return {'tool_calls': [{'function': {'name': 'get_users'}}]}\n"
        project.write("own.py", agent)
        return lambda *options: project.run(*self.OPTIONS, *options)

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_it_fails_the_trial_and_is_shown(self, limited, project, capsys, workers):
        run = limited("--tau-agent", "own.py:agent", "--tau-most-calls", "3", *workers)
        run.outcomes(failed=2)
        run.line("cut off: a limit of a capability after")
        run.line("undecided", "a limit of a capability was reached")
        run.line("call limit: 3 tool calls, the limit is 3")
        run.line("ended by", "capability_limit (2)")
        capsys.readouterr()
        folder = project.path / ".tau" / "runs" / "r"
        for name, ending in (("csv", "capability_limit"), ("tau2", "max_steps"), ("jsonl", "capability_limit")):
            file = project.path / f"r.{name}"
            assert main(["export", str(folder), "--format", name, "-o", str(file)]) == 0
            assert ending in file.read_text(encoding="utf-8")
        (first, _) = json.loads((project.path / "r.tau2").read_text(encoding="utf-8"))["simulations"]
        assert first["termination_reason"] == "max_steps"
        assert first["info"]["pytest_tau"]["termination_reason"] == "capability_limit"
        assert main(["export", str(project.path / "r.tau2"), "--format", "csv", "-o", str(project.path / "b.csv")]) == 0
        assert {row["termination_reason"] for row in table(project.path / "b.csv")} == {"capability_limit"}

    def test_a_conversation_within_it_is_not_ended(self, limited):
        limited("--tau-most-calls", "3").outcomes(passed=2)
        limited("--tau-most-calls", "1", "--tau-agent", "noop", "--tau-run-name", "s").outcomes(failed=2)

    @pytest.mark.parametrize(
        ("returned", "problem"),
        [
            (
                "Ending('user_stop')",
                "limit: ValueError: expected Ending('capability_limit', error=TEXT), got 'user_stop'",
            ),
            ("'over'", "limit: TypeError: expected an Ending, got str"),
            ("1 / 0", "limit: ZeroDivisionError"),
        ],
    )
    def test_another_value_is_a_problem_and_ends_nothing(self, project, returned, problem):
        project.write(
            "conftest.py",
            f"""
            from pytest_tau import Capability, Ending, TrialStages

            class Stages(TrialStages):
                def limit(self):
                    return {returned}

            def pytest_tau_capabilities():
                return [Capability("own", trial=lambda view: Stages())]
            """,
        )
        run = project.run(*self.OPTIONS)
        run.outcomes(passed=2)
        run.line(problem)


class TestKnownFailures:
    """``known_failures`` of the examples does what ``--tau-quarantine`` does, with public names only."""

    FILE = """
        [[known]]
        task = "create-task"
        reason = "the policy is wrong"

        [[known]]
        task = "create-with-*"
        reason = "an old one"
        until = 2020-02-29

        [[known]]
        task = "create-tusk"
        reason = "misspelt"
        """

    @pytest.fixture
    def known(self, project, monkeypatch):
        for file in EXAMPLES.glob("*.py"):
            shutil.copy(file, project.path)
        monkeypatch.syspath_prepend(project.path)

        def run(*options, file=self.FILE):
            project.write("known.toml", file)
            named = ("--tau-run-name", "r", "--tau-known-failures", "known.toml")
            return project.run("--tau-domain", "mock", "--tau-task", "create-*", *named, *options)

        return run

    def test_it_imports_only_public_names(self):
        tree = ast.parse((EXAMPLES / "known_failures.py").read_text(encoding="utf-8"))
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert {module for module in modules if module.startswith("pytest_tau")} == {"pytest_tau"}

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_a_known_failure_is_expected(self, known, workers):
        run = known("--tau-agent", "noop", *workers)
        run.outcomes(failed=1, xfailed=1)
        run.line("tau: known failures: 'create-with-*' is expected no longer than 2020-02-29")
        run.line("tau: known failures: 'create-tusk' names no task of this run")
        run.lacks("passes now")

    @pytest.mark.parametrize("workers", [(), ("-n", "2")])
    def test_what_passes_is_named_with_its_command_and_noted(self, known, project, workers):
        run = known(*workers)
        run.outcomes(passed=1, xpassed=1)
        run.line("tau: known failures: create-task passes now: pytest 'mock::create-task[trial-0]'")
        info = json.loads((project.path / ".tau/runs/r/run.json").read_text(encoding="utf-8"))
        notes = {"passing": ["create-task"], "unmatched": ["create-tusk"]}
        assert info["capabilities"]["known_failures"]["notes"] == notes

    def test_a_mistake_in_the_file_is_a_usage_error(self, known):
        run = known(file="[[known]]\ntask = 5\n")
        run.usage_error("--tau-known-failures: ", "known.toml: entry 1: task: expected a str, got 5")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_one_runs_its_tasks_in_another_way_too(project, workers):
    """By hooks that the bundled ones use: variants, some of them skipped, trials as they are reported, a last word."""
    project.write(
        "conftest.py",
        """
        import pytest
        from pytest_tau.capability import Capability, TrialStages, run_of

        class Stages(TrialStages):
            def __init__(self, trial):
                self.loud = trial.variant

            def graded(self, simulation):
                return {"loud": self.loud} if self.loud else None

        class Hooks:
            def __init__(self, config):
                self.run, self.loud = run_of(config), 0

            def pytest_tau_plan(self, specs):
                first, *others = specs
                specs.append(first.variant("loud", "loud", 1, skipped=lambda: "not loud: it is the first"))
                specs += [spec.variant("loud", "loud", 2) for spec in others]

            def pytest_collection_modifyitems(self, items):
                trials = [self.run.trial_of(item) for item in items]
                assert all(trial.is_of_task and trial.is_of_domain and not trial.is_restored for trial in trials)
                assert trials[0].command().startswith("pytest ")
                self.run.give("loud", len(trials))

            def pytest_tau_trial_reported(self, report, record):
                self.loud += record.facts.get("loud", {}).get("loud", 0)

            def pytest_sessionfinish(self):
                if not self.run.is_worker:
                    given = self.run.given("loud")
                    self.run.line(f"loud: {self.loud} of {given}, --tau-domain by {self.run.source('domain')}")
                    self.run.fail("too loud")

        def pytest_tau_capabilities():
            return [Capability("loud", trial=Stages, hooks=lambda config, settings: Hooks(config))]
        """,
    )
    run = project.run("--tau-domain", "mock", "--tau-num-tasks", "3", "-rs", *workers)
    run.outcomes(passed=5, skipped=1)
    run.line("tau: loud: 4 of ", str([6] * 2 if workers else [6]), ", --tau-domain by command line")
    run.line("SKIPPED", "not loud: it is the first")
    run.line("tau: the run failed: too loud")
    assert run.ret == 1


def test_a_run_without_trials_has_no_handle(project):
    project.write(
        "conftest.py",
        """
        from pytest_tau import TauError, run_of

        def pytest_configure(config):
            try:
                run_of(config)
            except TauError as error:
                print("refused:", error)
        """,
    )
    project.write("test_plain.py", "def test_plain(): pass")
    run = project.run("-s")
    run.outcomes(passed=1)
    run.line("refused: the run has no trials")


def test_the_hook_may_take_the_configuration(project):
    conftest = CONFTEST.replace("capabilities():", "capabilities(config):\n        assert config.pluginmanager")
    project.write("conftest.py", conftest % "")
    project.run("--tau-domain", "mock", "--tau-task", "create-task", "--junitxml", "j.xml").outcomes(passed=1)


def test_small_numbers_keep_their_digits(project, capsys):
    project.write(
        "conftest.py",
        """
        import os
        from pytest_tau import Capability, FactColumn, TrialStages

        class Stages(TrialStages):
            def graded(self, simulation):
                return {"lag": float(os.environ["LAG"])}

        def pytest_tau_capabilities():
            columns = (FactColumn("lag", label="Lag", metric=True),)
            return [Capability("lags", trial=lambda view: Stages(), columns=columns)]
        """,
    )
    for name, lag in (("a", "0.00007"), ("b", "0.00009")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LAG", lag)
            options = ("--tau-run-name", name, "--tau-gate", "lag<=0.00008", "--tau-html", "r.html")
            run = project.run("--tau-domain", "mock", "--tau-task", "create-*", *options)
    run.line("gate lag <= 8e-05: 9e-05", "missed")
    page = (project.path / "r.html").read_text(encoding="utf-8")
    assert "9e-05" in page
    capsys.readouterr()
    runs = [str(project.path / ".tau" / "runs" / name) for name in ("a", "b")]
    assert main(["export", runs[0], "--format", "csv", "-o", str(project.path / "r.csv")]) == 0
    rows = table(project.path / "r.csv")
    assert {row["lag"] for row in rows} == {"7e-05"}
    assert "progress" in rows[0]  # of a capability that was on
    assert "review_status" not in rows[0]
    assert main(["compare", *runs]) == 0
    assert "lag 7e-05 -> 9e-05" in capsys.readouterr().out


def test_a_capability_of_a_late_conftest_is_refused(project):
    project.write("inside/conftest.py", CONFTEST % "")
    project.write("inside/test_own.py", "def test_own(): pass")
    run = project.run()
    run.line("conftest.py: pytest_tau_capabilities is called before the command line is read: move it to the")


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_one_that_fails_in_every_place_costs_neither_trials_nor_summary(project, workers):
    project.write(
        "conftest.py",
        """
        from pytest_tau import Capability, TrialStages

        class Stages(TrialStages):
            def graded(self, simulation):
                if simulation.task_id.startswith("create-task"):
                    raise SystemExit(3)
                return {"count": 1}

        def broken(*given):
            raise SystemExit(4)

        def pytest_tau_capabilities():
            return [Capability("heard", trial=lambda view: Stages(), summary=broken, failure=broken)]
        """,
    )
    options = ("--tau-domain", "mock", "--tau-task", "create-*", "--tau-agent", "noop", "--tau-html", "r.html")
    run = project.run(*options, *workers)
    run.outcomes(failed=2)
    run.line("  heard", "summary: SystemExit: 4")
    run.line("no facts of 1 of 2 trials: SystemExit: 3")
    run.line("heard: failure: SystemExit: 4")
    (stored,) = project.path.glob(".tau/runs/*/simulations.jsonl")
    assert len(stored.read_text(encoding="utf-8").splitlines()) == 2
    assert (project.path / "r.html").is_file()
    project.run(*options, "-q", *workers).line("tau: heard: no facts of 1 of 2 trials: SystemExit: 3")


@pytest.mark.parametrize(
    ("part", "problem"),
    [
        ("on=broken", "capability 'heard': on: RuntimeError: no idea"),
        ("check=broken", "capability 'heard': check: RuntimeError: no idea"),
        ("hooks=broken", "capability 'heard': hooks: RuntimeError: no idea"),
        ("fixtures=broken", "capability 'heard': fixtures: RuntimeError: no idea"),
    ],
)
def test_one_that_fails_before_the_run_is_a_usage_error(project, part, problem):
    broken = "\n    def broken(*given):\n        raise RuntimeError('no idea')\n"
    project.write("conftest.py", CONFTEST % part + broken)
    project.run("--tau-domain", "mock", "--tau-task", "create-*").usage_error(problem)


@pytest.mark.parametrize("part", ["on=missing", "check=missing", "hooks=missing", "fixtures=missing"])
def test_an_error_of_this_package_before_the_run_is_a_usage_error(project, part):
    missing = """
    def missing(*given):
        from pytest_tau.errors import ConfigurationError
        raise ConfigurationError('install the package x')
    """
    project.write("conftest.py", CONFTEST % part + missing)
    project.run("--tau-domain", "mock", "--tau-task", "create-*").usage_error("install the package x")
