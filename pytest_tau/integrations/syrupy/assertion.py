"""What a simulation is compared with: ``assert tau_simulation == tau_snapshot``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from syrupy.assertion import SnapshotAssertion

from .extension import TrajectoryExtension, TrajectoryLocation
from .parts import Selection, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest


class TrajectorySnapshot(SnapshotAssertion):
    """The stored trajectory of a test, equal to a simulation whose selected parts are the same."""

    def __call__(self, selection: str | Iterable[str] | None = None, **options: Any) -> TrajectorySnapshot:
        """With other parts, for the next comparison.

        Args:
            selection: ``calls`` or ``messages``, or some of ``PARTS``, such as ``{"calls", "verdict"}``.
            options: What syrupy's own ``snapshot(…)`` takes, such as ``name``.

        Raises:
            ConfigurationError: There is no such part.
        """
        if selection is not None and isinstance(self._include, Selection):
            options["include"] = replace(self._include, parts=parts_of(selection))
        super().__call__(**options)
        return self


def trajectory_snapshot(item: pytest.Item, selection: Selection) -> TrajectorySnapshot:
    """The snapshot of a test, with syrupy's options.

    Made here and not of the fixture ``snapshot``, which has syrupy look for unused snapshots of its own format, too:
    in a run that has none they would all be unused.

    Args:
        item: The test, in a run in which syrupy is loaded.
        selection: What the snapshot holds unless a comparison says otherwise.
    """
    option, config = item.config.option, vars(item.config)
    options: dict[str, Any] = {"update_snapshots": option.update_snapshots}
    if hasattr(option, "update_new_snapshots_only"):  # from syrupy 7 on
        options["update_new_snapshots_only"] = option.update_new_snapshots_only
    return TrajectorySnapshot(
        session=config["_syrupy"],
        extension_class=TrajectoryExtension,
        test_location=TrajectoryLocation(item),
        include=selection,
        **options,
    )
