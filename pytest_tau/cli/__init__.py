"""The command ``tau``: it starts projects, checks task sets, and works with finished runs."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from ..capability import Command, deferred, installed
from ..errors import ConfigurationError, TauError, similar_names, suggestion
from ..text import printable
from .parser import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: Exit status of a mistake in how the command was called.
USAGE_ERROR = 2

#: The modules of the core's commands in the groups of the help. A command imports its own module only.
COMMANDS: dict[str, tuple[str, ...]] = {
    "start": ("init", "browse.options", "schema", "texts", "lint"),
    "look": (
        *("browse.domains", "browse.domain", "browse.tasks", "browse.tools", "browse.play"),
        *("browse.runs", "browse.show", "view"),
    ),
    "compare": ("compare", "bless", "merge", "regrade", "export", "submit"),
    "serve": ("mcp",),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand, or print the help if there is none.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit status: 0 for success, 1 if something was found, 2 if the command cannot be used.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        commands = commands_for(*arguments[:1])
    except TauError as error:
        print(printable(f"tau: {error}"), file=sys.stderr)  # noqa: T201 - this is a command
        return USAGE_ERROR
    parser = command_parser(commands)
    args = _parsed(parser, arguments, commands)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not know every character
    if args.command is None:
        parser.print_help()
        return 0
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except (TauError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        print(printable(f"tau {args.command}: {error}"), file=sys.stderr)  # noqa: T201 - this is a command
        return USAGE_ERROR
    return status


def _parsed(parser: argparse.ArgumentParser, argv: list[str], commands: Sequence[Command]) -> argparse.Namespace:
    """Return the arguments; commands that run pytest take what follows after ``--`` as arguments of pytest."""
    own, rest = argv, None
    if "--" in argv and any(each.runs_pytest for each in commands if each.name == argv[0]):
        own, rest = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    args = parser.parse_args(own)
    if rest is not None:
        args.pytest = rest
    return args


class _Help(Parser):
    """The parser of the command itself, whose help lists the subcommands in groups."""

    groups: dict[str, list[str]]

    def format_help(self) -> str:
        """Return the help, without the list of subcommands as argparse writes it."""
        helps = {action.dest: action.help for action in self._subcommands()}
        lines = ["usage: tau [-h] [--version] COMMAND ...", "", self.description or "", ""]
        for title, names in self.groups.items():
            lines += [f"{title}:", *(f"  {name:<10}{helps[name]}" for name in names), ""]
        lines += ["general:", "  -h, --help  show this help and exit", "  --version   show the version and exit", ""]
        lines += ["'tau COMMAND -h' shows the options of a command, 'tau options' those of pytest.", ""]
        return "\n".join(lines)

    def _subcommands(self) -> list[Any]:
        (action,) = (each for each in self._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001
        return list(action._choices_actions)  # noqa: SLF001 - the pairs of name and help, which argparse keeps here


class _Version(argparse.Action):
    """Prints the version; it is looked up only then."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print it and exit."""
        from importlib.metadata import version

        print(f"pytest-tau {version('pytest-tau')}")  # noqa: T201 - this is a command
        parser.exit()


def all_commands() -> list[Command]:
    """Return the commands in the order of the help: in each group the core's first, then those of capabilities.

    Raises:
        ConfigurationError: An entry point of a capability cannot be loaded, or two commands have the same name.
    """
    found = core_commands() + [command for each in installed() for command in each.commands]
    names = [each.name for each in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigurationError(f"the command {twice[0]!r} of a capability occurs twice")
    titles = list(dict.fromkeys([*COMMANDS, *(each.group for each in found)]))
    return sorted(found, key=lambda each: titles.index(each.group))


def commands_for(first: str = "") -> list[Command]:
    """Return the commands that the parser needs: one alone if the first argument names it, else all.

    Raises:
        ConfigurationError: There is no such command, an entry point of a capability cannot be loaded, or two commands
            have the same name.
    """
    if first == "--version":
        return []
    if found := [each for each in core_commands() if each.name == first]:
        return found
    known = all_commands()
    if not first or first.startswith("-"):
        return known
    if found := [each for each in known if each.name == first]:
        return found
    hint = suggestion(similar_names(first, [each.name for each in known]))
    raise ConfigurationError(f"unknown command {first!r}{hint}\n'tau --help' lists the commands")


def core_commands() -> list[Command]:
    """Return the commands that are of no capability, in the order of the help."""
    return [
        Command(module.rpartition(".")[2], title, deferred(f"{__name__}.{module}:add_parser"))
        for title, modules in COMMANDS.items()
        for module in modules
    ]


def command_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of the command, with these subcommands."""
    parser = _Help(prog="tau", description="Start projects with pytest-tau, check task sets, and work with runs.")
    parser.groups = {}
    parser.add_argument("--version", action=_Version, nargs=0)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for each in commands:
        each.add_parser(subparsers)
        parser.groups.setdefault(each.group, []).append(each.name)
    return parser
