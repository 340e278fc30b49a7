"""Runs, wherever they are from: a run's folder, a blessed baseline, or anybody's result file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ConfigurationError, unknown_name
from .jsonl import PATTERN, TEST
from .manifest import INFO
from .record import TrialRecord
from .result_entries import Unreadable
from .result_files import ResultFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..models import Simulation, Task

#: Of the runs that there are, the latest are named.
_MOST_NAMED = 20
RUNS, BASELINE = Path(".tau", "runs"), Path(".tau", "baseline")
#: The records of a run without its conversations, a JSON line each: what a baseline consists of.
RECORDS = "records.jsonl"


class StoredTrial(NamedTuple):
    """A simulation of a run.

    Attributes:
        domain: The domain's name; empty where the file does not tell it.
        simulation: It, with the stored verdict.
        task: Its task; None where the file has none.
        test: The node id of its test; empty where that is not known.
    """

    domain: str
    simulation: Simulation
    task: Task | None
    test: str


class Run:
    """The simulations of a run.

    Args:
        path: A run's folder, or a result file.

    Attributes:
        name: The folder's name, or the file's without its suffixes.
        path: As given.
        info: What the run tells of itself: ``run.json``, or the ``info`` of a τ²-bench file; empty where there is none.
        problems: What could not be read, once something was read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name if path.is_dir() else path.name.partition(".json")[0]
        self.problems: list[str] = []
        self._own = path.is_dir() and not (path / "results.json").is_file()
        self.info: dict[str, Any] = _info(path / INFO) if path.is_dir() else {}

    def trials(self) -> Iterator[StoredTrial]:
        """The simulations, one at a time; of a test that was run again, the last.

        Raises:
            ConfigurationError: The run has kept no conversations.
            OSError: A file cannot be opened.
        """
        self.problems = []
        files = sorted(self.path.glob(PATTERN)) if self._own else [self.path]
        if not files:
            raise ConfigurationError(f"{self.path} has no conversations, only records of them")
        last = _last_lines(files) if self._own and _repeats(files) else None
        for file in files:
            yield from self._of_file(file, last)

    def records(self) -> list[TrialRecord]:
        """The facts of each simulation, in the order of the files.

        Raises:
            ConfigurationError: A record that is none.
            OSError: A file cannot be opened.
        """
        file = self.path / RECORDS
        if self._own and file.is_file():
            return [_record(line, f"{file}, line {number}") for number, line in enumerate(_lines(file), 1)]
        return [TrialRecord.of(each.simulation, each.task, each.domain, each.test) for each in self.trials()]

    def _of_file(self, file: Path, last: dict[str, tuple[Path, int]] | None) -> Iterator[StoredTrial]:
        content = ResultFile.scan(file)
        self.info = self.info or content.info
        self.problems += [f"{file.name}: {problem.entry}: {problem.reason}" for problem in content.problems]
        for number, run in enumerate(content.runs()):
            if isinstance(run, Unreadable):
                told = f"{file.name}: {run.entry}: {run.reason}"
                self.problems += [told] if told not in self.problems else []
            elif last is None or not run.test or last[run.test] == (file, number):
                yield StoredTrial(run.domain or content.domain or "", run.simulation, run.task, run.test)


def open_run(spec: str | Path | None = None, root: Path | None = None) -> Run:
    """A run.

    Args:
        spec: A folder or a result file; the name of a run; ``baseline`` for the blessed one; None for the latest.
        root: The folder whose ``.tau`` is meant, and from which relative paths start; the current one by default.

    Raises:
        ConfigurationError: There is no such run; lists those that there are.
    """
    root = root or Path.cwd()
    kept = _kept(root / RUNS)
    if spec is None:
        if not kept:
            raise ConfigurationError(f"no run has been kept in {root / RUNS}")
        return Run(root / RUNS / kept[-1])
    for path in (root / spec, root / RUNS / spec, *([root / BASELINE] if str(spec) == "baseline" else [])):
        if path.is_file() or _is_run(path):
            return Run(path)
    if (root / spec).is_dir():
        inside = _kept(root / spec)
        if inside:
            return Run(root / spec / inside[-1])
        raise ConfigurationError(f"{root / spec}: expected {PATTERN}, {RECORDS} or results.json in the folder")
    if str(spec) == "baseline":
        raise ConfigurationError(f"there is no baseline in {root / BASELINE} yet: tau bless RUN makes a run one")
    raise ConfigurationError(unknown_name("run", str(spec), kept[-_MOST_NAMED:]))


def _kept(folder: Path) -> list[str]:
    """The runs in a folder, the latest last."""
    return latest_last(each for each in folder.iterdir() if _is_run(each)) if folder.is_dir() else []


def latest_last(folders: Iterable[Path]) -> list[str]:
    """The names of runs' folders, which begin with the time, to the second."""
    return [each.name for each in sorted(folders, key=lambda each: (each.name[:15], each.stat().st_mtime_ns))]


def _is_run(path: Path) -> bool:
    if not path.is_dir():
        return False
    return any(path.glob(PATTERN)) or any((path / name).is_file() for name in (RECORDS, "results.json"))


def _info(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ConfigurationError(f"{file}: not valid JSON: {error}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{file}: expected an object, got {type(content).__name__}")
    return content


def _lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8") as lines:
        yield from (line for line in lines if line.strip())


def _record(line: str, where: str) -> TrialRecord:
    try:
        return TrialRecord.from_dict(json.loads(line))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{where}: no record of a trial: {str(error).splitlines()[0]}") from None


def _last_lines(files: list[Path]) -> dict[str, tuple[Path, int]]:
    """Where the last simulation of each test stands: its file, and its place among the file's simulations."""
    found: dict[str, tuple[Path, int]] = {}
    for file in files:
        for number, run in enumerate(ResultFile.scan(file).runs()):
            if not isinstance(run, Unreadable) and run.test:
                found[run.test] = (file, number)
    return found


def _repeats(files: list[Path]) -> bool:
    """Whether any test has more than one simulation; looks no further than the node ids that lines begin with."""
    decoder, seen = json.JSONDecoder(), set[str]()
    for file in files:
        for line in _lines(file):
            try:
                test, _ = decoder.raw_decode(line, len(TEST))
            except ValueError:
                return True  # no line of ours; whoever reads it as a whole will tell
            if test in seen:
                return True
            seen.add(test)
    return False
