"""The shell over a folder of documents, in a sandbox: one folder, no network, a time limit.

There is no way to run commands without a sandbox.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConfigurationError, ToolServerError
from .measure import file_name

if TYPE_CHECKING:
    from .documents import Documents

#: Seconds that a command may take.
LIMIT = 30.0
#: Bytes of each output stream that are read.
MOST_OUTPUT = 1 << 20
_PROGRAM = "bwrap"
#: What commands can read of the system; what is missing is skipped.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives", "/etc/ld.so.cache")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_ABSOLUTE = re.compile(r"(?<=[\s=<>|&;(])/[^\s;|&<>()]*")
#: Rows of ``ls -l``: mode, links, owner, group, size, date.
_LISTED = re.compile(
    r"^(?P<mode>[-dlbcps][-rwxsStT]{9}[.+@]?\s+\d+)\s+\S+\s+\S+(?P<size>\s+\d+)\s+[A-Z][a-z]{2}\s+\d{1,2}\s+[\d:]{4,5}",
    re.MULTILINE,
)


class Shell:
    """The shell of one environment, over files of its own.

    Args:
        documents: The knowledge base.
        writable: Whether commands may change the files, for later commands of the same environment.
    """

    def __init__(self, documents: Documents, *, writable: bool = False) -> None:
        self._writable = writable
        self._folder = Path(tempfile.mkdtemp(prefix="tau-kb-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        write_files(documents, self._folder)

    def run(self, command: str) -> str:
        """Return the answer to a command.

        Source: τ²-bench v1.0.1, answers of its sandbox.

        Raises:
            ToolServerError: The sandbox cannot be started.
        """
        blocked = refused(command)
        if blocked is not None:
            explanation = f"Command blocked - contains '{blocked}' which could escape the sandbox"
            return f"Error (exit code 1): Error: {explanation}"
        return answer(command, run_in_sandbox(command, self._folder, writable=self._writable))

    def close(self) -> None:
        """Remove the files."""
        self._remove()


def write_files(documents: Documents, folder: Path) -> None:
    """Write a Markdown file for each document, and an index of all.

    Source: τ²-bench v1.0.1, files of its sandbox.
    """
    rows = []
    for document in sorted(documents, key=lambda document: document.id):
        name = file_name(document.id)
        (folder / name).write_text(f"# {document.title}\n\n{document.content}", encoding="utf-8")
        rows.append(f"- **{name}** - {document.title}\n")
    head = f"# Knowledge Base Index\n\n**Total documents:** {len(rows)}\n\n## Documents\n\n"
    (folder / "INDEX.md").write_text(head + "".join(rows), encoding="utf-8")


def refused(command: str) -> str | None:
    """Return what a command is refused for; None if it may be run.

    The sandbox isolates whatever a command contains. The check is that of the reference, whose texts agents see.

    Source: τ²-bench v1.0.1.
    """
    plain = _QUOTED.sub(lambda match: " " * len(match[0]), command)
    if ".." in plain:
        return ".."
    if plain.lstrip().startswith("/"):
        return "absolute path at start"
    if absolute := _ABSOLUTE.search(plain):
        return f"absolute path: {absolute[0]}"
    return next((symbol for symbol in ("~", "$HOME") if symbol in plain), None)


def answer(command: str, process: Finished) -> str:
    """Return the answer to a command that has ended."""
    if process.code == 0:
        return _masked(process.stdout) or "(no output)"
    if process.code == 1 and "grep" in command and not process.stderr:
        return "No matches found."
    problem = process.stderr.strip()
    return (
        f"Error (exit code {process.code}): {problem}" if problem else f"Command failed with exit code {process.code}"
    )


def _masked(text: str) -> str:
    """Return output without owners, groups and dates of files, which differ from machine to machine."""
    return _LISTED.sub(r"\g<mode> kb_user kb_group\g<size> Jan  1 00:00", text)


# The sandbox


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
    completed = subprocess.run(  # noqa: S603 - no shell, no foreign text
        [program, *_ISOLATION, *_system(), "true"], capture_output=True, text=True, check=False, timeout=LIMIT
    )
    if completed.returncode:
        problem = completed.stderr.strip() or f"exit code {completed.returncode}"
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
    text = output[:MOST_OUTPUT].decode("utf-8", "replace")
    return text if len(output) <= MOST_OUTPUT else f"{text}\n[{len(output) - MOST_OUTPUT:,} more bytes]"
