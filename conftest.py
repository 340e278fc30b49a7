"""Settings of this repository's own test run; nothing that a user of the plugin needs."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_official_data_by_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's TAU_DATA must not decide what the tests run on."""
    monkeypatch.delenv("TAU_DATA", raising=False)
    for name in [name for name in os.environ if name.startswith("PYTEST_ADDOPTS")]:
        monkeypatch.delenv(name)
