"""The environment is read while another thread changes it, as pytest does for each test."""

from __future__ import annotations

import os
import threading

import pytest

from pytest_tau.masking import mask_secrets
from pytest_tau.variables import environment_variables


def test_a_variable_that_comes_and_goes_breaks_nothing() -> None:
    ended = threading.Event()

    def change() -> None:
        while not ended.is_set():
            os.environ["TAU_COMES_AND_GOES"] = "value"
            os.environ.pop("TAU_COMES_AND_GOES", None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(3000):
            assert "PATH" in environment_variables()
        assert mask_secrets("plain") == "plain"
    finally:
        ended.set()
        thread.join()


def test_variables_are_those_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_OF_THE_TEST", "x")
    assert environment_variables() == dict(os.environ)
