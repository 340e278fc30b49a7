"""What is selected, and runs that end before everything was run."""

from __future__ import annotations

from .projects import scripted, stopped
from .running import Run

SMALL = "pytest --tau-domain mock --tau-split small"
STOPPED = ("good-1", "bad-1", "stop-1", "good-2")
PLAIN = {"test_plain.py": "def test_plain():\n    pass\n"}

RUNS = [
    Run(
        "help",
        ("pytest --help", "pytest --markers"),
        keep=r"^agent evaluation[\s\S]*?\n\n|^  tau_[\s\S]*?(?=\n  \w|\n\n)|^@pytest.mark.tau.*",
    ),
    Run(
        "exitfirst", ("pytest -x --tb=no", "pytest --maxfail 2 --tb=no"), scripted("good-1", "bad-1", "bad-2", "good-2")
    ),
    Run(
        "last_failed",
        ("pytest --tb=no -q", "pytest --lf --tb=no -v", "pytest --ff --tb=no -v"),
        scripted("good-1", "bad-1", "good-2"),
    ),
    Run(
        "collect_only",
        (SMALL + " --collect-only", "pytest --collect-only -q --tau-trials 2"),
        scripted("good-1", **PLAIN),
    ),
    Run(
        "deselected",
        (
            "pytest -k good",
            "pytest -k nonesuch",
            "pytest --deselect mock/t.tau.json::bad-1[trial-0] --tau-trials 2 -q",
            "pytest mock/t.tau.json::good-1[trial-0] -v",
            "pytest mock::create-task -v",
            "pytest --tau-num-tasks 1 --tau-task *-1 -v",
        ),
        scripted("good-1", "bad-1"),
    ),
    Run(
        "shards",
        ("pytest --tau-shard 1/2 -v", "pytest --tau-shard 2/2 -v --tau-trials 3"),
        scripted("good-1", "good-2", "good-3"),
    ),
    Run("interrupted", ("STOP=early pytest --tb=no --junitxml=junit.xml",), stopped(*STOPPED)),
    Run(
        "interrupted_concurrency",
        ("STOP=late pytest --tb=no --tau-concurrency 2 --tau-results none",),
        stopped("stop-1", "stop-2"),
    ),
    Run(
        "resumed",
        (
            "STOP=early pytest --tb=no",
            "pytest --tau-resume --tb=short --junitxml=junit.xml",
            "pytest --tau-resume --tb=no -q --tau-trials 2",
        ),
        stopped(*STOPPED),
    ),
    Run(
        "rerun",
        (
            "UNLUCKY=1 pytest --tb=no -q",
            "FOUND=1 pytest --tau-resume --tau-rerun error --tb=no -v",
            "FOUND=1 pytest --tau-resume --tau-rerun failed,error --tb=no -v",
        ),
        scripted("good-1", "bad-1", "lucky-1", "lost-1"),
    ),
    Run(
        "resume_refused",
        (
            "pytest -q",
            "pytest --tau-resume --tau-agent noop",
            {"mock/t.tau.json": scripted("good-1")["mock/t.tau.json"].replace("Have", "Please have")},
            "pytest --tau-resume",
            "pytest --tau-resume --tau-rerun passed",
        ),
        scripted("good-1"),
    ),
    Run("nothing_of_ours", ("pytest", "pytest -v"), {**PLAIN, "pytest.ini": "[pytest]\ntau_agent = nonesuch\n"}),
    Run("results_elsewhere", ("pytest -q --tau-results kept", "pytest -q --tau-results none"), scripted("good-1")),
]
