"""Runs from any source: a run's folder, a blessed baseline, or a result file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..capability import installed
from ..capability.calls import columns_in, columns_of
from ..documents import parse_json
from ..errors import ConfigurationError, unknown_name
from ..garbage import without_collections
from .jsonl import read_lines, test_of
from .later import attach_facts, read_facts
from .layout import (
    BASELINE,
    RECORDS,
    RESULTS_INDEX,
    RUNS,
    SIMULATION_FILES,
    is_run,
    is_store_of_run,
    latest_last,
    simulation_files,
)
from .manifest import agent_name, read_manifest
from .record import TrialRecord
from .results.entries import Unreadable
from .results.files import ResultFile
from .results.own_lines import own_simulations
from .store import is_url, public_url

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from ..capability.calls import NamedColumn
    from ..models import Simulation, Task
    from .results.entries import StoredSimulation

#: An error lists at most so many runs, the latest ones.
_MOST_NAMED = 5


class StoredTrial(NamedTuple):
    """A simulation of a run.

    Attributes:
        domain: The domain's name; empty if the file does not give it.
        simulation: The conversation, with the stored verdict.
        task: Its task; None if the file has none.
        test: The node id of its test; empty if that is not known.
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
        shown: The path, or the URL of which it has a copy, without credentials.
        info: The run's manifest, or the ``info`` of a τ²-bench file with its ``hashes``; empty if there is none.
        kind: Whose format the file has, in words, once something was read.
        problems: What could not be read, once something was read.
        recognise: Returns the domain of a file that names none, by how often which tool was called; None not to try.

    Raises:
        ConfigurationError: The manifest cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.shown = path, str(path)
        self.name = path.name if path.is_dir() else path.name.partition(".json")[0]
        self.kind = ""
        self.problems: list[str] = []
        self._noted: set[str] = set()
        self.recognise: Callable[[Counter[str]], str | None] | None = None
        self._own = path.is_dir() and not (path / RESULTS_INDEX).is_file()
        self.info = read_manifest(path) if path.is_dir() else {}

    @property
    def agent(self) -> str:
        """The agent of the run, with its model; empty if it is not known."""
        return agent_name(self.info, ())

    @property
    def fact_columns(self) -> list[NamedColumn]:
        """The columns of the capabilities of the run, and of the installed ones."""
        return [*columns_in(self.info), *columns_of(installed())]

    def trials(self) -> Iterator[StoredTrial]:
        """Yield the simulations, one at a time; of a test that was run again, the last.

        Raises:
            ConfigurationError: The run has no stored conversations.
            OSError: A file cannot be opened.
        """
        files = simulation_files(self.path) if self._own else [self.path]
        if not files:
            raise ConfigurationError(f"{self.path} has no conversations, only records of trials")
        last = self._last_lines(files) if self._own and _repeats(files) else None
        later, self.problems = read_facts(self.path)
        self._noted = set(self.problems)
        for file in files:
            for trial in self._of_file(file, last):
                attach_facts(trial.test, trial.simulation, later)
                yield trial

    def records(self) -> list[TrialRecord]:
        """Return the facts of each simulation, in the order of the files; of a baseline, as they are stored.

        Raises:
            ConfigurationError: A line is not a record, or the run has neither conversations nor records.
            OSError: A file cannot be opened.
        """
        file = self.path / RECORDS
        if self._own and file.is_file():
            return [_record(line, str(place)) for place, line in read_lines(file)]
        from .make_record import make_record

        with without_collections():
            return [make_record(trial.simulation, trial.task, trial.domain, trial.test) for trial in self.trials()]

    def _of_file(self, file: Path, last: dict[str, tuple[Path, int]] | None) -> Iterator[StoredTrial]:
        for number, run in enumerate(self._simulations(file)):
            if isinstance(run, Unreadable):
                self._note_unreadable(file, run)
            elif last is None or not run.test or last[run.test] == (file, number):
                yield StoredTrial(run.domain or "", run.simulation, run.task, run.test)

    def _note_unreadable(self, file: Path, part: Unreadable) -> None:
        problem = f"{file.name}: {part.entry}: {part.reason}"
        if problem not in self._noted:
            self._noted.add(problem)
            self.problems.append(problem)

    def _last_lines(self, files: list[Path]) -> dict[str, tuple[Path, int]]:
        """Return the place of each test's last simulation: its file, and its position among the file's simulations."""
        places: dict[str, tuple[Path, int]] = {}
        for file in files:
            for number, run in enumerate(self._simulations(file)):
                if not isinstance(run, Unreadable) and run.test:
                    places[run.test] = (file, number)
        return places

    def _simulations(self, file: Path) -> Iterator[StoredSimulation | Unreadable]:
        """Yield the simulations of a file with the names of their domains, and what cannot be read in its place."""
        count = 0
        for run in own_simulations(file) if self._own else ():
            if run is None:
                break
            count += 1
            yield run
        else:
            if count:
                self.kind = ResultFile.kind
                return
        content = ResultFile.scan(file)
        self.info, self.kind = self.info or content.header, content.kind
        for problem in content.problems:
            self._note_unreadable(file, problem)
        # The domain of one entry is not that of others, which name none.
        stated = None if content.unnamed else content.domain
        domain = stated or (self.recognise(content.called) if self.recognise else None)
        for other in content.simulations(range(count, content.size)):
            yield other if isinstance(other, Unreadable) else other._replace(domain=other.domain or domain)


def open_run(spec: str | Path | None = None, root: Path | None = None) -> Run:
    """Return a stored run.

    Args:
        spec: A folder or a result file, or a URL of one; the name of a run; ``baseline`` for the blessed one; None for
            the latest.
        root: The folder whose ``.tau`` is meant, and from which relative paths start; the current one by default.

    Raises:
        ConfigurationError: There is no such run, or its manifest cannot be read.
    """
    run = Run(find_run(spec, root))
    if isinstance(spec, str) and is_url(spec):
        run.shown = public_url(spec)
    return run


def find_run(spec: str | Path | None = None, root: Path | None = None) -> Path:
    """Return the folder or the result file of a stored run.

    Args:
        spec: As ``open_run`` takes it.
        root: Likewise.

    Raises:
        ConfigurationError: There is no such run.
    """
    if isinstance(spec, str) and is_url(spec):
        from .fetch import fetch_run

        return fetch_run(spec)
    root = root or Path.cwd()
    if spec is None:
        names = runs_in(root / RUNS)
        if not names:
            raise ConfigurationError(f"no run is stored in {root / RUNS}")
        return find_run(root / RUNS / names[-1])
    for path in (root / spec, root / RUNS / spec, *([root / BASELINE] if str(spec) == "baseline" else [])):
        if path.is_file() or is_run(path):
            return path
        if is_store_of_run(path):
            from .fetch import fetch_run

            return fetch_run(str(path))
    if (root / spec).is_dir():
        inside = runs_in(root / spec)
        if inside:
            return find_run(root / spec / inside[-1])
        raise ConfigurationError(
            f"{root / spec}: expected {SIMULATION_FILES}, {RECORDS} or {RESULTS_INDEX} in the folder"
        )
    if str(spec) == "baseline":
        raise ConfigurationError(f"no baseline in {root / BASELINE}: create one with tau bless RUN")
    names, kind = runs_in(root / RUNS), "file or run" if Path(spec).suffix else "run"
    raise ConfigurationError(unknown_name(kind, str(spec), names, names[::-1][:_MOST_NAMED]))


def runs_in(folder: Path) -> list[str]:
    """Return the names of the runs in a folder, those that are in parts included, the latest last."""
    if not folder.is_dir():
        return []
    return latest_last(path for path in folder.iterdir() if is_run(path) or is_store_of_run(path))


def _record(line: bytes, where: str) -> TrialRecord:
    try:
        values = parse_json(line, is_line=True)
        if "outcome" in values:
            raise ConfigurationError(
                f"{where}: a record of an earlier version of pytest-tau: make the baseline again with tau bless RUN"
            )
        return TrialRecord.model_validate(values)
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{where}: not a record of a trial: {str(error).splitlines()[0]}") from None


def _repeats(files: list[Path]) -> bool:
    """Return whether any test has more than one simulation; only the node ids that lines begin with are parsed."""
    seen: set[str] = set()
    for file in files:
        for _, line in read_lines(file):
            test = test_of(line)
            if test is None or test in seen:
                return True  # a line that is not ours is reported by whoever reads all of it
            seen.add(test)
    return False
