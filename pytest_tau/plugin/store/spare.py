"""Results that could not be stored in a run's folder: they are in the folder for temporary files until a resume."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import tempfile
from pathlib import Path

from ...files import atomic_write, digest
from ...runs.jsonl import append_lines, read_tests, repair_tail
from ...runs.layout import MANIFEST, simulation_files

_PREFIX = "tau-simulations-"
#: What ``mkdtemp`` appends.
_SUFFIX = len("-xxxxxxxx")


def make_spare(run: Path) -> Path:
    """Return a new folder for results of a run.

    Raises:
        OSError: It cannot be made.
    """
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{run.name}-{_mark(run.parent)}-"))


def restore_manifests(home: Path) -> None:
    """Copy the manifests of the runs below a folder that could not be stored there.

    Raises:
        OSError: One cannot be copied; the text names both places.
    """
    end = f"-{_mark(home)}"
    for spare in _spares(f"*{glob.escape(end)}"):
        run = home / spare.name[len(_PREFIX) : -_SUFFIX].removesuffix(end)
        if (spare / MANIFEST).is_file() and not (run / MANIFEST).exists():
            try:
                run.mkdir(parents=True, exist_ok=True)
                atomic_write(run / MANIFEST, (spare / MANIFEST).read_bytes())
            except OSError as error:
                raise _located(error, spare, run) from None


def take_back(run: Path) -> None:
    """Move the results of a run that are in the folder for temporary files to the run's folder.

    Raises:
        OSError: They cannot be moved; the text names both places.
    """
    for spare in _spares(glob.escape(f"{run.name}-{_mark(run.parent)}")):
        try:
            for file in simulation_files(spare):
                target = run / file.name
                if target.exists():
                    repair_tail(target)
                append_lines(target, b"".join(line for _, _, line in read_tests(file)))
        except OSError as error:
            raise _located(error, spare, run) from None
        shutil.rmtree(spare, ignore_errors=True)


def _located(error: OSError, spare: Path, run: Path) -> OSError:
    return OSError(error.errno, f"the results in {spare} cannot be moved to {run}: {error.strerror or error}")


def _mark(home: Path) -> str:
    """Return what distinguishes runs of one name in different folders."""
    return digest(str(home.resolve()))


def _spares(pattern: str) -> list[Path]:
    """Return the folders for results of runs, those of other users excluded."""
    folders = Path(tempfile.gettempdir()).glob(f"{_PREFIX}{pattern}-{'?' * (_SUFFIX - 1)}")
    return sorted(folder for folder in folders if _is_own(folder))


def _is_own(folder: Path) -> bool:
    """Return whether no other user can have made a folder, or written into it."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        return False
    return os.name == "nt" or (status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
