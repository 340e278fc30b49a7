"""Tool servers that are forked from a process which has imported the SDK: that takes each of them 1.5 seconds.

``python tests/warm_tool_servers.py ADDRESS`` listens there until its input ends. A connection brings the path of a
server's file and its standard streams; it is closed when the server ends.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Stands in for a server's file: its process lasts as long as the server.
_STAND_IN = """
import socket

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    socket.send_fds(connection, [{file!r}.encode()], [0, 1, 2])
    connection.recv(1)
"""


@contextlib.contextmanager
def warm_tool_servers() -> Iterator[Callable[[Path], None]]:
    """Start the process; gives a function that lets the server of a file be forked from it."""
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder, "s"))  # the path of a socket must be short
        command = [sys.executable, __file__, address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"

            def warm(file: Path) -> None:
                own = file.rename(file.with_name(f"own_{file.name}"))
                file.write_text(_STAND_IN.format(address=address, file=str(own)), encoding="utf-8")

            yield warm
            process.stdin.close()


def main(address: str) -> str | None:
    """Fork until the input ends; returns in each child, with the file that it has to run."""
    importlib.import_module("mcp.server.mcpserver")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("ready", flush=True)
        while sys.stdin not in (ready := select.select([listening, sys.stdin], [], [], 1)[0]):
            while _has_ended():
                pass
            if not ready:
                continue
            connection, _ = listening.accept()
            file, streams, _, _ = socket.recv_fds(connection, 4096, 3)
            if os.fork() == 0:
                connection.detach()
                for number, stream in enumerate(streams):
                    os.dup2(stream, number)
                    os.close(stream)
                return file.decode()
            connection.close()
            for stream in streams:
                os.close(stream)
    return None


def _has_ended() -> bool:
    """Return whether a child has ended, and is waited for."""
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


if __name__ == "__main__":
    FILE = main(sys.argv[1])
    if FILE is not None:
        os.chdir(Path(FILE).parent)
        sys.argv = [FILE]
        runpy.run_path(FILE, run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # taking apart what has been imported takes long
