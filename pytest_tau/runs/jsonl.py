"""The simulations that runs have kept, a JSON line each: found, and those of several runs joined.

Lines are copied as they are. Only what tells trials apart and what a summary needs is held, never conversations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import ValidationError

from ..errors import ConfigurationError
from ..models import ModelUsage, Simulation
from .result_entries import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

#: The files in a run's folder.
PATTERN = "simulations*.jsonl"
#: How their lines begin: the node id of the test follows, and then the simulation.
TEST = '{"test": '


class TrialKey(NamedTuple):
    """What tells trials apart."""

    domain: str
    task_id: str
    trial: int
    test: str = ""

    def __str__(self) -> str:
        return f"trial {self.trial} of task {self.task_id!r} of domain {self.domain!r}"


class Line(NamedTuple):
    """A line of a file, from 1."""

    file: Path
    number: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.number}"


class KeptTrial(NamedTuple):
    """A trial without its conversation.

    Attributes:
        line: Where it stands.
        digest: Of everything it holds.
        outcome: How it ended.
        usage: What its model calls came to, by role.
    """

    line: Line
    digest: bytes
    outcome: Literal["passed", "failed", "error"]
    usage: Mapping[str, ModelUsage]


@dataclass
class JoinedRuns:
    """The simulations of several runs.

    Attributes:
        files: Where they are from.
        trials: Each once.
        repeated: How many lines are left out because the same trial, identical, was there.
        replaced: How many because a later one took their place.
        cut_off: Last lines that are not complete; whatever wrote them was stopped.
    """

    files: list[Path]
    trials: dict[TrialKey, KeptTrial] = field(default_factory=dict)
    repeated: int = 0
    replaced: int = 0
    cut_off: list[Line] = field(default_factory=list)

    @classmethod
    def of(cls, files: list[Path], *, last: bool = False) -> JoinedRuns:
        """Read files.

        Args:
            files: In this order.
            last: Of trials that differ, the later one is taken.

        Raises:
            ConfigurationError: A line that holds no simulation, or trials that differ; names file and line.
            OSError: A file cannot be opened.
        """
        joined, differing = cls(files), list[str]()
        for key, trial in joined._read():
            there = joined.trials.get(key)
            if there is not None and there.digest == trial.digest:
                joined.repeated += 1
                continue
            # A test that was run again in the same run stands there twice; the later one is what counted.
            again = there is not None and bool(key.test) and there.line.file == trial.line.file
            if there is not None and not last and not again:
                differing.append(f"{key} is there twice and differs: {there.line} and {trial.line}")
                continue
            joined.replaced += there is not None
            joined.trials[key] = trial
        if differing:
            others = f" (and {len(differing) - 1} more)" if len(differing) > 1 else ""
            raise ConfigurationError(f"{differing[0]}{others}; --last takes the later ones")
        return joined

    def write(self, file: Path) -> None:
        """Write the lines, as they are, in the order of the files.

        Args:
            file: Where to, with the folders above it; it appears once it is complete.

        Raises:
            OSError: It cannot be written.
        """
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.draft")
        chosen = {trial.line for trial in self.trials.values()}
        with draft.open("wb") as written:
            for source in self.files:
                written.writelines(text.rstrip(b"\r\n") + b"\n" for line, text in _lines(source) if line in chosen)
        draft.replace(file)

    def _read(self) -> Iterator[tuple[TrialKey, KeptTrial]]:
        for file in self.files:
            for line, text in _lines(file):
                try:
                    entry = json.loads(text.rstrip(b"\r\n").decode())
                except (ValueError, RecursionError) as error:
                    if not text.endswith(b"\n"):
                        self.cut_off.append(line)
                        continue
                    raise ConfigurationError(f"{line}: {_problem(error)}") from None
                yield _trial(line, entry)


def run_files(paths: Iterable[Path]) -> list[Path]:
    """The files of simulations that paths name, each once.

    Args:
        paths: Files, or folders with ``simulations*.jsonl`` in them or below; those of a folder are sorted by path.

    Raises:
        ConfigurationError: There is no such file, or none in the folder.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        inside = sorted(path.rglob(PATTERN)) if path.is_dir() else [path]
        if not path.exists():
            raise ConfigurationError(f"no such file or folder: {path}")
        if not inside:
            raise ConfigurationError(f"{path}: expected {PATTERN} in the folder or below it")
        for file in inside:
            found.setdefault(file.resolve(), file)
    return list(found.values())


def _lines(file: Path) -> Iterator[tuple[Line, bytes]]:
    with file.open("rb") as lines:
        for number, text in enumerate(lines, 1):
            if text.strip():
                yield Line(file, number), text


def _trial(line: Line, entry: object) -> tuple[TrialKey, KeptTrial]:
    domain = entry.get("domain") if isinstance(entry, dict) else None
    if not isinstance(domain, str):
        raise ConfigurationError(
            f'{line}: expected a simulation as runs keep them, {{"domain": "…", "task_id": "…", …}}'
        )
    try:
        simulation = Simulation.model_validate(entry)
    except ValidationError as error:
        raise ConfigurationError(f"{line}: {told(error)}") from None
    digest = hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).digest()
    test = entry.get("test") if isinstance(entry, dict) else None
    key = TrialKey(domain, simulation.task_id, simulation.trial, test if isinstance(test, str) else "")
    return key, KeptTrial(line, digest, simulation.outcome, simulation.model_usage)


def _problem(error: Exception) -> str:
    # The text is not quoted: it may be anything, of any length.
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {error.msg} (column {error.colno})"
    return f"not valid JSON: {type(error).__name__}"
