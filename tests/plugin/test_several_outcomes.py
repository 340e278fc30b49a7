"""Tasks with several right outcomes: runs, their reports, the commands on them, and refusals."""

from __future__ import annotations

import csv
import json

import pytest

from pytest_tau.cli import main

from .test_html_report import conversations

WORKERS = [(), ("-n", "2")]
#: An agent that makes the tasks which the id of its task names, each in a call.
AGENT = """
from pytest_tau.testing import ScriptedParticipant, call

class it(ScriptedParticipant):
    def __init__(self, task):
        titles = task.id.split("-")
        super().__init__([*(call("create_task", user_id="user_1", title=title) for title in titles), "Done."])
"""


def write(title, **changes):
    return {"action_id": title, "name": "create_task", "arguments": {"user_id": "user_1", "title": title} | changes}


def criteria(*outcomes, basis=("DB", "ACTION")):
    return {"actions": [write("milk")], "outcomes": [*outcomes], "reward_basis": [*basis]}


BREAD = {"actions": [write("bread")], "why": "either is breakfast"}
BOTH = {"actions": [write("eggs"), write("bacon")], "why": "so is this"}


@pytest.fixture
def run_tasks(project, a_task):
    """Runs a task for each id, which says what the agent makes."""

    def run(*args, ids=("milk", "bread", "eggs-bacon", "eggs", "tea")):
        project.write("parts.py", AGENT)
        project.tasks("mock/t.tau.json", [a_task(each, criteria=criteria(BREAD, BOTH)) for each in ids])
        return project.run("--tau-agent", "parts.py:it", "--tau-user", "gold", *args)

    return run


@pytest.mark.parametrize("workers", WORKERS)
def test_any_outcome_passes_and_the_summary_says_which(run_tasks, workers):
    run = run_tasks(*workers)
    run.outcomes(passed=3, failed=2)
    run.line("other outcomes bread outcome 0 (1), eggs-bacon outcome 1 (1)")


def test_a_failure_is_shown_against_the_nearest_outcome(run_tasks):
    run = run_tasks("--tau-partial", ids=("eggs", "tea"))
    run.line("partial credit: progress 0.50, state 0.50, actions 0.50")
    run.line("the nearest right outcome: outcome 1 (so is this)")
    run.line('turning point: not made: create_task(user_id="user_1", title="bacon")')
    run.lacks("other outcomes")


def test_the_turning_point_is_that_of_the_nearest_outcome(run_tasks):
    run = run_tasks(ids=("eggs",))
    run.line("turning point: ", "bacon")
    run.lacks("milk")


def test_differences_are_from_the_nearest_outcome(project, a_task):
    project.write("parts.py", AGENT)
    project.tasks("mock/t.tau.json", [a_task("eggs-ham", criteria=criteria(BREAD, BOTH, basis=("DB",)))])
    run = project.run("--tau-agent", "parts.py:it", "--tau-user", "gold")
    run.line("the nearest right outcome: outcome 1 (so is this)")
    run.line("tasks/task_4/title", 'expected "bacon"', 'got "ham"')


def test_records_pages_and_regrading_say_which(run_tasks, project, capsys, tmp_path):
    run_tasks("--tau-results", "one", "--tau-html", "page.html")
    page = json.dumps(conversations(project.path / "page.html"))
    assert "the databases end in the state that the actions of outcome 0 (either is breakfast) produce" in page
    assert "Right outcome 1" in page
    (run,) = (project.path / "one").iterdir()
    capsys.readouterr()
    assert main(["export", str(run), "--format", "csv", "-o", str(tmp_path / "runs.csv")]) == 0
    with (tmp_path / "runs.csv").open(encoding="utf-8") as file:
        rows = {row["task_id"]: row["reached_outcome"] for row in csv.DictReader(file)}
    assert rows == {"milk": "", "bread": "0", "eggs-bacon": "1", "eggs": "", "tea": ""}
    capsys.readouterr()
    assert main(["regrade", str(run), "--json"]) == 0
    (document,) = json.loads(capsys.readouterr().out)["files"]
    checks = {result["task_id"]: result["checks"].get("outcome") for result in document["results"]}
    assert checks == {
        "milk": None,
        "bread": {"position": 0, "why": "either is breakfast", "reached": True},
        "eggs-bacon": {"position": 1, "why": "so is this", "reached": True},
        "eggs": {"position": 1, "why": "so is this", "reached": False},
        "tea": None,
    }
    assert document["differ"] == 0


def test_an_export_keeps_the_actions_and_names_the_tasks_whose_verdict_differs(run_tasks, project, capsys, tmp_path):
    run_tasks("--tau-results", "one")
    (run,) = (project.path / "one").iterdir()
    capsys.readouterr()
    target = tmp_path / "tau2.json"
    assert main(["export", str(run), "--format", "tau2", "-o", str(target)]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "mock: trials of bread, eggs-bacon earned their reward by another right outcome" in said
    written = json.loads(target.read_text(encoding="utf-8"))
    assert "outcomes" not in json.dumps(written["tasks"])
    assert all(task["evaluation_criteria"]["actions"][0]["action_id"] == "milk" for task in written["tasks"])
    verdicts = {each["task_id"]: each["reward_info"] for each in written["simulations"]}
    assert "outcome" not in verdicts["bread"]
    assert verdicts["bread"]["info"]["pytest_tau"]["outcome"]["position"] == 0


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize(
    ("wrong", "field", "told"),
    [
        (write("x", titel="y"), "outcomes.0.actions.0.arguments", "unknown argument"),
        (write("x", user_id="nobody"), "outcomes.0.actions.0", "an action of another right outcome fails"),
    ],
)
def test_a_run_refuses_outcomes_that_cannot_be_carried_out(project, a_task, wrong, field, told, workers):
    project.tasks("mock/t.tau.json", [a_task(criteria=criteria({"actions": [wrong], "why": "x"}))])
    run = project.run("--tau-agent", "noop", *workers)
    run.line(f"evaluation_criteria.{field}", told) if field.endswith("arguments") else run.line(told)
    assert f"evaluation_criteria.{field}" in run.text
    assert run.ret != pytest.ExitCode.OK


def test_lint_refuses_what_is_not_proved(project, a_task, capsys):
    same = {"actions": [write("milk")], "why": "x"}
    file = project.tasks("mock/t.tau.json", [a_task(criteria=criteria(BREAD, same))])
    file = file or project.path / "mock/t.tau.json"
    capsys.readouterr()
    assert main(["lint", str(project.path / "mock/t.tau.json"), "--domain", "mock"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "bad-outcome: 1 buy-milk: outcome 1: it leads to the same state as the reference actions" in out
