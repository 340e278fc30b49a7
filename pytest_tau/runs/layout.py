"""The layout of a run's folder: the names of its files, where the folders lie, and how their lines begin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where runs and the baseline lie, below the project's folder.
RUNS: Final = Path(".tau", "runs")
BASELINE: Final = Path(".tau", "baseline")

#: Settings, versions, commit, hashes and counts of a run.
MANIFEST: Final = "run.json"
#: The simulations of a run, a JSON line each. No xdist worker writes it.
SIMULATIONS: Final = "simulations.jsonl"
#: A pattern of the files that xdist workers write until the controller merges them, and of all files of simulations.
WORKER_FILES: Final = "simulations-*.jsonl"
SIMULATION_FILES: Final = "simulations*.jsonl"
#: The records of a run without its conversations, a JSON line each: the content of a baseline.
RECORDS: Final = "records.jsonl"
#: The reviews of a run that were made after it, a JSON line each.
REVIEWS: Final = "reviews.jsonl"
#: The file that the process of a run has locked while it runs.
LOCK: Final = "run.lock"
#: The HTML report, if no other file was named.
REPORT: Final = "report.html"
#: The index of a τ²-bench run that has a file for each simulation, and the folder of these files.
RESULTS_INDEX: Final = "results.json"
RESULTS_FOLDER: Final = "simulations"

#: The beginning of a line of simulations: the node id of the test follows, and then the simulation.
TEST_PREFIX: Final = '{"test": '

#: Names of runs begin with the time, to the second.
_TIME: Final = len("20260131-235959")


def worker_file(worker: str) -> str:
    """Return the name of the file that a process writes simulations to; ``worker`` is empty without xdist."""
    return SIMULATION_FILES.replace("*", f"-{worker}") if worker else SIMULATIONS


def simulation_files(folder: Path) -> list[Path]:
    """Return the files of simulations in a run's folder, in order of their names."""
    return sorted(folder.glob(SIMULATION_FILES))


def is_run(path: Path) -> bool:
    """Return whether a folder has the results of a run in it, or those of a baseline or of τ²-bench."""
    if not path.is_dir():
        return False
    return bool(simulation_files(path)) or any((path / name).is_file() for name in (RECORDS, RESULTS_INDEX))


def latest_last(folders: Iterable[Path]) -> list[str]:
    """Return the names of runs' folders in the order in which the runs began."""
    return [each.name for each in sorted(folders, key=lambda each: (each.name[:_TIME], each.stat().st_mtime_ns))]


def ignore_in_git(home: Path) -> None:
    """Keep a folder out of git if it is the project's ``.tau``.

    Raises:
        OSError: The file cannot be written.
    """
    if home.name == RUNS.parts[0] and not (home / ".gitignore").exists():
        (home / ".gitignore").write_text("*\n", encoding="utf-8")
