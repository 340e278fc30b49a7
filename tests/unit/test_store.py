"""Stores of runs: folders and URLs, whole objects, faults, and nothing of a credential in what is shown."""

from __future__ import annotations

import errno
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.plugin.store.publish import Pieces
from pytest_tau.runs import store as store_module
from pytest_tau.runs.fetch import fetch_run
from pytest_tau.runs.store import FolderStore, StoreError, TimedStore, is_url, name_in, open_store, public_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_tau.runs.store import Store

fsspec = pytest.importorskip("fsspec")


class Faulty(fsspec.get_filesystem_class("memory")):  # type: ignore[misc]
    """A store in memory whose next requests may fail, each as its fault says."""

    protocol = "faulty"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    faults: list[Callable[[str], None]] = []

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **keywords: Any) -> None:
        if self.faults:
            fault = self.faults.pop(0)
            if fault is cut_off:
                super().pipe_file(path, value[: len(value) // 2])
            fault(path)
        super().pipe_file(path, value, mode, **keywords)
        if self.faults and self.faults[0] is lost_answer:
            self.faults.pop(0)(path)


def refused(path: str) -> None:
    raise PermissionError("Access Denied for key=sesame1")


def busy(path: str) -> None:
    raise TimeoutError(f"503 Slow Down: https://host/{path}?X-Amz-Signature=sesame1")


def cut_off(path: str) -> None:
    raise ConnectionResetError("the connection was cut off")


def lost_answer(path: str) -> None:
    raise TimeoutError("no answer")


def fine(path: str) -> None:
    pass


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Faulty]]:
    fsspec.register_implementation("faulty", Faulty, clobber=True)
    monkeypatch.setattr(store_module, "_DELAYS", (0.0, 0.0))
    Faulty.store.clear()
    Faulty.faults.clear()
    yield Faulty
    Faulty.faults.clear()


@pytest.fixture(params=["folder", "file", "remote"])
def store(request: pytest.FixtureRequest, tmp_path: Path, faulty: Any) -> Store:
    places = {"folder": tmp_path, "file": tmp_path.as_uri(), "remote": "faulty://bucket/runs"}
    return open_store(places[request.param], "one")


def test_objects_are_written_listed_read_and_deleted(store: Store) -> None:
    assert store.names() == []
    store.write("a.json", b"1")
    store.write("part/b.jsonl", b"22")
    store.write("a.json", b"333")
    assert store.names() == ["a.json", "part/b.jsonl"]
    assert store.names("part/") == ["part/b.jsonl"]
    assert dict(store.read(["a.json", "part/b.jsonl", "absent"])) == {"a.json": b"333", "part/b.jsonl": b"22"}
    store.delete("a.json")
    store.delete("a.json")
    assert store.names() == ["part/b.jsonl"]


def test_a_file_is_an_object_without_a_name(tmp_path: Path, faulty: Any) -> None:
    (tmp_path / "run.jsonl").write_bytes(b"1")
    open_store("faulty://bucket").write("run.jsonl", b"1")
    for url in ((tmp_path / "run.jsonl").as_uri(), "faulty://bucket/run.jsonl"):
        assert (open_store(url).names(), dict(open_store(url).read([""]))) == ([""], {"": b"1"})


def test_one_of_many_creates_an_object(store: Store) -> None:
    won: list[int] = []

    def create(number: int) -> None:
        if store.create("lease", b"%d" % number):
            won.append(number)

    # Memory has no locks of its own.
    many = 8 if hasattr(store, "_folder") else 1
    threads = [threading.Thread(target=create, args=(number,)) for number in range(many)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not store.create("lease", b"later")
    assert dict(store.read(["lease"])) == {"lease": b"%d" % won[0]}
    assert len(won) == 1


@pytest.mark.parametrize(
    ("url", "shown", "name"),
    [
        ("s3://bucket/runs/", "s3://bucket/runs", "runs"),
        ("sftp://me:sesame1@host/runs/a", "sftp://host/runs/a", "a"),
        ("https://host/a.json?sig=sesame1#x", "https://host/a.json", "a.json"),
        ("az://box@store.example/runs", "az://store.example/runs", "runs"),
    ],
)
def test_a_url_is_shown_without_credentials(url: str, shown: str, name: str) -> None:
    assert (is_url(url), public_url(url), name_in(url)) == (True, shown, name)


@pytest.mark.parametrize("text", ["runs/a", "C:\\runs", "/tmp/runs", "mock::a", None])
def test_a_path_is_no_url(text: str | None) -> None:
    assert not is_url(text)


def test_a_url_of_an_unknown_kind_is_refused_without_its_credentials() -> None:
    with pytest.raises(ConfigurationError, match=r"^nowhere://host/runs: ValueError: Protocol not known") as caught:
        open_store("nowhere://me:sesame1@host/runs")
    assert "sesame1" not in str(caught.value)


def test_without_fsspec_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    with pytest.raises(ConfigurationError, match=r"s3://b: URLs need fsspec: pip install '\./pytest-tau\[store\]'"):
        open_store("s3://b")


@pytest.mark.parametrize("fault", [busy, cut_off])
def test_a_passing_fault_is_met_by_another_attempt(faulty: Any, fault: Any) -> None:
    store = open_store("faulty://bucket")
    faulty.faults[:] = [fault, fault]
    store.write("a", b"content")
    assert dict(store.read(["a"])) == {"a": b"content"}


@pytest.mark.parametrize("faults", [[refused], [busy] * 3])
def test_a_lasting_fault_names_the_store_and_no_credential(faulty: Any, faults: list[Any]) -> None:
    store = open_store("faulty://me:sesame1@bucket/runs?x=sesame1")
    faulty.faults[:] = [*faults]
    with pytest.raises(StoreError, match=r"^faulty://bucket/runs: (Permission|Timeout)Error: ") as caught:
        store.write("a", b"content")
    assert "sesame1" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_creation_whose_answer_was_lost_is_ours(faulty: Any) -> None:
    store = open_store("faulty://bucket")
    faulty.faults[:] = [fine, lost_answer]
    assert store.create("lease", b"mine")
    assert not store.create("lease", b"theirs")


class TestTimed:
    """A store that does not answer."""

    def test_what_answers_in_time_is_as_without_a_limit(self, store: Store) -> None:
        timed = TimedStore(store, lambda: 60.0)
        assert timed.create("a/one", b"1") and not timed.create("a/one", b"2")
        timed.write("a/two", b"2")
        assert (timed.names("a/"), dict(timed.read(["a/one", "x"]))) == (["a/one", "a/two"], {"a/one": b"1"})
        timed.delete("a/one")
        assert (store.names(), timed.shown) == (["a/two"], store.shown)

    def test_what_does_not_answer_fails_and_names_the_store(self, tmp_path: Path) -> None:
        ended = threading.Event()

        class Silent(FolderStore):
            def write(self, name: str, content: bytes) -> None:
                ended.wait()

        timed = TimedStore(Silent(tmp_path), lambda: 0.01)
        with pytest.raises(StoreError, match=f"^{tmp_path}: no answer"):
            timed.write("a", b"")
        ended.set()

    def test_its_errors_are_those_of_the_store(self, faulty: Any) -> None:
        faulty.faults[:] = [refused]
        with pytest.raises(StoreError, match=r"^faulty://bucket: PermissionError"):
            TimedStore(open_store("faulty://bucket"), lambda: 60.0).write("a", b"")


def test_a_full_disk_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> int:
        path.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        open_store(tmp_path).create("lease", b"mine")
    assert [*tmp_path.iterdir()] == []


def test_what_file_systems_leave_is_no_object(tmp_path: Path) -> None:
    for name in (".nfs0001", ".DS_Store", "a.draft", "a"):
        (tmp_path / name).touch()
    assert open_store(tmp_path).names() == ["a"]


class TestPieces:
    """A process's own objects."""

    def test_each_is_written_again_until_it_is_large(self, faulty: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pytest_tau.plugin.store.publish.PIECE", 20)
        store = open_store("faulty://bucket")
        pieces = Pieces(store, "p/simulations.jsonl")
        for number in range(6):
            pieces.add(f"line {number} ...\n")
        assert pieces.close() is None
        found = dict(store.read(store.names()))
        assert min(found) == "p/simulations-0001.jsonl"
        assert b"".join(found.values()).decode().splitlines() == [f"line {number} ..." for number in range(6)]

    def test_what_was_refused_is_sent_with_the_next(self, faulty: Any) -> None:
        store = open_store("faulty://bucket")
        faulty.faults[:] = [refused]
        pieces = Pieces(store, "p/simulations.jsonl")
        pieces.add("one\n")
        while faulty.faults:
            threading.Event().wait(0.01)
        pieces.add("two\n")
        assert pieces.close() is None
        assert dict(store.read(["p/simulations-0001.jsonl"])) == {"p/simulations-0001.jsonl": b"one\ntwo\n"}

    def test_a_lasting_refusal_is_reported_at_the_end(self, faulty: Any) -> None:
        faulty.faults[:] = [refused] * 9
        pieces = Pieces(open_store("faulty://bucket"), "p/simulations.jsonl")
        pieces.add("one\n")
        problem = pieces.close()
        assert problem is not None
        assert problem.startswith("not all simulations are in the store: faulty://bucket: PermissionError")


class TestFetching:
    """What is no run."""

    @pytest.mark.parametrize("names", [[], ["a/b/c.txt"], ["notes.txt"]])
    def test_it_says_what_a_run_has(self, faulty: Any, names: list[str]) -> None:
        store = open_store("faulty://bucket/runs")
        for name in names:
            store.write(name, b"x")
        with pytest.raises(ConfigurationError, match=r"^faulty://bucket/runs: expected plan\.json"):
            fetch_run("faulty://bucket/runs")

    def test_a_name_leads_out_of_no_folder(self, faulty: Any, tmp_path: Path) -> None:
        store = open_store("faulty://bucket/runs")
        store.write("simulations.jsonl", b"")
        store.write("simulations/../../../outside.jsonl", b"x")
        found = fetch_run("faulty://bucket/runs")
        assert [each.name for each in found.parent.rglob("*") if each.is_file()] == ["simulations.jsonl"]
