"""The simulations of several runs joined, each trial once.

Only what identifies trials and what a summary needs is kept in memory, never conversations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import ValidationError

from ..documents import DocumentError, parse_json
from ..errors import ConfigurationError
from ..files import digest
from ..models import ModelUsage, Simulation
from .jsonl import Place, copy_lines, read_lines
from .layout import SIMULATION_FILES
from .manifest import read_manifest
from .parts import JoinedParts, Part, read_plan
from .results.messages import first_problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path


class TrialKey(NamedTuple):
    """The identity of a trial."""

    domain: str
    task_id: str
    trial: int
    test: str = ""

    def __str__(self) -> str:
        return f"trial {self.trial} of task {self.task_id!r} of domain {self.domain!r}"


class JoinedTrial(NamedTuple):
    """A trial without its conversation.

    Attributes:
        line: Its place.
        digest: The digest of its line.
        counted_as: The outcome, or that it is excluded from rates.
        usage: The usage of its model calls, by role.
        ended: Its end, ISO 8601; empty if that is not known.
        interrupted: Something outside of it has ended it, so that it is missing.
    """

    line: Place
    digest: str
    counted_as: Literal["passed", "failed", "error", "excluded"]
    usage: Mapping[str, ModelUsage]
    ended: str = ""
    interrupted: bool = False

    @property
    def order(self) -> tuple[bool, str]:
        """Return what the first complete one of several is the least by."""
        return self.counted_as == "error", self.ended


@dataclass
class JoinedRuns:
    """The simulations of several runs.

    Attributes:
        files: The files that were read.
        trials: Each trial once.
        repeated: The number of lines that were dropped as identical copies of another one.
        replaced: The simulations that do not count, because another one of the trial does.
        cut_off: Last lines that are not complete, because the process that wrote them was stopped.
        stored: The trials that each folder has.
        which: Which of two trials that differ was taken.
    """

    files: list[Path]
    which: Literal["last", "first"] | None = None
    trials: dict[TrialKey, JoinedTrial] = field(default_factory=dict)
    repeated: int = 0
    replaced: list[tuple[TrialKey, Place]] = field(default_factory=list)
    cut_off: list[Place] = field(default_factory=list)
    stored: dict[Path, set[TrialKey]] = field(default_factory=dict)

    @classmethod
    def of(cls, files: list[Path], *, which: Literal["last", "first"] | None = None) -> JoinedRuns:
        """Read files.

        Args:
            files: The files, in this order.
            which: Of two trials that differ, the one that is taken: the last in the order of the files, or the one that
                was complete first, where one without an error precedes any other; None to refuse them.

        Raises:
            ConfigurationError: A line is not a simulation, or trials differ; the error names file and line.
            OSError: A file cannot be opened.
        """
        joined, differing = cls(files, which), list[str]()
        for key, trial in joined._read():
            stored = joined.stored.setdefault(trial.line.file.parent, set())
            if not trial.interrupted:
                stored.add(key)
            there = joined.trials.get(key)
            if there is not None and there.digest == trial.digest:
                joined.repeated += 1
                continue
            # A test that was run again in the same run stands there twice; the later one is what counted.
            again = there is not None and bool(key.test) and there.line.file == trial.line.file
            again = again or (there is not None and there.interrupted) or trial.interrupted
            if there is not None and which is None and not again:
                differing.append(f"{key} occurs twice and differs: {there.line} and {trial.line}")
                continue
            if there is None:
                joined.trials[key] = trial
                continue
            first = which == "first" and not again and there.order <= trial.order
            keeps = first or (trial.interrupted and not there.interrupted)
            joined.trials[key], other = (there, trial) if keeps else (trial, there)
            joined.replaced.append((key, other.line))
        if differing:
            others = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
            raise ConfigurationError(f"{differing[0]}{others}; add --last to use the later ones")
        return joined

    def write(self, file: Path) -> None:
        """Write the lines, as they are, in the order of the files.

        Args:
            file: The target; its folders are made.

        Raises:
            OSError: It cannot be written.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        copy_lines(self.files, file, {trial.line for trial in self.trials.values()})

    def _read(self) -> Iterator[tuple[TrialKey, JoinedTrial]]:
        for file in self.files:
            for line, text in read_lines(file):
                try:
                    entry = parse_json(text.rstrip(b"\r\n"), is_line=True)
                except DocumentError as error:
                    if not text.endswith(b"\n"):
                        self.cut_off.append(line)
                        continue
                    raise ConfigurationError(f"{line}: {error}") from None
                yield _trial(line, entry, digest(text.strip()))


def joined_parts(
    joined: JoinedRuns, folders: Iterable[Path], names: Mapping[Path, str] = MappingProxyType({})
) -> JoinedParts:
    """Return the runs that were joined, each with its manifest.

    Args:
        joined: Their simulations.
        folders: The folders of the runs.
        names: What a person calls folders that are copies.

    Raises:
        ConfigurationError: A manifest cannot be read.
    """
    parts = []
    for folder in dict.fromkeys(folders):
        manifest, plan = read_manifest(folder, whole=True), read_plan(folder) or read_plan(folder.parent)
        # A baseline of a result file has the header of that file.
        manifest = manifest if "format" in manifest else {}
        parts.append(Part(names.get(folder, str(folder)), manifest, len(joined.stored.get(folder, ())), plan))
    tests = {key.test for key, trial in joined.trials.items() if not trial.interrupted}
    return JoinedParts(parts, overlap=bool(joined.repeated or joined.replaced), stored=tests)


def run_files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of simulations that paths name, each once.

    Args:
        paths: Files, or folders with ``simulations*.jsonl`` in them or below; the files of a folder are sorted by path.

    Raises:
        ConfigurationError: There is no such file, or none in the folder.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        inside = sorted(path.rglob(SIMULATION_FILES)) if path.is_dir() else [path]
        if not path.exists():
            raise ConfigurationError(f"no such file or folder: {path}")
        if not inside:
            raise ConfigurationError(f"{path}: expected {SIMULATION_FILES} in the folder or below it")
        for file in inside:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _trial(line: Place, entry: object, found: str) -> tuple[TrialKey, JoinedTrial]:
    domain = entry.get("domain") if isinstance(entry, dict) else None
    if not isinstance(domain, str):
        raise ConfigurationError(f'{line}: expected a stored simulation, {{"domain": "…", "task_id": "…", …}}')
    try:
        simulation = Simulation.model_validate(entry)
    except ValidationError as error:
        raise ConfigurationError(f"{line}: {first_problem(error)}") from None
    test = entry.get("test") if isinstance(entry, dict) else None
    key = TrialKey(domain, simulation.task_id, simulation.trial, test if isinstance(test, str) else "")
    excluded = simulation.excluded is not None and simulation.outcome != "error"
    counted_as = "excluded" if excluded else simulation.outcome
    ended, interrupted = simulation.end_time, simulation.info.interrupted
    return key, JoinedTrial(line, found, counted_as, simulation.model_usage, ended, interrupted)
