"""The layout of a run's folder: the names of its files, where the folders lie, and how their lines begin."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where runs and the baseline lie, below the project's folder.
RUNS: Final = Path(".tau", "runs")
BASELINE: Final = Path(".tau", "baseline")

#: Settings, versions, commit, hashes and counts of a run.
MANIFEST: Final = "run.json"
#: The trials of a run that several machines run parts of, and what they are run with: stored first.
PLAN: Final = "plan.json"
#: The simulations of a run, a JSON line each. No xdist worker writes it.
SIMULATIONS: Final = "simulations.jsonl"
#: A pattern of the files that xdist workers write until the controller merges them, and of all files of simulations.
WORKER_FILES: Final = "simulations-*.jsonl"
SIMULATION_FILES: Final = "simulations*.jsonl"
#: The records of a run without its conversations, a JSON line each: the content of a baseline.
RECORDS: Final = "records.jsonl"
#: The facts that capabilities have found after a run, a JSON line each.
LATER_FACTS: Final = "facts.jsonl"
#: The file that the process of a run has locked while it runs.
LOCK: Final = "run.lock"
#: A pattern of the files that its xdist workers have locked, each until it ends.
WORKER_LOCKS: Final = "run-*.lock"
#: The folders of the baselines that were made of a run, a line each.
BLESSED: Final = "blessed"
#: The HTML report, if no other file was named.
REPORT: Final = "report.html"
#: The index of a τ²-bench run that has a file for each simulation, and the folder of these files.
RESULTS_INDEX: Final = "results.json"
RESULTS_FOLDER: Final = "simulations"

#: The beginning of a line of simulations: the node id of the test follows, and then the simulation.
TEST_PREFIX: Final = '{"test": '

#: The start of a run in the text of a manifest, and the starts of the runs that have resumed it.
_STARTED: Final = re.compile(rb'^ "started": "([^"]+)"', re.MULTILINE)
_RESUMED: Final = re.compile(rb'^ "resumed": \[(.*?)^ \]', re.MULTILINE | re.DOTALL)
_RESUMED_START: Final = re.compile(rb'"started": "([^"]+)"')


def worker_file(worker: str) -> str:
    """Return the name of the file that a process writes simulations to; ``worker`` is empty without xdist."""
    return SIMULATION_FILES.replace("*", f"-{worker}") if worker else SIMULATIONS


def simulation_files(folder: Path) -> list[Path]:
    """Return the files of simulations in a run's folder, in order of their names."""
    return sorted(folder.glob(SIMULATION_FILES))


def has_simulations(folder: Path) -> bool:
    """Return whether a folder has a file of simulations."""
    return any(folder.glob(SIMULATION_FILES))


def is_store_of_run(folder: Path) -> bool:
    """Return whether a folder has the parts of a run below it, as several machines have stored them."""
    return (folder / PLAN).is_file() and not (folder / MANIFEST).is_file() and not has_simulations(folder)


def is_run(path: Path) -> bool:
    """Return whether a folder has the results of a run in it, or those of a baseline or of τ²-bench."""
    return path.is_dir() and bool(_result_files(path))


def _result_files(folder: Path) -> list[Path]:
    others = (folder / name for name in (RECORDS, RESULTS_INDEX))
    return [*simulation_files(folder), *(file for file in others if file.is_file())]


def latest_last(folders: Iterable[Path]) -> list[str]:
    """Return the names of runs' folders in the order in which the runs were started or resumed."""
    ordered = sorted(folders, key=lambda folder: (_started(folder), folder.stat().st_mtime_ns))
    return [folder.name for folder in ordered]


def _started(folder: Path) -> float:
    """Return the last start of a run, or of its parts, in seconds: by the manifests, else by the age of the results."""
    try:
        manifests = folder.glob(f"*/{MANIFEST}") if is_store_of_run(folder) else [folder / MANIFEST]
        return max(map(_start_in, manifests))
    except (OSError, ValueError):  # without a manifest, or with that of another program
        return max((file.stat().st_mtime for file in _result_files(folder)), default=folder.stat().st_mtime)


def _start_in(manifest: Path) -> float:
    """Return the last start that a manifest has, in seconds.

    The text is searched and not parsed: there may be hundreds of runs, whose hashes make most of their manifests.

    Raises:
        OSError: The file cannot be read.
        ValueError: It has no start.
    """
    text = manifest.read_bytes()
    resumed = _RESUMED.search(text)
    stamps = [*_STARTED.findall(text), *(_RESUMED_START.findall(resumed[1]) if resumed else ())]
    starts = (datetime.fromisoformat(stamp.decode()) for stamp in stamps)
    return max(start.replace(tzinfo=start.tzinfo or UTC).timestamp() for start in starts)


def ignore_all_in_git(folder: Path) -> None:
    """Keep a folder out of git, wherever it lies: it has conversations of real people.

    Raises:
        OSError: The file cannot be written.
    """
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def ignore_in_git(home: Path) -> None:
    """Keep a folder out of git if it is the project's ``.tau``.

    Raises:
        OSError: The file cannot be written.
    """
    if home.name == RUNS.parts[0] and not (home / ".gitignore").exists():
        (home / ".gitignore").write_text("*\n", encoding="utf-8")
