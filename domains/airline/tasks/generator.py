"""The bundled database and tasks. Needs Faker (the extra ``dev``).

From the repository's root:

    python -m pytest_tau_domains.airline.tasks.generator --seed 7 --out domains/airline --tasks-out tasks/airline
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..models import AirlineDB
from .builder import Script
from .data.bookings import Booker
from .data.people import users
from .data.timetable import flights
from .scenarios.booking import BOOKING
from .scenarios.cabin import CABINS
from .scenarios.cancel import CANCELLING
from .scenarios.change import CHANGING
from .scenarios.compensation import COMPENSATION
from .scenarios.extras import EXTRAS
from .scenarios.payment import PAYING
from .scenarios.questions import MIXED
from .scenarios.several import SEVERAL
from .scenarios.unchanged import KEEPING
from .verify import environment_of, verify
from .world import World

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_tau.models.tasks import Task

    from ..models import User

DEFAULT_SEED = 7
USERS = 60
SCENARIOS = (
    *CANCELLING,
    *KEEPING,
    *CHANGING,
    *CABINS,
    *EXTRAS,
    *BOOKING,
    *PAYING,
    *COMPENSATION,
    *MIXED,
    *SEVERAL,
)
#: Of three tasks in a row, the one at this position is for testing.
_TEST_EVERY, _TEST_AT = 3, 2
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


class Files(NamedTuple):
    """Texts of the generated files."""

    db: str
    tasks: str
    splits: str


def database(seed: int = DEFAULT_SEED) -> AirlineDB:
    """Flights, users and reservations.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    timetable = flights(random.Random(f"{seed}/flights"))
    people = users(USERS, seed, random.Random(f"{seed}/users"))
    booker = Booker(people, timetable, random.Random(f"{seed}/reservations"))
    reservations = booker.reservations()
    return AirlineDB.model_validate({"flights": timetable, "users": people, "reservations": reservations})


def task_id_of(scenario: Callable[..., Task]) -> str:
    """The id of a scenario's task: ``cancel-fresh-booking``."""
    return scenario.__name__.replace("_", "-")


def tasks(db: AirlineDB) -> list[Task]:
    """A task of each scenario, verified.

    Args:
        db: What the scenarios choose from.

    Raises:
        ConfigurationError: Nothing in the database fits a scenario.
        TaskFormatError: A task is no good.
    """
    world = World(db)
    made = []
    for scenario in SCENARIOS:

        def start(user: User, scenario: Callable[..., Task] = scenario) -> Script:
            return Script(task_id_of(scenario), scenario.__doc__ or "", environment_of(db), user)

        task = scenario(world, start)
        verify(task, db)
        made.append(task)
    return made


def splits(task_ids: Sequence[str]) -> dict[str, list[str]]:
    """Task ids by split: ``train`` and ``test`` make up ``base``; ``small`` is one of each sort."""
    test = set(task_ids[_TEST_AT::_TEST_EVERY])
    return {
        "base": list(task_ids),
        "train": [task_id for task_id in task_ids if task_id not in test],
        "test": [task_id for task_id in task_ids if task_id in test],
        "small": list(SMALL),
    }


def bundled_files(seed: int = DEFAULT_SEED) -> Files:
    """Text of the database and the task files.

    Raises:
        ConfigurationError: Faker is not installed, or nothing in the database fits a scenario.
        TaskFormatError: A task is no good.
    """
    db_text = _as_lines(database(seed).dump(), {"flights": 3}) + "\n"
    # Tasks are cast from what the file says.
    made = tasks(AirlineDB.model_validate_json(db_text))
    listed = [as_json(task) for task in made]
    parts = splits([task.id for task in made])
    return Files(db_text, *(json.dumps(content, indent=1, ensure_ascii=False) + "\n" for content in (listed, parts)))


def as_json(task: Task) -> dict[str, Any]:
    """A task as its file has it: without what it has not, and without what a script leaves at its default."""
    content = task.model_dump(mode="json", exclude_none=True)
    if script := task.user_scenario.script:
        content["user_scenario"]["script"] = script.model_dump(mode="json", exclude_defaults=True)
    return content


def _as_lines(value: dict[str, Any], deeper: dict[str, int], depth: int = 2, indent: str = "") -> str:
    """An object as JSON, with a line for each record.

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
    """Write the database and the task files."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_tau_domains.airline.tasks.generator", description=main.__doc__
    )
    parser.add_argument(
        "--seed", type=int, default=DEFAULT_SEED, help="makes flights, people and reservations (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for db.json")
    parser.add_argument("--tasks-out", type=Path, required=True, help="folder for tasks.json and split_tasks.json")
    options = parser.parse_args(arguments)
    files = bundled_files(options.seed)
    for path, text in (
        (options.out / "db.json", files.db),
        (options.tasks_out / "tasks.json", files.tasks),
        (options.tasks_out / "split_tasks.json", files.splits),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
