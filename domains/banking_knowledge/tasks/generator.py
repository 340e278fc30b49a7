"""The bundled documents, database and tasks. Needs Faker (the extra ``dev``).

From the repository's root:

    python -m pytest_tau_domains.banking_knowledge.tasks.generator --seed 7 \
        --out domains/banking_knowledge --tasks-out tasks/banking_knowledge
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._kit.cli import DEFAULT_SEED, task_files, train_and_test, write_bundled_files
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


def database_text(seed: int = DEFAULT_SEED) -> str:
    """Return the text of the database of a seed.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    return tables_text(make_tables(seed))


def bundled_files(seed: int = DEFAULT_SEED) -> dict[str, str]:
    """Return the texts of the database, the documents and the task files by name.

    Raises:
        ConfigurationError: Faker is not installed, or no customer in the database fits a scenario.
        TaskFormatError: A task fails its verification.
    """
    db_text = database_text(seed)
    # Tasks are built from what the file says.
    tasks = make_tasks(BankDB.model_validate_json(db_text))
    documents = {f"documents/{name}": text for name, text in document_files().items()}
    return {"db.json": db_text, **documents, **task_files(tasks, splits(tasks))}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files into the folders that the command line names."""
    write_bundled_files(bundled_files, arguments, "pytest_tau_domains.banking_knowledge.tasks.generator")


if __name__ == "__main__":
    main()
