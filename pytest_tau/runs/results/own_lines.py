"""Simulations in the lines that a run has written, each parsed once and in one go.

Result files of others, and lines that were changed or cut off, are read by ``files``: it reads whatever can be
read of them, and says what is wrong.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from ...models import Simulation
from ..jsonl import read_lines
from .entries import OWN, StoredSimulation, read_task
from .messages import EntryError, with_unique_ids

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ...models import Task

#: The tasks that are kept to be recognised: trials of a task are near each other.
_MOST_TASKS = 1000


#: What is before the task of a line, its last value, and how many of these texts are tried.
_TASK, _MOST_NESTED = b', "task": {', 10


class _Line(Simulation):
    """A line as ``simulation_line`` writes it, without its task."""

    test: str
    domain: str
    ticks: Any = None


_LIST: TypeAdapter[list[Any]] = TypeAdapter(list[Any])
_OTHERS = _Line.model_fields.keys() - Simulation.model_fields


def own_simulations(file: Path) -> Iterator[StoredSimulation | None]:
    """Yield the simulations of a file; at the first line that is not as a run writes it, yield None and end.

    Simulations of equal tasks have the same task object.

    Raises:
        OSError: The file cannot be read.
    """
    tasks: dict[bytes, Task] = {}
    for place, line in read_lines(file):
        simulation = _parsed(line, str(place), tasks)
        yield simulation
        if simulation is None:
            return


def _parsed(line: bytes, name: str, tasks: dict[bytes, Task]) -> StoredSimulation | None:
    stored, text = _split(line.rstrip())
    if stored is None:
        return None
    try:
        task = _task(text, tasks)
    except (ValidationError, EntryError):
        return None
    if OWN in stored.info.others or stored.ticks is not None:
        return None
    with_unique_ids(stored.messages)
    return StoredSimulation(
        name, _simulation(stored), task, solo=stored.info.solo, domain=stored.domain, test=stored.test
    )


def _simulation(line: _Line) -> Simulation:
    """Return the simulation of a line, without the other fields of the line."""
    fields = {name: value for name, value in vars(line).items() if name not in _OTHERS}
    return Simulation.model_construct(line.model_fields_set.difference(_OTHERS), **fields)


def _split(line: bytes) -> tuple[_Line | None, bytes]:
    """Return a line without its task, None if it is not as a run writes it, and the text of its task.

    Trials repeat the task, so it is parsed on its own. What is before it is valid only if the task was found where it
    begins: its arguments may have a ``task``, too.
    """
    place = len(line) if line.endswith(b"}}") else 0
    for _ in range(_MOST_NESTED):
        if (place := line.rfind(_TASK, 0, place)) < 0:
            break
        with contextlib.suppress(ValidationError):
            return _Line.model_validate_json(line[:place] + b"}"), line[place + len(_TASK) - 1 : -1]
    return None, b""


def _task(text: bytes, tasks: dict[bytes, Task]) -> Task:
    if text not in tasks:
        if len(tasks) == _MOST_TASKS:
            tasks.clear()
        # As deep as it is in its line: the parser refuses values that are nested too deep.
        tasks[text] = read_task(_LIST.validate_json(b"[%b]" % text)[0])
    return tasks[text]
