"""Faults of simulated users in recorded runs: ``python -m benchmarks.user_faults [--data DIR] [--show N] RUN …``.

For each run, the table has the trials with a user, those with a fault, and the trials with a finding of each check.
With ``--show``, findings are printed, drawn by a fixed seed, to be read by a person; the precision in
docs/doubts.md was found in this way. Solo runs are skipped: they have no user.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_tau
from pytest_tau.capabilities.user_validity.checks import CHECK_NAMES, check_user
from pytest_tau.errors import TauError
from pytest_tau.models import UserMessage
from pytest_tau.runs.reader import open_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.capabilities.user_validity.facts import Finding
    from pytest_tau.environment import Domain

_SEED = 18


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's folder, or a result file")
    parser.add_argument("--data", type=Path, help="folder with τ²-bench's data (default: the bundled data)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print at most N findings of each check")
    given = parser.parse_args(arguments)
    found: dict[str, list[tuple[str, Finding]]] = {name: [] for name in CHECK_NAMES}
    print(f"{'run':<36}{'trials':>8}{'faulty':>8}" + "".join(f"{name:>21}" for name in CHECK_NAMES))
    try:
        for run in given.runs:
            print(_row(run, given.data, found), flush=True)
    except (TauError, OSError) as error:
        parser.error(str(error))
    for name, findings in found.items():
        chosen = random.Random(_SEED).sample(findings, min(given.show, len(findings)))  # noqa: S311 - not for secrets
        for where, finding in chosen:
            print(f"\n{name}: {where}, message {finding.message_idx}\n  {finding.evidence}")
    return 0


def _row(path: Path, data: Path | None, found: dict[str, list[tuple[str, Finding]]]) -> str:
    run, trials, faulty, checks = open_run(path), 0, 0, Counter[str]()
    for stored in run.trials():
        simulation = stored.simulation
        if stored.task is None or not any(isinstance(each, UserMessage) for each in simulation.messages):
            continue
        validity = check_user(stored.task, simulation.messages, _domain(stored.domain, data))
        if validity.unchecked:
            raise TauError(f"{path}: {validity.unchecked}")
        trials += 1
        faulty += not validity.valid
        checks.update(validity.checks)
        for finding in validity.findings:
            found[finding.check].append((f"{run.name} {stored.task.id} trial {simulation.trial}", finding))
    return f"{run.name:<36}{trials:>8}{faulty:>8}" + "".join(f"{checks[name]:>21}" for name in CHECK_NAMES)


@cache
def _domain(name: str, data: Path | None) -> Domain | None:
    return pytest_tau.load_domain(name, data_dir=data) if name else None


if __name__ == "__main__":
    raise SystemExit(main())
