"""Unit costs of the harness, without any model.

    python -m benchmarks [--data DIR] [--domain NAME …] [--repeat N] [--json FILE]

For each domain: making an environment, the gold conversation with its grading, and grading alone (by replay), each as
the median over the base tasks, in milliseconds. The first run of each task, which computes the state after its
reference actions, is left out. Read the figures beside each other, on an idle machine: they are costs of this code on
that machine, and none of a model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_tau import Evaluation, SimulationSettings, asimulate, evaluate, load_domain
from pytest_tau.evaluation import BUILT_IN_JUDGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau import Domain, Task

DOMAINS = ("mock", "airline", "retail", "telecom")


def milliseconds(work: Callable[[], Any]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def costs_of(domain: Domain, repeat: int) -> dict[str, float]:
    """Median costs over the base tasks, in milliseconds, and how many tasks there are."""
    judge = BUILT_IN_JUDGES["accept"]
    settings = SimulationSettings(evaluation=Evaluation(judge=judge))
    loop = asyncio.new_event_loop()

    def simulate(task: Task) -> Any:
        return loop.run_until_complete(asimulate(task, domain=domain, agent="gold", settings=settings))

    environments, simulations, gradings = [], [], []
    tasks = domain.tasks()
    for task in tasks:
        messages = simulate(task).messages
        environments += [milliseconds(lambda: domain.environment(task)) for _ in range(repeat)]  # noqa: B023
        simulations += [milliseconds(lambda: simulate(task)) for _ in range(repeat)]  # noqa: B023
        gradings += [milliseconds(lambda: evaluate(task, messages, domain=domain)) for _ in range(repeat)]  # noqa: B023
    loop.close()
    return {
        "tasks": len(tasks),
        "environment": statistics.median(environments),
        "simulation": statistics.median(simulations),
        "grading": statistics.median(gradings),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="official data (default: bundled)")
    parser.add_argument("--domain", action="append", choices=DOMAINS)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each task (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures to a file, too")
    options = parser.parse_args()
    figures = {name: costs_of(load_domain(name, options.data), options.repeat) for name in options.domain or DOMAINS}
    print(f"{'domain':<10}{'tasks':>6}{'environment':>14}{'simulation':>14}{'grading':>12}   (median, ms)")
    for name, costs in figures.items():
        row = f"{costs['environment']:>14.3f}{costs['simulation']:>14.3f}{costs['grading']:>12.3f}"
        print(f"{name:<10}{costs['tasks']:>6}{row}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
