"""The command ``tau``: what is done with runs once they have ended, and with task sets before."""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING

from ..errors import TauError
from . import bless, compare, export, lint, merge, regrade, view

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

#: Exit status of a mistake in how the command was called.
USAGE_ERROR = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a subcommand.

    Args:
        argv: What follows the command's name; the process's own arguments by default.

    Returns:
        The exit status: 0 where all is well, 1 where something was found, 2 for a command that cannot be used.
    """
    description = "Look at runs, compare them, bless a baseline, export, regrade, join; check task sets."
    parser = argparse.ArgumentParser(prog="tau", description=description)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in (regrade, lint, merge, compare, bless, export, view):
        command.add_parser(commands)
    args = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may not know every character
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except (TauError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # whoever reads has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        print(f"tau {args.command}: {error}", file=sys.stderr)  # noqa: T201 - this is a command
        return USAGE_ERROR
    return status
