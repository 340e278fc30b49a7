"""Task files: one task, an array of tasks, or an object with ``tasks`` (and optionally ``domain``).

An object may name its JSON Schema as ``$schema``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from ..documents import DocumentError, read_json
from ..errors import ConfigurationError, TaskFormatError, unknown_name
from ..garbage import without_collections
from .json_values import writable
from .problems import place_and_problems
from .sessions import sessions_problem
from .tasks import Task

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The split that runs when none is named, where a domain has it.
DEFAULT_SPLIT = "base"
_FULL = "full"


#: The file of the splits, in the folder of the tasks.
SPLITS = "split_tasks.json"
#: The split whose tasks have a file of their own next to ``tasks.json``, and are not part of ``full``.
SESSIONS_SPLIT = "sessions"


class TaskFileContent(NamedTuple):
    """A file's tasks in order, and the domain it names, if any."""

    tasks: list[Task]
    domain: str | None

    def likely_domains(self, file: Path) -> list[str]:
        """Return names that may be that of the domain if the file names none: its folder's, and that in all tasks."""
        names = {getattr(task.user_scenario.instructions, "domain", None) for task in self.tasks} - {None}
        return [file.absolute().parent.name, *(map(str, names) if len(names) == 1 else ())]


def load_json(path: Path) -> Any:
    """Read the JSON document in a file.

    Raises:
        TaskFormatError: The file cannot be read, is not JSON, or has an object with a key twice; names the line.
    """
    try:
        return read_json(path, unique_keys=True)
    except DocumentError as error:
        raise TaskFormatError(str(error), file=path) from None
    except OSError as error:
        raise TaskFormatError(f"cannot be read: {error.strerror or error}", file=path) from None


def load_task_file(path: Path) -> TaskFileContent:
    """Read and validate a task file.

    Raises:
        TaskFormatError: Names the file, the task and the field.
    """
    with without_collections():
        return _load_task_file(path)


def _load_task_file(path: Path) -> TaskFileContent:
    document, domain = load_json(path), None
    if isinstance(document, dict) and "tasks" in document:
        domain, document = document.get("domain"), document["tasks"]
        if domain is not None and not isinstance(domain, str):
            raise TaskFormatError("expected a domain's name", file=path, field="domain")
    elif isinstance(document, dict):
        # An editor's, as in the object with tasks, where other keys are ignored.
        document = [{key: value for key, value in document.items() if key != "$schema"}]
    if not isinstance(document, list):
        raise TaskFormatError("expected a task, an array of tasks, or an object with 'tasks'", file=path)
    tasks: list[Task] = []
    document.reverse()  # each entry is freed once it is a task: both for all of a large file would take much memory
    while document:
        tasks.append(parse_task(document.pop(), len(tasks), path))
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise TaskFormatError("two tasks have this id; ids must be unique", file=path, task_id=task.id, field="id")
        seen.add(task.id)
    return TaskFileContent(tasks, domain)


def load_splits(folder: Path) -> dict[str, list[str]]:
    """Read the task ids by split from ``split_tasks.json`` in the folder; empty if there is none.

    Raises:
        TaskFormatError: The file is not an object of lists of ids.
    """
    file = folder / SPLITS
    if not file.is_file():
        return {}
    splits = load_json(file)
    if not isinstance(splits, dict):
        raise TaskFormatError("expected an object of splits, each a list of task ids", file=file)
    for name, ids in splits.items():
        if not isinstance(ids, list) or not all(isinstance(task_id, str) for task_id in ids):
            raise TaskFormatError("expected a list of task ids", file=file, field=name)
    return splits


def is_every_task(split: str, splits: Mapping[str, list[str]]) -> bool:
    """Return whether a split that is not defined is every task: ``full``, and ``base`` where there are no splits."""
    return split not in splits and (split == _FULL or (split == DEFAULT_SPLIT and not splits))


def in_split(tasks: list[Task], split: str, file: Path) -> list[Task]:
    """Return the tasks of a file that are in a split of the ``split_tasks.json`` in its folder.

    Raises:
        ConfigurationError: There is no such split.
    """
    splits = load_splits(file.parent)
    if is_every_task(split, splits):
        return tasks
    if split not in splits:
        raise ConfigurationError(unknown_split(split, splits, f"{file}", file.parent))
    ids = set(splits[split])
    return [task for task in tasks if task.id in ids]


def unknown_split(split: str, splits: Mapping[str, Any], of: str, folder: Path) -> str:
    """Return the text of the error for a split that does not exist; if there are none, how to define one.

    Args:
        split: The name.
        splits: Those that exist.
        of: What should have the split: a domain or a file.
        folder: The folder of ``split_tasks.json``.
    """
    if splits:
        return f"{unknown_name('split', split, splits)} of {of}"
    example = f'{{"{split}": ["task-id", "another-task-id"]}}'
    return f"unknown split {split!r}: {of} has no splits: define it in {folder / SPLITS}, as in {example}"


def parse_task(entry: Any, position: int = 0, file: Path | None = None) -> Task:
    """Validate one task.

    Raises:
        TaskFormatError: Names the task (by id, or by position as ``#3``) and every offending field.
    """
    try:
        task = Task.model_validate(entry)
    except ValidationError as error:
        has_id = isinstance(entry, dict) and isinstance(entry.get("id"), str)
        field, problems = place_and_problems(error, model=Task)
        raise TaskFormatError(
            problems, file=file, task_id=entry["id"] if has_id else f"#{position}", field=field or "(the task)"
        ) from None
    if not task.id.strip():
        raise TaskFormatError("expected a text that is not empty", file=file, task_id=f"#{position}", field="id")
    if writable(task.id) != task.id:
        problem = f"{writable(task.id)!r} has a lone surrogate, which is not a character"
        raise TaskFormatError(problem, file=file, task_id=f"#{position}", field="id")
    if task.sessions is not None and (misfit := sessions_problem(task)):
        raise TaskFormatError(misfit, file=file, task_id=task.id, field="sessions")
    return task
