"""The snapshot that a simulation is compared with: ``assert tau_simulation == tau_snapshot``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from syrupy.assertion import SnapshotAssertion

from .compat import snapshot_session, update_options
from .extension import TrajectoryExtension, TrajectoryLocation
from .parts import Selection, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


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
    return TrajectorySnapshot(
        session=snapshot_session(item.config),
        extension_class=TrajectoryExtension,
        test_location=TrajectoryLocation(item),
        include=selection,
        **update_options(item.config.option),
    )
