"""The bundled documents, database and tasks. Needs Faker (the extra ``dev``).

From the repository's root:

    python -m pytest_tau_domains.banking_knowledge.tasks.generator --seed 7 \
        --out domains/banking_knowledge --tasks-out tasks/banking_knowledge
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..._kit.cli import DEFAULT_SEED, task_json, train_and_test
from ..tables import BankDB
from .builder import build_tasks
from .data.database import make_tables, tables_text
from .documents import document_files
from .scenarios import SCENARIOS
from .verify import verify
from .world import World, records_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_tau.models import Task

#: A dozen that search, read, give, refuse, inform and transfer.
SMALL = (
    "replace-a-stolen-card",
    "stay-without-annual-fee",
    "late-fee-taken-back",
    "limit-of-a-young-card",
    "dispute-a-double-charge",
    "points-corrected",
    "activate-after-a-loss",
    "order-a-card-in-a-hurry",
    "alert-of-the-bank",
    "close-early-and-pay-the-fee",
    "interest-credited-at-once",
    "price-of-a-wire",
)
_MODULE = "pytest_tau_domains.banking_knowledge.tasks.generator"


def make_tasks(db: BankDB) -> list[Task]:
    """Build a task of every scenario, each verified.

    Raises:
        ConfigurationError: No customer in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    tasks = build_tasks(SCENARIOS, World(records_of(db)))
    for task in tasks:
        verify(task, db)
    return tasks


def splits(tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Return task ids by split: ``train`` and ``test`` make up ``base``."""
    base = [task.id for task in tasks]
    return {"base": base, "small": [task_id for task_id in base if task_id in SMALL], **train_and_test(base)}


def task_files(db: BankDB) -> dict[str, str]:
    """Return the texts of the task files by name."""
    tasks = make_tasks(db)
    contents = {"tasks.json": [task_json(task) for task in tasks], "split_tasks.json": splits(tasks)}
    return {name: json.dumps(content, indent=1) + "\n" for name, content in contents.items()}


def database_text(seed: int = DEFAULT_SEED) -> str:
    """Return the text of the database of a seed.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    return tables_text(make_tables(seed))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the documents and the database into one folder and the tasks into another."""
    parser = argparse.ArgumentParser(prog=f"python -m {_MODULE}", description=main.__doc__)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of the database (default: %(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="folder for db.json and documents")
    parser.add_argument("--tasks-out", type=Path, required=True, help="folder for tasks.json and split_tasks.json")
    options = parser.parse_args(arguments)
    database = database_text(options.seed)
    # Tasks are built from what the file says.
    tasks = task_files(BankDB.model_validate_json(database))
    files = {
        options.out / "db.json": database,
        **{options.out / "documents" / name: text for name, text in document_files().items()},
        **{options.tasks_out / name: text for name, text in tasks.items()},
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
