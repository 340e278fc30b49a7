"""What decides of a run besides single trials: gates, a baseline, snapshots, quarantine."""

from __future__ import annotations

from .projects import scripted, tasks
from .running import Run

TWELVE = [f"lucky-{number}" for number in range(8)] + [f"good-{number}" for number in range(4)]
ONE_UNLUCKY = ["lucky-0", *(f"good-{number}" for number in range(11))]
QUARANTINE = """
    [[quarantine]]
    task = "bad-*"
    reason = "the policy is wrong"
    link = "https://x.test/1"
    until = 2999-12-31

    [[quarantine]]
    task = "good-1"
    reason = "passes by now"
    domain = "mock"

    [[quarantine]]
    task = "wrong-1"
    reason = "has expired"
    until = 2020-02-29

    [[quarantine]]
    task = "god-1"
    reason = "is not a task"
"""
OWN_SNAPSHOT = """
    import pytest


    @pytest.mark.tau(domain="mock", tasks="create-task")
    def test_trajectory(tau_simulation, tau_snapshot):
        assert tau_simulation == tau_snapshot
        assert tau_simulation == tau_snapshot(selection={"database"}, name="state")
"""

RUNS = [
    Run(
        "gate_met",
        ("pytest --tau-gate pass^1>=0.5 --tau-gate mock:errors<=0.3 --tau-markdown=page.md --junitxml=junit.xml",),
        scripted("good-1", "good-2", "bad-1", "lost-1"),
    ),
    Run("gate_met_verbose", ("pytest --tau-gate pass^1>=0.1 -v -rx",), scripted("good-1", "bad-1", "lost-1")),
    Run(
        "gate_missed",
        ("pytest --tau-gate pass^2>=0.9 --tau-trials 2 --tau-markdown=page.md",),
        scripted("good-1", "bad-1"),
    ),
    Run(
        "gate_errors",
        (
            "pytest --tau-gate pass^1>=1",
            "pytest --tau-gate pass^1>=1 --tau-gate errors<=0 --tb=no",
            "pytest --tau-gate pass^4>=0 -q",
        ),
        scripted("good-1", "good-2", "lost-1"),
    ),
    Run(
        "gate_stop_early",
        (
            "pytest --tau-gate pass^1>=0.8 --tau-stop-early --tb=no -rs",
            {"mock/t.tau.json": tasks(*(f"good-{number}" for number in range(10)))},
            "pytest --tau-gate pass^1>=0.5 --tau-stop-early --tb=no -v",
        ),
        scripted(*(f"bad-{number}" for number in range(10))),
    ),
    Run(
        "baseline",
        (
            "pytest -q",
            "tau bless",
            "UNLUCKY=1 pytest --tau-baseline baseline --tb=no --tau-markdown=page.md",
            {"mock/t.tau.json": tasks(*TWELVE[2:], "new-1")},
            "pytest --tau-baseline baseline --tb=no",
        ),
        scripted(*TWELVE),
    ),
    Run(
        "baseline_regression",
        (
            "pytest -q",
            "tau bless",
            "UNLUCKY=1 pytest --tau-baseline baseline --tau-fail-on regression",
        ),
        scripted(*TWELVE),
    ),
    Run(
        "baseline_no_regression",
        (
            "pytest -q",
            "tau bless -o baseline",
            "UNLUCKY=1 pytest --tau-baseline baseline --tau-fail-on regression --tau-gate pass^1>=0.5",
        ),
        scripted(*ONE_UNLUCKY),
    ),
    Run(
        "snapshots",
        (
            "pytest -p syrupy --tau-snapshot",
            "pytest -p syrupy --tau-snapshot --snapshot-update",
            "pytest -p syrupy --tau-snapshot",
        ),
        scripted("good-1", "bad-1"),
    ),
    Run(
        "snapshot_differs",
        (
            "UNLUCKY= pytest -p syrupy --tau-snapshot=messages --snapshot-update -q",
            {"mock/__snapshots__/t.tau/good-1[trial-0].tausnap": "conversation\n  agent: Hello.\n"},
            "pytest -p syrupy --tau-snapshot=messages",
            "pytest -p syrupy --tau-snapshot=messages --snapshot-update",
        ),
        scripted("good-1"),
    ),
    Run(
        "snapshot_unused",
        (
            "pytest -p syrupy --tau-snapshot --snapshot-update -q",
            {"mock/t.tau.json": tasks("good-1")},
            "pytest -p syrupy --tau-snapshot",
            "pytest -p syrupy --tau-snapshot -k good",
            "pytest -p syrupy --tau-snapshot --snapshot-update",
        ),
        scripted("good-1", "good-2"),
    ),
    Run(
        "snapshot_of_own_test",
        ("pytest -p syrupy --assert=rewrite", "pytest -p syrupy --snapshot-update", "pytest -p syrupy"),
        {"test_own.py": OWN_SNAPSHOT},
    ),
    Run(
        "quarantine",
        (
            "pytest --tau-quarantine q.toml -rxX --tau-markdown=page.md --junitxml=junit.xml",
            "pytest --tau-quarantine q.toml -v --tb=no",
        ),
        scripted("good-1", "bad-1", "bad-2", "wrong-1", "good-2", **{"q.toml": QUARANTINE}),
    ),
    Run(
        "quarantine_mistakes",
        (
            "pytest --tau-quarantine q.toml",
            {"q.toml": '[[quarantine]]\ntask = "a"\nreason = "x"\nowner = "me"\n'},
            "pytest --tau-quarantine q.toml",
        ),
        scripted("good-1", **{"q.toml": '[[quarantine]]\ntask = "a"\n'}),
    ),
]
