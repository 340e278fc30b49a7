"""A scratch project whose runs are the same on every machine."""

from __future__ import annotations

import os
import sys

import pytest
from _pytest.pytester import SysModulesSnapshot

#: What changes the output of pytest, of xdist or of the plugin.
_UNSET = ("CI", "BUILD_NUMBER", "TAU_DATA", "PY_COLORS", "FORCE_COLOR", "NO_COLOR", "PYTEST_THEME", "TERM")
_PREFIXES = ("GITHUB_", "PYTEST_XDIST_", "PYTEST_ADDOPTS")


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return pytest's own, at a terminal of fixed width, which after a run takes the project's modules away alone."""
    for name in list(os.environ):
        if name in _UNSET or name.startswith(_PREFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")

    def installed(name: str) -> bool:
        file = getattr(sys.modules.get(name), "__file__", None)
        return file is not None and not file.startswith(str(pytester.path))

    def snapshot() -> SysModulesSnapshot:
        return SysModulesSnapshot(preserve=installed)

    setattr(pytester, "_Pytester__take_sys_modules_snapshot", snapshot)
    return pytester
