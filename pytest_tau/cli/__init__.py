"""The command ``tau``: it starts projects, checks task sets, and works with finished runs."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..capability import Command, deferred, installed
from ..errors import ConfigurationError, TauError, suggestion
from ..text import printable
from .parser import Parser

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main"]

#: Exit status of a mistake in how the command was called.
USAGE_ERROR = 2

#: The core's commands in the groups of the help: the module, with the command if it has several, and what that does. A
#: module is imported when it is called.
COMMANDS: dict[str, dict[str, str]] = {
    "start": {
        "init": "write a small project whose tests pass",
        "browse.options": "list the options of test runs, by group",
        "schema": "print JSON Schemas of task files, run files and options",
        "texts": "write τ²-bench's texts to a file",
        "lint": "check the tasks of domains and of task files",
    },
    "look": {
        "browse.lists:domains": "list the domains",
        "browse.domain": "describe a domain: policy, tools, data and tasks",
        "browse.lists:tasks": "list the tasks of a domain",
        "browse.lists:tools": "list the tools of a domain",
        "browse.play": "play a task at the terminal, as the agent or as the user",
        "browse.runs": "list the stored runs, or remove older ones",
        "browse.show": "show the conversations of a run in the terminal",
        "view": "write an HTML report of one run or of two runs",
    },
    "compare": {
        "compare": "compare runs with an earlier one, task by task",
        "bless": "make a run the baseline",
        "merge": "join the simulations of several runs",
        "regrade": "replay stored conversations and grade them again",
        "export": "export a run to other formats",
        "submit": "prepare and check leaderboard submissions",
    },
    "serve": {"mcp": "give a trial's tools to a program over MCP's stdio"},
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand, or print the help if there is none.

    Args:
        argv: The arguments; by default those of the process.

    Returns:
        The exit status: 0 for success, 1 if something was found, 2 if the command cannot be used.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not know every character
    called = "tau"
    try:
        commands = commands_for(arguments)
        parser = command_parser(commands)
        args = _parsed(parser, arguments, commands)
        if args.command is None:
            parser.print_help()
            return 0
        called = f"tau {args.command}"
        with _ending_by_exit():
            status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (TauError, OSError) as error:
        print(printable(f"{called}: {error}"), file=sys.stderr)  # noqa: T201 - this is a command
        return USAGE_ERROR
    return status


@contextlib.contextmanager
def _ending_by_exit() -> Iterator[None]:
    """Let SIGTERM end a command like an exit, so that its temporary files are deleted."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _parsed(parser: argparse.ArgumentParser, argv: list[str], commands: Sequence[Command]) -> argparse.Namespace:
    """Return the arguments; commands that run pytest take what follows after ``--`` as arguments of pytest."""
    tau_arguments, rest = argv, None
    if "--" in argv and any(command.runs_pytest for command in commands):
        tau_arguments, rest = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    args = parser.parse_args(tau_arguments)
    if rest is not None:
        args.pytest = rest
    return args


class _Tau(Parser):
    """The parser of the command itself, whose help lists the subcommands in groups."""

    def format_help(self) -> str:
        """Return the help, with the subcommands that are not declared, since none of them is called."""
        lines = [self.format_usage(), self.description or "", ""]
        known = all_commands()
        widest = max(9, *(len(command.name) for command in known))
        for title, commands in groupby(known, key=lambda each: each.group):
            lines += [f"{title}:", *(f"  {command.name:<{widest}} {command.help}" for command in commands), ""]
        lines += ["general:", "  -h, --help  show this help and exit", "  --version   show the version and exit", ""]
        lines += ["'tau COMMAND -h' shows the options of a command, 'tau options' those of pytest.", ""]
        return "\n".join(lines)


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
    every_command = core_commands() + [command for capability in installed() for command in capability.commands]
    names = [command.name for command in every_command]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigurationError(f"the command {twice[0]!r} of a capability occurs twice")
    titles = list(dict.fromkeys([*COMMANDS, *(command.group for command in every_command)]))
    return sorted(every_command, key=lambda each: titles.index(each.group))


def commands_for(arguments: Sequence[str]) -> list[Command]:
    """Return the command that the arguments call, or none.

    Raises:
        ConfigurationError: There is no such command, an entry point of a capability cannot be loaded, or two commands
            have the same name.
    """
    called = next((argument for argument in arguments if not argument.startswith("-")), None)
    if called is None:
        return []
    for find in (core_commands, all_commands):
        if named_commands := [command for command in find() if command.name == called]:
            return named_commands
    hint = suggestion(called, [command.name for command in all_commands()])
    raise ConfigurationError(f"unknown command {called!r}{hint}\n'tau --help' lists the commands")


def core_commands() -> list[Command]:
    """Return the commands that are of no capability, in the order of the help."""
    declared = []
    for title, commands in COMMANDS.items():
        for place, text in commands.items():
            module, _, command = place.partition(":")
            adding = deferred(f"{__name__}.{module}:{f'add_{command}' if command else 'add_parser'}")
            declared.append(Command(command or module.rpartition(".")[2], title, text, adding))
    return declared


def command_parser(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of the command, with these subcommands."""
    parser = _Tau(prog="tau", description="Start projects with pytest-tau, check task sets, and work with runs.")
    parser.add_argument("--version", action=_Version, nargs=0)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for command in commands:
        command.add_parser(subparsers)
    return parser
