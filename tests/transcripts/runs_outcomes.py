"""Outcomes of trials, their reports, and usage errors."""

from __future__ import annotations

import json

from .projects import scripted, task, tasks
from .running import Run

SMALL = "pytest --tau-domain mock --tau-split small"
KINDS = ("good-1", "bad-1", "wrong-1", "lost-1", "raises-1", "empty-1")
REPORTS = "--junitxml=junit.xml --tau-markdown=page.md --tau-html=report.html"
EVERYTHING = {
    "mock/tagged.tau.json": json.dumps(
        [task("good-tagged", annotations={"tags": ["easy"]}), task("bad-tagged", annotations={"tags": ["easy", "new"]})]
    )
}

RUNS = [
    Run("passed", (SMALL,), full=True),
    Run("passed_verbose", (SMALL + " -v",)),
    Run("passed_quiet", (SMALL + " -q",)),
    Run("passed_reports", (f"{SMALL} --tau-trials 2 {REPORTS}",)),
    Run("failed", (SMALL + " --tau-agent noop",), full=True),
    Run("failed_line", (SMALL + " --tau-agent noop --tb=line",)),
    Run("outcomes", (f"pytest {REPORTS} -rfEs",), scripted(*KINDS), full=True),
    Run("outcomes_verbose", ("pytest -vv --tb=short -rA",), scripted(*KINDS)),
    Run("outcomes_quiet", ("pytest -q --tb=no", "pytest -qq --tb=no -rN"), scripted(*KINDS)),
    Run(
        "outcomes_grouped",
        ("pytest -v --tb=no --tau-trials 4 --tau-group-by tags,actions,persona --tau-grading strict",),
        scripted(*KINDS, "flaky-1", **EVERYTHING),
    ),
    Run(
        "outcomes_github",
        (
            "pytest --tau-markdown - --tb=no -q",
            "GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=step.md pytest --tau-markdown=- --tb=no -q",
        ),
        scripted("good-1", "bad-1", "lost-1", **{"step.md": "before\n"}),
    ),
    Run(
        "limits",
        (
            "pytest --tau-max-steps 3 --tb=short",
            "pytest --tau-domain mock --tau-task create-task --tau-agent saboteur:loops --tau-max-errors 2 --tb=short",
        ),
        scripted("good-1"),
    ),
    Run(
        "mistakes_in_names",
        (
            "pytest --tau-domain mok",
            "pytest --tau-domain mock --tau-split smal",
            "pytest --tau-domain mock --tau-task create-tusk",
            "pytest --tau-domain mock --tau-agent glod",
            "pytest --tau-domain mock --tau-agent parts.py:Agnet",
            "pytest --tau-domain mock --tau-user dumy",
            "pytest --tau-domain mock --tau-judge acept",
            "pytest --tau-domain mock --tau-policy-variant work",
            "pytest --tau-domain mock --tau-group-by intnet",
            "pytest mock::nonesuch[trial-0]",
        ),
        scripted("good-1"),
    ),
    Run(
        "mistakes_in_values",
        (
            "pytest --tau-trials 0",
            "pytest --tau-seed x",
            "pytest --tau-timeout soon",
            "pytest --tau-shard 3/2",
            "pytest --tau-snapshot=call",
            "pytest --tau-grading lenient",
            "pytest --tau-data nowhere",
            "pytest --tau-gate pas^1>=0.8",
            "pytest --tau-stop-early",
            "pytest --tau-fail-on regression",
            "pytest --tau-baseline nowhere",
            "pytest --tau-rerun failed",
            "pytest --tau-resume nowhere",
            "pytest --tau-quarantine nowhere.toml",
            "pytest --tau-budget much",
            "pytest --tau-record=some",
            "pytest --tau-agent-llm-args {",
            "pytest --tau-agent llm",
            {"pytest.ini": "[pytest]\ntau_trials = many\n"},
            "pytest",
        ),
        scripted("good-1"),
    ),
    Run(
        "mistakes_in_files",
        (
            "pytest",
            {"mock/t.tau.json": json.dumps([task(remark="?")])},
            "pytest",
            {"mock/t.tau.json": tasks("twin", "twin")},
            "pytest",
            {"mock/t.tau.json": json.dumps([task(criteria={"reward_basis": ["COMUNICATE"]})])},
            "pytest",
            {"mock/t.tau.json": json.dumps([])},
            "pytest mock/t.tau.json",
            {"mock/t.tau.json": json.dumps({"domain": "mocc", "tasks": [task()]})},
            "pytest",
        ),
        {"mock/t.tau.json": "[{"},
    ),
]
