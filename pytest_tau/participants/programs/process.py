"""Processes with a group of their own: what they print is kept, and the whole group can be ended."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import threading
import time
from functools import partial
from queue import SimpleQueue
from typing import IO, TYPE_CHECKING, NamedTuple

from ...clock import steady_time
from .watcher import signal_group, watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

#: The most bytes of standard output. No message may be as long.
MOST_OUTPUT = 4_000_000
#: Bytes of standard error that are kept, from its end, where a traceback is.
_KEPT_ERRORS = 20_000
#: Seconds between the request to end and the kill.
GRACE = 2.0
#: Seconds that a killed process has to disappear.
_DYING = 0.5
#: Seconds in which output is read after the program has ended, if one of its children has the pipe open.
_DRAINING = 0.5
_CHUNK = 65_536
_POLL = 0.02
_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no such signal


class Finished(NamedTuple):
    """The end of a program.

    Attributes:
        status: The exit status; negative for the number of the signal that ended it.
        output: Its standard output, at most ``MOST_OUTPUT`` bytes.
        errors: The end of its standard error.
        overflow: It printed more, and was ended for it.
    """

    status: int
    output: str
    errors: str
    overflow: bool


class ProcessGroup:
    """A running program with its children, which ends with this process at the latest, even if that is killed.

    Args:
        arguments: The program and its arguments; no shell reads them.
        environment: Its whole environment.
        folder: Its working directory.
        text: Written to its standard input, which is then closed; None to leave it open for ``write``.
        listener: Called in a thread with each part of the standard output, which is then not kept.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        text: str | None = "",
        listener: Callable[[bytes], None] | None = None,
    ) -> None:
        self._overflow, self._listener = False, listener
        self._input: SimpleQueue[bytes | None] = SimpleQueue()
        self._ending: threading.Thread | None = None
        self._lock = threading.Lock()
        self._watcher = watcher(GRACE)
        self._process = subprocess.Popen(  # noqa: S603 - no shell, and the program is the user's choice
            list(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
        if self._watcher is not None:
            self._watcher.add(self._process.pid)
        atexit.register(self.end)
        self._output, self._errors = bytearray(), b""
        self._readers = [_in_thread(self._read_output), _in_thread(self._read_errors)]
        _in_thread(partial(_write, self._process.stdin, self._input))
        if text is not None:
            self.write(text.encode("utf-8", errors="replace"))
            self._input.put(None)

    def write(self, content: bytes) -> None:
        """Write to the standard input, without waiting until the program reads it."""
        self._input.put(content)

    def wait(self) -> Finished:
        """Wait until the program itself has ended; its children may run on."""
        status = self._wait_for_exit()
        deadline = steady_time() + _DRAINING
        for reader in self._readers:
            reader.join(max(0.0, deadline - steady_time()))
        return Finished(status, _text(self._output), self.errors, self._overflow)

    @property
    def errors(self) -> str:
        """The end of what the program has written to standard error so far."""
        return _text(self._errors)

    def end(self) -> None:
        """Ask all processes of the group to end, and kill what has not ended ``GRACE`` seconds later.

        Returns at once, and may be called from any thread and several times.
        """
        with self._lock:
            if self._ending is not None:
                return
            # Not a daemon, whichever thread starts it: Python waits for it when the process ends.
            self._ending = threading.Thread(target=self._end, name="tau-program-end", daemon=False)
            self._input.put(None)
            self._signal(signal.SIGTERM)
            with contextlib.suppress(RuntimeError):  # threads cannot be started while the interpreter ends
                self._ending.start()
                return
        self._end()

    def join(self) -> None:
        """End the group, and wait until it has ended."""
        self.end()
        if self._ending is not None and self._ending.is_alive():
            self._ending.join()

    def _end(self) -> None:
        if self._outlives(GRACE):
            self._signal(_KILL)
            # A killed process takes a moment; one that its new parent does not reap stays in its group.
            self._outlives(_DYING)
        if self._watcher is not None:
            self._watcher.remove(self._process.pid)
        self._process.wait()
        atexit.unregister(self.end)

    def _outlives(self, seconds: float) -> bool:
        deadline = steady_time() + seconds
        while self._process.poll() is None or self._signal(0):
            if steady_time() > deadline:
                return True
            time.sleep(_POLL)
        return False

    def _signal(self, number: int) -> bool:
        """Send a signal to the group, and return whether there is one."""
        if not hasattr(os, "killpg"):  # pragma: no cover - Windows, which has no groups of this kind
            if self._process.poll() is None and number:
                self._process.kill()
            return False
        return signal_group(self._process.pid, number)

    def _wait_for_exit(self) -> int:
        if not hasattr(os, "waitid"):  # pragma: no cover - Windows, and macOS before Python 3.13
            return self._process.wait()
        # Not reaped until the group has been ended: the number of the group belongs to no other one until then.
        try:
            info = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:  # it was ended, and reaped, meanwhile
            return self._process.wait()
        assert info is not None, "it waits"
        return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status

    def _read_output(self) -> None:
        for chunk in _chunks(self._process.stdout):
            if self._listener is not None:
                self._listener(chunk)
                continue
            if len(self._output) + len(chunk) > MOST_OUTPUT:
                self._overflow = True
                self.end()
                return
            self._output += chunk

    def _read_errors(self) -> None:
        for chunk in _chunks(self._process.stderr):
            self._errors = (self._errors + chunk)[-_KEPT_ERRORS:]


def _in_thread(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True, name="tau-program")
    thread.start()
    return thread


def _chunks(pipe: IO[bytes] | None) -> Iterator[bytes]:
    assert pipe is not None, "it was asked for"
    with pipe:
        while chunk := os.read(pipe.fileno(), _CHUNK):
            yield chunk


def _text(content: bytes | bytearray) -> str:
    return content.decode("utf-8", errors="replace")


def _write(pipe: IO[bytes] | None, contents: SimpleQueue[bytes | None]) -> None:
    """Write what comes, until None does."""
    assert pipe is not None, "it was asked for"
    with contextlib.suppress(OSError), pipe:  # a program need not read it
        while (content := contents.get()) is not None:
            pipe.write(content)
            pipe.flush()
