from __future__ import annotations

import dataclasses

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.evaluation import OFFICIAL, PROFILES, STRICT, profile_named

RULES = {field.name for field in dataclasses.fields(OFFICIAL)} - {"name"}


def test_official_changes_no_rule_and_strict_all() -> None:
    official, strict = profile_named("official"), profile_named("strict")
    assert {getattr(official, rule) for rule in RULES} == {False}
    assert {getattr(strict, rule) for rule in RULES} == {True}


def test_every_rule_is_described_in_one_table() -> None:
    assert OFFICIAL.__doc__
    for rule in RULES:
        assert f"{rule}: " in OFFICIAL.__doc__


def test_profiles_by_name() -> None:
    assert {"official": OFFICIAL, "strict": STRICT} == PROFILES
    assert profile_named("strict") is STRICT
    with pytest.raises(ConfigurationError, match=r"unknown grading profile 'strikt'; did you mean 'strict'\?"):
        profile_named("strikt")
