"""A run that is made of conversations from elsewhere: its folder is there as a whole, or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from .layout import SIMULATIONS, ignore_all_in_git, ignore_in_git
from .lock import FolderInUseError, RunLock

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The names of folders of what is not complete begin so; those that are newer, in seconds, may be about to be locked.
_DRAFT: Final = ".tau-import-"
_NEW: Final = 60.0


class RunDraft(NamedTuple):
    """A run that is not complete.

    Attributes:
        target: The folder of the run, once it is complete.
        folder: A folder for what is needed meanwhile, which is deleted at the end.
    """

    target: Path
    folder: Path

    @property
    def simulations(self) -> Path:
        """The file of the simulations, a line of JSON each."""
        return self.folder / "draft.jsonl"

    def complete(self) -> None:
        """Make the folder of the run, with the simulations that were written.

        Raises:
            OSError: It exists, or cannot be written.
        """
        run_folder = self.folder / "run"
        run_folder.mkdir()
        ignore_all_in_git(run_folder)
        self.simulations.rename(run_folder / SIMULATIONS)
        run_folder.rename(self.target)


@contextlib.contextmanager
def drafted_run(target: Path) -> Iterator[RunDraft]:
    """Yield a draft of a run next to its folder, which git ignores; delete what killed processes have left.

    Args:
        target: The folder of the run, which must not exist.
    """
    parent = target.parent
    parent.mkdir(parents=True, exist_ok=True)
    ignore_in_git(parent.parent)
    for left in parent.glob(f"{_DRAFT}*"):
        if time.time() - left.stat().st_mtime > _NEW:
            _delete_unused(left)
    with tempfile.TemporaryDirectory(prefix=_DRAFT, dir=parent, ignore_cleanup_errors=True) as folder:
        draft = RunDraft(target, Path(folder))
        lock = RunLock(draft.folder, datetime.now(UTC).isoformat(timespec="seconds"))
        lock.acquire()
        try:
            (draft.folder / ".gitignore").write_text("*\n", encoding="utf-8")
            yield draft
        finally:
            lock.release()


def _delete_unused(draft: Path) -> None:
    lock = RunLock(draft, "")
    with contextlib.suppress(FolderInUseError):
        lock.acquire()
        if lock.is_held:
            lock.release()
            shutil.rmtree(draft, ignore_errors=True)
