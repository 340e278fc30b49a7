"""The bundled database and tasks. Needs Faker (the extra ``dev``).

From the repository's root:

    python -m pytest_tau_domains.airline.tasks.generator --seed 7 --out domains/airline --tasks-out tasks/airline
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from pytest_tau.errors import ConfigurationError, TaskFormatError

from ..._kit.cli import DEFAULT_SEED, task_files, train_and_test, write_bundled_files
from ..models import AirlineDB
from ..values import VALUES
from .builder import build_task
from .data.bookings import Booker
from .data.people import users
from .data.timetable import flights
from .scenarios import SCENARIOS
from .verify import environment_of, verify
from .world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Values
    from pytest_tau.models.tasks import Task

    from .builder import Scenario

USERS = 60
#: One task of each sort, the quick check of an agent.
SMALL = (
    "cancel-business-refund",
    "cancel-refused-gold",
    "cancel-flown-insured",
    "change-way-back",
    "upgrade-one-person-refused",
    "bags-partly-free",
    "add-passenger-refused",
    "book-cheapest-one-way",
    "book-split-payment",
    "compensation-delayed-change",
    "compensation-regular-refused",
    "information-balances",
)


def database(seed: int = DEFAULT_SEED) -> AirlineDB:
    """Return flights, users and reservations of a seed.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    timetable = flights(random.Random(f"{seed}/flights"))
    people = users(USERS, seed, random.Random(f"{seed}/users"))
    booker = Booker(people, timetable, random.Random(f"{seed}/reservations"))
    reservations = booker.reservations()
    return AirlineDB.model_validate({"flights": timetable, "users": people, "reservations": reservations})


def tasks(db: AirlineDB) -> list[Task]:
    """Return a task of each scenario, verified.

    Args:
        db: What the scenarios choose from.

    Raises:
        ConfigurationError: Nothing in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    world = World(db, VALUES)
    return [_task(scenario, world) for scenario in SCENARIOS]


def tasks_by_id(db: AirlineDB, values: Values) -> dict[str, Task | str]:
    """Return the task of each scenario with other values of the policy, or why there is none."""
    world = World(db, values)
    tasks: dict[str, Task | str] = {}
    for scenario in SCENARIOS:
        try:
            tasks[scenario.task_id] = _task(scenario, world)
        except ConfigurationError as error:
            tasks[scenario.task_id] = str(error)
        except TaskFormatError as error:
            tasks[scenario.task_id] = error.problem
    return tasks


def _task(scenario: Scenario, world: World) -> Task:
    """Return the verified task of a scenario."""
    task = build_task(scenario.draft(world, environment_of(world.db, world.values)))
    verify(task, world.db, values=world.values)
    return task


def splits(task_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return task ids by split: ``train`` and ``test`` make up ``base``; ``small`` is one of each sort."""
    return {"base": list(task_ids), **train_and_test(task_ids), "small": list(SMALL)}


def bundled_files(seed: int = DEFAULT_SEED) -> dict[str, str]:
    """Return the texts of the database and the task files by name.

    Raises:
        ConfigurationError: Faker is not installed, or nothing in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    db_text = _as_lines(database(seed).dump(), {"flights": 3}) + "\n"
    # Tasks are built from what the file says.
    new_tasks = tasks(AirlineDB.model_validate_json(db_text))
    return {"db.json": db_text, **task_files(new_tasks, splits([task.id for task in new_tasks]))}


def _as_lines(value: dict[str, Any], deeper: dict[str, int], depth: int = 2, indent: str = "") -> str:
    """Return an object as JSON, with a line for each record.

    Args:
        value: The object.
        deeper: Members that go on into further objects, down to this depth.
        depth: How far objects are opened.
        indent: Of the object itself.
    """
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    lines = []
    for key, part in value.items():
        text = _as_lines(part, deeper, deeper.get(key, depth - 1), indent + " ")
        lines.append(f"{indent} {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files into the folders that the command line names."""
    write_bundled_files(bundled_files, arguments, "pytest_tau_domains.airline.tasks.generator")


if __name__ == "__main__":
    main()
