"""``tau options``: the options of test runs, by group."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ...commands.project import option_groups
from ...errors import ConfigurationError, suggestion
from ...terminal import print_paged
from ..parser import Parser

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...settings import Option


def add_parser(commands: Any) -> None:
    """Declare the subcommand."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "options",
        description="List the options that pytest has for test runs. Each has an ini key with underscores, such as "
        "tau_agent. The command line takes precedence.",
        statuses={0: "the options were listed", 2: "there is no such group or option"},
        words="--tau-",
        examples=[
            ("tau options", "all options"),
            ("tau options models", "those of a group"),
            ("tau options budget", "those with this in their name"),
        ],
    )
    parser.add_argument(
        "word", nargs="*", metavar="WORD", help="the title of a group, or a part of the names of options (default: all)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Carry out the subcommand; returns the exit status."""
    print_paged(_text(_chosen(option_groups(), " ".join(args.word))).splitlines())
    return 0


def _chosen(groups: Mapping[str, Sequence[Option]], word: str) -> Mapping[str, Sequence[Option]]:
    """Return the group with this title, else the options with this in their name."""
    if not word:
        return groups
    if word in groups:
        return {word: groups[word]}
    name = word.removeprefix("--").removeprefix("tau-").removeprefix("tau_").replace("_", "-")
    matching = {title: [option for option in options if name in option.name] for title, options in groups.items()}
    if not any(matching.values()):
        names = [option.name for options in groups.values() for option in options]
        raise ConfigurationError(
            f"no group and no option is called {word!r}{suggestion(name, [*names, *groups])} "
            f"(groups: {', '.join(groups)})"
        )
    return matching


def _text(groups: Mapping[str, Iterable[Option]]) -> str:
    """Return the options as pytest's help has them."""
    parser = Parser(prog="tau options", add_help=False, usage=argparse.SUPPRESS)
    for title, options in groups.items():
        group = parser.add_argument_group(title)
        for option in options:
            flag = {"action": "store_true"} if option.metavar is None else {"metavar": option.metavar}
            bare = {"nargs": "?"} if option.bare else {}
            group.add_argument(f"--tau-{option.name}", help=option.full_help.replace("%", "%%"), **flag, **bare)  # type: ignore[arg-type]
    return parser.format_help().strip()
