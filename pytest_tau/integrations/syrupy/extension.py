"""Where snapshots of trajectories lie: a file each, with a suffix that no other snapshot has.

A file each, so that the workers of a run never write the same one, and a list of changed files names the conversations
that have changed::

    tests/__snapshots__/test_refunds/test_refunds[buy-milk-trial-0].tausnap    a test of one's own
    tests/__snapshots__/returns/return-two-items[trial-0].tausnap              a task of returns.json
    __snapshots__/domains/retail/return-two-items[trial-0].tausnap             a domain's task, where pytest was started
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.base import AbstractSyrupyExtension
from syrupy.location import PyTestLocation

from ...errors import ConfigurationError
from ...models import Simulation
from .parts import Selection
from .trajectory import as_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The suffix of the files.
SUFFIX = "tausnap"
#: Tells whether a stored snapshot may be unused, by its folder and name; a run without finds none unused.
IN_QUESTION: pytest.StashKey[Callable[[Path, str], bool]] = pytest.StashKey()
_DOMAINS = "domains"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.+\-\[\]]")
#: Characters of a name; file systems allow 255 bytes with the suffix.
_LONGEST = 180


class TrajectoryLocation(PyTestLocation):
    """Where a test is. Snapshots are its own by where they lie; syrupy would compare names with those of modules."""

    def matches_snapshot_location(self, snapshot_location: str) -> bool:
        """Whether the snapshot is of the same module, task file or domain."""
        return Path(snapshot_location).parent == folder_of(self)

    def matches_snapshot_name(self, snapshot_name: str) -> bool:
        """Whether the snapshot is the test's; told by its location."""
        return True


class TrajectoryExtension(AbstractSyrupyExtension):
    """Stores simulations as text, a file each; leaves every other file alone."""

    file_extension = SUFFIX
    #: What is written stays, however the run ends. From syrupy 7 on.
    write_immediately = True

    def serialize(self, data: Any, *, include: Any = None, **_options: Any) -> str:
        """The text of a simulation; ``include`` carries the ``Selection``.

        Raises:
            ConfigurationError: It is no simulation.
        """
        if not isinstance(data, Simulation) or not isinstance(include, Selection):
            raise ConfigurationError(
                f"tau_snapshot compares a simulation, such as tau_simulation, and not a {type(data).__name__}; "
                "for other values there is syrupy's own fixture, snapshot"
            )
        return as_text(data, include)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """The test's name without its path, as the file is called."""
        return safe_name(str(super().get_snapshot_name(test_location=test_location, index=index)))

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: Any) -> str:
        """The file's name without its suffix."""
        return cls.get_snapshot_name(test_location=test_location, index=index)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """The folder of a module, a task file or a domain."""
        return str(folder_of(test_location))

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Whether a snapshot is of the same module, task file or domain. From syrupy 7 on."""
        return Path(snapshot_location).parent == folder_of(test_location)

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """The stored snapshots that are unused unless a test asks for them."""
        found = SnapshotCollections()
        in_question = test_location.item.config.stash.get(IN_QUESTION, None)
        if in_question is None:
            return found
        for folder in _folders(test_location):
            for file in sorted(folder.glob(f"*.{SUFFIX}")):
                if in_question(folder, file.stem):
                    found.add(self.read_snapshot_collection(snapshot_location=str(file)))
        return found

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """What a file holds: one snapshot."""
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=Path(snapshot_location).stem))
        return collection

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> str | None:
        """The stored text; None where there is none."""
        try:
            text = Path(snapshot_location).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return text.rstrip("\n")

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: SnapshotCollection, **_options: Any) -> None:
        """Write a file anew."""
        for snapshot in snapshot_collection:
            with Path(snapshot_collection.location).open("w", encoding="utf-8", newline="\n") as file:
                file.write(str(snapshot.data) + "\n")

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        """Delete a file, and its folder with the last one."""
        path = Path(snapshot_location)
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # there is something else in it
            path.parent.rmdir()


def safe_name(name: str) -> str:
    """A test's name as the name of a file: as it is, or else with digits of its hash so that it stays its own."""
    safe = _UNSAFE.sub("_", name)
    if safe == name and len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    return f"{safe[:_LONGEST]}-{digest}"


def folder_of(location: PyTestLocation) -> Path:
    """Where a test's snapshots lie."""
    path, folder = Path(location.filepath), AbstractSyrupyExtension.snapshot_dirname
    if path.is_dir():  # a domain's task has no file, but the folder where pytest was started
        return path / folder / _DOMAINS / location.nodeid.partition("::")[0]
    return path.parent / folder / location.basename


def place_of(item: pytest.Item) -> tuple[Path, str]:
    """The folder and the name of a test's first snapshot."""
    location = TrajectoryLocation(item)
    return folder_of(location), TrajectoryExtension.get_snapshot_name(test_location=location)


def _folders(location: PyTestLocation) -> Iterator[Path]:
    """The folders in which unused snapshots are looked for, at the occasion of one test."""
    own = folder_of(location)
    path = Path(location.filepath)
    if path.is_dir():
        # syrupy asks once for each path, and all domains have the same.
        names = {each.nodeid.partition("::")[0] for each in location.item.session.items if each.path == path}
        yield from (own.parent / name for name in sorted(names))
        return
    yield own
    for folder in sorted(own.parent.glob("*/")):
        # What another module or task file has left behind that is no longer there.
        if folder.name not in (own.name, _DOMAINS) and not any(path.parent.glob(f"{glob.escape(folder.name)}.*")):
            yield folder
