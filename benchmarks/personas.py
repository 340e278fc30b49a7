"""The rule-based agents with difficult users: ``python -m benchmarks.personas [--domain NAME …]``.

Each row is a domain, each column a behaviour of the scripted user (``--tau-user-persona behaviour=NAME``). A cell has
the number of tasks that the rule-based agent passes. Tasks that need a judge are skipped. The seed is fixed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.user_validity import capability
from pytest_tau.participants.behaviours import BEHAVIOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

_DOMAINS = ("airline", "retail", "telecom", "banking_knowledge")
_SEED = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", action="append", metavar="NAME", help="a domain with an agent 'rules'")
    given = parser.parse_args(arguments)
    print(f"{'domain':<20}{'tasks':>6}" + "".join(f"{name:>20}" for name in BEHAVIOURS))
    faulty = 0
    for name in given.domain or _DOMAINS:
        domain = pytest_tau.load_domain(name)
        tasks = [task for task in domain.tasks(split=None) if not task.needs_judge]
        cells = []
        for behaviour in BEHAVIOURS:
            settings = SimulationSettings(user_persona={"behaviour": {behaviour: 1.0}})
            found = [
                pytest_tau.simulate(task, domain=domain, agent="rules", user="scripted", seed=_SEED, settings=settings)
                for task in tasks
            ]
            cells.append(sum(each.outcome == "passed" for each in found))
            faulty += sum(not capability.read(each.facts).valid for each in found)
        print(f"{name:<20}{len(tasks):>6}" + "".join(f"{cell:>20}" for cell in cells), flush=True)
    print(f"trials with a fault of the user: {faulty}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
