"""The stored records of a run: what is read from them is what the conversations say, or they are not used."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.files import atomic_open
from pytest_tau.models import ModelUsage
from pytest_tau.runs import reader, record_cache, side_by_side
from pytest_tau.runs.baseline import write_baseline
from pytest_tau.runs.layout import RECORD_CACHE, simulation_files
from pytest_tau.runs.reader import Run, cache_records
from pytest_tau.runs.record_cache import maker_sources
from pytest_tau.runs.reviews import ReviewWriter
from pytest_tau.runs.side_by_side import read_records

from . import tiny
from .report_pages import bad
from .test_own_lines import changed, stored
from .test_report import WANTED

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.environment import Domain
    from pytest_tau.models import Review


@pytest.fixture(scope="module")
def domain(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("tiny") / "domain")


@pytest.fixture(autouse=True)
def _every_run_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_cache, "LARGE", 1)


@pytest.fixture
def folder(domain: Domain, tmp_path: Path) -> Path:
    """A run of four simulations with stored records."""
    return written(tmp_path / "run", *(stored(domain, trial=trial) for trial in range(4)))


def written(folder: Path, *lines: str, name: str = "simulations.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(lines), encoding="utf-8")
    cache_records(folder)
    return folder


def add_review(folder: Path, review: Review) -> None:
    writer = ReviewWriter(folder)
    trial = next(Run(folder).trials())
    writer.write(trial.test, trial.domain, trial.simulation, review)
    writer.close()


def is_used(folder: Path) -> bool:
    """Whether records are read without a conversation, and with all that reading these would have set."""
    quick, slow = Run(folder), Run(folder)
    found, expected = quick.stored_records(), slow.made_records()
    assert found in (None, expected)
    assert Run(folder).records() == expected
    if found is not None:
        assert (quick.info, quick.kind, quick.problems) == (slow.info, slow.kind, slow.problems)
        assert [record.group for record in found] == [record.group for record in expected]
    return found is not None


def test_no_conversation_is_parsed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "own_simulations", None)
    run = Run(folder)
    assert [record.trial for record in run.records()] == [0, 1, 2, 3]
    assert (run.kind, run.problems) == ("simulations", [])


def test_they_may_be_deleted(folder: Path) -> None:
    assert is_used(folder)
    (folder / RECORD_CACHE).unlink()
    assert not is_used(folder)
    assert len(Run(folder).records()) == 4


def test_they_stay_valid_in_another_folder(folder: Path, tmp_path: Path) -> None:
    folder.rename(tmp_path / "elsewhere")
    os.utime(tmp_path / "elsewhere/simulations.jsonl", (1, 1))
    assert is_used(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"seed": 0, "agent_cost": 0.0, "user_cost": 0.0, "info": {"blame": {}, "inputs": {}}},
        {"info": {"blame": {"party": "agent", "deep": [[1, 2.5, None, {"é": "\u2028"}]], "large": 2**80}}},
        {"model_usage": {"agent": ModelUsage(model="m", calls=2), "user": ModelUsage(known_cost=0.1)}},
        {"termination_reason": "unexpected_error", "error": "line\nline\r\x85", "reward_info": None},
        {"duration": 1e-300, "messages": []},
    ],
    ids=["plain", "empty-values", "deep", "usage", "error", "no-message"],
)
def test_records_are_exact(domain: Domain, tmp_path: Path, more: dict[str, Any]) -> None:
    run = written(tmp_path / "run", stored(domain, **more), stored(domain, trial=1))
    assert is_used(run)
    found, expected = Run(run).stored_records(), Run(run).made_records()
    assert list(map(repr, found or ())) == list(map(repr, expected))


def test_each_test_counts_as_it_was_run_last(domain: Domain, tmp_path: Path) -> None:
    first = bad(domain, WANTED)
    again = stored(domain, messages=first.messages, reward_info=first.reward_info)
    run = written(tmp_path / "run", again, stored(domain, trial=1), stored(domain))
    assert is_used(run)
    assert [(record.trial, record.outcome) for record in Run(run).records()] == [(1, "passed"), (0, "passed")]


def rewrite(edit: Callable[[bytes], bytes], name: str = "simulations.jsonl") -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(edit((folder / name).read_bytes()))


def replace_in_place(folder: Path) -> None:
    """Change a byte and nothing that the file system knows."""
    file = folder / "simulations.jsonl"
    before = file.stat()
    text = file.read_bytes()
    with file.open("rb+") as opened:
        opened.write(text.replace(b'"reward":1.0', b'"reward":0.0', 1))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert file.read_bytes() != text


def swap(content: bytes) -> bytes:
    one, two, *others = content.splitlines(keepends=True)
    return b"".join([two, one, *others])


CHANGES: dict[str, Callable[[Path], object]] = {
    "appended": rewrite(lambda text: text + text.splitlines(keepends=True)[0].replace(b"trial-0", b"trial-9")),
    "part of a line appended": rewrite(lambda text: text + text[:100]),
    "blank line appended": rewrite(lambda text: text + b"\n"),
    "a byte": replace_in_place,
    "removed": rewrite(lambda text: text.partition(b"\n")[2]),
    "cut off": rewrite(lambda text: text[:-1]),
    "order": rewrite(swap),
    "renamed": lambda folder: (folder / "simulations.jsonl").rename(folder / "simulations-gw0.jsonl"),
    "another file": lambda folder: (folder / "simulations-gw0.jsonl").write_bytes(
        (folder / "simulations.jsonl").read_bytes().replace(b"trial-", b"trial-9")
    ),
    "an empty file": lambda folder: (folder / "simulations-gw0.jsonl").touch(),
    "reviews": lambda folder: (folder / "reviews.jsonl").touch(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changed_simulations_have_no_records(folder: Path, change: Callable[[Path], object]) -> None:
    change(folder)
    assert not is_used(folder)


def test_changes_that_are_undone_are_none(folder: Path) -> None:
    before = (folder / "simulations.jsonl").read_bytes()
    CHANGES["appended"](folder)
    assert not is_used(folder)
    (folder / "simulations.jsonl").write_bytes(before)
    assert is_used(folder)


@pytest.mark.parametrize("name", ["removed", "order", "renamed", "another file", "reviews"])
def test_they_are_stored_again(folder: Path, name: str) -> None:
    CHANGES[name](folder)
    cache_records(folder)
    assert is_used(folder)


def test_reviews(folder: Path) -> None:
    from pytest_tau.models import Review

    add_review(folder, Review(summary="Fine."))
    assert not is_used(folder)
    cache_records(folder)
    assert is_used(folder)
    assert [record.review is not None for record in Run(folder).records()] == [True, False, False, False]
    kept = (folder / "reviews.jsonl").read_bytes()
    add_review(folder, Review(status="done", mode="user", summary="Another."))
    assert not is_used(folder)
    (folder / "reviews.jsonl").write_bytes(kept.replace(b"Fine.", b"Fine!"))
    assert not is_used(folder)
    (folder / "reviews.jsonl").unlink()
    assert not is_used(folder)


def test_a_damaged_message_is_reported_as_without_them(folder: Path) -> None:
    rewrite(lambda text: text.replace(b'"role":"assistant"', b'"role":"nobody"', 1))(folder)
    run = Run(folder)
    assert len(run.records()) == 3
    (problem,) = run.problems
    assert problem.startswith("simulations.jsonl: entry 0 (task t, trial 0): messages.0: ")


def test_deleted_simulations_are_missed(folder: Path) -> None:
    (folder / "simulations.jsonl").unlink()
    with pytest.raises(pytest_tau.errors.ConfigurationError, match="has no conversations"):
        Run(folder).records()


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: b"",
        lambda text: b"\n",
        lambda text: b"Some notes.\n",
        lambda text: b"[]\n[]\n",
        lambda text: b"\xff\xfe\x00",
        lambda text: text[:-1],
        lambda text: text[: len(text) // 2],
        lambda text: text + b"\n",
        lambda text: text.partition(b"\n")[0],
        lambda text: text.partition(b"\n")[0] + b"\n",
        lambda text: text.replace(b'"passed"', b'"failed"', 1),
        lambda text: text.replace(b"tiny::", b"Tiny::", 1),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"{}" + text[text.index(b"\n") :],
        lambda text: text.replace(b'"code": "', b'"code": "0', 1),
    ],
)
def test_a_file_that_is_damaged_or_another_program_s_is_not_used(folder: Path, edit: Callable[[bytes], bytes]) -> None:
    before = (folder / RECORD_CACHE).read_bytes()
    rewrite(edit, RECORD_CACHE)(folder)
    assert (folder / RECORD_CACHE).read_bytes() != before
    assert not is_used(folder)
    cache_records(folder)
    assert (folder / RECORD_CACHE).read_bytes() == before


def test_records_of_other_code_are_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(record_cache, "_code_digest", lambda: "0" * 40)
        assert not is_used(folder)
        cache_records(folder)
        assert is_used(folder)
    assert not is_used(folder)


def test_the_digest_of_the_code_changes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(sources: list[tuple[str, bytes]]) -> str:
        monkeypatch.setattr(record_cache, "maker_sources", lambda: iter(sources))
        return record_cache._code_digest.__wrapped__()

    sources = sorted(maker_sources())
    edited = [
        (place, text.replace(b"turns", b"twist") if place == "runs/record.py" else text) for place, text in sources
    ]
    assert found(sources) == found(sources[::-1]) == record_cache._code_digest()
    assert len({found(sources), found(edited), found(sources[1:])}) == 3


def test_all_code_that_makes_records_is_digested(domain: Domain, folder: Path) -> None:
    """Whatever runs while records are made is in one of the modules."""
    from pytest_tau.models import Review

    add_review(folder, Review(summary="Fine."))
    package, used = Path(pytest_tau.__file__).parent, set()

    def note(frame: Any, event: str, _: Any) -> None:
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(package):
            used.add(file.relative_to(package).as_posix())

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert len(Run(folder).made_records()) == 4
    finally:
        sys.setprofile(before)
    digested = {place for place, _ in maker_sources()}
    assert {
        "runs/make_record.py",
        "models/simulations.py",
        "documents.py",
        "evaluation/components/db.py",
    } <= used & digested
    assert used - digested <= {"garbage.py"}


def test_a_folder_in_place_of_the_file(folder: Path) -> None:
    (folder / RECORD_CACHE).unlink()
    (folder / RECORD_CACHE).mkdir()
    assert not is_used(folder)
    cache_records(folder)
    assert not is_used(folder)
    assert sorted(file.name for file in folder.iterdir()) == [RECORD_CACHE, "simulations.jsonl"]


def test_links(folder: Path, tmp_path: Path) -> None:
    for name in (RECORD_CACHE, "simulations.jsonl"):
        (folder / name).rename(tmp_path / f"own-{name}")
        (folder / name).symlink_to(tmp_path / f"own-{name}")
    assert is_used(folder)
    foreign = (tmp_path / f"own-{RECORD_CACHE}").read_bytes()
    rewrite(lambda text: text.partition(b"\n")[2], "own-simulations.jsonl")(tmp_path)
    assert not is_used(folder)
    cache_records(folder)
    assert is_used(folder)
    assert not (folder / RECORD_CACHE).is_symlink()
    assert (tmp_path / f"own-{RECORD_CACHE}").read_bytes() == foreign
    (folder / RECORD_CACHE).unlink()
    (folder / RECORD_CACHE).symlink_to(tmp_path / "nowhere")
    assert not is_used(folder)


@pytest.mark.parametrize("name", [RECORD_CACHE, "simulations.jsonl"])
def test_a_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for method in ("open", "read_bytes"):
        real = getattr(Path, method)

        def fail(path: Path, *args: Any, real: Any = real, **kwargs: Any) -> Any:
            if path.name == name:
                raise PermissionError(13, "Permission denied", str(path))
            return real(path, *args, **kwargs)

        monkeypatch.setattr(Path, method, fail)
    assert Run(folder).stored_records() is None
    cache_records(folder)
    if name == "simulations.jsonl":
        with pytest.raises(PermissionError):
            Run(folder).records()
    else:
        assert len(Run(folder).records()) == 4


class TestNotStored:
    def test_of_a_small_run(self, domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(record_cache, "LARGE", len(stored(domain)) + 1)
        assert not is_used(written(tmp_path / "small", stored(domain)))
        assert is_used(written(tmp_path / "large", stored(domain), stored(domain, trial=1)))

    @pytest.mark.parametrize(
        "odd",
        [
            lambda line: line[:50],
            lambda line: "not JSON\n",
            lambda line: changed(line, messages=None),
            lambda line: changed(line, test=...),
            lambda line: changed(line, domain=...),
            lambda line: changed(line, ticks=[]),
            lambda line: changed(line, info={"blame": {"party": float("nan")}}),
            lambda line: changed(line, error="\ud800"),
        ],
        ids=["cut", "no-json", "no-messages", "no-test", "no-domain", "ticks", "no-number", "lone-surrogate"],
    )
    @pytest.mark.parametrize("place", [0, 2])
    def test_of_a_run_with_a_line_that_is_read_in_another_way(
        self, domain: Domain, tmp_path: Path, odd: Callable[[str], str], place: int
    ) -> None:
        lines = [stored(domain, trial=trial) for trial in range(2)]
        lines.insert(place, odd(stored(domain, trial=2)).rstrip("\n") + "\n" * (place == 0))
        run = written(tmp_path / "run", *lines)
        assert [file.name for file in run.iterdir()] == ["simulations.jsonl"]

    def test_of_a_run_with_a_review_that_cannot_be_read(self, folder: Path) -> None:
        (folder / "reviews.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
        cache_records(folder)
        assert not is_used(folder)
        run = Run(folder)
        assert (len(run.records()), len(run.problems)) == (4, 1)

    def test_of_a_baseline_and_of_result_files(self, folder: Path, tmp_path: Path) -> None:
        write_baseline(tmp_path / "baseline", Run(folder).records(), {"blessed": "run"})
        cache_records(tmp_path / "baseline")
        assert sorted(file.name for file in (tmp_path / "baseline").iterdir()) == ["records.jsonl", "run.json"]
        file = (folder / "simulations.jsonl").rename(tmp_path / "results.jsonl")
        cache_records(file)
        cache_records(tmp_path / "nothing")
        (folder / RECORD_CACHE).unlink()
        cache_records(folder)
        assert not [*tmp_path.rglob(f"*{RECORD_CACHE}*")]

    def test_of_a_manifest_that_cannot_be_read(self, folder: Path) -> None:
        (folder / RECORD_CACHE).unlink()
        (folder / "run.json").write_text("{", encoding="utf-8")
        cache_records(folder)
        assert not (folder / RECORD_CACHE).exists()

    def test_in_a_folder_that_cannot_be_written(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / RECORD_CACHE).unlink()

        def refuse(path: Path) -> Any:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(record_cache, "atomic_open", refuse)
        cache_records(folder)
        assert [file.name for file in folder.iterdir()] == ["simulations.jsonl"]

    def test_of_a_run_that_changes_meanwhile(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / RECORD_CACHE).unlink()
        real = record_cache.cache_line

        def line(record: Any) -> bytes | None:
            if record.trial == 3:
                CHANGES["appended"](folder)
            return real(record)

        monkeypatch.setattr(reader, "cache_line", line)
        cache_records(folder)
        assert not (folder / RECORD_CACHE).exists()

    def test_if_it_is_interrupted(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = (folder / RECORD_CACHE).read_bytes()
        CHANGES["removed"](folder)

        def interrupted(*_: Any) -> bytes:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(record_cache, "_head", interrupted)
            with pytest.raises(KeyboardInterrupt):
                record_cache.write_cache(folder, "", [])
        assert (folder / RECORD_CACHE).read_bytes() == before
        assert sorted(file.name for file in folder.iterdir()) == [RECORD_CACHE, "simulations.jsonl"]
        assert not is_used(folder)

    def test_twice(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader, "write_cache", None)
        cache_records(folder)
        assert is_used(folder)


def test_a_writer_that_is_interrupted_by_another_one(folder: Path) -> None:
    (file := folder / RECORD_CACHE).unlink()
    with atomic_open(file) as draft:
        draft.write(b"half of ")
        draft.flush()
        assert not is_used(folder)
    assert not is_used(folder)
    cache_records(folder)
    assert is_used(folder)


def test_the_file_is_none_of_the_simulations_and_makes_no_run(folder: Path, tmp_path: Path) -> None:
    from pytest_tau.runs.layout import is_run

    assert [file.name for file in simulation_files(folder)] == ["simulations.jsonl"]
    (tmp_path / "other").mkdir()
    (folder / RECORD_CACHE).rename(tmp_path / "other" / RECORD_CACHE)
    assert not is_run(tmp_path / "other")
    assert is_run(folder)


def test_several_runs_with_and_without_records(domain: Domain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [written(tmp_path / name, *(stored(domain, trial=each) for each in range(4))) for name in "abcd"]
    expected = [Run(each).records() for each in folders]
    for name in "bd":
        (tmp_path / name / RECORD_CACHE).unlink()
    assert read_records([Run(each) for each in folders]) == expected
    monkeypatch.setattr(side_by_side, "LARGE", 0)
    monkeypatch.setattr(side_by_side.os, "cpu_count", lambda: 2)
    runs = [Run(each) for each in folders]
    assert read_records(runs) == expected
    assert {run.kind for run in runs} == {"simulations"}
    monkeypatch.setattr(side_by_side, "ProcessPoolExecutor", None)
    assert read_records(runs[::2]) == expected[::2]


def test_lines_are_those_of_records(folder: Path) -> None:
    head, *lines = (folder / RECORD_CACHE).read_text(encoding="ascii").splitlines()
    assert sorted(json.loads(head)) == ["code", "content", "records"]
    assert [json.loads(line)[:3] for line in lines] == [["tiny", WANTED.id, trial] for trial in range(4)]
