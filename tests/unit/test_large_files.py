"""Files that unfold to more than anybody wants to read: memory is bounded, and what is skipped is named."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.runs.results import streaming_json
from pytest_tau.runs.results.files import ResultFile
from pytest_tau.runs.results.streaming_json import pieces

ENTRY = {"id": "a", "task_id": "t", "messages": [{"role": "user", "content": "Hi"}], "termination_reason": "user_stop"}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of some thousand characters, and chunks of some hundred."""
    monkeypatch.setattr(streaming_json, "LARGEST", 4000)
    monkeypatch.setattr(streaming_json, "_FARTHEST", 8000)
    monkeypatch.setattr(streaming_json, "_FIRST_LINE", 100)
    monkeypatch.setattr(streaming_json, "_CHUNK", 300)
    monkeypatch.setattr("pytest_tau.documents._CHUNK", 300)


def problems(path: Path, content: str) -> list[tuple[str, int | None, str | None]]:
    path.write_text(content, encoding="utf-8")
    return [(piece.key, piece.position, piece.problem) for piece in pieces(path)]


@pytest.mark.parametrize(
    "entry",
    [
        json.dumps("a" * 6000),
        json.dumps('\\"]}' * 1000),
        json.dumps([[]] * 2000),
        json.dumps({"a": ["[" * 6000]}),
        "[" * 3000 + "]" * 3000,
        '{"a" "' + "b" * 6000 + '"}',
    ],
    ids=["string", "escapes", "arrays", "brackets in a string", "deep", "no JSON"],
)
@pytest.mark.parametrize("key", ["", "simulations"])
@pytest.mark.usefixtures("small")
def test_an_entry_that_is_too_large_is_skipped(tmp_path: Path, entry: str, key: str) -> None:
    content = f"[1, {entry}, 2]" if not key else f'{{"simulations": [1, {entry}, 2]}}'
    assert problems(tmp_path / "r.json", content) == [
        (key, 0, None), (key, 1, "larger than 32 MiB"), (key, 2, None)
    ]  # fmt: skip


@pytest.mark.usefixtures("small")
def test_a_line_that_is_too_large_is_skipped(tmp_path: Path) -> None:
    content = f'{{"id": 1}}\n{{"id": "{"a" * 9000}"}}\n{{"id": 3}}\n'
    assert problems(tmp_path / "r.jsonl", content) == [("", 0, None), ("", 1, "larger than 32 MiB"), ("", 2, None)]


@pytest.mark.usefixtures("small")
def test_the_end_of_an_entry_is_not_searched_for_ever(tmp_path: Path) -> None:
    found = problems(tmp_path / "r.json", f'[1, "{"a" * 30_000}", 2]')
    assert [problem[:2] for problem in found] == [("", 0), ("", 1)]
    assert found[1][2] is not None and found[1][2].startswith("larger than 32 MiB, and nothing after it is read")


@pytest.mark.usefixtures("small")
def test_values_that_are_too_large_together_are_not_kept(tmp_path: Path) -> None:
    document = {f"k{number}": "a" * 1500 for number in range(5)} | {"simulations": [ENTRY]}
    found = problems(tmp_path / "r.json", json.dumps(document))
    assert [key for key, _, problem in found if problem] == ["k2", "k3", "k4"]
    assert found[-1] == ("simulations", 0, None)


@pytest.mark.usefixtures("small")
def test_positions_are_those_of_the_text(tmp_path: Path) -> None:
    entries: list[Any] = [ENTRY, "é" * 900, 17, {"a": "\n"}, "b" * 5000, ENTRY]
    for content, name in (
        (json.dumps(entries, indent=1, ensure_ascii=False), "r.json"),
        (json.dumps({"info": {}, "simulations": entries}), "r.json"),
        ("\n\n".join(json.dumps(ENTRY | {"n": n}) for n in range(30)), "r.jsonl"),
    ):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        for piece in pieces(path):
            if not piece.problem:
                assert json.loads(content[piece.start : piece.end]) == piece.value


def test_reading_ends_after_many_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_tau.runs.results.files._MOST_PROBLEMS", 5)
    (tmp_path / "r.json").write_text(json.dumps([{}] * 50), encoding="utf-8")
    found = list(ResultFile.scan(tmp_path / "r.json").simulations())
    assert len(found) == 6
    assert found[-1].entry == "the rest"
    (tmp_path / "r.json").write_text("[" + "{1}," * 50 + "{}]", encoding="utf-8")
    assert [problem.entry for problem in ResultFile.scan(tmp_path / "r.json").problems][-1] == "the rest"


BOMBS = {
    "a string": (b'"', b"a", b'"'),
    "tasks": (b'1],"tasks":[', b'{"id":"' + b"a" * (1 << 20) + b'"},', b"{}"),
    "keys": (b"1]", b',"k":"' + b"a" * (1 << 20) + b'"', b',"tasks":[{}'),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("bomb", "command"),
    [
        ("a string", ["regrade", "-v", "--domain", "mock"]),
        ("a string", ["export", "--format", "csv"]),
        ("tasks", ["regrade", "-v", "--domain", "mock"]),
        ("keys", ["regrade", "-v", "--domain", "mock"]),
    ],
)
def test_memory_is_bounded(tmp_path: Path, bomb: str, command: list[str]) -> None:
    """Of a file of half a megabyte that unfolds to hundreds, an eighth of a gigabyte or so is in memory at a time."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of a process's memory is read from /proc")
    before, unit, after = BOMBS[bomb]
    with gzip.open(tmp_path / "bomb.json.gz", "wb", 6) as file:
        file.write(b'{"simulations": [' + json.dumps(ENTRY).encode() + b"," + before)
        for _ in range(300):
            file.write(unit * max(1, (1 << 20) // len(unit)))
        file.write(after + b"]}")
    assert (tmp_path / "bomb.json.gz").stat().st_size < 500_000
    script = (
        # Not ru_maxrss, which starts with the memory of the process that started this one.
        "import re, sys; from pathlib import Path; from pytest_tau.cli import main; status = main(sys.argv[1:]);"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text())[1];"
        "print('peak', int(peak) // 1024, 'status', status)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, *command, "bomb.json.gz"],
        cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", timeout=300, check=False,
    )  # fmt: skip
    peak = int(run.stdout.rpartition("peak ")[2].split()[0])
    assert peak < 250, f"{peak} MB\n{run.stdout}\n{run.stderr}"
    said = " ".join((run.stdout + run.stderr).split())  # lines are wrapped
    assert "larger than" in said or "decompresses to more" in said
