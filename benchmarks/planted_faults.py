"""Measures which faults of tasks ``tau lint`` finds: faults of known kinds are planted in tasks that are right.

    python -m benchmarks.planted_faults [--domain NAME] [--tasks N] [--seed N] [--show N] [--json FILE]

A task is right if ``tau lint`` has neither an error nor a warning for it, also without the script of its user, which a
planted task does not have either. Each fault is proved: an agent that does what the right task has fails the planted
one, or another value than that of the reference would do as well and fails. Where a kind cannot be planted in any task
of a domain, the table has a dash. A fault counts as found if an error or a warning of a rule about its kind names it;
a note counts apart. Tasks that are right, generated ones among them, show how often these rules are wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau import load_domain
from pytest_tau.cli.init import project_files
from pytest_tau.environment import Difficulty
from pytest_tau.lint import lint_domain
from pytest_tau.lint.generated import generated_tasks

from .figures import Figure
from .planting.kinds import KINDS
from .planting.right import Right
from .planting.tally import Planted, lines, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_tau import Domain, Task
    from pytest_tau.lint import Finding

    from .figures import Options

#: The domain that ``tau init`` writes.
INITIAL = "bookings"
DOMAINS = ("airline", "retail", "telecom", "banking_knowledge", "mock", INITIAL)
#: Generated tasks of a domain among those that are right.
_GENERATED = 60


def plant(domain: Domain, seed: int, tasks: int | None = None, generated: int = _GENERATED) -> Planted:
    """Plant a fault of each kind in each right task of a domain where it can be, and return what lint finds.

    Args:
        domain: The domain.
        seed: What chance begins with; the same faults for the same seed.
        tasks: At most so many tasks; None for all.
        generated: So many generated tasks are checked as well, which are right.
    """
    own = domain.tasks(split=None)
    result = Planted()
    right = _right_tasks(domain, own[:tasks], _generated(domain, generated, seed), result)
    pool = [action for task in own for action in task.criteria.actions or []]
    sources = [Right(task, domain, pool) for task in right]
    for name, kind in KINDS.items():
        planted = [(source.task.id, next(kind.plant(source, source.random(name, seed)), None)) for source in sources]
        faults = {task_id: fault for task_id, fault in planted if fault is not None}
        findings = _lint(domain, [fault.task for fault in faults.values()])
        for task_id, fault in faults.items():
            result.rows[name].add(kind, task_id, fault, findings.get(task_id, []))
    return result


def _right_tasks(domain: Domain, own: Sequence[Task], generated: Sequence[Task], result: Planted) -> list[Task]:
    """Return the tasks without a finding, without their scripts; the findings of right tasks are counted."""
    silent = [_without_script(task) for task in own]
    wrong: set[str] = set()
    for tasks in (own, silent, generated):
        for task_id, findings in _lint(domain, tasks).items():
            rules = {finding.rule for finding in findings if finding.severity != "note"}
            result.flagged += bool(rules)
            result.wrong.update(rules)
            wrong |= {task_id} if rules else set()
            for name, kind in KINDS.items():
                result.rows[name].false += not rules.isdisjoint(kind.rules)
    right = [task for task in silent if task.id not in wrong]
    result.tasks, result.right = len(right), len(own) + len(silent) + len(generated)
    return right


def _lint(domain: Domain, tasks: Sequence[Task]) -> dict[str, list[Finding]]:
    """Return the findings of ``tau lint`` by task; those of the whole set are none of a task."""
    found: dict[str, list[Finding]] = {}
    for finding in asyncio.run(lint_domain(domain, None, tasks)).findings:
        if finding.task_id is not None:
            found.setdefault(finding.task_id, []).append(finding)
    return found


def _without_script(task: Task) -> Task:
    scenario = task.user_scenario.model_copy(update={"script": None})
    return task.model_copy(update={"user_scenario": scenario})


def _generated(domain: Domain, count: int, seed: int) -> list[Task]:
    return generated_tasks(domain, count, seed, Difficulty()) if domain.spec.generate and count else []


def planted_faults(options: Options) -> Iterator[Figure]:
    """Measure the shares of planted faults that ``tau lint`` finds, by domain and kind, and of right tasks it flags.

    ``python -m benchmarks.planted_faults`` shows by which rules.
    """
    tasks, names = options.count(1_000, 6), ("mock",) if options.quick else DOMAINS
    with _loaded(names) as domains:
        for domain in domains:
            result = plant(domain, 0, tasks, options.count(_GENERATED, 3))
            for name, row in result.rows.items():
                if row.planted:
                    yield Figure(f"{domain.name}, {name}: found", "", [row.found / row.planted])
            yield Figure(f"{domain.name}: right tasks flagged", "", [result.flagged / result.right])


@contextlib.contextmanager
def _loaded(names: Sequence[str]) -> Iterator[list[Domain]]:
    """Load domains; that of ``tau init`` from the files that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        yield [_initial(Path(folder)) if name == INITIAL else load_domain(name) for name in names]


def _initial(folder: Path) -> Domain:
    for path, text in project_files(folder).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        domain: Domain = importlib.import_module(INITIAL).domain.load()
    finally:
        sys.path.remove(str(folder))
    return domain


def main(arguments: Sequence[str] | None = None) -> None:
    """Plant, check, and print the tables."""
    options = _parser().parse_args(arguments)
    results: dict[str, Planted] = {}
    with _loaded(options.domain or DOMAINS) as domains:
        for domain in domains:
            result = plant(domain, options.seed, options.tasks, options.generated)
            print("\n".join(lines(domain.name, result)), flush=True)
            for kind, row in result.rows.items():
                for task_id, what in list(row.missed.items())[: options.show]:
                    print(f"    {kind} missed: {task_id}: {what}")
            results[domain.name] = result
    print("", *table(results), sep="\n")
    if options.json:
        domains_found = {name: result.as_json() for name, result in results.items()}
        document = {"seed": options.seed, "domains": domains_found}
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.planted_faults", description="Measures which planted faults of tasks lint finds."
    )
    parser.add_argument("--domain", action="append", choices=DOMAINS, metavar="NAME", help=", ".join(DOMAINS))
    parser.add_argument("--tasks", type=int, metavar="N", help="at most N tasks of each domain (default: all)")
    parser.add_argument(
        "--generated", type=int, default=_GENERATED, metavar="N", help="generated tasks (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the faults (default: 0)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show N missed faults of each kind")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts and every missed fault")
    return parser


if __name__ == "__main__":
    main()
