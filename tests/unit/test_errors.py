from __future__ import annotations

from pathlib import Path

import pytest

from pytest_tau import errors
from pytest_tau.errors import ParticipantError, TaskFormatError, TauError, suggestion, unknown_name
from pytest_tau.models.problems import problem_text


def test_there_is_one_tree() -> None:
    for name in errors.__all__:
        found = getattr(errors, name)
        if isinstance(found, type):
            assert issubclass(found, TauError)
    branches = {found.__name__ for found in TauError.__subclasses__() if found.__module__ == "pytest_tau.errors"}
    below = {found.__name__ for found in errors.ModelError.__subclasses__() if found.__module__ == errors.__name__}
    assert below == {"BudgetError", "ContextWindowError", "MissingModelError", "UnwatchedModelError"}
    assert branches == {name for name in errors.__all__ if name[0].isupper()} - {"TauError", *below}


def test_the_tree_is_drawn_in_the_docstring() -> None:
    assert errors.__doc__
    for name in errors.__all__:
        if name[0].isupper():
            assert name in errors.__doc__


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "bad"),
        ({"file": Path("a.json")}, "a.json: bad"),
        ({"file": "a.json", "task_id": "t", "field": "x.y"}, "a.json: task t: x.y: bad"),
        ({"task_id": "#3"}, "task #3: bad"),
    ],
)
def test_a_format_error_says_where(where: dict[str, str], text: str) -> None:
    error = TaskFormatError("bad", **where)
    assert str(error) == text
    assert error.problem == "bad"
    assert (error.file, error.task_id, error.field) == (where.get("file"), where.get("task_id"), where.get("field"))


def test_a_participant_error_knows_its_side() -> None:
    assert ParticipantError("bad", side="user").side == "user"


def test_unknown_names_come_with_close_ones_and_all_good_ones() -> None:
    assert unknown_name("split", "bse", ["rest", "base"]) == (
        "unknown split 'bse'; did you mean 'base'? (known: base, rest)"
    )
    assert unknown_name("split", "zzz", []) == "unknown split 'zzz' (known: none)"
    assert unknown_name("split", "z" * 999, []) == f"unknown split '{'z' * 199}…' (known: none)"
    many = unknown_name("task", "zzz", [f"n{i:02}" for i in range(25)])
    assert many.endswith("n18, n19 and 5 more)")
    listed = unknown_name("run", "nighty", ["a", "b", "c", "nightly"], ["c", "b"])
    assert listed == "unknown run 'nighty'; did you mean 'nightly'? (known: c, b and 2 more)"


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        # Case does not count.
        ("db", ["DB", "ACTION"], "; did you mean 'DB'?"),
        ("Env_Assertions", ["DB", "ENV_ASSERTION", "NL_ASSERTION"], "; did you mean 'ENV_ASSERTION'?"),
        ("DB", ["db", "Db"], "; did you mean 'Db'?"),
        # Only names that are about as similar as the best one.
        ("god-1", ["good-1", "good-2", "bad-1"], "; did you mean 'good-1'?"),
        ("good", ["good-1", "good-2", "good-3", "good-4", "x"], "; did you mean 'good-4' or 'good-3' or 'good-2'?"),
        ("x", ["abc"], ""),
    ],
)
def test_a_suggestion_is_the_end_of_a_text(name: str, known: list[str], hint: str) -> None:
    assert suggestion(name, known) == hint


def test_a_suggestion_is_as_similar_as_is_asked_for_and_shown_as_it_is_written() -> None:
    assert suggestion("good", ["goodness"], cutoff=0.9) == ""
    assert suggestion("agnet", ["agent"], shown="--tau-{}".format) == "; did you mean '--tau-agent'?"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no  such\n order"), "no such order"),
        (KeyError("zz"), "KeyError: 'zz'"),
        (KeyError(), "KeyError"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_the_problem_of_an_exception_is_one_line_that_says_something(error, text):
    assert problem_text(error) == text
