"""Parts of a run's simulations, which several processes read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .jsonl import Part, read_lines, test_of
from .layout import RESULTS_INDEX, simulation_files
from .reader import StoredTrial
from .results.files import ResultFile
from .results.own_lines import own_simulations
from .reviews import attach_reviews, read_reviews

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .reader import Run


class UndividedError(Exception):
    """A run has a line that is not as a run writes it, and can only be read as a whole."""


def run_file(path: Path) -> Path | None:
    """Return the file of a run whose simulations are in one file of our own; None if they are elsewhere."""
    if not path.is_dir() or (path / RESULTS_INDEX).is_file():
        return None
    files = simulation_files(path)
    return files[0] if len(files) == 1 else None


def divide(file: Path, simulations: int) -> list[Part]:
    """Return the parts of a run's file, in order; only the node ids that its lines begin with are parsed.

    Args:
        file: The file.
        simulations: The number of simulations in a part; the last part may have fewer.

    Returns:
        None of them if the file can only be read as a whole: a test has several simulations, or a line is not a run's.

    Raises:
        OSError: The file cannot be read.
    """
    firsts, seen, end = [], set[str](), 0
    for number, (place, line) in enumerate(read_lines(file)):
        test = test_of(line)
        if test is None or test in seen:
            return []
        seen.add(test)
        if number % simulations == 0:
            firsts.append(place)
        end = place.start + len(line)
    ends = [*(place.start for place in firsts[1:]), end]
    return [Part(first, end) for first, end in zip(firsts, ends, strict=True)]


class PartReader:
    """Reads parts of a run.

    Args:
        file: The file of its simulations.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._reviews, self._problems = read_reviews(file.parent)

    def trials(self, part: Part) -> Iterator[StoredTrial]:
        """Yield the simulations of a part.

        Raises:
            UndividedError: The file can only be read as a whole.
            OSError: It cannot be read.
        """
        for found in own_simulations(self._file, part):
            if found is None:
                raise UndividedError
            attach_reviews(found.test, found.simulation, self._reviews)
            yield StoredTrial(found.domain or "", found.simulation, found.task, found.test)

    def note(self, run: Run) -> None:
        """Set what reading a whole run sets in its attributes."""
        run.kind, run.problems = ResultFile.kind, self._problems
