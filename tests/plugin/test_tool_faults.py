"""--tau-tool-faults: usage errors, reports, workers, resuming, comparison with a run without faults, own loops."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from pytest_tau.cli import main

#: An agent that tries a call up to three times.
PATIENT = """
from pytest_tau.testing import call

WANTED = call("create_task", user_id="user_1", title="Buy milk")

class it:
    def __init__(self):
        self.tries = 0

    def respond(self, message):
        failed = message.role == "tool" and message.error
        if self.tries == 0 or (failed and self.tries < 3):
            self.tries += 1
            return WANTED
        return "Done."
"""
IMPATIENT = PATIENT.replace("self.tries < 3", "False")
IDS = tuple(f"task-{number}" for number in range(8))


@pytest.fixture
def run_faulty(project, a_task):
    def run(*args, agent=PATIENT):
        project.write("parts.py", agent)
        project.tasks("mock/t.tau.json", [a_task(one) for one in IDS])
        return project.run("--tau-agent", "parts.py:it", "--tau-user", "gold", *args)

    return run


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_summary_and_the_stored_run_have_the_faults(run_faulty, project, workers):
    run = run_faulty("--tau-tool-faults", "create_*:0.5", "--tau-results", "runs", "--tau-html", "r.html", *workers)
    line = run.line("tool faults ", " calls met a fault (", " error), in ", " of 8 trials")
    (folder,) = (project.path / "runs").iterdir()
    info = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert info["settings"]["tool_faults"] == ["create_*:0.5"]
    assert "tool faults create_*:0.5" in info["comparability"]["deviations"]
    entries = [json.loads(each) for each in (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()]
    faults = [fault for each in entries for fault in each["facts"]["tool_faults"]["faults"]]
    assert f" {len(faults)} of " in line
    assert len(faults) > 0
    assert {fault["kind"] for fault in faults} == {"error"}
    assert "tool faults create_*:0.5" in run.line("tau: ", "seed 300")
    assert "create_*:0.5" in (project.path / "r.html").read_text(encoding="utf-8")


def test_workers_and_one_process_meet_the_same_faults(run_faulty, project):
    found = []
    for name, workers in (("one", ()), ("two", ("-n", "2"))):
        run_faulty("--tau-tool-faults", "create_*:0.5", "--tau-results", name, *workers)
        (folder,) = (project.path / name).iterdir()
        lines = [json.loads(each) for each in (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()]
        found.append({each["task_id"]: each["facts"]["tool_faults"] for each in lines})
    assert found[0] == found[1]


def test_the_failure_report_and_the_command_name_them(run_faulty):
    run = run_faulty("--tau-tool-faults", "create_*:1")
    run.outcomes(failed=8)
    run.line("tool faults: message 2 create_task (error), message 4 create_task (error)")
    run.line("again: pytest", "--tau-tool-faults", "create_*:1")
    run.line("tool faults    24 of 24 calls met a fault (24 error), in 8 of 8 trials; 0 of 8 with a fault passed")


def test_two_rules(run_faulty):
    run = run_faulty("--tau-tool-faults", "get_*:1", "--tau-tool-faults", "*:timeout=1")
    run.line("24 of 24 calls met a fault (24 timeout)")


def test_an_ini_key(run_faulty, project):
    project.ini("tau_tool_faults = create_*:1")
    run_faulty().line("24 of 24 calls met a fault (24 error)")


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ("craete_*:0.1", "unknown tool of the agent 'craete_*'"),
        ("create_*:slow=1", "unknown kind 'slow'"),
        ("create_*:2", "expected a rate from 0 to 1, got '2'"),
        ("create_*", "expected PATTERN:RATE"),
    ],
)
def test_a_rule_that_cannot_be_used_is_a_usage_error(run_faulty, project, rule, problem):
    run_faulty("--tau-tool-faults", rule).usage_error("--tau-tool-faults: ", problem)


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_pattern_without_a_tool_is_a_usage_error_for_a_domain(project, workers):
    run = project.run("--tau-domain", "mock", "--tau-tool-faults", "nothing_*:0.1", *workers)
    run.usage_error("--tau-tool-faults: ", "unknown tool of the agent 'nothing_*'")


def test_a_run_is_resumed_with_the_same_faults_only(run_faulty, project):
    run_faulty("--tau-tool-faults", "create_*:0.5", "--tau-results", "runs")
    (folder,) = (project.path / "runs").iterdir()
    run = run_faulty("--tau-resume", str(folder))
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.line('tool_faults: ["create_*:0.5"] in the earlier run, null now')
    again = run_faulty("--tau-resume", str(folder), "--tau-tool-faults", "create_*:0.5")
    again.line("tool faults ", "in ", " of 8 trials")


def test_a_run_without_faults_is_the_baseline_and_the_comparison_is_paired(run_faulty, project, capsys):
    run_faulty("--tau-results", "clean", agent=IMPATIENT).outcomes(passed=8)
    (clean,) = (project.path / "clean").iterdir()
    options = ("--tau-tool-faults", "create_*:1", "--tau-results", "faulty", "--tau-baseline", str(clean))
    run = run_faulty(*options, agent=IMPATIENT)
    run.line("pass^1 without -> with tool faults 1.000 -> 0.000: -1.000 (95 % interval")
    run.line("not the same in both runs: tool faults (none and create_*:1)")
    (faulty,) = (project.path / "faulty").iterdir()
    capsys.readouterr()
    main(["compare", str(faulty), str(clean)])
    assert "pass^1 with -> without tool faults 0.000 -> 1.000" in capsys.readouterr().out


def test_csv_and_regrading(run_faulty, project, capsys):
    run_faulty("--tau-tool-faults", "create_*:0.4,partial=0.3", "--tau-results", "runs")
    (folder,) = (project.path / "runs").iterdir()
    assert main(["export", str(folder), "--format", "csv", "-o", str(project.path / "runs.csv")]) == 0
    with (project.path / "runs.csv").open(encoding="utf-8") as file:
        counts = [int(row["tool_faults"]) for row in csv.DictReader(file)]
    assert sum(counts) > 0
    capsys.readouterr()
    assert main(["regrade", str(folder)]) == 0
    assert "8 agree" in capsys.readouterr().out


def test_an_agent_on_its_own_loop_meets_them(run_faulty):
    agent = """
    import pytest_tau

    @pytest_tau.own_loop
    def it(trial):
        tool = next(tool for tool in trial.tools if tool.name == "create_task")

        def run(text):
            for _ in range(3):
                result = tool.call(user_id="user_1", title="Buy milk")
            return "Done: " + result
        return run
    """
    run = run_faulty("--tau-tool-faults", "create_*:1", agent=agent)
    run.outcomes(failed=8)
    run.line("24 of 24 calls met a fault (24 error)")
    run.lacks("outside of the conversation")


@pytest.mark.parametrize("rules", ["*:0.3", "*:partial=0.3,stale=0.4,timeout=0.3"])
def test_a_continued_conversation_meets_the_faults_of_its_calls_numbers(project, rules):
    """The first trial has the seed of the stored one, so that the same agent has the same conversation."""
    task = ("--tau-domain", "airline", "--tau-task", "cancel-fresh-booking", "--tau-agent", "rules")
    task = (*task, "--tau-tool-faults", rules, "--tau-seed", "2")
    project.run(*task, "--tau-run-name", "lost")
    project.run(*task, "--tau-fork", "lost", "--tau-run-name", "again")
    (before,), again = (
        [
            json.loads(line)
            for line in (project.path / ".tau/runs" / name / "simulations.jsonl").read_text().splitlines()
        ]
        for name in ("lost", "again")
    )
    assert before["facts"]["tool_faults"]["faults"]
    said = [(each["role"], each["content"], each.get("fault")) for each in before["messages"]]
    assert len(again) > 2
    for found in again:
        assert [(each["role"], each["content"], each.get("fault")) for each in found["messages"]] == said


@pytest.mark.exhaustive
def test_the_example_of_the_page(project):
    options = ("--tau-domain", "retail", "--tau-agent", "rules", "--tau-num-tasks", "30", "--tau-results", "runs")
    project.run(*options, "--tau-run-name", "clean").outcomes(passed=30)
    clean = str(project.path / "runs" / "clean")
    run = project.run(*options, "--tau-tool-faults", "*:0.1,timeout=0.1", "--tau-baseline", clean)
    page = " ".join((Path(__file__).parents[2] / "docs" / "attacks.md").read_text(encoding="utf-8").split())
    for start in ("tau:  tool faults    ", "tau: pass^1 without -> with tool faults "):
        assert run.line(start).removeprefix("tau:  tool faults    ") in page


@pytest.mark.exhaustive
def test_the_example_of_the_page_on_ci(project):
    options = ("--tau-domain", "retail", "--tau-agent", "rules", "--tau-num-tasks", "30", "--tau-results", "runs")
    project.run(*options, "--tau-run-name", "baseline")
    baseline = str(project.path / "runs" / "baseline")
    project.run(*options, "--tau-baseline", baseline, "--tau-markdown", "page.md")
    first = (project.path / "page.md").read_text(encoding="utf-8").splitlines()[2]
    page = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
    assert first.startswith("- no detectable change against baseline; a loss above ")
    assert f"> {first.replace('-&gt;', '->')}" in page


def test_the_page_of_a_run_says_first_whether_it_has_changed(run_faulty, project):
    run_faulty("--tau-results", "clean").outcomes(passed=8)
    (clean,) = (project.path / "clean").iterdir()
    run_faulty("--tau-baseline", str(clean), "--tau-markdown", "same.md")
    text = (project.path / "same.md").read_text(encoding="utf-8")
    assert (
        f"- no detectable change against {clean.name}; a loss above 0.722 would have been seen, at 80 % power (" in text
    )
    options = ("--tau-tool-faults", "create_*:1", "--tau-markdown", "worse.md")
    run_faulty("--tau-baseline", str(clean), *options)
    text = (project.path / "worse.md").read_text(encoding="utf-8")
    assert f"- a significant loss against {clean.name}: pass^1 1.000 -&gt; 0.000" in text
    assert "| tool faults | 24 of 24 calls met a fault" in text
