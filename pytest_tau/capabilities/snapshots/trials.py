"""The trial of a test that uses snapshots; nothing of syrupy is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...capability import has_run, run_of

if TYPE_CHECKING:
    import pytest

    from ...capability import RunTrial


def trial_of(item: pytest.Item) -> RunTrial | None:
    """Return the trial of a test; None for a plain test, whose project may not use the plugin otherwise."""
    return run_of(item.config).trial_of(item) if has_run(item.config) else None
