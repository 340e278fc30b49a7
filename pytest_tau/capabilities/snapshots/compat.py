"""syrupy's private parts, and options that only some of its versions have; no other module knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest
    from syrupy.session import SnapshotSession


def snapshot_session(config: pytest.Config) -> SnapshotSession:
    """Return syrupy's session, in a run in which syrupy is loaded.

    It replaces the fixture ``snapshot``, which would have syrupy look for unused snapshots of its own format: in a run
    that has none they would all be unused. Can go once syrupy has a public way to its session.
    """
    session: SnapshotSession = vars(config)["_syrupy"]
    return session


def update_options(option: Any) -> dict[str, Any]:
    """Return the arguments of a ``SnapshotAssertion`` by syrupy's options.

    The second one exists from syrupy 7 on. The check can go once that is the oldest supported version.
    """
    options = {"update_snapshots": option.update_snapshots}
    if hasattr(option, "update_new_snapshots_only"):
        options["update_new_snapshots_only"] = option.update_new_snapshots_only
    return options
