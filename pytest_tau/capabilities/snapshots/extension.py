"""Storage of snapshots of trajectories: one file for each, with a suffix that no other snapshot has.

With one file for each, the workers of a run never write the same one, and a list of changed files names the
conversations that have changed::

    tests/__snapshots__/test_refunds/test_refunds[buy-milk-trial-0].tausnap    a test of one's own
    tests/__snapshots__/returns/return-two-items[trial-0].tausnap              a task of returns.json
    __snapshots__/domains/retail/return-two-items[trial-0].tausnap             a domain's task, where pytest was started
"""

from __future__ import annotations

import contextlib
import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.data import Snapshot, SnapshotCollection, SnapshotCollections
from syrupy.extensions.base import AbstractSyrupyExtension
from syrupy.location import PyTestLocation

from ...errors import ConfigurationError
from ...files import file_name_of
from ...models import Simulation
from .parts import Selection, parts_of
from .trajectory import as_text
from .trials import trial_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from syrupy.session import SnapshotSession


#: The suffix of the files.
SUFFIX = "tausnap"
#: A function that returns whether a stored snapshot may be unused, by its folder and name; without it none is.
MAYBE_UNUSED: pytest.StashKey[Callable[[Path, str], bool]] = pytest.StashKey()
#: A function that returns whether the name of a test or of a domain differs from another one only by case.
IS_AMBIGUOUS: pytest.StashKey[Callable[[pytest.Item, str], bool]] = pytest.StashKey()
_DOMAINS = "domains"


class TrajectoryLocation(PyTestLocation):
    """The location of a test. Its snapshots are found by their folder; syrupy would compare names with modules'."""

    def matches_snapshot_location(self, snapshot_location: str) -> bool:
        """Return whether the snapshot is of the same module, task file or domain."""
        return Path(snapshot_location).parent == folder_of(self)

    def matches_snapshot_name(self, snapshot_name: str) -> bool:
        """Return True: the location decides whose a snapshot is."""
        return True


class TrajectoryExtension(AbstractSyrupyExtension):
    """Stores simulations as text, one file for each; does not touch other files."""

    file_extension = SUFFIX
    #: Write during the run, not at its end. From syrupy 7 on.
    write_immediately = True

    def serialize(self, data: Any, *, include: Any = None, **_options: Any) -> str:
        """Return the text of a simulation; ``include`` is the ``Selection``.

        Raises:
            ConfigurationError: It is not a simulation.
        """
        if not isinstance(data, Simulation) or not isinstance(include, Selection):
            raise ConfigurationError(
                f"tau_snapshot: expected a simulation such as tau_simulation, got a {type(data).__name__}; "
                "for other values there is syrupy's own fixture, snapshot"
            )
        return as_text(data, include)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: Any = 0) -> str:
        """Return the test's name without its path, which is the name of the file."""
        return _file_name(test_location.item, str(super().get_snapshot_name(test_location=test_location, index=index)))

    @classmethod
    def get_file_basename(cls, *, test_location: PyTestLocation, index: Any) -> str:
        """Return the file's name without its suffix."""
        return cls.get_snapshot_name(test_location=test_location, index=index)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of a module, a task file or a domain."""
        return str(folder_of(test_location))

    @classmethod
    def matches_test_location(cls, *, test_location: PyTestLocation, snapshot_location: str) -> bool:
        """Return whether a snapshot is of the same module, task file or domain. From syrupy 7 on."""
        return Path(snapshot_location).parent == folder_of(test_location)

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """Return the stored snapshots that are unused unless a test asks for them."""
        collections = SnapshotCollections()
        in_question = test_location.item.config.stash.get(MAYBE_UNUSED, None)
        if in_question is None:
            return collections
        for folder in _folders(test_location):
            for file in sorted(folder.glob(f"*.{SUFFIX}")):
                if in_question(folder, file.stem):
                    collections.add(self.read_snapshot_collection(snapshot_location=str(file)))
        return collections

    def read_snapshot_collection(self, *, snapshot_location: str) -> SnapshotCollection:
        """Return the one snapshot of a file."""
        collection = SnapshotCollection(location=snapshot_location)
        collection.add(Snapshot(name=Path(snapshot_location).stem))
        return collection

    def read_snapshot_data_from_location(
        self, *, snapshot_location: str, snapshot_name: str, session_id: str
    ) -> str | None:
        """Return the stored text; None if there is none."""
        try:
            text = Path(snapshot_location).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return text.rstrip("\n")

    @classmethod
    def write_snapshot_collection(cls, *, snapshot_collection: SnapshotCollection, **_options: Any) -> None:
        """Write a file."""
        for snapshot in snapshot_collection:
            with Path(snapshot_collection.location).open("w", encoding="utf-8", newline="\n") as file:
                file.write(str(snapshot.data) + "\n")

    def delete_snapshots(self, *, snapshot_location: str, snapshot_names: set[str]) -> None:
        """Delete a file, and its folder with the last one."""
        path = Path(snapshot_location)
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the folder is not empty
            path.parent.rmdir()


def folder_of(location: PyTestLocation) -> Path:
    """Return the folder of a test's snapshots."""
    trial, folder = trial_of(location.item), AbstractSyrupyExtension.snapshot_dirname
    path = location.item.path if trial is None else trial.home
    if trial is not None and trial.is_of_domain:
        return path / folder / _DOMAINS / _file_name(location.item, location.nodeid.partition("::")[0])
    return path.parent / folder / location.basename


def _file_name(item: pytest.Item, name: str) -> str:
    is_ambiguous = item.config.stash.get(IS_AMBIGUOUS, None)
    return file_name_of(name, ambiguous=is_ambiguous is not None and is_ambiguous(item, name))


def place_of(item: pytest.Item) -> tuple[Path, str]:
    """Return the folder and the name of a test's first snapshot."""
    location = TrajectoryLocation(item)
    return folder_of(location), TrajectoryExtension.get_snapshot_name(test_location=location)


def _folders(location: PyTestLocation) -> Iterator[Path]:
    """Yield the folders in which syrupy's search for one test looks for unused snapshots."""
    own_folder = folder_of(location)
    yield own_folder
    trial = trial_of(location.item)
    if trial is not None and trial.is_of_domain:
        return
    path = Path(location.filepath)
    for folder in sorted(own_folder.parent.glob("*/")):
        # The folder of a module or task file that no longer exists.
        if folder.name not in (own_folder.name, _DOMAINS) and not any(
            path.parent.glob(f"{glob.escape(folder.name)}.*")
        ):
            yield folder


class TrajectorySnapshot(SnapshotAssertion):
    """The stored trajectory of a test, equal to a simulation whose selected parts are the same."""

    def __call__(self, selection: str | Iterable[str] | None = None, **options: Any) -> TrajectorySnapshot:
        """Set the parts or options of the next comparison.

        Args:
            selection: ``calls`` or ``messages``, or some of ``PARTS``, such as ``{"calls", "verdict"}``.
            options: Options of syrupy's own ``snapshot(…)``, such as ``name``.

        Raises:
            ConfigurationError: There is no such part.
        """
        if selection is not None and isinstance(self.include, Selection):
            options["include"] = replace(self.include, parts=parts_of(selection))
        super().__call__(**options)
        return self


def trajectory_snapshot(item: pytest.Item, selection: Selection) -> TrajectorySnapshot:
    """Return the snapshot of a test, with syrupy's options.

    Args:
        item: The test, in a run in which syrupy is loaded.
        selection: The default parts of a comparison.
    """
    option = item.config.option
    updates = {"update_snapshots": option.update_snapshots}
    # From syrupy 7 on. The check can go once that is the oldest supported version.
    if hasattr(option, "update_new_snapshots_only"):
        updates["update_new_snapshots_only"] = option.update_new_snapshots_only
    # syrupy's session, instead of its fixture ``snapshot``, which would look for unused snapshots of its own format: in
    # a run that has none they would all be unused. Can go once syrupy has a public way to its session.
    session: SnapshotSession = vars(item.config)["_syrupy"]
    return TrajectorySnapshot(
        session=session,
        extension_class=TrajectoryExtension,
        test_location=TrajectoryLocation(item),
        include=selection,
        **updates,
    )
