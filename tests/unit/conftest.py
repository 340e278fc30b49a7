from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from . import tiny

if TYPE_CHECKING:
    from pytest_tau.environment import Domain, Environment


@pytest.fixture(scope="session")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    """The tiny domain. Shared by all tests: none may change its files."""
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


@pytest.fixture
def env(domain: Domain) -> Environment:
    """A fresh environment of the tiny domain."""
    return domain.environment()
