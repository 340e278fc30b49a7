"""The table of options is the one home of what is known of an option."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from for_each import for_each

from pytest_tau.capability import bundled_options
from pytest_tau.evaluation import PROFILES
from pytest_tau.plugin.options_table import OPTIONS, OPTIONS_OF_GROUPS
from pytest_tau.runner import ModelSettings
from pytest_tau.runs.manifest import NON_VERDICT_SETTINGS
from pytest_tau.settings import Affects, Option, flag

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(__file__).parents[2] / "pytest_tau"
#: Lists of four and more names that are options too: the arguments of the marker.
OTHER_LISTS = {"parametrize.py"}
#: Methods of ``OptionValues`` that take the name of an option.
ASKING = {"get", "given", "label", "folder", "from_ini"}

FILES = sorted(PACKAGE.rglob("*.py"))
PLUGIN = [file for file in FILES if file.is_relative_to(PACKAGE / "plugin")]


@for_each(OPTIONS)
def test_a_row_is_complete(option: Option) -> None:
    assert callable(option.type)
    assert option.affects in get_args(Affects)
    assert option.help
    assert (option.metavar is None) == (option.type is flag)
    assert "%" not in option.full_help


@for_each({option.name: option for option in OPTIONS.values() if option.choices})
def test_choices_have_the_default_and_the_bare_value(option: Option) -> None:
    assert {option.default, option.bare, option.example} - {None} <= set(option.choices)


def test_a_key_of_an_option_is_not_that_of_another_one() -> None:
    options = [row for rows in OPTIONS_OF_GROUPS.values() for row in rows]
    assert len(options) == len(OPTIONS) == len({row.dest for row in options})


def test_help_begins_with_the_options_that_everybody_needs() -> None:
    common = [option.name for option in OPTIONS.values() if option.common]
    assert 10 <= len(common) <= 20
    assert {"domain", "agent", "agent-llm", "trials"} <= set(common)


def test_the_page_of_the_first_options_has_each_of_them_with_an_example() -> None:
    page = (PACKAGE.parent / "docs" / "options.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| `--tau-([a-z-]+)` \| `--tau-([a-z-]+)[ `]", page)
    assert rows == [(option.name, option.name) for option in OPTIONS.values() if option.common]


def test_model_calls_have_the_defaults_of_the_docs() -> None:
    models = ModelSettings()
    assert (models.timeout, models.attempts, models.first_wait, models.max_in_flight) == (600, 8, 0.5, 20)


def test_grading_has_the_profiles() -> None:
    assert OPTIONS["grading"].choices == tuple(PROFILES)


def test_stored_runs_are_compared_by_what_affects_a_verdict() -> None:
    settings = {option.setting: option.affects for option in OPTIONS.values()}
    assert {name for name, affects in settings.items() if affects == "verdict"}.isdisjoint(NON_VERDICT_SETTINGS)
    assert {"trials", "tape", "agent_prompt", "llm_timeout"} <= NON_VERDICT_SETTINGS


@functools.cache
def asked_for(file: Path) -> frozenset[str]:
    """Return the names of options that a module asks ``OptionValues`` for, or pytest's own configuration."""
    return frozenset(name for node in nodes_of(file) for name in names_asked_for(node))


def names_asked_for(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=receiver, attr=method), args=[ast.Constant(value=str(name)), *_]):
            of_values = method in ASKING and re.search(r"\bvalues$|_values$|^OptionValues\(", ast.unparse(receiver))
            if of_values:
                yield f"tau_{name}"
            elif method in {"getoption", "getini"} and name.startswith("tau_"):
                yield name
        case ast.Attribute(value=receiver, attr=name) if ast.unparse(receiver).endswith("option"):
            if name.startswith("tau_"):
                yield name


def test_every_requested_name_is_a_row() -> None:
    found = {(file.name, name) for file in PLUGIN for name in asked_for(file)}
    known = {option.dest for option in OPTIONS.values()}
    assert len(found) > 30
    assert {(file, name) for file, name in found if name not in {*known, "tau_files", "tau_tasks"}} == set()


def test_every_option_that_a_text_mentions_is_declared() -> None:
    mentioned = {
        (file.name, name)
        for file in FILES
        for name in re.findall(r"--tau-([a-z]+(?:-[a-z]+)*)", file.read_text("utf-8"))
    }
    known = {option.name for option in (OPTIONS | bundled_options()).values()}
    assert len(mentioned) > 30
    assert {(file, name) for file, name in mentioned if name not in known} == set()


def listed(nodes: Iterable[ast.AST]) -> Iterator[list[str]]:
    """Yield the lists that are names of options for the most part."""
    known = {name for option in OPTIONS.values() for name in (option.name, option.key, option.dest, option.setting)}
    for node in nodes:
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            names = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if len(known.intersection(names)) > max(3, len(names) / 2):
                yield names


def test_a_list_of_options_would_be_found() -> None:
    assert [*listed(ast.walk(ast.parse("_REPEATED = ('domain', 'data', 'seed', 'agent')")))]
    assert [*listed(ast.walk(ast.parse("_SUBSET = ('tau_task', 'tau_num_tasks', 'tau_split', 'tau_trials', 'lf')")))]


def test_the_plugin_lists_options_nowhere_else() -> None:
    assert {file.name for file in PLUGIN for _ in listed(nodes_of(file))} == OTHER_LISTS
