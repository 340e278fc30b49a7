"""A headless Chromium over its pipe, with the time that a page takes to be usable and the memory that it takes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--no-default-browser-check"),
    *("--window-size=1400,900", "--remote-debugging-pipe"),
)


class Opened(NamedTuple):
    """A page that was opened.

    Attributes:
        seconds: Until it could be used.
        cpu: Seconds of the processor, of all processes of the browser, from the start of the navigation on.
        peak: The sum of the peaks of the memory of all processes of the browser, in MB.
    """

    seconds: float
    cpu: float
    peak: float


def chromium() -> str | None:
    """Return the path of a Chromium: ``$CHROMIUM``, or one of its usual names."""
    return os.environ.get("CHROMIUM") or next((found for name in _NAMES if (found := shutil.which(name))), None)


def open_page(binary: str, file: Path, usable: str) -> Opened:
    """Open a page in a browser of its own.

    Args:
        binary: The path of the browser.
        file: The page.
        usable: The expression of JavaScript that is true once the page can be used.
    """
    with _browser(binary) as (pid, pipe):
        session = pipe.command("Target.createTarget", url="about:blank")["targetId"]
        pipe.session = pipe.command("Target.attachToTarget", targetId=session, flatten=True)["sessionId"]
        before, start = _processor_time(pid), time.perf_counter()
        pipe.command("Page.navigate", url=file.resolve().as_uri())
        while not pipe.evaluate(f"location.protocol === 'file:' && !!({usable})"):
            time.sleep(0.01)
        seconds = time.perf_counter() - start
        while not pipe.evaluate("document.readyState === 'complete'"):
            time.sleep(0.01)
        time.sleep(0.3)  # what the page does after it was loaded counts for its memory
        return Opened(seconds, _processor_time(pid) - before, _peak(pid))


class _Pipe:
    """Chromium's protocol of remote control: JSON that ends with a zero byte."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = os.fdopen(to_browser, "wb", buffering=0), os.fdopen(from_browser, "rb", buffering=0)
        self._number, self._rest = 0, b""
        self.session: str | None = None

    def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Carry out a command, and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        message |= {"sessionId": self.session} if self.session else {}
        self._to.write(json.dumps(message).encode() + b"\0")
        while (answer := self._answer()).get("id") != self._number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page; None while it has none."""
        return self.command("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def _answer(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._from.read(1 << 16)
            if not piece:
                raise RuntimeError("the browser has ended")
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer


@contextlib.contextmanager
def _browser(binary: str) -> Iterator[tuple[int, _Pipe]]:
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # The browser reads from its descriptor 3 and writes to its 4; a shell puts them there.
        script = f'exec {{read}}<&{to_read} {{write}}>&{from_write}; exec "$@" 3<&$read 4>&$write'
        command = ["bash", "-c", script, "chromium", binary, *_OPTIONS, f"--user-data-dir={home}"]
        quiet = subprocess.DEVNULL
        started = subprocess.Popen(command, pass_fds=(to_read, from_write), stdout=quiet, stderr=quiet)
        os.close(to_read)
        os.close(from_write)
        try:
            yield started.pid, _Pipe(to_write, from_read)
        finally:
            started.terminate()
            try:
                started.wait(10)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def _processes(pid: int) -> list[Path]:
    """Return the folders below ``/proc`` of a process and of its descendants."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int(_status(folder)[1]), []).append(int(folder.name))
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return [Path("/proc", str(each)) for each in found]


def _status(folder: Path) -> list[str]:
    """Return the fields of ``/proc/PID/stat`` that follow the name, from the state on."""
    return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _processor_time(pid: int) -> float:
    ticks = 0
    for folder in _processes(pid):
        with contextlib.suppress(OSError):
            ticks += sum(map(int, _status(folder)[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> float:
    """Return the sum of the peaks of resident memory, in MB."""
    kilobytes = 0
    for folder in _processes(pid):
        with contextlib.suppress(OSError):
            lines = (folder / "status").read_text(encoding="utf-8", errors="replace").splitlines()
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return kilobytes / 1024
