"""Simulations in the lines that a run has written, each parsed once and in one go.

Result files of others, and lines that were changed or cut off, are read by ``files``: it reads whatever can be
read of them, and says what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ...models import Simulation
from ..jsonl import read_lines
from .entries import OWN, StoredSimulation, read_task
from .messages import EntryError, with_unique_ids
from .streaming_json import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...models import Task

#: The tasks that are kept to be recognised: trials of a task are near each other.
_MOST_TASKS = 1000


class _Line(Simulation):
    """A line as ``simulation_line`` writes it."""

    test: str
    domain: str
    task: dict[str, Any]
    ticks: Any = None


_FIELDS = frozenset(Simulation.model_fields)


def own_simulations(file: Path) -> Iterator[StoredSimulation | None]:
    """Yield the simulations of a file; at the first line that is not as a run writes it, yield None and end.

    Simulations of equal tasks have the same task object.

    Raises:
        OSError: The file cannot be read.
    """
    tasks: dict[str, tuple[dict[str, Any], Task]] = {}
    for place, line in read_lines(file):
        found = _parsed(line, str(place), tasks) if len(line) <= LARGEST else None
        yield found
        if found is None:
            return


def _parsed(line: bytes, name: str, tasks: dict[str, tuple[dict[str, Any], Task]]) -> StoredSimulation | None:
    try:
        found = _Line.model_validate_json(line)
        task = _task(found.task, tasks)
    except (ValidationError, EntryError):
        return None
    info = found.info or {}
    if OWN in info or found.ticks is not None:
        return None
    values = {name: value for name, value in found.__dict__.items() if name in _FIELDS}
    simulation = Simulation.model_construct(found.model_fields_set & _FIELDS, **values)
    with_unique_ids(simulation.messages)
    return StoredSimulation(name, simulation, task, solo=info.get("solo") is True, domain=found.domain, test=found.test)


def _task(raw: dict[str, Any], tasks: dict[str, tuple[dict[str, Any], Task]]) -> Task:
    known = tasks.get(task_id := str(raw.get("id")))
    if known is not None and known[0] == raw:
        return known[1]
    if len(tasks) == _MOST_TASKS:
        tasks.clear()
    tasks[task_id] = raw, read_task(raw)
    return tasks[task_id][1]
