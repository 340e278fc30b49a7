"""The table of options is the one home of what is known of an option."""

from __future__ import annotations

import ast
import functools
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from pytest_tau.capability import bundled_options
from pytest_tau.chat import ModelArguments
from pytest_tau.environment import Difficulty, Retrieval
from pytest_tau.evaluation import PROFILES
from pytest_tau.orchestrator import Limits
from pytest_tau.participants import Prompting
from pytest_tau.plugin.options_table import OPTIONS
from pytest_tau.plugin.store.manifest import recorded_settings
from pytest_tau.protocol import Protocol, Texts
from pytest_tau.runner import (
    DEFAULT_CONCURRENCY,
    DEFAULT_SEED,
    DEFAULT_TIMEOUT,
    MODEL_ROLES,
    ModelSettings,
    ReviewSettings,
    RunConfig,
    SimulationSettings as Simulation,
    UserFault,
)
from pytest_tau.runs.manifest import NON_VERDICT_SETTINGS
from pytest_tau.settings import Affects, Option, flag

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = Path(__file__).parents[2] / "pytest_tau"
#: Lists of four and more names that are options too: the arguments of the marker.
OTHER_LISTS = {"parametrize.py"}
#: The words of ``affects`` for what ``run.json`` may record.
RECORDED = {"verdict", "content", "selection", "calls", "speed"}
#: Methods of ``OptionValues`` that take the name of an option.
ASKING = {"get", "given", "label", "folder", "from_ini"}

FILES = sorted(PACKAGE.rglob("*.py"))
PLUGIN = [file for file in FILES if file.is_relative_to(PACKAGE / "plugin")]


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_a_row_is_complete(option: Option) -> None:
    assert callable(option.type)
    assert option.affects in get_args(Affects)
    assert option.help
    assert (option.metavar is None) == (option.type is flag)
    assert "%" not in option.full_help


@pytest.mark.parametrize("option", [each for each in OPTIONS.values() if each.choices], ids=lambda option: option.name)
def test_choices_have_the_default_and_the_bare_value(option: Option) -> None:
    assert {option.default, option.bare, option.example} - {None} <= set(option.choices)


@pytest.mark.parametrize(
    ("key", "default"),
    [
        ("trials", RunConfig.trials),
        ("seed", DEFAULT_SEED),
        ("llm_timeout", ModelSettings.timeout),
        ("llm_concurrency", ModelSettings.max_in_flight),
        ("max_steps", Limits.max_steps),
        ("max_errors", Limits.max_errors),
        ("llm_retries", ModelSettings.attempts - 1),
        ("llm_retry_delay", ModelSettings.first_wait),
        ("timeout", Limits.timeout),
    ],
)
def test_defaults_are_those_of_a_run_without_options(key: str, default: object) -> None:
    assert OPTIONS[key].default == default


def test_texts_of_help_have_the_defaults_of_the_runner() -> None:
    assert f"(default: {DEFAULT_CONCURRENCY[0]} with a model, else {DEFAULT_CONCURRENCY[1]})" in (
        OPTIONS["concurrency"].help
    )
    assert f"(default: none; {DEFAULT_TIMEOUT:g} without the time" in OPTIONS["timeout"].help
    assert f"(default: requests={Difficulty().requests})" in OPTIONS["difficulty"].help


def test_grading_has_the_profiles() -> None:
    assert OPTIONS["grading"].choices == tuple(PROFILES)


def settings_recorded() -> set[str]:
    """Return the keys of ``run.json`` for a run with every setting."""
    models = dict.fromkeys(MODEL_ROLES, "openai/some")
    arguments = {role: ModelArguments(temperature=0.0) for role in models}
    examples = Path(tempfile.mkdtemp()) / "examples.jsonl"
    examples.write_text('{"messages_display": "user: Hi"}', encoding="utf-8")
    prompting = {
        "agent": Prompting(
            "some.md",
            context_tokens=1000,
            text_tools=True,
            one_call=True,
            text_protocol="tau1",
            examples=examples,
        ),
        "user": Prompting("some.md", text_tools=True, attempts=2),
    }
    run = RunConfig(
        domains=("mock",),
        data_dir=Path("data"),
        split="base",
        task_patterns=("*",),
        generate=1,
        num_tasks=1,
        agent="llm",
        user="llm",
        judge="llm",
        review=ReviewSettings("all", "user", "llm"),
        models=ModelSettings(names=models, args=arguments, tape="all", budget=1.0, trial_budget=1.0),
        simulation=Simulation(
            Limits(timeout=1.0),
            solo=True,
            policy="p",
            retrieval=Retrieval("r", {"top_k": 1}),
            enforce_protocol=True,
            program_env=("SHOP_URL",),
            user_persona={"verbosity": {"minimal": 1.0}},
            user_fault=UserFault("exclude"),
            prompting=prompting,
            protocol=Protocol("tau2", Texts(source="texts.json")),
        ),
    )
    return {*recorded_settings(run), "shard"}  # the plugin adds them


def test_every_recorded_setting_is_of_a_row() -> None:
    assert settings_recorded() <= {option.setting for option in OPTIONS.values() if option.affects in RECORDED}


def test_what_affects_a_verdict_is_recorded() -> None:
    assert {option.setting for option in OPTIONS.values() if option.affects == "verdict"} <= settings_recorded()


def test_stored_runs_are_compared_by_what_affects_a_verdict() -> None:
    others = RECORDED - {"verdict"}
    assert {option.setting for option in OPTIONS.values() if option.affects in others} == NON_VERDICT_SETTINGS


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
    assert len(found) > 50
    assert {(file, name) for file, name in found if name not in {*known, "tau_files", "tau_tasks"}} == set()


def test_every_row_is_requested() -> None:
    found = {name for file in PLUGIN for name in asked_for(file)}
    # By names with a role in them, and by the module that is registered if the option is given.
    roles = {f"tau_{role}_{rest}" for role in MODEL_ROLES for rest in ("llm", "llm_args")}
    roles |= {f"tau_{side}_{rest}" for side in ("agent", "user") for rest in ("prompt", "tool_calls")}
    assert {option.dest for option in OPTIONS.values()} - found - roles == {"tau_dry_run"}


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
