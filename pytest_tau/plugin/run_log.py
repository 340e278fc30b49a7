"""Finished simulations of a run, on the disk as soon as they have ended: a JSON line each, for ``tau regrade``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ..models import Simulation


class RunLog:
    """Appends simulations to a file of this process.

    Args:
        folder: The run's own folder, made at the first simulation; None to keep nothing.
        worker: The xdist worker; empty where there is one process.
    """

    def __init__(self, folder: Path | None, worker: str = "") -> None:
        self.file = folder / f"simulations{'-' if worker else ''}{worker}.jsonl" if folder else None

    def keep(self, domain: str, simulation: Simulation) -> str | None:
        """Append a simulation, flushed; returns why that failed, if it did.

        Args:
            domain: Where it took place.
            simulation: It, with its messages and its verdict, if there is one.
        """
        if self.file is None:
            return None
        entry = {"domain": domain, **simulation.model_dump(mode="json")}
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            if (home := self.file.parent.parent.parent).name == ".tau":
                (home / ".gitignore").write_text("*\n", encoding="utf-8")
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        except OSError as error:
            return f"simulations cannot be kept in {self.file}: {error.strerror}"
        return None
