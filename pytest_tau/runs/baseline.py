"""A baseline: the outcomes of a run without its conversations, small enough to be committed."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigurationError, TauError
from ..files import atomic_write
from ..plain import json
from .layout import BASELINE, BLESSED, LOCK, MANIFEST, RECORDS, has_simulations, ignore_in_git, simulation_files
from .manifest import read_manifest, write_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .record import TrialRecord


def write_baseline(folder: Path, records: Iterable[TrialRecord], manifest: Mapping[str, Any]) -> None:
    """Write the records and the manifest of a run; an earlier baseline in the folder is replaced.

    Args:
        folder: The baseline's folder; made if it does not exist.
        records: The record of each trial.
        manifest: The run's manifest, without secrets.

    Raises:
        ConfigurationError: The folder is that of a run.
        OSError: A file cannot be written.
    """
    if simulation_files(folder):
        raise ConfigurationError(f"{folder} contains the conversations of a run; give another folder")
    ordered = sorted(records, key=lambda record: (record.domain, record.task_id, record.trial))
    folder.mkdir(parents=True, exist_ok=True)
    if folder == BASELINE:
        ignore_in_git(folder.parent)
    # Errors quote texts of somebody's machine, and are not compared. Sorted records make for a small diff.
    lines = [
        json.dumps(record.model_copy(update={"error": None}).as_dict(), ensure_ascii=False) + "\n" for record in ordered
    ]
    atomic_write(folder / RECORDS, "".join(lines))
    write_manifest(folder, manifest)


def note_baseline(run: Path, baseline: Path) -> None:
    """Note in the folder of a run that a baseline was made of it, if the folder can be written."""
    if (run / MANIFEST).is_file() and has_simulations(run):
        with contextlib.suppress(OSError):
            atomic_write(
                run / BLESSED, "".join(f"{path}\n" for path in sorted({*_noted(run), str(baseline.resolve())}))
            )


def why_kept(run: Path) -> str:
    """Return why the folder of a run is not to be removed; empty if it may be."""
    if (run / RECORDS).is_file():
        return "a baseline"
    if not (run / MANIFEST).is_file():
        return "of another program"
    if (run / LOCK).exists():
        return "under way or killed"
    return "blessed" if any(_is_made_of(Path(path), run.name) for path in _noted(run)) else ""


def _noted(run: Path) -> list[str]:
    try:
        return (run / BLESSED).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def _is_made_of(baseline: Path, name: str) -> bool:
    """Return whether a baseline is that of a run of this name, or cannot be read."""
    try:
        return bool(read_manifest(baseline).get("blessed") == name)
    except TauError:
        return True
