"""The commands that write the bundled files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_tau.models import Task

DEFAULT_SEED = 7
#: Of three tasks in a row, the one at this position is for testing.
_TEST_EVERY, _TEST_AT = 3, 2


class BundledFiles(NamedTuple):
    """Texts of the generated files."""

    db: str
    tasks: str
    splits: str


def task_json(task: Task) -> dict[str, Any]:
    """Return a task as its file has it: without what it has not, and without what a script leaves at its default."""
    content = task.model_dump(mode="json", exclude_none=True)
    if script := task.user_scenario.script:
        content["user_scenario"]["script"] = script.model_dump(mode="json", exclude_defaults=True)
    return content


def train_and_test(task_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return two splits of the tasks."""
    test = task_ids[_TEST_AT::_TEST_EVERY]
    return {"train": [task_id for task_id in task_ids if task_id not in test], "test": list(test)}


def write_bundled_files(
    bundled_files: Callable[[int], BundledFiles],
    arguments: Sequence[str] | None,
    *,
    module: str,
    description: str | None,
    seed_help: str,
) -> None:
    """Write the bundled files of a seed into the folders that the command line names.

    Args:
        bundled_files: Returns the files of a seed.
        arguments: The command line; None for that of the process.
        module: The module that is run.
        description: What it does, for ``--help``.
        seed_help: What the seed decides.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=description)
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help=f"{seed_help} (default: %(default)s)")
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
