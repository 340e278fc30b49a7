"""The bundled files of domains, and the commands that write them."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_tau.models import Task

DEFAULT_SEED = 7
#: Of three tasks in a row, the one at this position is for testing.
_TEST_EVERY, _TEST_AT = 3, 2
_TASKS, _SPLITS = "tasks.json", "split_tasks.json"


def task_files(tasks: Iterable[Task], splits: Mapping[str, list[str]]) -> dict[str, str]:
    """Return the texts of the task files by name."""
    contents = {_TASKS: [_task_json(task) for task in tasks], _SPLITS: splits}
    return {name: json.dumps(content, indent=1) + "\n" for name, content in contents.items()}


def _task_json(task: Task) -> dict[str, Any]:
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
    bundled_files: Callable[[int], Mapping[str, str]],
    arguments: Sequence[str] | None,
    module: str,
    *,
    only_tasks: bool = False,
) -> None:
    """Write the bundled files of a seed into the folders that the command line names.

    Args:
        bundled_files: Returns the texts of the files of a seed by their names.
        arguments: The command line; None for that of the process.
        module: The module that is run.
        only_tasks: Whether there are no files but those of the tasks.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description="Write the bundled files.")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="of what is drawn (default: %(default)s)")
    if not only_tasks:
        parser.add_argument("--out", type=Path, required=True, help="folder for the data")
    option = "--out" if only_tasks else "--tasks-out"
    parser.add_argument(option, type=Path, required=True, dest="tasks", help=f"folder for {_TASKS} and {_SPLITS}")
    options = parser.parse_args(arguments)
    for name, text in bundled_files(options.seed).items():
        path = (options.tasks if name in (_TASKS, _SPLITS) else options.out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
