"""A person who plays a side (``--tau-agent human``): one trial at a time, at the terminal."""

from __future__ import annotations

import sys

import pytest

from .options import OptionValues, runs_no_test
from .wire import is_worker

#: The name of the participant that is a person.
PERSON = "human"


def is_played(values: OptionValues) -> bool:
    """Return whether a person plays a side in the run."""
    return PERSON in (values.given("agent"), values.given("user"))


def check_terminal(config: pytest.Config) -> None:
    """Check that a person who plays a side can be asked, before anything is collected.

    Raises:
        pytest.UsageError: Output is captured, tests are distributed, trials run concurrently, both sides are played, or
            there is no terminal.
    """
    values = OptionValues(config)
    if not is_played(values) or is_worker(config) or runs_no_test(config):
        return
    name = values.label("agent" if values.given("agent") == PERSON else "user")
    if getattr(config.option, "dist", "no") != "no":
        raise pytest.UsageError(f"{name} {PERSON}: a person plays in this process: remove -n")
    if config.option.capture != "no":
        raise pytest.UsageError(f"{name} {PERSON}: the terminal is captured: add -s")
    if values.given("agent") == values.given("user"):
        raise pytest.UsageError(f"{name} {PERSON}: one person plays, the agent or the user")
    if values.given("concurrency") is not None and values.get("concurrency") > 1:
        raise pytest.UsageError(f"{values.label('concurrency')}: a person plays one trial at a time: expected 1")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise pytest.UsageError(f"{name} {PERSON}: expected a terminal, standard input or output is not one")
