"""--tau-user-persona behaviour=NAME: what is shown, what plugins add, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "users.md").read_text(encoding="utf-8")


def test_the_behaviour_of_the_page_works(project):
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    project.write("conftest.py", source)
    options = ("--tau-domain", "retail", "--tau-agent", "rules", "--tau-num-tasks", "2")
    run = project.run(*options, "--tau-user-persona", "behaviour=polite")
    run.outcomes(passed=2)
    run.line("persona behaviour=polite")
    (file,) = project.path.glob(".tau/runs/*/simulations.jsonl")
    assert " Thank you very much." in file.read_text(encoding="utf-8")


def test_a_run_over_several_has_a_table(project):
    options = ("--tau-domain", "airline", "--tau-agent", "rules", "--tau-num-tasks", "2", "--tau-trials", "4")
    run = project.run(*options, "--tau-user-persona", "behaviour=mistaken,tangential")
    run.outcomes(passed=8)
    run.line("by persona")
    run.line("mistaken")
    run.line("tangential")


def test_the_model_of_the_user_is_asked_for_it(models):
    models.run("--tau-user-persona", "behaviour=pressing").outcomes(passed=1)
    systems = {call["role"]: call["said"][0]["content"] for call in models.asked}
    assert "You press for an exception." in systems["user"]
    assert "exception" not in systems["agent"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--tau-user", "gold"), "user 'gold' makes the reference calls and cannot take a persona"),
        (("--tau-user", "noop"), "user 'noop' says nothing but goodbye and cannot take a persona"),
        (("--tau-agent", "gold"), "user 'gold' makes the reference calls and cannot take a persona"),
    ],
)
def test_a_user_that_cannot_take_one_is_a_usage_error(project, options, problem):
    run = project.run("--tau-domain", "mock", *options, "--tau-user-persona", "behaviour=pressing")
    run.usage_error(f"--tau-user-persona: {problem}")


def test_an_unknown_one_is_a_usage_error(project):
    run = project.run("--tau-domain", "airline", "--tau-agent", "rules", "--tau-user-persona", "behaviour=pressin")
    run.usage_error("--tau-user-persona: unknown behaviour 'pressin'; did you mean 'pressing'?")


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("[Behaviour('mistaken')]", "a behaviour called 'mistaken'"),
        ("[Behaviour('a b')]", "a behaviour called 'a b'"),
        ("[3]", "a list with 3"),
        ("1 / 0", "raised ZeroDivisionError"),
    ],
)
def test_a_mistake_in_the_hook_is_a_usage_error(project, returned, problem):
    source = "from pytest_tau.participants import Behaviour\n\ndef pytest_tau_behaviours(config):\n    return "
    project.write("conftest.py", source + returned + "\n")
    run = project.run("--tau-domain", "airline", "--tau-agent", "rules", "--tau-num-tasks", "1")
    run.usage_error("pytest_tau_behaviours (conftest.py:", problem)
