"""The specification ``cmd:PROGRAM ARGUMENTS``."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

from ...chat import without_login
from ...errors import ConfigurationError
from ...text import shorten

PREFIX = "cmd:"
#: Replaced by the text that the agent is to answer, inside of arguments.
TEXT = "{text}"


class Command(NamedTuple):
    """A program that is an agent.

    Attributes:
        spec: The specification.
        arguments: The program, found, and its arguments.
        folder: Its working directory.
    """

    spec: str
    arguments: tuple[str, ...]
    folder: Path

    @property
    def name(self) -> str:
        """The command as errors name it: as it was given, shortened."""
        return shorten(without_login(self.spec.removeprefix(PREFIX).strip()))

    @property
    def reads_input(self) -> bool:
        """Return whether the text is written to its standard input."""
        return not any(TEXT in argument for argument in self.arguments)

    def for_text(self, text: str) -> tuple[str, ...]:
        """Return the arguments for a text. A NUL, which no argument can have, becomes the replacement character."""
        text = text.replace("\0", "\ufffd")
        return tuple(argument.replace(TEXT, text) for argument in self.arguments)


def parse_command(spec: str, folder: Path) -> Command:
    """Return the command of a specification, whose program exists.

    Args:
        spec: ``cmd:`` and a command, split as a POSIX shell splits it; nothing else that a shell does is done.
        folder: Its working directory, and the folder of a relative path of the program.

    Raises:
        ConfigurationError: There is no command, a quotation mark is not closed, or the program cannot be found.
    """
    example = f"expected {PREFIX}PROGRAM ARGUMENTS, such as '{PREFIX}my-agent --prompt={TEXT}'"
    try:
        arguments = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise ConfigurationError(f"agent {spec!r}: {str(error).lower()}; {example}") from None
    if not arguments or not arguments[0]:
        raise ConfigurationError(f"agent {spec!r}: no program; {example}")
    program = arguments[0]
    if TEXT in program:
        raise ConfigurationError(f"agent {spec!r}: {TEXT} is allowed in arguments, not in the program; {example}")
    if "\0" in spec:
        raise ConfigurationError(f"agent {spec!r}: a NUL character; {example}")
    return Command(spec, (_found(spec, program, folder), *arguments[1:]), folder)


def _found(spec: str, program: str, folder: Path) -> str:
    if os.sep not in program and (os.altsep is None or os.altsep not in program):
        found = shutil.which(program)
        if found is not None:
            return os.path.abspath(found)  # an entry of the PATH may be relative  # noqa: PTH100 - links stay links
        hint = f"; run {PREFIX}./{program} for the file in {folder}" if (folder / program).is_file() else ""
        raise ConfigurationError(f"agent {spec!r}: no program {program!r} in the folders of PATH{hint}")
    path = folder / Path(program).expanduser()
    if not path.is_file():
        raise ConfigurationError(f"agent {spec!r}: no file {path}")
    if not os.access(path, os.X_OK):
        hint = f"; run it with its interpreter, such as '{PREFIX}python {program}'" if path.suffix == ".py" else ""
        raise ConfigurationError(f"agent {spec!r}: {path} is not executable{hint}")
    return str(path)
