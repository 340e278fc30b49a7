"""Branches of the functions of tools that calls take, measured with the package ``coverage``."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...documents import parse_json
from ...errors import ConfigurationError, install_extra
from ...text import one_line, relative_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...environment import Domain
    from ...models import Task
    from .exercised import Made
    from .functions import Function

EXTRA = f"needs the extra 'coverage': {install_extra('coverage')}"
#: Characters of a line of source that are shown.
_SHOWN = 60
#: Warnings about what is so on purpose: files that were imported before, and that no call reaches.
_WARNINGS = (
    "already-imported",
    "module-not-measured",
    "no-ctracer",
    "no-data-collected",
    "no-sysmon",
    "trace-changed",
)
_GLOB = re.compile(r"[\[\]*?]")


class Branch(NamedTuple):
    """A way that a function can take: into it, or from one of its lines to another one.

    Attributes:
        function: The function.
        start: The line of the condition; that of the function if it is the way into it.
        to: The line that follows; negative if the function ends; 0 for the way into the function.
    """

    function: Function
    start: int
    to: int

    @property
    def is_error(self) -> bool:
        """Whether it leads to an error."""
        return self.to in self.function.errors


class CodeCoverage(NamedTuple):
    """What was run of the functions of tools.

    Attributes:
        taken: The branches that were taken.
        missing: The others.
        files: By file, the share of its statements and branches together, in percent, as ``coverage`` reports it. What
            an import executes counts as executed.
    """

    taken: list[Branch]
    missing: list[Branch]
    files: dict[Path, float]


def is_installed() -> bool:
    """Return whether the package ``coverage`` can be imported."""
    try:
        import coverage  # noqa: F401
    except ImportError:
        return False
    return True


def measured(files: Iterable[Path], run: Callable[[], None]) -> Any:
    """Run a function and measure which lines and branches of files are executed; return the object of ``coverage``.

    Another tracer, such as that of pytest-cov or of a debugger, pauses meanwhile.

    Raises:
        ConfigurationError: The package is not installed.
    """
    try:
        from coverage import Coverage
    except ImportError:
        raise ConfigurationError(f"the measurement of branches {EXTRA}") from None
    # What would be a pattern in a path becomes any character.
    patterns = [_GLOB.sub("?", str(file)) for file in files]
    session = Coverage(data_file=None, config_file=False, branch=True, include=patterns)
    session.set_option("run:disable_warnings", list(_WARNINGS))
    before, of_threads = sys.gettrace(), threading.gettrace()
    session.start()
    try:
        run()
    finally:
        session.stop()
        # Here, not in a function that was called meanwhile: at its end, the tracer of ``coverage`` would end this one.
        if sys.gettrace() is not before:
            sys.settrace(before)
        threading.settrace(of_threads)
    return session


def play(task: Task, calls: Sequence[Made], domain: Domain, *, with_history: bool = True) -> None:
    """Make calls in the initial state of a task.

    Args:
        task: The task.
        calls: The calls.
        domain: Its domain.
        with_history: Whether the calls of the task's message history are made before.

    Raises:
        TauError: The initial state cannot be applied, or a tool server is lost.
    """
    environment = domain.environment(task, replay_history=with_history, apart=True)
    try:
        for call in calls:
            environment.call(call.name, dict(call.arguments), call.side)
    finally:
        environment.close()


def code_coverage(functions: Sequence[Function], run: Callable[[], None]) -> CodeCoverage:
    """Return what a function runs of the functions of tools.

    Raises:
        ConfigurationError: The package ``coverage`` is not installed, or cannot read a file.
    """
    files = list(dict.fromkeys(function.file for function in functions))
    session = measured(files, run)
    coverage = CodeCoverage([], [], {})
    for file, report in _reports(session, files).items():
        coverage.files[file] = _percent(report)
        for function in functions:
            if function.file == file:
                _add(coverage, function, report)
    return coverage


def _reports(session: Any, files: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """Return what ``coverage`` reports of each file."""
    from coverage.exceptions import CoverageException

    data = session.get_data()
    if not data.measured_files():
        data.add_arcs({str(files[0]): []})
    for file in files:
        data.touch_file(str(file))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "coverage.json"
        try:
            session.json_report(morfs=[str(file) for file in files], outfile=str(target))
        except CoverageException as error:
            raise ConfigurationError(f"branches cannot be measured: {error}") from error
        reports = parse_json(target.read_bytes())["files"]
    return {Path(name).resolve(): report for name, report in reports.items()}


def _percent(report: dict[str, Any]) -> float:
    """Return the share of statements and branches of a file, without branches that an import takes."""
    parts = [part for name, part in report["functions"].items() if name]
    missing = sum(len(part["missing_lines"]) for part in parts)
    branches = sum(part["summary"]["num_branches"] for part in parts)
    covered = sum(part["summary"]["covered_branches"] for part in parts)
    total = report["summary"]["num_statements"] + branches
    return 100 * (total - branches - missing + covered) / total if total else 100.0


def _add(coverage: CodeCoverage, function: Function, report: dict[str, Any]) -> None:
    way_in = Branch(function, function.first, 0)
    # The lines of the declaration were executed by the import, before anything was measured.
    called = any(function.first <= line <= function.last for line in report["executed_lines"])
    (coverage.taken if called else coverage.missing).append(way_in)
    coverage.taken.extend(_branches(function, report["executed_branches"]))
    coverage.missing.extend(_branches(function, report["missing_branches"]))


def _branches(function: Function, arcs: Iterable[Sequence[int]]) -> Iterator[Branch]:
    return (Branch(function, start, to) for start, to in arcs if function.first <= start <= function.last)


def branch_lines(missing: Sequence[Branch], start: Path) -> list[str]:
    """Return a line for each branch that was not taken; one for all of a function that was never called.

    Args:
        missing: The branches.
        start: The folder that paths are relative to.
    """
    uncalled = {branch.function for branch in missing if branch.to == 0}
    texts: dict[Path, list[str]] = {}
    described = []
    for branch in missing:
        function = branch.function
        lines = texts.setdefault(function.file, _source(function.file))
        place = f"{relative_path(function.file, start)}:{branch.start} {function.name}"
        if branch.to == 0:
            described.append(f"{place}: never called")
        elif function not in uncalled:
            condition, target = _line(lines, branch.start), _line(lines, branch.to)
            ends = f"never leads to line {branch.to}, {target!r}" if branch.to > 0 else "never ends the function"
            described.append(f"{place}: {condition!r} {ends}")
    return described


def _source(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _line(lines: list[str], number: int) -> str:
    return one_line(lines[number - 1], _SHOWN) if 0 < number <= len(lines) else ""
