"""Commands in a sandbox: one folder, no network, a time limit. There is no way to run them without one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ConfigurationError, ToolServerError

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds that a command may take.
LIMIT = 30.0
#: Bytes of each output stream that are read.
MOST_OUTPUT = 1 << 20
_PROGRAM = "bwrap"
#: What commands can read of the system; what is missing is skipped.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")


class Finished(NamedTuple):
    """A command that has ended; ``timed_out`` if it was ended by the time limit."""

    code: int
    stdout: str
    stderr: str
    timed_out: bool = False


def check_sandbox(variant: str) -> None:
    """Check that commands can be run in a sandbox here.

    Raises:
        ConfigurationError: bubblewrap is not installed, or is not allowed to make a sandbox.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise ConfigurationError(
            f"retrieval variant {variant!r} runs shell commands in a sandbox: install bubblewrap (the program bwrap), "
            "which is in the packages of Linux distributions"
        )
    done = subprocess.run(  # noqa: S603 - no shell, no foreign text
        [program, *_ISOLATION, *_system(), "true"], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    if done.returncode:
        problem = done.stderr.strip() or f"exit code {done.returncode}"
        raise ConfigurationError(f"retrieval variant {variant!r}: bubblewrap cannot make a sandbox here: {problem}")


#: New namespaces for everything, the network among them; what is started ends with the sandbox.
_ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv")


def _system() -> list[str]:
    mounts = [part for path in _SYSTEM for part in ("--ro-bind-try", path, path)]
    return [*mounts, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - inside of the sandbox


def run_in_sandbox(command: str, folder: Path, *, writable: bool, limit: float = LIMIT) -> Finished:
    """Run a shell command in a folder.

    The shell is inside of the sandbox, which has the folder as ``/kb``, programs of the system for reading, and nothing
    else: no network, no other file of the user, no environment variables.

    Args:
        command: The command.
        folder: The folder.
        writable: Whether the command may change the folder.
        limit: Seconds after which the sandbox and all that runs in it are killed.

    Raises:
        ToolServerError: The sandbox cannot be started.
    """
    program = shutil.which(_PROGRAM)
    if program is None:
        raise ToolServerError("bubblewrap (bwrap) is not installed any more")
    bind = "--bind" if writable else "--ro-bind"
    inside = ["--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LC_ALL", "C.UTF-8", bind, str(folder), "/kb"]
    argv = [program, *_ISOLATION, *_system(), *inside, "--chdir", "/kb", "/bin/sh", "-c", command]
    # A group of its own, so that all of it can be killed.
    with subprocess.Popen(  # noqa: S603 - the shell that reads the command is in the sandbox
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        try:
            stdout, stderr = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            _kill_group(process)
            # A process that has left the group may keep the pipes open.
            return Finished(124, "", f"Command timed out after {limit:g} seconds", timed_out=True)
        except BaseException:
            _kill_group(process)
            raise
    return Finished(process.returncode, _text(stdout), _text(stderr))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait()


def _text(output: bytes) -> str:
    shown = output[:MOST_OUTPUT].decode("utf-8", "replace")
    return shown if len(output) <= MOST_OUTPUT else f"{shown}\n[{len(output) - MOST_OUTPUT:,} more bytes]"
