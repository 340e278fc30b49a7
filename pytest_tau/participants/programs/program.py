"""An agent that is a program: one process for each turn, which answers with what it prints."""

from __future__ import annotations

import logging
import secrets
import shutil
import signal
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ...chat.masking import mask_secrets
from ...errors import ParticipantError
from ...text import plural, visible
from ..threads import BlockingCaller
from .process import MOST_OUTPUT, Finished, ProcessGroup

if TYPE_CHECKING:
    from ..own_loop import AgentTrial
    from .command import Command

_LOG = logging.getLogger("pytest_tau.programs")
#: Characters of a program's output in an error.
_SHOWN = 2_000


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
            _LOG.warning("%s", _headed(heading, errors))

    def _start(self, text: str) -> ProcessGroup:
        command = self._command
        try:
            given = text if command.reads_input else ""
            return ProcessGroup(command.for_text(text), self._environment(), command.folder, given)
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
            raise self._failed(f"{name} was ended by signal {_signal_name(-finished.status)}", finished)
        if finished.status:
            raise self._failed(f"{name} ended with exit status {finished.status}", finished)
        if not answer:
            raise self._failed(f"{name} printed nothing; its answer is what it prints to standard output", finished)
        return answer

    def _failed(self, problem: str, finished: Finished) -> ParticipantError:
        found = [("standard output", finished.output), ("standard error", finished.errors)]
        parts = [_headed(heading, text) for heading, text in found if text.strip()]
        return ParticipantError("\n".join([problem, *parts]), side="agent")


def _headed(heading: str, text: str) -> str:
    """Return the end of a program's output, indented below a heading."""
    shown = "\n".join(f"  {line}" for line in visible(mask_secrets(text.strip(), {})).splitlines())
    return f"{heading}:\n{shown if len(shown) <= _SHOWN else f'  …{shown[-_SHOWN:]}'}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
