"""The command ``tau``: it starts projects, checks task sets, and works with finished runs."""

from __future__ import annotations

import argparse
import io
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..errors import TauError
from ..text import printable
from .parser import Parser

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: Exit status of a mistake in how the command was called.
USAGE_ERROR = 2

#: The modules of the commands by what they are for, in the order of the help. A command imports its own module only.
COMMANDS: dict[str, tuple[str, ...]] = {
    "start a project": ("init", "schema", "texts"),
    "look at domains": ("browse.domains", "browse.tasks", "browse.tools", "browse.domain", "browse.play"),
    "check tasks": ("lint",),
    "plan runs": ("design.plan",),
    "connect agents": ("connect.mcp", "connect.serve"),
    "work with runs": (
        *("browse.show", "view", "compare", "browse.users", "many.fork", "bless", "merge", "export"),
        *("regrade", "reviews.review", "submit"),
    ),
}

#: The commands that run pytest.
_RUN_PYTEST = ("fork",)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand, or print the help if there is none.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit status: 0 for success, 1 if something was found, 2 if the command cannot be used.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = command_parser(*arguments[:1])
    args = _parsed(parser, arguments)
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


def _parsed(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Return the arguments; commands that run pytest take what follows after ``--`` as arguments of pytest."""
    own, rest = argv, None
    if "--" in argv and argv[0] in _RUN_PYTEST:
        own, rest = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    args = parser.parse_args(own)
    if rest is not None:
        args.pytest = rest
    return args


class _Help(Parser):
    """The parser of the command itself, whose help lists the subcommands in groups."""

    def format_help(self) -> str:
        """Return the help, without the list of subcommands as argparse writes it."""
        helps = {action.dest: action.help for action in self._subcommands()}
        lines = ["usage: tau [-h] [--version] COMMAND ...", "", self.description or "", ""]
        for title, commands in COMMANDS.items():
            names = map(name_of, commands)
            lines += [f"{title}:", *(f"  {name:<10}{helps[name]}" for name in names), ""]
        lines += ["general:", "  -h, --help  show this help and exit", "  --version   show the version and exit", ""]
        lines += ["'tau COMMAND -h' shows the options of a command. Runs are made by pytest: 'pytest --help'.", ""]
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


def name_of(module: str) -> str:
    """Return the name of the command of a module."""
    return module.rpartition(".")[2]


def command_parser(first: str = "") -> argparse.ArgumentParser:
    """Return the parser of the command.

    Args:
        first: The first argument. If it is ``--version`` or a subcommand, the parser has no other subcommands.
    """
    modules = [module for group in COMMANDS.values() for module in group]
    if first == "--version" or first in map(name_of, modules):
        modules = [module for module in modules if name_of(module) == first]
    parser = _Help(prog="tau", description="Start projects with pytest-tau, check task sets, and work with runs.")
    parser.add_argument("--version", action=_Version, nargs=0)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for module in modules:
        import_module(f".{module}", __name__).add_parser(commands)
    return parser
