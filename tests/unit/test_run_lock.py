"""The lock of a run's folder, also as it is on Windows and on file systems without locks."""

from __future__ import annotations

import errno
import json
import os
import sys
import threading
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.runs import lock as module
from pytest_tau.runs.layout import LOCK
from pytest_tau.runs.lock import FolderInUseError, RunLock, check_controller, wait_for_workers, worker_lock

if TYPE_CHECKING:
    from collections.abc import Callable

STARTED = "2026-01-02T03:04:05Z"


class FakeWindows(types.ModuleType):
    """Locks of bytes as ``msvcrt`` has them: a byte that another open file has locked is refused."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.locked: dict[tuple[int, int], int] = {}

    def locking(self, file: int, mode: int, length: int) -> None:
        assert (mode, length) == (self.LK_NBLCK, 1)
        place = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
        if self.locked.setdefault(place, file) != file:
            raise PermissionError(errno.EACCES, "Permission denied")

    def close(self, file: int) -> None:
        self.locked = {place: owner for place, owner in self.locked.items() if owner != file}


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> FakeWindows:
    """The platform is Windows: ``msvcrt`` instead of ``fcntl``, and an open file cannot be deleted."""
    fake, opened = FakeWindows(), set[int]()
    system = types.SimpleNamespace(**vars(os))

    def open_file(*args: Any) -> int:
        opened.add(file := os.open(*args))
        return file

    def close(file: int) -> None:
        # Another thread may reuse the number, or look at the open files, as soon as it is closed.
        opened.discard(file)
        fake.close(file)
        os.close(file)

    system.open, system.close = open_file, close
    unlink = Path.unlink

    def unlink_closed(path: Path, missing_ok: bool = False) -> None:
        if any(os.path.samestat(os.fstat(file), path.stat()) for file in [*opened]):
            raise PermissionError(errno.EACCES, "in use")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", unlink_closed)
    monkeypatch.setattr(module, "os", system)
    monkeypatch.setattr(module, "sys", types.SimpleNamespace(platform="win32"))
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    return fake


@pytest.fixture(params=["here", "windows"])
def platform(request: pytest.FixtureRequest) -> None:
    """This platform, and Windows."""
    if request.param == "windows":
        request.getfixturevalue("windows")


@pytest.mark.usefixtures("platform")
class TestLocks:
    def test_a_second_one_is_refused_and_names_the_process(self, tmp_path: Path) -> None:
        first = RunLock(tmp_path, STARTED)
        first.acquire()
        with pytest.raises(FolderInUseError, match=f"process {os.getpid()} on .* has used it since {STARTED}"):
            RunLock(tmp_path, STARTED).acquire()
        first.release()
        first.release()

    def test_a_released_one_leaves_nothing_behind(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        folder.mkdir()
        lock = RunLock(folder, STARTED)
        lock.acquire()
        assert json.loads((folder / LOCK).read_text())["pid"] == os.getpid()
        lock.release()
        assert not folder.exists()

    def test_the_folder_stays_if_something_is_in_it(self, tmp_path: Path) -> None:
        (tmp_path / "run.json").touch()
        for _ in range(2):
            lock = RunLock(tmp_path, STARTED)
            lock.acquire()
            lock.release()
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]

    def test_a_file_that_a_dead_process_has_left_has_no_effect(self, tmp_path: Path) -> None:
        (tmp_path / LOCK).write_text("x" * 500, encoding="utf-8")
        lock = RunLock(tmp_path, STARTED)
        lock.acquire()
        assert json.loads((tmp_path / LOCK).read_text())["started"] == STARTED
        lock.release()

    def test_workers_are_waited_for_until_they_have_ended(self, tmp_path: Path) -> None:
        (tmp_path / "run-gw0.lock").touch()  # of one that was killed
        lock = worker_lock(tmp_path, STARTED, "gw1")
        lock.acquire()
        with pytest.raises(FolderInUseError, match=f"process {os.getpid()} on .* has used it since {STARTED}"):
            wait_for_workers(tmp_path, 0.2)
        assert [path.name for path in tmp_path.iterdir()] == ["run-gw1.lock"]
        (tmp_path / "run.json").touch()
        threading.Timer(0.05, lock.release).start()
        wait_for_workers(tmp_path, 60)
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]

    def test_a_worker_finds_out_that_another_process_continues_its_run(self, tmp_path: Path) -> None:
        check_controller(tmp_path, os.getpid())  # nobody has the lock, or there are no locks
        lock = RunLock(tmp_path, STARTED)
        lock.acquire()
        check_controller(tmp_path, os.getpid())
        with pytest.raises(FolderInUseError, match=f"process {os.getpid()} on .* has used it since {STARTED}"):
            check_controller(tmp_path, os.getpid() + 1)
        (tmp_path / LOCK).write_text("", encoding="utf-8")
        check_controller(tmp_path, os.getpid() + 1)  # it is not known
        lock.release()

    def test_what_workers_have_left_is_deleted(self, tmp_path: Path) -> None:
        (tmp_path / "run-gw0.lock").touch()
        (tmp_path / "run.json").touch()
        wait_for_workers(tmp_path, 0)
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"]

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"pid": "x", "host": 1, "started": 1}'])
    def test_a_process_that_has_not_yet_written_its_name(self, tmp_path: Path, content: str) -> None:
        first = RunLock(tmp_path, STARTED)
        first.acquire()
        (tmp_path / LOCK).write_text(content, encoding="utf-8")
        with pytest.raises(FolderInUseError, match="another process uses it"):
            RunLock(tmp_path, STARTED).acquire()
        first.release()


def test_a_folder_that_is_not_there_is_not_locked(tmp_path: Path) -> None:
    lock = RunLock(tmp_path / "missing", STARTED)
    lock.acquire()
    lock.release()
    assert not (tmp_path / "missing").exists()


def test_a_file_system_without_locks_refuses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(file: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(module, "_lock", no_locks)
    for _ in range(2):
        RunLock(tmp_path, STARTED).acquire()


@pytest.mark.parametrize("remake", [Path.touch, Path.exists])
def test_a_file_that_is_deleted_while_it_is_locked_is_locked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remake: Callable[[Path], object]
) -> None:
    """Another process may release the lock between the opening and the locking."""
    real, attempts = module._lock, list[int]()

    def deleted_first(file: int) -> None:
        attempts.append(file)
        if len(attempts) == 1:
            (tmp_path / LOCK).unlink()
            remake(tmp_path / LOCK)
        real(file)

    monkeypatch.setattr(module, "_lock", deleted_first)
    lock = RunLock(tmp_path, STARTED)
    lock.acquire()
    assert len(attempts) == 2
    assert json.loads((tmp_path / LOCK).read_text())["pid"] == os.getpid()
    lock.release()


def test_a_file_that_is_deleted_again_and_again_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_lock", lambda _file: (tmp_path / LOCK).unlink())
    lock = RunLock(tmp_path, STARTED)
    lock.acquire()
    lock.release()
    assert not (tmp_path / LOCK).exists()
