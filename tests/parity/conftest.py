"""Recorded behaviour of the reference lies beside the repository; where it does not, these tests are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications, official data, conformance vectors and traces."""
    if not (SHARED / "conformance" / "check.py").is_file():
        pytest.skip(f"needs recorded behaviour of the reference in {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def official_data(shared: Path) -> Path:
    """The official data, laid out as τ²-bench's ``data/tau2``."""
    return shared / "tau2-data"
