"""The fixture ``tau_snapshot``, and what syrupy must know of stored trajectories, in every run.

Every run of pytest imports this module, which imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .extension import TrajectorySnapshot

#: The suffix of stored trajectories, ``extension.SUFFIX``.
_SUFFIX = "tausnap"


class SnapshotFixtures:
    """The fixture and the hooks of every run.

    Attributes:
        deselected: Whether tests were deselected after they had been collected.
    """

    def __init__(self) -> None:
        self.deselected = False

    @pytest.fixture
    def tau_snapshot(self, request: pytest.FixtureRequest) -> TrajectorySnapshot:
        """Return the stored trajectory of this test: ``assert tau_simulation == tau_snapshot``."""
        from .plugin import stored_trajectory

        return stored_trajectory(request.node)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep syrupy's own format from our files, which it considers unused, and ``--snapshot-update`` deletes."""
        if hasattr(config.option, "ignore_file_extensions"):
            ignored = config.option.ignore_file_extensions or ()
            config.option.ignore_file_extensions = list(dict.fromkeys([*ignored, _SUFFIX]))

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Record that the run has only some of the tests."""
        self.deselected = self.deselected or bool(items)
