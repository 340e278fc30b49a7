"""An agent that is a program which stays, ``stdio:PROGRAM ARGUMENTS``: lines of JSON, many conversations at once."""

from __future__ import annotations

import asyncio
import atexit
import os
import secrets
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from ...carried import carried
from ...errors import ConfigurationError, ParticipantError
from ...masking import mask_secrets
from ...text import one_line, plural
from .lines import Answer, End, Message, parse_answer
from .process import MOST_OUTPUT, ProcessGroup
from .program import TEXT, Command, headed, parse_command, signal_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ..own_loop import AgentTrial

PREFIX = "stdio:"
#: Characters of a line in an error.
_SHOWN = 200


def parse_staying(spec: str, folder: Path) -> Command:
    """Return the command of a program that stays.

    Raises:
        ConfigurationError: As for ``parse_command``; or an argument is to have the text.
    """
    command = parse_command(spec, folder, PREFIX)
    if not command.reads_input:
        raise ConfigurationError(
            f"agent {spec!r}: {TEXT} in the arguments: expected none, as each message is a line of standard input"
        )
    return command


class StayingProgram:
    """A running program, which answers the messages of many conversations.

    Attributes:
        problem: Why it takes no further message; empty while it does.
    """

    def __init__(self, command: Command, environment: Mapping[str, str]) -> None:
        self.problem = ""
        self._name = command.name
        self._waiting: dict[str, Future[str]] = {}
        self._ended: set[str] = set()
        self._rest = b""
        self._lock = threading.RLock()
        with self._lock:  # it may print a line before it is known here
            self._group = ProcessGroup(command.arguments, environment, command.folder, None, self._read)
        threading.Thread(target=self._watch, daemon=True, name="tau-program-watch").start()

    def ask(self, message: Message) -> Future[str]:
        """Send a message; the future has the answer, or a ``ParticipantError``.

        Raises:
            ParticipantError: The program takes no further message.
        """
        with self._lock:
            if self.problem:
                raise ParticipantError(self.problem, side="agent")
            answer: Future[str] = Future()
            answer.set_running_or_notify_cancel()  # so that a trial which is cut off cannot cancel it
            self._waiting[message.conversation] = answer
            self._group.write(_line(message))
            return answer

    def forget(self, conversation: str) -> None:
        """End a conversation: a late answer is of no interest."""
        with self._lock:
            self._waiting.pop(conversation, None)
            self._ended.add(conversation)
            if not self.problem:
                self._group.write(_line(End(conversation=conversation, end=True)))

    def end(self) -> None:
        """End the program."""
        with self._lock:
            self.problem = self.problem or f"{self._name} was ended"
        self._group.end()

    def _read(self, content: bytes) -> None:
        with self._lock:
            *lines, self._rest = (self._rest + content).split(b"\n")
            for line in filter(bytes.strip, lines):
                self._accept(line)
            if len(self._rest) > MOST_OUTPUT:
                self._fail(f"printed a line of more than {plural(MOST_OUTPUT, 'byte')}")

    def _accept(self, line: bytes) -> None:
        if self.problem:
            return
        try:
            answer = parse_answer(line)
        except ValueError as error:
            expected = (
                'expected lines such as {"conversation": "ID", "text": "ANSWER"}; standard error is free for logs'
            )
            self._fail(f"printed {_shown(line)}: {error}; {expected}")
            return
        waiting = self._waiting.pop(answer.conversation, None)
        if waiting is not None:
            self._settle(waiting, answer)
        elif answer.conversation not in self._ended:
            self._fail(f"answered conversation {one_line(answer.conversation, _SHOWN)!r}, which no message waits for")

    def _settle(self, waiting: Future[str], answer: Answer) -> None:
        if answer.text is not None and answer.text.strip():
            waiting.set_result(answer.text.strip())
            return
        problem = f"reported: {answer.error}" if answer.text is None else "answered with an empty text"
        waiting.set_exception(self._error(problem))

    def _watch(self) -> None:
        finished = self._group.wait()
        with self._lock:
            ended_by = f"was ended by signal {signal_name(-finished.status)}"
            how = ended_by if finished.status < 0 else f"ended with exit status {finished.status}"
            half = f"; its last line has no end: {_shown(self._rest)}" if self._rest.strip() else ""
            self._fail(f"{how}{half}")

    def _fail(self, problem: str) -> None:
        """Fail every conversation that waits, and take no further message."""
        if self.problem:
            return
        self.problem = str(self._error(problem))
        waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            answer.set_exception(ParticipantError(self.problem, side="agent"))
        self._group.end()

    def _error(self, problem: str) -> ParticipantError:
        errors = self._group.errors
        parts = [headed("standard error", errors)] if errors.strip() else []
        return ParticipantError("\n".join([f"{self._name} {mask_secrets(problem)}", *parts]), side="agent")


_LOCK = threading.Lock()
#: The programs of each process, by command and environment: a forked child has none.
_PROGRAMS: dict[tuple[int, Command, frozenset[tuple[str, str]]], StayingProgram] = {}


def running_program(command: Command, environment: Mapping[str, str]) -> StayingProgram:
    """Return the running program, started if there is none that takes messages.

    Raises:
        ParticipantError: It cannot be started.
    """
    key = (os.getpid(), command, frozenset(environment.items()))
    with _LOCK:
        running = _PROGRAMS.get(key)
        if running is None or running.problem:
            try:
                running = _PROGRAMS[key] = StayingProgram(command, environment)
            except OSError as error:
                raise ParticipantError(f"{command.name} cannot be started: {error.strerror}", side="agent") from error
        return running


@atexit.register
def end_programs() -> None:
    """End all programs of this process."""
    with _LOCK:
        running = [program for (process, *_), program in _PROGRAMS.items() if process == os.getpid()]
        _PROGRAMS.clear()
    for program in running:
        program.end()


class StayingAgent:
    """One conversation with a program that stays.

    Args:
        command: The program.
        trial: The trial.
    """

    def __init__(self, command: Command, trial: AgentTrial) -> None:
        self._command, self._trial = command, trial
        self._conversation = secrets.token_hex(8)
        self._program: StayingProgram | None = None

    async def run(self, text: str) -> str:
        """Return the program's answer to a text.

        Raises:
            ParticipantError: The program cannot be started, has ended, answers with an error, or not in the format.
        """
        trial = self._trial
        if self._program is None:
            self._program = running_program(self._command, trial.shared_environ)
        answer = self._program.ask(
            Message(
                conversation=self._conversation,
                text=text,
                policy=trial.policy,
                mcp_url=trial.mcp_url,
                base_url=trial.base_url,
                anthropic_base_url=trial.anthropic_base_url,
                api_key=trial.api_key,
                headers=dict(carried.get()),
            )
        )
        return await asyncio.wrap_future(answer)

    async def close(self) -> None:
        """End the conversation; the program goes on."""
        if self._program is not None:
            self._program.forget(self._conversation)


def _line(value: Message | End) -> bytes:
    return value.model_dump_json().encode() + b"\n"


def _shown(line: bytes) -> str:
    return repr(one_line(line.decode("utf-8", errors="replace"), _SHOWN))
