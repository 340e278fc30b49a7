"""The rule-based agents in ticks: ``python -m benchmarks.voice [--domain NAME …]``.

Each row is a domain in turns (``text``) or under one of the conditions of ``--tau-mode voice``: the tasks that the
agent passes, the simulated minutes of talk, the milliseconds of processor time of a conversation with its grading, and
how many conversations that is in a minute on one core. The seed is fixed.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONDITIONS = ("text", "control", "regular", "busy")
_SEED = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", metavar="NAME", help="a domain with an agent 'rules'")
    given = parser.parse_args(arguments)
    print(f"{'domain':<10}{'conditions':<12}{'tasks':>6}{'passed':>8}{'talk min':>10}{'ms':>8}{'a minute':>10}")
    for name in given.domain or ("retail", "airline"):
        domain = pytest_tau.load_domain(name)
        tasks = [task for task in domain.tasks() if not task.needs_judge]
        for conditions in _CONDITIONS:
            in_ticks = capability.with_settings(mode="voice", voice_conditions=conditions)
            settings = SimulationSettings(capabilities=() if conditions == "text" else (in_ticks,))
            # The first one reads the domain's data and imports what it needs.
            pytest_tau.simulate(tasks[0], domain=domain, agent="rules", user="scripted", seed=_SEED, settings=settings)
            begun = time.process_time()
            found = [
                pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted", seed=_SEED, settings=settings)
                for task in tasks
            ]
            seconds = (time.process_time() - begun) / len(found)
            facts = [read for each in found if (read := capability.read(each.facts)) is not None]
            talk = sum(each.ticks * each.tick_seconds for each in facts) / 60
            passed = sum(each.outcome == "passed" for each in found)
            row = f"{name:<10}{conditions:<12}{len(found):>6}{passed:>8}{talk:>10.0f}"
            print(f"{row}{seconds * 1000:>8.1f}{60 / seconds:>10.0f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
