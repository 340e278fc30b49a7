"""A baseline: the outcomes of a run without its conversations, small enough to be committed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from ..files import atomic_write
from .layout import BASELINE, RECORDS, ignore_in_git, simulation_files
from .manifest import write_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
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
    lines = [json.dumps(replace(record, error=None).as_dict(), ensure_ascii=False) + "\n" for record in ordered]
    atomic_write(folder / RECORDS, "".join(lines))
    write_manifest(folder, manifest)
