"""The records of a large run in a file next to its simulations, so that they are not made of all conversations again.

They are used only for the content that they were made of, by the code that made them: the first line has the digests of
the files of simulations and reviews, of the modules that make records (with pydantic's version), and of the other
lines. If any of them differs, the file is ignored.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from dataclasses import fields
from importlib import resources
from typing import TYPE_CHECKING, Any

from pydantic import VERSION, TypeAdapter

from ..files import atomic_open
from ..models import ModelUsage
from .layout import RECORD_CACHE, simulation_files
from .record import TUPLES, TrialRecord
from .reviews import reviews_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.abc import Traversable
    from pathlib import Path

#: The bytes of simulations from which on a run has the file: without it, 32 MB are read in 0.4 s.
LARGE = 32 << 20
#: What makes a record of a line of simulations: packages with all their modules, and modules.
_MAKERS = ("attacks", "evaluation", "models", "policy", "runs", "validity", "documents.py", "files.py", "text.py")
_BUFFER = 1 << 20
#: As a parser it is twice as fast as that of ``json``.
_LINE = TypeAdapter(list[Any])
_NAMES = tuple(each.name for each in fields(TrialRecord))
_USAGE, _TUPLES = _NAMES.index("usage"), [_NAMES.index(name) for name in TUPLES]


def is_large(folder: Path) -> bool:
    """Return whether the records of a run are worth a file.

    Raises:
        OSError: A file cannot be read.
    """
    return sum(file.stat().st_size for file in simulation_files(folder)) >= LARGE


def content_digest(folder: Path) -> str:
    """Return the digest of all that the records of a run are made of.

    Raises:
        OSError: A file cannot be read.
    """
    reviews = reviews_file(folder)
    whole = _digest()
    for file in [*simulation_files(folder), *([reviews] if reviews.is_file() else [])]:
        content = _digest()
        with file.open("rb", buffering=0) as opened:
            while block := opened.read(_BUFFER):
                content.update(block)
        whole.update(os.fsencode(file.name) + b"\0" + content.digest())
    return whole.hexdigest()


def read_cache(folder: Path) -> list[TrialRecord] | None:
    """Return the stored records of a run; None if there are none, or if they may be others than those of the run."""
    file = folder / RECORD_CACHE
    try:
        if not file.is_file():
            return None
        head, _, lines = file.read_bytes().partition(b"\n")
        if head != _head(content_digest(folder), lines):
            return None
    except OSError:
        return None
    return [_record(line) for line in lines.splitlines()]


def cache_line(record: TrialRecord) -> bytes | None:
    """Return a record as a line; None if the record that is read from it is another one, as with NaN."""
    try:
        line = json.dumps(_values(record)).encode()
        return line + b"\n" if _record(line) == record else None
    except ValueError:
        return None


def _values(record: TrialRecord) -> list[Any]:
    """Return the values of all fields, in their order; ``as_dict`` omits some."""
    values = [getattr(record, name) for name in _NAMES]
    values[_USAGE] = {role: used.model_dump(exclude_defaults=True) for role, used in record.usage.items()}
    return values


def _record(line: bytes) -> TrialRecord:
    """Return the record with the values of a line."""
    values = _LINE.validate_json(line)
    for place in _TUPLES:
        values[place] = tuple(values[place])
    values[_USAGE] = {role: ModelUsage.model_validate(used) for role, used in values[_USAGE].items()}
    return TrialRecord(*values)


def write_cache(folder: Path, content: str, lines: Sequence[bytes]) -> None:
    """Store the records of a run; a file of earlier ones is replaced.

    Args:
        folder: The run's.
        content: The digest of what they were made of.
        lines: A line for each record, in order.

    Raises:
        OSError: The file cannot be written.
    """
    with atomic_open(folder / RECORD_CACHE) as file:
        file.write(_head(content, *lines) + b"\n")
        file.writelines(lines)


def _head(content: str, *lines: bytes) -> bytes:
    records = _digest()
    for line in lines:
        records.update(line)
    return json.dumps({"content": content, "code": _code_digest(), "records": records.hexdigest()}).encode()


@functools.cache
def _code_digest() -> str:
    """Return the digest of the source of all that makes records: also a comment makes another one."""
    found = _digest()
    found.update(VERSION.encode())
    for place, text in sorted(maker_sources()):
        found.update(f"{place}\0".encode() + text)
    return found.hexdigest()


def maker_sources() -> Iterator[tuple[str, bytes]]:
    """Yield the modules that make records: the path in this package, and the source."""
    package = resources.files(__package__.partition(".")[0])
    for name in _MAKERS:
        yield from _sources(name, package / name)


def _sources(place: str, found: Traversable) -> Iterator[tuple[str, bytes]]:
    if found.is_dir():
        for each in found.iterdir():
            yield from _sources(f"{place}/{each.name}", each)
    elif place.endswith(".py"):
        yield place, found.read_bytes()


def _digest() -> hashlib.blake2b:
    # Without instructions of the processor for SHA-256 it takes half of the time of that.
    return hashlib.blake2b(digest_size=20)
