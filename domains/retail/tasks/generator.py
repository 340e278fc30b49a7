"""The bundled database and tasks. Needs Faker (the extra ``dev``).

From the repository's root:

    python -m pytest_tau_domains.retail.tasks.generator --seed 7 --out domains/retail --tasks-out tasks/retail
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from ..._kit.cli import DEFAULT_SEED, task_files, train_and_test, write_bundled_files
from ..models import RetailDB
from .builder import build_tasks
from .data.catalogue import make_products
from .data.orders import make_orders
from .data.people import make_addresses, make_people
from .scenarios import SCENARIOS
from .verify import verify
from .world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Table
    from pytest_tau.models import Task

#: A dozen that use every writing tool, refuse, inform and transfer.
SMALL = (
    "cancel-unneeded",
    "cancel-for-a-better-price",
    "address-after-a-change",
    "moving-house",
    "pay-by-gift-card",
    "change-an-option",
    "change-both-of-two",
    "return-two-of-three",
    "exchange-and-one-more-thing",
    "exchange-for-the-same",
    "what-is-on-my-gift-cards",
    "cancel-then-close-the-account",
)
#: Friends' and earlier addresses that parcels go to.
_ELSEWHERE = 12


def make_database(seed: int = DEFAULT_SEED) -> RetailDB:
    """Make the products, customers and orders of a seed.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    # A stream of its own for each part, so that a change to one leaves the others as they are.
    streams = {name: random.Random(f"{seed} {name}") for name in ("products", "people", "addresses", "orders")}
    products = make_products(streams["products"])
    people = make_people(streams["people"])
    elsewhere = make_addresses(streams["addresses"], _ELSEWHERE)
    return make_orders(streams["orders"], people, products, elsewhere)


def database_text(db: RetailDB) -> str:
    """Return the database as JSON, one record a line, without absent fields."""
    tables: dict[str, Table[Any]] = {"products": db.products, "users": db.users, "orders": db.orders}
    parts = []
    for name, table in tables.items():
        records = ((key, record.model_dump(mode="json", exclude_none=True)) for key, record in table.items())
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(record)}" for key, record in records)
        parts.append(f'"{name}": {{\n{lines}\n}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def make_tasks(db: RetailDB) -> list[Task]:
    """Build a task of every scenario, each verified.

    Raises:
        ConfigurationError: No customer in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    tasks = build_tasks(SCENARIOS, World(db))
    for task in tasks:
        verify(task, db)
    return tasks


def splits(tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Return task ids by split: ``train`` and ``test`` make up ``base``; ``judged`` needs a judge; ``full`` has all."""
    base = [task.id for task in tasks if not task.needs_judge]
    return {
        "base": base,
        "small": [task_id for task_id in base if task_id in SMALL],
        **train_and_test(base),
        "judged": [task.id for task in tasks if task.needs_judge],
        "full": [task.id for task in tasks],
    }


def bundled_files(seed: int = DEFAULT_SEED) -> dict[str, str]:
    """Return the texts of the database and the task files by name.

    Raises:
        ConfigurationError: Faker is not installed, or no customer in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    db_text = database_text(make_database(seed))
    # Tasks are built from what the file says.
    tasks = make_tasks(RetailDB.model_validate_json(db_text))
    return {"db.json": db_text, **task_files(tasks, splits(tasks))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files into the folders that the command line names."""
    write_bundled_files(bundled_files, arguments, "pytest_tau_domains.retail.tasks.generator")


if __name__ == "__main__":
    main()
