"""Generator of the bundled tasks: it selects among all scenarios and writes the task files.

From the repository's root:

    python -m pytest_tau_domains.telecom.tasks.generator --seed 7 --out tasks/telecom
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, TypeVar, cast

from ..._kit.cli import DEFAULT_SEED, task_files, write_bundled_files
from ..spec import ENVIRONMENT
from .builder import build_task
from .catalogue import INTENTS
from .people import subjects
from .personas import PERSONAS
from .scenario import FaultScenario, fault_combinations
from .verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..models import TelecomDB
    from .faults import Fault, Intent, Subject

T = TypeVar("T")

#: By intent and number of faults: the numbers of solvable and of unsolvable tasks.
QUOTAS: dict[str, dict[int, tuple[int, int]]] = {
    "mobile_data_issue": {1: (8, 1), 2: (9, 2), 3: (9, 2), 4: (9, 2), 5: (7, 1), 6: (5, 1), 7: (3, 1)},
    "service_issue": {1: (4, 2), 2: (18, 6), 3: (12, 6), 4: (4, 4), 5: (0, 4)},
    "mms_issue": {1: (6, 0), 2: (6, 2), 3: (7, 1), 4: (7, 1), 5: (6, 2), 6: (6, 1), 7: (5, 1), 8: (4, 1), 9: (3, 1)},
}
#: Shares of the parts among which the tasks are distributed; ``spare`` belongs to ``full`` alone.
_PARTS = {"train": 8, "test": 4, "spare": 3}


def bundled_scenarios(people: Sequence[Subject], seed: int = DEFAULT_SEED) -> list[FaultScenario]:
    """Select scenarios by the quotas, so that every persona and every subject is about equally frequent.

    Within an intent, no combination of faults meets the same persona twice.
    """
    rng = random.Random(seed)
    return [scenario for intent in INTENTS for scenario in _draw(intent, people, rng)]


def _draw(intent: Intent, people: Sequence[Subject], rng: random.Random) -> Iterator[FaultScenario]:
    seen: Counter[object] = Counter()
    for size, quotas in QUOTAS[intent.name].items():
        # Two faults without a fix would leave it to chance which of them an agent meets first.
        for unfixable, quota in enumerate(quotas):
            pool = [
                c for c in fault_combinations(intent) if len(c) == size and sum(not f.fixable for f in c) == unfixable
            ]
            for _ in range(quota):
                faults = _rarest({c: (seen[c], sum(seen[fault] for fault in c)) for c in pool}, rng)
                free = [persona for persona in PERSONAS if not seen[faults, persona]]
                persona = _rarest({p: (seen[p], sum(seen[p, fault] for fault in faults)) for p in free}, rng)
                subject = _rarest({someone: (seen[someone], seen[persona, someone]) for someone in people}, rng)
                seen.update([faults, persona, subject, (faults, persona), (persona, subject), *faults])
                seen.update((persona, fault) for fault in faults)
                yield FaultScenario(intent, faults, persona, subject, opening=rng.randrange(60))


def _rarest(frequencies: Mapping[T, tuple[int, int]], rng: random.Random) -> T:
    lowest = min(frequencies.values())
    return rng.choice([option for option, frequency in frequencies.items() if frequency == lowest])


def splits(scenarios: Sequence[FaultScenario]) -> dict[str, list[str]]:
    """Return ids by split: ``train`` and ``test`` make up ``base``; ``small`` has the tasks with a single fault."""
    parts = _distribute(scenarios)
    return {
        "base": [task_id for task_id, part in parts.items() if part != "spare"],
        "small": [scenario.task_id for scenario in scenarios if len(scenario.faults) == 1],
        "train": [task_id for task_id, part in parts.items() if part == "train"],
        "test": [task_id for task_id, part in parts.items() if part == "test"],
        "full": list(parts),
    }


def _distribute(scenarios: Sequence[FaultScenario]) -> dict[str, str]:
    """Assign each task to a part; tasks with the same faults to the same, so that none is in both train and test.

    Each goes to the part in which the tasks that share a trait with it are furthest below their share.
    """
    parts: dict[tuple[Intent, tuple[Fault, ...]], str] = {}
    counts: Counter[tuple[str, object]] = Counter()
    for scenario in scenarios:
        kinds = (scenario.persona, scenario.subject, f"{len(scenario.faults)} faults", f"fixable: {scenario.fixable}")
        traits = [(scenario.intent, kind) for kind in kinds]
        fullness = {part: (sum(counts[part, trait] for trait in traits) + 1) / share for part, share in _PARTS.items()}
        part = parts.setdefault((scenario.intent, scenario.faults), min(fullness, key=fullness.__getitem__))
        counts.update((part, trait) for trait in traits)
    return {scenario.task_id: parts[scenario.intent, scenario.faults] for scenario in scenarios}


def bundled_files(seed: int = DEFAULT_SEED) -> dict[str, str]:
    """Build and verify every bundled task, and return the text of the task files by name.

    Raises:
        TaskFormatError: A task fails its verification.
    """
    domain = ENVIRONMENT.load()
    scenarios = bundled_scenarios(subjects(cast("TelecomDB", domain.environment().agent_db)), seed)
    tasks = []
    for scenario in scenarios:
        task = build_task(scenario)
        verify(scenario, task, domain)
        tasks.append(task)
    return task_files(tasks, splits(scenarios))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files into the folders that the command line names."""
    write_bundled_files(bundled_files, arguments, "pytest_tau_domains.telecom.tasks.generator", only_tasks=True)


if __name__ == "__main__":
    main()
