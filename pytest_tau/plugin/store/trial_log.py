"""``--tau-logs DIR``: a folder for each trial, with its messages, its model calls and how it ended."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING, Any

from ...analysis.usage import format_tokens
from ...clock import utc_now
from ...files import atomic_write, file_name_of
from ...masking import mask_secrets
from ...plain import json
from ...text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from ...chat import ChatReply, ChatRequest, Role
    from ...models import Message, Simulation

#: Characters of a text in a line of ``trial.log``; the whole text is in the files of the calls.
_LONGEST = 2000


class TrialLog:
    """Writes the log of a trial while it runs: ``trial.log``, ``calls/0001-agent.json`` … and ``status.json``.

    A participant that has raised an exception has its ``traceback.txt``.

    The folder of an earlier run's trial of the same test is replaced. A file that cannot be written does not end the
    trial.

    Attributes:
        problem: Why a file could not be written; None if all were.
    """

    def __init__(self, folder: Path, test: str) -> None:
        self._folder = folder / file_name_of(test)
        self.problem: str | None = None
        self._calls = 0
        self._lock = threading.Lock()
        try:
            shutil.rmtree(self._folder, ignore_errors=True)
            (self._folder / "calls").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._note(error)

    def add_message(self, message: Message) -> None:
        """Add a line for a message of the conversation, and for each of its tool calls."""
        self._add(f"{message.role}: {message.content}" if message.content else None)
        for call in getattr(message, "tool_calls", None) or []:
            self._add(f"{message.role} calls {call.name}({json.dumps(call.arguments, ensure_ascii=False)})")
        self._add(f"{message.role}: {how}" if (how := getattr(message, "cut_off", None)) else None)

    def add_call(self, role: Role, request: ChatRequest, reply: ChatReply | None, error: BaseException | None) -> None:
        """Write the file of a model call, and add a line for it.

        Args:
            role: The role that has made the call.
            request: The request; its arguments are written without keys.
            reply: The answer, if there is one.
            error: What the call has raised, if there is no answer.
        """
        with self._lock:
            self._calls += 1
            name = f"{self._calls:04d}-{role}.json"
        fields = request.model_dump(mode="json", exclude={"args"}) | {"args": request.public_args}
        failure = None if error is None else mask_secrets(f"{type(error).__name__}: {error}")
        answer = reply.model_dump(mode="json") if reply else None
        self._write(f"calls/{name}", {"role": role, "request": fields, "reply": answer, "error": failure})
        self._add(f"{role} model {request.model}, {name}: {failure or _facts(reply)}")

    def end(
        self, simulation: Simulation | None, error: BaseException | None = None, traceback: str | None = None
    ) -> None:
        """Write how the trial ended.

        Args:
            simulation: The simulation, if there is one.
            error: Why there is none.
            traceback: The traceback of the exception of a participant that has ended the conversation.
        """
        if simulation is None:
            status: dict[str, Any] = {"outcome": "not run", "error": mask_secrets(f"{type(error).__name__}: {error}")}
        else:
            fields = {"task_id", "trial", "seed", "termination_reason", "error", "duration", "model_usage"}
            status = {"outcome": simulation.outcome, "reward": simulation.reward}
            status |= simulation.model_dump(mode="json", include=fields)
        self._write("status.json", status)
        if traceback is not None:
            self._write_text("traceback.txt", traceback)
        self._add(f"end: {status['outcome']}, {status.get('termination_reason') or status['error']}")

    def _add(self, text: str | None) -> None:
        if text is None:
            return
        now = utc_now().isoformat(timespec="milliseconds")
        try:
            with self._lock, (self._folder / "trial.log").open("a", encoding="utf-8", errors="backslashreplace") as log:
                log.write(f"{now} {one_line(mask_secrets(text), _LONGEST)}\n")
        except OSError as error:
            self._note(error)

    def _write(self, name: str, content: dict[str, Any]) -> None:
        self._write_text(name, json.dumps(content, ensure_ascii=False, indent=1, default=repr))

    def _write_text(self, name: str, text: str) -> None:
        try:
            atomic_write(self._folder / name, text + "\n")
        except OSError as error:
            self._note(error)

    def _note(self, error: OSError) -> None:
        self.problem = self.problem or f"the log cannot be written to {self._folder}: {error.strerror or error}"


def _facts(reply: ChatReply | None) -> str:
    if reply is None:
        return "no answer"
    used = reply.usage
    tokens = format_tokens(used.prompt_tokens, used.completion_tokens) if used else "no tokens"
    cost = "cost unknown" if reply.cost is None else f"${reply.cost:.4f}"
    return f"{reply.finish_reason or 'answered'}, {tokens}, {cost}, {reply.seconds:.1f} s"
