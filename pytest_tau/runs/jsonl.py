"""Files of simulations, a JSON line each: writing a line, reading, copying and repairing files.

Lines are copied as they are, and never parsed as a whole: one may be a long conversation.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import parse_json
from ..files import atomic_open
from ..models import INTERRUPTED
from ..plain import json
from .layout import SIMULATIONS, TEST_PREFIX, WORKER_FILES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..environment import Domain
    from ..models import Simulation, Task

#: No node id is longer, in bytes of JSON, and few are longer than the first number.
_USUAL_TEST, _LONGEST_TEST = 1 << 10, 1 << 16
_PREFIX = TEST_PREFIX.encode()
#: Bytes that are read at once.
_BUFFER = 1 << 20
_DECODER = json.JSONDecoder()


class Place(NamedTuple):
    """The place of a line.

    Attributes:
        file: The file.
        number: The line, from 1.
        start: Its first byte.
    """

    file: Path
    number: int
    start: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.number}"


def simulation_line(test: str, domain: Domain, task: Task, simulation: Simulation) -> str:
    """Return the line of a simulation, with all that it takes to grade it again: its test, its domain and its task.

    Raises:
        ValueError: It contains something that is not a JSON value.
    """
    head = f'{TEST_PREFIX}{json.dumps(test)}, "domain": {json.dumps(domain.name)}'
    return f'{head}, {model_text(simulation)[1:-1]}, "task": {task_text(task)}}}\n'


def append_simulation(path: Path, domain: Domain, task: Task, simulation: Simulation) -> Path:
    """Append a simulation that belongs to no test to a file, as one write.

    Args:
        path: A file, or a folder for its ``simulations.jsonl``; folders that are missing are made.
        domain: The domain.
        task: The task.
        simulation: The simulation.

    Returns:
        The file.

    Raises:
        OSError: The file cannot be written.
        ValueError: The simulation contains something that is not a JSON value.
    """
    file = path / SIMULATIONS if path.is_dir() or not path.suffix else path
    line = simulation_line("", domain, task, simulation).encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab", buffering=0) as opened:
        opened.write(line)
    return file


def append_lines(path: Path, lines: bytes) -> None:
    """Append lines to a file, without a buffer, all of them or nothing, so that a killed process leaves no part of one.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    with path.open("ab", buffering=0) as file:
        start = file.seek(0, os.SEEK_END)
        try:
            # An almost full disk accepts a part, and fails only for the rest.
            while lines:
                lines = lines[file.write(lines) :]
        except OSError:
            file.truncate(start)  # else the next line would be appended to a part of this one
            raise


def task_text(task: Task) -> str:
    """Return a task as JSON, as the line of a simulation has it."""
    return model_text(task, exclude_none=True)


def model_text(model: Any, *, exclude_none: bool = False) -> str:
    """Return a model as JSON in one line, whatever text there is in it.

    Raises:
        ValueError: It contains something that is not a JSON value.
    """
    try:
        return str(model.model_dump_json(exclude_none=exclude_none))
    except ValueError:
        # A lone surrogate, which JSON allows and pydantic does not write.
        text = json.dumps(model.model_dump(mode="json", exclude_none=exclude_none), ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_lines(file: Path) -> Iterator[tuple[Place, bytes]]:
    """Yield each line that is not blank, with its place.

    Raises:
        OSError: The file cannot be read.
    """
    start = 0
    # Lines are longer than Python's buffer.
    with file.open("rb", buffering=_BUFFER) as lines:
        for number, line in enumerate(lines, 1):
            if not line.isspace():
                yield Place(file, number, start), line
            start += len(line)


def read_tests(file: Path) -> Iterator[tuple[str, Place, bytes]]:
    """Yield each complete line of a run's simulations, after the node id of its test and its place.

    Lines that were cut off when a process was killed are skipped.

    Raises:
        OSError: The file cannot be read.
    """
    for place, line in read_lines(file):
        if line.endswith(b"\n") and (test := test_of(line)) is not None:
            yield test, place, line


def test_of(line: bytes) -> str | None:
    """Return the node id that a line of a run's simulations begins with; None if it begins otherwise."""
    if not line.startswith(_PREFIX):
        return None
    for most in (_USUAL_TEST, _LONGEST_TEST):
        with contextlib.suppress(ValueError, RecursionError):
            return str(_DECODER.raw_decode(line[:most].decode("utf-8", "ignore"), len(TEST_PREFIX))[0])
    return None


def is_interrupted(line: bytes) -> bool:
    """Return whether a line has a trial that something outside of it has ended, without parsing every line."""
    if f'"{INTERRUPTED}"'.encode() not in line:
        return False
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return bool(parse_json(line)["info"]["error_kind"] == INTERRUPTED)
    return False


def copy_lines(files: Sequence[Path], target: Path, *chosen: Collection[Place]) -> None:
    """Write lines of files to another file, which appears once it is complete.

    Args:
        files: The files.
        target: The other file.
        chosen: The lines that are written: each of these parts in the order of the files, one part after the other.

    Raises:
        OSError: A file cannot be read, or the target cannot be written.
    """
    with atomic_open(target) as written:
        for part in filter(None, chosen):
            for file in files:
                written.writelines(line.rstrip(b"\r\n") + b"\n" for place, line in read_lines(file) if place in part)


def merge_worker_files(folder: Path, reported: Mapping[str, str]) -> None:
    """Join the files of the workers into one, in which the last simulation of each test is the one that counted.

    A test that was run again has several, in the file of a worker or in those of two, as after the end of a worker that
    was killed. A resumed run also has the file that it began with.

    Args:
        folder: The run's.
        reported: By node id, the worker whose report of the test counted.

    Raises:
        OSError: A file cannot be read or written.
    """
    parts = sorted(folder.glob(WORKER_FILES))
    if not parts:
        return
    joined_file = folder / SIMULATIONS
    files = [joined_file, *parts] if joined_file.is_file() else parts
    claims_by_test: dict[str, list[tuple[bool, Place]]] = {}
    for file in files:
        worker = file.stem.partition("-")[2]
        for test, place, _ in read_tests(file):
            claims_by_test.setdefault(test, []).append((bool(worker) and reported.get(test) == worker, place))
    # Of equal claims the later one counts.
    counted = {
        test: max(enumerate(claims), key=lambda numbered: (numbered[1][0], numbered[0]))[1][1]
        for test, claims in claims_by_test.items()
    }
    others = {place for test, claims in claims_by_test.items() for place in _others(claims, counted[test])}
    copy_lines(files, joined_file, others, set(counted.values()))
    for part in parts:
        part.unlink()


def _others(claims: list[tuple[bool, Place]], counted: Place) -> Iterator[Place]:
    """Yield the places of a test's other simulations, each content once: joining may have been cut off."""
    seen = {_line_at(counted)} if len(claims) > 1 else set()
    for _, place in claims:
        if place != counted and (line := _line_at(place)) not in seen:
            seen.add(line)
            yield place


def _line_at(place: Place) -> bytes:
    with place.file.open("rb") as file:
        file.seek(place.start)
        return file.readline()


def repair_tail(file: Path) -> None:
    """Cut off a last line that is not complete, so that lines can be appended.

    Raises:
        OSError: The file cannot be written.
    """
    with file.open("rb+") as opened:
        opened.truncate(_end_of_lines(opened, opened.seek(0, os.SEEK_END)))


def _end_of_lines(file: Any, end: int, step: int = 1 << 16) -> int:
    """Return where the last complete line of the first ``end`` bytes ends."""
    while end > 0:
        start = max(0, end - step)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        if newline >= 0:
            return int(start + newline + 1)
        end = start
    return 0
