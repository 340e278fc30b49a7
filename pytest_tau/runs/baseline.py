"""A baseline: the outcomes of a run without its conversations, small enough to be committed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import ConfigurationError
from .jsonl import PATTERN
from .manifest import INFO
from .reader import BASELINE, RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from typing import Any

    from .record import TrialRecord


def keep(folder: Path, records: Iterable[TrialRecord], info: Mapping[str, Any]) -> None:
    """Write the records of a run and what it tells of itself; an earlier baseline in the folder is replaced.

    Args:
        folder: Where; made if it is not there.
        records: Of each trial.
        info: What the run tells of itself, without secrets.

    Raises:
        ConfigurationError: The folder is a run's own.
        OSError: A file cannot be written.
    """
    if any(folder.glob(PATTERN)):
        raise ConfigurationError(f"{folder} has the conversations of a run in it; name another folder")
    ordered = sorted(records, key=lambda record: (record.domain, record.task_id, record.trial))
    folder.mkdir(parents=True, exist_ok=True)
    if folder == BASELINE and not (ignored := folder.parent / ".gitignore").exists():
        ignored.write_text("*\n", encoding="utf-8")
    # Errors quote what somebody's machine said, and are no part of a comparison; order makes for a small diff.
    lines = [json.dumps(replace(record, error=None).as_dict(), ensure_ascii=False) + "\n" for record in ordered]
    for name, text in ((RECORDS, "".join(lines)), (INFO, json.dumps(info, ensure_ascii=False, indent=1) + "\n")):
        draft = folder / f"{name}.draft"
        draft.write_text(text, encoding="utf-8")
        draft.replace(folder / name)
