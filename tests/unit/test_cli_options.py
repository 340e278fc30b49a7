"""The options of the commands: one name, one metavar and one meaning, as in the plugin."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from pytest_tau.cli import all_commands, command_parser, commands_for, core_commands, main
from pytest_tau.commands.options import OPTIONS
from pytest_tau.run_settings import run_options

if TYPE_CHECKING:
    from collections.abc import Iterator

#: ``tau init --agent`` names a template; ``--tau-agent`` names an agent. ``tau serve --task`` names one task;
#: ``--tau-task`` takes globs.
OTHER_MEANING = {"agent", "task"}
#: Options of several commands whose choices are those of each command: the formats that it writes, its templates.
OWN_CHOICES = {"--agent", "--format"}
#: Commands that run trials, with options by the names that they have in a test run.
RUNS_TRIALS = {"mutants", "vary"}
COMMAND_NAMES = [each.name for each in all_commands()]


def actions_of(commands: dict[str, argparse.ArgumentParser]) -> dict[str, argparse.ArgumentParser]:
    """Return the parsers of the actions of commands, such as ``submit check``, by both names."""
    return {
        f"{name} {action}": found
        for name, parser in commands.items()
        for inside in parser._actions
        if isinstance(inside, argparse._SubParsersAction)
        for action, found in inside.choices.items()
    }


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    (commands,) = (a for a in command_parser(all_commands())._actions if isinstance(a, argparse._SubParsersAction))
    return {**commands.choices, **actions_of(commands.choices)}


def option_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options of a parser that its help shows, without ``--help``."""
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS and action.dest != "help":
            yield action


PARSERS = parsers()
NAMES = list(PARSERS)
#: The commands of capabilities declare their own options.
CORE = [name for name in NAMES if name.split()[0] in {each.name for each in core_commands()}]


def test_there_is_a_parser_for_each_command() -> None:
    assert [name for name in PARSERS if " " not in name] == COMMAND_NAMES
    assert [name for name in PARSERS if " " in name] == ["submit prepare", "submit check"]


@pytest.mark.parametrize("command", CORE)
def test_every_option_is_in_the_table(command: str) -> None:
    rows = {(option.flags, option.metavar) for option in OPTIONS.values()}
    for action in option_actions(PARSERS[command]):
        assert (tuple(action.option_strings), action.metavar) in rows


def test_every_row_is_an_option_of_a_command() -> None:
    used = {tuple(action.option_strings) for name in CORE for action in option_actions(PARSERS[name])}
    assert used == {option.flags for option in OPTIONS.values()}


def test_an_option_has_the_same_kind_of_value_everywhere() -> None:
    kinds = defaultdict(set)
    for parser in PARSERS.values():
        for action in option_actions(parser):
            name = action.option_strings[-1]
            choices = () if name in OWN_CHOICES else tuple(action.choices or ())
            kinds[name].add((type(action), action.type, choices))
    assert {name for name, found in kinds.items() if len(found) > 1} == set()


def test_options_with_the_names_of_test_runs_have_their_values() -> None:
    shared = [option for option in run_options() if option.name in OPTIONS.keys() - OTHER_MEANING]
    assert len(shared) > 10
    assert all(OPTIONS[option.name].metavar == option.metavar for option in shared)


# help


@pytest.mark.parametrize("command", NAMES)
def test_the_help_of_a_command_has_groups_and_statuses(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as end:
        main([*command.split(), "--help"])
    text = capsys.readouterr().out
    assert end.value.code == 0
    assert text.startswith(f"usage: tau {command} ")
    sections = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert sections[0] == "arguments:"
    assert sections[-1] == "exit status:"
    assert "general:" in sections and "options:" not in sections
    assert "\n  0  " in text and "\n  2  " in text
    assert max(map(len, text.splitlines())) <= 100
    for action in option_actions(PARSERS[command]):
        assert f"  {', '.join(action.option_strings)}" in text
    if command not in RUNS_TRIALS:
        assert "--tau-" not in text.replace("--tau-baseline", "").replace("--tau-data", "")


def test_without_arguments_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert text.startswith("usage: tau [-h] [--version] COMMAND ...\n")
    titles = ["start", "look", "compare", "serve", "general"]
    assert [line[:-1] for line in text.splitlines() if line.endswith(":")] == titles
    assert max(map(len, text.splitlines())) <= 80
    for name, parser in PARSERS.items():
        assert f"\n  {name} " in text or " " in name
        assert parser.description
    with pytest.raises(SystemExit) as end:
        main(["-h"])
    assert (end.value.code, capsys.readouterr().out) == (0, text)


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    from importlib.metadata import version

    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"pytest-tau {version('pytest-tau')}\n")


@pytest.mark.parametrize(("first", "expected"), [("--version", []), ("show", ["show"]), ("submit", ["submit"])])
def test_the_parser_has_only_the_subcommand_that_is_called(first: str, expected: list[str]) -> None:
    (commands,) = (
        a for a in command_parser(commands_for([first]))._actions if isinstance(a, argparse._SubParsersAction)
    )
    assert list(commands.choices) == expected


def test_the_version_imports_no_subcommand() -> None:
    code = "import sys, pytest_tau.cli as it; it.command_parser(it.commands_for(['--version'])); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert not {"pydantic", "pytest"} & {*loaded}
    ours = [name for name in loaded if name.startswith("pytest_tau.")]
    assert [name.removeprefix("pytest_tau.") for name in ours] == [
        *("capability", "cli", "cli.parser", "errors", "plain", "plain.json", "rows", "settings", "text")
    ]


@pytest.mark.parametrize(
    ("argv", "parts"),
    [
        (
            ["compare"],
            ["required: A\n  A  the earlier run: its folder, its name below .tau/runs,", "\n  B  later runs"],
        ),
        (["regrade"], ["required: RUN\n  RUN  a run: its folder, its name below .tau/runs, or a result file\n"]),
        (["export"], ["required: --format\n  RUN ", "\n  --format FORMAT  tau2 for "]),
        (
            ["submit", "check"],
            ["required: DIR\n  DIR  the folder of the submission", "'tau submit check -h' describes all arguments"],
        ),
    ],
)
def test_missing_arguments_are_described(
    argv: list[str], parts: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as end:
        main(argv)
    assert end.value.code == 2
    text = capsys.readouterr().err
    assert all(part in text for part in parts), text
