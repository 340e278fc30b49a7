from __future__ import annotations

import pytest

import pytest_tau
from pytest_tau.errors import ConfigurationError


def test_installed_domains_are_named_without_importing_them() -> None:
    names = pytest_tau.domain_names()
    assert names == sorted(set(names))
    assert {"mock", "telecom"} <= set(names)


def test_a_domain_is_loaded_once() -> None:
    assert pytest_tau.load_domain("mock") is pytest_tau.load_domain("mock")


def test_an_unknown_domain_lists_the_good_ones() -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"unknown domain 'telecon'; did you mean 'telecom'.*mock, .*call load\(\) of its DomainSpec",
    ):
        pytest_tau.load_domain("telecon")
