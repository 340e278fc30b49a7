from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from . import tiny
from .commands import Ran

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain, Environment

    from .commands import Tau


@pytest.fixture(scope="session")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    """The tiny domain. Shared by all tests: none may change its files."""
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


@pytest.fixture
def env(domain: Domain) -> Environment:
    """A fresh environment of the tiny domain."""
    return domain.environment()


@pytest.fixture
def tau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tau:
    """Runs the command in an empty folder."""
    from pytest_tau.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*args: str | Path) -> Ran:
        try:
            status = main([str(arg) for arg in args])
        except SystemExit as end:  # argparse
            status = int(str(end.code))
        captured = capsys.readouterr()
        return Ran(status, captured.out, captured.err)

    return run


@pytest.fixture
def no_model_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take keys, addresses and proxies of models out of the environment."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL")) or name.lower() == "http_proxy":
            monkeypatch.delenv(name)
