"""Runs with models: costs, budget, dry runs, cassettes, a judge."""

from __future__ import annotations

import json

from .projects import modelled, task, tasks
from .running import Run

JUDGED = json.dumps([task(criteria={"nl_assertions": ["It is polite."], "reward_basis": ["DB", "NL_ASSERTION"]})])

RUNS = [
    Run(
        "models",
        ("pytest --junitxml=junit.xml --tau-markdown=page.md", "pytest -v", "pytest -q"),
        modelled("one", "two"),
    ),
    Run("model_down", ("DOWN=1 pytest --junitxml=junit.xml",), modelled("one", "two")),
    Run(
        "judge",
        (
            "pytest",
            "pytest --tau-judge-llm fake/judge",
            "UNMET=1 pytest --tau-judge-llm fake/judge --tb=short",
            "pytest --tau-judge accept",
        ),
        {**modelled(), "mock/t.tau.json": JUDGED},
    ),
    Run(
        "budget",
        ("pytest --tau-budget 2 -rs", "pytest --tau-budget 0 -q", "pytest --tau-budget 10 -q"),
        modelled("one", "two", "three"),
    ),
    Run(
        "dry_run",
        (
            "pytest --tau-dry-run --tau-trials 3",
            "pytest -q --tau-task one",
            "pytest --tau-dry-run --tau-trials 3",
            "pytest --tau-dry-run --tau-resume",
            "pytest --tau-dry-run --tau-agent gold",
        ),
        modelled("one", "two"),
    ),
    Run("record", ("pytest --tau-record", "pytest --tau-record"), modelled("one"), full=True),
    Run(
        "replay",
        (
            "pytest -q --tau-record",
            "DOWN=1 pytest --tau-replay",
            {"mock/t.tau.json": tasks("one", "two").replace("Have", "Please have", 1)},
            "pytest --tau-replay",
            "pytest --tau-record=all --tau-cassettes tapes -q",
        ),
        modelled("one"),
    ),
]
