"""Over workers, and several conversations at the same time."""

from __future__ import annotations

from .projects import modelled, scripted
from .running import Run
from .runs_agents import OWN
from .runs_verdicts import QUARANTINE

KINDS = ("good-1", "bad-1", "lost-1", "raises-1")
REPORTS = "--junitxml=junit.xml --tau-markdown=page.md --tau-html=report.html"

RUNS = [
    Run("workers", (f"pytest -n 2 --tau-trials 2 {REPORTS}",), scripted(*KINDS), unordered=True),
    Run(
        "workers_loadscope",
        ("pytest -n 2 --dist loadscope -v --tb=short",),
        {**scripted(*KINDS), "mock/u.tau.json": scripted("good-2")["mock/t.tau.json"], "test_own.py": OWN},
        unordered=True,
    ),
    Run(
        "workers_verdicts",
        (
            "pytest -q --tb=no --tau-run-name first",
            "tau bless",
            "pytest -n 2 --tau-gate pass^1>=0.9 --tau-baseline baseline --tau-quarantine q.toml --tb=no",
        ),
        scripted("good-1", "bad-1", "wrong-1", **{"q.toml": QUARANTINE}),
        unordered=True,
    ),
    Run(
        "workers_resumed",
        ("pytest -q --tb=no", "pytest -n 2 --tau-resume --tau-trials 2 --tb=no"),
        scripted("good-1", "bad-1"),
        unordered=True,
    ),
    Run("workers_crash", ("pytest -n 2 --tb=short",), scripted("good-1", "crash-1", "good-2"), unordered=True),
    Run("workers_models", ("pytest -n 2 --tau-record", "pytest --tau-replay"), modelled("one", "two"), unordered=True),
    Run("concurrency", (f"pytest --tau-concurrency 4 --tau-trials 2 {REPORTS}",), scripted(*KINDS), unordered=True),
    Run(
        "concurrency_verbose",
        ("pytest --tau-concurrency 4 -v --tb=no",),
        {**scripted(*KINDS), "test_own.py": OWN},
        unordered=True,
    ),
]
