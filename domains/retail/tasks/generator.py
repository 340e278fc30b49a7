"""The bundled database and tasks, written to their files.

From the repository's root, with the extra ``dev`` installed:

    python -m pytest_tau_domains.retail.tasks.generator --seed 7 --out domains/retail --tasks-out tasks/retail
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..models import RetailDB
from .builder import cast_all
from .data.catalogue import make_products
from .data.orders import make_orders
from .data.people import make_addresses, make_people
from .scenarios.address import ADDRESSES
from .scenarios.cancel import CANCELLATIONS
from .scenarios.exchange import EXCHANGES
from .scenarios.exchange_limits import EXCHANGE_BOUNDS
from .scenarios.items import ITEMS
from .scenarios.judged import JUDGED
from .scenarios.payment import PAYMENTS
from .scenarios.questions import IDENTITIES, QUESTIONS, SEVERAL
from .scenarios.returns import RETURNS
from .scenarios.transfer import TRANSFERS
from .verify import verify
from .world import World

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.environment import Table
    from pytest_tau.models import Task

DEFAULT_SEED = 7
#: Every scenario, by subject.
SCENARIOS = (
    *CANCELLATIONS,
    *ADDRESSES,
    *PAYMENTS,
    *ITEMS,
    *RETURNS,
    *EXCHANGES,
    *EXCHANGE_BOUNDS,
    *QUESTIONS,
    *IDENTITIES,
    *TRANSFERS,
    *SEVERAL,
    *JUDGED,
)
#: A dozen that between them use every tool that writes, and refuse, tell and transfer.
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
#: One task in so many is kept for testing.
_TESTED = 3


def make_database(seed: int = DEFAULT_SEED) -> RetailDB:
    """Products, customers and orders of a seed.

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
    """The database as JSON, one record a line; what an order has not is left out."""
    tables: dict[str, Table[Any]] = {"products": db.products, "users": db.users, "orders": db.orders}
    parts = []
    for name, table in tables.items():
        records = ((key, record.model_dump(mode="json", exclude_none=True)) for key, record in table.items())
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(record)}" for key, record in records)
        parts.append(f'"{name}": {{\n{lines}\n}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def make_tasks(db: RetailDB) -> list[Task]:
    """A task of every scenario, each verified.

    Raises:
        ConfigurationError: The database has nobody for a scenario.
        TaskFormatError: A task fails its verification.
    """
    tasks = cast_all(SCENARIOS, World(db))
    for task in tasks:
        verify(task, db)
    return tasks


def splits(tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Task ids by split: ``train`` and ``test`` make up ``base``; ``judged`` needs a judge; ``full`` has all."""
    base = [task.id for task in tasks if not task.needs_judge]
    tested = base[_TESTED - 1 :: _TESTED]
    return {
        "base": base,
        "small": [task_id for task_id in base if task_id in SMALL],
        "train": [task_id for task_id in base if task_id not in tested],
        "test": tested,
        "judged": [task.id for task in tasks if task.needs_judge],
        "full": [task.id for task in tasks],
    }


def task_files(db: RetailDB) -> dict[str, str]:
    """Text of the task files by name."""
    tasks = make_tasks(db)
    contents = {
        "tasks.json": [as_json(task) for task in tasks],
        "split_tasks.json": splits(tasks),
    }
    return {name: json.dumps(content, indent=1) + "\n" for name, content in contents.items()}


def as_json(task: Task) -> dict[str, Any]:
    """A task as its file has it: without what it has not, and without what a script leaves at its default."""
    content = task.model_dump(mode="json", exclude_none=True)
    if script := task.user_scenario.script:
        content["user_scenario"]["script"] = script.model_dump(mode="json", exclude_defaults=True)
    return content


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the database into one folder and the tasks into another."""
    parser = argparse.ArgumentParser(
        prog="python -m pytest_tau_domains.retail.tasks.generator", description=main.__doc__
    )
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the database (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="folder for db.json")
    parser.add_argument("--tasks-out", type=Path, required=True, help="folder for tasks.json and split_tasks.json")
    options = parser.parse_args(arguments)
    database = database_text(make_database(options.seed))
    # Tasks are cast from what the file says.
    tasks = task_files(RetailDB.model_validate_json(database))
    files = {options.out / "db.json": database, **{options.tasks_out / name: text for name, text in tasks.items()}}
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
