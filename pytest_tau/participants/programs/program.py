"""An agent that is a program, ``cmd:PROGRAM ARGUMENTS``: a process for each turn, which answers with what it prints."""

from __future__ import annotations

import logging
import os
import secrets
import shlex
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ConfigurationError, ParticipantError
from ...masking import mask_secrets
from ...text import plural, shorten, visible
from ..threads import BlockingCaller
from .process import MOST_OUTPUT, Finished, ProcessGroup

if TYPE_CHECKING:
    from ..own_loop import AgentTrial

_LOG = logging.getLogger("pytest_tau.programs")
#: Characters of a program's output in an error.
_SHOWN = 2_000

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
        return shorten(mask_secrets(self.spec.partition(":")[2].strip()))

    @property
    def reads_input(self) -> bool:
        """Return whether the text is written to its standard input."""
        return not any(TEXT in argument for argument in self.arguments)

    def for_text(self, text: str) -> tuple[str, ...]:
        """Return the arguments for a text. A NUL, which no argument can have, becomes the replacement character."""
        text = text.replace("\0", "\ufffd")
        return tuple(argument.replace(TEXT, text) for argument in self.arguments)


def parse_command(spec: str, folder: Path, prefix: str = PREFIX) -> Command:
    """Return the command of a specification, whose program exists.

    Args:
        spec: ``cmd:`` and a command, split as a POSIX shell splits it; nothing else that a shell does is done.
        folder: Its working directory, and the folder of a relative path of the program.
        prefix: What the specification begins with.

    Raises:
        ConfigurationError: There is no command, a quotation mark is not closed, or the program cannot be found.
    """
    argument = f" --prompt={TEXT}" if prefix == PREFIX else ""
    example = f"expected {prefix}PROGRAM ARGUMENTS, such as '{prefix}my-agent{argument}'"
    try:
        arguments = shlex.split(spec.removeprefix(prefix))
    except ValueError as error:
        raise ConfigurationError(f"agent {spec!r}: {str(error).lower()}; {example}") from None
    if not arguments or not arguments[0]:
        raise ConfigurationError(f"agent {spec!r}: no program; {example}")
    program = arguments[0]
    if TEXT in program:
        raise ConfigurationError(f"agent {spec!r}: {TEXT} is allowed in arguments, not in the program; {example}")
    if "\0" in spec:
        raise ConfigurationError(f"agent {spec!r}: a NUL character; {example}")
    return Command(spec, (_found(spec, program, folder, prefix), *arguments[1:]), folder)


def _found(spec: str, program: str, folder: Path, prefix: str) -> str:
    if os.sep not in program and (os.altsep is None or os.altsep not in program):
        found = shutil.which(program)
        if found is not None:
            return os.path.abspath(found)  # an entry of the PATH may be relative  # noqa: PTH100 - links stay links
        hint = f"; run {prefix}./{program} for the file in {folder}" if (folder / program).is_file() else ""
        raise ConfigurationError(f"agent {spec!r}: no program {program!r} in the folders of PATH{hint}")
    path = folder / Path(program).expanduser()
    if not path.is_file():
        raise ConfigurationError(f"agent {spec!r}: no file {path}")
    if not os.access(path, os.X_OK):
        hint = f"; run it with its interpreter, such as '{prefix}python {program}'" if path.suffix == ".py" else ""
        raise ConfigurationError(f"agent {spec!r}: {path} is not executable{hint}")
    return str(path)


class ProgramAgent:
    """Runs a command for each turn of a trial.

    The processes of a trial find their model, tools and policy in the environment. They may leave children running for
    the next turn; all process groups are ended with the trial.
    """

    def __init__(self, command: Command, trial: AgentTrial) -> None:
        self._command, self._trial = command, trial
        self._caller = BlockingCaller()
        self._groups: list[ProcessGroup] = []
        self._folder = Path(tempfile.mkdtemp(prefix="tau-"))
        self._session = secrets.token_hex(8)
        self._processes = 0

    async def run(self, text: str) -> str:
        """Return what the program prints for a text, without white space around it.

        Raises:
            ParticipantError: It cannot be started, fails, or prints nothing or too much.
        """
        self._processes += 1
        group = self._start(text)
        self._groups.append(group)
        try:
            finished = await self._caller.call(group.wait)
        except BaseException:
            group.end()
            self._log(group.errors, "until it was ended")
            raise
        answer = self._answer(finished)
        self._log(finished.errors)
        return answer

    async def close(self) -> None:
        """End the processes of the trial, and remove its folder."""
        for group in self._groups:
            group.end()
        try:
            for group in self._groups:
                await self._caller.call(group.join)
        finally:
            self._caller.close()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _log(self, errors: str, when: str = "") -> None:
        """Log what a program has written to standard error: pytest shows it in the report of a failed test."""
        heading = ", ".join(filter(None, [self._command.name, f"process {self._processes}", "standard error", when]))
        if errors.strip():
            _LOG.warning("%s", headed(heading, errors))

    def _start(self, text: str) -> ProcessGroup:
        command = self._command
        try:
            program_input = text if command.reads_input else ""
            return ProcessGroup(command.for_text(text), self._environment(), command.folder, program_input)
        except OSError as error:
            hint = ""
            if not command.reads_input and len(text) > _SHOWN:
                hint = "; without {text} in the command, the text is written to standard input"
            problem = f"{command.name} cannot be started: {error.strerror}{hint}"
            raise ParticipantError(problem, side="agent") from error

    def _environment(self) -> dict[str, str]:
        trial = self._trial
        policy = self._folder / "policy.md"
        if not policy.exists():
            policy.write_text(trial.policy, encoding="utf-8")
        return {**trial.program_environ, "TAU_POLICY_FILE": str(policy), "TAU_SESSION": self._session}

    def _answer(self, finished: Finished) -> str:
        name, answer = self._command.name, finished.output.strip()
        if finished.overflow:
            raise ParticipantError(f"{name} printed more than {plural(MOST_OUTPUT, 'byte')}", side="agent")
        if finished.status < 0:
            raise self._failed(f"{name} was ended by signal {signal_name(-finished.status)}", finished)
        if finished.status:
            raise self._failed(f"{name} ended with exit status {finished.status}", finished)
        if not answer:
            raise self._failed(f"{name} printed nothing; its answer is what it prints to standard output", finished)
        return answer

    def _failed(self, problem: str, finished: Finished) -> ParticipantError:
        outputs = [("standard output", finished.output), ("standard error", finished.errors)]
        parts = [headed(heading, text) for heading, text in outputs if text.strip()]
        return ParticipantError("\n".join([problem, *parts]), side="agent")


def headed(heading: str, text: str) -> str:
    """Return the end of a program's output, indented below a heading."""
    lines = "\n".join(f"  {line}" for line in visible(mask_secrets(text.strip(), {})).splitlines())
    return f"{heading}:\n{lines if len(lines) <= _SHOWN else f'  …{lines[-_SHOWN:]}'}"


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
