"""Whether anything of a run was asked for: its state, without the imports that making it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .run_context import Active

#: Set by ``active.active_of``.
ACTIVE = pytest.StashKey["Active"]()


def if_active(config: pytest.Config) -> Active | None:
    """The run's state, if anything has asked for it."""
    return config.stash.get(ACTIVE, None)
