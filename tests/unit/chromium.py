"""A headless Chromium, driven over its own pipe: nothing is installed for it, and nothing listens on a port."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_KEYS = {
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "End": ("End", 35, ""),
    "Home": ("Home", 36, ""),
    "Tab": ("Tab", 9, ""),
}


def chromium() -> str | None:
    """Where a Chromium is: ``$CHROMIUM``, or one of its usual names on the path."""
    return os.environ.get("CHROMIUM") or next((found for name in NAMES if (found := shutil.which(name))), None)


class Page:
    """One page, and what has happened to it: requests to a network, errors, messages on its console."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = os.fdopen(to_browser, "wb", buffering=0), os.fdopen(from_browser, "rb", buffering=0)
        self._number, self._session, self._left = 0, None, b""
        self.requests: list[str] = []
        self.complaints: list[str] = []

    def start(self) -> None:
        target = self._command("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._command(f"{domain}.enable")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._session = None
            self._command("Browser.close")
        self._to.close()
        self._from.close()

    def open(self, file: Path, fragment: str = "") -> None:
        self.requests.clear()
        self._command("Page.navigate", url="about:blank")
        self._command("Page.navigate", url=file.resolve().as_uri() + fragment)
        self.wait_for("document.readyState === 'complete' && location.protocol === 'file:'")

    def size(self, width: int, height: int = 900) -> None:
        self._command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )

    def colours(self, scheme: str) -> None:
        self._command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def js(self, expression: str) -> Any:
        """What an expression comes to; a promise is waited for."""
        done = self._command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"].get("exception", {}).get("description", done))
        return done["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait until the expression is true; it is evaluated once per frame."""
        waiting = f"""new Promise((done, lost) => {{
            let left = 600;
            const look = () => ({expression}) ? done(true) : left-- ? setTimeout(look, 16) : lost(new Error("never"));
            look();
        }})"""
        try:
            self.js(waiting)
        except AssertionError:
            raise AssertionError(f"it never came to {expression}; the page says: {self.text('body')[:2000]}") from None

    def key(self, *keys: str) -> None:
        for key in keys:
            name, code, text = _KEYS.get(key, (key, ord(key[0].upper()), key))
            answer = {"key": name, "windowsVirtualKeyCode": code, "code": name}
            self._command("Input.dispatchKeyEvent", type="keyDown", text=text, **answer)
            self._command("Input.dispatchKeyEvent", type="keyUp", **answer)

    def type(self, text: str) -> None:
        """Type into the element that has the focus."""
        self._command("Input.insertText", text=text)

    def choose(self, label: str, value: str) -> None:
        """A value of the select with this label."""
        select = f"document.querySelector('select[aria-label={json.dumps(label)}]')"
        self.js(f"{select}.value = {json.dumps(value)}; {select}.dispatchEvent(new Event('change'))")

    def text(self, selector: str) -> str:
        """What a person reads of the first element."""
        return self.js(f"(document.querySelector({json.dumps(selector)}) || {{}}).innerText || ''")

    def texts(self, selector: str) -> list[str]:
        return self.js(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.innerText)")

    def count(self, selector: str) -> int:
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def click(self, selector: str) -> None:
        self.js(f"document.querySelector({json.dumps(selector)}).click()")

    def _command(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        self._to.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            piece = self._from.read(1 << 16)
            if not piece:
                raise OSError("the browser has ended")
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def _note(self, answer: dict[str, Any]) -> None:
        method, params = answer.get("method"), answer.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])


@contextlib.contextmanager
def browser(binary: str) -> Iterator[Page]:
    """A page in a browser of its own, which is ended with it."""
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        command = [binary, *QUIET, f"--user-data-dir={home}"]
        # The browser reads from its descriptor 3 and writes to its 4; a shell puts them there, by way of two others
        # that it finds free.
        script = f'exec {{read}}<&{to_read} {{write}}>&{from_write}; exec "$@" 3<&$read 4>&$write'
        process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command],
            pass_fds=(to_read, from_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        page = Page(to_write, from_read)
        killer = threading.Timer(1200, process.kill)
        killer.start()
        try:
            page.start()
            yield page
        finally:
            page.close()
            killer.cancel()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
