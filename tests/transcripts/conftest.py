"""A scratch project whose runs are the same on every machine."""

from __future__ import annotations

import os

import pytest

#: What changes the output of pytest, of xdist or of the plugin.
_UNSET = ("CI", "BUILD_NUMBER", "TAU_DATA", "PY_COLORS", "FORCE_COLOR", "NO_COLOR", "PYTEST_THEME", "TERM")
_PREFIXES = ("GITHUB_", "PYTEST_XDIST_", "PYTEST_ADDOPTS")


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return that of the repository, at a terminal of fixed width."""
    for name in list(os.environ):
        if name in _UNSET or name.startswith(_PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    return pytester
