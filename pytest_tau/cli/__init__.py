"""The command ``tau``: it starts projects, checks task sets, and works with finished runs."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING, Any

from ..errors import TauError
from ..text import printable
from . import bless, compare, export, init, lint, merge, regrade, schema, submit, texts, view
from .browse import domain, domains, play, show, tasks, tools, users
from .connect import mcp, serve
from .design import plan
from .many import fork, matrix
from .parser import Parser
from .reviews import review

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: Exit status of a mistake in how the command was called.
USAGE_ERROR = 2

#: The commands by what they are for, in the order of the help.
COMMANDS: dict[str, tuple[Any, ...]] = {
    "start a project": (init, schema, texts),
    "look at domains": (domains, tasks, tools, domain, play),
    "check tasks": (lint,),
    "plan runs": (plan,),
    "connect agents": (mcp, serve),
    "work with runs": (show, view, compare, users, matrix, fork, bless, merge, export, regrade, review, submit),
}


#: The commands that run pytest.
_RUN_PYTEST = ("fork", "matrix")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand, or print the help if there is none.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit status: 0 for success, 1 if something was found, 2 if the command cannot be used.
    """
    parser = command_parser()
    args = _parsed(parser, list(sys.argv[1:] if argv is None else argv))
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
            names = [command.__name__.rpartition(".")[2] for command in commands]
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


def command_parser() -> argparse.ArgumentParser:
    """Return the parser of the command with all subcommands."""
    parser = _Help(prog="tau", description="Start projects with pytest-tau, check task sets, and work with runs.")
    parser.add_argument("--version", action=_Version, nargs=0)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for group in COMMANDS.values():
        for command in group:
            command.add_parser(commands)
    return parser
