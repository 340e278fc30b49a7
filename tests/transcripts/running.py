"""Make a run in a scratch project, and write down what came out."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from inner_runs import quick_options

from .normalise import Normaliser, dumped

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_QUICK = quick_options()
#: Not written by the plugin.
_FOREIGN = {".pytest_cache", "__pycache__", ".hypothesis", ".config", ".cache"}

#: A command with its arguments, or files to write before the next one (None removes a file).
Step = str | Mapping[str, str | None]


@dataclass(frozen=True)
class Run:
    """One transcript.

    Attributes:
        name: Names the recording and the test.
        steps: What is done, in order.
        files: What the project has before.
        unordered: Workers write in any order: lines are sorted, and the transcript says so.
        full: Simulations are recorded in full, else one line each with a digest.
        keep: Of terminal output only what matches this pattern is recorded.
    """

    name: str
    steps: tuple[Step, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    unordered: bool = False
    full: bool = False
    keep: str | None = None


class Recorder:
    """Makes one run.

    Args:
        run: The run.
        pytester: An empty project.
        monkeypatch: Sets the environment of each step.
    """

    def __init__(self, run: Run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self._run, self._pytester, self._monkeypatch = run, pytester, monkeypatch
        self._root = pytester.path
        self._normaliser = Normaliser(self._root)
        self._written: dict[Path, str] = {}

    def transcript(self) -> str:
        """Carry out the steps, and return the transcript."""
        parts = ["(lines that come in any order are sorted)"] if self._run.unordered else []
        self._write({"pytest.ini": "[pytest]\n", **self._run.files})
        for step in self._run.steps:
            if isinstance(step, Mapping):
                parts.append(self._write(step))
            else:
                parts.append(self._command(step))
        parts += self._files()
        return "\n\n".join(part.strip("\n") for part in parts) + "\n"

    def _write(self, files: Mapping[str, str | None]) -> str:
        for name, text in files.items():
            path = self._root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                self._written[path] = textwrap.dedent(text)
                path.write_text(self._written[path], encoding="utf-8")
        return "\n".join(f"# {'write' if text is not None else 'remove'} {name}" for name, text in files.items())

    def _command(self, line: str) -> str:
        words = shlex.split(line)
        environment = {}
        while "=" in words[0]:
            name, _, environment[name] = words.pop(0).partition("=")
        program, *args = words
        with self._monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            status, out, err = self._pytest(args) if program == "pytest" else _console_script(program, args)
        for info in sorted(self._root.rglob("run.json"), key=lambda path: path.stat().st_mtime_ns):
            self._normaliser.number(info.parent.name)
        written = [f"$ {line}", f"exit status {status}"]
        for title, lines in (("", out), ("-- stderr", err)):
            text = self._normaliser.terminal(lines, unordered=self._run.unordered).strip("\n")
            if self._run.keep:
                text = "\n".join(found.group().strip("\n") for found in re.finditer(self._run.keep, text, re.MULTILINE))
            if text:
                written += [title, text] if title else [text]
        return "\n".join(written)

    def _pytest(self, args: list[str]) -> tuple[int, list[str], list[str]]:
        result = self._pytester.runpytest_inprocess(*_QUICK, *args, no_reraise_ctrlc=True)
        return int(result.ret), result.outlines, result.errlines

    def _files(self) -> list[str]:
        """Return what there is that was not written by a step, with its content."""
        shown = {}
        for path in self._root.rglob("*"):
            name = path.relative_to(self._root)
            if not path.is_file() or _FOREIGN & {*name.parts}:
                continue
            if path not in self._written or path.read_text(encoding="utf-8") != self._written[path]:
                shown[self._normaliser.text(str(name))] = self._content(path)
        return [f"==> {name}\n{shown[name]}" for name in sorted(shown)]

    def _content(self, path: Path) -> str:
        if path.suffix == ".html":
            return "(an HTML report)"
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".xml":
            return self._normaliser.xml(text, unordered=self._run.unordered)
        if path.name == "run.json":
            return dumped(self._normaliser.json(json.loads(text)), full=self._run.full)
        if path.suffix == ".jsonl":
            entries = [self._normaliser.json(json.loads(line)) for line in text.splitlines()]
            if self._run.unordered:
                entries.sort(key=lambda entry: str(entry.get("test")))
            shown = [dumped(entry, full=True) if self._run.full else _in_short(entry) for entry in entries]
            return "\n".join([_keys(entries), *shown])
        text = self._normaliser.text(text)
        if path.suffix == ".cassette" and not self._run.full:
            return f"{len(text.splitlines())} lines, {hashlib.sha256(text.encode()).hexdigest()[:12]}"
        return text


def _keys(entries: list[dict[str, Any]]) -> str:
    names = dict.fromkeys(name for entry in entries for name in entry)
    return textwrap.fill(f"{len(entries)} with {', '.join(names)}", 100)


def _in_short(entry: dict[str, Any]) -> str:
    """Return the verdict of a simulation, and a digest of everything."""
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:12]
    reward = (entry.get("reward_info") or {}).get("reward")
    messages = entry.get("messages")
    many = len(messages) if isinstance(messages, list) else messages
    ending = entry.get("termination_reason")
    return f"{entry.get('test')}: reward {reward}, {ending}, seed {entry.get('seed')}, {many} messages, {digest}"


def _console_script(name: str, args: list[str]) -> tuple[int, list[str], list[str]]:
    """Run an installed command in this process."""
    (script,) = entry_points(group="console_scripts", name=name)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = script.load()(args)
        except SystemExit as error:
            status = error.code
    return status or 0, out.getvalue().split(os.linesep), err.getvalue().split(os.linesep)
