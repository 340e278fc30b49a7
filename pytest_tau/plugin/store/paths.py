"""The folders of a run: its results, a previous run that it continues, and the folder that its processes share."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ...files import file_name_of
from ...runs.layout import LOCK, MANIFEST, RUNS, WORKER_LOCKS, ignore_in_git, latest_last
from ...runs.lock import PATIENCE, FolderInUseError, RunLock, check_controller, wait_for_workers, worker_lock
from ...runs.store import is_url, name_in
from ...text import relative_path
from ..options import OptionValues, named_domains
from ..wire import is_worker, worker_input, worker_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .publish import Publisher

#: The value of ``--tau-resume`` without a value.
_LATEST = "latest"
#: An error lists at most so many runs, the latest ones.
_MOST_NAMED = 5


class FolderExistsError(Exception):
    """The folder has another run, or may have one."""


class RunPaths:
    """The folders of a run, in one of its processes; asking for a path makes no folder."""

    def __init__(self, config: pytest.Config) -> None:
        self._config, self._values = config, OptionValues(config)
        self._input = worker_input(config)
        self._made_shared: Path | None = None
        self._lock: RunLock | None = None

    @cached_property
    def started(self) -> str:
        """Return the start of the run, ISO 8601, the same in all of its processes."""
        if is_worker(self._config):
            return self._input.started if self._input else ""
        return datetime.now(UTC).isoformat(timespec="seconds")

    @property
    def home(self) -> Path | None:
        """Return the folder that has the folders of runs; None if nothing is stored."""
        results = self._values.get("results")
        if results == "none":
            return None
        if is_url(results):
            return self._config.rootpath / RUNS
        return self._values.folder("results") / results if results else self._config.rootpath / RUNS

    @property
    def resumes(self) -> bool:
        """Return whether the run continues a previous one."""
        return self._values.given("resume") is not None

    @cached_property
    def results(self) -> Path | None:
        """Return the run's own folder; None if nothing is stored, or not by this process.

        Raises:
            pytest.UsageError: The run is to resume an earlier one, but there is none.
        """
        if is_worker(self._config):
            return Path(self._input.results) if self._input and self._input.results else None
        return self._previous() if self.resumes else self._new()

    @cached_property
    def publisher(self) -> Publisher | None:
        """Return what sends results to a store that is a URL; None if they stay here, or another process sends them.

        Raises:
            pytest.UsageError: The store cannot be used.
        """
        from ...runs.store import open_store
        from .publish import Publisher

        if is_worker(self._config) and (self._input is None or self._input.remote):
            return None
        results, resumed = self._values.get("results"), self._values.get("resume")
        url = resumed if is_url(resumed) else results if is_url(results) else None
        folder = self.results if url is not None else None
        if url is None or folder is None:
            return None
        name = folder.name.removesuffix(f"-{self.part}")
        below = "" if url == resumed and name_in(url) == name else name
        with self._values.naming("results" if is_url(results) else "resume"):
            return Publisher(open_store(url, below), self.part, folder)

    @cached_property
    def part(self) -> str:
        """Return the name of this machine's part of the run in a store, the same in all processes of the machine."""
        if is_worker(self._config):
            return self._input.part if self._input else ""
        now = datetime.fromisoformat(self.started).strftime("%Y%m%d-%H%M%S")
        return f"{now}-{secrets.token_hex(4)}"

    @property
    def used_results(self) -> Path | None:
        """Return the run's own folder once ``use`` has made it this run's; None before that, and in a worker."""
        return None if is_worker(self._config) or self._lock is None else self.results

    @property
    def resume_label(self) -> str:
        """Return the option or ini key by which the run continues a previous one."""
        return self._values.label("resume")

    @property
    def shared(self) -> Path | None:
        """Return the folder that the controller shares with its workers on the same machine; None if there is none."""
        if is_worker(self._config):
            return Path(self._input.shared) if self._input and self._input.shared else None
        return self._made_shared

    def make_shared(self) -> Path:
        """Return the folder that the controller shares with its workers, made at the first call."""
        if self._made_shared is None:
            self._made_shared = folder = Path(tempfile.mkdtemp(prefix="tau-"))
            self._config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        return self._made_shared

    def use(self) -> None:
        """Make the run's own folder, and lock it until the end of the run; a worker has a lock of its own in it.

        Raises:
            pytest.UsageError: Another process uses it, or has stored a run of this name.
            OSError: The folder cannot be made.
        """
        folder = self.results
        if folder is None or self._lock is not None:
            return
        worker = worker_name(self._config)
        lock = worker_lock(folder, self.started, worker) if worker else RunLock(folder, self.started)
        is_new = make_folder(folder)
        try:
            lock.acquire()
            if worker and self._input is not None:
                check_controller(folder, self._input.controller)
            elif self.resumes:
                wait_for_workers(folder, PATIENCE)
            elif not is_new:
                _check_empty(folder, lock)
        except (FolderInUseError, FolderExistsError) as error:
            lock.release()
            raise pytest.UsageError(self._refusal(folder, error)) from None
        self._lock = lock
        self._config.add_cleanup(lock.release)
        if not worker:
            self._config.add_cleanup(lambda: _delete_worker_locks(folder))

    def _refusal(self, folder: Path, error: Exception) -> str:
        """Return the text of the usage error that the folder belongs to another run."""
        where = relative_path(folder, self._config.invocation_params.dir)
        name = "" if self.resumes else self._values.get("run_name") or ""
        labels = [self.resume_label] if self.resumes else [self._values.label("run_name")] if name else []
        if isinstance(error, FolderInUseError):
            other = "" if is_worker(self._config) or not name else ", or choose another name"
            problem = f"{where} is in use: {error}; wait until it ends{other or ', or stop it'}"
        elif name:
            problem = f"{where} exists: resume that run with --tau-resume {name}, or choose another name"
        else:
            problem = f"{where} exists: another run has made it; start this one again"
        return ": ".join([*labels, problem])

    def _new(self) -> Path | None:
        home = self.home
        name = self._values.get("run_name")
        if home is None and name:
            raise pytest.UsageError(f"{self._values.label('run_name')}: nothing is stored (--tau-results none)")
        if home is None:
            return None
        if name and is_url(self._values.get("results")):
            return home / f"{name}-{self.part}"  # other machines run parts of the same run
        if name:
            folder = Path(home, name)
            if has_run(folder):
                raise pytest.UsageError(self._refusal(folder, FolderExistsError()))
            return folder
        now = datetime.fromisoformat(self.started).strftime("%Y%m%d-%H%M%S")
        # The process id keeps shards that start at the same time from writing into one folder.
        name = f"{now}-{os.getpid()}-{file_name_of('+'.join(named_domains(self._config)) or 'run')}"
        others = len(list(home.glob(f"{name}*"))) if home.is_dir() else 0
        return home / (f"{name}-{others + 1}" if others else name)

    def _previous(self) -> Path:
        from ...errors import unknown_name

        label, home = self.resume_label, self.home
        name = self._values.get("resume") or _LATEST
        if home is not None and (url := self._url_of(name)) is not None:
            return self._fetched(url, home)
        self._restore_manifests(*([home] if home else []), (self._values.folder("resume") / name).parent)
        names = _resumable(home) if home else []
        if name == _LATEST:
            if home is None or not names:
                where = "nothing is stored (--tau-results none)" if home is None else f"none is stored in {home}"
                raise pytest.UsageError(f"{label}: expected an earlier run, but {where}")
            return home / names[-1]
        for folder in (self._values.folder("resume") / name, *([home / name] if home else [])):
            if (folder / MANIFEST).is_file():
                return folder.resolve()
        raise pytest.UsageError(f"{label}: {unknown_name('run', name, names, names[::-1][:_MOST_NAMED])}")

    def _restore_manifests(self, *homes: Path) -> None:
        """Make the runs known whose folders could not be written when they started.

        Raises:
            pytest.UsageError: They still cannot.
        """
        from .spare import restore_manifests

        try:
            for home in dict.fromkeys(homes):
                restore_manifests(home)
        except OSError as error:
            raise pytest.UsageError(f"{self.resume_label}: {error.strerror}") from None

    def _url_of(self, given: str) -> str | None:
        """Return the URL of the run that is resumed; None if it is a folder."""
        results = self._values.get("results")
        if is_url(given) or not is_url(results):
            return given if is_url(given) else None
        return str(results) if given == _LATEST else f"{results.rstrip('/')}/{given}"

    def _fetched(self, url: str, home: Path) -> Path:
        """Return a copy of the run at a URL, which this machine continues.

        Raises:
            pytest.UsageError: There is none, or it cannot be read.
        """
        from ...errors import ConfigurationError
        from ...runs.fetch import fetch_run

        try:
            fetched = fetch_run(url)
            return Path(shutil.copytree(fetched, home / f"{fetched.name}-{self.part}"))
        except (ConfigurationError, OSError) as error:
            raise pytest.UsageError(f"{self.resume_label}: {error}") from None


def _resumable(home: Path) -> list[str]:
    """Return the names of the runs in a folder that can be continued, also without a simulation yet; latest last."""
    folders: Iterable[Path] = (file.parent for file in home.glob(f"*/{MANIFEST}"))
    return latest_last(folders)


def make_folder(folder: Path) -> bool:
    """Make the folder of a run, and have git ignore ``.tau``; return whether it was not there.

    Raises:
        OSError: The folder cannot be made.
    """
    try:
        folder.mkdir(parents=True)  # of two runs of one name, one makes it
        is_new = True
    except FileExistsError:
        if not folder.is_dir():
            raise
        is_new = False
    ignore_in_git(folder.parent.parent)
    return is_new


def has_run(folder: Path) -> bool:
    """Return whether there is more than a folder with the locks of a run that has stored nothing."""
    try:
        return any(path.name != LOCK and not path.match(WORKER_LOCKS) for path in folder.iterdir())
    except OSError:
        return folder.exists()


def _check_empty(folder: Path, lock: RunLock) -> None:
    """Check that nothing is stored in a folder that another run has made.

    Raises:
        FolderExistsError: Something is, or something may be, because the file system has no locks.
    """
    if has_run(folder) or not lock.is_held:
        raise FolderExistsError


def _delete_worker_locks(folder: Path) -> None:
    """Delete the locks that workers have left; a worker that has not ended keeps its own."""
    with contextlib.suppress(FolderInUseError):
        wait_for_workers(folder, 1.0)
