"""The bundled tasks: a selection among all cases, written to the task files.

From the repository's root:

    python -m pytest_tau_domains.telecom.tasks.generator --seed 7 --out tasks/telecom
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from .. import domain
from ..tools import TODAY
from .builder import Case, combinations, compose, verify
from .catalogue import INTENTS
from .faults import Fault, Intent, Subject
from .stories import DESTINATIONS, PERSONAS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_tau.models import Task

    from ..models import Customer, Line, TelecomDB

T = TypeVar("T")

DEFAULT_SEED = 7
#: By intent and number of faults: how many tasks can be solved, and how many cannot.
QUOTAS: dict[str, dict[int, tuple[int, int]]] = {
    "mobile_data_issue": {1: (8, 1), 2: (9, 2), 3: (9, 2), 4: (9, 2), 5: (7, 1), 6: (5, 1), 7: (3, 1)},
    "service_issue": {1: (4, 2), 2: (18, 6), 3: (12, 6), 4: (4, 4), 5: (0, 4)},
    "mms_issue": {1: (6, 0), 2: (6, 2), 3: (7, 1), 4: (7, 1), 5: (6, 2), 6: (6, 1), 7: (5, 1), 8: (4, 1), 9: (3, 1)},
}
#: Shares of the parts that the tasks are dealt to; what is ``spare`` belongs to ``full`` alone.
_PARTS = {"train": 8, "test": 4, "spare": 3}
#: More data than anybody uses up in a month.
_UNLIMITED_GB = 500


def subjects(db: TelecomDB) -> list[Subject]:
    """Every line that a task can break without disturbing what is on the account, in the order of the database."""
    found: list[Subject] = []
    for customer in db.customers.scan():
        unsettled = db.first_bill(customer, "Overdue") or db.first_bill(customer, "Awaiting Payment")
        if customer.account_status == "Active" and db.first_bill(customer, "Draft") and not unsettled:
            for line in map(db.line, customer.line_ids):
                if _suits(db, line):
                    destination = DESTINATIONS[len(found) % len(DESTINATIONS)]
                    found.append(_subject(db, customer, line, destination))
    return found


def _suits(db: TelecomDB, line: Line) -> bool:
    return (
        line.status == "Active"
        and line.contract_end_date is not None
        and line.contract_end_date > TODAY
        and line.data_used_gb < db.plan(line.plan_id).data_limit_gb < _UNLIMITED_GB
        and line.data_refueling_gb == 0
        and line.device_id is not None
        and db.device(line.device_id).device_type == "phone"
    )


def _subject(db: TelecomDB, customer: Customer, line: Line, destination: str) -> Subject:
    return Subject(
        name=customer.full_name,
        phone_number=line.phone_number,
        customer_id=customer.customer_id,
        line_id=line.line_id,
        overdue_bill_id=f"B9{line.line_id[1:]}",
        data_limit_gb=db.plan(line.plan_id).data_limit_gb,
        home=f"at home in {customer.address.city}, {customer.address.state}",
        abroad=f"abroad in {destination}",
    )


def bundled_cases(people: Sequence[Subject], seed: int = DEFAULT_SEED) -> list[Case]:
    """A selection by the quotas, in which every persona and every subject is about equally frequent.

    Within an intent, no combination of faults meets the same persona twice.
    """
    rng = random.Random(seed)
    return [case for intent in INTENTS for case in _drawn(intent, people, rng)]


def _drawn(intent: Intent, people: Sequence[Subject], rng: random.Random) -> Iterator[Case]:
    seen: Counter[object] = Counter()
    for size, quotas in QUOTAS[intent.name].items():
        # Two faults without a fix would leave it to chance which of them an agent meets first.
        for unfixable, quota in enumerate(quotas):
            pool = [c for c in combinations(intent) if len(c) == size and sum(not f.fixable for f in c) == unfixable]
            for _ in range(quota):
                faults = _rarest({c: (seen[c], sum(seen[fault] for fault in c)) for c in pool}, rng)
                free = [persona for persona in PERSONAS if not seen[faults, persona]]
                persona = _rarest({p: (seen[p], sum(seen[p, fault] for fault in faults)) for p in free}, rng)
                subject = _rarest({someone: (seen[someone], seen[persona, someone]) for someone in people}, rng)
                seen.update([faults, persona, subject, (faults, persona), (persona, subject), *faults])
                seen.update((persona, fault) for fault in faults)
                yield Case(intent, faults, persona, subject, opening=rng.randrange(60))


def _rarest(frequencies: Mapping[T, tuple[int, int]], rng: random.Random) -> T:
    """One of the options with the lowest frequency."""
    lowest = min(frequencies.values())
    return rng.choice([option for option, frequency in frequencies.items() if frequency == lowest])


def splits(cases: Sequence[Case]) -> dict[str, list[str]]:
    """Task ids by split: ``train`` and ``test`` make up ``base``; ``small`` has the tasks with a single fault."""
    parts = _dealt(cases)
    return {
        "base": [task_id for task_id, part in parts.items() if part != "spare"],
        "small": [case.task_id for case in cases if len(case.faults) == 1],
        "train": [task_id for task_id, part in parts.items() if part == "train"],
        "test": [task_id for task_id, part in parts.items() if part == "test"],
        "full": list(parts),
    }


def _dealt(cases: Sequence[Case]) -> dict[str, str]:
    """The part that each task goes to: tasks with the same faults to the same, so that training shows none of a test.

    Each goes where the tasks that share a trait with it are furthest below their share.
    """
    parts: dict[tuple[Intent, tuple[Fault, ...]], str] = {}
    counts: Counter[tuple[str, object]] = Counter()
    for case in cases:
        kinds = (case.persona, case.subject, f"{len(case.faults)} faults", f"fixable: {case.fixable}")
        traits = [(case.intent, kind) for kind in kinds]
        fullness = {part: (sum(counts[part, trait] for trait in traits) + 1) / share for part, share in _PARTS.items()}
        part = parts.setdefault((case.intent, case.faults), min(fullness, key=fullness.__getitem__))
        counts.update((part, trait) for trait in traits)
    return {case.task_id: parts[case.intent, case.faults] for case in cases}


def bundled_files(seed: int = DEFAULT_SEED) -> dict[str, str]:
    """Text of the task files by name, every task verified.

    Raises:
        TaskFormatError: A task fails its verification.
    """
    bundled = domain.load()
    cases = bundled_cases(subjects(cast("TelecomDB", bundled.environment().agent_db)), seed)
    tasks = []
    for case in cases:
        task = compose(case)
        verify(case, task, bundled)
        tasks.append(_written(task))
    contents = {"tasks.json": tasks, "split_tasks.json": splits(cases)}
    return {name: json.dumps(content, indent=1) + "\n" for name, content in contents.items()}


def _written(task: Task) -> dict[str, object]:
    """The task as it stands in a file: nothing that is not set."""
    written = task.model_dump(mode="json", exclude_none=True)
    if task.user_scenario.script is not None:
        written["user_scenario"]["script"] = task.user_scenario.script.model_dump(mode="json", exclude_defaults=True)
    return written


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the task files into a folder."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_tau_domains.telecom.tasks.generator", description=main.__doc__
    )
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, help="chooses tasks, people and lines (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for tasks.json and split_tasks.json")
    options = parser.parse_args(arguments)
    files = bundled_files(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
